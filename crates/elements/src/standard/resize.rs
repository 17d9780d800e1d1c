//! Resize: adds or removes bytes at both ends of packets.

use clickwork_packet::Packet;
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, BadValue, Bounded, Names};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "adds or removes bytes at the ends of packets",
    manual: "Adds HEAD bytes to the front and TAIL bytes to the end of each packet; if negative, removes as many (at most \
             all). What new bytes hold is not defined.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Resize(-4, 2) -> Discard",
    packets: "any/unstrip(HEAD)",
    args: &[
        ArgSpec::positional("HEAD", ArgType::I32, "0", "bytes to add to the front"),
        ArgSpec::positional("TAIL", ArgType::I32, "0", "bytes to add to the end"),
    ],
    handlers: &[
        read_handler!("head", "bytes to add to the front", |e: &mut Resize, _| e.head)
            .and_write(write_handler!("", "", |e: &mut Resize, text, _| change(&mut e.head, text))),
        read_handler!("tail", "bytes to add to the end", |e: &mut Resize, _| e.tail)
            .and_write(write_handler!("", "", |e: &mut Resize, text, _| change(&mut e.tail, text))),
    ],
    ..Class::new("Resize", "standard", || Box::<Resize>::default())
};

/// Bytes that one pass may add or remove.
const MOST: i32 = 65535;
const AMOUNT: Bounded<i32> = Bounded(-MOST..=MOST);

#[derive(Default)]
struct Resize {
    head: i32,
    tail: i32,
}

fn change(amount: &mut i32, text: &str) -> Result<(), String> {
    let wrong = |e| match e {
        BadValue::Mismatch => "expected integer".to_string(),
        BadValue::Because(reason) => reason,
    };
    *amount = AMOUNT.parse(text.trim(), &Names::default()).map_err(wrong)?;
    Ok(())
}

impl SimpleElement for Resize {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("HEAD", AMOUNT, &mut self.head).read_with("TAIL", AMOUNT, &mut self.tail);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let (head, tail) = (self.head.unsigned_abs() as usize, self.tail.unsigned_abs() as usize);
        if self.head < 0 {
            p.pull(head);
        } else {
            p.unpull(head);
        }
        if self.tail < 0 {
            p.take(tail);
        } else if tail > 0 {
            p.put(tail);
        }
        // A packet may pass here again and again: it must not grow beyond all bounds.
        if p.len() > 2 * MOST as usize { Verdict::Drop("resized too long") } else { Verdict::PASS }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn both_ends_move_both_ways() {
        let mut t = Harness::new("s :: Source -> r :: Resize(-2, 3) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abcdef"), Packet::new(b"a")]);
        t.write("r.head 1").unwrap();
        t.write("r.tail -9").unwrap();
        t.push("s", 0, [Packet::new(b"abcdef"), Packet::with_room(0, b"abcdefghijk", 0)]);
        assert_eq!(t.bytes("k").iter().map(Vec::len).collect::<Vec<_>>(), [7, 3, 0, 3]);
        assert!(t.write("r.tail 100000").is_err());
    }
}
