//! The queueing examples after the papers on Click: each does what its heading promises, in simulated time. What is in
//! `examples/` in general is tested in `examples.rs`.

mod common;
#[allow(dead_code)]
#[path = "../src/demo/frame.rs"]
mod frame;

use clickwork_elements::capture::reader::Reader;
use clickwork_elements::capture::writer::{Options, Writer};
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use common::Scratch;
use frame::{Content, IpFrame, Station};
use std::path::{Path, PathBuf};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// What a run in simulated time prints on standard output, with the same random numbers each time.
fn run(dir: &Scratch, file: &Path, args: &[&str]) -> String {
    let text = std::fs::read_to_string(file).unwrap() + "\nRandomSeed(1);\n";
    let seeded = dir.write("seeded.click", &text);
    let done =
        dir.clickwork().args(["run", "--simtime", common::text(&seeded)]).args(args).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// The numbers that handlers give after a run.
fn numbers<const N: usize>(dir: &Scratch, name: &str, args: &[&str], handlers: [&str; N]) -> [f64; N] {
    let asked = handlers.map(|h| ["-h", h]).concat();
    let printed = run(dir, &example(name), &[args, &asked].concat());
    handlers.map(|handler| {
        let value =
            printed.split_once(&format!("{handler}:\n")).map(|(_, rest)| rest.lines().next().unwrap_or(""));
        value.and_then(|v| v.parse().ok()).unwrap_or_else(|| panic!("{handler} in\n{printed}"))
    })
}

/// The fairness index of Jain, Chiu and Hawe (1984): 1 if all get the same, 1/n if one gets all.
fn fairness(shares: &[f64]) -> f64 {
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|x| x * x).sum::<f64>());
    sum * sum / (shares.len() as f64 * squares)
}

#[test]
fn red_takes_its_form_from_its_place() {
    let dir = Scratch::new("papers-red");
    let [single, shared, weighted, front] = ["single", "shared", "weighted", "front"].map(|form| {
        let handlers = ["lost/gold", "lost/silver", "sent/gold", "sent/silver"];
        let handlers = handlers.map(|h| format!("{form}_link/{h}.count"));
        numbers(&dir, "red.click", &[], handlers.each_ref().map(String::as_str))
    });
    for [lost_gold, lost_silver, sent_gold, sent_silver] in [single, shared, weighted, front] {
        // 36,000 packets in half a minute, for a link that takes 30,000; what was not dropped is queued.
        let (lost, sent) = (lost_gold + lost_silver, sent_gold + sent_silver);
        assert!((29_800.0..=30_030.0).contains(&sent) && (5800.0..6100.0).contains(&lost), "{sent} {lost}");
        assert!(36_000.0 - sent - lost < 150.0);
    }
    // Alone in its place it does not tell gold from silver; over two queues it drops from both, whichever is full.
    for [gold, silver, ..] in [single, shared, front] {
        assert!((gold / silver - 1.0).abs() < 0.15, "{gold} {silver}");
    }
    assert!(weighted[0] * 10.0 < weighted[1], "{weighted:?}");
    // The queue is where the formula puts it: the drop rate is 1/6, 2 p / (1 + p) = 1/6 at an average of 5 + 45 p / 0.1.
    let averages = ["single/red.avg_queue_size", "shared/red.avg_queue_size", "front/red.avg_queue_size"];
    for average in numbers(&dir, "red.click", &[], averages) {
        assert!((35.0..60.0).contains(&average), "{average}");
    }
    let printed = run(&dir, &example("red.click"), &["-h", "shared/red.queues", "-h", "front/red.queues"]);
    assert!(
        printed.contains("shared/gold\nshared/silver\n") && printed.contains("front/Queue@"),
        "{printed}"
    );
    assert!(printed.contains("\nweighted  "), "{printed}");
}

#[test]
fn a_virtual_queue_is_fair_where_a_queue_is_not() {
    let dir = Scratch::new("papers-fair");
    let index = |side: &str, args: &[&str]| {
        let names: [String; 8] = std::array::from_fn(|i| format!("{side}/flow{i}.count"));
        let shares = numbers(&dir, "fair-queue.click", args, names.each_ref().map(String::as_str));
        assert!((shares.iter().sum::<f64>() - 8000.0).abs() < 20.0, "the link is busy: {shares:?}");
        fairness(&shares)
    };
    let (fair, plain) = (index("fair", &[]), index("plain", &[]));
    assert!(fair > 0.999 && plain < 0.3, "{fair} {plain}");
    // Without a greedy flow both are fair.
    let polite = index("fair", &["GREEDY=60"]);
    assert!(polite > 0.99, "{polite}");
}

