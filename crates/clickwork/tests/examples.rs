//! The configurations in `examples/`: each is correct, says how it is run, and does what it promises, in simulated time
//! on captures made here. Devices are replaced by captures; everything else runs as it stands in the file.

#[path = "common/captures.rs"]
mod captures;
mod common;
#[allow(dead_code)]
#[path = "../src/demo/frame.rs"]
mod frame;
#[path = "examples/ip6.rs"]
mod ip6;
#[path = "examples/mobile.rs"]
mod mobile;
#[path = "examples/nat.rs"]
mod nat;
#[path = "examples/tcp.rs"]
mod tcp;
#[path = "examples/tunnel.rs"]
mod tunnel;
#[path = "examples/vpn.rs"]
mod vpn;
#[path = "examples/vpn_arguments.rs"]
mod vpn_arguments;

use captures::{direct, frames, read_capture, station, unpadded, write_capture, write_timed};
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::{Icmp, Ipv4, Udp, tcp::flag};
use common::Scratch;
use frame::{Content, ETHER_HEADER, IpFrame, Station, arp, ping};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn example(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).expect("the example is there")
}

/// A configuration with parts replaced, each of which must be there.
fn replaced(mut text: String, parts: &[(&str, &str)]) -> String {
    for (part, by) in parts {
        assert!(text.contains(part), "'{part}' is not in the example");
        text = text.replace(part, by);
    }
    text
}

/// What a run in simulated time prints on standard output.
fn run(dir: &Scratch, args: &[&str]) -> String {
    let done = dir.clickwork().args(["run", "--simtime"]).args(args).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

#[test]
fn every_example_is_correct_in_style_and_says_how_to_run_it() {
    let dir = Scratch::new("examples-check");
    dir.write_keys();
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue; // programs in Prolac, tested with the compiler
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&format!("// {name}: ")), "{name} must say what it does");
        assert!(
            text.contains(&format!("clickwork run examples/{name}")) || text.contains("--simtime"),
            "{name}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{name} has long lines");
        let checked = dir.clickwork().args(["check", common::text(&path)]).assert().success();
        let said = String::from_utf8(checked.get_output().stderr.clone()).unwrap();
        assert!(!said.contains("warning"), "{name}: {said}");
        dir.clickwork().args(["fmt", "--check", common::text(&path)]).assert().success();
        count += 1;
    }
    assert!(count >= 8);
}

#[test]
fn the_first_router_routes() {
    let dir = Scratch::new("examples-first");
    let file = folder().join("first-router.click");
    let printed = run(&dir, &[common::text(&file), "-h", "near.count", "-h", "far.count"]);
    assert_eq!(printed, "near.count:\n3\n\nfar.count:\n5\n\n");
}

#[test]
fn the_router_routes_between_two_captures() {
    let dir = Scratch::new("examples-router");
    let (router0, router1) = (station([10, 0, 0, 1], 1), station([10, 1, 0, 1], 2));
    let (host0, host1) = (station([10, 0, 0, 2], 4), station([10, 1, 0, 2], 3));
    let mut expired = IpFrame::through(host0, router0.ether, host1.ip, 7, Content::Udp(8));
    expired.ttl = 1;
    let ask = IpFrame::through(host0, router0.ether, host1.ip, 8, ping(8));
    let ask_router = IpFrame::through(host0, router0.ether, router0.ip, 9, ping(8));
    write_capture(
        &dir.path("in0.pcap"),
        &[
            arp(true, host0, router0),
            arp(false, host0, router0),
            expired.build(),
            ask.build(),
            ask_router.build(),
        ],
    );
    write_capture(&dir.path("in1.pcap"), &[arp(false, host1, router1)]);
    run(&dir, &[common::text(&folder().join("ip-router.click"))]);

    let out0 = frames(&dir.path("out0.pcap"));
    assert_eq!(out0[0], unpadded(arp(false, router0, host0)));
    let icmp =
        |bytes: &[u8]| Icmp::new(Ipv4::new(&bytes[ETHER_HEADER..]).unwrap().payload()).unwrap().icmp_type;
    assert_eq!(out0[1..].iter().map(|f| icmp(f)).collect::<Vec<_>>(), [11, 0]);
    let out1 = frames(&dir.path("out1.pcap"));
    assert_eq!((out1.len(), icmp(&out1[0]), out1[0][ETHER_HEADER + 8]), (1, 8, 63));
    assert_eq!(out1[0][..12], [host1.ether.0, router1.ether.0].concat());
    assert_eq!(frames(&dir.path("host.pcap")), [[0; 0]; 0]);
}

