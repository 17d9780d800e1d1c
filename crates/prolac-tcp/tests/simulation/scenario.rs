//! What happens in a run: the stacks' parameters, the link, the conversations and how their users behave. All of it follows
//! from a seed, or is one of the fixed list in `base.rs`.

use std::net::{IpAddr, SocketAddr};

use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{Offload, Options};

use crate::link::Behaviour;
use crate::random::Random;
use crate::user::{Leave, Plan};
use crate::world::address;

/// Where servers listen.
pub const SERVER_PORT: u16 = 80;
const FIRST_PORT: u16 = 40_000;
const SIMULTANEOUS_PORT: u16 = 50_000;
const MILLISECOND: u64 = 1_000;
const SECOND: u64 = 1_000_000;

/// A run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub seed: u64,
    pub ipv6: bool,
    pub configs: [Config; 2],
    pub offloads: [Offload; 2],
    /// Whether the layer below merges what it receives.
    pub merges: [bool; 2],
    /// How many segments a stack may have, if few.
    pub segments: [Option<usize>; 2],
    pub listen_options: [Options; 2],
    /// From end 0 to end 1, and back.
    pub links: [Behaviour; 2],
    pub conversations: Vec<Conversation>,
}

/// A connection and its two users.
#[derive(Clone, Debug)]
pub struct Conversation {
    pub start: u64,
    /// The end that connects.
    pub opener: usize,
    /// The other end connects too, and nobody listens.
    pub simultaneous: bool,
    pub options: [Options; 2],
    pub plans: [Plan; 2],
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            total: 10_000,
            write_size: 4_096,
            read_size: 4_096,
            think: (0, 0),
            stops: Vec::new(),
            packets: false,
            urgent: Vec::new(),
            peer_urgent: Vec::new(),
            leave: Leave::Shutdown,
        }
    }
}

impl Default for Conversation {
    fn default() -> Conversation {
        Conversation {
            start: 0,
            opener: 0,
            simultaneous: false,
            options: Default::default(),
            plans: [Plan::default(), Plan { leave: Leave::AfterPeer, ..Plan::default() }],
        }
    }
}

impl Default for Scenario {
    fn default() -> Scenario {
        Scenario {
            seed: 1,
            ipv6: false,
            configs: [Config::default(); 2],
            offloads: [Offload::default(); 2],
            merges: [false; 2],
            segments: [None; 2],
            listen_options: Default::default(),
            links: Default::default(),
            conversations: vec![Conversation::default()],
        }
    }
}

impl Scenario {
    /// The address of an end.
    pub fn address(&self, end: usize) -> IpAddr {
        address(self.ipv6, end)
    }

    fn port(&self, conversation: usize, end: usize) -> u16 {
        let c = &self.conversations[conversation];
        match (end == c.opener, c.simultaneous) {
            (true, _) => FIRST_PORT + conversation as u16,
            (false, true) => SIMULTANEOUS_PORT + conversation as u16,
            (false, false) => SERVER_PORT,
        }
    }

    /// An end's address in a conversation, and its peer's.
    pub fn addresses(&self, conversation: usize, end: usize) -> (SocketAddr, SocketAddr) {
        let at = |end| SocketAddr::new(self.address(end), self.port(conversation, end));
        (at(end), at(1 - end))
    }

    /// End 0's port in a conversation: part of what its bytes are made from.
    pub fn flow_port(&self, conversation: usize) -> u16 {
        self.port(conversation, 0)
    }

    /// The conversation that was opened from a port.
    pub fn find(&self, port: u16) -> Option<usize> {
        let index = usize::from(port.checked_sub(FIRST_PORT)?);
        (index < self.conversations.len()).then_some(index)
    }

    /// Whether nothing at all need be sent twice. An acknowledgment that a BSD delays comes just after Linux's timeout; a
    /// reset of one who has left may be that of an old segment.
    pub fn is_clean(&self) -> bool {
        let same = self.configs[0].personality == self.configs[1].personality;
        let stays = |plan: &Plan| matches!(plan.leave, Leave::Shutdown | Leave::AfterPeer);
        let all_stay = self.conversations.iter().flat_map(|c| &c.plans).all(stays);
        same && all_stay && self.segments == [None; 2] && self.links.iter().all(Behaviour::is_clean)
    }

