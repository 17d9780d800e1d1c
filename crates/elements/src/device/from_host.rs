//! FromHost: Ethernet frames that the host sends to an interface of ours. ToHost is the other direction.

use super::host::{self, Settings};
use clickwork_device::{Fault, Tunnel, TunnelKind};
use clickwork_router::args::{ArgSpec, ArgType, Args, HostOrPrefix};
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, read_handler};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "receives Ethernet frames from the host",
    manual: "Makes the interface DEVNAME of the host, with the addresses DST and DST6, and with GATEWAY a default route through it. \
             Frames that the host sends to it are emitted, with their IP header marked if they have one, and not faster \
             than the queues downstream take them. ToHost with the same DEVNAME sends frames to the host. The interface \
             goes away with the router. This needs root, or the capability CAP_NET_ADMIN.",
    ports: "0/1",
    processing: "h/h",
    packets: "/new ether",
    args: &[
        ArgSpec::required("DEVNAME", ArgType::String, "name of the interface"),
        ArgSpec::positional("DST", ArgType::IpPrefix, "", "the host's address and network"),
        ArgSpec::keyword(
            "GATEWAY",
            ArgType::IpAddr,
            "",
            "where the host sends what it has no other route for",
        ),
        ArgSpec::keyword("ETHER", ArgType::EtherAddr, "", "the host's Ethernet address"),
        ArgSpec::keyword("HEADROOM", ArgType::U32, "30", "free bytes before a packet"),
        ArgSpec::keyword("MTU", ArgType::U32, "1500", "largest IP packet"),
        ArgSpec::keyword("DST6", ArgType::Ip6Prefix, "", "the host's IPv6 address and network"),
    ],
    handlers: &[
        read_handler!("dev_name", "name of the interface", |e: &mut FromHost, _| e.name.clone()),
        read_handler!("signal", "whether there is room downstream", |e: &mut FromHost, cx| cx
            .is_active(&e.room)),
    ],
    ..Class::new("FromHost", "device", || Box::<FromHost>::default())
};

/// The interface, for ToHost to find.
pub struct HostInterface {
    /// The name as configured.
    pub name: String,
    /// The interface.
    pub tunnel: Tunnel,
}

#[derive(Default)]
struct FromHost {
    name: String,
    settings: Option<Settings>,
    interface: Option<Arc<HostInterface>>,
    room: Signal,
}

impl FromHost {
    fn watch(&self, read: bool, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(interface) = &self.interface else { return Ok(()) };
        let ready = Ready { read, write: false };
        cx.watch(interface.tunnel.as_fd(), ready).map_err(|e| format!("{}: cannot watch it: {e}", self.name))
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        if let Some(interface) = self.interface.take() {
            cx.unwatch(interface.tunnel.as_fd().as_raw_fd());
        }
    }
}

impl Element for FromHost {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEVNAME", &mut self.name);
        if args.has("DEVNAME") && self.name.is_empty() {
            args.error("must specify device name");
        }
        let mut settings = Settings::read(args, "DST", TunnelKind::Tap);
        settings.address6 = args.get("DST6").map(|HostOrPrefix(prefix)| prefix);
        self.settings = Some(settings);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(settings) = &self.settings else { return Ok(()) };
        let tunnel = settings.open(TunnelKind::Tap, &self.name)?;
        let interface = Arc::new(HostInterface { name: self.name.clone(), tunnel });
        cx.export(Arc::clone(&interface));
        self.interface = Some(interface);
        self.room = cx.downstream_full_signal(0);
        self.watch(true, cx)
    }

    fn selected(&mut self, _: RawFd, _: Ready, cx: &mut Cx<'_>) {
        for _ in 0..cx.batch_limit() {
            let (Some(interface), Some(settings)) = (&self.interface, &self.settings) else { return };
            match settings.read_packet(&interface.tunnel, cx) {
                Ok(Some(mut p)) => {
                    host::mark(&mut p, TunnelKind::Tap);
                    cx.emit(0, p);
                }
                Ok(None) => break,
                Err(error) => {
                    cx.report("receiving failed", || format!("{}: {error}", cx.name()));
                    if error.fault() == Fault::Vanished {
                        self.close(cx);
                    }
                    return;
                }
            }
        }
        // The task waits for room, and then watches again.
        if !cx.is_active(&self.room)
            && let Err(e) = self.watch(false, cx)
        {
            cx.chatter(&e);
        }
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if cx.is_active(&self.room)
            && let Err(e) = self.watch(true, cx)
        {
            cx.chatter(&e);
        }
        TaskStep::Sleep
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
            ("FromHost(\"\") -> Discard", "must specify device name"),
            ("FromHost(h, 10.0.0.1/24, GATEWAY 10.0.1.1) -> Discard", "bad GATEWAY"),
            ("FromLinux(h, DST6 10.0.0.1/24) -> Discard", "DST6"),
        ] {
            let e = Harness::errors(config);
            assert!(e.contains(reason), "{config}: {e}");
        }
    }
}
