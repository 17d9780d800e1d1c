//! What must hold for any frames that reach the IP router of `examples/ip-router.click`: it does not panic, and each
//! packet is accounted for. The fuzz target runs it on made-up frames, a test of `clickwork` on hostile ones.

use clickwork_lang::{Graph, Options as LangOptions, elaborate};
use clickwork_packet::{BATCH_SIZE, Batch, Packet, Timestamp};
use clickwork_router::{Clock, Driver, ElementId, Endpoint, Log, Options, Registry, Router, build};
use clickwork_source::Sources;
use std::sync::Arc;
use std::time::Duration;

const CONFIG: &str = include_str!("../../examples/ip-router.click");

/// Sources and sinks instead of files; and elements that do nothing where packets are to be counted.
const REPLACED: &[(&str, &str)] = &[
    ("FromDump($IN0, TIMING true, STOP true)", "in0 :: Idle"),
    ("FromDump($IN1, TIMING true, STOP true)", "in1 :: Idle"),
    ("ToDump($OUT0)", "Discard"),
    ("ToDump($OUT1)", "Discard"),
    ("ToDump($HOST, ENCAP IP)", "Discard"),
    ("DriverManager(wait_stop 2, wait 0.1s, stop);", ""),
    ("IPFragmenter($MTU)", "IPFragmenter($MTU) -> unfragmented :: Null"),
    ("sent_back [1] ->", "sent_back [1] -> copies :: Null ->"),
];

/// The example, read once for all routers.
struct Example {
    registry: Arc<Registry>,
    sources: Sources,
    graph: Graph,
}

impl Example {
    fn read() -> Example {
        let mut text = CONFIG.to_string();
        for (part, by) in REPLACED {
            assert!(text.contains(part), "'{part}' is not in the example");
            text = text.replace(part, by);
        }
        let registry = Arc::new(clickwork_elements::registry());
        let mut sources = Sources::new();
        let file = sources.add("ip-router.click", text);
        let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        Example { registry, sources, graph }
    }
}

thread_local! {
    static EXAMPLE: Example = Example::read();
}

/// The router, in simulated time, between two networks that are played by the caller.
pub struct Bench {
    router: Router,
    driver: Driver,
    received: u64,
}

/// Where packets came from and where they are.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Packets that came from the networks.
    pub received: u64,
    /// Packets that the router made: ARP queries, copies for redirects, fragments beyond the packets that were cut.
    pub made: u64,
    /// Packets that left: to a network, to the host, or into a Discard.
    pub left: u64,
    /// ARP replies that were learned from.
    pub learned: u64,
    /// Packets that were dropped for a reason.
    pub dropped: u64,
    /// Packets that wait in a queue or for an ARP reply.
    pub held: u64,
}

impl Bench {
    /// A router that takes one packet at a time, or batches.
    pub fn new(ordered: bool) -> Bench {
        let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
        let options = Options { ordered, clock, log: Log::buffer(), seed: Some(1), ..Options::default() };
        let (router, _) = EXAMPLE
            .with(|Example { registry, sources, graph }| build(graph, sources, registry, options))
            .expect("the example is correct");
        Bench { router, driver: Driver::default(), received: 0 }
    }

    /// Hands frames to the router as its interface 0 or 1 would.
    pub fn push<'f>(&mut self, interface: usize, frames: impl IntoIterator<Item = &'f [u8]>) {
        let name = ["in0", "in1"][interface];
        let input = self.router.find(name).expect("an input");
        let to = self.router.targets(Endpoint { element: input, port: 0 })[0];
        let limit = if self.router.is_ordered() { 1 } else { BATCH_SIZE };
        let packets: Vec<Packet> = frames.into_iter().map(Packet::new).collect();
        self.received += packets.len() as u64;
        let mut packets = packets.into_iter().peekable();
        while packets.peek().is_some() {
            let batch: Batch = packets.by_ref().take(limit).collect();
            self.router.push(to, batch);
        }
    }

    /// Lets time pass.
    pub fn run(&mut self, time: Duration) {
        self.driver.run_for(&mut self.router, time);
    }

    fn number(&mut self, id: ElementId, handler: &str) -> u64 {
        let value = self.router.read_handler(id, handler, "").expect("a handler that counts");
        value.text().trim().parse().expect("a number")
    }

    /// What became of all packets so far.
    pub fn account(&mut self) -> Account {
        let mut account =
            Account { received: self.received, dropped: self.router.total_drops(), ..Account::default() };
        for id in self.router.ids() {
            let info = self.router.info(id);
            let (packets, name, class) = (info.packets, info.name.clone(), info.class.name);
            match class {
                "Discard" => account.left += self.number(id, "count"),
                "Queue" => account.held += self.number(id, "length"),
                "ARPQuerier" => {
                    account.made += self.number(id, "queries");
                    account.held += self.number(id, "length");
                    let ip = self.packets_of(&name.replace("/arp", "/unfragmented"));
                    // What it dropped and is no IP packet was a reply, whatever the reason.
                    let dropped: u64 = self.router.info(id).drops.iter().map(|(_, n)| n).sum();
                    let refused = dropped - self.killed(id);
                    account.learned += packets - ip - refused;
                }
                "IPFragmenter" => {
                    let refused: u64 = info.drops.iter().map(|(_, n)| n).sum();
                    let whole = self.packets_of(&name.replace("/fragments", "/unfragmented"));
                    let sent_back = self.targets_packets(id, 1);
                    account.made += whole + sent_back + refused - packets;
                }
                "Null" if name.ends_with("/copies") => account.made += packets,
                _ => {}
            }
        }
        account
    }

    fn packets_of(&self, name: &str) -> u64 {
        self.router.info(self.router.find(name).expect("an element that counts")).packets
    }

    /// IP packets that an ARPQuerier did not send, at once or in the end.
    fn killed(&mut self, id: ElementId) -> u64 {
        let stats = self.router.read_handler(id, "stats", "").expect("ARPQuerier has it").text();
        stats.split(' ').next().and_then(|count| count.parse().ok()).expect("it begins with the number")
    }

    /// Packets that the element behind an output got, from that output alone.
    fn targets_packets(&self, id: ElementId, port: u16) -> u64 {
        self.router
            .targets(Endpoint { element: id, port })
            .iter()
            .map(|t| self.router.info(t.element).packets)
            .sum()
    }

    /// Panics unless every packet is accounted for.
    pub fn check(&mut self) {
        let a = self.account();
        assert_eq!(a.received + a.made, a.left + a.learned + a.dropped + a.held, "{a:?}");
    }
}

/// Takes bytes as frames (interface, length in two bytes, contents) and sends them through the router.
pub fn check(data: &[u8]) {
    for ordered in [false, true] {
        let mut bench = Bench::new(ordered);
        let mut rest = data;
        while let [interface, high, low, more @ ..] = rest {
            let length = usize::from(u16::from_be_bytes([*high, *low])).min(more.len());
            let (frame, behind) = more.split_at(length);
            bench.push(usize::from(interface & 1), [frame]);
            rest = behind;
        }
        bench.check();
        bench.run(Duration::from_secs(1));
        bench.check();
    }
}
