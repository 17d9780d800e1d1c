//! FromDevice: packets that arrive at a network interface.
//!
//! The task asks the receive ring, without system calls, as long as the router is awake; while it sleeps, the descriptor
//! of the ring wakes it. Read first: `clickwork_device::PacketReceiver`.

use super::host::aligned_as;
use crate::capture::linktype::LinkType;
use crate::capture::{Encapsulation, mark_ip};
use clickwork_device::{DeviceError, Fault, Frame, Interface, PacketReceiver, PacketType, ReceiveOptions};
use clickwork_packet::{Batch, Packet, PacketType as Anno, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Word};
use clickwork_router::element::{split_batch, try_downcast};
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, read_handler, write_handler};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "receives packets from a network interface",
    manual: "Emits the packets that arrive at the interface DEVNAME, from their link-level header on, as a network card \
             would hand them over: checksums that the sender's kernel left to its card are completed, and packets that \
             it merged are cut. The host receives them too, unless SNIFFER is false: a router should say so, or both \
             answer. With PROMISC also packets to other hosts arrive, with OUTBOUND also those that this host sends. \
             Packets get their time of arrival, their packet type, and as extra-length annotation the number of bytes \
             beyond SNAPLEN. With FORCE_IP only IP packets leave by output 0, with their IP header marked; others leave \
             by output 1. An interface that goes down or is removed is waited for, while the rest of the router goes \
             on; each change is reported. This needs root, or the capabilities CAP_NET_RAW and CAP_NET_ADMIN.",
    ports: "0/1-2",
    processing: "h/h",
    packets: "/new device(DEVNAME) unmarked-unless(FORCE_IP)",
    args: &[
        ArgSpec::required("DEVNAME", ArgType::String, "the network interface"),
        ArgSpec::positional("PROMISC", ArgType::Bool, "false", "whether packets to other hosts are received"),
        ArgSpec::positional(
            "SNAPLEN",
            ArgType::IntRange { min: 14, max: 65535 },
            "",
            "longest part of a packet that is received; 2046 or more, as the MTU needs",
        ),
        ArgSpec::keyword("SNIFFER", ArgType::Bool, "true", "whether the host receives the packets too"),
        ArgSpec::keyword("FORCE_IP", ArgType::Bool, "false", "whether only IP packets leave by output 0"),
        ArgSpec::keyword(
            "METHOD",
            ArgType::Choice(METHODS),
            "LINUX",
            "how packets are received; one way for all",
        ),
        ArgSpec::keyword("CAPTURE", ArgType::Choice(METHODS), "LINUX", "older name of METHOD"),
        ArgSpec::keyword("BPF_FILTER", ArgType::String, "", "not supported: use IPFilter or Classifier"),
        ArgSpec::keyword("PROTOCOL", ArgType::U16, "0", "receive only this Ethernet type; 0 for all"),
        ArgSpec::keyword(
            "OUTBOUND",
            ArgType::Bool,
            "false",
            "whether packets sent by this host are received",
        ),
        ArgSpec::keyword(
            "HEADROOM",
            ArgType::IntRange { min: 0, max: 8190 },
            "30",
            "free bytes before the packet",
        ),
        ArgSpec::keyword(
            "ENCAP",
            ArgType::Word,
            "",
            "link type of the packets, if the interface does not tell",
        ),
        ArgSpec::keyword("BURST", ArgType::U32, "", "packets in a turn: 1 in ordered mode, else a batch"),
        ArgSpec::keyword("TIMESTAMP", ArgType::Bool, "true", "whether packets are stamped with the time"),
    ],
    handlers: &[
        read_handler!("count", "packets received", |e: &mut FromDevice, _| e.count),
        read_handler!(
            "kernel_drops",
            "packets lost because they were not received in time",
            |e: &mut FromDevice, _| {
                e.receiver.as_mut().map_or_else(|| "??".to_string(), |r| r.counts().ring_full.to_string())
            }
        ),
        read_handler!("encap", "link type of the packets", |e: &mut FromDevice, _| e.link.to_string()),
        read_handler!("repairs", "packets completed, cut or dropped on arrival", |e: &mut FromDevice, _| e
            .repairs()),
        write_handler!("reset_counts", "sets the count to 0", |e: &mut FromDevice, _, _| e.count = 0)
            .flags("b"),
    ],
    ..Class::new("FromDevice", "device", || Box::<FromDevice>::default())
};

