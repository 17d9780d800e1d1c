//! RouterLink: the wire between routers that a tool has combined into one configuration.
//!
//! Click's tools make such elements, and no driver of Click's can run them. Here a combination runs: the whole network in
//! one process, which is what simulations are for.

use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Batch, Packet, PacketType};
use clickwork_router::args::{ArgSpec, ArgType, Args, split_words};
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep};

/// The class facts.
pub static CLASS: Class = Class {
    help: "the wire between devices of combined routers",
    manual: "clickwork combine puts it in the place of the ToDevice elements that packets leave one router by, which are its \
             inputs, and of the FromDevice elements that they enter another by, which are its outputs. Two arguments say \
             what each port stands for, inputs first: the router, the element and its class, then its configuration.\n\n\
             It pulls packets from its inputs by turns and pushes a copy out of every output. As on a wire, nothing arrives \
             at the device that sent it, unless the link leads nowhere else. What arrives is a frame as a FromDevice has it: \
             no annotation is left, the MAC header is set, and the packet type says whether the destination address is that of one host, a \
             group or all.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> RouterLink(a out ToDevice, eth0, b in FromDevice, eth1) \
              -> Discard",
    ports: "1-/1-",
    processing: "l/h",
    packets: "any/each unmarked unpainted",
    flags: "S3",
    args: &[ArgSpec::rest(
        "STANDS_FOR",
        ArgType::Other("ROUTER ELEMENT CLASS, CONFIG"),
        "what each port stands for, inputs first",
    )],
    ..Class::new("RouterLink", "device", || Box::<RouterLink>::default())
};

#[derive(Default)]
struct RouterLink {
    /// By input: the outputs that its packets arrive at.
    receivers: Vec<Vec<usize>>,
    signals: Vec<Signal>,
    /// The input whose turn it is.
    next: usize,
}

/// The device that a port stands for: its router, and the first argument of its configuration, which may be a text.
fn device(pair: &[String; 2]) -> Option<(String, String)> {
    let [router, _, _] = <[String; 3]>::try_from(split_words(&pair[0])).ok()?;
    let config = pair[1].trim_matches('"').replace("\\\"", "");
    let name = config.split(',').next().unwrap_or_default().trim();
    Some((router, name.strip_prefix("DEVNAME ").unwrap_or(name).trim().to_string()))
}

impl Element for RouterLink {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let (pairs, rest) = args.rest().as_chunks::<2>();
        let devices: Option<Vec<_>> = pairs.iter().map(device).collect();
        let ports = cx.inputs() + cx.outputs();
        let Some(devices) = devices.filter(|d| rest.is_empty() && d.len() == ports) else {
            return args.error(format!(
                "for {ports} ports there must be {} arguments: what each stands for ('ROUTER ELEMENT CLASS'), and its configuration",
                2 * ports
            ));
        };
        let (senders, receivers) = devices.split_at(cx.inputs());
        let others = |sender: &(String, String)| {
            let others: Vec<usize> = (0..receivers.len()).filter(|&n| receivers[n] != *sender).collect();
            if others.is_empty() { (0..receivers.len()).collect() } else { others }
        };
        self.receivers = senders.iter().map(others).collect();
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signals = (0..cx.inputs()).map(|port| cx.upstream_empty_signal(port)).collect();
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        for _ in 0..cx.inputs() {
            let input = self.next;
            self.next = (input + 1) % cx.inputs();
            let batch = cx.pull(input, cx.batch_limit());
            if !batch.is_empty() {
                self.send(input, batch, cx);
                return TaskStep::Again;
            }
        }
        let more = self.signals.iter().any(|signal| cx.is_active(signal));
        if more { TaskStep::Again } else { TaskStep::Sleep }
    }
}

impl RouterLink {
    fn send(&mut self, input: usize, mut batch: Batch, cx: &mut Cx<'_>) {
        let Some((&last, others)) = self.receivers[input].split_last() else { return };
        batch.iter_mut().for_each(arrive);
        for &output in others {
            cx.emit_batch(output, batch.iter().cloned().collect());
        }
        cx.emit_batch(last, batch);
    }
}

/// Makes a packet what it is when it comes from a device.
fn arrive(p: &mut Packet) {
    p.clear_annotations();
    p.set_mac_offset(0);
    let to = p.data().first_chunk::<6>().map(|to| EtherAddress(*to));
    p.set_packet_type(match to {
        Some(to) if to.is_broadcast() => PacketType::Broadcast,
        Some(to) if to.is_multicast() => PacketType::Multicast,
        _ => PacketType::Host,
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, PacketType};

    fn frame(to: u8, from: u8) -> Packet {
        let mut p = Packet::new(&[[to; 6], [from; 6]].concat());
        p.set_paint(from);
        p
    }

    #[test]
    fn frames_arrive_everywhere_but_where_they_came_from() {
        let config = "a :: Source -> Queue -> l :: RouterLink(a t ToDevice, eth0, b t ToDevice, \"eth0, X 1\", a f FromDevice, \
                      DEVNAME eth0, b f FromDevice, eth0, c f FromDevice, eth0); b :: Source -> Queue -> [1] l; \
                      l [0] -> ka :: Sink; l [1] -> kb :: Sink; l [2] -> kc :: Sink";
        for mut t in [Harness::new(config), Harness::batched(config)] {
            t.push("a", 0, [frame(9, 1), frame(255, 1), frame(2, 1)]);
            t.push("b", 0, [frame(3, 2)]);
            t.run();
            assert_eq!([t.take("ka").len(), t.take("kb").len()], [1, 3]);
            let seen = t.take("kc");
            let mut kinds: Vec<_> =
                seen.iter().map(|p| (p.data()[6], p.data()[0], p.packet_type())).collect();
            kinds.sort_by_key(|(from, to, _)| (*from, *to));
            let host = PacketType::Host;
            let expected = [
                (1, 2, host),
                (1, 9, PacketType::Multicast),
                (1, 255, PacketType::Broadcast),
                (2, 3, PacketType::Multicast),
            ];
            assert_eq!(kinds, expected);
            assert!(seen.iter().all(|p| p.paint() == 0 && p.mac_offset() == Some(0)));
        }
    }

    #[test]
    fn a_link_back_to_the_device_itself_is_one() {
        let mut t = Harness::new(
            "a :: Source -> Queue -> RouterLink(a t ToDevice, e, a f FromDevice, e) -> k :: Sink",
        );
        t.push("a", 0, [frame(2, 1)]);
        t.run();
        assert_eq!(t.take("k").len(), 1);
    }

    #[test]
    fn ports_must_be_described() {
        for config in ["", "a t ToDevice, e", "a t, e, b f FromDevice, e", "a t T, e, b f F, e, c f F, e"] {
            let errors = Harness::errors(&format!("Idle -> RouterLink({config}) -> Discard"));
            assert!(errors.contains("there must be 4 arguments"), "{errors}");
        }
    }
}