#[test]
fn the_capture_filter_keeps_what_matches() {
    let dir = Scratch::new("examples-filter");
    let (a, b) = (station([10, 0, 0, 2], 4), station([10, 0, 0, 3], 5));
    let udp = direct(a, b, Content::Udp(30));
    let tcp = direct(b, a, Content::Tcp(flag::SYN, 1, 0));
    write_capture(&dir.path("all.pcap"), &[udp, tcp.clone(), arp(true, a, b), direct(a, b, ping(8))]);
    let file = folder().join("capture-filter.click");
    let counts = ["-h", "kept.count", "-h", "others.count", "-h", "not_ip.count"];
    let arguments =
        [common::text(&file), "IN=all.pcap", "OUT=some.pcapng.gz", "FILTER=tcp or dst host 10.9.9.9"];
    let printed = run(&dir, &[&arguments[..], &counts].concat());
    assert_eq!(printed, "kept.count:\n1\n\nothers.count:\n2\n\nnot_ip.count:\n1\n\n");
    assert_eq!(frames(&dir.path("some.pcapng.gz")), [unpadded(tcp)]);
}

#[test]
fn the_shaper_spreads_a_burst_at_the_rate_asked_for() {
    let dir = Scratch::new("examples-shaper");
    let (a, b) = (station([10, 0, 0, 2], 4), station([10, 0, 0, 3], 5));
    let burst: Vec<_> = (0..40).map(|_| direct(a, b, Content::Udp(958))).collect();
    write_capture(&dir.path("in.pcap"), &burst);
    let file = folder().join("traffic-shaper.click");
    // 1000 bytes a packet: 100 packets a second. The 40th leaves about 0.4 seconds after the first.
    run(&dir, &[common::text(&file), "RATE=100kBps"]);
    let times: Vec<u64> = read_capture(&dir.path("out.pcap")).into_iter().map(|(time, _)| time).collect();
    let span = (times[times.len() - 1] - times[0]) / 1_000_000;
    assert!(times.len() == 40 && (350..=430).contains(&span), "{} packets in {span} ms", times.len());
    // A queue of 10 cannot hold the burst.
    let printed = run(&dir, &[common::text(&file), "RATE=100kBps", "QUEUE=10", "-h", "queue.drops"]);
    let dropped: usize = printed.trim().parse().unwrap();
    assert_eq!(frames(&dir.path("out.pcap")).len() + dropped, 40);
    assert!(dropped > 10, "{dropped}");
}

#[test]
fn the_queueing_demonstration_spares_the_call() {
    let dir = Scratch::new("examples-queueing");
    let file = folder().join("queueing.click");
    let handlers = ["first/call.count", "first/download.count", "second/call.count", "second/download.count"];
    let printed = run(&dir, &[&[common::text(&file)], &handlers.map(|h| ["-h", h]).concat()[..]].concat());
    let counts: Vec<i64> = printed.lines().filter_map(|line| line.parse().ok()).collect();
    let [call, download, preferred_call, rest] = counts[..] else { panic!("{printed}") };
    // The link takes 1000 packets in ten seconds, shared as 40 to 200, or after the call's 400.
    assert!((120..=220).contains(&call) && (call + download - 1000).abs() < 60, "{printed}");
    assert!((preferred_call - 400).abs() < 5 && (rest - 600).abs() < 55, "{printed}");
    assert!(printed.contains("one queue") && printed.contains("the call goes first"));
}

