//! `tunnel.click`: two ends, joined by real sockets over loopback.

use super::*;
use clickwork_elements::testing::Harness;
use clickwork_packet::{Batch, Packet};
use clickwork_router::Endpoint;
use std::time::{Duration, Instant};

/// One end of the tunnel, whose cable is the test: frames go in at `lan_in` and come out at `lan_out`.
fn tunnel_end(own: &str, peer: &str, port: u16) -> Harness {
    let text = replaced(
        example("tunnel.click"),
        &[
            (
                "$PEER 203.0.113.2, $OWN 0.0.0.0, $PORT 4242",
                &format!("$PEER {peer}, $OWN {own}, $PORT {port}"),
            ),
            ("FromDevice($DEVICE, PROMISC true, SNIFFER false)", "Source"),
            ("ToDevice($DEVICE)", "Sink"),
        ],
    );
    // The script keeps simulated time going.
    Harness::new(&format!("{text} Script(TYPE ACTIVE, wait 1ms, loop);"))
}

/// Runs both ends until the second has got `n` frames.
fn carried(from: &mut Harness, to: &mut Harness, n: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let give_up = Instant::now() + Duration::from_secs(300);
    while frames.len() < n {
        for end in [&mut *from, &mut *to] {
            end.run_for(Duration::from_millis(2));
        }
        frames.extend(to.bytes("lan_out"));
        assert!(Instant::now() < give_up, "{} of {n} frames; {}", frames.len(), to.printed());
    }
    frames
}

fn send(end: &mut Harness, frames: &[Vec<u8>]) {
    let element = end.router.find("lan_in").unwrap();
    for frame in frames {
        end.router.push(Endpoint { element, port: 0 }, Batch::one(Packet::new(frame)));
    }
}

#[test]
fn the_tunnel_carries_frames_both_ways_over_real_sockets() {
    // Nobody else has these addresses, and so their ports.
    let [first, second] = [(); 2].map(|()| clickwork_oracles::loopback().to_string());
    let (first, second, free) = (&*first, &*second, 4242);
    let (mut a, mut b) = (tunnel_end(first, second, free), tunnel_end(second, first, free));
    let (host, other) = (station([10, 0, 0, 2], 4), station([10, 0, 0, 3], 5));
    let there =
        [arp(true, host, other), direct(host, other, ping(1400)), direct(host, other, Content::Udp(30))];
    let back = [arp(false, other, host), direct(other, host, Content::Tcp(flag::SYN, 1, 0))];
    send(&mut a, &there);
    assert_eq!(carried(&mut a, &mut b, there.len()), there);
    send(&mut b, &back);
    assert_eq!(carried(&mut b, &mut a, back.len()), back);

    // Datagrams of strangers, and what is no frame, get nowhere.
    let stranger = std::net::UdpSocket::bind((clickwork_oracles::loopback(), 0)).unwrap();
    stranger.send_to(&there[0], (first, free)).unwrap();
    send(&mut b, &[b"short".to_vec()]);
    send(&mut b, &back);
    assert_eq!(carried(&mut b, &mut a, back.len()), back);
    assert_eq!(a.read("tunnel.drop_reasons"), "1\tdenied\n");
    assert_eq!(
        (a.read("no_frame.count"), a.read("there.count"), a.read("back.count")),
        ("1".into(), "3".into(), "4".into())
    );
}
