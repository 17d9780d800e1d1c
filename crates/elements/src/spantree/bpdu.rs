//! Bridge protocol data units on the wire (IEEE 802.1D-1998 §9), and the numbers in them.
//!
//! What reads a frame here checks everything that §9.3.4 asks of a receiver but who sent it; nothing else looks at bytes.

use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::{EthernetHeader, Header};
use std::fmt;
use std::time::Duration;
use zerocopy::byteorder::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Where bridges send: the Bridge Group Address (§7.12.3, Table 7-9).
pub const BRIDGES: EtherAddress = EtherAddress([0x01, 0x80, 0xC2, 0, 0, 0]);

/// A bridge's identifier (§9.2.5): the lower, the rather it becomes the root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct BridgeId(pub u64);

impl BridgeId {
    /// The identifier of a bridge with this priority and address.
    pub fn new(priority: u16, address: EtherAddress) -> BridgeId {
        let address = address.0.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        BridgeId(u64::from(priority) << 48 | address)
    }

    /// The part that management sets.
    pub fn priority(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// The same bridge with another priority.
    pub fn with_priority(self, priority: u16) -> BridgeId {
        BridgeId(u64::from(priority) << 48 | self.0 & 0xFFFF_FFFF_FFFF)
    }
}

/// As Linux writes it: priority, dot, address.
impl fmt::Display for BridgeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}.{:012x}", self.priority(), self.0 & 0xFFFF_FFFF_FFFF)
    }
}

impl fmt::Debug for BridgeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A port's identifier (§9.2.7): four bits of priority and twelve of number, as since IEEE 802.1t.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Debug)]
pub struct PortId(pub u16);

impl PortId {
    /// The identifier of the port with this index, which counts from 0; numbers on the wire count from 1.
    pub fn new(priority: u8, index: usize) -> PortId {
        PortId(u16::from(priority & 0xF0) << 8 | (index as u16 + 1) & 0xFFF)
    }

    /// The part that management sets.
    pub fn priority(self) -> u8 {
        (self.0 >> 8) as u8 & 0xF0
    }
}

/// What a message promises: the *priority vector*. Lower is better, compared field by field in this order (§8.6.2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Vector {
    /// Which bridge is the root.
    pub root: BridgeId,
    /// How far it is.
    pub cost: u32,
    /// Who says so.
    pub bridge: BridgeId,
    /// Through which of its ports.
    pub port: PortId,
}

/// The times that the root prescribes to all bridges (§8.10.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// After which a message is forgotten.
    pub max_age: Duration,
    /// Between the root's messages.
    pub hello: Duration,
    /// How long a port listens, and then learns.
    pub forward_delay: Duration,
}

impl Times {
    /// What 802.1D recommends (Table 8-3).
    pub const RECOMMENDED: Times = Times {
        max_age: Duration::from_secs(20),
        hello: Duration::from_secs(2),
        forward_delay: Duration::from_secs(15),
    };
}

/// A configuration message (§9.3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// What it promises.
    pub vector: Vector,
    /// The root says that the topology has changed.
    pub change: bool,
    /// The sender has taken note of a change.
    pub change_acknowledged: bool,
    /// How old the root's word is.
    pub message_age: Duration,
    /// The root's times.
    pub times: Times,
}

/// A message between bridges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bpdu {
    /// Who is the root, and how far.
    Config(Config),
    /// The topology has changed (§9.3.2).
    Change,
}

/// The LLC header of the spanning tree protocol (§7.12.3).
const LLC: [u8; 3] = [0x42, 0x42, 0x03];
const TOPOLOGY_CHANGE: u8 = 0x01;
const TOPOLOGY_CHANGE_ACKNOWLEDGED: u8 = 0x80;
/// The type of a topology change notification.
pub(super) const CHANGE_TYPE: u8 = 0x80;
/// Frames are padded to what Ethernet demands, without its checksum.
const SHORTEST: usize = 60;

/// How every message begins.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Start {
    pub protocol: U16,
    pub version: u8,
    pub kind: u8,
}

/// The rest of a configuration message.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Body {
    pub flags: u8,
    pub root: U64,
    pub cost: U32,
    pub bridge: U64,
    pub port: U16,
    pub message_age: U16,
    pub max_age: U16,
    pub hello_time: U16,
    pub forward_delay: U16,
}

