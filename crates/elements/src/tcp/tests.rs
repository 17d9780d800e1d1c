//! Stacks in simulated time: servers and clients of all kinds, over good lines and bad ones.

use crate::testing::Harness;
use clickwork_packet::Packet;
use std::time::Duration;

/// Two stacks joined by a line that loses nothing.
const JOINED: &str =
    "a :: ProlacTCP(10.0.0.1, 2001:db8::1) -> wire :: Counter -> b :: ProlacTCP(10.0.0.2, 2001:db8::2) -> a;";

/// Two stacks with `there` and `back` between them.
fn line(there: &str, back: &str, arguments: &str) -> String {
    format!(
        "a :: ProlacTCP(10.0.0.1, {arguments}) -> {there} -> b :: ProlacTCP(10.0.0.2, {arguments}) -> {back} -> a;"
    )
}

/// All modes of running, to the end of what the configuration does.
fn all_modes(config: &str, check: impl Fn(&mut Harness)) {
    for mut t in [Harness::new(config), Harness::batched(config)] {
        t.run_for(Duration::from_secs(100));
        check(&mut t);
    }
}

fn reads(t: &mut Harness, handlers: &[&str]) -> Vec<String> {
    handlers.iter().map(|handler| t.read(handler)).collect()
}

#[test]
fn an_echo_comes_back_byte_for_byte() {
    for address in ["10.0.0.2", "2001:db8::2"] {
        let config = format!(
            "{JOINED} s :: TCPEchoServer(b); c :: TCPEchoClient(a, {address}, LENGTH 1000, COUNT 20, STOP true)"
        );
        all_modes(&config, |t| {
            let counts =
                reads(t, &["c.verified", "c.done", "c.errors", "c.mismatches", "s.bytes_in", "s.bytes_out"]);
            assert_eq!(counts, ["20000", "1", "0", "0", "20000", "20000"], "{}", t.read("c.last_error"));
            assert_eq!(reads(t, &["s.connections", "s.done", "c.finished"]), ["0", "1", "true"]);
            assert!(t.read("c.rtt").ends_with(" ms"), "{}", t.read("c.rtt"));
        });
    }
}

#[test]
fn what_is_discarded_has_the_checksum_of_what_was_sent() {
    let config = format!(
        "{JOINED} s :: TCPDiscardServer(b, CHECKSUM true); c :: TCPDiscardClient(a, 10.0.0.2, LENGTH 3000000, STOP true)"
    );
    all_modes(&config, |t| {
        assert_eq!(
            reads(t, &["c.bytes_out", "s.bytes_in", "c.done", "s.done"]),
            ["3000000", "3000000", "1", "1"]
        );
        let sum = t.read("c.checksum");
        assert_eq!(sum, t.read("s.checksum"));
        assert_ne!(sum, "00000000");
        assert!(t.read("c.rate").parse::<u64>().unwrap() > 1_000_000, "{}", t.read("c.rate"));
    });
}

#[test]
fn generated_characters_are_checked() {
    let config =
        format!("{JOINED} s :: TCPChargenServer(b); c :: TCPChargenClient(a, 10.0.0.2, LENGTH 2000000)");
    all_modes(&config, |t| {
        assert_eq!(
            reads(t, &["c.verified", "c.done", "c.errors"]),
            ["2000000", "1", "0"],
            "{}",
            t.read("c.last_error")
        );
        assert_eq!(reads(t, &["s.connections", "s.errors", "s.done"]), ["0", "0", "1"]);
    });
}

#[test]
fn where_nobody_listens_connections_are_refused() {
    let config = format!("{JOINED} c :: TCPEchoClient(a, 10.0.0.2, REPEAT 3, STOP true)");
    all_modes(&config, |t| {
        assert_eq!(reads(t, &["c.errors", "c.done", "c.finished"]), ["3", "0", "true"]);
        assert_eq!(t.read("c.last_error"), "connection refused");
        assert_eq!(t.read("a.connection_count"), "0");
    });
}