/// Words for METHOD. Each of them names a packet socket here, where Click has different code for each.
const METHODS: &[&str] = &["LINUX", "PCAP"];
/// Shortest SNAPLEN that is used unless told otherwise.
const SNAPLEN: usize = 2046;
/// Ethernet header and VLAN tag.
const LINK_HEADER: usize = 18;
/// Room for a header to be added, and the IP header behind 14 bytes of Ethernet aligned to 4.
const HEADROOM: usize = 30;

/// How long to leave the ring alone after a look that found it nearly empty. A sender waits each time it writes a slot that
/// another processor watches; this lets packets gather under load, and delays none that comes alone.
const GATHER: Duration = Duration::from_micros(20);
/// How often an interface that is down, or gone, is looked for.
const LOOK_AFTER_DOWN: Duration = Duration::from_secs(1);

struct FromDevice {
    name: String,
    options: ReceiveOptions,
    snap_length: Option<usize>,
    encap: Option<LinkType>,
    link: LinkType,
    force_ip: bool,
    form: Form,
    burst: Option<u32>,
    receiver: Option<PacketReceiver>,
    count: u64,
    /// Packets still to be received in this turn.
    left: usize,
    /// Steady time before which the ring is left alone.
    next_look: Timestamp,
    /// The interface is down, which has been said.
    down: bool,
}

impl Default for FromDevice {
    fn default() -> FromDevice {
        FromDevice {
            name: String::new(),
            options: ReceiveOptions::default(),
            snap_length: None,
            encap: None,
            link: LinkType::ETHER,
            force_ip: false,
            form: Form { headroom: HEADROOM, timestamp: true },
            burst: None,
            receiver: None,
            count: 0,
            left: 0,
            next_look: Timestamp::ZERO,
            down: false,
        }
    }
}

/// What packets are made like.
struct Form {
    headroom: usize,
    timestamp: bool,
}

impl Form {
    #[inline]
    fn packet(&self, frame: &Frame<'_>) -> Packet {
        let mut p = Packet::with_room(self.headroom, frame.data, 0);
        p.set_mac_offset(0);
        p.set_packet_type(packet_type(frame.packet_type));
        if self.timestamp {
            let (seconds, nanos) = frame.timestamp;
            p.set_timestamp(Timestamp::new(i64::from(seconds), nanos));
        }
        if frame.length > frame.data.len() {
            p.set_anno_u32(anno::EXTRA_LENGTH, (frame.length - frame.data.len()) as u32);
        }
        p
    }
}

#[inline]
fn packet_type(seen: PacketType) -> Anno {
    match seen {
        PacketType::Host => Anno::Host,
        PacketType::Broadcast => Anno::Broadcast,
        PacketType::Multicast => Anno::Multicast,
        PacketType::OtherHost => Anno::OtherHost,
        PacketType::Outgoing => Anno::Outgoing,
    }
}

impl FromDevice {
    fn configure_method(args: &mut Args) {
        for name in ["METHOD", "CAPTURE"] {
            if args.get::<Word>(name).is_some_and(|word| !METHODS.contains(&word.0.as_str())) {
                args.error_in(name, "bad METHOD: packets are received by METHOD LINUX here");
            }
        }
        if args.raw("BPF_FILTER").is_some_and(|filter| !matches!(filter, "" | "\"\"" | "''")) {
            args.error_in(
                "BPF_FILTER",
                "not supported: put an IPFilter, IPClassifier or Classifier behind FromDevice",
            );
        }
    }

    fn configure_encap(&mut self, args: &mut Args) {
        if let Some(Word(word)) = args.get("ENCAP") {
            self.encap = LinkType::parse(&word);
            if self.encap.is_none() {
                args.error_in("ENCAP", "bad encapsulation type");
            }
        }
    }

