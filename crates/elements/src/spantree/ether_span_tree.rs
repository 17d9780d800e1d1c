//! EtherSpanTree: keeps a switch from forwarding in circles (IEEE 802.1D-1998 §8).
//!
//! The protocol is in `bridge.rs` and `events.rs`; here it is given frames and time, and its decisions reach the Suppressors
//! and the switch through the handles that they export.

use super::bpdu::{self, BridgeId};
use super::bridge::Bridge;
use super::port::State;
use super::setup::{Setup, is_cost, is_priority};
use crate::ethernet::switch_control::SwitchControl;
use crate::named::element_of;
use crate::sched::suppressor::Gates;
use clickwork_packet::{Batch, DEFAULT_HEADROOM, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::handler::Members;
use clickwork_router::router::ElementId;
use clickwork_router::{Class, Cx, Element, Handler, read_handler, read_param_handler, write_handler};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "runs the spanning tree protocol for an Ethernet switch",
    manual: "Takes the frames that other bridges send to 01-80-C2-00-00-00, one input for each port of the switch, and \
             sends those of this bridge by the output of the same number. All bridges together choose a root and a tree of \
             LANs around it (IEEE 802.1D-1998); ports that are not part of the tree are blocked, and come in when the tree \
             breaks.\n\n\
             SWITCH is an EtherSwitch or ListenEtherSwitch. INPUT_SUPPRESSOR and OUTPUT_SUPPRESSOR are Suppressors before \
             and behind it, which the element closes and opens: both are closed while a port is blocked and while it \
             listens; while it learns only the one behind is closed, and the switch learns from the port's frames without \
             forwarding them. While the topology changes, the switch forgets stations after the forward delay.\n\n\
             ADDR is the address of the bridge, from which its frames come. The bridge with the least BRIDGE_PRIORITY \
             becomes the root, among equals the one with the least ADDR. PATH_COST and PORT_PRIORITY are a number for all \
             ports or one for each. The times are those of the network if this bridge is its root; twice the FORWARD_DELAY \
             less one second must be at least MAX_AGE, and that at least twice the HELLO_TIME and one second.\n\n\
             After two forward delays all ports that are part of the tree forward, if nothing has changed meanwhile; after \
             the loss of a link MAX_AGE may pass before that.",
    example: "st :: EtherSpanTree(2:0:0:0:0:1, in, out, sw); in, out :: Suppressor; \
              Idle -> in -> sw :: EtherSwitch -> out -> Discard; Idle -> [1] in [1] -> [1] sw [1] -> [1] out [1] -> Discard; \
              Idle -> st -> Discard; Idle -> [1] st [1] -> Discard",
    ports: "-/=",
    processing: "h/h",
    packets: "ether/new ether",
    args: &[
        ArgSpec::required("ADDR", ArgType::EtherAddr, "address of the bridge"),
        ArgSpec::required("INPUT_SUPPRESSOR", ArgType::Element, "the Suppressor before the switch"),
        ArgSpec::required("OUTPUT_SUPPRESSOR", ArgType::Element, "the Suppressor behind the switch"),
        ArgSpec::required("SWITCH", ArgType::Element, "the switch"),
        ArgSpec::keyword("BRIDGE_PRIORITY", ArgType::U16, "57005", "the bridge with the least is the root"),
        ArgSpec::keyword("PATH_COST", ArgType::Other("numbers"), "4", "cost of each port, from 1"),
        ArgSpec::keyword(
            "PORT_PRIORITY",
            ArgType::Other("numbers"),
            "128",
            "of parallel links the one with the least is used; multiples of 16 below 256",
        ),
        ArgSpec::keyword("HELLO_TIME", ArgType::Seconds, "2", "between messages, 1 to 10 seconds"),
        ArgSpec::keyword("MAX_AGE", ArgType::Seconds, "20", "how long messages hold, 6 to 40 seconds"),
        ArgSpec::keyword(
            "FORWARD_DELAY",
            ArgType::Seconds,
            "15",
            "how long ports listen, and then learn, 4 to 30 seconds",
        ),
    ],
    handlers: HANDLERS,
    ..Class::new("EtherSpanTree", "spantree", || Box::<EtherSpanTree>::default())
};

