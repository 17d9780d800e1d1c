//! IPFilter: lets IP packets pass or drops them, by rules.

use super::splitter::{Language, Splitter, classify_ip};
use clickwork_classifier::rust::Sections;
use clickwork_classifier::{Compiled, FilterError, Names, Program, ip_filter};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType};
use clickwork_router::{Class, FastPath, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "filters IP packets by rules",
    manual: "The first rule whose expression a packet satisfies decides: 'allow' sends it to output 0, a number to that \
             output, 'drop' and 'deny' drop it. A packet that satisfies no rule is dropped. Expressions are those of \
             IPClassifier. The IP header must be marked (MarkIPHeader, CheckIPHeader).",
    example: "InfiniteSource(LIMIT 2, STOP true) -> MarkIPHeader -> IPFilter(deny src net 10.0.0.0/8, allow all) \
              -> Discard",
    ports: "1/-",
    processing: "h/h",
    packets: "only ip/same",
    args: &[ArgSpec::rest("RULE", ArgType::Text, "allow, drop or an output number, and an expression")],
    handlers: &[
        read_handler!("program", "the tests that packets go through", |e: &mut IpFilter, _| e.program())
    ],
    flags: "A",
    fast: Some(FastPath::of::<IpFilter>()),
    ..Class::new("IPFilter", "classify", || Box::<IpFilter>::default())
};

type IpFilter = Splitter<Rules>;

struct Rules;

impl Language for Rules {
    const ARGUMENT_PER_OUTPUT: bool = false;
    const MODULE: &'static str = "ip_filter";
    const SECTIONS: Sections = Sections::Headers;
    const DROP_REASON: &'static str = "filtered";

    fn compile(
        arguments: &[String],
        outputs: usize,
        names: &dyn Names,
    ) -> Result<Compiled, Vec<FilterError>> {
        ip_filter(arguments, outputs, names)
    }

    #[inline]
    fn classify(program: &Program, p: &Packet, ether: bool) -> Option<usize> {
        classify_ip(program, p, ether)
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;

    #[test]
    fn the_first_rule_decides() {
        let mut t = Harness::new(
            "s :: Source -> f :: IPFilter(1 src 1.0.0.1, deny dst 2.0.0.2, \"allow src\" 3.0.0.3); \
             f[0] -> a :: Sink; f[1] -> b :: Sink",
        );
        let packets =
            [("1.0.0.1", "2.0.0.2"), ("9.0.0.1", "2.0.0.2"), ("3.0.0.3", "4.0.0.4"), ("5.0.0.5", "6.0.0.6")];
        t.push("s", 0, packets.map(|(from, to)| ip(from, to).marked()));
        assert_eq!([t.take("a").len(), t.take("b").len()], [1, 1]);
        assert_eq!(t.read("f.drop_reasons"), "2\tfiltered\n");
    }

    #[test]
    fn what_is_odd_about_a_rule_is_said_behind_its_number() {
        let t = Harness::new("Idle -> f :: IPFilter(deny all, 1 ttl > 255) -> Discard; f[1] -> Discard");
        let context = "config:1: While configuring 'f :: IPFilter':\n  ";
        assert_eq!(
            t.warnings().replace(context, ""),
            "pattern 0: warning: meaning of 'deny' has changed (now it means 'drop')\n\
             pattern 1: warning: relation '> 255' is always false (range 0-255)\n"
        );
    }

    #[test]
    fn a_rule_may_not_name_an_output_that_is_not_there() {
        let e = Harness::errors("Idle -> IPFilter(2 all) -> Discard");
        assert!(e.contains("slot '2' out of range"), "{e}");
    }
}
