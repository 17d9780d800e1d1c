//! A server in a few lines talks to the clients.

use super::*;
use crate::testing::Harness;

const CONFIG: &str = "in :: Source -> w :: WebGen(10.1.0.0/16, 10.2.0.1, 10) -> k :: Sink";

fn headers(p: &Packet) -> (Ipv4<'_>, Tcp<'_>) {
    let ip = Ipv4::new(p.data()).unwrap();
    (ip, Tcp::new(ip.payload()).unwrap())
}

/// The server's answer to a packet.
fn answer(to: &Packet, flags: u8, sequence: u32, payload: &[u8]) -> Packet {
    let (ip, asked) = headers(to);
    let mut tcp = TcpHeader::default();
    tcp.flags = flags;
    tcp.set_sequence(sequence);
    let taken = asked.payload().len() as u32 + u32::from(asked.flags & (flag::SYN | flag::FIN) != 0);
    tcp.set_acknowledgment(asked.sequence().wrapping_add(taken));
    let flow = Flow {
        source: ip.destination(),
        source_port: asked.destination_port(),
        destination: ip.source(),
        destination_port: asked.source_port(),
    };
    packet(flow, &Outgoing { tcp, payload, is_last: false }, 0)
}

fn push(t: &mut Harness, p: Packet) -> Vec<Packet> {
    let element = t.router.find("w").unwrap();
    t.router.push(clickwork_router::Endpoint { element, port: 0 }, Batch::one(p));
    t.take("k")
}

#[test]
fn clients_begin_at_the_rate_with_right_packets() {
    let mut t = Harness::new(CONFIG);
    t.run_for(Duration::from_millis(955));
    assert_eq!(t.printed(), "Allocated 100 CBs\n");
    let syns = t.take("k");
    assert_eq!((syns.len(), t.read("w.open")), (9, "9".into()));
    for (n, p) in syns.iter().enumerate() {
        let (ip, tcp) = headers(p);
        assert!(ip.checksum_is_right() && tcp.checksum_is_right(ip.pseudo_sum(20)));
        assert!(ip.source().to_string().starts_with("10.1.") && tcp.source_port() >= 1024);
        assert_eq!(
            (ip.destination(), p.dst_ip()),
            ("10.2.0.1".parse().unwrap(), "10.2.0.1".parse().unwrap())
        );
        assert_eq!((tcp.destination_port(), tcp.flags, ip.identification()), (80, flag::SYN, n as u16));
    }
    t.run_for(Duration::from_millis(4500));
    assert!(t.printed().starts_with("init: 50  comp:     0  tmo:     0  rst:     0\n"));
}

#[test]
fn a_page_is_asked_for_and_the_connection_closed() {
    let mut t = Harness::new(CONFIG);
    t.run_for(Duration::from_millis(150));
    let syn = t.take("k").remove(0);
    let sent = push(&mut t, answer(&syn, flag::SYN | flag::ACK, 500, b""));
    let (_, request) = headers(&sent[0]);
    let text = String::from_utf8(request.payload().to_vec()).unwrap();
    assert!(text.starts_with("GET /spec/") && text.ends_with(" HTTP/1.0\r\n\r\n"), "{text}");
    assert_eq!(request.flags, flag::ACK | flag::PSH | flag::FIN);
    assert_eq!((request.sequence(), request.acknowledgment()), (headers(&syn).1.sequence() + 1, 501));
    let acked = push(&mut t, answer(&sent[0], flag::ACK, 501, b"page"));
    assert_eq!((headers(&acked[0]).1.acknowledgment(), headers(&acked[0]).1.flags), (505, flag::ACK));
    let last = push(&mut t, answer(&sent[0], flag::ACK | flag::FIN, 505, b""));
    let (_, tcp) = headers(&last[0]);
    assert_eq!((tcp.acknowledgment(), tcp.flags), (506, flag::ACK | flag::FIN));
    assert_eq!(tcp.sequence(), request.sequence() + text.len() as u32 + 1);
    assert_eq!(t.read("w.open"), "0");
    t.router.cleanup();
    assert!(t.printed().ends_with("init: 1  comp:     1  tmo:     0  rst:     0\n"));
}

#[test]
fn silence_is_resent_and_given_up() {
    let mut t = Harness::new(&CONFIG.replace("10)", "1)"));
    t.run_for(Duration::from_millis(8900));
    let all = t.take("k");
    let of_first = |p: &&Packet| headers(p).0.source() == headers(&all[0]).0.source();
    assert_eq!(all.iter().filter(of_first).count(), 7);
    t.router.cleanup();
    assert!(t.printed().contains("tmo:     1"));
}

#[test]
fn resets_count_and_strangers_are_reset() {
    let mut t = Harness::new(CONFIG);
    t.run_for(Duration::from_millis(150));
    let syn = t.take("k").remove(0);
    assert_eq!(push(&mut t, answer(&syn, flag::RST | flag::ACK, 0, b"")).len(), 0);
    let refused = push(&mut t, answer(&syn, flag::ACK, 77, b""));
    let (ip, tcp) = headers(&refused[0]);
    assert_eq!((tcp.flags, tcp.acknowledgment(), ip.source()), (flag::RST, 77, headers(&syn).0.source()));
    assert_eq!(push(&mut t, answer(&syn, flag::RST, 77, b"")).len(), 0);
    push(&mut t, Packet::new(b"?"));
    assert_eq!(t.read("w.drop_reasons"), "1\tRST of no connection\n1\tno IP header\n");
    t.router.cleanup();
    assert!(t.printed().contains("rst:     1"));
}

#[test]
fn no_more_connections_than_have_a_place() {
    let mut t = Harness::new("Idle -> w :: WebGen(10.1.0.0/16, 10.2.0.1, 1000) -> Discard");
    t.run_for(Duration::from_secs(9));
    assert!(t.read("w.open").parse::<usize>().unwrap() <= 10_000);
    let e = Harness::errors("Idle -> WebGen(10.1.0.0/16, 10.2.0.1, 0) -> Discard");
    assert!(e.contains("RATE: must be between 1 and 1000000"), "{e}");
}