    /// Whether connections may end with an error for reasons that lie in the scenario.
    pub fn may_break(&self) -> bool {
        // A SYN cookie's SYN-ACK is not sent again.
        let cookies = self.configs.iter().any(|config| config.syn_cookies == 2);
        let options = self.conversations.iter().flat_map(|c| &c.options).chain(&self.listen_options);
        let hurried = options.clone().any(|options| options.user_timeout.is_some());
        let clean = self.links.iter().all(Behaviour::is_clean);
        // Nobody says that packets are too large, and nobody tries.
        let silent = self.links.iter().any(|link| link.silent && link.largest != 0);
        let tries = self.configs.iter().all(|config| config.path_mtu & 6 != 0);
        self.links.iter().any(Behaviour::may_break)
            || (silent && !tries)
            || self.segments.iter().any(Option::is_some)
            || (!clean && cookies)
            || hurried
    }

    /// Whether SYNs may carry text.
    pub fn is_fast_open(&self) -> bool {
        self.listen_options.iter().any(|options| options.fast_open)
    }

    /// The run of a seed.
    pub fn random(seed: u64) -> Scenario {
        let mut random = Random::new(seed);
        let r = &mut random;
        let clean = r.chance(150);
        let links = if clean {
            [clean_link(r), clean_link(r)]
        } else if r.chance(500) {
            [any_link(r), any_link(r)]
        } else {
            let link = any_link(r);
            [link.clone(), link]
        };
        let count = if r.chance(800) { 1 } else { r.between(2, 4) };
        let mut scenario = Scenario {
            seed,
            ipv6: r.chance(300),
            configs: [config(r), config(r)],
            offloads: [offload(r), offload(r)],
            merges: [r.chance(300), r.chance(300)],
            segments: [few_segments(r), few_segments(r)],
            listen_options: [options(r), options(r)],
            links,
            conversations: Vec::new(),
        };
        scenario.conversations = (0..count).map(|_| conversation(r, &scenario)).collect();
        if r.chance(150) {
            fast_open(&mut scenario);
        }
        if !clean && r.chance(150) {
            narrow(r, &mut scenario);
        }
        scenario
    }
}

/// Text in SYNs, from the second connection on.
fn fast_open(scenario: &mut Scenario) {
    scenario.configs.iter_mut().for_each(|config| config.fast_open = 3);
    scenario.listen_options.iter_mut().for_each(|options| options.fast_open = true);
    for (index, c) in scenario.conversations.iter_mut().enumerate() {
        c.start = index as u64 * 3 * SECOND;
        c.options[c.opener].fast_open = c.plans[c.opener].total > 0 && !c.simultaneous;
    }
}

/// A path that takes only small packets, and says so or not.
fn narrow(r: &mut Random, scenario: &mut Scenario) {
    let least = if scenario.ipv6 { 1280 } else { 600 };
    let silent = r.chance(300);
    let largest = r.between(least, 1600) as usize;
    for (link, config) in scenario.links.iter_mut().zip(&mut scenario.configs) {
        (link.largest, link.silent) = (largest, silent);
        config.path_mtu = if silent { r.pick(&[2, 3, 3, 4, 7]) } else { r.pick(&[1, 1, 1, 3, 5]) };
    }
}

fn clean_link(r: &mut Random) -> Behaviour {
    Behaviour {
        delay: r.scale(1, 80 * MILLISECOND),
        jitter: if r.chance(300) { r.scale(1, MILLISECOND) } else { 0 },
        ..Behaviour::default()
    }
}

fn any_link(r: &mut Random) -> Behaviour {
    let delay = r.scale(1, 500 * MILLISECOND);
    let rate = if r.chance(300) { r.scale(20_000, 100_000_000) } else { 0 };
    let often = |r: &mut Random, most| if r.chance(400) { r.below(most) as u32 } else { 0 };
    let delays = if r.chance(150) { r.between(1, 3) } else { 0 };
    let outage = r.chance(40).then(|| {
        let from = r.below(3 * SECOND);
        (from, from + r.scale(100 * MILLISECOND, 60 * SECOND))
    });
    Behaviour {
        delay,
        jitter: if r.chance(300) { r.scale(1, 50 * MILLISECOND) } else { 0 },
        rate,
        queue: r.scale(3_000, 300_000),
        loss: if r.chance(300) { r.below(301) as u32 } else { often(r, 60) },
        duplicate: often(r, 200),
        corrupt: often(r, 60),
        reorder: often(r, 300),
        mark: often(r, 200),
        reorder_by: r.scale(100, 200 * MILLISECOND),
        delays: (0..delays).map(|_| (r.below(5 * SECOND), r.scale(1, SECOND))).collect(),
        outage,
        largest: 0,
        silent: false,
    }
}

