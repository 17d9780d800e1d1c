//! Fields of IP packets as text: `ip dst/24`, `tcp sport`, `ip[12:4]`, `udp{0-7}`, `ip tos & 0x1c`.
//!
//! A header (`ip`, a protocol, `tcpudp` for either, `transp` for any transport header, `payload`, or `ip proto N`),
//! then a field's name, or a place in bytes `[OFFSET:LENGTH]` or bits `{OFFSET:LENGTH}`, which behind a name counts from
//! the start of the field. `/N` keeps the first bits of the field, `& MASK` those of the mask.

use clickwork_router::args::{FromArg, Names};

/// The header of TCP or of UDP, whichever there is.
pub const TCP_OR_UDP: u32 = 256;
/// The transport header, whatever the protocol.
pub const TRANSPORT: u32 = 257;
/// What is behind the TCP or UDP header.
pub const PAYLOAD: u32 = 258;

const HEADERS: [(&str, u32); 3] = [("payload", PAYLOAD), ("tcpudp", TCP_OR_UDP), ("transp", TRANSPORT)];
const TCP: u32 = 6;
const UDP: u32 = 17;
const ICMP: u32 = 1;

/// A field: so many bits somewhere in a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpField {
    /// In which header: 0 for that of IP, else a protocol, or one of the constants above.
    pub header: u32,
    /// First bit, from the start of the header.
    pub offset: u32,
    /// Number of bits, at least one.
    pub length: u32,
}

/// No header and no payload is longer, in bits.
const MAX_BITS: u64 = 65_536 * 8;

const BAD_FIELD: &str = "expected 'HEADER [NAME] [{OFFSET:LENGTH}] [/PREFIX] [& MASK]'";
const BAD_PLACE: &str = "bad offset or length in TCP/IP field";
const BAD_MASK: &str = "bad prefix or mask in TCP/IP field";

/// Header for the name, name, header, offset, length.
type Named = (u32, &'static str, u32, u32, u32);

/// The fields that have names. Of several names for one field the first is printed.
const NAMED: &[Named] = &[
    (0, "df", 0, 49, 1),
    (0, "dport", TCP_OR_UDP, 16, 16),
    (0, "dscp", 0, 8, 6),
    (0, "dst", 0, 128, 32),
    (0, "ecn", 0, 14, 2),
    (0, "fragoff", 0, 51, 13),
    (0, "hl", 0, 4, 4),
    (0, "id", 0, 32, 16),
    (0, "len", 0, 16, 16),
    (0, "mf", 0, 50, 1),
    (0, "off", 0, 48, 16),
    (0, "proto", 0, 72, 8),
    (0, "rf", 0, 48, 1),
    (0, "sport", TCP_OR_UDP, 0, 16),
    (0, "src", 0, 96, 32),
    (0, "sum", 0, 80, 16),
    (0, "tos", 0, 8, 8),
    (0, "ttl", 0, 64, 8),
    (0, "vers", 0, 0, 4),
    (UDP, "dport", UDP, 16, 16),
    (UDP, "len", UDP, 32, 16),
    (UDP, "sport", UDP, 0, 16),
    (UDP, "sum", UDP, 48, 16),
    (TCP, "ack", TCP, 107, 1),
    (TCP, "ackno", TCP, 64, 32),
    (TCP, "dport", TCP, 16, 16),
    (TCP, "fin", TCP, 111, 1),
    (TCP, "flags", TCP, 104, 8),
    (TCP, "hl", TCP, 96, 4),
    (TCP, "psh", TCP, 108, 1),
    (TCP, "push", TCP, 108, 1),
    (TCP, "rst", TCP, 109, 1),
    (TCP, "seq", TCP, 32, 32),
    (TCP, "seqno", TCP, 32, 32),
    (TCP, "sport", TCP, 0, 16),
    (TCP, "sum", TCP, 128, 16),
    (TCP, "syn", TCP, 110, 1),
    (TCP, "urg", TCP, 106, 1),
    (TCP, "urp", TCP, 144, 16),
    (TCP, "win", TCP, 112, 16),
    (ICMP, "code", ICMP, 8, 8),
    (ICMP, "sum", ICMP, 16, 16),
    (ICMP, "type", ICMP, 0, 8),
    (TCP_OR_UDP, "dport", TCP_OR_UDP, 16, 16),
    (TCP_OR_UDP, "sport", TCP_OR_UDP, 0, 16),
];

fn named(header: u32, name: &str) -> Option<IpField> {
    let (_, _, header, offset, length) = *NAMED.iter().find(|f| f.0 == header && f.1 == name)?;
    Some(IpField { header, offset, length })
}

fn name_of(field: IpField) -> Option<&'static str> {
    let found = NAMED
        .iter()
        .find(|f| f.0 == field.header && (f.2, f.3, f.4) == (field.header, field.offset, field.length));
    found.map(|f| f.1)
}

