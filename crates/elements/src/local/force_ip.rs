//! ForceIP: makes a valid IP header out of any bytes.

use clickwork_packet::Packet;
use clickwork_packet::checksum::checksum;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes a valid IP header out of any bytes",
    manual: "For tests with random packets. Takes the beginning of each packet for an IP header and corrects what would make it \
             invalid: version, total length, a header length that cannot be, and the checksum. The header is marked. Seven \
             of eight packets are made no fragments.",
    example: "RandomSource(60, LIMIT 3, STOP true) -> ForceIP -> CheckIPHeader(VERBOSE true) -> Discard",
    packets: "any/mark ip@0",
    ..Class::new("ForceIP", "local", || Box::<ForceIp>::default())
};

#[derive(Default)]
struct ForceIp {
    count: u32,
}

/// Corrects the header at the start of a packet; none if there is no room for one.
fn force(p: &mut Packet, keeps_fragment: bool) -> Option<()> {
    let length = p.len();
    let header = Ipv4Header::peek_mut(p.data_mut())?;
    let stated = header.ihl();
    header.set_total_len(length as u16);
    if !keeps_fragment {
        header.set_fragment_field(0);
    }
    let right = (size_of::<Ipv4Header>()..=length).contains(&stated);
    // The field has four bits: of a long packet not much is left in it, as in Click.
    let words = if right { stated / 4 } else { (length / 4) & 0xf };
    header.set_checksum(0);
    p.data_mut()[0] = 0x40 | words as u8;
    let sum = checksum(p.data().get(..words * 4)?);
    Ipv4Header::peek_mut(p.data_mut())?.set_checksum(sum);
    p.set_network_header(0, stated as u32);
    Some(())
}

impl SimpleElement for ForceIp {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let keeps_fragment = self.count & 7 == 1;
        self.count = self.count.wrapping_add(1);
        match force(p, keeps_fragment) {
            Some(()) => Verdict::PASS,
            None => Verdict::Drop("too short for IP"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use clickwork_packet::headers::Ipv4;

    #[test]
    fn what_comes_out_is_valid_unless_it_is_long_and_had_no_length() {
        let mut t = Harness::new("s :: Source -> ForceIP -> k :: Sink");
        t.push("s", 0, (0..9).map(|n| Packet::new(&[0x96 + n; 60])));
        let packets = t.take("k");
        for (n, p) in packets.iter().enumerate() {
            let ip = Ipv4::new(p.data()).unwrap();
            assert!(ip.version() == 4 && ip.total_len() == 60 && ip.checksum_is_right(), "{n}");
            assert_eq!(ip.fragment_field() == 0, n != 1);
            assert!(p.has_network_header());
        }
    }

    #[test]
    fn a_header_length_that_cannot_be_becomes_that_of_the_packet() {
        let mut t = Harness::new("s :: Source -> f :: ForceIP -> k :: Sink");
        t.push("s", 0, [24, 60, 64, 19].map(|n| Packet::new(&vec![0x0f + u8::from(n > 30); n])));
        let first: Vec<u8> = t.take("k").iter().map(|p| p.data()[0]).collect();
        assert_eq!(
            (first.as_slice(), t.read("f.drop_reasons").as_str()),
            (&[0x46, 0x4f, 0x40][..], "1\ttoo short for IP\n")
        );
    }
}
