//! EtherPauseSource: sends Ethernet PAUSE frames (IEEE 802.3 annex 31B), which ask a neighbour to stop sending.

use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::ethernet::EthernetHeader;
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, SecondsIn};
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::time::Duration;
use zerocopy::IntoBytes;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends Ethernet PAUSE frames",
    manual: "Sends a PAUSE frame from SRC every INTERVAL, or, if its output is pull, whenever it is asked, until it has sent \
             LIMIT; a negative LIMIT means no end. Who gets it is asked not to send for PAUSETIME units of 512 bit times. \
             DST is the address that all stations listen to unless told otherwise.",
    example: "EtherPauseSource(2:0:0:0:0:1, 1000, LIMIT 3) -> Queue -> Discard",
    ports: "0/1",
    packets: "/new ether",
    args: &[
        ArgSpec::required("SRC", ArgType::EtherAddr, "source address"),
        ArgSpec::required("PAUSETIME", ArgType::U16, "length of the pause, in units of 512 bit times"),
        ArgSpec::keyword("DST", ArgType::EtherAddr, "01-80-C2-00-00-01", "destination address"),
        ArgSpec::keyword("LIMIT", ArgType::I32, "-1", "frames to send; negative for no end"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether it sends"),
        ArgSpec::keyword("INTERVAL", ArgType::Seconds, "1", "time between frames"),
    ],
    handlers: &[
        read_handler!("count", "frames sent", |e: &mut EtherPauseSource, _| e.count),
        read_handler!("limit", "frames to send", |e: &mut EtherPauseSource, _| e.limit)
            .and_write(write_handler!("", "", |e: &mut EtherPauseSource, text, cx| e
                .set(text, cx, |e| &mut e.limit))),
        read_handler!("active", "whether it sends", |e: &mut EtherPauseSource, _| e.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut EtherPauseSource, text, cx| e
                .set(text, cx, |e| &mut e.active))),
        read_handler!("src", "source address", |e: &mut EtherPauseSource, _| e.source.to_string()).and_write(
            write_handler!("", "", |e: &mut EtherPauseSource, text, _| change(&mut e.source, text)),
        ),
        read_handler!("dst", "destination address", |e: &mut EtherPauseSource, _| e.destination.to_string())
            .and_write(write_handler!("", "", |e: &mut EtherPauseSource, text, _| change(
                &mut e.destination,
                text
            ))),
        read_handler!("pausetime", "length of the pause", |e: &mut EtherPauseSource, _| e.pause).and_write(
            write_handler!("", "", |e: &mut EtherPauseSource, text, _| change(&mut e.pause, text)),
        ),
        write_handler!(
            "reset_counts",
            "sets the count to 0 and begins anew",
            |e: &mut EtherPauseSource, _, cx| {
                e.count = 0;
                e.resume(Duration::ZERO, cx);
            }
        ),
    ],
    ..Class::new("EtherPauseSource", "ethernet", || Box::<EtherPauseSource>::default())
};

/// The address of all that take part in flow control (IEEE 802.3 §31B.1).
const EVERYBODY: EtherAddress = EtherAddress([0x01, 0x80, 0xC2, 0, 0, 1]);
/// The ethertype of MAC control frames.
const MAC_CONTROL: u16 = 0x8808;
/// The operation code of PAUSE.
const PAUSE: [u8; 2] = [0, 1];
/// Length of a frame, as in Click.
const LEN: usize = 64;

struct EtherPauseSource {
    source: EtherAddress,
    destination: EtherAddress,
    pause: u16,
    limit: i32,
    active: bool,
    interval: Duration,
    count: i32,
    /// When the timer expires, so that delays do not add up.
    due: Timestamp,
    /// Active while an element that pulls can have frames.
    empty: Option<NotifierId>,
}

impl Default for EtherPauseSource {
    fn default() -> EtherPauseSource {
        EtherPauseSource {
            source: EtherAddress::default(),
            destination: EVERYBODY,
            pause: 0,
            limit: -1,
            active: true,
            interval: Duration::from_secs(1),
            count: 0,
            due: Timestamp::ZERO,
            empty: None,
        }
    }
}

fn change<T: FromArg>(slot: &mut T, text: &str) -> Result<(), String> {
    crate::values::store(slot, text, "").map_err(|_| "type mismatch".to_string())
}

impl EtherPauseSource {
    fn set<T: FromArg>(
        &mut self,
        text: &str,
        cx: &mut Cx<'_>,
        slot: fn(&mut EtherPauseSource) -> &mut T,
    ) -> Result<(), String> {
        change(slot(self), text)?;
        self.resume(Duration::ZERO, cx);
        Ok(())
    }