/// The name of a header in text, its number if it has none.
pub fn header_name(header: u32) -> String {
    let protocols =
        [("dccp", 33), ("gre", 47), ("icmp", ICMP), ("icmp6", 58), ("igmp", 2), ("ipip", 4), ("sctp", 132)];
    let all = HEADERS.iter().chain(&protocols).chain(&[("tcp", TCP), ("udp", UDP)]);
    all.clone().find(|(_, n)| *n == header).map_or_else(|| header.to_string(), |(name, _)| (*name).to_owned())
}

/// A cursor over the text.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn skip_space(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn eat(&mut self, word: &str) -> bool {
        let rest = self.0.strip_prefix(word);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// A number, as integer arguments are written.
    fn number(&mut self, names: &Names) -> Option<u64> {
        self.skip_space();
        let end = self.0.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.0.len());
        let number = u32::from_arg(&self.0[..end], names).ok()?;
        self.0 = &self.0[end..];
        Some(u64::from(number))
    }

    /// The text up to space or one of `ends`.
    fn word(&mut self, ends: &[char]) -> &'a str {
        let end = self.0.find(|c: char| c.is_whitespace() || ends.contains(&c)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }
}

impl IpField {
    /// Reads a field and returns it with the rest of the text.
    ///
    /// # Errors
    /// With the message, if the text is not a field.
    pub fn parse<'a>(text: &'a str, names: &Names) -> Result<(IpField, &'a str), &'static str> {
        let mut cursor = Cursor(text);
        let header = parse_header(&mut cursor, names).ok_or(BAD_FIELD)?;
        let field = parse_name(&mut cursor, header);
        let place = parse_place(&mut cursor, names);
        let mut field = match (field, place) {
            (None, None) => return Err(BAD_FIELD),
            (Some(field), None) => field,
            (field, Some((offset, length))) => within(header, field, offset, length).ok_or(BAD_PLACE)?,
        };
        parse_prefix(&mut cursor, names, &mut field)?;
        parse_mask(&mut cursor, names, &mut field)?;
        Ok((field, cursor.0))
    }

    /// The field as text, in the shortest way.
    pub fn text(&self) -> String {
        let header = match self.header {
            0 => "ip".to_owned(),
            header => header_name(header),
        };
        let header = if header.starts_with(|c: char| c.is_ascii_digit()) {
            format!("ip proto {header}")
        } else {
            header
        };
        if let Some(name) = name_of(*self) {
            return format!("{header} {name}");
        }
        let mut offset = self.offset;
        let mut name = String::new();
        for size in [8, 16, 32].into_iter().filter(|size| offset / size == (offset + self.length - 1) / size)
        {
            if let Some(container) = name_of(IpField { offset: offset & !(size - 1), length: size, ..*self })
            {
                name = format!(" {container}");
                offset &= size - 1;
                if offset == 0 {
                    return format!("{header}{name}/{}", self.length);
                }
                break;
            }
        }
        let place = match (offset % 8, self.length) {
            (0, 8) => format!("[{}]", offset / 8),
            (0, length) if length % 8 == 0 => format!("[{}:{}]", offset / 8, length / 8),
            (_, 1) => format!("{{{offset}}}"),
            (_, length) => format!("{{{offset}:{length}}}"),
        };
        format!("{header}{name}{place}")
    }
}

fn parse_header(cursor: &mut Cursor<'_>, names: &Names) -> Option<u32> {
    let start = cursor.0;
    let mut with_number = Cursor(start);
    if with_number.eat("ip")
        && spaced(&mut with_number, "proto")
        && with_number.0.starts_with(char::is_whitespace)
        && let Some(number) = with_number.number(names)
    {
        *cursor = with_number;
        return Some(number as u32);
    }
    if cursor.eat("ip") && !cursor.0.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        return Some(0);
    }
    cursor.0 = start;
    let word = cursor.word(&[]);
    let special = HEADERS.iter().find(|(name, _)| *name == word).map(|(_, header)| *header);
    special.or_else(|| names.ip_proto(word).map(u32::from))
}

/// Passes over space and a word, if they are next.
fn spaced(cursor: &mut Cursor<'_>, word: &str) -> bool {
    if !cursor.0.starts_with(char::is_whitespace) {
        return false;
    }
    cursor.skip_space();
    cursor.eat(word)
}

fn parse_name(cursor: &mut Cursor<'_>, header: u32) -> Option<IpField> {
    let mut ahead = Cursor(cursor.0.trim_start());
    let field = named(header, ahead.word(&['/', '[', '{', '&']))?;
    *cursor = ahead;
    Some(field)
}

/// `[OFFSET]`, `[OFFSET:LENGTH]` or `[FIRST-LAST]` in bytes, with braces in bits; returns offset and length in bits.
fn parse_place(cursor: &mut Cursor<'_>, names: &Names) -> Option<(u64, i64)> {
    let mut ahead = Cursor(cursor.0.trim_start());
    let (close, unit) = if ahead.eat("[") {
        ("]", 8)
    } else if ahead.eat("{") {
        ("}", 1)
    } else {
        return None;
    };
    let offset = ahead.number(names)?;
    ahead.skip_space();
    let length = if ahead.eat(":") {
        ahead.number(names)? as i64
    } else if ahead.eat("-") {
        ahead.number(names)? as i64 - offset as i64 + 1
    } else {
        1
    };
    ahead.skip_space();
    ahead.eat(close).then_some(())?;
    *cursor = ahead;
    Some((offset * unit as u64, length * unit))
}