#[test]
fn figure_12_shares_links_and_prefers_the_urgent() {
    let dir = Scratch::new("papers-12");
    let handlers = [
        "a/urgent.count",
        "a/rest.count",
        "b/urgent.count",
        "b/rest.count",
        "early.count",
        "urgent_a.drops",
        "urgent_b.drops",
        "rest_a.drops",
        "rest_b.drops",
        "urgent_a.highwater_length",
        "urgent_b.highwater_length",
    ];
    let [urgent_a, rest_a, urgent_b, rest_b, early, lost @ .., high_a, high_b] =
        numbers(&dir, "figure-12.click", &[], handlers);
    // Both links are busy, and alike.
    let (sum_a, sum_b) = (urgent_a + rest_a, urgent_b + rest_b);
    assert!((sum_a - 10_000.0).abs() < 200.0 && (sum_b - 10_000.0).abs() < 200.0, "{sum_a} {sum_b}");
    assert!((urgent_a - urgent_b).abs() < 200.0, "{urgent_a} {urgent_b}");
    // RED drops the excess of 4000, from all alike, so that no queue overflows.
    assert!((early - 4000.0).abs() < 200.0 && lost == [0.0; 4], "{early} {lost:?}");
    let urgent = urgent_a + urgent_b;
    assert!((urgent - 4000.0 * 20.0 / 24.0).abs() < 200.0, "{urgent}");
    // What is urgent hardly waits.
    assert!(high_a <= 8.0 && high_b <= 8.0, "{high_a} {high_b}");
    let printed = run(&dir, &example("figure-12.click"), &["-h", "red.queues"]);
    assert!(["urgent_a", "urgent_b", "rest_a", "rest_b"].iter().all(|q| printed.contains(q)), "{printed}");
}

/// What the four streams of Figure 15 let pass of `each` packets a second.
fn four_streams(dir: &Scratch, args: &[&str]) -> [f64; 4] {
    let printed = run(dir, &example("diffserv.click"), &[&["TOTAL=3"], args].concat());
    let line = printed.lines().find(|line| line.starts_with("  A ")).unwrap_or_else(|| panic!("{printed}"));
    let values: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    values.try_into().unwrap_or_else(|_| panic!("{line}"))
}

#[test]
fn figure_15_limits_each_stream_in_its_way() {
    let dir = Scratch::new("papers-15");
    let near = |got: [f64; 4], expected: [f64; 4]| {
        let all = got.iter().zip(expected).all(|(g, e)| (g - e).abs() <= 20.0);
        assert!(all, "{got:?}, expected {expected:?}");
    };
    near(four_streams(&dir, &["EACH=7000"]), [7000.0; 4]);
    // Above 7500 A is dropped; B is shaped to 10,000; above 12,500 C becomes D.
    near(four_streams(&dir, &["EACH=11000"]), [0.0, 10_000.0, 11_000.0, 11_000.0]);
    near(four_streams(&dir, &["EACH=14000"]), [0.0, 10_000.0, 0.0, 28_000.0]);
    // On a link that is full D has what the others leave.
    near(four_streams(&dir, &["EACH=7000", "LINK=24000"]), [7000.0, 7000.0, 7000.0, 3000.0]);
}

#[test]
fn figure_20_is_reproduced() {
    let dir = Scratch::new("papers-20");
    let link = 148_800.0;
    for total in [60_000.0, 120_000.0, 210_000.0, 300_000.0, 420_000.0f64] {
        let printed = run(&dir, &example("diffserv.click"), &["EACH=1", &format!("TOTAL={total}")]);
        let line =
            printed.lines().find(|line| line.starts_with("  high ")).unwrap_or_else(|| panic!("{printed}"));
        let rates: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // High is limited, medium goes before low.
        let high = (total / 3.0).min(30_000.0);
        let medium = (total / 3.0).min(link - high);
        let low = (total / 3.0).min(link - high - medium);
        for (rate, expected) in rates.iter().zip([high, medium, low]) {
            assert!((rate - expected).abs() <= 0.005 * link, "{rates:?} of {total}: {high} {medium} {low}");
        }
    }
}

