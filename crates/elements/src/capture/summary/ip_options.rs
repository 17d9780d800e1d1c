//! IP options as text: `rr{10.0.0.1,20.0.0.2}+5;ts.ip{1.0.0.1=1}+2++3`.
//!
//! Between the braces stand the entries of a route or timestamp option; `^` marks the pointer where entries after it
//! are of interest (source routes, prespecified timestamps); `+N` is room for N more; `++N` is the overflow counter.

use std::fmt::Write;
use std::net::Ipv4Addr;

use super::options::{self, BadOption, RawOption, Text};

const RECORD_ROUTE: u8 = 7;
const TIMESTAMP: u8 = 68;
const LOOSE_ROUTE: u8 = 131;
const STRICT_ROUTE: u8 = 137;

/// Timestamp flag: each entry is an address and a time (RFC 791 §3.1).
const WITH_ADDRESS: u8 = 1;
/// Timestamp flag: the sender has filled in the addresses.
const PRESPECIFIED: u8 = 3;
/// The bit of a time that is not milliseconds since midnight.
const NONSTANDARD: u32 = 0x8000_0000;

/// The text of an option list.
pub fn print(list: &[u8]) -> String {
    options::print_list(list, |option| print_one(option).map(Some))
}

fn print_one(option: RawOption<'_>) -> Result<String, BadOption> {
    match option.kind {
        RECORD_ROUTE => print_route("rr", option.bytes),
        LOOSE_ROUTE => print_route("lsrr", option.bytes),
        STRICT_ROUTE => print_route("ssrr", option.bytes),
        TIMESTAMP => print_timestamp(option.bytes),
        _ => Ok(options::print_unknown(option)),
    }
}

/// The entry that the pointer, third byte of the option, stands at; entries start at byte `first`.
fn pointer(bytes: &[u8], first: usize) -> Result<usize, BadOption> {
    match bytes.get(2) {
        Some(pointer) if usize::from(*pointer) > first && bytes.len() >= first => {
            Ok(usize::from(*pointer) - 1)
        }
        _ => Err(BadOption),
    }
}

fn print_route(name: &str, bytes: &[u8]) -> Result<String, BadOption> {
    let pointer = pointer(bytes, 3)?;
    let is_record = bytes[0] == RECORD_ROUTE;
    let mut text = format!("{name}{{");
    let mut separator = "";
    let mut at = 3;
    while at + 4 <= bytes.len() {
        if at == pointer {
            if is_record {
                break;
            }
            separator = "^";
        }
        let _ = write!(text, "{separator}{}", address(bytes, at));
        separator = ",";
        at += 4;
    }
    if at == bytes.len() && at == pointer && !is_record {
        text.push('^');
    }
    text.push('}');
    if at + 4 <= bytes.len() {
        let _ = write!(text, "+{}", (bytes.len() - at) / 4);
    }
    Ok(text)
}

fn print_timestamp(bytes: &[u8]) -> Result<String, BadOption> {
    let pointer = pointer(bytes, 4)?;
    let (overflow, flag) = (bytes[3] >> 4, bytes[3] & 0xf);
    let size = if matches!(flag, 1..=3) { 8 } else { 4 };
    let mut text = String::from("ts");
    match flag {
        0 => {}
        WITH_ADDRESS => text.push_str(".ip"),
        PRESPECIFIED => text.push_str(".preip"),
        _ => text.push_str(&format!(".{flag}")),
    }
    text.push('{');
    let end = print_stamps(&mut text, bytes, pointer, size);
    if end == bytes.len() && end == pointer {
        text.push('^');
    }
    text.push('}');
    if end + size <= bytes.len() {
        let _ = write!(text, "+{}", (bytes.len() - end) / size);
    }
    if overflow > 0 {
        let _ = write!(text, "++{overflow}");
    }
    Ok(text)
}

