//! Classifier: sends packets to outputs by their bytes.

use super::splitter::{Language, Splitter};
use clickwork_classifier::rust::Sections;
use clickwork_classifier::{Compiled, FilterError, Names, Program, classifier};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType};
use clickwork_router::{Class, FastPath, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "classifies packets by their bytes",
    manual: "Has one output for each pattern; a packet leaves by the first whose pattern it matches, and is dropped if it \
             matches none. A pattern is a list of clauses, separated by spaces, that must all hold. A clause OFFSET/VALUE \
             compares the bytes at OFFSET with VALUE in hexadecimal, where '?' stands for any digit; OFFSET/VALUE%MASK \
             looks only at the bits in MASK, and '!' before a clause negates it. The pattern '-' matches every packet. \
             A clause does not match a packet that is too short for it.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> c :: Classifier(12/0806 20/0001, 12/0800, -); \
              c[0] -> Discard; c[1] -> Discard; c[2] -> Discard",
    ports: "1/-",
    processing: "h/h",
    packets: "any/classified",
    args: &[ArgSpec::rest(
        "PATTERN",
        ArgType::Text,
        "clauses OFFSET/VALUE[%MASK], or -; one pattern an output",
    )],
    handlers: &[read_handler!("program", "the tests that packets go through", |e: &mut Classifier, _| e
        .program())
    .flags(".")],
    flags: "A",
    fast: Some(FastPath::of::<Classifier>()),
    ..Class::new("Classifier", "classify", || Box::<Classifier>::default())
};

type Classifier = Splitter<BytePatterns>;

struct BytePatterns;

impl Language for BytePatterns {
    const ARGUMENT_PER_OUTPUT: bool = true;
    const MODULE: &'static str = "classifier";
    const SECTIONS: Sections = Sections::Data;
    const DROP_REASON: &'static str = "matches no pattern";

    fn compile(arguments: &[String], _: usize, _: &dyn Names) -> Result<Compiled, Vec<FilterError>> {
        classifier(arguments)
    }

    #[inline]
    fn classify(program: &Program, p: &Packet, _: bool) -> Option<usize> {
        program.classify_raw(p.data())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    const CONFIG: &str = "s :: Source -> c :: Classifier(0/61, 0/62, !0/63); \
                          c[0] -> a :: Sink; c[1] -> b :: Sink; c[2] -> other :: Sink";

    #[test]
    fn each_packet_leaves_by_its_first_pattern() {
        for batched in [false, true] {
            let mut t = if batched { Harness::batched(CONFIG) } else { Harness::new(CONFIG) };
            let packets = || [&b"b1"[..], b"a1", b"c1", b"a2", b"", b"x", b"b2"].map(Packet::new);
            match batched {
                true => t.push_batch("s", 0, packets()),
                false => t.push("s", 0, packets()),
            }
            assert_eq!(t.bytes("a"), [b"a1", b"a2"]);
            assert_eq!(t.bytes("b"), [b"b1", b"b2"]);
            assert_eq!(t.bytes("other"), [&b""[..], b"x"]);
            assert_eq!(t.read("c.drop_reasons"), "1\tmatches no pattern\n");
        }
    }

    #[test]
    fn the_program_can_be_read() {
        let mut t = Harness::new(CONFIG);
        assert!(t.read("c.program").starts_with(" 0   0/61000000%ff000000  yes->[0]  no->step 1\n"));
    }

    #[test]
    fn mistakes_are_told_with_their_pattern() {
        let e = Harness::errors("Idle -> Classifier(12/0800)[0-1] => Discard, Discard");
        assert!(e.contains("need 2 arguments, one per output port"), "{e}");
        let e = Harness::errors("Idle -> Classifier(12/08, x)[0-1] => Discard, Discard");
        assert!(e.contains("expected a digit"), "{e}");
    }
}
