//! From a column of a dump, in text or binary, to the value of a field.

use std::sync::LazyLock;

use clickwork_packet::Timestamp;
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_packet::headers::icmp;
use clickwork_router::args::{ArgParser, Bounded, FromArg, IntBase, Names, unquote_bytes};

use super::draft::Draft;
use super::field::{Field, FieldFacts, Width};
use super::ip_options;
use super::print::TCP_FLAG_LETTERS;
use super::tcp_options::{self, Shown};

/// A value to be put into a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// A number or an IPv4 address.
    Number(u64),
    /// A time in nanoseconds.
    Time(i64),
    /// Header options, a MAC address, or payload.
    Bytes(Vec<u8>),
}

/// Parses a column of text. `None`: it is not of the field's form. ICMP code names depend on the draft's type; addresses
/// can have the `names` that the router defines.
pub fn parse_text(facts: &FieldFacts, text: &str, draft: &Draft, names: &Names) -> Option<Parsed> {
    use Field as F;
    match facts.field {
        F::Timestamp | F::NanoTimestamp | F::FirstTimestamp | F::FirstNanoTimestamp => {
            // Times before the epoch are taken from annotations only.
            let time = Timestamp::from_arg(text, &NO_NAMES).ok().filter(|_| !text.starts_with('-'))?;
            Some(Parsed::Time(time.nanos()))
        }
        F::EtherSource | F::EtherDestination => {
            EtherAddress::from_arg(text, names).ok().map(|address| Parsed::Bytes(address.0.to_vec()))
        }
        F::IpSource | F::IpDestination => {
            let address = Ipv4Address::from_arg(text, names).ok();
            address.map(|address| Parsed::Number(address.to_bits().into()))
        }
        F::IpOptions => ip_options::parse(text).map(Parsed::Bytes),
        F::TcpOptions => tcp_options::parse(text, Shown::All).map(Parsed::Bytes),
        F::TcpNonTimestampOptions => tcp_options::parse(text, Shown::AllButTimestamps).map(Parsed::Bytes),
        F::TcpSack => tcp_options::parse(text, Shown::Sack).map(Parsed::Bytes),
        F::Payload => Some(Parsed::Bytes(unquote_bytes(text))),
        _ => parse_number_field(facts, text, draft).map(Parsed::Number),
    }
}

fn parse_number_field(facts: &FieldFacts, text: &str, draft: &Draft) -> Option<u64> {
    use Field as F;
    match facts.field {
        F::IpFragment | F::IpFragmentOffset => parse_fragment(text, draft.minor_version()),
        F::IpProtocol => parse_protocol(text),
        F::IpEcn => parse_ecn(text),
        F::EtherType => IntBase(16).parse(text, &NO_NAMES).ok().filter(|number| *number <= 0xffff),
        F::TcpFlags => parse_tcp_flags(text),
        F::IcmpType | F::IcmpTypeName => icmp::type_named(text).map(u64::from).or_else(|| bounded(text, 255)),
        F::IcmpCode | F::IcmpCodeName => {
            let named = draft.icmp_type.and_then(|icmp_type| icmp::code_named(icmp_type, text));
            named.map(u64::from).or_else(|| bounded(text, 255))
        }
        F::Direction | F::Paint => match text {
            ">" | "L" => Some(0),
            "<" | "R" | "X" => Some(1),
            _ => bounded(text, u32::MAX.into()),
        },
        F::IpHeaderLength | F::TcpOffset => bounded(text, 60),
        _ => bounded(text, limit(facts.width)),
    }
}

/// The largest number of a width.
fn limit(width: Width) -> u64 {
    match width {
        Width::Bytes(size @ 0..8) => (1 << (8 * size)) - 1,
        _ => u64::MAX,
    }
}

/// Numbers have no names.
pub(super) static NO_NAMES: LazyLock<Names> = LazyLock::new(Names::default);