/// Frames of 1000 bytes, one a millisecond, as a capture.
fn write_frames(file: &Path, count: u64) {
    let station =
        |last| Station { ether: EtherAddress([2, 0, 0, 0, 0, last]), ip: Ipv4Address::new(10, 0, 0, last) };
    let (from, to) = (station(1), station(2));
    let bytes = IpFrame::through(from, to.ether, to.ip, 1, Content::Udp(958)).build();
    assert_eq!(bytes.len(), 1000);
    let mut writer = Writer::create(common::text(file), Options::default()).unwrap();
    for number in 0..count {
        writer.write_packet(START + number * 1_000_000, 1000, &bytes).unwrap();
    }
    writer.finish().unwrap();
}

const START: u64 = 1_000_000_000_000_000_000;

/// When the frames of a capture come out of the emulator, in milliseconds after they, or the first of them, went in.
fn emulated(dir: &Scratch, count: u64, args: &[&str]) -> Vec<f64> {
    write_frames(&dir.path("in.pcap"), count);
    let mut text = std::fs::read_to_string(example("emulator.click")).unwrap();
    for (device, capture) in [
        ("FromDevice($A, PROMISC true, SNIFFER false)", "FromDump(in.pcap, TIMING true)"),
        ("FromDevice($B, PROMISC true, SNIFFER false)", "Idle"),
        ("ToDevice($B)", "ToDump(out.pcap, NANO true)"),
        ("ToDevice($A)", "Discard"),
    ] {
        assert!(text.contains(device), "{device}");
        text = text.replace(device, capture);
    }
    text += "\nDriverManager(wait 30s, stop);\n";
    let file = dir.write("emulator.click", &text);
    run(dir, &file, args);
    let mut reader = Reader::open(common::text(&dir.path("out.pcap"))).unwrap();
    let mut times = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        times.push(record.timestamp as f64 / 1e6);
    }
    times
}

#[test]
fn the_emulator_delays_and_slows_down() {
    let dir = Scratch::new("papers-emulator");
    // A long way at 80 Mbit/s: 40 ms and 0.1 ms to send.
    let long = emulated(&dir, 200, &["DELAY=40ms", "LOSS=0", "RATE=10MBps"]);
    let gaps: Vec<f64> = long.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(long.len() == 200 && gaps.iter().all(|gap| (gap - 1.0).abs() < 0.01), "{gaps:?}");
    // A slow one: a packet every 8 ms, and all but 100 of those that wait are dropped.
    let slow = emulated(&dir, 400, &["DELAY=5ms", "LOSS=0", "RATE=1Mbps"]);
    assert!(slow.windows(2).all(|w| (w[1] - w[0] - 8.0).abs() < 0.01));
    assert!((148..=154).contains(&slow.len()), "{}", slow.len());
    // The delay itself, to the first packet: of one way against the other.
    let far = emulated(&dir, 10, &["DELAY=100ms", "LOSS=0", "RATE=10MBps"]);
    let near = emulated(&dir, 10, &["DELAY=25ms", "LOSS=0", "RATE=10MBps"]);
    assert!((far[0] - near[0] - 75.0).abs() < 0.1, "{} {}", far[0], near[0]);
}

#[test]
fn the_emulator_loses_packets_at_random() {
    let dir = Scratch::new("papers-emulator-loss");
    for loss in [0.1, 0.5f64] {
        let came = emulated(&dir, 2000, &["DELAY=1ms", &format!("LOSS={loss}"), "RATE=10MBps"]).len() as f64;
        // Five standard deviations.
        let (mean, bound) = (2000.0 * (1.0 - loss), 5.0 * (2000.0 * loss * (1.0 - loss)).sqrt());
        assert!((came - mean).abs() < bound, "{came} at {loss}");
    }
    assert_eq!(emulated(&dir, 100, &["LOSS=0"]).len(), 100);
    assert_eq!(emulated(&dir, 100, &["LOSS=1"]).len(), 0);
}
