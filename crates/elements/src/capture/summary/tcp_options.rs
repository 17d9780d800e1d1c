//! TCP options as text: `mss1460;wscale7;sackok;sack10-20;ts5:0`.

use super::options::{self, BadOption, NOP, RawOption, Text};

const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMP: u8 = 8;

/// Which options a field shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All but padding.
    All,
    /// All but padding and timestamps.
    AllButTimestamps,
    /// SACK-permitted and SACK.
    Sack,
}

impl Shown {
    fn includes(self, kind: u8) -> bool {
        match self {
            Shown::All => true,
            Shown::AllButTimestamps => kind != TIMESTAMP,
            Shown::Sack => matches!(kind, SACK_PERMITTED | SACK),
        }
    }
}

/// The text of an option list.
pub fn print(list: &[u8], shown: Shown) -> String {
    options::print_list(list, |option| {
        let text = print_one(option)?;
        Ok(shown.includes(option.kind).then_some(text).filter(|text| !text.is_empty()))
    })
}

fn print_one(option: RawOption<'_>) -> Result<String, BadOption> {
    let data = &option.bytes[2..];
    let text = match (option.kind, data) {
        (MSS, [a, b]) => format!("mss{}", u16::from_be_bytes([*a, *b])),
        (WINDOW_SCALE, [shift]) => format!("wscale{shift}"),
        (SACK_PERMITTED, []) => "sackok".to_owned(),
        (SACK, _) if data.len().is_multiple_of(8) => print_sack(data),
        (TIMESTAMP, _) if data.len() == 8 => format!("ts{}:{}", word(&data[..4]), word(&data[4..])),
        (MSS | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMP, _) => return Err(BadOption),
        _ => options::print_unknown(option),
    };
    Ok(text)
}

fn print_sack(blocks: &[u8]) -> String {
    let texts: Vec<String> = blocks
        .chunks_exact(8)
        .map(|block| format!("sack{}-{}", word(&block[..4]), word(&block[4..])))
        .collect();
    texts.join(";")
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The options of a list that a field shows, for binary records.
pub fn filter(list: &[u8], shown: Shown) -> Vec<u8> {
    if shown == Shown::All { list.to_vec() } else { options::filter(list, |kind| shown.includes(kind)) }
}

/// Parses the text of an option list. SACK blocks with a comma between them become one option.
pub fn parse(text: &str, shown: Shown) -> Option<Vec<u8>> {
    options::parse_list(text, |text, list| parse_one(text, list, shown))
}

fn parse_one(text: &mut Text<'_>, list: &mut Vec<u8>, shown: Shown) -> Option<()> {
    if text.eat("sackok") {
        list.extend([SACK_PERMITTED, 2]);
        Some(())
    } else if text.eat("sack") {
        parse_sack(text, list)
    } else if shown == Shown::Sack {
        None
    } else if text.eat("mss") {
        list.extend([MSS, 4]);
        list.extend((text.number(0xffff)? as u16).to_be_bytes());
        Some(())
    } else if text.eat("wscale") {
        list.extend([WINDOW_SCALE, 3, text.number(255)? as u8]);
        Some(())
    } else if shown == Shown::All && text.eat("ts") {
        parse_timestamp(text, list)
    } else if shown == Shown::All || text.at_digit() {
        options::parse_common(text, list)
    } else {
        None
    }
}

fn parse_sack(text: &mut Text<'_>, list: &mut Vec<u8>) -> Option<()> {
    let start = list.len();
    list.extend([SACK, 0]);
    loop {
        parse_pair(text, list, &["-", ":"])?;
        if text.0.starts_with(",sackok") || !text.eat(",sack") {
            break;
        }
    }
    list[start + 1] = u8::try_from(list.len() - start).ok()?;
    Some(())
}

/// A timestamp; as the first option it is aligned as RFC 7323 appendix A recommends.
fn parse_timestamp(text: &mut Text<'_>, list: &mut Vec<u8>) -> Option<()> {
    if list.is_empty() {
        list.extend([NOP, NOP]);
    }
    list.extend([TIMESTAMP, 10]);
    parse_pair(text, list, &[":"])
}

fn parse_pair(text: &mut Text<'_>, list: &mut Vec<u8>, separators: &[&str]) -> Option<()> {
    list.extend(text.number(u32::MAX)?.to_be_bytes());
    separators.iter().any(|separator| text.eat(separator)).then_some(())?;
    list.extend(text.number(u32::MAX)?.to_be_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip() {
        for text in [
            "mss1460;sackok;ts5:0;wscale7",
            "sack10-20;sack30-40",
            "98",
            "99=0:5:10",
            ".",
            "sackok;sack1-2;mss5",
        ] {
            let list = parse(text, Shown::All).unwrap();
            assert_eq!(print(&list, Shown::All), text);
        }
    }

    #[test]
    fn fields_show_their_options_only() {
        let list = parse("mss1460;sackok;ts5:0;sack1-2;nop;eol", Shown::All).unwrap();
        assert_eq!(print(&list, Shown::AllButTimestamps), "mss1460;sackok;sack1-2");
        assert_eq!(print(&list, Shown::Sack), "sackok;sack1-2");
        assert_eq!(filter(&list, Shown::Sack).len(), 12);
        assert_eq!(parse("mss5", Shown::Sack), None);
    }

    #[test]
    fn a_first_timestamp_is_aligned() {
        assert_eq!(parse("ts1:2", Shown::All).unwrap()[..4], [1, 1, 8, 10]);
    }

    #[test]
    fn bad_lists() {
        assert_eq!(print(&[MSS, 3, 0], Shown::All), "?");
        assert_eq!(print(&[MSS], Shown::All), "?");
        assert_eq!(print(&[99, 40, 0], Shown::All), "?");
        for text in ["mss65536", "mss", "ts1", "sack5", "wscale300", "x", "mss1;;mss2", "256"] {
            assert_eq!(parse(text, Shown::All), None, "{text}");
        }
        assert_eq!(parse(&["ts1:2"; 5].join(";"), Shown::All), None);
    }
}
