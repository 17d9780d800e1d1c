//! SetIPDSCP: sets the differentiated services code point.

use super::fast::set_tos::Constants;
use super::rewrite::change_tos;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, Bounded, Names};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the DSCP field of IP headers",
    manual: "Sets the differentiated services code point (RFC 2474) of each packet's marked IP header to DSCP and updates the \
             checksum. The ECN bits stay.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> SetIPDSCP(46) -> CheckIPHeader \
              -> Discard",
    packets: "ip/ip",
    args: &[ArgSpec::required("DSCP", ArgType::IntRange { min: 0, max: 63 }, "the code point")],
    handlers: &[read_handler!("dscp", "the code point", |e: &mut SetIPDSCP, _| e.dscp).and_write(
        write_handler!("", "", |e: &mut SetIPDSCP, text, _| {
            e.dscp = DSCP.parse(text.trim(), &Names::default()).map_err(|e| format!("DSCP: {e}"))?;
            Ok::<(), String>(())
        }),
    )],
    fast: Some(FastPath::of::<SetIPDSCP>()),
    ..Class::new("SetIPDSCP", "ip", || Box::<SetIPDSCP>::default())
};

const DSCP: Bounded<u8> = Bounded(0..=63);

#[derive(Default)]
struct SetIPDSCP {
    dscp: u8,
}

fast_path!(SetIPDSCP, set_tos());

impl SetIPDSCP {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { keep: 3, set: self.dscp << 2, capable_only: false }
    }
}

impl SimpleElement for SetIPDSCP {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("DSCP", DSCP, &mut self.dscp);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let changed = change_tos(p, |tos| tos & 3 | self.dscp << 2);
        changed.map_or(Verdict::Drop("no IP header"), |()| Verdict::PASS)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::headers::Ipv4;

    #[test]
    fn sets_the_code_point_and_leaves_ecn() {
        let mut t =
            Harness::new("s :: Source -> SetIPECN(1) -> d :: SetIPDSCP(46) -> CheckIPHeader -> k :: Sink");
        t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked()]);
        assert_eq!(Ipv4::new(t.take("k")[0].data()).unwrap().tos, 46 << 2 | 1);
        assert!(t.write("d.dscp 64").is_err());
        assert_eq!(t.read("d.dscp"), "46");
    }
}
