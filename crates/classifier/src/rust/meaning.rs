//! What a step asks, in words: the comments of the text.

use super::Sections;
use crate::expr::Test;
use crate::headers::Base;

/// The question for people who know headers.
pub fn meaning(test: &Test, sections: Sections) -> String {
    let known = match sections {
        Sections::Data => None,
        Sections::Headers => field(test),
    };
    known.unwrap_or_else(|| bytes(test))
}

/// The fields that filters ask for most.
fn field(test: &Test) -> Option<String> {
    let &Test { base, offset, mask, value, .. } = test;
    match (base, offset, mask) {
        (Base::Network, 8, 0x00ff_0000) => Some(protocol(value >> 16)),
        (Base::Network, 12, _) => Some(format!("source {}", addresses(mask, value))),
        (Base::Network, 16, _) => Some(format!("destination {}", addresses(mask, value))),
        (Base::Network, 4, 0x1fff) if value == 0 => Some("first fragment".into()),
        (Base::Transport, 0, 1..=0xffff) => Some(format!("destination port {}", ports(mask, value))),
        (Base::Transport, 0, _) if mask & 0xffff == 0 => {
            Some(format!("source port {}", ports(mask >> 16, value >> 16)))
        }
        _ => None,
    }
}

fn protocol(number: u32) -> String {
    match number {
        1 => "icmp".into(),
        6 => "tcp".into(),
        17 => "udp".into(),
        other => format!("protocol {other}"),
    }
}

fn addresses(mask: u32, value: u32) -> String {
    let dotted = std::net::Ipv4Addr::from_bits;
    match mask.leading_ones() {
        32 => dotted(value).to_string(),
        length if mask.count_ones() == length => format!("{}/{length}", dotted(value)),
        _ => format!("{} under {}", dotted(value), dotted(mask)),
    }
}

fn ports(mask: u32, value: u32) -> String {
    match mask {
        0xffff => value.to_string(),
        _ if (mask << 16).leading_ones() == mask.count_ones() => {
            format!("{value}-{}", value | !mask & 0xffff)
        }
        _ => format!("{value:#06x} under {mask:#06x}"),
    }
}

/// The question as a clause of a `Classifier` pattern, with what its offset counts from if that is not the start.
fn bytes(test: &Test) -> String {
    let first = test.mask.leading_zeros() as usize / 8;
    let relevant = first..test.need();
    let digits = |word: u32| {
        word.to_be_bytes()[relevant.clone()].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let mask = digits(test.mask);
    let mask = if mask.bytes().all(|digit| digit == b'f') { String::new() } else { format!("%{mask}") };
    format!("{}/{}{mask}", usize::from(test.offset) + first, digits(test.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_in_words() {
        let network =
            |offset, mask, value| meaning(&Test::new(Base::Network, offset, mask, value), Sections::Headers);
        let transport = |mask, value| meaning(&Test::new(Base::Transport, 0, mask, value), Sections::Headers);
        assert_eq!(network(8, 0x00ff_0000, 0x0059_0000), "protocol 89");
        assert_eq!(network(12, !0, 0x0a00_0001), "source 10.0.0.1");
        assert_eq!(network(16, 0xff00_ff00, 0x0a00_0100), "destination 10.0.1.0 under 255.0.255.0");
        assert_eq!(network(4, 0x2000, 0x2000), "6/20%20");
        assert_eq!(transport(0xffff_0000, 80 << 16), "source port 80");
        assert_eq!(transport(0xfc00, 1024), "destination port 1024-2047");
        assert_eq!(transport(0x0401, 0x0400), "destination port 0x0400 under 0x0401");
    }
}
