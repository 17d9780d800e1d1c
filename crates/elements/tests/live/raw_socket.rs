//! RawSocket and the kernel's own sockets, in a namespace.

use super::*;

pub fn raw_sockets_send_and_receive_what_udp_sockets_do() {
    in_namespace(|| {
        ip("link set lo up");
        let peer = UdpSocket::bind("127.0.0.1:5353").unwrap();
        peer.set_read_timeout(Some(lab::PATIENCE)).unwrap();
        for class in ["RawSocket", "ToRawSocket"] {
            let mut r = build(
                &format!(
                    "InfiniteSource(DATA hello, LIMIT 3) -> UDPIPEncap(127.0.0.1, 7, 127.0.0.1, 5353) -> Queue \
                     -> x :: {class}(UDP); InfiniteSource(DATA short, LIMIT 1) -> Queue -> y :: {class}(UDP)"
                ),
                false,
            );
            route_until(&mut r, "packets", |r| read(r, "x.count") == "3");
            for _ in 0..3 {
                let mut buffer = [0; 100];
                let (n, from) = peer.recv_from(&mut buffer).unwrap();
                assert_eq!((&buffer[..n], from.to_string().as_str()), (&b"hello"[..], "127.0.0.1:7"));
            }
            route_until(&mut r, "a drop", |r| read(r, "y.drop_reasons") == "1\ttoo short for IP\n");
            let printed = r.log().taken();
            assert!(printed.contains("y: runt IP packet (5 bytes)"), "{printed}");
            assert_eq!(printed.contains("warning: ToRawSocket is deprecated"), class == "ToRawSocket");
        }
        let mut r = build(
            "RawSocket(UDP, 9999, SNAPLEN 100) -> CheckIPHeader(CHECKSUM true) -> i :: IPClassifier(dst port 9999, -); \
             i[0] -> Strip(28) -> c :: Counter -> Discard; i[1] -> Discard",
            false,
        );
        // The port is taken, so that nobody answers.
        assert!(UdpSocket::bind("0.0.0.0:9999").is_err());
        peer.send_to(b"to the router", "127.0.0.1:9999").unwrap();
        route_until(&mut r, "a packet", |r| read(r, "c.count") == "1");
        assert_eq!(read(&mut r, "c.byte_count"), "13");
        r.cleanup();
        assert!(UdpSocket::bind("0.0.0.0:9999").is_ok());
    });
}
