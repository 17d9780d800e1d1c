//! File names made of a pattern and the first packet of a flow: `flow%04n-%s`.

use super::flow::FlowId;

/// The name for a flow; none if the pattern has an escape that means nothing, or ends in the middle of one.
pub fn expand(pattern: &str, aggregate: u32, id: &FlowId) -> Option<String> {
    let mut name = String::new();
    let mut rest = pattern;
    while let Some((before, escape)) = rest.split_once('%') {
        name.push_str(before);
        let (text, behind) = expand_one(escape, aggregate, id)?;
        name.push_str(&text);
        rest = behind;
    }
    Some(name + rest)
}

/// The text of an escape, padded to its width, and what comes behind it.
fn expand_one<'a>(escape: &'a str, aggregate: u32, id: &FlowId) -> Option<(String, &'a str)> {
    let (padding, rest) = match escape.strip_prefix('0') {
        Some(rest) => ('0', rest),
        None => ('_', escape),
    };
    let (width, rest) = number(rest);
    let (precision, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (precision, rest) = number(rest);
            (Some(precision.unwrap_or(0)), rest)
        }
        None => (None, rest),
    };
    let letter = rest.chars().next()?;
    let byte = |octets: [u8; 4]| Some(octets[precision.filter(|at| *at <= 3)?].to_string());
    let text = match letter {
        'n' => part(aggregate, precision).to_string(),
        'x' => format!("{:x}", part(aggregate, precision)),
        'X' => format!("{:X}", part(aggregate, precision)),
        's' => byte(id.source.octets()).unwrap_or_else(|| id.source.to_string()),
        'd' => byte(id.destination.octets()).unwrap_or_else(|| id.destination.to_string()),
        'S' => id.source_port.to_string(),
        'D' => id.destination_port.to_string(),
        'p' => id.letter().to_string(),
        '%' => "%".to_owned(),
        _ => return None,
    };
    let missing = width.unwrap_or(0).min(MAX_WIDTH).saturating_sub(text.len());
    Some((padding.to_string().repeat(missing) + &text, &rest[letter.len_utf8()..]))
}

/// No file name is longer.
const MAX_WIDTH: usize = 255;

fn number(text: &str) -> (Option<usize>, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].parse().ok(), &text[end..])
}

/// One of the four bytes (0 to 3) or two halves (4, 5) of an aggregate, or all of it.
fn part(aggregate: u32, precision: Option<usize>) -> u32 {
    match precision {
        Some(n @ 0..=3) => aggregate >> ((3 - n) * 8) & 0xff,
        Some(n @ 4..=5) => aggregate >> ((5 - n) * 16) & 0xffff,
        _ => aggregate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_packet::addr::Ipv4Address;

    #[test]
    fn escapes_of_every_kind() {
        let id = FlowId {
            is_tcp: false,
            source: Ipv4Address::new(10, 0, 0, 1),
            source_port: 80,
            destination: Ipv4Address::new(1, 2, 3, 4),
            destination_port: 5353,
        };
        for (pattern, name) in [
            ("plain", "plain"),
            ("a%nb%%", "a66051b%"),
            ("%08n%5n", "0006605166051"),
            ("%7n", "__66051"),
            ("%x%X%.3x", "10203102033"),
            ("%.0n.%.1n.%.2n.%.3n", "0.1.2.3"),
            ("%.4n-%.5n", "1-515"),
            ("%s:%S>%d:%D", "10.0.0.1:80>1.2.3.4:5353"),
            ("%.0s %03.3d", "10 004"),
            ("%p", "U"),
        ] {
            assert_eq!(expand(pattern, 0x10203, &id).as_deref(), Some(name), "{pattern}");
        }
        for pattern in ["%", "%q", "%0"] {
            assert_eq!(expand(pattern, 1, &id), None);
        }
    }
}
