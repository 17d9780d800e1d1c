//! `clickwork new ip-router`: what it writes is correct, and routes between all of its networks.

#[path = "common/captures.rs"]
mod captures;
mod common;
#[allow(dead_code)]
#[path = "../src/demo/frame.rs"]
mod frame;

use captures::{frames, station, write_capture};
use clickwork_packet::headers::Ipv4;
use common::Scratch;
use frame::{Content, ETHER_HEADER, IpFrame, Station, arp};

/// Interfaces e0, e1, ... with the addresses 10.N.0.1.
fn interfaces(count: u8) -> Vec<String> {
    (0..count).map(|n| format!("e{n}=10.{n}.0.1/24")).collect()
}

/// The router's station on a network, with the Ethernet address made from its IP address.
fn router(network: u8) -> Station {
    let mut s = station([10, network, 0, 1], 0);
    s.ether.0 = [2, 0, 10, network, 0, 1];
    s
}

fn host(network: u8) -> Station {
    station([10, network, 0, 2], network)
}

fn generate(dir: &Scratch, arguments: &[&str]) -> String {
    let done = dir.clickwork().args(["new", "ip-router"]).args(arguments).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

#[test]
fn every_network_reaches_every_other() {
    for count in [2u8, 4, 8] {
        let dir = Scratch::new(&format!("new-router-{count}"));
        // A network behind the host of the last one.
        let route = format!("172.16.0.0/12,10.{}.0.2", count - 1);
        let mut arguments = interfaces(count);
        arguments.extend(["--route", &route, "--simulate", "-o", "router.click"].map(String::from));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        assert_eq!(generate(&dir, &arguments), "");
        let ends =
            || (0..count).flat_map(|from| (0..count).map(move |to| (from, to))).filter(|(a, b)| a != b);
        let behind = "172.20.1.2".parse().unwrap();
        for from in 0..count {
            let gateway = router(from).ether;
            let packet =
                |to| IpFrame::through(host(from), gateway, to, u16::from(from), Content::Udp(40)).build();
            let mut sent = vec![arp(false, host(from), router(from))];
            sent.extend(ends().filter(|(f, _)| *f == from).map(|(_, to)| packet(host(to).ip)));
            sent.push(packet(behind));
            write_capture(&dir.path(&format!("in-e{from}.pcap")), &sent);
        }
        dir.clickwork().args(["run", "--simtime", "router.click"]).assert().success();
        for to in 0..count {
            let got: Vec<_> = frames(&dir.path(&format!("out-e{to}.pcap")));
            assert!(
                got.iter().all(|f| f[..12] == [host(to).ether.0, router(to).ether.0].concat()),
                "{count}: {to}"
            );
            let ip = |f: &[u8]| {
                let ip = Ipv4::new(&f[ETHER_HEADER..]).unwrap();
                assert!(ip.checksum_is_right());
                (ip.source(), ip.destination(), ip.ttl)
            };
            let data = got.iter().filter(|f| f[ETHER_HEADER + 9] == 17).map(|f| ip(f));
            let mut data: Vec<_> = data.collect();
            let mut expected: Vec<_> =
                ends().filter(|(_, t)| *t == to).map(|(from, _)| (host(from).ip, host(to).ip, 63)).collect();
            if to == count - 1 {
                expected.extend((0..count).map(|from| (host(from).ip, behind, 63)));
            }
            data.sort();
            expected.sort();
            assert_eq!(data, expected, "{count}: {to}");
            // The last host's packet for the network behind it came back to it, with a redirect.
            assert_eq!(got.len() - data.len(), usize::from(to == count - 1));
        }
    }
}

#[test]
fn what_is_written_is_correct_and_in_style() {
    let dir = Scratch::new("new-router-style");
    for count in [1, 2, 4, 8, 40] {
        for more in [&[][..], &["--simulate"], &["--route", "0.0.0.0/0,10.0.0.9"]] {
            let interfaces = interfaces(count);
            let arguments: Vec<&str> =
                interfaces.iter().map(String::as_str).chain(more.iter().copied()).collect();
            let text = generate(&dir, &arguments);
            assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
            dir.write("r.click", &text);
            for how in [&["check"][..], &["check", "--types"]] {
                let checked = dir.clickwork().args(how).arg("r.click").assert().success();
                let said = String::from_utf8(checked.get_output().stderr.clone()).unwrap();
                assert!(!said.contains("warning"), "{count} {more:?}: {said}");
            }
            dir.clickwork().args(["fmt", "--check", "r.click"]).assert().success();
            let interfaces = if count == 1 { "one interface".into() } else { format!("{count} interfaces") };
            assert!(
                text.starts_with(&format!("// ip-router.click: an IP router with {interfaces} (RFC 1812)"))
            );
        }
    }
}

#[test]
fn mistakes_are_reported_and_nothing_is_written() {
    let dir = Scratch::new("new-router-mistakes");
    let complaint = |arguments: &[&str]| {
        let done =
            dir.clickwork().args(["new", "ip-router", "-o", "r.click"]).args(arguments).assert().failure();
        assert!(!dir.path("r.click").exists());
        String::from_utf8(done.get_output().stderr.clone()).unwrap()
    };
    assert!(
        complaint(&["eth0=10.0.0.300/24"]).contains("'eth0=10.0.0.300/24': '10.0.0.300/24' is no IP address")
    );
    assert!(complaint(&["a=10.0.0.1/24", "a=10.1.0.1/24"]).contains("there is an interface a already"));
    assert!(complaint(&["a=10.0.0.1/24", "b=10.0.0.129/25"]).contains("overlaps with 10.0.0.0/24 of a"));
    assert!(
        complaint(&["a=10.0.0.1/24", "--route", "10.9.0.0/16,10.1.0.1"])
            .contains("--route '10.9.0.0/16,10.1.0.1'")
    );
    assert!(complaint(&[]).contains("INTERFACE=ADDRESS/LENGTH"));
    dir.write("r.click", "mine");
    let done =
        dir.clickwork().args(["new", "ip-router", "-o", "r.click", "a=10.0.0.1/24"]).assert().failure();
    assert!(String::from_utf8_lossy(&done.get_output().stderr).contains("r.click: it exists already"));
    assert_eq!(dir.read("r.click"), "mine");
}
