//! IPClassifier: sends IP packets to outputs by what they are about.

use super::splitter::{Language, Splitter, classify_ip};
use clickwork_classifier::rust::Sections;
use clickwork_classifier::{Compiled, FilterError, Names, Program, ip_classifier};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, split_args};
use clickwork_router::handler::{Action, Members};
use clickwork_router::router::ElementId;
use clickwork_router::{Class, FastPath, Handler, Router, Value, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "classifies IP packets by contents",
    manual: "Has one output for each expression; a packet leaves by the first whose expression it satisfies, and is \
             dropped if it satisfies none. Expressions are like tcpdump's: 'src net 10.0.0.0/8', 'dst tcp port 80', \
             'icmp type echo', 'ip ttl < 5', 'ip[9] = 1', combined with 'and', 'or', 'not', '? :' and parentheses; '-' \
             matches every packet. The IP header must be marked (MarkIPHeader, CheckIPHeader); a packet without the \
             mark satisfies no test.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> MarkIPHeader -> c :: IPClassifier(tcp or udp, icmp, -); \
              c[0] -> Discard; c[1] -> Discard; c[2] -> Discard",
    ports: "1/-",
    processing: "h/h",
    packets: "only ip/filtered",
    args: &[ArgSpec::rest("PATTERN", ArgType::Text, "an expression, or -; one for each output")],
    handlers: &[
        read_handler!("program", "the tests that packets go through", |e: &mut IpClassifier, _| e.program()),
        Handler {
            read: Some(Action::Router(pattern)),
            write: Some(Action::Router(set_pattern)),
            ..Handler::none("pattern", "the expression of an output")
        }
        .numbered(Members::Outputs),
    ],
    flags: "A",
    fast: Some(FastPath::of::<IpClassifier>()),
    ..Class::new("IPClassifier", "classify", || Box::<IpClassifier>::default())
};

type IpClassifier = Splitter<Expressions>;

/// An argument as it stands in the configuration; `text` is its number.
fn pattern(router: &mut Router, id: ElementId, text: &str) -> Result<Value, String> {
    let patterns = split_args(&router.info(id).config);
    let number: usize = text.trim().parse().map_err(|_| NO_OUTPUT)?;
    patterns.get(number).map(|pattern| Value::from(pattern.as_str())).ok_or_else(|| NO_OUTPUT.to_string())
}

/// Gives the element new arguments, in which one is replaced; `text` is its number and what it is to be.
fn set_pattern(router: &mut Router, id: ElementId, text: &str) -> Result<Value, String> {
    let mut patterns = split_args(&router.info(id).config);
    let (number, new) = text.split_once(' ').unwrap_or((text, ""));
    let place = number.parse::<usize>().ok().and_then(|n| patterns.get_mut(n));
    *place.ok_or(NO_OUTPUT)? = new.to_string();
    router.write_handler(id, "config", &patterns.join(", ")).map_err(|e| e.to_string())
}

const NO_OUTPUT: &str = "no such output";

struct Expressions;

impl Language for Expressions {
    const ARGUMENT_PER_OUTPUT: bool = true;
    const MODULE: &'static str = "ip_classifier";
    const SECTIONS: Sections = Sections::Headers;
    const DROP_REASON: &'static str = "matches no pattern";

    fn compile(arguments: &[String], _: usize, names: &dyn Names) -> Result<Compiled, Vec<FilterError>> {
        ip_classifier(arguments, names)
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

    fn outputs(expression: &str, packets: impl IntoIterator<Item = clickwork_packet::Packet>) -> [usize; 2] {
        let mut t = Harness::new(&format!(
            "s :: Source -> c :: IPClassifier({expression}, -); c[0] -> yes :: Sink; c[1] -> no :: Sink"
        ));
        t.push("s", 0, packets);
        [t.take("yes").len(), t.take("no").len()]
    }

    #[test]
    fn a_packet_without_a_marked_header_satisfies_no_test() {
        let sample = ip("1.0.0.1", "2.0.0.2");
        assert_eq!(outputs("src 1.0.0.1", [sample.marked(), sample.packet()]), [1, 1]);
        assert_eq!(outputs("not src 1.0.0.1", [sample.packet()]), [1, 0]);
    }

    #[test]
    fn a_header_that_was_stripped_is_still_seen() {
        let mut stripped = ip("1.0.0.1", "2.0.0.2").marked();
        stripped.pull(20);
        assert_eq!(outputs("dst host 2.0.0.2", [stripped]), [1, 0]);
    }

    #[test]
    fn names_of_addresses_are_understood() {
        let mut t = Harness::new(
            "AddressInfo(me 1.0.0.1, home 3.0.0.0/8); PortInfo(chat 5000/udp); s :: Source \
             -> c :: IPClassifier(src me, dst net home, dst udp port chat)[0-2] => a :: Sink, b :: Sink, d :: Sink",
        );
        t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked(), ip("4.0.0.1", "3.2.2.2").marked()]);
        assert_eq!([t.take("a").len(), t.take("b").len(), t.take("d").len()], [1, 1, 0]);
    }

    #[test]
    fn patterns_are_replaced_one_by_one() {
        let mut t = Harness::new(
            "s :: Source -> c :: IPClassifier(src 1.0.0.1, /* the rest */ -); c[0] -> a :: Sink; c[1] -> b :: Sink",
        );
        let patterns = |t: &mut Harness| [t.read("c.pattern0"), t.read("c.pattern1"), t.read("c.pattern2")];
        let none = "no 'c.pattern2' handler";
        assert_eq!(patterns(&mut t), ["src 1.0.0.1", "-", none]);
        t.write("c.pattern0 dst 2.0.0.2 or dst 3.0.0.3").unwrap();
        assert!(t.write("c.pattern1 dst prot 80").unwrap_err().contains("pattern 1"));
        assert_eq!(t.write("c.pattern2 -").unwrap_err(), none);
        assert_eq!(patterns(&mut t), ["dst 2.0.0.2 or dst 3.0.0.3", "-", none]);
        assert_eq!(t.read("c.config"), "dst 2.0.0.2 or dst 3.0.0.3, -");
        t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked(), ip("1.0.0.1", "4.0.0.4").marked()]);
        assert_eq!([t.take("a").len(), t.take("b").len()], [1, 1]);
    }

    #[test]
    fn mistakes_come_with_a_remedy() {
        let e = Harness::errors("Idle -> IPClassifier(src prot 80) -> Discard");
        assert!(e.contains("pattern 0"), "{e}");
    }
}
