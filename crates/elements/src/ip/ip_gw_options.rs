//! IPGWOptions: record route and timestamp options.

use super::addresses::{AddressSet, Several};
use super::fast::ip_gw_options::Constants;
use super::gateway_options::Gateway;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "processes the options of IP packets as a gateway does",
    manual: "Records MYADDR in record route options, and the time in timestamp options; entries made for certain gateways \
             are filled in if they are for MYADDR or OTHERADDRS (RFC 1812 §5.2.4, §5.3.13). Source routes are not acted \
             on. Packets with malformed options go to output 1 if it is connected, with the place of the fault noted for \
             ICMPError(parameterproblem), and are dropped otherwise.",
    example: "InfiniteSource(DATA \\<4500001400000000 401166d70a0000010a000002>, LIMIT 1, STOP true) -> CheckIPHeader \
              -> IPGWOptions(10.0.0.254) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ip/ip,ip",
    args: &[
        ArgSpec::required("MYADDR", ArgType::IpAddr, "the address to record"),
        ArgSpec::positional("OTHERADDRS", ArgType::Other("IP addresses"), "", "the router's other addresses"),
    ],
    handlers: &[read_handler!("drops", "packets with malformed options", |e: &mut IPGWOptions, _| e.drops)],
    fast: Some(FastPath::of::<IPGWOptions>()),
    ..Class::new("IPGWOptions", "ip", || {
        let gateway = Gateway { address: Ipv4Address::UNSPECIFIED, addresses: AddressSet::default() };
        Box::new(IPGWOptions { constants: Constants, gateway, drops: 0 })
    })
};

struct IPGWOptions {
    constants: Constants,
    gateway: Gateway,
    drops: u64,
}

fast_path!(IPGWOptions, ip_gw_options);

impl IPGWOptions {
    #[cold]
    fn process(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.gateway.process(p, cx.now()) {
            Ok(()) => Verdict::PASS,
            Err(_) => {
                self.drops += 1;
                cx.out_or_drop(1, "malformed IP option")
            }
        }
    }
}

impl SimpleElement for IPGWOptions {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("MYADDR", &mut self.gateway.address);
        if let Some(Several(others)) = args.get("OTHERADDRS") {
            self.gateway.addresses.extend(others);
        }
        self.gateway.addresses.insert(self.gateway.address);
    }

    #[inline]
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.common(p) {
            Some(port) => Verdict::Out(port),
            None => self.process(p, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<IPGWOptions>(old) {
            self.drops = old.drops;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::anno;

    #[test]
    fn good_options_pass_and_bad_ones_leave_by_output_1() {
        let mut t =
            Harness::new("s :: Source -> g :: IPGWOptions(9.9.9.9) -> k :: Sink; g[1] -> bad :: Sink");
        let with = |options: &[u8]| ip("1.0.0.1", "2.0.0.2").options(options);
        let plain = ip("1.0.0.1", "2.0.0.2");
        t.push("s", 0, [plain.marked(), with(&[7, 7, 4, 0, 0, 0, 0]).marked(), with(&[7, 7, 2]).marked()]);
        assert_eq!(t.bytes("k"), [plain.bytes(), with(&[7, 7, 8, 9, 9, 9, 9]).bytes()]);
        assert_eq!(t.take("bad")[0].anno_u8(anno::ICMP_PARAMPROB.offset), 21);
        assert_eq!(t.read("g.drops"), "1");
    }

    #[test]
    fn other_addresses_are_known_too() {
        let mut t = Harness::new("s :: Source -> IPGWOptions(9.9.9.9, 8.8.8.8 7.7.7.7) -> k :: Sink");
        let asked =
            |a: u8| ip("1.0.0.1", "2.0.0.2").options(&[68, 12, 5, 3, a, a, a, a, 0, 0, 0, 0]).marked();
        t.push("s", 0, [asked(9), asked(8), asked(6)]);
        let pointers: Vec<_> = t.bytes("k").iter().map(|b| b[22]).collect();
        assert_eq!(pointers, [13, 13, 5]);
    }
}
