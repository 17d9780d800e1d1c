//! KernelTun and KernelTap: the host as a neighbour, through a TUN or TAP interface of its own.

use super::host::{self, Settings, Written};
use clickwork_device::{Fault, Tunnel, TunnelKind};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, Handler, Ready, TaskStep, read_handler};
use std::os::fd::{AsFd, AsRawFd, RawFd};

const MANUAL: &str = "Makes an interface of the host with the address ADDR, and with GATEWAY a default route through it. What \
                      the host sends to the interface leaves by output 0; what enters, the host receives. TAP false: IP \
                      packets, with their IP header marked; what is not IP leaves by output 1, if connected. TAP true: \
                      Ethernet frames. Without DEVNAME the kernel chooses the name; the handler dev_name tells. The \
                      interface goes away with the router. This needs root, or the capability CAP_NET_ADMIN.";

const ARGS: &[ArgSpec] = &[
    ArgSpec::required("ADDR", ArgType::IpPrefix, "the host's address and network"),
    ArgSpec::positional(
        "GATEWAY",
        ArgType::IpAddr,
        "",
        "where the host sends what it has no other route for",
    ),
    ArgSpec::keyword("TAP", ArgType::Bool, "", "Ethernet frames instead of IP packets"),
    ArgSpec::keyword("HEADROOM", ArgType::U32, "", "free bytes before a packet; 28, or 30 with TAP"),
    ArgSpec::keyword("BURST", ArgType::U32, "", "packets read at a time: 1 in ordered mode, else a batch"),
    ArgSpec::keyword("ETHER", ArgType::EtherAddr, "", "the host's Ethernet address"),
    ArgSpec::keyword(
        "IGNORE_QUEUE_OVERFLOWS",
        ArgType::Bool,
        "false",
        "whether only the first packet that the host has no room for is reported",
    ),
    ArgSpec::keyword("MTU", ArgType::U32, "1500", "largest IP packet"),
    ArgSpec::keyword("DEVNAME", ArgType::String, "", "name of the interface").aliases(&["DEV_NAME"]),
];

const HANDLERS: &[Handler] = &[
    read_handler!("dev_name", "name of the interface", |e: &mut KernelTun, _| e.device_name()),
    read_handler!("selected_calls", "how often there was something to read", |e: &mut KernelTun, _| e
        .selected_calls),
    read_handler!("packets", "packets read", |e: &mut KernelTun, _| e.packets),
];

const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class {
        manual: MANUAL,
        ports: "0-1/1-2",
        processing: "a/h",
        flow: "x/y",
        args: ARGS,
        handlers: HANDLERS,
        task_handlers: true,
        ..Class::new(name, "device", make)
    }
}

/// The class facts of KernelTun.
pub static KERNEL_TUN: Class = Class {
    help: "exchanges IP packets with the host",
    packets: "ip/any",
    ..class("KernelTun", || Box::new(KernelTun::new(TunnelKind::Tun)))
};

/// The class facts of KernelTap.
pub static KERNEL_TAP: Class = Class {
    help: "exchanges Ethernet frames with the host",
    packets: "ether/new ether,any",
    ..class("KernelTap", || Box::new(KernelTun::new(TunnelKind::Tap)))
};

struct KernelTun {
    kind: TunnelKind,
    settings: Option<Settings>,
    name: String,
    burst: Option<u32>,
    ignore_overflows: bool,
    tunnel: Option<Tunnel>,
    signal: Signal,
    selected_calls: u64,
    packets: u64,
    overflow_told: bool,
}

impl KernelTun {
    fn new(kind: TunnelKind) -> KernelTun {
        KernelTun {
            kind,
            settings: None,
            name: String::new(),
            burst: None,
            ignore_overflows: false,
            tunnel: None,
            signal: Signal::idle(),
            selected_calls: 0,
            packets: 0,
            overflow_told: false,
        }
    }

    fn device_name(&self) -> String {
        self.tunnel.as_ref().map_or_else(|| self.name.clone(), |t| t.name().to_string())
    }

    /// `KernelTun(tun0)`, as Click begins its messages.
    fn who(&self, cx: &Cx<'_>) -> String {
        format!("{}({})", cx.info().class_name, self.device_name())
    }

    fn watch(&self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(tunnel) = &self.tunnel else { return Ok(()) };
        cx.watch(tunnel.as_fd(), Ready { read: true, write: false })
            .map_err(|e| format!("{}: cannot watch it: {e}", tunnel.name()))
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        if let Some(tunnel) = self.tunnel.take() {
            cx.unwatch(tunnel.as_fd().as_raw_fd());
        }
    }

    fn read_one(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let (tunnel, settings) = (self.tunnel.as_ref()?, self.settings.as_ref()?);
        match settings.read_packet(tunnel, cx) {
            Ok(p) => p,
            Err(error) => {
                cx.report("receiving failed", || format!("{}: {error}", self.who(cx)));
                if error.fault() == Fault::Vanished {
                    self.close(cx);
                }
                None
            }
        }
    }

