//! IPOutputCombo: what an IP router does to packets that go out, in one element.

use super::addresses::{AddressSet, Several};
use super::fix_ip_src;
use super::gateway_options::{Gateway, has_options};
use crate::standard::drop_broadcasts::is_for_many;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element};

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
        ArgSpec::required("COLOR", ArgType::U8, "the colour to copy"),
        ArgSpec::required("IPADDR", ArgType::IpAddr, "the router's address"),
        ArgSpec::required("MTU", ArgType::U32, "the greatest length of a packet"),
        ArgSpec::positional("OTHERADDRS", ArgType::Other("IP addresses"), "", "the router's other addresses"),
    ],
    ..Class::new("IPOutputCombo", "ip", || {
        let gateway = Gateway { address: Ipv4Address::UNSPECIFIED, addresses: AddressSet::default() };
        Box::new(IPOutputCombo { color: 0, gateway, mtu: 0 })
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
    color: u8,
    gateway: Gateway,
    mtu: u32,
}

impl IPOutputCombo {
    /// Handles a packet that is not a broadcast, and says where it goes.
    fn output(&self, p: &mut Packet, cx: &Cx<'_>) -> Option<u16> {
        if has_options(p) && self.gateway.process(p, cx.now()).is_err() {
            return Some(output::BAD_OPTION);
        }
        if fix_ip_src::is_marked(p) {
            fix_ip_src::fix(p, self.gateway.address);
        }
        let header = p.network_header_mut().and_then(Ipv4Header::peek_mut)?;
        if header.ttl <= 1 {
            return Some(output::EXPIRED);
        }
        header.decrement_ttl();
        Some(if p.len() > self.mtu as usize { output::TOO_LONG } else { output::GOOD })
    }
}

impl Element for IPOutputCombo {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("COLOR", &mut self.color)
            .read("IPADDR", &mut self.gateway.address)
            .read("MTU", &mut self.mtu);
        if let Some(Several(others)) = args.get("OTHERADDRS") {
            self.gateway.addresses.extend(others);
        }
        self.gateway.addresses.insert(self.gateway.address);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let mut kept = cx.fresh_batch();
        for p in batch.take() {
            if is_for_many(&p) {
                cx.drop(p, "link-level broadcast");
                continue;
            }
            if p.paint() == self.color {
                cx.emit(output::COPY, p.clone());
            }
            kept.push(p);
        }
        *batch = kept;
        let mut outputs = [None; clickwork_packet::BATCH_SIZE];
        for (p, output) in batch.iter_mut().zip(&mut outputs) {
            *output = self.output(p, cx);
        }
        let mut outputs = outputs.into_iter();
        split_batch(batch, cx, "no IP header", |_| outputs.next().flatten());
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
