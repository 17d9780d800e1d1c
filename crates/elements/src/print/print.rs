//! Print: shows packets' bytes.

use super::dump::{Contents, ascii, first, hex};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};
use std::fmt::Write;

/// The class facts.
pub static CLASS: Class = Class {
    help: "prints packets' bytes",
    manual: "Passes every packet on and prints a line about it: LABEL, the length, and the first MAXLENGTH bytes in \
             hexadecimal or as characters. TIMESTAMP, PRINTANNO, HEADROOM and CPU add the timestamp, the annotation \
             bytes, the free room before and behind the data, and the number of the thread.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Print(hello, 8, CONTENTS ASCII) -> Discard",
    args: &[
        ArgSpec::positional("LABEL", ArgType::String, "", "printed first, with a colon"),
        ArgSpec::positional("MAXLENGTH", ArgType::I32, "24", "bytes that are shown; -1: all")
            .aliases(&["LENGTH", "NBYTES"]),
        ArgSpec::keyword(
            "CONTENTS",
            ArgType::Choice(&["NONE", "HEX", "ASCII"]),
            "HEX",
            "how bytes are shown",
        ),
        ArgSpec::keyword("TIMESTAMP", ArgType::Bool, "false", "whether the timestamp is shown"),
        ArgSpec::keyword("PRINTANNO", ArgType::Bool, "false", "whether the annotations are shown"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is printed"),
        ArgSpec::keyword("HEADROOM", ArgType::Bool, "false", "whether the room around the data is shown"),
        ArgSpec::keyword("CPU", ArgType::Bool, "false", "whether the thread's number is shown"),
    ],
    handlers: &[read_handler!("active", "whether anything is printed", |e: &mut Print, _| e.active)
        .flags(".c")
        .and_write(write_handler!("", "", |e: &mut Print, text, _| crate::values::store(
            &mut e.active,
            text,
            ""
        )
        .map_err(|_| "expected boolean".to_string())))],
    ..Class::new("Print", "print", || Box::<Print>::default())
};

/// The thread that runs a router: there is one.
const THREAD: usize = 0;

struct Print {
    label: String,
    limit: i32,
    contents: Contents,
    timestamp: bool,
    annotations: bool,
    active: bool,
    room: bool,
    thread: bool,
}

impl Default for Print {
    fn default() -> Print {
        Print {
            label: String::new(),
            limit: 24,
            contents: Contents::Hex,
            timestamp: false,
            annotations: false,
            active: true,
            room: false,
            thread: false,
        }
    }
}

impl Print {
    fn line(&self, p: &Packet) -> String {
        let mut text = self.heading(p);
        // A String takes any text.
        let _ = write!(text, "{:4}", p.len());
        if self.room {
            let _ = write!(text, " (h{} t{})", p.headroom(), p.tailroom());
        }
        if self.annotations {
            text.push_str(" | ");
            p.annotations().iter().for_each(|&byte| hex(&mut text, byte));
        }
        self.bytes(&mut text, first(p.data(), self.limit));
        text
    }

    /// What stands before the length, with its separator.
    fn heading(&self, p: &Packet) -> String {
        let mut text = self.label.clone();
        if self.thread {
            let _ = write!(text, "({THREAD})");
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        if self.timestamp {
            let _ = write!(text, "{}: ", p.timestamp());
        }
        text
    }

    fn bytes(&self, text: &mut String, bytes: &[u8]) {
        if bytes.is_empty() || self.contents == Contents::None {
            return;
        }
        text.push_str(" | ");
        for (i, &byte) in bytes.iter().enumerate() {
            match self.contents {
                Contents::Ascii => {
                    text.push_str(if i % 8 == 0 { " " } else { "" });
                    ascii(text, byte);
                }
                _ => {
                    text.push_str(if i % 4 == 0 && i > 0 { " " } else { "" });
                    hex(text, byte);
                }
            }
        }
    }
}

impl SimpleElement for Print {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LABEL", &mut self.label).read("MAXLENGTH", &mut self.limit);
        self.contents = Contents::read(args, "CONTENTS", Contents::Hex);
        args.read("TIMESTAMP", &mut self.timestamp).read("PRINTANNO", &mut self.annotations);
        args.read("ACTIVE", &mut self.active).read("HEADROOM", &mut self.room).read("CPU", &mut self.thread);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if self.active {
            cx.chatter(&self.line(p));
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};

    fn printed(args: &str, p: Packet) -> String {
        let mut t = Harness::new(&format!("s :: Source -> Print({args}) -> k :: Sink"));
        t.push("s", 0, [p]);
        assert_eq!(t.take("k").len(), 1);
        t.printed()
    }

    #[test]
    fn bytes_are_shown_up_to_the_limit() {
        let p = || Packet::new(b"abcde\n");
        assert_eq!(printed("", p()), "   6 | 61626364 650a\n");
        assert_eq!(printed("x, 5", p()), "x:    6 | 61626364 65\n");
        assert_eq!(printed("x, 0", p()), "x:    6\n");
        assert_eq!(printed("x, -1, CONTENTS ascii", p()), "x:    6 |  abcde.\n");
        assert_eq!(printed("x, CONTENTS no", p()), "x:    6\n");
        assert_eq!(printed("CONTENTS true", Packet::new(b"")), "   0\n");
    }

    #[test]
    fn options_add_to_the_line() {
        let mut p = Packet::with_room(30, b"a", 10);
        p.set_timestamp(Timestamp::new(12, 500_000_000));
        p.set_paint(9);
        let room = format!("(h30 t{})", p.tailroom());
        let annotations = format!("{}09{}", "00".repeat(16), "00".repeat(31));
        let text = printed("TIMESTAMP true, CPU true, HEADROOM true, PRINTANNO true", p);
        assert_eq!(text, format!("(0): 12.500000:    1 {room} | {annotations} | 61\n"));
    }

    #[test]
    fn it_can_be_silenced() {
        let mut t = Harness::new("s :: Source -> p :: Print(ACTIVE false) -> Discard");
        t.push("s", 0, [Packet::new(b"1")]);
        t.write("p.active true").unwrap();
        t.push("s", 0, [Packet::new(b"2")]);
        assert_eq!((t.printed().as_str(), t.read("p.active").as_str()), ("   1 | 32\n", "true"));
    }

    #[test]
    fn the_older_names_of_the_limit_are_deprecated() {
        let t = Harness::new("Idle -> p :: Print(NBYTES 1) -> Discard");
        let warning = "config:1: While configuring 'p :: Print':\n  NBYTES: warning: argument deprecated\n";
        assert_eq!(t.warnings(), warning);
        assert_eq!(printed("NBYTES 1", Packet::new(b"ab")), "   2 | 61\n");
    }

    #[test]
    fn a_wrong_form_of_contents_is_an_error() {
        let e = Harness::errors("Idle -> Print(CONTENTS octal) -> Discard");
        assert!(e.contains("bad contents value 'OCTAL'; should be 'NONE', 'HEX', or 'ASCII'"), "{e}");
    }
}
