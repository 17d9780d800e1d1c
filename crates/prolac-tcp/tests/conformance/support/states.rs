//! A connection in each of the eleven states of RFC 9293 §3.3.2, and the macro for a test in several of them.

use clickwork_prolac_tcp::abi::{Config, state};

use super::peer::Peer;

impl Peer {
    /// Passive and established: no options but an MSS of 1000.
    pub fn established() -> Peer {
        Peer::established_with(|_| (), "<mss 1000>")
    }

    /// The same with other parameters and the options of the peer's SYN.
    pub fn established_with(change: impl FnOnce(&mut Config), options: &str) -> Peer {
        Peer::with(change).handshake(options)
    }

    /// The stack listens, the peer opens, the user accepts.
    pub fn handshake(mut self, options: &str) -> Peer {
        self.listen(16);
        self.inject(&format!("S 0 {options}"));
        self.expect("S. 0 ack 1");
        self.inject(". 1 ack 1");
        self.nothing();
        self.accept();
        self
    }

    /// The stack opens actively.
    pub fn connected(mut self, options: &str) -> Peer {
        self.connect();
        self.expect("S 0");
        self.inject(&format!("S. 0 ack 1 {options}"));
        self.expect(". 1 ack 1");
        self
    }
}

/// A function for each state that a connection can be in; those of the synchronized states come by way of LISTEN.
pub mod to {
    use super::*;

    pub fn listen() -> Peer {
        let mut t = Peer::new();
        t.listen(16);
        t
    }

    pub fn syn_sent() -> Peer {
        let mut t = Peer::new();
        t.connect();
        t.expect("S 0");
        t
    }

    /// By a passive open.
    pub fn syn_received() -> Peer {
        let mut t = listen();
        t.inject("S 0 <mss 1000>");
        t.expect("S. 0 ack 1");
        t
    }

    /// By an active open that crosses the peer's.
    pub fn syn_received_actively() -> Peer {
        let mut t = syn_sent();
        t.inject("S 0 <mss 1000>");
        t.expect("S. 0 ack 1");
        t
    }

    pub fn established() -> Peer {
        Peer::established()
    }

    pub fn fin_wait_1() -> Peer {
        let mut t = established();
        t.shutdown();
        t.expect("F. 1 ack 1");
        t
    }

    pub fn fin_wait_2() -> Peer {
        let mut t = fin_wait_1();
        t.inject(". 1 ack 2");
        t
    }

    pub fn close_wait() -> Peer {
        let mut t = established();
        t.inject("F. 1 ack 1");
        t.expect_ack(". 1 ack 2");
        t
    }

    pub fn closing() -> Peer {
        let mut t = fin_wait_1();
        t.inject("F. 1 ack 1");
        t.expect_ack(". 2 ack 2");
        t
    }

    pub fn last_ack() -> Peer {
        let mut t = close_wait();
        t.shutdown();
        t.expect("F. 1 ack 2");
        t
    }

    pub fn time_wait() -> Peer {
        let mut t = fin_wait_2();
        t.inject("F. 1 ack 2");
        t.expect_ack(". 2 ack 2");
        t
    }
}

/// The number of the state that the function of this name in [`to`] leads to.
pub fn number(name: &str) -> u8 {
    match name {
        "syn_sent" => state::SYN_SENT,
        "syn_received" | "syn_received_actively" => state::SYN_RECEIVED,
        "established" => state::ESTABLISHED,
        "fin_wait_1" => state::FIN_WAIT_1,
        "fin_wait_2" => state::FIN_WAIT_2,
        "close_wait" => state::CLOSE_WAIT,
        "closing" => state::CLOSING,
        "last_ack" => state::LAST_ACK,
        "time_wait" => state::TIME_WAIT,
        _ => panic!("no state {name}"),
    }
}

/// One test in each of several states: `in_states! { name(t, state) [established, closing] { ... } }` makes the tests
/// `name::established` and `name::closing`, with `t` a connection in that state and `state` its number.
macro_rules! in_states {
    ($($(#[$doc:meta])* $name:ident($peer:ident, $state:ident) [$($each:ident),* $(,)?] $body:block)*) => {
        $($(#[$doc])* mod $name {
            #[allow(unused_imports)]
            use super::*;

            #[allow(unused_variables, unused_mut)]
            fn check(mut $peer: Peer, $state: u8) {
                $peer.is($state);
                $body
            }

            $(#[test]
            fn $each() {
                check($crate::support::states::to::$each(), $crate::support::states::number(stringify!($each)));
            })*
        })*
    };
}
pub(crate) use in_states;