const HANDLERS: &[Handler] = &[
    read_handler!(
        "msgs",
        "the best message of another bridge on each port, then the way to the root",
        |e: &mut EtherSpanTree, _| e.bridge.messages()
    ),
    read_handler!("dump", "the whole state, for people", |e: &mut EtherSpanTree, _| e.bridge.dump()),
    read_handler!("bridge_id", "own identifier: priority and address", |e: &mut EtherSpanTree, _| e
        .bridge
        .id()
        .to_string()),
    read_handler!("bridge_priority", "own priority", |e: &mut EtherSpanTree, _| e.bridge.id().priority())
        .and_write(write_handler!("", "", |e: &mut EtherSpanTree, text, cx| e.set_priority(text, cx))),
    read_handler!("root", "identifier of the root", |e: &mut EtherSpanTree, _| e.bridge.root().to_string()),
    read_handler!("root_cost", "cost of the way to the root", |e: &mut EtherSpanTree, _| e
        .bridge
        .root_cost()),
    read_handler!(
        "root_port",
        "the port to the root; -1 if this bridge is it",
        |e: &mut EtherSpanTree, _| e.bridge.root_port_number()
    ),
    read_handler!("changes", "how often the topology has changed", |e: &mut EtherSpanTree, _| e
        .bridge
        .changes()),
    read_handler!("topology_change", "whether the topology changes now", |e: &mut EtherSpanTree, _| e
        .bridge
        .short_ageing()
        .is_some()),
    read_param_handler!("state", "what the port does", |e: &mut EtherSpanTree, text, _| e
        .port(text)
        .map(|port| e.bridge.ports()[port].state.to_string()))
    .numbered(Members::Ports),
    read_param_handler!("role", "what the port is in the tree", |e: &mut EtherSpanTree, text, _| e
        .port(text)
        .map(|port| e.bridge.role(port).to_string()))
    .numbered(Members::Ports),
    read_param_handler!("path_cost", "the port's cost", |e: &mut EtherSpanTree, text, _| e
        .port(text)
        .map(|port| e.bridge.ports()[port].path_cost))
    .numbered(Members::Ports)
    .and_write(write_handler!("", "", |e: &mut EtherSpanTree, text, cx| e.set_path_cost(text, cx))),
    read_param_handler!("port_priority", "the port's priority", |e: &mut EtherSpanTree, text, _| e
        .port(text)
        .map(|port| e.bridge.ports()[port].id.priority()))
    .numbered(Members::Ports)
    .and_write(write_handler!("", "", |e: &mut EtherSpanTree, text, cx| e.set_port_priority(text, cx))),
    read_param_handler!("enabled", "whether the port takes part", |e: &mut EtherSpanTree, text, _| e
        .port(text)
        .map(|port| e.bridge.ports()[port].is_enabled()))
    .numbered(Members::Ports)
    .and_write(write_handler!("", "", |e: &mut EtherSpanTree, text, cx| e.set_enabled(text, cx))),
];

struct EtherSpanTree {
    setup: Setup,
    /// The Suppressors before and behind the switch, and the switch, as configured and as found.
    named: Option<[ElementId; 3]>,
    gates: [Arc<Gates>; 2],
    switch: Arc<SwitchControl>,
    bridge: Bridge,
    started: bool,
    /// The states that gates and switch have been told.
    told: Vec<State>,
}

impl Default for EtherSpanTree {
    fn default() -> EtherSpanTree {
        let setup = Setup::default();
        EtherSpanTree {
            bridge: Bridge::new(BridgeId::default(), setup.times, &[]),
            setup,
            named: None,
            gates: Default::default(),
            switch: Arc::default(),
            started: false,
            told: Vec::new(),
        }
    }
}

// ---- what it is told

/// The element that an argument names, if it is of the class.
fn named(args: &mut Args, name: &str, classes: &[&str], cx: &Cx<'_>) -> Option<ElementId> {
    element_of(args, name, classes[0], |id| classes.contains(&cx.router().info(id).class.name), cx)
}

fn exported<T: Any + Send + Sync>(id: ElementId, cx: &Cx<'_>) -> Result<Arc<T>, String> {
    cx.exported(id).ok_or_else(|| format!("'{}' is not configured", cx.router().info(id).name))
}

/// What messages about ports are counted as, from state -1 on.
const CHANGES: [&str; 5] =
    ["disabled ports", "blocking ports", "listening ports", "learning ports", "forwarding ports"];

impl EtherSpanTree {
    /// A port's number, from the text of a handler.
    fn port(&self, text: &str) -> Result<usize, String> {
        let port = crate::values::parse::<u32>(text, "").ok().map(|port| port as usize);
        let port = port.filter(|&port| port < self.bridge.ports().len());
        port.ok_or_else(|| format!("no port '{}'", text.trim()))
    }