/// An integer of at most `max`, in any of the forms that arguments can have.
fn bounded(text: &str, max: u64) -> Option<u64> {
    Bounded(0..=max).parse(text, &NO_NAMES).ok()
}

/// A fragment letter, or an offset with its flags.
fn parse_fragment(text: &str, minor_version: u32) -> Option<u64> {
    const DONT_FRAGMENT: u64 = 0x4000;
    const MORE_FRAGMENTS: u64 = 0x2000;
    /// `f` says that there is an offset, but not which.
    const SOME_OFFSET: u64 = 100;
    match text {
        "." => return Some(0),
        "!" => return Some(DONT_FRAGMENT),
        "F" => return Some(MORE_FRAGMENTS),
        "f" => return Some(SOME_OFFSET),
        _ => {}
    }
    let number = text.trim_end_matches(['!', '+']);
    let offset = match number {
        "" if !text.is_empty() => 0,
        number => bounded(number, 0xffff)?,
    };
    let units = if minor_version > 0 { offset >> 3 } else { offset };
    let flags = &text[number.len()..];
    let flag = |letter, bit| if flags.contains(letter) { bit } else { 0 };
    Some((units & 0x1fff) | flag('!', DONT_FRAGMENT) | flag('+', MORE_FRAGMENTS))
}

fn parse_protocol(text: &str) -> Option<u64> {
    match text {
        "T" => Some(6),
        "U" => Some(17),
        "I" => Some(1),
        _ => bounded(text, 255),
    }
}

fn parse_ecn(text: &str) -> Option<u64> {
    match text {
        "no" | "0" => Some(0),
        "ect1" | "ECT(1)" | "1" => Some(1),
        "ect2" | "ECT(0)" | "2" => Some(2),
        "ce" | "CE" | "3" => Some(3),
        _ => None,
    }
}

/// Letters, also those of old dumps (`W` for CWR, `X` and `Y` for ECE and CWR), or a number.
fn parse_tcp_flags(text: &str) -> Option<u64> {
    if text == "." {
        return Some(0);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return bounded(text, 0xfff);
    }
    text.chars().try_fold(0, |flags, letter| {
        let letter = match letter {
            'W' | 'Y' => 'C',
            'X' => 'E',
            letter => letter,
        };
        TCP_FLAG_LETTERS.find(letter).map(|bit| flags | 1 << bit)
    })
}

/// Parses a column of a binary record and moves `record` behind it. `None`: the record is too short, or the field is not
/// a binary one; there is nothing behind it then. A list of options that is cut short is an empty one.
pub fn parse_binary(facts: &FieldFacts, record: &mut &[u8]) -> Option<Parsed> {
    let rest = std::mem::take(record);
    let (bytes, rest) = match facts.width {
        Width::Bytes(size) => rest.split_at_checked(size)?,
        Width::Counted => {
            let size = rest.first().map_or(0, |size| usize::from(*size));
            rest.get(1..).and_then(|rest| rest.split_at_checked(size)).unwrap_or_default()
        }
        Width::NotBinary => return None,
    };
    *record = rest;
    Some(binary_value(facts, bytes))
}

fn binary_value(facts: &FieldFacts, bytes: &[u8]) -> Parsed {
    use Field as F;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    let time = |unit: u64| {
        let nanoseconds = number(&bytes[4..]).saturating_mul(unit);
        Parsed::Time((number(&bytes[..4]) * 1_000_000_000).saturating_add(nanoseconds) as i64)
    };
    match facts.field {
        F::Timestamp | F::FirstTimestamp => time(1000),
        F::NanoTimestamp | F::FirstNanoTimestamp => time(1),
        // The letters of fragment descriptors are stored as such.
        F::IpFragment => Parsed::Number(parse_fragment(&(bytes[0] as char).to_string(), 1).unwrap_or(0)),
        _ if matches!(facts.width, Width::Bytes(0..=4 | 8)) => Parsed::Number(number(bytes)),
        _ => Parsed::Bytes(bytes.to_vec()),
    }
}
