//! Clipboard: copies bytes of packets on one path into packets on another.

use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, Names};
use clickwork_router::{Class, Cx, Element};
use std::ops::Range;

/// The class facts.
pub static CLASS: Class = Class {
    help: "copies bytes from packets on one path into packets on another",
    manual: "Each argument OFFSET/LENGTH names a range of bytes. Packets that pass from input 0 to output 0 have these bytes \
             copied to the clipboard; in packets that pass from input 1 to output 1 they are replaced by what is there. \
             Packets too short to hold all ranges pass unchanged.",
    example: "InfiniteSource(DATA abcd, LIMIT 1, STOP true) -> c :: Clipboard(0/2, 3/1) -> [1] c; c[1] -> Discard",
    ports: "2/2",
    flow: "#/#",
    args: &[ArgSpec::rest("OFFSET/LENGTH", ArgType::Other("OFFSET/LENGTH"), "a range of bytes")],
    ..Class::new("Clipboard", "standard", || Box::<Clipboard>::default())
};

/// No packet has more bytes.
const MAX_LENGTH: usize = 65_535;

#[derive(Default)]
struct Clipboard {
    ranges: Vec<Range<usize>>,
    /// The bytes of each range, as last copied.
    contents: Vec<Vec<u8>>,
    /// How long a packet must be.
    reach: usize,
}

/// The two parts of an argument.
const PARTS: &[ArgSpec] = &[
    ArgSpec::required("OFFSET", ArgType::U32, "where the range begins"),
    ArgSpec::required("LENGTH", ArgType::U32, "how long it is"),
];

/// Reads `OFFSET/LENGTH`; the errors are Click's.
fn range(text: &str, names: &Names) -> Result<Range<usize>, Vec<String>> {
    let halves = text.split_once('/').filter(|(offset, length)| !offset.is_empty() && !length.is_empty());
    let (offset, length) =
        halves.ok_or_else(|| vec!["expected '/' between offset and length".to_string()])?;
    let mut parts = Args::new(PARTS, &format!("{offset}, {length}"), names);
    let (offset, length) = (parts.get::<u32>("OFFSET"), parts.get::<u32>("LENGTH"));
    let wrong =
        parts.finish().map_or_else(|errors| errors.0.iter().map(ToString::to_string).collect(), |()| vec![]);
    let range = offset.zip(length).map(|(offset, length)| offset as usize..offset as usize + length as usize);
    let fits = range.filter(|range| wrong.is_empty() && range.end <= MAX_LENGTH);
    fits.ok_or_else(|| [wrong, vec!["invalid offset or length".to_string()]].concat())
}

impl Clipboard {
    fn handle(&mut self, port: usize, p: &mut Packet) {
        if p.len() < self.reach {
            return;
        }
        let ranges = self.ranges.iter().cloned();
        if port == 0 {
            ranges.zip(&mut self.contents).for_each(|(range, to)| to.copy_from_slice(&p.data()[range]));
        } else {
            let data = p.data_mut();
            ranges.zip(&self.contents).for_each(|(range, from)| data[range].copy_from_slice(from));
        }
    }
}

impl Element for Clipboard {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        for (i, text) in args.rest().to_vec().iter().enumerate() {
            match range(text, args.names()) {
                Ok(range) => self.ranges.push(range),
                Err(mut errors) => {
                    let last = errors.pop().unwrap_or_default();
                    errors.into_iter().for_each(|e| args.error(e));
                    return args.error_in_rest(i, format!("range {i}: {last}"));
                }
            }
        }
        self.reach = self.ranges.iter().map(|r| r.end).max().unwrap_or(0);
        self.contents = self.ranges.iter().map(|r| vec![0; r.len()]).collect();
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        batch.iter_mut().for_each(|p| self.handle(port, p));
        if port == 1 {
            cx.emit_batch(1, batch.take());
        }
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.pull(port, limit);
        batch.iter_mut().for_each(|p| self.handle(port, p));
        batch
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    const CONFIG: &str = "a :: Source -> c :: Clipboard(0/1, 2/2); b :: Source -> [1] c; \
                          c[0] -> x :: Sink; c[1] -> y :: Sink";

    #[test]
    fn bytes_are_carried_over() {
        let mut t = Harness::new(CONFIG);
        t.push("b", 0, [Packet::new(b"12345")]);
        t.push("a", 0, [Packet::new(b"abcdef"), Packet::new(b"xyz")]);
        t.push("b", 0, [Packet::new(b"12345"), Packet::new(b"123")]);
        assert_eq!(t.bytes("x"), [b"abcdef".to_vec(), b"xyz".to_vec()]);
        assert_eq!(t.bytes("y"), [b"\x002\0\x005".to_vec(), b"a2cd5".to_vec(), b"123".to_vec()]);
    }

    #[test]
    fn copies_of_a_packet_are_spared() {
        let mut t = Harness::new(
            "s :: Source -> t :: Tee; c :: Clipboard(0/1); Idle -> c -> Discard; \
             t[0] -> [1] c; c[1] -> x :: Sink; t[1] -> y :: Sink",
        );
        t.push("s", 0, [Packet::new(b"ab")]);
        assert_eq!((t.bytes("x"), t.bytes("y")), (vec![b"\0b".to_vec()], vec![b"ab".to_vec()]));
    }

    #[test]
    fn works_in_pull() {
        let mut t = Harness::new(
            "s :: Source -> Queue -> c :: Clipboard(0/1) -> x :: Sink; \
             r :: Source -> Queue -> [1] c; c[1] -> y :: Sink",
        );
        t.push("s", 0, [Packet::new(b"ab")]);
        t.push("r", 0, [Packet::new(b"12")]);
        assert_eq!((t.bytes("x"), t.bytes("y")), (vec![b"ab".to_vec()], vec![b"a2".to_vec()]));
    }

    #[test]
    fn says_which_range_is_wrong() {
        for (ranges, message) in [
            ("1", "range 0: expected '/' between offset and length"),
            ("0/1, /4", "range 1: expected '/' between offset and length"),
            ("0/1, x/4", "range 1: invalid offset or length"),
            ("0/1, 1/99999", "range 1: invalid offset or length"),
        ] {
            let config = format!("Idle -> c :: Clipboard({ranges}) -> Discard; Idle -> [1] c [1] -> Discard");
            let e = Harness::errors(&config);
            assert!(e.contains(message), "{e}");
        }
    }
}