    /// The bytes of a packet that the host is to get, or why it gets none: in Click's words, and short.
    fn checked<'p>(&self, p: &'p Packet) -> Result<&'p [u8], (&'static str, &'static str)> {
        match self.kind {
            TunnelKind::Tap if p.len() < 14 => Err(("packet too small", "too small")),
            TunnelKind::Tap => Ok(p.data()),
            TunnelKind::Tun => match p.network_header() {
                Some(ip) if ip.len() >= 20 => match ip[0] >> 4 {
                    4 | 6 => Ok(ip),
                    _ => Err(("unknown IP version", "not IP")),
                },
                _ => Err(("no network header", "no network header")),
            },
        }
    }

    fn give(&mut self, p: Packet, cx: &mut Cx<'_>) {
        let Some(tunnel) = &self.tunnel else { return cx.drop(p, "interface is gone") };
        let bytes = match self.checked(&p) {
            Ok(bytes) => bytes,
            Err((text, reason)) => {
                cx.report(text, || format!("{}: {text}", self.who(cx)));
                return cx.drop(p, reason);
            }
        };
        let mtu = self.settings.as_ref().map_or(host::MTU, |s| s.mtu);
        let link_header = if self.kind == TunnelKind::Tap { 14 } else { 0 };
        if bytes.len() - link_header > mtu {
            let who = self.who(cx);
            cx.report("packet larger than MTU", || format!("{who}: packet larger than MTU ({mtu})"));
            return cx.drop(p, "larger than MTU");
        }
        match host::write(tunnel, bytes, cx) {
            Written::Yes => {}
            Written::NoRoom => self.overflow(p, cx),
            Written::Refused(reason) => cx.drop(p, reason),
            Written::Gone => {
                self.close(cx);
                cx.drop(p, "interface is gone");
            }
        }
    }

    #[cold]
    fn overflow(&mut self, p: Packet, cx: &mut Cx<'_>) {
        if !(self.ignore_overflows && self.overflow_told) {
            cx.report("no room", || format!("{}: write failed: no room", self.who(cx)));
        }
        self.overflow_told = true;
        cx.drop(p, "host has no room");
    }
}

impl Element for KernelTun {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut tap = self.kind == TunnelKind::Tap;
        args.read("TAP", &mut tap)
            .read("IGNORE_QUEUE_OVERFLOWS", &mut self.ignore_overflows)
            .read("DEVNAME", &mut self.name);
        self.kind = if tap { TunnelKind::Tap } else { TunnelKind::Tun };
        self.burst = args.get("BURST");
        if self.burst == Some(0) {
            args.error_in("BURST", "BURST must be >= 1");
        }
        self.settings = Some(Settings::read(args, "ADDR", self.kind));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(settings) = &self.settings {
            self.tunnel = Some(settings.open(self.kind, &self.name)?);
        }
        self.watch(cx)?;
        if cx.input_is_pull(0) {
            self.signal = cx.upstream_empty_signal(0);
            cx.schedule_task();
        }
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        batch.drain().for_each(|p| self.give(p, cx));
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let mut batch = cx.pull(0, cx.batch_limit());
        let is_idle = batch.is_empty() && !cx.is_active(&self.signal);
        batch.drain().for_each(|p| self.give(p, cx));
        cx.recycle(batch);
        if is_idle { TaskStep::Sleep } else { TaskStep::Again }
    }

    fn selected(&mut self, _: RawFd, _: Ready, cx: &mut Cx<'_>) {
        self.selected_calls += 1;
        for _ in 0..self.burst.map_or(cx.batch_limit(), |n| n as usize) {
            let Some(mut p) = self.read_one(cx) else { return };
            self.packets += 1;
            if host::mark(&mut p, self.kind) || self.kind == TunnelKind::Tap {
                cx.emit(0, p);
            } else {
                cx.emit_or_drop(1, p, "not IP");
            }
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<KernelTun>(old) {
            (self.packets, self.selected_calls) = (old.packets, old.selected_calls);
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
            ("KernelTun(10.0.0.1/24, 10.0.1.1) -> Discard", "bad GATEWAY"),
            ("KernelTun(10.0.0.1/24, MTU 19) -> Discard", "MTU must be at least 20"),
            ("KernelTap(10.0.0.1/24, HEADROOM 8193) -> Discard", "HEADROOM too big"),
            ("KernelTun(10.0.0.1/24, BURST 0) -> Discard", "BURST must be >= 1"),
            ("KernelTun(10.0.0.1) -> Discard", "ADDR: parse error"),
        ] {
            let e = Harness::errors(config);
            assert!(e.contains(reason), "{config}: {e}");
        }
    }
}