/// The place within a field, or within the header if there is none.
fn within(header: u32, field: Option<IpField>, offset: u64, length: i64) -> Option<IpField> {
    let length = u64::try_from(length).ok().filter(|length| *length > 0)?;
    let whole = field.unwrap_or(IpField { header, offset: 0, length: MAX_BITS as u32 });
    (offset + length <= u64::from(whole.length)).then_some(())?;
    Some(IpField { header: whole.header, offset: whole.offset + offset as u32, length: length as u32 })
}

fn parse_prefix(cursor: &mut Cursor<'_>, names: &Names, field: &mut IpField) -> Result<(), &'static str> {
    let mut ahead = Cursor(cursor.0.trim_start());
    if !ahead.eat("/") {
        return Ok(());
    }
    let Some(length) = ahead.number(names) else { return Ok(()) };
    if length == 0 || length > u64::from(field.length) {
        return Err(BAD_MASK);
    }
    field.length = length as u32;
    *cursor = ahead;
    Ok(())
}

/// The mask's ones have to be together and within the field.
fn parse_mask(cursor: &mut Cursor<'_>, names: &Names, field: &mut IpField) -> Result<(), &'static str> {
    let mut ahead = Cursor(cursor.0.trim_start());
    if !ahead.eat("&") {
        return Ok(());
    }
    let Some(mask) = ahead.number(names) else { return Ok(()) };
    let low = mask.trailing_zeros();
    let high = u64::BITS - mask.leading_zeros();
    if mask == 0 || mask.count_ones() != high - low || high > field.length {
        return Err(BAD_MASK);
    }
    *field = IpField { offset: field.offset + field.length - high, length: high - low, ..*field };
    *cursor = ahead;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<(u32, u32, u32), &'static str> {
        let (field, rest) = IpField::parse(text, &Names::default())?;
        assert_eq!(rest, "", "{text}");
        Ok((field.header, field.offset, field.length))
    }

    #[test]
    fn fields_are_where_the_rfcs_have_them() {
        for (text, expected) in [
            ("ip dst", (0, 128, 32)),
            ("ip dst/24", (0, 128, 24)),
            ("ip src / 8", (0, 96, 8)),
            ("ip proto", (0, 72, 8)),
            ("ip proto 6 sport", (6, 0, 16)),
            ("ip sport", (256, 0, 16)),
            ("ip tos & 0x1c", (0, 11, 3)),
            ("ip[9]", (0, 72, 8)),
            ("ip [12:4]", (0, 96, 32)),
            ("ip[2-3]", (0, 16, 16)),
            ("ip{4-7}", (0, 4, 4)),
            ("ip src[1]", (0, 104, 8)),
            ("tcp flags{6}", (6, 110, 1)),
            ("tcp syn", (6, 110, 1)),
            ("udp [0:2]", (17, 0, 16)),
            ("tcpudp dport", (256, 16, 16)),
            ("transp [4:4]", (257, 32, 32)),
            ("payload [0]", (258, 0, 8)),
            ("icmp type", (1, 0, 8)),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn wrong_fields_are_refused() {
        for text in ["", "ip", "ip bogus", "bogus dst", "tcp[0]", "ipdst"] {
            assert_eq!(parse(text), Err(BAD_FIELD), "{text}");
        }
        for text in ["ip dst[4]", "ip[3-1]", "ip[1:0]", "ip tos{7:2}", "ip[4000000000]"] {
            assert_eq!(parse(text), Err(BAD_PLACE), "{text}");
        }
        for text in ["ip dst/33", "ip dst/0", "ip tos & 0", "ip tos & 5", "ip tos & 256"] {
            assert_eq!(parse(text), Err(BAD_MASK), "{text}");
        }
    }

    #[test]
    fn fields_print_by_name_or_by_place() {
        for (text, printed) in [
            ("ip[16:4]", "ip dst"),
            ("ip dst/24", "ip dst/24"),
            ("ip src[1]", "ip src[1]"),
            ("tcp push", "tcp psh"),
            ("ip tos & 3", "ip ecn"),
            ("ip{9:2}", "ip tos{1:2}"),
            ("ip proto 99 [2:2]", "ip proto 99[2:2]"),
            ("transp [0:2]", "transp[0:2]"),
            ("ip[20:3]", "ip[20:3]"),
            ("ip{163}", "ip{163}"),
        ] {
            let (field, _) = IpField::parse(text, &Names::default()).unwrap();
            assert_eq!(field.text(), printed, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(ip|tcp|udp|ip proto 6)?[ a-z0-9\\[\\]{}:/&-]{0,20}") {
            if let Ok((field, _)) = IpField::parse(&text, &Names::default()) {
                prop_assert!(field.length > 0);
                field.text();
            }
        }
    }
}