#[test]
fn the_firewall_lets_out_all_but_mail_and_in_only_what_was_asked_for() {
    let dir = Scratch::new("examples-firewall");
    let (inside, web) = (station([192, 0, 2, 9], 1), station([192, 0, 2, 80], 2));
    let (outside, forged) = (station([203, 0, 113, 5], 3), station([192, 0, 2, 77], 4));
    let syn = |from, to| direct(from, to, Content::Tcp(flag::SYN, 1, 0));
    let mail = |from, to| {
        let mut frame = syn(from, to);
        frame[ETHER_HEADER + 22..][..2].copy_from_slice(&25u16.to_be_bytes());
        frame
    };
    let damaged = |mut frame: Vec<u8>| {
        frame[ETHER_HEADER + 10] ^= 1;
        frame
    };
    let asked = [arp(true, inside, outside), syn(inside, outside), direct(inside, outside, ping(8))];
    let not_out = [mail(inside, outside), syn(outside, inside)];
    let answers = [
        arp(false, outside, inside),
        direct(outside, inside, Content::Tcp(flag::ACK, 5, 100)),
        direct(outside, inside, Content::Echo(0, 8)),
        syn(outside, web),
    ];
    let not_in = [
        syn(outside, inside),
        direct(outside, inside, Content::Udp(9)),
        syn(forged, web),
        direct(outside, inside, ping(8)),
    ];
    write_capture(
        &dir.path("inside.pcap"),
        &[&asked[..], &not_out, &[damaged(syn(inside, outside))]].concat(),
    );
    write_capture(&dir.path("outside.pcap"), &[&answers[..], &not_in].concat());
    let device = "PROMISC true, SNIFFER false)";
    let text = replaced(
        example("firewall.click"),
        &[
            (&format!("FromDevice($INSIDE, {device}"), "FromDump(inside.pcap, STOP true)"),
            (&format!("FromDevice($OUTSIDE, {device}"), "FromDump(outside.pcap, STOP true)"),
            ("ToDevice($INSIDE)", "ToDump(to-inside.pcap)"),
            ("ToDevice($OUTSIDE)", "ToDump(to-outside.pcap)"),
        ],
    );
    dir.write("firewall.click", &(text + "DriverManager(wait_stop 2, wait 10ms, stop);"));
    run(&dir, &["firewall.click"]);
    let sent = |frames: &[Vec<u8>]| frames.iter().cloned().map(unpadded).collect::<Vec<_>>();
    assert_eq!(frames(&dir.path("to-outside.pcap")), sent(&asked));
    assert_eq!(frames(&dir.path("to-inside.pcap")), sent(&answers));
    let sorted = |mut frames: Vec<Vec<u8>>| {
        frames.sort();
        frames
    };
    assert_eq!(sorted(frames(&dir.path("refused.pcap"))), sorted(sent(&[&not_out[..], &not_in].concat())));
}

#[test]
fn the_switch_learns_where_stations_are() {
    let dir = Scratch::new("examples-switch");
    let [a, b, c] = [1, 2, 3].map(|n| station([10, 0, 0, n], n));
    // A and C are on the first network, B on the second.
    let across = [direct(a, b, Content::Udp(1)), direct(c, b, Content::Udp(2))];
    let (local, back) = (direct(a, c, Content::Udp(3)), direct(b, a, Content::Udp(4)));
    write_capture(&dir.path("first.pcap"), &[&across[..], &[local]].concat());
    write_capture(&dir.path("second.pcap"), std::slice::from_ref(&back));
    let text = replaced(
        example("switch.click"),
        &[
            (
                "FromDevice($FIRST, PROMISC true, SNIFFER false)",
                "FromDump(first.pcap, TIMING true, STOP true)",
            ),
            (
                "FromDevice($SECOND, PROMISC true, SNIFFER false)",
                "FromDump(second.pcap, TIMING true, STOP true)",
            ),
            ("ToDevice($FIRST)", "ToDump(to-first.pcap)"),
            ("ToDevice($SECOND)", "ToDump(to-second.pcap)"),
        ],
    );
    dir.write("switch.click", &(text + "DriverManager(wait_stop 2, wait 10ms, stop);"));
    run(&dir, &["switch.click"]);
    assert_eq!(frames(&dir.path("to-second.pcap")), across.map(unpadded));
    assert_eq!(frames(&dir.path("to-first.pcap")), [unpadded(back)]);
}

