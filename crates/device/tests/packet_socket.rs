//! Packet sockets on real interfaces: what the kernel does to packets between hosts, and what becomes of it
//! here.

mod support;

use clickwork_device::{Fault, Interface, PacketReceiver, PacketSender, PacketType, ReceiveOptions, Stop};
use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use std::io::{IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::{os::fd::AsRawFd, thread};
use support::{in_namespace, ip, run, thread_number, unshare_network, until, veth_pair};

const TO_V1: [u8; 6] = [2, 0, 0, 0, 0, 0x11];
const ELSEWHERE: [u8; 6] = [2, 0, 0, 0, 0, 0x99];

fn frame(to: [u8; 6], payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([2, 0, 0, 0, 0, 0x10], to)
        .ipv4([10, 9, 0, 1], [10, 9, 0, 2], 64)
        .udp(1000, 9)
        .write(&mut frame, payload)
        .unwrap();
    frame
}

fn send_all(sender: &mut PacketSender, frames: &[Vec<u8>]) {
    let slices: Vec<_> = frames.iter().map(|frame| IoSlice::new(frame)).collect();
    let mut sent = 0;
    until("all frames are sent", || {
        let outcome = sender.send(&slices[sent..]);
        assert!(matches!(outcome.stopped, None | Some(Stop::Full)), "{:?}", outcome.stopped);
        sent += outcome.count;
        sent == slices.len()
    });
}

fn receive_exactly(receiver: &mut PacketReceiver, count: usize) -> Vec<(Vec<u8>, PacketType, usize)> {
    let mut frames = Vec::new();
    until("all frames arrive", || {
        receiver.receive(32, |f| frames.push((f.data.to_vec(), f.packet_type, f.length))).unwrap();
        frames.len() >= count
    });
    assert_eq!(receiver.receive(32, |f| panic!("unexpected frame {f:?}")).unwrap(), 0);
    frames
}

/// The kernel as a sender on v0, to a neighbour whom only v1 sees.
fn host_socket() -> UdpSocket {
    ip("addr add 10.9.0.1/24 dev v0");
    ip("neigh add 10.9.0.2 lladdr 02:00:00:00:00:11 dev v0");
    let socket = UdpSocket::bind("10.9.0.1:1000").unwrap();
    socket.connect("10.9.0.2:9").unwrap();
    socket
}

/// The payload of a UDP packet whose checksum and lengths are right.
fn verified_udp(frame: &[u8]) -> Vec<u8> {
    let packet = SlicedPacket::from_ethernet(frame).unwrap();
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Udp(udp))) = (packet.net, packet.transport) else {
        panic!("no UDP packet");
    };
    let header = ip.header();
    let checksum =
        udp.to_header().calc_checksum_ipv4_raw(header.source(), header.destination(), udp.payload()).unwrap();
    assert_eq!(udp.checksum(), checksum);
    assert_eq!(usize::from(header.total_len()), frame.len() - 14);
    udp.payload().to_vec()
}

fn frames_arrive_unchanged_and_in_order() {
    in_namespace(|| {
        veth_pair();
        let mut receiver = PacketReceiver::open("v1", &ReceiveOptions::default()).unwrap();
        let mut sender = PacketSender::open("v0").unwrap();
        // More than the ring has slots, so that it goes around.
        for round in 0..40u32 {
            let frames: Vec<_> =
                (0..100u32).map(|i| frame(TO_V1, &(round * 100 + i).to_be_bytes())).collect();
            send_all(&mut sender, &frames);
            let received = receive_exactly(&mut receiver, 100);
            assert!(received.iter().map(|(data, ..)| data).eq(&frames));
        }
        assert_eq!(receiver.counts(), Default::default());
    });
}

fn packet_types_tell_whom_a_frame_was_sent_to() {
    in_namespace(|| {
        veth_pair();
        let options = ReceiveOptions { promiscuous: true, ..ReceiveOptions::default() };
        let mut receiver = PacketReceiver::open("v1", &options).unwrap();
        let mut sender = PacketSender::open("v0").unwrap();
        let group = [1, 0, 0x5e, 0, 0, 1];
        let frames = [TO_V1, [0xff; 6], group, ELSEWHERE].map(|to| frame(to, b"x"));
        send_all(&mut sender, &frames);
        let types: Vec<_> = receive_exactly(&mut receiver, 4).into_iter().map(|(_, kind, _)| kind).collect();
        assert_eq!(
            types,
            [PacketType::Host, PacketType::Broadcast, PacketType::Multicast, PacketType::OtherHost]
        );
    });
}

