//! IPOutputCombo: what an IP router does to packets that go out, in one element.

use super::addresses::{AddressSet, Several};
use super::fast::fix_ip_src::is_marked;
use super::fast::ip_gw_options::has_options;
use super::fast::ip_output_combo::{Constants, fast};
use super::fix_ip_src::fix;
use super::gateway_options::Gateway;
use crate::standard::fast::drop_broadcasts::is_for_many;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::fast::with_parts;
use clickwork_router::{Class, Cx, Fast, FastCode, FastPath, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "DropBroadcasts, PaintTee, IPGWOptions, FixIPSrc and DecIPTTL in one",
    manual: "Does in one step what DropBroadcasts -> PaintTee(COLOR) -> IPGWOptions(IPADDR, OTHERADDRS) -> FixIPSrc(IPADDR) \
             -> DecIPTTL -> CheckLength(MTU) does in six. Good packets leave by output 0. To output 1 goes a copy of packets of colour \
             COLOR, to output 2 what has malformed options, to output 3 what has expired, to output 4 what is longer than \
             MTU, for IPFragmenter.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> o :: IPOutputCombo(1, 1.0.0.9, 1500); \
              o[0] -> Discard; o[1] -> Discard; o[2] -> Discard; o[3] -> Discard; o[4] -> Discard",
    ports: "1/5",
    processing: "h/h",
    packets: "ip/ip",
    args: &[
        ArgSpec::required("COLOR", ArgType::U8, "the colour to copy").or("0"),
        ArgSpec::required("IPADDR", ArgType::IpAddr, "the router's address"),
        ArgSpec::required("MTU", ArgType::U32, "the greatest length of a packet"),
        ArgSpec::positional("OTHERADDRS", ArgType::Other("IP addresses"), "", "the router's other addresses"),
    ],
    fast: Some(FastPath::of::<IPOutputCombo>()),
    ..Class::new("IPOutputCombo", "ip", || {
        let gateway = Gateway { address: Ipv4Address::UNSPECIFIED, addresses: AddressSet::default() };
        Box::new(IPOutputCombo { constants: Constants::default(), gateway })
    })
};

/// The outputs.
mod output {
    pub const GOOD: u16 = 0;
    pub const COPY: usize = 1;
    pub const BAD_OPTION: u16 = 2;
    pub const EXPIRED: u16 = 3;
    pub const TOO_LONG: u16 = 4;
}

struct IPOutputCombo {
    constants: Constants,
    gateway: Gateway,
}

impl IPOutputCombo {
    #[cold]
    fn uncommon(&self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if is_for_many(p) {
            return Verdict::Drop("link-level broadcast");
        }
        if p.paint() == self.constants.color {
            cx.emit(output::COPY, p.clone());
        }
        self.output(p, cx).map_or(Verdict::Drop("no IP header"), Verdict::Out)
    }

    /// Handles a packet that is not a broadcast, and says where it goes.
    fn output(&self, p: &mut Packet, cx: &Cx<'_>) -> Option<u16> {
        if has_options(p) && self.gateway.process(p, cx.now()).is_err() {
            return Some(output::BAD_OPTION);
        }
        if is_marked(p) {
            fix(p, self.gateway.address);
        }
        let header = p.network_header_mut().and_then(Ipv4Header::peek_mut)?;
        if header.ttl <= 1 {
            return Some(output::EXPIRED);
        }
        header.decrement_ttl();
        Some(if p.len() > self.constants.mtu as usize { output::TOO_LONG } else { output::GOOD })
    }
}

impl Fast for IPOutputCombo {
    fn fast_code(&self) -> Option<FastCode> {
        let source = with_parts(
            include_str!("fast/ip_output_combo.rs"),
            &[
                ("dec_ip_ttl", include_str!("fast/dec_ip_ttl.rs")),
                ("fix_ip_src", include_str!("fast/fix_ip_src.rs")),
                ("ip_gw_options", include_str!("fast/ip_gw_options.rs")),
            ],
        );
        let constants = format!("{:?}", self.constants);
        Some(FastCode { module: "ip_output_combo", source: source.into(), constants })
    }

    fn fast(&self, p: &mut Packet) -> Option<u16> {
        fast(&self.constants, p)
    }
}

impl SimpleElement for IPOutputCombo {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("COLOR", &mut self.constants.color)
            .read("IPADDR", &mut self.gateway.address)
            .read("MTU", &mut self.constants.mtu);
        if let Some(Several(others)) = args.get("OTHERADDRS") {
            self.gateway.addresses.extend(others);
        }
        self.gateway.addresses.insert(self.gateway.address);
    }

    #[inline]
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.common(p) {
            Some(port) => Verdict::Out(port),
            None => self.uncommon(p, cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::{Packet, PacketType, anno};

    #[test]
    fn each_case_has_its_output() {
        for batched in [false, true] {
            let config = "s :: Source -> o :: IPOutputCombo(1, 9.9.9.9, 60) => a :: Sink, b :: Sink, c :: Sink, d :: Sink, e :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let plain = ip("1.0.0.1", "2.0.0.2");
            let long = plain.clone().payload(17, &[0; 41]);
            let (mut broadcast, mut painted, mut own) = (plain.marked(), plain.marked(), plain.marked());
            broadcast.set_packet_type(PacketType::Broadcast);
            painted.set_paint(1);
            own.set_anno_u8(anno::FIX_IP_SRC.offset, 1);
            let packets = [
                broadcast,
                painted,
                plain.clone().options(&[7, 2]).marked(),
                plain.clone().ttl(1).marked(),
                long.marked(),
                own,
                Packet::new(b"no header"),
            ];
            if batched {
                t.push_batch("s", 0, packets)
            } else {
                t.push("s", 0, packets)
            }
            let passed = [plain.clone().ttl(63).bytes(), ip("9.9.9.9", "2.0.0.2").ttl(63).bytes()];
            assert_eq!(t.bytes("a"), passed);
            assert_eq!(t.bytes("b"), [plain.bytes()]);
            assert_eq!(t.bytes("c"), [plain.clone().options(&[7, 2]).bytes()]);
            assert_eq!(t.bytes("d"), [plain.clone().ttl(1).bytes()]);
            assert_eq!(t.bytes("e"), [long.ttl(63).bytes()]);
            assert_eq!(t.router.total_drops(), 2);
        }
    }

    #[test]
    fn time_is_stamped_for_the_other_addresses_too() {
        let stamp_of_another = [68, 12, 5, 3, 10, 7, 0, 1, 0, 0, 0, 0];
        for (others, next) in [("", 5), (", 10.7.0.1 10.8.0.1", 13)] {
            let mut t = Harness::new(&format!(
                "s :: Source -> o :: IPOutputCombo(1, 9.9.9.9, 60{others}) => a :: Sink, b :: Sink, c :: Sink, d :: Sink, e :: Sink"
            ));
            t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").options(&stamp_of_another).marked()]);
            assert_eq!(t.bytes("a")[0][22], next);
        }
    }
}