/// A wireless station, whose input 1 and output 1 are for Ethernet frames.
const WIRELESS_STATION: &str = "elementclass Station {
    own :: WirelessInfo(SSID home, BSSID 02:00:00:00:00:03, CHANNEL 3);
    known :: AvailableRates(DEFAULT 2 4 11 22);
    input [0] -> scan :: BeaconScanner(WIRELESS_INFO own, RT known)
        -> kinds :: Classifier(0/10%fc, 0/b0%fc, 0/08%0c 4/00000c000004, -);
    kinds [0] -> join :: AssociationRequester(ETH 00:00:0c:00:00:04, WIRELESS_INFO own, RT known) -> output;
    kinds [1] -> auth :: OpenAuthRequester(ETH 00:00:0c:00:00:04, WIRELESS_INFO own) -> output;
    kinds [2] -> WifiDecap -> [1] output;
    kinds [3] -> Discard;
    probe :: ProbeRequester(ETH 00:00:0c:00:00:04, WIRELESS_INFO own, RT known) -> output;
    input [1] -> WifiEncap(1, WIRELESS_INFO own) -> output
}
station :: Station;
FromDump(station.pcap, TIMING true) -> [1] station [1] -> ToDump(to-station.pcap);
Script(write station/probe.send_probe, wait 1ms, write station/auth.send_auth_req, wait 1ms,
    write station/join.send_assoc_req, wait 1ms, print station/join.associated, print rate.rates, wait 250ms,
    print station/scan.scan, stop);";

#[test]
fn a_station_joins_the_access_point_and_is_bridged() {
    let dir = Scratch::new("examples-access-point");
    let (wireless, wired) = (station([10, 0, 0, 4], 4), station([10, 0, 0, 5], 5));
    let (up, down) = (direct(wireless, wired, Content::Udp(1)), direct(wired, wireless, Content::Udp(2)));
    let to_other = direct(wired, station([10, 0, 0, 6], 6), Content::Udp(3));
    write_capture(&dir.path("station.pcap"), &[up.clone(), up.clone()]);
    write_capture(&dir.path("wired.pcap"), &[down.clone(), to_other, down.clone()]);
    let text = replaced(
        example("access-point.click"),
        &[
            ("FromDevice($WIRELESS, PROMISC true, SNIFFER false)", "station [0]"),
            ("ToDevice($WIRELESS)", "Unqueue -> RadiotapDecap -> [0] station"),
            ("FromDevice($WIRED, PROMISC true, SNIFFER false)", "FromDump(wired.pcap, TIMING true)"),
            ("ToDevice($WIRED)", "ToDump(to-wired.pcap)"),
        ],
    );
    dir.write("access-point.click", &format!("{WIRELESS_STATION}\n{text}"));
    let printed = run(&dir, &["access-point.click"]);
    let lines: Vec<&str> = printed.lines().collect();
    // Data go at 11 Mbit/s as long as they do not fail.
    assert_eq!(lines[0], "true", "{printed}");
    assert!(lines[1].starts_with("00-00-0C-00-00-04 22 "), "{printed}");
    let scan = lines.last().unwrap();
    assert!(
        scan.starts_with("02-00-00-00-00-03 channel 3 rssi 0 ssid home beacon_interval 100"),
        "{printed}"
    );
    assert_eq!(frames(&dir.path("to-wired.pcap")), [unpadded(up.clone()), unpadded(up)]);
    assert_eq!(frames(&dir.path("to-station.pcap")), [unpadded(down.clone()), unpadded(down)]);
}

#[test]
fn the_generator_sends_correct_packets_at_its_rate() {
    let dir = Scratch::new("examples-generator");
    let text = replaced(
        example("traffic-generator.click"),
        &[("ToDevice($DEVICE)", "SetTimestamp -> ToDump(out.pcap)")],
    );
    dir.write("generator.click", &text);
    let printed = run(&dir, &["generator.click", "COUNT=2500", "RATE=1000"]);
    assert!(printed.ends_with("2500 packets sent\n") && printed.lines().count() == 3, "{printed}");
    let packets = read_capture(&dir.path("out.pcap"));
    let span = (packets[packets.len() - 1].0 - packets[0].0) / 1_000_000;
    assert!(packets.len() == 2500 && (2450..=2550).contains(&span), "{} in {span} ms", packets.len());
    let ip = Ipv4::new(&packets[0].1[ETHER_HEADER..]).unwrap();
    assert!(ip.checksum_is_right() && ip.destination() == Ipv4Address::new(10, 1, 0, 2));
    let pseudo = ip.pseudo_sum(ip.payload().len() as u16);
    assert!(Udp::new(ip.payload()).unwrap().checksum_is_right(pseudo));
}