    fn may_send(&self) -> bool {
        self.active && (self.limit < 0 || self.count < self.limit)
    }

    /// Goes on after `delay` if there is anything left to send.
    fn resume(&mut self, delay: Duration, cx: &mut Cx<'_>) {
        if !self.may_send() {
            return;
        }
        if !cx.output_is_push(0) {
            self.empty.into_iter().for_each(|empty| cx.wake(empty));
        } else if cx.timer_expiry(0).is_none() {
            self.due = cx.steady() + delay;
            cx.schedule_timer_at(0, self.due);
        }
    }

    fn frame(&mut self) -> Packet {
        self.count = self.count.saturating_add(1);
        let header = EthernetHeader::new(self.destination, self.source, MAC_CONTROL);
        let mut bytes = [header.as_bytes(), &PAUSE, &self.pause.to_be_bytes()].concat();
        bytes.resize(LEN, 0);
        let mut p = Packet::new(&bytes);
        p.set_mac_header(0, 14);
        p
    }
}

impl Element for EtherPauseSource {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("SRC", &mut self.source)
            .read("PAUSETIME", &mut self.pause)
            .read("DST", &mut self.destination);
        args.read("LIMIT", &mut self.limit).read("ACTIVE", &mut self.active);
        let millis = args.get_with("INTERVAL", SecondsIn(3)).unwrap_or(1000);
        // Never at once, which would keep the router from doing anything else.
        self.interval = Duration::from_millis(millis.max(1).into());
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::Stop));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.resume(self.interval, cx);
        Ok(())
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        if !self.may_send() {
            return;
        }
        let frame = self.frame();
        cx.emit(0, frame);
        if self.may_send() {
            self.due = self.due + self.interval;
            cx.schedule_timer_at(slot, self.due);
        }
    }

    fn pull(&mut self, _: usize, _: usize, cx: &mut Cx<'_>) -> Batch {
        if self.may_send() {
            return Batch::one(self.frame());
        }
        self.empty.into_iter().for_each(|empty| cx.sleep(empty));
        Batch::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_router::Outcome;
    use std::time::Duration;

    #[test]
    fn frames_are_as_the_standard_says() {
        let mut t = Harness::new("EtherPauseSource(2:0:0:0:0:1, 258, LIMIT 2, INTERVAL 0.25) -> k :: Sink");
        let start = t.router.clock().peek();
        assert_eq!(t.run(), Outcome::Exhausted);
        assert_eq!((t.router.clock().peek() - start).nanos() / 1_000_000, 500);
        let mut expected = b"\x01\x80\xc2\0\0\x01\x02\0\0\0\0\x01\x88\x08\0\x01\x01\x02".to_vec();
        expected.resize(64, 0);
        assert_eq!(t.bytes("k"), [expected.clone(), expected]);
    }

    #[test]
    fn it_can_be_pulled() {
        let mut t = Harness::new("e :: EtherPauseSource(2:0:0:0:0:1, 1, LIMIT 5) -> Unqueue -> k :: Sink");
        assert_eq!((t.run(), t.take("k").len()), (Outcome::Exhausted, 5));
        t.write("e.limit 7").unwrap();
        t.run();
        assert_eq!(t.take("k").len(), 2);
    }

    #[test]
    fn handlers_change_the_frames() {
        let mut t = Harness::new("e :: EtherPauseSource(2:0:0:0:0:1, 1, ACTIVE false) -> k :: Sink");
        for call in
            ["e.src 2:0:0:0:0:7", "e.dst 2:0:0:0:0:8", "e.pausetime 65535", "e.limit 1", "e.active true"]
        {
            t.write(call).unwrap();
        }
        t.run_for(Duration::from_millis(10));
        assert_eq!(t.bytes("k")[0][..18], *b"\x02\0\0\0\0\x08\x02\0\0\0\0\x07\x88\x08\0\x01\xff\xff");
        assert_eq!([t.read("e.count"), t.read("e.dst")], ["1", "02-00-00-00-00-08"]);
        t.write("e.reset_counts").unwrap();
        t.run();
        assert_eq!((t.take("k").len(), t.read("e.count")), (1, "1".into()));
        assert_eq!(t.write("e.pausetime 65536").unwrap_err(), "type mismatch");
        assert!(Harness::errors("EtherPauseSource(2:0:0:0:0:1) -> Discard").contains("PAUSETIME"));
    }
}
