//! SetIPDSCP: sets the differentiated services code point.

use super::fast::set_tos::Constants;
use super::rewrite::change_tos;
use crate::values::argument;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
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
    args: &[ArgSpec::required("DSCP", ArgType::U32, "the code point, 0 to 63")],
    handlers: &[read_handler!("dscp", "the code point, as it was given", |e: &mut SetIPDSCP, _| e
        .given
        .clone())
    .flags(".")
    .and_write(write_handler!("", "", |e: &mut SetIPDSCP, text, cx| {
        e.set(argument("DSCP", text, &cx.names())?, text)?;
        cx.set_argument(0, "DSCP", text.trim());
        Ok::<(), String>(())
    }))],
    fast: Some(FastPath::of::<SetIPDSCP>()),
    ..Class::new("SetIPDSCP", "ip", || Box::<SetIPDSCP>::default())
};

/// The greatest code point.
const MAX: u8 = 63;

#[derive(Default)]
struct SetIPDSCP {
    dscp: u8,
    given: String,
}

fast_path!(SetIPDSCP, set_tos());

impl SetIPDSCP {
    fn set(&mut self, dscp: u32, given: &str) -> Result<(), String> {
        let in_range = u8::try_from(dscp).ok().filter(|&dscp| dscp <= MAX);
        self.dscp = in_range.ok_or("diffserv code point out of range")?;
        self.given = given.trim().to_string();
        Ok(())
    }

    #[inline]
    fn constants(&self) -> Constants {
        Constants { keep: 3, set: self.dscp << 2, capable_only: false }
    }
}

impl SimpleElement for SetIPDSCP {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let given = args.raw("DSCP").unwrap_or_default().to_string();
        if let Some(Err(error)) = args.get("DSCP").map(|dscp| self.set(dscp, &given)) {
            args.error(error);
        }
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
        assert_eq!(t.write("d.dscp 64").unwrap_err(), "diffserv code point out of range");
        assert_eq!(t.read("d.dscp"), "46");
        // As it is written.
        t.write("d.dscp 0x2E").unwrap();
        assert_eq!((t.read("d.dscp"), t.read("d.config")), ("0x2E".into(), "0x2E".into()));
        let e = Harness::errors("Idle -> SetIPDSCP(64) -> Discard");
        assert!(e.contains("diffserv code point out of range"), "{e}");
    }
}
