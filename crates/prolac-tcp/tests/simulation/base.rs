//! The fixed list of scenarios that every subset of the extensions must pass: handshakes, orders of closing, closed windows,
//! losses.

use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{Offload, Options, Program};

use crate::link::Behaviour;
use crate::scenario::{Conversation, Scenario};
use crate::user::{Leave, Plan};
use crate::world::run;

/// All of them, with their names.
pub fn scenarios() -> Vec<(&'static str, Scenario)> {
    let mut list = vec![
        ("one way", one(Scenario::default(), plans(50_000, Leave::Shutdown, 0, Leave::AfterPeer))),
        ("the other way", one(Scenario::default(), plans(0, Leave::AfterPeer, 50_000, Leave::Shutdown))),
        ("both ways", one(Scenario::default(), plans(30_000, Leave::Shutdown, 30_000, Leave::Shutdown))),
        ("nothing", one(Scenario::default(), plans(0, Leave::Shutdown, 0, Leave::AfterPeer))),
        ("simultaneous close", one(Scenario::default(), plans(0, Leave::Shutdown, 0, Leave::Shutdown))),
        ("half close", one(Scenario::default(), plans(10, Leave::Shutdown, 40_000, Leave::AfterPeer))),
        (
            "close with text unread",
            one(Scenario::default(), plans(100, Leave::AtOnce, 9_000, Leave::AfterPeer)),
        ),
        ("abort", one(Scenario::default(), plans(9_000, Leave::Abort(5_000), 100, Leave::AfterPeer))),
        ("classic", one(both(Config::bsd()), plans(20_000, Leave::Shutdown, 20_000, Leave::AfterPeer))),
        ("IPv6", Scenario { ipv6: true, ..Scenario::default() }),
        ("several", Scenario { conversations: vec![Conversation::default(); 5], ..Scenario::default() }),
    ];
    list.extend(openings());
    list.extend(windows());
    list.extend(links());
    list
}

fn openings() -> Vec<(&'static str, Scenario)> {
    let conversation = Conversation { simultaneous: true, ..Conversation::default() };
    let simultaneous = Scenario { conversations: vec![conversation], ..Scenario::default() };
    let plain = Config { window_scaling: 0, timestamps: 0, sack: 0, ecn: 0, ..Config::default() };
    let half = Scenario { configs: [plain, Config::default()], ..Scenario::default() };
    let small = Config { mss: 64, ..Config::default() };
    vec![
        ("simultaneous open", simultaneous),
        ("no options", both(plain)),
        ("options of one end", half),
        ("MSS 64", one(both(small), plans(5_000, Leave::Shutdown, 5_000, Leave::AfterPeer))),
        ("large packets", both(Config { mtu: 9_000, ..Config::default() })),
    ]
}

fn windows() -> Vec<(&'static str, Scenario)> {
    let stopping = |stops: Vec<(u64, u64)>| {
        let [writer, reader] = plans(300_000, Leave::Shutdown, 10, Leave::AfterPeer);
        one(Scenario::default(), [writer, Plan { stops, ..reader }])
    };
    let tiny = Options { receive_buffer: Some(600), send_buffer: 500, ..Options::default() };
    let mut small = Scenario { listen_options: [tiny.clone(), tiny.clone()], ..Scenario::default() };
    small.conversations[0].options = [tiny.clone(), tiny];
    let mut urgent = Scenario::default();
    urgent.conversations[0].plans[0].urgent = vec![0, 700, 9_999];
    urgent.conversations[0].plans[1].peer_urgent = vec![0, 700, 9_999];
    let offload = Offload { checksum: true, segmentation: 60_000 };
    let cut = Scenario { offloads: [offload; 2], ..Scenario::default() };
    vec![
        ("a reader that stops", stopping(vec![(1_000, 30_000_000), (150_000, 500_000)])),
        ("tiny buffers", one(small, plans(4_000, Leave::Shutdown, 3_000, Leave::AfterPeer))),
        ("urgent", urgent),
        ("segmentation offload", one(cut, plans(200_000, Leave::Shutdown, 100_000, Leave::AfterPeer))),
    ]
}

fn links() -> Vec<(&'static str, Scenario)> {
    let link = Behaviour::default();
    let lossy = Behaviour { loss: 50, ..link.clone() };
    let rough =
        Behaviour { loss: 20, duplicate: 50, corrupt: 20, reorder: 100, reorder_by: 20_000, ..link.clone() };
    let narrow = Behaviour { rate: 100_000, queue: 8_000, ..link.clone() };
    let over = |behaviour: &Behaviour, text| {
        let scenario = Scenario { links: [behaviour.clone(), behaviour.clone()], ..Scenario::default() };
        one(scenario, plans(text, Leave::Shutdown, text, Leave::AfterPeer))
    };
    vec![
        ("loss", over(&lossy, 60_000)),
        ("everything at once", over(&rough, 60_000)),
        ("a full queue", over(&narrow, 100_000)),
        ("a long way", over(&Behaviour { delay: 400_000, ..link }, 60_000)),
    ]
}

fn plans(first: u64, leave: Leave, second: u64, other: Leave) -> [Plan; 2] {
    [Plan { total: first, leave, ..Plan::default() }, Plan { total: second, leave: other, ..Plan::default() }]
}

fn one(mut scenario: Scenario, plans: [Plan; 2]) -> Scenario {
    scenario.conversations[0].plans = plans;
    scenario
}

fn both(config: Config) -> Scenario {
    Scenario { configs: [config; 2], ..Scenario::default() }
}

/// Runs them all on a program; the first that fails.
pub fn check(program: Program) -> Result<(), String> {
    for (name, scenario) in scenarios() {
        run(program, &scenario, false).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

#[test]
fn the_full_program_passes() {
    let wanted = std::env::var("PROLAC_TCP_SCENARIO").ok();
    let trace = std::env::var_os("PROLAC_TCP_TRACE").is_some();
    let mut failed = Vec::new();
    for (name, scenario) in scenarios().iter().filter(|(name, _)| wanted.as_ref().is_none_or(|w| w == name)) {
        if let Err(error) = run(Program::linked(), scenario, trace) {
            failed.push(format!("{name}: {error}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
