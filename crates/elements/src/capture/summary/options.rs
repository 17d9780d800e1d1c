//! What IP and TCP option lists have in common: a walk over them, the text form of options without a form of their own,
//! and a cursor over the text of a list.
//!
//! The text forms are described in the manual of ToIPSummaryDump, sections "IP OPTIONS" and "TCP OPTIONS".

use std::fmt::Write;

/// End of the option list, the same number in IP (RFC 791 §3.1) and TCP (RFC 9293 §3.1).
pub const END: u8 = 0;
/// No operation.
pub const NOP: u8 = 1;
/// The longest option list of either header, in bytes.
pub const MAX_OPTIONS: usize = 40;

/// One option of a list: its kind and all of its bytes, kind and length included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawOption<'a> {
    /// The option's number.
    pub kind: u8,
    /// The option's bytes.
    pub bytes: &'a [u8],
}

/// An option whose length is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOption;

/// The options of a list up to its end, padding left out.
pub fn walk(mut list: &[u8]) -> impl Iterator<Item = Result<RawOption<'_>, BadOption>> {
    std::iter::from_fn(move || {
        while list.first() == Some(&NOP) {
            list = &list[1..];
        }
        let kind = *list.first().filter(|kind| **kind != END)?;
        let length = list.get(1).copied().map_or(0, usize::from);
        if length < 2 || length > list.len() {
            list = &[];
            return Some(Err(BadOption));
        }
        let (bytes, rest) = list.split_at(length);
        list = rest;
        Some(Ok(RawOption { kind, bytes }))
    })
}

/// Prints the options that `print` gives a text for, separated by semicolons: `.` if there are none, `?` if any option
/// of the list is bad.
pub fn print_list<'a>(
    list: &'a [u8],
    mut print: impl FnMut(RawOption<'a>) -> Result<Option<String>, BadOption>,
) -> String {
    let texts: Result<Vec<Option<String>>, BadOption> = walk(list).map(|option| print(option?)).collect();
    match texts {
        Err(BadOption) => "?".to_owned(),
        Ok(texts) => {
            let texts: Vec<String> = texts.into_iter().flatten().collect();
            if texts.is_empty() { ".".to_owned() } else { texts.join(";") }
        }
    }
}

/// The text of any option: `98`, or `99=0:5:10` if it has data.
pub fn print_unknown(option: RawOption<'_>) -> String {
    let mut text = option.kind.to_string();
    for (index, byte) in option.bytes[2..].iter().enumerate() {
        let separator = if index == 0 { '=' } else { ':' };
        let _ = write!(text, "{separator}{byte}");
    }
    text
}

/// The options of `list` for which `keep` holds, with padding only if `padding`.
pub fn filter(list: &[u8], keep: impl Fn(u8) -> bool) -> Vec<u8> {
    walk(list)
        .map_while(Result::ok)
        .filter(|option| keep(option.kind))
        .flat_map(|option| option.bytes.to_vec())
        .collect()
}

/// A cursor over the text of an option list.
pub struct Text<'a>(pub &'a str);

impl Text<'_> {
    /// Passes over `word` if it is next.
    pub fn eat(&mut self, word: &str) -> bool {
        match self.0.strip_prefix(word) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// The next character.
    pub fn peek(&self) -> Option<char> {
        self.0.chars().next()
    }

    /// Whether a digit is next.
    pub fn at_digit(&self) -> bool {
        self.peek().is_some_and(|c| c.is_ascii_digit())
    }

    /// A decimal number up to `max`.
    pub fn decimal(&mut self, max: u32) -> Option<u32> {
        self.digits(10, max)
    }

    /// A number up to `max`: decimal, `0x` hexadecimal or `0` octal.
    pub fn number(&mut self, max: u32) -> Option<u32> {
        let hexadecimal = self.0.strip_prefix("0x").or_else(|| self.0.strip_prefix("0X"));
        match hexadecimal.filter(|digits| digits.starts_with(|c: char| c.is_ascii_hexdigit())) {
            Some(digits) => {
                self.0 = digits;
                self.digits(16, max)
            }
            None if self.0.starts_with('0') => self.digits(8, max),
            None => self.digits(10, max),
        }
    }

    fn digits(&mut self, base: u32, max: u32) -> Option<u32> {
        let end = self.0.find(|c: char| !c.is_digit(base)).unwrap_or(self.0.len());
        let number = u32::from_str_radix(&self.0[..end], base).ok().filter(|number| *number <= max)?;
        self.0 = &self.0[end..];
        Some(number)
    }

    /// An IPv4 address.
    pub fn address(&mut self) -> Option<[u8; 4]> {
        let mut octets = [0; 4];
        for (index, octet) in octets.iter_mut().enumerate() {
            if index > 0 && !self.eat(".") {
                return None;
            }
            *octet = self.decimal(255)? as u8;
        }
        Some(octets)
    }
}

/// Parses a list of options separated by semicolons or commas, each with `parse`; `.` and nothing are the empty list.
/// `None` if the text is wrong, or the list longer than a header can hold even without leading padding.
pub fn parse_list(
    text: &str,
    mut parse: impl FnMut(&mut Text<'_>, &mut Vec<u8>) -> Option<()>,
) -> Option<Vec<u8>> {
    let mut list = Vec::new();
    if text.is_empty() || text == "." {
        return Some(list);
    }
    let mut text = Text(text);
    loop {
        parse(&mut text, &mut list)?;
        if text.0.is_empty() {
            break;
        }
        if !text.eat(";") && !text.eat(",") {
            return None;
        }
    }
    while list.len() > MAX_OPTIONS && list[0] == NOP {
        list.remove(0);
    }
    (list.len() <= MAX_OPTIONS).then_some(list)
}

/// Parses `nop`, `eol`, and options given by number.
pub fn parse_common(text: &mut Text<'_>, list: &mut Vec<u8>) -> Option<()> {
    if text.eat("nop") {
        list.push(NOP);
    } else if text.eat("eol") {
        // As the last of a list, or before a semicolon.
        (!text.0.starts_with(',')).then_some(())?;
        list.push(END);
    } else {
        let kind = text.number(255)?;
        parse_data(text, list, kind as u8)?;
    }
    Some(())
}

/// The data of an option given by number. Without any, the option is one byte long, as end and no-operation are.
fn parse_data(text: &mut Text<'_>, list: &mut Vec<u8>, kind: u8) -> Option<()> {
    let start = list.len();
    list.push(kind);
    if !text.eat("=") {
        if kind > NOP {
            list.push(2);
        }
        return Some(());
    }
    list.push(0);
    loop {
        list.push(text.number(255)? as u8);
        if !text.eat(":") {
            break;
        }
    }
    list[start + 1] = u8::try_from(list.len() - start).ok()?;
    Some(())
}
