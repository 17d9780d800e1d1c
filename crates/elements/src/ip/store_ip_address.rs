//! StoreIPAddress: writes an address into packets.

use super::fast::{replace_address, store_ip_address};
use super::rewrite::replace_address;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg};
use clickwork_router::{Class, Cx, Fast, FastCode, FastPath, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "writes an IP address into packets",
    manual: "Writes ADDR, or the packet's destination annotation if there is one argument only, at OFFSET into each packet. \
             OFFSET may also be src or dst, the address of the marked IP header; then the checksums of IP, TCP and UDP \
             are updated. Packets that cannot take the address go to output 1 if it is connected, and are dropped \
             otherwise.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> StoreIPAddress(3.0.0.3, src) \
              -> CheckIPHeader -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    args: &[
        ArgSpec::rest(
            "[ADDR,] OFFSET",
            ArgType::Other("IP address, then offset"),
            "what to write, and where",
        ),
        ArgSpec::keyword("ADDR", ArgType::IpAddr, "", "the address; by default the destination annotation"),
        ArgSpec::keyword("OFFSET", ArgType::Other("offset, src or dst"), "", "where to write it"),
    ],
    fast: Some(FastPath::of::<StoreIPAddress>()),
    ..Class::new("StoreIPAddress", "ip", || {
        Box::new(StoreIPAddress { address: None, place: Place::Offset(0) })
    })
};

/// Where the address goes.
enum Place {
    Offset(usize),
    Source,
    Destination,
}

/// What one of the two fast paths knows.
enum Constants {
    InData(store_ip_address::Constants),
    InHeader(replace_address::Constants),
}

struct StoreIPAddress {
    address: Option<Ipv4Address>,
    place: Place,
}

impl StoreIPAddress {
    fn read_place(&mut self, text: &str, args: &mut Args) {
        self.place = match text.to_ascii_lowercase().as_str() {
            "src" => Place::Source,
            "dst" => Place::Destination,
            _ => match u32::from_arg(text, args.names()) {
                Ok(offset) => Place::Offset(offset as usize),
                Err(_) => return args.error("type mismatch: OFFSET requires integer"),
            },
        };
    }

    #[inline]
    fn constants(&self) -> Constants {
        let octets = self.address.map(Ipv4Address::octets);
        let in_header = |is_source| Constants::InHeader(replace_address::Constants { octets, is_source });
        match self.place {
            Place::Offset(offset) => Constants::InData(store_ip_address::Constants { octets, offset }),
            Place::Source => in_header(true),
            Place::Destination => in_header(false),
        }
    }

    fn write(&self, p: &mut Packet) -> Option<()> {
        let is_source = match self.place {
            Place::Offset(at) => {
                // An annotation of 0.0.0.0 is one that was not set.
                let address = self.address.or(Some(p.dst_ip()).filter(|a| !a.is_unspecified()))?;
                p.data().get(at..)?.first_chunk::<4>()?;
                p.data_mut()[at..at + 4].copy_from_slice(&address.octets());
                return Some(());
            }
            Place::Source => true,
            Place::Destination => false,
        };
        let address = self.address.unwrap_or_else(|| p.dst_ip());
        replace_address(p, is_source, address)
    }
}

impl Fast for StoreIPAddress {
    fn fast_code(&self) -> Option<FastCode> {
        Some(match self.constants() {
            Constants::InData(c) => {
                FastCode::new("store_ip_address", include_str!("fast/store_ip_address.rs"), &c)
            }
            Constants::InHeader(c) => {
                FastCode::new("replace_address", include_str!("fast/replace_address.rs"), &c)
            }
        })
    }

    #[inline]
    fn fast(&self, p: &mut Packet) -> Option<u16> {
        match self.constants() {
            Constants::InData(c) => store_ip_address::fast(&c, p),
            Constants::InHeader(c) => replace_address::fast(&c, p),
        }
    }
}

