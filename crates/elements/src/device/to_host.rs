//! ToHost: Ethernet frames for the host, by the interface that a FromHost has made.

use super::from_host::HostInterface;
use super::host::{self, Written};
use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element, read_handler};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends Ethernet frames to the host",
    manual: "The host receives the frames as if they had arrived at its interface DEVNAME, which a FromHost of the same \
             configuration makes. A frame for which the host has no room is dropped.",
    ports: "1/0",
    processing: "h/h",
    packets: "ether/",
    args: &[ArgSpec::required("DEVNAME", ArgType::String, "the interface, as the FromHost names it")],
    handlers: &[
        read_handler!("dev_name", "name of the interface", |e: &mut ToHost, _| e.name.clone()),
        read_handler!("drops", "frames that the host did not take", |e: &mut ToHost, _| e.drops),
    ],
    // After FromHost, whose interface it needs.
    phase: phase::DEFAULT + 1,
    ..Class::new("ToHost", "device", || Box::<ToHost>::default())
};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

#[derive(Default)]
struct ToHost {
    name: String,
    interface: Option<Arc<HostInterface>>,
    drops: u64,
}

impl ToHost {
    /// Gives the host a frame; or says why it did not get it.
    fn give(&mut self, frame: &[u8], cx: &Cx<'_>) -> Result<(), &'static str> {
        let Some(interface) = &self.interface else { return Err("interface is gone") };
        if frame.len() < ETHERNET {
            cx.report("packet too small", || "ToHost: packet too small".to_string());
            return Err("too small");
        }
        match host::write(&interface.tunnel, frame, cx) {
            Written::Yes => Ok(()),
            Written::NoRoom => Err("host has no room"),
            Written::Refused(reason) => Err(reason),
            Written::Gone => {
                self.interface = None;
                Err("interface is gone")
            }
        }
    }
}

impl Element for ToHost {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEVNAME", &mut self.name);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let mut made = cx.router().ids().filter_map(|id| cx.exported::<HostInterface>(id));
        self.interface = made.find(|i| i.name == self.name);
        match self.interface {
            Some(_) => Ok(()),
            None => {
                Err(format!("ToHost({}) requires an initialized FromHost with the same dev_name", self.name))
            }
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            if let Err(reason) = self.give(p.data(), cx) {
                self.drops += 1;
                cx.drop(p, reason);
            }
        }
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.interface = None;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn it_needs_the_interface_of_a_from_host() {
        for class in ["ToHost", "ToLinux"] {
            let e = Harness::errors(&format!("Idle -> {class}(fake0)"));
            assert!(
                e.contains("ToHost(fake0) requires an initialized FromHost with the same dev_name"),
                "{e}"
            );
        }
    }
}