fn own_packets_are_seen_only_if_asked_for() {
    in_namespace(|| {
        veth_pair();
        let outbound = ReceiveOptions { outbound: true, ..ReceiveOptions::default() };
        let mut without = PacketReceiver::open("v0", &ReceiveOptions::default()).unwrap();
        let mut with = PacketReceiver::open("v0", &outbound).unwrap();
        // A qdisc bypass also bypasses those who look at what is sent: so the host sends.
        host_socket().send(b"x").unwrap();
        let seen = receive_exactly(&mut with, 1);
        assert_eq!(seen[0].1, PacketType::Outgoing);
        assert_eq!(without.receive(32, |_| {}).unwrap(), 0);
    });
}

fn snap_length_and_protocol_are_obeyed() {
    in_namespace(|| {
        veth_pair();
        let short = ReceiveOptions { snap_length: 20, ..ReceiveOptions::default() };
        let arp = ReceiveOptions { protocol: 0x0806, ..ReceiveOptions::default() };
        let mut short = PacketReceiver::open("v1", &short).unwrap();
        let mut arp = PacketReceiver::open("v1", &arp).unwrap();
        let mut request = frame(TO_V1, &[0; 18]);
        request[12..14].copy_from_slice(&[8, 6]);
        send_all(&mut PacketSender::open("v0").unwrap(), &[frame(TO_V1, &[7; 100]), request.clone()]);
        let cut = receive_exactly(&mut short, 2);
        assert_eq!((cut[0].0.len(), cut[0].2), (20, 142));
        assert_eq!(receive_exactly(&mut arp, 1)[0].0, request);
    });
}

fn checksums_that_the_sender_left_partial_are_completed() {
    in_namespace(|| {
        veth_pair();
        let mut receiver = PacketReceiver::open("v1", &ReceiveOptions::default()).unwrap();
        let socket = host_socket();
        for payload in [&b"odd"[..], b"even"] {
            socket.send(payload).unwrap();
            assert_eq!(verified_udp(&receive_exactly(&mut receiver, 1)[0].0), payload);
        }
        assert_eq!(receiver.counts().checksums_completed, 2);
    });
}

fn merged_datagrams_are_cut_even_across_bursts() {
    in_namespace(|| {
        veth_pair();
        let mut receiver = PacketReceiver::open("v1", &ReceiveOptions::default()).unwrap();
        let socket = host_socket();
        let size: libc::c_int = 1000;
        // SAFETY: the pointer and length describe a live int.
        let result = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_UDP,
                libc::UDP_SEGMENT,
                (&raw const size).cast(),
                4,
            )
        };
        assert_eq!(result, 0);
        // 40 datagrams that travel as one packet, larger than a ring slot; then a plain one.
        let data: Vec<u8> = (0..39_500u32).map(|i| (i / 3) as u8).collect();
        socket.send(&data).unwrap();
        socket.send(b"last").unwrap();
        let frames = receive_exactly(&mut receiver, 41);
        let parts: Vec<_> = frames.iter().map(|(data, ..)| verified_udp(data)).collect();
        assert_eq!(parts[..40].concat(), data);
        assert_eq!(parts[40], b"last");
        assert_eq!(receiver.counts().merged, 1);
        let warnings = receiver.take_warnings();
        assert!(warnings.len() == 1 && warnings[0].contains("ethtool -K v1"), "{warnings:?}");
        assert!(receiver.take_warnings().is_empty());
    });
}

/// Frames longer than a ring slot, but not merged: the MTU grew after the ring was made.
fn jumbo_frames_come_through_whole() {
    in_namespace(|| {
        veth_pair();
        let mut receiver = PacketReceiver::open("v1", &ReceiveOptions::default()).unwrap();
        ip("link set v0 mtu 9000");
        ip("link set v1 mtu 9000");
        let frames = [frame(TO_V1, &[1; 8000]), frame(TO_V1, &[2; 10]), frame(TO_V1, &[3; 8900])];
        send_all(&mut PacketSender::open("v0").unwrap(), &frames);
        assert!(receive_exactly(&mut receiver, 3).iter().map(|(data, ..)| data).eq(&frames));
    });
}

