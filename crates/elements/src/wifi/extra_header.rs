//! ExtraEncap and ExtraDecap: the wireless information of a packet, in front of it.

use super::extra::{Extra, MAGIC, SIZE};
use super::params::{DEBUG, debug_handler};
use clickwork_packet::Packet;
use clickwork_router::args::Args;
use clickwork_router::{Class, Cx, SimpleElement, Verdict};
use zerocopy::IntoBytes;

/// The class facts of ExtraEncap.
pub static ENCAP: Class = Class {
    help: "puts the wireless information in front of packets",
    manual: "Adds 24 bytes in front of each packet: its annotation WIFI_EXTRA, marked as valid. Drivers and captures take \
             and give it so.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXRate(22) -> ExtraEncap -> ExtraDecap -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(ExtraHeader)],
    ..Class::new("ExtraEncap", "wifi", || Box::new(ExtraHeader { encap: true, debug: false }))
};

/// The class facts of ExtraDecap.
pub static DECAP: Class = Class {
    help: "takes the wireless information in front of packets",
    manual: "If a packet begins with valid wireless information, as ExtraEncap puts it there, these 24 bytes are removed and \
             become the annotation WIFI_EXTRA. Other packets pass unchanged.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXRate(22) -> ExtraEncap -> ExtraDecap -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(ExtraHeader)],
    ..Class::new("ExtraDecap", "wifi", || Box::new(ExtraHeader { encap: false, debug: false }))
};

struct ExtraHeader {
    encap: bool,
    debug: bool,
}

impl SimpleElement for ExtraHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if self.encap {
            let extra = Extra { magic: MAGIC.into(), ..Extra::of(p) };
            p.push(SIZE)[..SIZE].copy_from_slice(extra.as_bytes());
        } else if let Some(extra) = Extra::front(p.data()).filter(Extra::is_valid) {
            extra.annotate(p);
            p.pull(SIZE);
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn information_goes_to_the_front_and_back() {
        let mut t = Harness::new(
            "s :: Source -> SetTXRate(11, TRIES 3) -> ExtraEncap -> k :: Sink;
             d :: Source -> ExtraDecap -> r :: Sink",
        );
        t.push("s", 0, [Packet::new(b"abc")]);
        let out = t.take("k").remove(0);
        let mut expected = 0x0749_2001u32.to_ne_bytes().to_vec();
        expected.extend([0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(out.data(), [&expected[..], b"abc"].concat());
        t.push("d", 0, [Packet::new(out.data())]);
        let back = t.take("r").remove(0);
        assert_eq!((back.data(), &back.annotations()[16..40]), (&b"abc"[..], &expected[..]));
    }

    #[test]
    fn the_annotation_itself_stays() {
        let mut t = Harness::new("s :: Source -> SetNoAck -> ExtraEncap -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abc")]);
        assert_eq!(t.take("k")[0].annotations()[16..20], [0; 4]);
    }

    #[test]
    fn packets_without_information_pass() {
        let mut t = Harness::new("s :: Source -> d :: ExtraDecap -> k :: Sink");
        t.push("s", 0, [Packet::new(b""), Packet::new(&[1; 40]), Packet::new(&0x0749_2001u32.to_ne_bytes())]);
        assert_eq!(t.take("k").iter().map(Packet::len).collect::<Vec<_>>(), [0, 40, 4]);
        t.write("d.debug yes").unwrap();
        assert_eq!(t.read("d.debug"), "true\n");
    }
}