    fn watch(&self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(receiver) = &self.receiver else { return Ok(()) };
        let ready = Ready { read: true, write: false };
        // An error also makes it ready; the task then meets it. So there is nothing to do when it is selected.
        cx.watch(receiver.as_fd(), ready).map_err(|e| format!("{}: cannot watch it: {e}", self.name))
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        if let Some(receiver) = self.receiver.take() {
            cx.unwatch(receiver.as_fd().as_raw_fd());
        }
    }

    /// Tells what went wrong, and whether there is anything to wait for.
    #[cold]
    fn lost(&mut self, error: &DeviceError, cx: &mut Cx<'_>) -> TaskStep {
        cx.chatter(&format!("{}: {error}", cx.name()));
        self.down = error.fault() == Fault::Down;
        cx.schedule_timer_after(0, LOOK_AFTER_DOWN);
        if error.fault() == Fault::Vanished {
            self.close(cx);
            return TaskStep::Sleep;
        }
        TaskStep::Poll
    }

    /// Looks whether an interface that was removed has been created again.
    fn look_for_it(&mut self, cx: &mut Cx<'_>) {
        match PacketReceiver::open(&self.name, &self.options) {
            Ok(receiver) => {
                self.receiver = Some(receiver);
                cx.chatter(&format!("{}: {}: the interface is there again", cx.name(), self.name));
                if let Err(e) = self.watch(cx) {
                    cx.chatter(&e);
                }
                self.tell_warnings(cx);
                cx.schedule_task();
            }
            Err(error) => {
                if error.fault() != Fault::NoSuchDevice {
                    cx.report("cannot be opened", || format!("{}: {error}", cx.name()));
                }
                cx.schedule_timer_after(0, LOOK_AFTER_DOWN);
            }
        }
    }

    fn is_up_again(&mut self, cx: &Cx<'_>) {
        if std::mem::take(&mut self.down) {
            cx.chatter(&format!("{}: {}: the interface is up again", cx.name(), self.name));
        }
    }

    fn deliver(&mut self, mut batch: Batch, cx: &mut Cx<'_>) {
        if self.force_ip {
            let (link, rest) = (self.link, (cx.outputs() > 1).then_some(1));
            split_batch(&mut batch, cx, "not IP", |p| match link.ip_offset(p.data()) {
                Some(offset) => {
                    mark_ip(p, offset);
                    Some(0)
                }
                None => rest,
            });
        }
        cx.emit_batch(0, batch);
    }

    fn tell_warnings(&mut self, cx: &Cx<'_>) {
        let warnings = self.receiver.as_mut().map(PacketReceiver::take_warnings).unwrap_or_default();
        warnings.iter().for_each(|w| cx.chatter(&format!("{}: warning: {w}", cx.name())));
    }

    fn repairs(&mut self) -> String {
        let c = self.receiver.as_mut().map(PacketReceiver::counts).unwrap_or_default();
        format!(
            "{}\tchecksums completed\n{}\tmerged packets cut\n{}\tmalformed packets dropped\n{}\ttoo large packets \
             dropped\n",
            c.checksums_completed, c.merged, c.malformed, c.too_large
        )
    }
}

