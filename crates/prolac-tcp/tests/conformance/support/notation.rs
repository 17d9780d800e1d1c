//! How scripts write segments, and nothing else: text to [`Pattern`], no network, no stack.
//!
//! ```text
//! FLAGS SEQUENCE[(LENGTH)] [ack NUMBER] [win NUMBER] [urg NUMBER] [ect0|ect1|ce] [<OPTION,OPTION,...>]
//! S 0 win 1000 <mss 1460,sackOK,ts 10 0>        P. 1(100) ack 1        R n+5
//! ```
//!
//! Flags are `F S R P . U E W` (the point is ACK, `E` and `W` are ECE and CWR), `-` is none. Sequence numbers count from the
//! initial one of their side, so that the SYN is 0 and the first byte of text 1; `n` is the next one of that side, also
//! `n+5` or `n-5`. In options `*` is any value, `@` the last timestamp that the stack sent, `...` more options.

/// Bits of the flags, as they stand in the header.
pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const PSH: u8 = 8;
pub const ACK: u8 = 16;
pub const URG: u8 = 32;

const LETTERS: &str = "FSRP.UEW";

/// A sequence number as written: counted from the initial one, or from the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    FromFirst(i64),
    FromNext(i64),
}

/// What a script says of a segment.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub flags: u8,
    pub sequence: Number,
    pub length: usize,
    pub acknowledgment: Option<Number>,
    pub window: Option<u16>,
    pub urgent: Option<u16>,
    pub ecn: Option<u8>,
    pub options: Option<Vec<String>>,
}

impl Pattern {
    /// Reads what a script says. Scripts are part of the tests, so a mistake in one is a panic.
    pub fn parse(text: &str) -> Pattern {
        let (text, options) = match text.split_once('<') {
            None => (text, None),
            Some((text, options)) => (text, Some(list(options.trim_end_matches('>')))),
        };
        let mut words = text.split_whitespace();
        let flags = flags(words.next().expect("flags"));
        let (sequence, length) = place(words.next().expect("a sequence number"));
        let mut pattern = Pattern {
            flags,
            sequence,
            length,
            acknowledgment: None,
            window: None,
            urgent: None,
            ecn: None,
            options,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("a number after `{word}`"));
            match word {
                "ack" => pattern.acknowledgment = Some(number(value())),
                "win" => pattern.window = Some(value().parse().expect("a window")),
                "urg" => pattern.urgent = Some(value().parse().expect("an urgent pointer")),
                "ect1" => pattern.ecn = Some(1),
                "ect0" => pattern.ecn = Some(2),
                "ce" => pattern.ecn = Some(3),
                "not-ect" => pattern.ecn = Some(0),
                _ => panic!("`{word}` in a segment"),
            }
        }
        pattern
    }
}

/// The letters of flags in a header.
pub fn letters(flags: u8) -> String {
    let set = LETTERS.chars().enumerate().filter(|(bit, _)| flags & 1 << bit != 0).map(|(_, letter)| letter);
    let text: String = set.collect();
    if text.is_empty() { "-".into() } else { text }
}

/// Whether an option or a list of options is as a script says.
pub fn fits(patterns: &[String], options: &[String]) -> bool {
    let (patterns, open) = match patterns {
        [first @ .., last] if last == "..." => (first, true),
        all => (all, false),
    };
    let one = |(pattern, option): (&String, &String)| {
        let (pattern, option): (Vec<_>, Vec<_>) =
            (pattern.split_whitespace().collect(), option.split_whitespace().collect());
        pattern.len() == option.len() && pattern.iter().zip(&option).all(|(p, o)| *p == "*" || p == o)
    };
    (options.len() == patterns.len() || open && options.len() > patterns.len())
        && patterns.iter().zip(options).all(one)
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(|option| option.trim().to_owned()).filter(|option| !option.is_empty()).collect()
}

fn flags(word: &str) -> u8 {
    let bit = |letter| LETTERS.find(letter).unwrap_or_else(|| panic!("flag `{letter}`"));
    word.chars().filter(|&letter| letter != '-').fold(0, |flags, letter| flags | 1 << bit(letter))
}

fn place(word: &str) -> (Number, usize) {
    match word.split_once('(') {
        None => (number(word), 0),
        Some((start, length)) => {
            (number(start), length.trim_end_matches(')').parse().expect("a length in bytes"))
        }
    }
}

fn number(word: &str) -> Number {
    match word.strip_prefix('n') {
        Some("") => Number::FromNext(0),
        Some(offset) => Number::FromNext(offset.parse().expect("a number after `n`")),
        None => Number::FromFirst(word.parse().expect("a sequence number")),
    }
}