    /// A port's number and a value behind it.
    fn port_and<'t>(&self, text: &'t str) -> Result<(usize, &'t str), String> {
        let (port, value) = text.split_once(' ').unwrap_or((text, ""));
        Ok((self.port(port)?, value.trim()))
    }

    fn set_priority(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let priority = crate::values::parse(text, "integer between 0 and 65535")?;
        self.manage(cx, |bridge, now| bridge.set_priority(priority, now));
        Ok(())
    }

    fn set_path_cost(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let (port, value) = self.port_and(text)?;
        let cost = crate::values::parse(value, "").ok().filter(|&cost| is_cost(cost));
        let cost = cost.ok_or("expected path cost")?;
        self.manage(cx, |bridge, now| bridge.set_path_cost(port, cost, now));
        Ok(())
    }

    fn set_port_priority(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let (port, value) = self.port_and(text)?;
        let priority = crate::values::parse(value, "").ok().filter(|&priority| is_priority(priority));
        let priority = priority.ok_or("expected multiple of 16 below 256")? as u8;
        self.manage(cx, |bridge, now| bridge.set_port_priority(port, priority, now));
        Ok(())
    }

    fn set_enabled(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let (port, value) = self.port_and(text)?;
        let enabled = crate::values::parse(value, "boolean")?;
        self.manage(cx, |bridge, now| match enabled {
            true => bridge.enable_port(port, now),
            false => bridge.disable_port(port, now),
        });
        Ok(())
    }

    /// Changes the bridge from outside. What it has to say waits for the timer.
    fn manage(&mut self, cx: &mut Cx<'_>, change: impl FnOnce(&mut Bridge, Timestamp)) {
        let now = cx.steady();
        self.start(now);
        change(&mut self.bridge, now);
        self.tell_ports(cx);
        cx.schedule_timer_after(0, Duration::ZERO);
    }

    /// Begins, if that has not happened.
    fn start(&mut self, now: Timestamp) {
        if !std::mem::replace(&mut self.started, true) {
            self.bridge.initialise(now);
        }
    }
}

// ---- what it tells

impl EtherSpanTree {
    /// Sends what the bridge has to say, and obeys it.
    fn settle(&mut self, cx: &mut Cx<'_>) {
        for (port, message) in self.bridge.take_messages() {
            let bytes = bpdu::frame(self.setup.address, &message);
            cx.emit(port, Packet::with_room(DEFAULT_HEADROOM, &bytes, 0));
        }
        self.tell_ports(cx);
        if let Some(at) = self.bridge.next_timer() {
            cx.schedule_timer_at(0, at);
        }
    }

    fn tell_ports(&mut self, cx: &mut Cx<'_>) {
        for port in 0..self.told.len() {
            let (was, is) = (self.told[port], self.bridge.ports()[port].state);
            if was != is {
                self.tell(port, is, cx);
                let (was, is) = (was.number(), is.number());
                let kind = usize::try_from(is + 1).map_or("changes", |n| CHANGES[n.min(4)]);
                cx.report(kind, || format!("Changing port {port} from {was} to {is}"));
            }
        }
        self.switch.set_short_ageing(self.bridge.short_ageing());
    }

    fn tell(&mut self, port: usize, state: State, cx: &mut Cx<'_>) {
        let [before, behind] = &self.gates;
        before.set(port, matches!(state, State::Learning | State::Forwarding), cx);
        behind.set(port, state == State::Forwarding, cx);
        self.switch.set_learn_only(port, state == State::Learning);
        self.told[port] = state;
    }
}

impl Element for EtherSpanTree {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.setup = Setup::read(args, cx.inputs());
        let before = named(args, "INPUT_SUPPRESSOR", &["Suppressor"], cx);
        let behind = named(args, "OUTPUT_SUPPRESSOR", &["Suppressor"], cx);
        let switch = named(args, "SWITCH", &["EtherSwitch", "ListenEtherSwitch"], cx);
        self.named =
            before.zip(behind).zip(switch).map(|((before, behind), switch)| [before, behind, switch]);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some([before, behind, switch]) = self.named else { return Ok(()) };
        self.gates = [exported(before, cx)?, exported(behind, cx)?];
        self.switch = exported(switch, cx)?;
        let ports = cx.inputs();
        let sizes = [self.gates[0].len(), self.gates[1].len(), self.switch.ports()];
        if let Some((id, size)) = [before, behind, switch].iter().zip(sizes).find(|(_, size)| *size != ports)
        {
            let name = &cx.router().info(*id).name;
            return Err(format!("'{name}' has {size} ports, the spanning tree has {ports}"));
        }
        let id = BridgeId::new(self.setup.priority, self.setup.address);
        self.bridge = Bridge::new(id, self.setup.times, &self.setup.ports);
        self.told = vec![State::Blocking; ports];
        (0..ports).for_each(|port| self.tell(port, State::Blocking, cx));
        cx.schedule_timer_after(0, Duration::ZERO);
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let now = cx.steady();
        self.start(now);
        for p in batch.take() {
            let message = bpdu::parse(p.data());
            if let Err(reason) = message.and_then(|message| self.bridge.receive(port, &message, now)) {
                cx.drop(p, reason);
            }
        }
        self.settle(cx);
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = cx.steady();
        self.start(now);
        self.bridge.run(now);
        self.settle(cx);
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<EtherSpanTree>(old)
            && old.setup == self.setup
            && old.started
        {
            (self.bridge, self.started) = (old.bridge.clone(), true);
            (0..self.told.len()).for_each(|port| self.tell(port, self.bridge.ports()[port].state, cx));
            self.tell_ports(cx);
        }
    }
}
