//! @CLASS@, an element class for Clickwork.
#![forbid(unsafe_code)]

use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The element classes of this package. Drivers look for this name.
pub static CLASSES: &[&Class] = &[&CLASS];

/// The facts about the class: the runtime, the tools and the manual read them.
static CLASS: Class = Class {
    help: "counts letters",
    manual: "Passes packets on unchanged, and counts how many of their bytes are among LETTERS.",
    example: "InfiniteSource(DATA abc, LIMIT 2, STOP true) -> c :: @CLASS@ -> Discard; DriverManager(wait_stop, print c.count)",
    args: &[ArgSpec::positional("LETTERS", ArgType::String, "aeiou", "what is counted")],
    handlers: &[
        read_handler!("count", "letters seen", |e: &mut @CLASS@, _| e.count),
        write_handler!("reset", "sets the count to 0", |e: &mut @CLASS@, _, _| e.count = 0),
    ],
    ..Class::new("@CLASS@", "@PACKAGE@", || Box::new(@CLASS@::new()))
};

struct @CLASS@ {
    letters: String,
    count: u64,
}

impl @CLASS@ {
    fn new() -> @CLASS@ {
        @CLASS@ { letters: "aeiou".to_string(), count: 0 }
    }
}

impl SimpleElement for @CLASS@ {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LETTERS", &mut self.letters);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let letters = self.letters.as_bytes();
        self.count += p.data().iter().filter(|byte| letters.contains(byte)).count() as u64;
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::CLASSES;
    use clickwork_elements::testing::{Harness, check_classes};
    use clickwork_packet::Packet;

    #[test]
    fn the_facts_are_complete_and_the_example_runs() {
        check_classes(CLASSES);
    }

    #[test]
    fn letters_are_counted_in_push_and_pull() {
        for config in ["s :: Source -> c :: @CLASS@ -> k :: Sink", "s :: Source -> Queue -> c :: @CLASS@(xy) -> k :: Sink"] {
            let mut t = Harness::with(CLASSES, config);
            t.push("s", 0, [Packet::new(b"to be"), Packet::new(b"xyz")]);
            assert_eq!(t.read("c.count"), "2", "{config}");
            assert_eq!(t.bytes("k"), [b"to be".to_vec(), b"xyz".to_vec()]);
            t.write("c.reset").unwrap();
            assert_eq!(t.read("c.count"), "0");
        }
    }
}
