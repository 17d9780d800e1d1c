//! Prism2Encap and Prism2Decap: the header of 144 bytes that drivers for Prism II cards put in front of frames
//! (linux-wlan-ng, `DLT_PRISM_HEADER` of captures): a name and ten items of 12 bytes, all in the machine's byte order.

use super::extra::{Extra, flag};
use super::params::{DEBUG, debug_handler};
use clickwork_packet::Packet;
use clickwork_router::args::Args;
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts of Prism2Encap.
pub static ENCAP: Class = Class {
    help: "puts Prism II headers in front of frames",
    manual: "Adds a Prism II header that says at which rate and how strong the frame was received, from its annotation \
             WIFI_EXTRA.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Prism2Encap -> Prism2Decap -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(Prism2)],
    ..Class::new("Prism2Encap", "wifi", || Box::new(Prism2 { encap: true, debug: false }))
};

/// The class facts of Prism2Decap.
pub static DECAP: Class = Class {
    help: "takes Prism II headers off frames",
    manual: "If a packet begins with a Prism II header, the header is removed, and what it says about signal, noise, rate \
             and direction goes into the annotation WIFI_EXTRA. Other packets pass unchanged.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Prism2Encap -> Prism2Decap -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(Prism2)],
    ..Class::new("Prism2Decap", "wifi", || Box::new(Prism2 { encap: false, debug: false }))
};

/// Message code of the header.
const CODE: u32 = 0x44;
/// Bytes of the header, of what stands in front of the items, and of an item.
const HEADER: usize = 144;
const ITEMS: usize = 24;
const ITEM: usize = 12;

/// The items that are used, by place.
#[derive(Clone, Copy)]
enum Item {
    HostTime,
    MacTime,
    Channel,
    Rssi,
    Signal = 5,
    Noise,
    Rate,
    IsSent,
    FrameLength,
}

struct Prism2 {
    encap: bool,
    debug: bool,
}

fn number(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

/// The value of an item.
fn value(data: &[u8], item: Item) -> u32 {
    number(data, ITEMS + item as usize * ITEM + 8).unwrap_or(0)
}

/// Writes an item: its code, status 0, the length of its value, the value.
fn put(header: &mut [u8], item: Item, value: u32) {
    let code = (item as u32 + 1) << 16 | CODE;
    let at = ITEMS + item as usize * ITEM;
    header[at..at + 4].copy_from_slice(&code.to_ne_bytes());
    header[at + 6..at + 8].copy_from_slice(&4u16.to_ne_bytes());
    header[at + 8..at + 12].copy_from_slice(&value.to_ne_bytes());
}

fn decapsulate(p: &mut Packet) {
    let data = p.data();
    if data.len() < HEADER || number(data, 0) != Some(CODE) {
        return;
    }
    let [rssi, noise, rate] = [Item::Rssi, Item::Noise, Item::Rate].map(|item| value(data, item) as u8);
    let sent = value(data, Item::IsSent) != 0;
    Extra::change(p, |extra| {
        (extra.rssi, extra.silence, extra.rate[0]) = (rssi, noise, rate);
        extra.set(flag::TX, sent);
    });
    p.pull(HEADER);
}

/// As Click, leaves quality and noise out, and says that the frame was sent.
fn encapsulate(p: &mut Packet) {
    let (extra, length) = (Extra::of(p), p.len() as u32);
    let header = &mut p.push(HEADER)[..HEADER];
    header.fill(0);
    header[..4].copy_from_slice(&CODE.to_ne_bytes());
    header[4..8].copy_from_slice(&(HEADER as u32).to_ne_bytes());
    for item in [Item::HostTime, Item::MacTime, Item::Channel, Item::Rssi] {
        put(header, item, 0);
    }
    put(header, Item::Signal, u32::from(extra.rssi));
    put(header, Item::Rate, u32::from(extra.rate[0]));
    put(header, Item::IsSent, 1);
    put(header, Item::FrameLength, length);
}

impl SimpleElement for Prism2 {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if self.encap {
            encapsulate(p)
        } else {
            decapsulate(p)
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn a_header_becomes_the_annotation() {
        let mut t = Harness::new("s :: Source -> Prism2Decap -> k :: Sink");
        let frame = samples::frame("prism");
        t.push("s", 0, [Packet::new(&frame), Packet::new(&frame[..143]), Packet::new(&frame[144..])]);
        let out = t.take("k");
        assert_eq!(out[0].data(), samples::frame("data tods"));
        let extra = Extra::of(&out[0]);
        assert_eq!((extra.rssi, extra.silence, extra.rate[0], extra.has(flag::TX)), (50, 7, 22, false));
        assert_eq!((out[1].len(), out[2].len()), (143, frame.len() - 144));
    }

    #[test]
    fn the_annotation_becomes_a_header() {
        let mut t = Harness::new(
            "s :: Source -> SetTXRate(22) -> t :: Tee(2); t[0] -> Prism2Encap -> k :: Sink;
                                  t[1] -> Prism2Encap -> Prism2Decap -> d :: Sink",
        );
        t.push("s", 0, [Packet::new(b"frame")]);
        let out = t.bytes("k").remove(0);
        assert_eq!(&out[HEADER..], b"frame");
        let items: Vec<(u32, u32)> = (0..10)
            .map(|n| 24 + 12 * n)
            .map(|at| (number(&out, at).unwrap(), number(&out, at + 8).unwrap()))
            .collect();
        assert_eq!(
            items,
            [
                (0x10044, 0),
                (0x20044, 0),
                (0x30044, 0),
                (0x40044, 0),
                (0, 0),
                (0x60044, 0),
                (0, 0),
                (0x80044, 22),
                (0x90044, 1),
                (0xA0044, 5)
            ]
        );
        assert!(Extra::of(&t.take("d")[0]).has(flag::TX));
    }
}