/// Prints the entries before the pointer, and prespecified ones after it; returns where it stopped.
fn print_stamps(text: &mut String, bytes: &[u8], pointer: usize, size: usize) -> usize {
    let prespecified = bytes[3] & 0xf == PRESPECIFIED;
    let mut separator = "";
    let mut at = 4;
    while at + size <= bytes.len() {
        if at == pointer {
            if !prespecified {
                break;
            }
            separator = "^";
        }
        text.push_str(separator);
        if size == 8 {
            text.push_str(&address(bytes, at));
        }
        if !(prespecified && at >= pointer) {
            text.push_str(if size == 8 { "=" } else { "" });
            text.push_str(&time(bytes, at + size - 4));
        }
        separator = ",";
        at += size;
    }
    at
}

fn address(bytes: &[u8], at: usize) -> String {
    Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]).to_string()
}

fn time(bytes: &[u8], at: usize) -> String {
    let value = u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let mark = if value & NONSTANDARD != 0 { "!" } else { "" };
    format!("{mark}{}", value & !NONSTANDARD)
}

/// Parses the text of an option list.
pub fn parse(text: &str) -> Option<Vec<u8>> {
    options::parse_list(text, parse_one)
}

fn parse_one(text: &mut Text<'_>, list: &mut Vec<u8>) -> Option<()> {
    if text.eat("rr{") {
        parse_route(text, list, RECORD_ROUTE)
    } else if text.eat("lsrr{") {
        parse_route(text, list, LOOSE_ROUTE)
    } else if text.eat("ssrr{") {
        parse_route(text, list, STRICT_ROUTE)
    } else if text.eat("ts{") {
        parse_timestamp(text, list, None)
    } else if text.eat("ts.ip{") {
        parse_timestamp(text, list, Some(WITH_ADDRESS))
    } else if text.eat("ts.preip{") {
        parse_timestamp(text, list, Some(PRESPECIFIED))
    } else if text.eat("ts.") {
        let flag = text.number(15)? as u8;
        text.eat("{").then_some(())?;
        parse_timestamp(text, list, Some(flag))
    } else {
        options::parse_common(text, list)
    }
}

fn parse_route(text: &mut Text<'_>, list: &mut Vec<u8>, kind: u8) -> Option<()> {
    let start = list.len();
    list.extend([kind, 0, 0]);
    let mut pointer = None;
    while !text.eat("}") {
        if text.eat("^") {
            pointer.is_none().then_some(())?;
            pointer = Some(list.len() - start + 1);
        } else {
            list.extend(text.address()?);
            text.eat(",");
        }
    }
    let pointer = pointer.unwrap_or(list.len() - start + 1);
    let room = parse_room(text, 4)?;
    complete(list, start, pointer, room)
}

/// A timestamp option. Unless its name says what its entries are, the first one does: those with addresses are
/// prespecified if any of them is behind the pointer.
fn parse_timestamp(text: &mut Text<'_>, list: &mut Vec<u8>, named: Option<u8>) -> Option<()> {
    let start = list.len();
    list.extend([TIMESTAMP, 0, 0, 0]);
    let mut flag = named;
    let mut pointer = None;
    while !text.eat("}") {
        if text.eat("^") {
            pointer.is_none().then_some(())?;
            pointer = Some(list.len() - start + 1);
            continue;
        }
        let kind = *flag.get_or_insert(if starts_with_address(text.0) { WITH_ADDRESS } else { 0 });
        if matches!(kind, WITH_ADDRESS | PRESPECIFIED) {
            parse_stamp_with_address(text, list, pointer.is_some())?;
            if named.is_none() && pointer.is_some() {
                flag = Some(PRESPECIFIED);
            }
        } else {
            parse_time(text, list)?;
        }
        text.eat(",");
    }
    let flag = flag.unwrap_or(0);
    let pointer = pointer.unwrap_or(list.len() - start + 1);
    let room = parse_room(text, if matches!(flag, WITH_ADDRESS | PRESPECIFIED) { 8 } else { 4 })?;
    let overflow = if text.eat("++") { text.number(u32::MAX)? } else { 0 };
    // A count that the option cannot hold says nothing.
    let overflow = if overflow < 16 { overflow as u8 } else { 0 };
    list[start + 3] = overflow << 4 | flag;
    complete(list, start, pointer, room)
}

