//! Text arrives whole and in order: both ways, whoever opens, IPv4 and IPv6, with and without offloads.

use std::net::Shutdown;
use std::thread;

use clickwork_prolac_tcp_host::{SharedHost, TcpListener, TcpStream};

use crate::support::{LINUX, OURS, Opener, Stream, at, connection, exchange, expect_end, host, in_namespace};

/// Bytes of a transfer.
fn amount() -> u64 {
    std::env::var("PROLAC_TCP_TEST_BYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(64 << 20)
}

fn transfer(offload: bool, opener: Opener, family: usize, there: u64, back: u64) {
    in_namespace(|| {
        let host = host(offload);
        let (linux, ours) = connection(&host, opener, family);
        let (linux, ours) = exchange(linux, ours, there, back);
        linux.end(Shutdown::Write).unwrap();
        ours.end(Shutdown::Write).unwrap();
        expect_end(&linux);
        expect_end(&ours);
        let dropped = host.with_stack(|stack, _| stack.counters().drops);
        let ignored = clickwork_prolac_tcp::Drops { protocol: dropped.protocol, ..dropped };
        assert_eq!(
            clickwork_prolac_tcp::Drops { protocol: 0, address: 0, not_ours: 0, ..ignored },
            Default::default()
        );
    });
}

macro_rules! transfers {
    ($($name:ident $offload:literal $opener:ident $family:literal $there:expr, $back:expr;)*) => {
        $(pub fn $name() {
            transfer($offload, Opener::$opener, $family, $there, $back);
        })*
    };
}

transfers! {
    we_receive_from_a_client true Linux 0 amount(), 0;
    we_send_to_a_client true Linux 0 0, amount();
    we_receive_from_a_client_over_ipv6 true Linux 1 amount(), 0;
    we_send_to_a_client_over_ipv6 true Linux 1 0, amount();
    we_receive_from_a_server true Ours 0 amount(), 0;
    we_send_to_a_server true Ours 0 0, amount();
    both_send_at_once true Linux 0 amount(), amount();
    both_send_at_once_over_ipv6 true Ours 1 amount(), amount();
    we_receive_without_offloads false Linux 0 amount(), 0;
    we_send_without_offloads false Ours 0 0, amount();
    both_send_at_once_without_offloads false Ours 0 amount() / 2, amount() / 2;
    both_send_at_once_without_offloads_over_ipv6 false Linux 1 amount() / 2, amount() / 2;
}

pub fn many_connections_at_once() {
    in_namespace(|| {
        let host = host(true);
        let there = std::net::TcpListener::bind(at(LINUX[0], 80)).unwrap();
        let here = TcpListener::bind(&host, at(OURS[0], 80)).unwrap();
        thread::scope(|scope| {
            for turn in 0..40 {
                let (host, there, here) = (&host, &there, &here);
                scope.spawn(move || {
                    let (linux, ours) = pair(host, there, here, turn % 2 == 0);
                    linux.be_impatient();
                    ours.be_impatient();
                    exchange(linux, ours, 300_000, 200_000);
                });
            }
        });
    });
}

/// The two ends of a connection.
fn pair(
    host: &SharedHost,
    there: &std::net::TcpListener,
    here: &TcpListener,
    we_open: bool,
) -> (std::net::TcpStream, TcpStream) {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock();
    if we_open {
        let ours = TcpStream::connect(host, there.local_addr().unwrap()).unwrap();
        (there.accept().unwrap().0, ours)
    } else {
        let linux = std::net::TcpStream::connect(here.local_addr().unwrap()).unwrap();
        (linux, here.accept().unwrap().0)
    }
}