fn config(r: &mut Random) -> Config {
    let mut config = if r.chance(850) { Config::default() } else { Config::bsd() };
    config.mtu = if r.chance(700) { 1500 } else { r.scale(1280, 9000) as u32 };
    if r.chance(250) {
        config.mss = r.scale(64, 1400) as u32;
    }
    for field in [&mut config.window_scaling, &mut config.timestamps, &mut config.sack] {
        *field = u32::from(r.chance(800));
    }
    config.ecn = r.below(3) as u32;
    config.syn_cookies = r.pick(&[0, 1, 1, 1, 2]);
    config.congestion_control = r.below(2) as u32;
    config.initial_window = r.pick(&[1, 2, 4, 10, 10]);
    config
}

fn offload(r: &mut Random) -> Offload {
    if r.chance(700) {
        return Offload::default();
    }
    Offload { checksum: true, segmentation: if r.chance(600) { r.scale(3_000, 65_535) as u32 } else { 0 } }
}

fn few_segments(r: &mut Random) -> Option<usize> {
    r.chance(20).then(|| r.scale(5, 300) as usize)
}

fn options(r: &mut Random) -> Options {
    let some = |r: &mut Random, low, high| r.chance(250).then(|| r.scale(low, high) as u32);
    Options {
        send_buffer: some(r, 300, 200_000).unwrap_or(0),
        receive_buffer: some(r, 300, 200_000),
        no_delay: r.chance(300),
        cork: r.chance(30),
        keep_alive: r.chance(200),
        keep_idle: some(r, 1_000, 100_000),
        keep_interval: some(r, 1_000, 100_000),
        mss: some(r, 64, 1_460),
        quick_ack: r.chance(100).then_some(true),
        user_timeout: if r.chance(30) { some(r, 1_000, 1_000_000) } else { None },
        window_clamp: if r.chance(50) { some(r, 500, 100_000) } else { None },
        out_of_band_inline: r.chance(300),
        ..Options::default()
    }
}

fn conversation(r: &mut Random, scenario: &Scenario) -> Conversation {
    let opener = r.below(2) as usize;
    let options = [options(r), options(r)];
    let unit = smallest_unit(scenario, &options);
    let simultaneous = r.chance(120);
    let mut plans = [plan(r, unit), plan(r, unit)];
    if plans.iter().all(|plan| plan.leave == Leave::AfterPeer) {
        plans[r.below(2) as usize].leave = Leave::Shutdown;
    }
    let all: u64 = plans.iter().map(|plan| plan.total).sum();
    for end in [0, 1] {
        plans[end].peer_urgent = plans[1 - end].urgent.clone();
        if let Leave::Abort(at) = &mut plans[end].leave {
            *at = r.below(all + 1);
        }
    }
    let start = if r.chance(500) { 0 } else { r.below(2 * SECOND) };
    Conversation { start, opener, simultaneous, options, plans }
}

/// About how much goes into a packet, which decides how many there will be.
fn smallest_unit(scenario: &Scenario, options: &[Options; 2]) -> u64 {
    let all = options.iter().chain(&scenario.listen_options);
    let mss = all.clone().filter_map(|o| o.mss).chain(scenario.configs.iter().map(|c| c.mss));
    let windows = all.flat_map(|o| [o.receive_buffer, o.window_clamp]).flatten().map(|bytes| bytes / 4);
    mss.chain(windows).filter(|n| *n > 0).min().map_or(1400, |n| u64::from(n.clamp(64, 1400)))
}

fn plan(r: &mut Random, unit: u64) -> Plan {
    let total = if r.chance(150) { 0 } else { r.scale(1, 300 * unit) };
    let stop = |r: &mut Random| (r.below(total + 1), r.scale(10 * MILLISECOND, 100 * SECOND));
    let stops = if r.chance(250) { r.between(1, 3) } else { 0 };
    let urgent = if r.chance(80) && total > 0 { r.between(1, 4) } else { 0 };
    let mut urgent: Vec<u64> = (0..urgent).map(|_| r.below(total)).collect();
    urgent.sort_unstable();
    urgent.dedup();
    let small = r.chance(200) && total < 3_000;
    Plan {
        total,
        write_size: if small { r.scale(1, 200) } else { r.scale(200, 70_000) } as usize,
        read_size: r.scale(if total < 20_000 { 1 } else { 200 }, 70_000) as usize,
        think: if r.chance(200) { (r.below(300) as u32, r.scale(MILLISECOND, 3 * SECOND)) } else { (0, 0) },
        stops: (0..stops).map(|_| stop(r)).collect(),
        packets: r.chance(300),
        urgent,
        peer_urgent: Vec::new(),
        leave: match r.below(20) {
            0..=9 => Leave::Shutdown,
            10..=15 => Leave::AfterPeer,
            16..=17 => Leave::AtOnce,
            _ => Leave::Abort(0),
        },
    }
}