fn vlan_tags_stay_in_the_frame() {
    in_namespace(|| {
        veth_pair();
        let options = ReceiveOptions { promiscuous: true, ..ReceiveOptions::default() };
        let mut receiver = PacketReceiver::open("v1", &options).unwrap();
        let mut tagged = frame(TO_V1, b"tagged");
        tagged.splice(12..12, [0x81, 0, 0, 42]);
        send_all(&mut PacketSender::open("v0").unwrap(), std::slice::from_ref(&tagged));
        assert_eq!(receive_exactly(&mut receiver, 1)[0].0, tagged);
    });
}

fn hidden_packets_do_not_reach_the_host_until_the_receiver_is_closed() {
    in_namespace(|| {
        veth_pair();
        ip("addr add 10.9.0.2/24 dev v1");
        let socket = UdpSocket::bind("10.9.0.2:9").unwrap();
        socket.set_nonblocking(true).unwrap();
        let options = ReceiveOptions { sniffer: false, ..ReceiveOptions::default() };
        let mut receiver = PacketReceiver::open("v1", &options).unwrap();
        if let [warning] = receiver.take_warnings().as_slice() {
            clickwork_oracles::lacking(&warning.to_string());
        }
        let mut sender = PacketSender::open("v0").unwrap();
        send_all(&mut sender, &[frame(TO_V1, b"hidden")]);
        receive_exactly(&mut receiver, 1);
        let mut buffer = [0; 100];
        assert!(socket.recv(&mut buffer).is_err());
        drop(receiver);
        // The kernel may take a moment to let go of what hid them.
        until("the host receives again", || {
            send_all(&mut sender, &[frame(TO_V1, b"seen")]);
            socket.recv(&mut buffer).is_ok()
        });
        assert_eq!(&buffer[..4], b"seen");
    });
}

fn what_cannot_be_sent_is_refused_with_the_reason_and_the_rest_goes_on() {
    in_namespace(|| {
        veth_pair();
        let mut receiver = PacketReceiver::open("v1", &ReceiveOptions::default()).unwrap();
        let mut sender = PacketSender::open("v0").unwrap();
        let (good, long) = (frame(TO_V1, b"good"), frame(TO_V1, &[0; 2000]));
        let list = [&good[..], &long, &good[..5], &good].map(IoSlice::new);
        let outcome = sender.send(&list);
        assert_eq!(outcome.count, 1);
        let Some(Stop::Refused(reason)) = outcome.stopped else { panic!("{:?}", outcome.stopped) };
        assert_eq!(reason.to_string(), "v0: cannot send a packet: 2042 bytes are too long for MTU 1500");
        let outcome = sender.send(&list[2..]);
        assert!(matches!(outcome.stopped, Some(Stop::Refused(_))) && outcome.count == 0, "{outcome:?}");
        assert_eq!(sender.send(&list[3..]).count, 1);
        receive_exactly(&mut receiver, 2);
    });
}

fn an_interface_that_goes_down_comes_back_and_one_that_is_removed_does_not() {
    in_namespace(|| {
        veth_pair();
        let mut receiver = PacketReceiver::open("v1", &ReceiveOptions::default()).unwrap();
        let mut sender = PacketSender::open("v1").unwrap();
        let one = [frame(TO_V1, b"x")];
        let slices = [IoSlice::new(&one[0])];
        let fault_of = |receiver: &mut PacketReceiver| {
            let mut fault = None;
            until("the receiver notices", || {
                fault = receiver.receive(32, |_| {}).err().map(|error| error.fault());
                fault.is_some()
            });
            fault.unwrap()
        };
        ip("link set v1 down");
        assert_eq!(fault_of(&mut receiver), Fault::Down);
        let Some(Stop::Failed(error)) = sender.send(&slices).stopped else { panic!() };
        assert_eq!(error.fault(), Fault::Down);
        ip("link set v1 up");
        until("the interface runs again", || Interface::find("v0").unwrap().running);
        send_all(&mut PacketSender::open("v0").unwrap(), &one);
        receive_exactly(&mut receiver, 1);
        ip("link del v1");
        assert_eq!(fault_of(&mut receiver), Fault::Vanished);
        let Some(Stop::Failed(error)) = sender.send(&slices).stopped else { panic!() };
        assert_eq!(error.fault(), Fault::Vanished);
        assert!(error.to_string().starts_with("v1: cannot send: the interface is gone"), "{error}");
    });
}

