//! SetIP6DSCP: sets the differentiated services code point.

use super::fast::set_ip6_dscp::Constants;
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv6Header};
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, BadValue, FromArg, Names};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the DSCP field of IPv6 headers",
    manual: "Sets the differentiated services code point (RFC 2474) in the traffic class of each packet's marked IPv6 header \
             to DSCP. The ECN bits and the flow label stay.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IP6Encap(59, ::1, ::2) -> SetIP6DSCP(46) -> Discard",
    packets: "ip6/ip6",
    args: &[ArgSpec::required("DSCP", ArgType::IntRange { min: 0, max: 63 }, "the code point")],
    handlers: &[read_handler!("dscp", "the code point, as it was given", |e: &mut SetIP6DSCP, _| e
        .given
        .clone())
    .flags(".")
    .and_write(write_handler!("", "", |e: &mut SetIP6DSCP, text, cx| {
        e.constants.dscp = CodePoint.parse(text.trim(), &Names::default()).map_err(|e| match e {
            BadValue::Mismatch => "DSCP: parse error".to_string(),
            BadValue::Because(reason) => reason,
        })?;
        e.given = text.trim().to_string();
        cx.set_argument(0, "DSCP", text.trim());
        Ok::<(), String>(())
    }))],
    fast: Some(FastPath::of::<SetIP6DSCP>()),
    ..Class::new("SetIP6DSCP", "ip6", || Box::<SetIP6DSCP>::default())
};

/// A code point: six bits.
struct CodePoint;

impl ArgParser for CodePoint {
    type Value = u8;

    fn parse(&self, text: &str, names: &Names) -> Result<u8, BadValue> {
        let value = u32::from_arg(text, names)?;
        let too_big = || BadValue::Because("diffserv code point out of range".to_string());
        u8::try_from(value).ok().filter(|v| *v < 64).ok_or_else(too_big)
    }
}

#[derive(Default)]
struct SetIP6DSCP {
    constants: Constants,
    given: String,
}

fast_path!(SetIP6DSCP, set_ip6_dscp);

impl SimpleElement for SetIP6DSCP {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("DSCP", CodePoint, &mut self.constants.dscp);
        self.given = args.raw("DSCP").unwrap_or_default().to_string();
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let Some(header) = p.network_header_mut().and_then(Ipv6Header::peek_mut) else {
            return Verdict::Drop("no IPv6 header");
        };
        header.set_traffic_class(header.traffic_class() & 3 | self.constants.dscp << 2);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{header, ip6};
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::headers::{Header, Ipv6Header};

    #[test]
    fn sets_the_code_point_and_leaves_ecn_and_flow() {
        let mut t = Harness::new("s :: Source -> d :: SetIP6DSCP(46) -> k :: Sink");
        let mut p = ip6("::1", "::2").marked();
        Ipv6Header::peek_mut(p.data_mut()).unwrap().set_class_and_flow(1, 0xabcde);
        t.push("s", 0, [p.clone(), p, Packet::new(&[0; 60])]);
        for bytes in t.bytes("k") {
            let h = header(&bytes);
            assert_eq!((h.version(), h.traffic_class(), h.flow_label()), (6, 46 << 2 | 1, 0xabcde));
        }
        assert_eq!(t.read("d.drop_reasons"), "1\tno IPv6 header\n");
        assert_eq!(t.write("d.dscp 64").unwrap_err(), "diffserv code point out of range");
        t.write("d.dscp 0x3F").unwrap();
        // As it is written.
        assert_eq!((t.read("d.dscp"), t.read("d.config")), ("0x3F".into(), "0x3F".into()));
    }

    #[test]
    fn a_code_point_has_six_bits() {
        let e = Harness::errors("Idle -> SetIP6DSCP(64) -> Discard");
        assert!(e.contains("diffserv code point out of range"), "{e}");
    }
}