#[test]
fn connections_are_made_together_and_one_after_another() {
    let config = format!(
        "{JOINED} s :: TCPEchoServer(b, BACKLOG 64); \
         c :: TCPEchoClient(a, 10.0.0.2, LENGTH 500, COUNT 3, PARALLEL 20, REPEAT 5, INTERVAL 10ms, STOP true)"
    );
    all_modes(&config, |t| {
        assert_eq!(reads(t, &["c.begun", "c.done", "c.errors", "c.verified"]), ["100", "100", "0", "150000"]);
        assert_eq!(t.read("s.done"), "100");
    });
}

#[test]
fn a_bad_line_costs_time_but_no_byte() {
    let bad = |name: &str| {
        format!(
            "RandomSample(DROP 0.05) -> {name} :: Tee -> {name}_way :: RandomSample(DROP 0.1) \
             -> {name}_queue :: Queue(1000) -> LinkUnqueue(10ms, 10Mbps)"
        )
    };
    let more = |name: &str| {
        format!(
            "{name} [1] -> RandomSample(0.02) -> {name}_way; \
             {name}_way [1] -> Queue(1000) -> DelayUnqueue(3ms) -> {name}_queue;"
        )
    };
    for seed in 1..=4 {
        for personality in ["linux", "bsd"] {
            let line = line(&bad("there"), &bad("back"), &format!("SEED {seed}, PERSONALITY {personality}"));
            let config = format!(
                "RandomSeed({seed}); {line} {} {} TCPEchoServer(b); TCPChargenServer(a); \
                 c :: TCPEchoClient(a, 10.0.0.2, LENGTH 50000, COUNT 2); \
                 d :: TCPChargenClient(b, 10.0.0.1, LENGTH 100000);",
                more("there"),
                more("back")
            );
            let mut t = Harness::new(&config);
            t.run_for(Duration::from_secs(900));
            let errors = reads(&mut t, &["c.last_error", "d.last_error"]);
            assert_eq!(
                reads(&mut t, &["c.verified", "d.verified"]),
                ["100000", "100000"],
                "seed {seed}: {errors:?}"
            );
            assert_eq!(reads(&mut t, &["c.finished", "d.finished"]), ["true", "true"]);
        }
    }
}

#[test]
fn each_extension_can_be_chosen() {
    for arguments in [
        "ECN always",
        "ECN never",
        "FAST_OPEN true",
        "SYN_COOKIES always",
        "SYN_COOKIES never",
        "PATH_MTU probe",
        "PATH_MTU off",
        "CONGESTION reno",
        "SACK false",
        "TIMESTAMPS false",
        "WINDOW_SCALING false",
        "MTU 576",
        "MTU 9000, MSS 8000",
        "INITIAL_WINDOW 1, RTO_MIN 0.05, NODELAY false, KEEPALIVE true",
        "PERSONALITY bsd, SACK true, CONGESTION cubic",
        "TIMESTAMPS false, SACK false, WINDOW_SCALING false, ECN never, SYN_COOKIES never, PATH_MTU off",
    ] {
        let bad = "RandomSample(DROP 0.03) -> Queue -> LinkUnqueue(10ms, 20Mbps)";
        let config = format!(
            "{} TCPEchoServer(b); c :: TCPEchoClient(a, 10.0.0.2, LENGTH 30000, COUNT 3, REPEAT 2)",
            line(bad, bad, arguments)
        );
        let mut t = Harness::new(&config);
        t.run_for(Duration::from_secs(300));
        let outcome = reads(&mut t, &["c.verified", "c.done", "c.last_error"]);
        assert_eq!(outcome, ["180000", "2", ""], "{arguments}");
    }
}