/// Bridges b0 and b1 until a host goes away, and its end of the pair with it; gives how many merged packets
/// it cut.
fn bridge() -> u64 {
    let options = ReceiveOptions { promiscuous: true, sniffer: false, ..ReceiveOptions::default() };
    let mut lanes = [("b0", "b1"), ("b1", "b0")]
        .map(|(from, to)| (PacketReceiver::open(from, &options).unwrap(), PacketSender::open(to).unwrap()));
    while lanes.iter_mut().all(|(receiver, sender)| bridge_burst(receiver, sender)) {}
    lanes.iter_mut().map(|(receiver, _)| receiver.counts().merged).sum()
}

/// Moves a burst; false if an interface is gone.
fn bridge_burst(receiver: &mut PacketReceiver, sender: &mut PacketSender) -> bool {
    let mut frames = Vec::new();
    let received = receiver.receive(64, |frame| frames.push(frame.data.to_vec()));
    let mut slices: Vec<_> = frames.iter().map(|frame| IoSlice::new(frame)).collect();
    while !slices.is_empty() {
        let outcome = sender.send(&slices);
        slices.drain(..outcome.count);
        if let Some(Stop::Failed(_)) = outcome.stopped {
            return false;
        }
    }
    thread::yield_now();
    received.is_ok()
}

/// A host in a namespace of its own, at the other end of the bridge's interface `port`.
fn host(port: &str, address: &str, ready: mpsc::Sender<i32>, go: mpsc::Receiver<()>) {
    unshare_network().unwrap();
    ready.send(thread_number()).unwrap();
    go.recv().unwrap();
    ip(&format!("addr add {address}/24 dev h-{port}"));
    ip(&format!("link set h-{port} up"));
}

fn a_tcp_stream_between_two_hosts_survives_the_way_through_us() {
    in_namespace(|| {
        run("sysctl", "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
        let data: Vec<u8> = (0..3_000_000u32).map(|i| (i * 7 / 5) as u8).collect();
        let (ports_ready, listening) = (mpsc::channel(), mpsc::channel());
        let (threads, gates) = (mpsc::channel(), [mpsc::channel(), mpsc::channel()]);
        let [(go_0, wait_0), (go_1, wait_1)] = gates;
        thread::scope(|scope| {
            let (ready_0, ready_1) = (threads.0.clone(), threads.0.clone());
            let server = scope.spawn(move || {
                host("b0", "10.9.0.1", ready_0, wait_0);
                let listener = TcpListener::bind("10.9.0.1:80").unwrap();
                listening.0.send(()).unwrap();
                let mut received = Vec::new();
                listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
                received
            });
            let first = threads.1.recv().unwrap();
            let client = {
                let data = &data;
                scope.spawn(move || {
                    host("b1", "10.9.0.2", ready_1, wait_1);
                    ports_ready.1.recv().unwrap();
                    TcpStream::connect("10.9.0.1:80").unwrap().write_all(data).unwrap();
                })
            };
            let second = threads.1.recv().unwrap();
            for (port, thread) in [("b0", first), ("b1", second)] {
                ip(&format!("link add {port} type veth peer name h-{port}"));
                ip(&format!("link set h-{port} netns {thread}"));
                ip(&format!("link set {port} up"));
            }
            go_0.send(()).unwrap();
            go_1.send(()).unwrap();
            listening.1.recv().unwrap();
            let bridge = scope.spawn(bridge);
            ports_ready.0.send(()).unwrap();
            client.join().unwrap();
            let received = server.join().unwrap();
            assert!(received == data, "{} bytes of {} arrived right", received.len(), data.len());
            assert!(bridge.join().unwrap() > 0, "nothing was merged: the test tests nothing");
        });
    });
}

clickwork_oracles::tests! {
    frames_arrive_unchanged_and_in_order,
    packet_types_tell_whom_a_frame_was_sent_to,
    own_packets_are_seen_only_if_asked_for,
    snap_length_and_protocol_are_obeyed,
    checksums_that_the_sender_left_partial_are_completed,
    merged_datagrams_are_cut_even_across_bursts,
    jumbo_frames_come_through_whole,
    vlan_tags_stay_in_the_frame,
    hidden_packets_do_not_reach_the_host_until_the_receiver_is_closed,
    what_cannot_be_sent_is_refused_with_the_reason_and_the_rest_goes_on,
    an_interface_that_goes_down_comes_back_and_one_that_is_removed_does_not,
    a_tcp_stream_between_two_hosts_survives_the_way_through_us,
}