impl Header for Start {}
impl Header for Body {}

impl Body {
    /// Whether the topology has changed.
    pub fn change(&self) -> bool {
        self.flags & TOPOLOGY_CHANGE != 0
    }

    /// Whether a change is acknowledged.
    pub fn change_acknowledged(&self) -> bool {
        self.flags & TOPOLOGY_CHANGE_ACKNOWLEDGED != 0
    }

    fn config(&self) -> Config {
        Config {
            vector: Vector {
                root: BridgeId(self.root.get()),
                cost: self.cost.get(),
                bridge: BridgeId(self.bridge.get()),
                port: PortId(self.port.get()),
            },
            change: self.change(),
            change_acknowledged: self.change_acknowledged(),
            message_age: from_ticks(self.message_age),
            times: Times {
                max_age: from_ticks(self.max_age),
                hello: from_ticks(self.hello_time),
                forward_delay: from_ticks(self.forward_delay),
            },
        }
    }

    fn of(config: &Config) -> Body {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        Body {
            flags: flag(config.change, TOPOLOGY_CHANGE)
                | flag(config.change_acknowledged, TOPOLOGY_CHANGE_ACKNOWLEDGED),
            root: config.vector.root.0.into(),
            cost: config.vector.cost.into(),
            bridge: config.vector.bridge.0.into(),
            port: config.vector.port.0.into(),
            message_age: to_ticks(config.message_age),
            max_age: to_ticks(config.times.max_age),
            hello_time: to_ticks(config.times.hello),
            forward_delay: to_ticks(config.times.forward_delay),
        }
    }
}

/// Times are in units of 1/256 second (§9.2.8).
const TICK: Duration = Duration::from_nanos(3_906_250);

fn from_ticks(ticks: U16) -> Duration {
    TICK * u32::from(ticks.get())
}

/// The next longer time that can be written.
fn to_ticks(time: Duration) -> U16 {
    let ticks = time.as_nanos().div_ceil(TICK.as_nanos());
    u16::try_from(ticks).unwrap_or(u16::MAX).into()
}

/// Reads a frame; says what is wrong with one that is no message to bridges (§9.3.4). Versions are not looked at: a later
/// one means the same in these fields (§9.3.3), and rapid spanning tree messages have a type of their own.
pub fn parse(frame: &[u8]) -> Result<Bpdu, &'static str> {
    let ethernet = EthernetHeader::peek(frame).ok_or("frame too short")?;
    if ethernet.destination != BRIDGES {
        return Err("not to the bridge group address");
    }
    let behind = &frame[size_of::<EthernetHeader>()..];
    let llc = behind.get(..usize::from(ethernet.ethertype())).ok_or("frame shorter than it says")?;
    let bpdu = llc.strip_prefix(&LLC).ok_or("not a bridge protocol data unit")?;
    let start = Start::peek(bpdu).ok_or("BPDU too short")?;
    match (start.protocol.get(), start.kind) {
        (0, 0) => Body::peek(&bpdu[size_of::<Start>()..])
            .map(|body| Bpdu::Config(body.config()))
            .ok_or("BPDU too short"),
        (0, CHANGE_TYPE) => Ok(Bpdu::Change),
        (0, _) => Err("unknown BPDU type"),
        _ => Err("unknown bridge protocol"),
    }
}

/// The first bytes of a frame's message, if they are there, whatever they say.
pub(super) fn peek(frame: &[u8]) -> Option<(&Start, Option<&Body>)> {
    let bpdu = frame.get(size_of::<EthernetHeader>() + LLC.len()..)?;
    let start = Start::peek(bpdu)?;
    Some((start, Body::peek(&bpdu[size_of::<Start>()..])))
}