#[test]
fn tiny_buffers_and_segments_do() {
    let config = format!(
        "{} TCPEchoServer(b); c :: TCPEchoClient(a, 10.0.0.2, LENGTH 20000, STOP true)",
        line(
            "Null",
            "Null",
            "MSS 64, RCVBUF 600, SNDBUF 500, WINDOW_SCALING false, TIMESTAMPS false, SACK false"
        )
    );
    all_modes(&config, |t| {
        assert_eq!(reads(t, &["c.verified", "c.errors"]), ["20000", "0"], "{}", t.read("c.last_error"));
    });
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let packets = |seed: u32| {
        let config = format!(
            "{} copy [1] -> k :: Sink; TCPEchoServer(b); TCPEchoClient(a, 10.0.0.2, LENGTH 5000, STOP true)",
            line("copy :: Tee", "Null", &format!("SEED {seed}"))
        );
        let mut t = Harness::new(&config);
        t.run_for(Duration::from_secs(10));
        let bytes = t.bytes("k");
        assert!(bytes.len() > 4, "{}", bytes.len());
        bytes
    };
    assert_eq!(packets(7), packets(7));
    assert_ne!(packets(7), packets(8));
}

#[test]
fn handlers_show_connections_and_end_them() {
    let config = format!(
        "{} s :: TCPChargenServer(b); c :: TCPChargenClient(a, 10.0.0.2, LENGTH 1000000000);",
        line("Queue -> LinkUnqueue(1ms, 10Mbps)", "Queue -> LinkUnqueue(1ms, 10Mbps)", "TIMESTAMPS false")
    );
    let mut t = Harness::new(&config);
    t.run_for(Duration::from_millis(200));
    let listed = t.read("b.connections");
    let (first, second) = listed.split_once('\n').unwrap();
    let words: Vec<&str> = first.split(' ').collect();
    assert_eq!((words[0], words[3], words[5]), ("ESTAB", "10.0.0.2:19", "s"), "{listed}");
    for part in ["sack cubic wscale:", "rto:", "mss:1460", "cwnd:", "bytes_acked:", "advmss:1460"] {
        assert!(second.contains(part), "{listed}");
    }
    assert_eq!(t.read("b.listeners"), "[::]:19 128 s\n");
    assert_eq!(reads(&mut t, &["a.connection_count", "s.connections", "c.connections"]), ["1", "1", "1"]);
    assert!(t.read("a.counters").contains("active_opens\t1\n"), "{}", t.read("a.counters"));

    assert!(listed.contains(" rtt:") && listed.contains(" snd_wnd:"), "{listed}");

    let end = words[4].to_string();
    assert!(t.write("b.abort 10.9.9.9:1").unwrap_err().contains("no connection"));
    t.write(&format!("b.abort {end}")).unwrap();
    // The reset comes behind all that waits in the queue.
    t.run_for(Duration::from_secs(5));
    assert_eq!(reads(&mut t, &["c.errors", "c.last_error"]), ["1", "connection reset by peer"]);
    assert_eq!(
        reads(&mut t, &["a.connection_count", "b.connection_count", "s.connections"]),
        ["0", "0", "0"]
    );
}