#[test]
fn the_monitor_reports_senders_flows_and_rates() {
    let dir = Scratch::new("examples-monitor");
    let (a, b) = (station([10, 0, 0, 2], 4), station([10, 0, 0, 3], 5));
    let mut frames = vec![
        (0, arp(true, a, b)),
        (1, direct(b, a, Content::Tcp(flag::SYN, 1, 0))),
        (2, direct(a, b, ping(8))),
    ];
    // A hundred packets of 1000 bytes a second, for two seconds.
    for n in 0..200 {
        frames.push((10 * n, direct(a, b, Content::Udp(972))));
    }
    frames.push((2000, direct(b, a, Content::Udp(72))));
    frames.sort_by_key(|(time, _)| *time);
    write_timed(&dir.path("in.pcap"), &frames);
    let source = "FromDump(in.pcap, TIMING true, FORCE_IP true)";
    let text =
        replaced(example("monitor.click"), &[("FromDevice($DEVICE, PROMISC true, FORCE_IP true)", source)]);
    dir.write("monitor.click", &text);
    let printed = run(&dir, &["monitor.click", "SECONDS=2.1"]);
    let (flows, report) = printed.split_at(printed.find("203 IP packets").expect("the report"));
    assert_eq!(
        flows,
        "1 U 10.0.0.2 50001 10.0.0.3 4242\n2 T 10.0.0.3 40000 10.0.0.2 80\n3 U 10.0.0.3 50001 10.0.0.2 4242\n"
    );
    for part in [
        "203 IP packets of 203034 bytes, 1 others\n3 flows, 3 of them known now; 1 packets of no flow\n",
        "!ip\n10.0.0.2 202860\n10.0.0.3 174\n",
        "!num_nonzero 3\n46 2\n100 1\n1000 200\n",
        "!num_nonzero 3\n1 200\n2 1\n3 1\n",
    ] {
        assert!(report.contains(part), "{report}");
    }
    // The averages follow within half a second; the sender is found by zooming in four times.
    let sender = report.lines().find(|line| line.trim_start().starts_with("10.0.0.2\t")).expect("its rate");
    let rate: f64 = sender.trim_start().split('\t').nth(1).unwrap().parse().unwrap();
    assert!((50_000.0..150_000.0).contains(&rate), "{report}");
}

#[test]
fn the_replay_keeps_the_distances_in_time() {
    let dir = Scratch::new("examples-replay");
    let (a, b) = (station([10, 0, 0, 2], 4), station([10, 0, 0, 3], 5));
    let times = [0, 100, 250, 1000, 1003, 2500, 9000];
    let captured: Vec<_> = times.iter().map(|&time| (time, direct(a, b, Content::Udp(100)))).collect();
    write_timed(&dir.path("in.pcap"), &captured);
    let out = "SetTimestamp -> ToDump(out.pcap)";
    dir.write(
        "replay.click",
        &replaced(example("replay.click"), &[("ToDevice($DEVICE)", &format!("Unqueue -> {out}"))]),
    );
    let printed = run(&dir, &["replay.click", "TRACE=in.pcap", "START=0.1", "SECONDS=4", "TO=2:0:0:0:0:9"]);
    assert_eq!(printed, "5 packets of 710 bytes, captured within 2.400000 s\n0 dropped\n");
    let sent = read_capture(&dir.path("out.pcap"));
    let since_first = |time: u64| (time - sent[0].0 + 500_000) / 1_000_000;
    assert_eq!(sent.iter().map(|(time, _)| since_first(*time)).collect::<Vec<_>>(), [0, 150, 900, 903, 2400]);
    assert!(sent.iter().all(|(_, frame)| frame[..6] == [2, 0, 0, 0, 0, 9]));
}

#[test]
fn the_counter_counts_by_protocol() {
    let dir = Scratch::new("examples-counter");
    let (a, b) = (station([10, 0, 0, 2], 4), station([10, 0, 0, 3], 5));
    let frames = [
        direct(a, b, Content::Udp(30)),
        direct(a, b, Content::Udp(30)),
        direct(b, a, Content::Tcp(flag::SYN, 1, 0)),
        direct(a, b, ping(8)),
        arp(true, a, b),
    ];
    write_capture(&dir.path("in.pcap"), &frames);
    let text = replaced(
        example("traffic-counter.click"),
        &[("FromDevice($DEVICE, PROMISC true, FORCE_IP true)", "FromDump(in.pcap, FORCE_IP true)")],
    );
    dir.write("counter.click", &(text + "DriverManager(wait 1.5s, stop);"));
    let printed = run(&dir, &["counter.click"]);
    assert_eq!(printed, "tcp 1, udp 2, icmp 1, other IP 0, not IP 1\n");
}
