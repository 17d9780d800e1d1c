//! ToDevice: packets that leave by a network interface.
//!
//! A batch goes out in one system call. What the device has no room for waits here; nothing is lost silently. Read first:
//! `clickwork_device::PacketSender`.

use clickwork_device::{DeviceError, Fault, PacketSender, Sent, Stop};
use clickwork_packet::{BATCH_SIZE, Batch};
use clickwork_router::args::{ArgSpec, ArgType, Args, Word};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep, read_handler, write_handler};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets to a network interface",
    manual: "Pulls packets, which must begin with their link-level header, and sends them by the interface DEVNAME. A \
             packet that was sent leaves by output 0, if that is connected; one that the interface refused (it is longer \
             than the MTU, or the interface is down or gone) leaves by output 1, if connected, and is dropped otherwise. \
             While the interface has no room, packets wait. One that is removed is used again when it has been created \
             again. A FromDevice on the same interface does not receive them.",
    ports: "1/0-2",
    processing: "l/h",
    packets: "device(DEVNAME)/same",
    args: &[
        ArgSpec::required("DEVNAME", ArgType::String, "the network interface"),
        ArgSpec::keyword("DEBUG", ArgType::Bool, "false", "whether waiting for the interface is reported"),
        ArgSpec::keyword(
            "METHOD",
            ArgType::Choice(METHODS),
            "LINUX",
            "how packets are sent; one way for all",
        ),
        ArgSpec::keyword("BURST", ArgType::U32, "", "packets in a turn: 1 in ordered mode, else a batch"),
    ],
    handlers: &[
        read_handler!("debug", "whether waiting is reported", |e: &mut ToDevice, _| e.debug)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut ToDevice, text, _| {
                crate::values::store(&mut e.debug, text, "boolean")
            })),
        read_handler!("pulls", "how often packets were asked for", |e: &mut ToDevice, _| e.pulls),
        read_handler!("signal", "whether packets can be had upstream", |e: &mut ToDevice, cx| cx
            .is_active(&e.signal)),
        read_handler!("q", "whether packets wait for the interface", |e: &mut ToDevice, _| !e
            .waiting
            .is_empty()),
        read_handler!("count", "packets sent", |e: &mut ToDevice, _| e.count),
    ],
    task_handlers: true,
    ..Class::new("ToDevice", "device", || Box::<ToDevice>::default())
};

/// Words for METHOD. Each of them names a packet socket here, where Click has different code for each.
const METHODS: &[&str] = &["LINUX", "PCAP"];
/// How long to wait for a full device, first and at most. It doubles each time.
const FIRST_BACKOFF: Duration = Duration::from_micros(8);
const LONGEST_BACKOFF: Duration = Duration::from_micros(256);
/// The timer for an interface that is gone, and how often it is looked for.
const LOOK: usize = 1;
const LOOK_AFTER: Duration = Duration::from_secs(1);

#[derive(Default)]
struct ToDevice {
    name: String,
    debug: bool,
    burst: Option<u32>,
    sender: Option<PacketSender>,
    /// Pulled but not yet sent.
    waiting: Batch,
    signal: Signal,
    pulls: u64,
    count: u64,
    /// Packets still to be sent in this turn.
    left: usize,
    backoff: Duration,
    /// The interface is down, which has been said.
    down: bool,
}

/// Tells which interface a ToDevice writes to.
struct Writer(String);

impl ToDevice {
    /// Another ToDevice that writes to the same interface would mix its packets with ours out of the user's sight.
    fn check_only_writer(&self, cx: &Cx<'_>) -> Result<(), String> {
        let same = |id| cx.exported::<Writer>(id).is_some_and(|w| w.0 == self.name);
        match cx.router().ids().any(|id| id < cx.id() && same(id)) {
            true => Err(format!("duplicate writer for device '{}'", self.name)),
            false => Ok(()),
        }
    }

    /// Sends what waits. False if the device has no room for the rest.
    fn send(&mut self, cx: &mut Cx<'_>) -> bool {
        while !self.waiting.is_empty() {
            let Some(sender) = &mut self.sender else {
                self.fail(self.waiting.len(), "interface is gone", cx);
                return true;
            };
            let mut frames = [IoSlice::new(&[]); BATCH_SIZE];
            for (frame, p) in frames.iter_mut().zip(self.waiting.iter()) {
                *frame = IoSlice::new(p.data());
            }
            let Sent { count, stopped } = sender.send(&frames[..self.waiting.len()]);
            self.finish(count, cx);
            match stopped {
                None => {}
                Some(Stop::Full) => return false,
                Some(Stop::Refused(error)) => self.refused(&error, cx),
                Some(Stop::Failed(error)) => self.failed(&error, cx),
            }
        }
        true
    }

    /// The first `n` of those that wait are sent.
    fn finish(&mut self, n: usize, cx: &mut Cx<'_>) {
        if n == 0 {
            return;
        }
        self.count += n as u64;
        self.backoff = Duration::ZERO;
        if std::mem::take(&mut self.down) {
            cx.chatter(&format!("{}: {}: the interface is up again", cx.name(), self.name));
        }
        if n < self.waiting.len() {
            let sent = self.waiting.drain_front(n);
            match cx.outputs() {
                0 => sent.for_each(drop),
                _ => sent.for_each(|p| cx.emit(0, p)),
            }
        } else if cx.outputs() > 0 {
            cx.emit_batch(0, self.waiting.take());
        } else {
            cx.recycle(self.waiting.take());
        }
    }