fn starts_with_address(text: &str) -> bool {
    text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('.')
}

/// `address=time`; behind the pointer there need not be a time yet.
fn parse_stamp_with_address(text: &mut Text<'_>, list: &mut Vec<u8>, behind_pointer: bool) -> Option<()> {
    list.extend(text.address()?);
    if behind_pointer && (text.eat("=?") || text.peek() != Some('=')) {
        list.extend([0; 4]);
        return Some(());
    }
    text.eat("=").then_some(())?;
    parse_time(text, list)
}

fn parse_time(text: &mut Text<'_>, list: &mut Vec<u8>) -> Option<()> {
    let mark = if text.eat("!") { NONSTANDARD } else { 0 };
    let value = text.number(u32::MAX)? | mark;
    list.extend(value.to_be_bytes());
    Some(())
}

/// `+N`, but not `++N`: bytes of room behind the last entry. Room that no option can have is none.
fn parse_room(text: &mut Text<'_>, size: usize) -> Option<usize> {
    if text.0.starts_with("++") || !text.eat("+") {
        return Some(0);
    }
    let entries = text.number(u32::MAX)?;
    Some(if entries < 64 { entries as usize * size } else { 0 })
}

/// Fills in length and pointer, and appends the room.
fn complete(list: &mut Vec<u8>, start: usize, pointer: usize, room: usize) -> Option<()> {
    list.resize(list.len() + room, 0);
    list[start + 1] = u8::try_from(list.len() - start).ok()?;
    list[start + 2] = u8::try_from(pointer).ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip() {
        for text in [
            "rr{10.0.0.1,20.0.0.2}+5",
            "rr{}+3",
            "ssrr{1.0.0.1,1.0.0.2^1.0.0.3}",
            "lsrr{1.0.0.1^}",
            "ts{1,10000,!45}+2++3",
            "ts.ip{1.0.0.1=1,1.0.0.2=2}+2",
            "ts.ip{1.0.0.1=!3}+1",
            "ts{!3}+1",
            "ts{!3^}",
            "ts.preip{1.0.0.1=!3^1.0.0.2,1.0.0.3}",
            "98;99=0:5:10",
            ".",
        ] {
            let list = parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(print(&list), text);
        }
    }

    /// What a timestamp option is follows from its first entry and from where the pointer is.
    #[test]
    fn timestamps_without_a_name() {
        for (text, printed) in [
            ("ts{1.0.0.1=!3,1.0.0.2=4}+1", "ts.ip{1.0.0.1=!3,1.0.0.2=4}+1"),
            ("ts{1.0.0.1=1^1.0.0.2=?,1.0.0.3}", "ts.preip{1.0.0.1=1^1.0.0.2,1.0.0.3}"),
            ("ts{^1.0.0.2}", "ts.preip{^1.0.0.2}"),
            ("ts{0x10,010}+1", "ts{16,8}+1"),
            ("rr{}+64", "rr{}"),
            ("ts{1^}++16", "ts{1^}"),
        ] {
            assert_eq!(parse(text).map(|list| print(&list)).as_deref(), Some(printed), "{text}");
        }
        for text in ["ts{!3,1.0.0.1=5}", "ts.ip{5}", "ts.5{1.0.0.1=2}", "ts{1^2^3}", "ts{1.0.0.1}"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    /// RFC 791 §3.1: length counts the whole option, the pointer counts from one.
    #[test]
    fn bytes_of_a_record_route() {
        assert_eq!(parse("rr{1.2.3.4}+1").unwrap(), [7, 11, 8, 1, 2, 3, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn bad_lists() {
        assert_eq!(print(&[7, 11, 3, 1, 2, 3, 4, 0, 0, 0, 0]), "?");
        assert_eq!(print(&[7, 12, 4]), "?");
        assert_eq!(print(&[68, 3, 5]), "?");
        for text in ["rr{1.2.3}", "rr{1.2.3.4", "ts{x}", "rr{}+40", "ts.99{}", "eol,nop", "ts{!}"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