/// The frame with a message.
pub fn frame(from: EtherAddress, bpdu: &Bpdu) -> Vec<u8> {
    let (kind, body) = match bpdu {
        Bpdu::Config(config) => (0, Body::of(config).as_bytes().to_vec()),
        Bpdu::Change => (CHANGE_TYPE, Vec::new()),
    };
    let start = Start { protocol: 0.into(), version: 0, kind };
    let length = (LLC.len() + size_of::<Start>() + body.len()) as u16;
    let ethernet = EthernetHeader::new(BRIDGES, from, length);
    let mut frame = [ethernet.as_bytes(), &LLC, start.as_bytes(), &body].concat();
    frame.resize(frame.len().max(SHORTEST), 0);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: EtherAddress = EtherAddress([2, 0, 0, 0, 0, 0xA]);

    fn config() -> Config {
        let seconds = Duration::from_secs;
        Config {
            vector: Vector {
                root: BridgeId::new(0x8000, EtherAddress([0, 1, 2, 3, 4, 5])),
                cost: 19,
                bridge: BridgeId::new(0xDEAD, A),
                port: PortId::new(0x80, 1),
            },
            change: true,
            change_acknowledged: false,
            message_age: seconds(1) + TICK,
            times: Times { max_age: seconds(20), hello: seconds(2), forward_delay: seconds(15) },
        }
    }

    /// Field by field as Figure 9-1 has them, written by hand.
    #[test]
    fn a_configuration_message_has_the_fields_of_the_standard() {
        let bytes = frame(A, &Bpdu::Config(config()));
        let expected = [
            "0180c2000000",
            "02000000000a",
            "0026",
            "424203",
            "0000",
            "00",
            "00",
            "01",
            "8000000102030405",
            "00000013",
            "dead02000000000a",
            "8002",
            "0101",
            "1400",
            "0200",
            "0f00",
            "0000000000000000",
        ];
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, expected.concat());
        assert_eq!(parse(&bytes), Ok(Bpdu::Config(config())));
    }

    #[test]
    fn a_notification_is_a_header_alone() {
        let bytes = frame(A, &Bpdu::Change);
        assert_eq!(bytes[12..21], [0, 7, 0x42, 0x42, 3, 0, 0, 0, 0x80]);
        assert_eq!((bytes.len(), parse(&bytes)), (60, Ok(Bpdu::Change)));
    }

    #[test]
    fn every_cut_and_every_wrong_field_is_refused() {
        let whole = frame(A, &Bpdu::Config(config()));
        for length in 0..52 {
            assert!(parse(&whole[..length]).is_err(), "{length} bytes");
        }
        let refused = |at: usize, byte: u8| {
            let mut wrong = whole.clone();
            wrong[at] = byte;
            parse(&wrong).expect_err("it is wrong")
        };
        assert_eq!(refused(5, 1), "not to the bridge group address");
        assert_eq!(refused(13, 0x25), "BPDU too short");
        assert_eq!(refused(12, 0x06), "frame shorter than it says");
        assert_eq!(refused(14, 0xAA), "not a bridge protocol data unit");
        assert_eq!(refused(18, 1), "unknown bridge protocol");
        assert_eq!(refused(20, 2), "unknown BPDU type");
        let mut later = whole.clone();
        later[19] = 4;
        assert_eq!(parse(&later), parse(&whole));
    }

    proptest::proptest! {
        /// Nothing that a frame says makes reading it fail in another way than by an error.
        #[test]
        fn any_bytes_can_be_read(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80),
            damage in proptest::collection::vec((0usize..60, proptest::prelude::any::<u8>()), 0..5),
        ) {
            let _ = (parse(&bytes), peek(&bytes));
            let mut frame = frame(A, &Bpdu::Config(config()));
            damage.iter().for_each(|&(at, byte)| frame[at] = byte);
            if let Ok(Bpdu::Config(config)) = parse(&frame) {
                let again = super::frame(A, &Bpdu::Config(config));
                proptest::prop_assert_eq!(parse(&again), Ok(Bpdu::Config(config)));
            }
        }
    }

    #[test]
    fn vectors_compare_as_the_standard_says() {
        let better = config().vector;
        let root = Vector { root: BridgeId(better.root.0 + 1), cost: 0, ..better };
        let cost = Vector { cost: 20, bridge: BridgeId(0), ..better };
        let bridge = Vector { bridge: BridgeId(better.bridge.0 + 1), port: PortId(0), ..better };
        let port = Vector { port: PortId::new(0x80, 2), ..better };
        assert!([root, cost, bridge, port].iter().all(|worse| better < *worse));
        assert_eq!(better.bridge.to_string(), "dead.02000000000a");
    }

    #[test]
    fn times_that_do_not_fit_are_the_longest() {
        assert_eq!(to_ticks(Duration::from_secs(1000)).get(), 0xFFFF);
        assert_eq!(to_ticks(Duration::from_nanos(1)).get(), 1);
    }
}