    /// The first `n` of those that wait cannot be sent.
    fn fail(&mut self, n: usize, reason: &'static str, cx: &mut Cx<'_>) {
        self.waiting.drain_front(n).for_each(|p| cx.emit_or_drop(1, p, reason));
    }

    #[cold]
    fn refused(&mut self, error: &DeviceError, cx: &mut Cx<'_>) {
        cx.report("refused", || format!("{}: {error}", cx.name()));
        self.fail(1, "refused by interface", cx);
    }

    #[cold]
    fn failed(&mut self, error: &DeviceError, cx: &mut Cx<'_>) {
        let text = format!("{}: {error}", cx.name());
        match error.fault() {
            Fault::Down if std::mem::replace(&mut self.down, true) => {}
            Fault::Down => cx.chatter(&text),
            Fault::Vanished => {
                self.sender = None;
                cx.chatter(&text);
                cx.schedule_timer_after(LOOK, LOOK_AFTER);
            }
            _ => cx.report("cannot be sent", || text),
        }
        let reason = if error.fault() == Fault::Down { "interface is down" } else { "cannot be sent" };
        self.fail(1, reason, cx);
    }

    /// Looks whether an interface that was removed has been created again.
    fn look_for_it(&mut self, cx: &mut Cx<'_>) {
        match PacketSender::open(&self.name) {
            Ok(sender) => {
                (self.sender, self.down) = (Some(sender), false);
                cx.chatter(&format!("{}: {}: the interface is there again", cx.name(), self.name));
            }
            Err(error) => {
                if error.fault() != Fault::NoSuchDevice {
                    cx.report("cannot be opened", || format!("{}: {error}", cx.name()));
                }
                cx.schedule_timer_after(LOOK, LOOK_AFTER);
            }
        }
    }

    /// Waits before it tries again. A device without room still polls as writable, so the clock has to tell.
    fn back_off(&mut self, cx: &mut Cx<'_>) {
        self.backoff = (self.backoff * 2).clamp(FIRST_BACKOFF, LONGEST_BACKOFF);
        cx.schedule_timer_after(0, self.backoff);
        if self.debug {
            cx.chatter(&format!(
                "{} backing off for {} at {}",
                cx.name(),
                self.backoff.as_micros(),
                cx.now()
            ));
        }
    }
}

impl Element for ToDevice {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DEVNAME", &mut self.name).read("DEBUG", &mut self.debug);
        self.burst = args.get("BURST");
        if self.burst == Some(0) {
            args.error_in("BURST", "bad BURST");
        }
        if args.get::<Word>("METHOD").is_some_and(|word| !METHODS.contains(&word.0.as_str())) {
            args.error_in("METHOD", "bad METHOD: packets are sent by METHOD LINUX here");
        }
        if args.has("DEVNAME") && self.name.is_empty() {
            args.error("interface not set");
        }
        cx.export(Arc::new(Writer(self.name.clone())));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.check_only_writer(cx)?;
        self.sender = Some(PacketSender::open(&self.name).map_err(|e| e.to_string())?);
        self.signal = cx.upstream_empty_signal(0);
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if self.left == 0 {
            self.left = self.burst.map_or(cx.batch_limit(), |n| n as usize);
        }
        if self.waiting.is_empty() {
            self.pulls += 1;
            self.waiting = cx.pull(0, self.left);
        }
        let pulled = self.waiting.len();
        self.left = if pulled == 0 { 0 } else { self.left.saturating_sub(pulled) };
        if !self.send(cx) {
            self.back_off(cx);
            return TaskStep::Sleep;
        }
        match self.left {
            0 if pulled == 0 && !cx.is_active(&self.signal) => TaskStep::Sleep,
            0 => TaskStep::Again,
            _ => TaskStep::Continue,
        }
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        match slot {
            LOOK => self.look_for_it(cx),
            _ => cx.schedule_task(),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<ToDevice>(old) {
            (self.count, self.pulls) = (old.count, old.pulls);
            self.waiting = old.waiting.take();
            cx.schedule_task();
        }
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        cx.drop_batch(&mut self.waiting, "router stopped");
        self.sender = None;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn wrong_arguments_are_refused_each_with_its_reason() {
        for (config, reason) in [
            ("Idle -> ToDevice(e0, BURST 0)", "bad BURST"),
            ("Idle -> ToDevice(e0, METHOD DEVBPF)", "bad METHOD"),
            ("Idle -> ToDevice(\"\")", "interface not set"),
            ("Idle -> ToDevice(absent0)", "absent0: cannot find the interface"),
        ] {
            let e = Harness::errors(config);
            assert!(e.contains(reason), "{config}: {e}");
        }
    }

    #[test]
    fn an_interface_has_one_writer() {
        let e = Harness::errors("Idle -> ToDevice(absent0); Idle -> ToDevice(absent0)");
        assert!(e.contains("duplicate writer for device 'absent0'"), "{e}");
    }
}