impl SimpleElement for StoreIPAddress {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.address = args.get("ADDR");
        let mut given = args.rest().to_vec();
        if let Some(offset) = args.raw("OFFSET").map(str::to_string).or_else(|| given.pop()) {
            self.read_place(&offset, args);
        } else {
            args.error("OFFSET: required argument missing");
        }
        match given.pop() {
            Some(text) if text.is_empty() => args.error("ADDR: required argument missing"),
            Some(text) => match Ipv4Address::from_arg(&text, args.names()) {
                Ok(address) => self.address = Some(address),
                Err(_) => args.error("ADDR: parse error"),
            },
            None => {}
        }
        if !given.is_empty() {
            args.error("too many arguments");
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        match self.write(p) {
            Some(()) => Verdict::PASS,
            None => cx.out_or_drop(1, "no place for the address"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn writes_at_an_offset() {
        let mut t =
            Harness::new("s :: Source -> x :: StoreIPAddress(1.2.3.4, 2) -> k :: Sink; x[1] -> bad :: Sink");
        t.push("s", 0, [Packet::new(b"abcdefgh"), Packet::new(b"abcde")]);
        assert_eq!(
            (t.bytes("k"), t.bytes("bad")),
            (vec![b"ab\x01\x02\x03\x04gh".to_vec()], vec![b"abcde".to_vec()])
        );
    }

    #[test]
    fn one_argument_takes_the_annotation() {
        let mut t =
            Harness::new("s :: Source -> a :: SetIPAddress(9.9.9.9) -> StoreIPAddress(0) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abcdef")]);
        t.write("a.addr 0.0.0.0").unwrap();
        t.push("s", 0, [Packet::new(b"abcdef")]);
        assert_eq!(t.bytes("k"), [b"\x09\x09\x09\x09ef"]);
    }

    #[test]
    fn header_addresses_keep_checksums_right() {
        for (place, expected) in [("src", ip("7.7.7.7", "2.0.0.2")), ("dst", ip("1.0.0.1", "7.7.7.7"))] {
            let mut t =
                Harness::new(&format!("s :: Source -> StoreIPAddress(7.7.7.7, {place}) -> k :: Sink"));
            t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked(), ip("1.0.0.1", "2.0.0.2").packet()]);
            assert_eq!(t.bytes("k"), [expected.bytes()]);
        }
    }

    #[test]
    fn what_is_marked_as_a_header_need_not_be_one() {
        let stored = |mut p: Packet, mark: i32| {
            p.set_network_header(mark, 20);
            let mut t = Harness::new("s :: Source -> StoreIPAddress(1.2.3.4, src) -> k :: Sink");
            t.push("s", 0, [p]);
            t.bytes("k").remove(0)
        };
        assert_eq!(
            stored(Packet::new(&[0xff; 20]), 0)[12..16],
            [1, 2, 3, 4],
            "another version, a bad length"
        );
        assert_eq!(stored(Packet::new(&[0; 14]), 0)[10..], [0xfb, 0xf9, 1, 2], "cut off within the address");
        assert_eq!(stored(Packet::new(&[0; 9]), 0), [0; 9], "cut off before it");
        let mut stripped = Packet::new(&[0; 24]);
        stripped.pull(14);
        assert_eq!(stored(stripped, -14), [3, 4, 0, 0, 0, 0, 0, 0, 0, 0], "stripped in part");
    }

    #[test]
    fn without_a_marked_header_there_is_no_place() {
        let mut t = Harness::new(
            "s :: Source -> x :: StoreIPAddress(1.2.3.4, dst) -> k :: Sink; x[1] -> bad :: Sink",
        );
        let mut short = Packet::new(&[0x45; 20]);
        short.set_network_header(0, 16);
        t.push("s", 0, [Packet::new(&[0x45; 20]), short]);
        assert_eq!((t.take("k").len(), t.take("bad").len()), (0, 2));
    }

    #[test]
    fn says_what_is_wrong() {
        for (config, error) in
            [("", "OFFSET"), ("1.2.3.4, up", "OFFSET requires integer"), ("x, 3", "ADDR: parse error")]
        {
            let e = Harness::errors(&format!("Idle -> StoreIPAddress({config}) -> Discard"));
            assert!(e.contains(error), "{config}: {e}");
        }
    }
}