impl Element for FromDevice {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEVNAME", &mut self.name)
            .read("PROMISC", &mut self.options.promiscuous)
            .read("SNIFFER", &mut self.options.sniffer)
            .read("FORCE_IP", &mut self.force_ip)
            .read("PROTOCOL", &mut self.options.protocol)
            .read("OUTBOUND", &mut self.options.outbound)
            .read("TIMESTAMP", &mut self.form.timestamp);
        self.snap_length = args.get::<u32>("SNAPLEN").map(|n| n as usize);
        if self.snap_length.is_some_and(|n| !(14..=65535).contains(&n)) {
            args.error_in("SNAPLEN", "SNAPLEN out of range");
        }
        self.form.headroom = args.get::<u32>("HEADROOM").map_or(HEADROOM, |n| n as usize);
        if self.form.headroom > 8190 {
            args.error_in("HEADROOM", "HEADROOM out of range");
        }
        self.form.headroom = aligned_as(HEADROOM, self.form.headroom);
        self.burst = args.get("BURST");
        if self.burst == Some(0) {
            args.error_in("BURST", "BURST out of range");
        }
        FromDevice::configure_method(args);
        self.configure_encap(args);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if self.name.is_empty() {
            return Err("interface not set".to_string());
        }
        let interface = Interface::find(&self.name).map_err(|e| e.to_string())?;
        let carried = if interface.ethernet.is_some() { LinkType::ETHER } else { LinkType::IP };
        self.link = self.encap.unwrap_or(carried);
        self.options.snap_length =
            self.snap_length.unwrap_or_else(|| SNAPLEN.max(interface.mtu + LINK_HEADER));
        self.receiver = Some(PacketReceiver::open(&self.name, &self.options).map_err(|e| e.to_string())?);
        self.watch(cx)?;
        self.tell_warnings(cx);
        cx.export(Arc::new(Encapsulation::new(self.link)));
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if cx.recent() < self.next_look {
            return TaskStep::Poll;
        }
        if self.left == 0 {
            self.left = self.burst.map_or(cx.batch_limit(), |n| n as usize);
        }
        let limit = self.left.min(cx.batch_limit());
        let Some(receiver) = &mut self.receiver else { return TaskStep::Sleep };
        let mut batch = cx.fresh_batch();
        let form = &self.form;
        let received = receiver.receive(limit, |frame| batch.push(form.packet(&frame)));
        let n = batch.len();
        self.left = if n < limit { 0 } else { self.left - n };
        // Simulated time stands still while packets are on their way.
        if (1..limit).contains(&n) && !cx.router().clock().is_simulated() {
            self.next_look = cx.recent() + GATHER;
        }
        match received {
            Ok(0) => {
                cx.recycle(batch);
                return TaskStep::Poll;
            }
            Ok(_) => {}
            Err(error) => return self.lost(&error, cx),
        }
        self.count += n as u64;
        self.is_up_again(cx);
        self.deliver(batch, cx);
        self.tell_warnings(cx);
        if self.left > 0 { TaskStep::Continue } else { TaskStep::Again }
    }

    /// Nobody is told when an interface that is down is removed.
    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let Some(receiver) = &mut self.receiver else { return self.look_for_it(cx) };
        if !self.down {
            return;
        }
        match receiver.check() {
            Ok(()) => cx.schedule_timer_after(0, LOOK_AFTER_DOWN),
            Err(error) => {
                self.lost(&error, cx);
            }
        }
    }

    /// An interface that is received from in the same way is received from on, so that no packet is lost or seen twice.
    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<FromDevice>(old) else { return };
        self.count = old.count;
        if old.name == self.name && old.options == self.options && old.receiver.is_some() {
            self.close(cx);
            self.receiver = old.receiver.take();
            if let Err(e) = self.watch(cx) {
                cx.chatter(&e);
            }
        }
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.close(cx);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn wrong_arguments_are_refused_each_with_its_reason() {
        for (config, reason) in [
            ("FromDevice(e0, SNAPLEN 13) -> Discard", "SNAPLEN out of range"),
            ("FromDevice(e0, HEADROOM 8191) -> Discard", "HEADROOM out of range"),
            ("FromDevice(e0, BURST 0) -> Discard", "BURST out of range"),
            ("FromDevice(e0, METHOD NETMAP) -> Discard", "bad METHOD"),
            ("FromDevice(e0, BPF_FILTER \"tcp port 80\") -> Discard", "put an IPFilter"),
            ("FromDevice(e0, ENCAP NOTHING) -> Discard", "bad encapsulation type"),
            ("FromDevice() -> Discard", "DEVNAME"),
        ] {
            let e = Harness::errors(config);
            assert!(e.contains(reason), "{config}: {e}");
        }
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        for class in ["FromDevice", "PollDevice"] {
            let e = Harness::errors(&format!("{class}(absent0, METHOD PCAP, BPF_FILTER \"\") -> Discard"));
            assert!(e.contains("absent0: cannot find the interface") && e.contains("`ip link` lists"), "{e}");
        }
    }
}