#[test]
fn what_is_no_segment_of_ours_is_dropped_by_reason() {
    let mut t = Harness::new("s :: Source -> a :: ProlacTCP(10.0.0.1) -> k :: Sink");
    t.push("s", 0, [Packet::new(b"")]);
    t.push("s", 0, [Packet::new(&[0x45; 30]), Packet::new(&[0x95; 40])]);
    let drops: u64 =
        t.read("a.drops").lines().map(|l| l.split('\t').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(drops, 3, "{}", t.read("a.drops"));
    let told: u64 =
        t.read("a.drop_reasons").lines().map(|l| l.split('\t').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(told, 3);
    assert_eq!(t.take("k").len(), 0);
}

#[test]
fn connections_outlive_a_new_configuration() {
    let config = |more: &str| {
        format!(
            "{} s :: TCPEchoServer(b); c :: TCPEchoClient(a, 10.0.0.2, LENGTH 2000000); {more}",
            line("Queue -> LinkUnqueue(1ms, 100Mbps)", "Queue -> LinkUnqueue(1ms, 100Mbps)", "SEED 1")
        )
    };
    let mut old = Harness::new(&config("TCPDiscardServer(b)"));
    old.run_for(Duration::from_millis(50));
    assert_eq!(old.read("c.finished"), "false");
    let mut new = Harness::new(&config("TCPChargenServer(b)"));
    new.router.take_over(old.router);
    assert_eq!(reads(&mut new, &["b.connection_count", "s.connections"]), ["1", "1"]);
    let listeners = new.read("b.listeners");
    assert!(
        listeners.contains("[::]:7 128 s\n")
            && listeners.contains("[::]:19")
            && !listeners.contains("[::]:9 ")
    );
    new.run_for(Duration::from_secs(20));
    assert_eq!(reads(&mut new, &["c.verified", "c.done", "c.errors"]), ["2000000", "1", "0"]);
}

#[test]
fn connections_outlive_other_arguments_but_not_the_loss_of_their_address() {
    let config = |arguments: &str| {
        format!(
            "a :: ProlacTCP(10.0.0.1) -> Queue -> LinkUnqueue(1ms, 100Mbps) -> b :: ProlacTCP({arguments}) -> a; \
             s :: TCPEchoServer(b); c :: TCPEchoClient(a, 10.0.0.2, LENGTH 2000000)"
        )
    };
    let swapped = |to: &str| {
        let mut old = Harness::new(&config("10.0.0.2"));
        old.run_for(Duration::from_millis(50));
        let mut new = Harness::new(&config(to));
        new.router.take_over(old.router);
        new.run_for(Duration::from_secs(20));
        new
    };
    let mut t = swapped("10.0.0.2, 10.0.0.3, MTU 576, RCVBUF 20000");
    assert_eq!(reads(&mut t, &["c.verified", "s.errors", "c.errors"]), ["2000000", "0", "0"]);
    let mut t = swapped("10.0.0.3");
    assert!(t.printed().contains("its connections are lost"));
    // The client's peer does not answer any more; the server knows at once.
    assert_eq!(reads(&mut t, &["s.errors", "s.connections", "c.finished"]), ["1", "0", "false"]);
}

#[test]
fn wrong_arguments_are_refused_each_with_its_reason() {
    for (config, reason) in [
        ("Idle -> ProlacTCP(10.0.0.256) -> Discard", "should be an IP or IPv6 address"),
        ("Idle -> ProlacTCP(MTU 67) -> Discard", "must be between 68 and 65535"),
        ("Idle -> ProlacTCP(PERSONALITY irix) -> Discard", "expected one of linux, bsd"),
        ("Idle -> ProlacTCP(INITIAL_WINDOW 0) -> Discard", "must be at least 1"),
        ("Idle -> ProlacTCP(RTO_MIN 5000) -> Discard", "must be less than 4294 seconds"),
        ("TCPEchoServer(q); q :: Counter; Idle -> q -> Discard", "expected ProlacTCP"),
        ("TCPEchoServer(q)", "does not name an element"),
        (
            "Idle -> a :: ProlacTCP(10.0.0.1) -> Discard; TCPEchoServer(a); TCPEchoServer(a)",
            "cannot listen at [::]:7",
        ),
        ("Idle -> a :: ProlacTCP -> Discard; TCPEchoClient(a, 10.0.0.1, LENGTH 0)", "must be at least 1"),
        ("Idle -> a :: ProlacTCP -> Discard; TCPEchoClient(a, 10.0.0.1, PARALLEL 0)", "must be at least 1"),
        ("Idle -> a :: ProlacTCP -> Discard; TCPToSocket(a, 80, UDP, 127.0.0.1, 8080)", "TCP, UNIX"),
        ("Idle -> a :: ProlacTCP -> Discard; TCPToSocket(a, 80, TCP, 127.0.0.1)", "TO_PORT: required"),
        (
            "Idle -> a :: ProlacTCP -> Discard; TCPToSocket(a, 80, UNIX, /x, 80)",
            "not an argument of this type",
        ),
    ] {
        let e = Harness::errors(config);
        assert!(e.contains(reason), "{config}: {e}");
    }
}
