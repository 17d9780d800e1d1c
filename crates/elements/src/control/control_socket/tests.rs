//! Real connections, over loopback and Unix sockets, to a router that runs meanwhile.

use super::connections;
use crate::testing::Harness;
use clickwork_router::{Outcome, Target};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// Stops the router when the client is done, even if it panics.
struct Stop(u16);

impl Drop for Stop {
    fn drop(&mut self) {
        let _ = connect(self.0).write_all(b"write stop\nquit\n");
    }
}

fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).expect("the router listens")
}

/// Runs the router while a client talks to the control socket `ctl`, which listens on TCP.
fn with_client<T: Send>(t: &mut Harness, client: impl FnOnce(u16) -> T + Send) -> T {
    let port = t.read("ctl.port").parse().expect("a port");
    thread::scope(|scope| {
        let client = scope.spawn(move || {
            let _stop = Stop(port);
            client(port)
        });
        assert_eq!(t.run_for(Duration::from_secs(600)), Outcome::Stopped);
        client.join().expect("the client did not panic")
    })
}

/// All that the server says to a client that sends these bytes and then nothing more.
fn transcript(port: u16, sent: &[u8]) -> String {
    let mut stream = connect(port);
    stream.write_all(sent).expect("the server reads");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut said = Vec::new();
    // A server that closes before it has read everything resets the connection.
    let _ = stream.read_to_end(&mut said);
    String::from_utf8(said).expect("text")
}

const CTL: &str =
    "ctl :: ControlSocket(TCP, 0, LOCALHOST true); c :: Counter; Idle -> c -> q :: Queue(7) -> Discard;\n";

#[test]
fn handlers_are_read_and_written() {
    let mut t = Harness::new(CTL);
    let said = with_client(&mut t, |port| {
        transcript(
            port,
            b"READ c.count\r\nwrite q.capacity 9\nread q.capacity\nREADDATA 0.version 0\nwritedata c.reset 2\nhi\
              writeuntil q.capacity .\n11\n.\nget 2.class\nquit\nread c.count\n",
        )
    });
    let expected = format!(
        "Click::ControlSocket/1.3\r\n200 Read handler 'c.count' OK\r\nDATA 1\r\n0200 Write handler 'q.capacity' OK\r\n\
         200 Read handler 'q.capacity' OK\r\nDATA 1\r\n9200 Read handler '0.version' OK\r\nDATA {}\r\n{}\
         200 Write handler 'c.reset' OK\r\n200 Write handler 'q.capacity' OK\r\n\
         200 Read handler '2.class' OK\r\nDATA 7\r\nCounter200 Goodbye!\r\n",
        clickwork_router::VERSION.len(),
        clickwork_router::VERSION
    );
    assert_eq!(said, expected);
}

#[test]
fn errors_have_codes() {
    let mut t = Harness::new(&format!("{CTL} s :: Script(TYPE PASSIVE)"));
    let said = with_client(&mut t, |port| {
        transcript(
            port,
            b"read nosuch.x\nread c.x\nread c.reset\nwrite c.count 1\nwrite q.capacity x\nread c.count 5\nread s.cat /etc/passwd\n\
              checkread c.count\ncheckwrite c.count\ncheckread c.reset\nllrpc c#7\nfrob\nread\nquit now\n",
        )
    });
    let lines: Vec<&str> = said.lines().skip(1).collect();
    let expected = [
        "510 No element named 'nosuch'",
        "511 No handler named 'c.x'",
        "530 Handler 'c.reset' write-only",
        "530 Handler 'c.count' read-only",
        "520-Write handler 'q.capacity' error:",
    ];
    assert_eq!(lines[..5], expected, "{said}");
    let expected = [
        "590-Read handler 'c.count' error:",
        "590 read handler 'c.count' does not take parameters",
        "511 No handler named 's.cat'",
        "200 Read handler 'c.count' OK",
        "511 Handler 'c.count' not writable",
        "511 Handler 'c.reset' not readable",
        "501 Cannot call LLRPC 'c#7' remotely",
        "501 Command 'FROB' unimplemented",
        "500 Wrong number of arguments",
        "500 Bad command syntax",
        "200 Goodbye!",
    ];
    assert_eq!(lines[6..], expected, "{said}");
}

#[test]
fn rights_can_be_taken_away() {
    let config =
        CTL.replace("LOCALHOST", "VERBOSE true, LOCALHOST") + "r :: ControlSocket(TCP, 0, READONLY true)";
    let mut t = Harness::new(&config);
    let port = t.read("r.port").parse().unwrap();
    let said =
        with_client(&mut t, |_| transcript(port, b"write c.reset\ncheckwrite c.reset\nread c.count\n"));
    let expected = "Click::ControlSocket/1.3\r\n530 Permission denied for 'c.reset'\r\n\
                    530 Permission denied for 'c.reset'\r\n200 Read handler 'c.count' OK\r\nDATA 1\r\n0";
    assert_eq!(said, expected);
    let printed = t.printed();
    assert!(printed.contains("ctl :: ControlSocket: opened connection"), "{printed}");
}

#[test]
fn a_proxy_answers_for_everything() {
    let config =
        format!("{CTL} p :: ControlSocket(TCP, 0, PROXY s); s :: Script(TYPE PROXY, returnq \"$0 $args\")");
    let mut t = Harness::new(&config);
    let port = t.read("p.port").parse().unwrap();
    let said = with_client(&mut t, |_| transcript(port, b"read c.count 5\nread x\n"));
    assert!(said.contains("200 Read handler 'c.count' OK\r\nDATA 9\r\nc.count 5200 Read"), "{said}");
}

#[test]
fn hostile_clients_do_no_harm() {
    let mut t = Harness::new(CTL);
    with_client(&mut t, |port| {
        let garbage: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let said = |sent: &[u8]| transcript_of_bytes(port, sent);
        said(&garbage);
        assert!(said(&[b'x'; 70_000]).contains("500 Command line too long"));
        assert!(said(b"writedata c.reset 99999999999\n").contains("521 Data too large"));
        assert!(said(b"writedata c.reset 10\nabc").contains("500 Not enough data"));
        // Half a command, and many who say nothing.
        let silent: Vec<TcpStream> = (0..50).map(|_| connect(port)).collect();
        (&silent[0]).write_all(b"writeuntil c.reset x\n1\n2").unwrap();
        // One who asks much and reads nothing.
        let mut slow = connect(port);
        slow.set_nonblocking(true).unwrap();
        while slow.write(&b"read classes\n".repeat(1000)).is_ok() {}
        assert!(said(b"read c.count\n").contains("DATA 1\r\n0"));
    });
}

fn transcript_of_bytes(port: u16, sent: &[u8]) -> String {
    let mut stream = connect(port);
    let mut half = stream.try_clone().expect("a descriptor");
    thread::scope(|scope| {
        scope.spawn(move || {
            let _ = half.write_all(sent);
            let _ = half.shutdown(Shutdown::Write);
        });
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    })
}

fn socket_path(name: &str) -> PathBuf {
    clickwork_oracles::unused(&format!("clickwork-{name}"))
}

#[test]
fn unix_sockets_come_and_go_with_the_router() {
    let path = socket_path("unix");
    let mut t = Harness::new(&format!("{CTL} u :: ControlSocket(UNIX, {})", path.display()));
    assert_eq!(t.read("u.filename"), path.display().to_string());
    let client_path = path.clone();
    let said = with_client(&mut t, move |_| {
        let mut stream = UnixStream::connect(client_path).unwrap();
        stream.write_all(b"read u.class\nquit\n").unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    });
    assert!(said.contains("DATA 13\r\nControlSocket200 Goodbye!"), "{said}");
    t.router.cleanup();
    assert!(!path.exists());
}

#[test]
fn a_taken_address_is_an_error_unless_there_are_retries() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let at_port = |rest: &str| format!("c :: ControlSocket(TCP, {port}{rest}, LOCALHOST true)");
    let e = Harness::errors(&at_port(""));
    assert!(e.contains("bind: Address already in use"), "{e}");
    let mut t = Harness::new(&at_port("+"));
    assert_ne!(t.read("c.port"), port.to_string());
    let mut t = Harness::new(&at_port(", RETRIES 2"));
    assert!(t.printed().contains("(2 tries left)"));
    assert_eq!(t.run(), Outcome::Stopped);
    let printed = t.printed();
    assert!(printed.contains("(1 try left)") && printed.contains("c :: ControlSocket: bind"), "{printed}");
}

#[test]
fn a_new_router_takes_over_listener_and_connections() {
    let path = socket_path("swap");
    let socket = format!("c :: ControlSocket(UNIX, {}, RETRIES 1, RETRY_WARNINGS false)", path.display());
    // Something to happen now and then, so that simulated time passes.
    let config = format!("{socket}; Script(label again, wait 1ms, goto again)");
    let look_around = |t: &mut Harness| assert_eq!(t.run_for(Duration::from_millis(50)), Outcome::TimeLimit);
    let mut t = Harness::new(&config);
    let mut stream = UnixStream::connect(&path).unwrap();
    look_around(&mut t);
    stream.write_all(b"read c.class\n").unwrap();
    let mut new = Harness::new(&config);
    new.router.take_over(t.router);
    look_around(&mut new);
    stream.write_all(b"quit\n").unwrap();
    look_around(&mut new);
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.contains("ControlSocket200 Goodbye!"), "{said}");
    assert!(path.exists());
    new.router.cleanup();
    assert!(!path.exists());
}

#[test]
fn a_file_that_a_dead_router_left_is_replaced_and_one_in_use_is_named() {
    let path = socket_path("left");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let config = format!("c :: ControlSocket(UNIX, {})", path.display());
    let mut t = Harness::new(&config);
    assert!(UnixStream::connect(&path).is_ok());
    let e = Harness::errors(&config);
    assert!(e.contains(&format!("bind: {}: Address already in use", path.display())), "{e}");
    t.router.cleanup();
    std::fs::write(&path, "precious").unwrap();
    assert!(Harness::errors(&config).contains("Address already in use"));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn other_machines_are_let_in_only_if_that_is_said() {
    let mut t = Harness::new(
        "a :: ControlSocket(TCP, 0); b :: ControlSocket(TCP, 127.0.0.2:0); c :: ControlSocket(TCP, 0.0.0.0:0); \
         d :: ControlSocket(TCP, 0, LOCALHOST false, READONLY true)",
    );
    let printed = t.printed();
    let line = |name: &str, port: String, can: &str| {
        format!("{name} :: ControlSocket: listening on 0.0.0.0:{port}: other machines can {can}\n")
    };
    let expected = [
        line("c", t.read("c.port"), "control the router"),
        line("d", t.read("d.port"), "read the router's handlers"),
    ];
    assert_eq!(printed, expected.concat());
    let connects = |host: &str, port: String| TcpStream::connect((host, port.parse().unwrap())).is_ok();
    assert!(
        connects("127.0.0.1", t.read("a.port"))
            && !connects(&clickwork_oracles::loopback().to_string(), t.read("a.port"))
    );
    assert!(connects("127.0.0.2", t.read("b.port")) && connects("127.0.0.2", t.read("c.port")));
}

#[test]
fn functions_are_called_by_number() {
    let mut t = Harness::new(&format!(
        "{CTL} i :: InfiniteSource(LIMIT 3, LENGTH 100, STOP false) -> n :: Counter -> Discard; \
         w :: Switch(1); Idle -> w; w[0] -> Discard; w[1] -> Discard; r :: ControlSocket(TCP, 0, READONLY true); \
         a :: AnonymizeIPAddr; Idle -> a -> Discard; p :: ControlSocket(TCP, 0, PROXY w)"
    ));
    let (read_only, proxy) = (t.read("r.port").parse().unwrap(), t.read("p.port").parse().unwrap());
    let said = with_client(&mut t, |port| {
        let mut sent = Vec::new();
        for (call, data) in [
            ("n#C004C003", &0u32.to_ne_bytes()[..]),
            ("n#0xc004c003", &1u32.to_ne_bytes()),
            ("n#C004C003", &2u32.to_ne_bytes()),
            ("n#C004C003", &[0]),
            ("w#4004C005", &[]),
            ("w#80044006", &0u32.to_ne_bytes()),
            ("w#4004C005", &[]),
            ("n#4004C005", &[]),
            ("n#xyz", &[]),
            ("nobody#4004C005", &[]),
            ("a#c0044007", &[0; 4]),
        ] {
            sent.extend_from_slice(format!("llrpc {call} {}\r\n", data.len()).as_bytes());
            sent.extend_from_slice(data);
        }
        let other = |port| transcript_of_bytes(port, b"llrpc w#4004C005\n");
        transcript_of_bytes(port, &sent) + &other(read_only) + &other(proxy)
    });
    let word = |n: u32| String::from_utf8(n.to_ne_bytes().to_vec()).unwrap();
    let ok = |name: &str, data: String| format!("200 LLRPC '{name}' OK\r\nDATA {}\r\n{data}", data.len());
    let expected = [
        "Click::ControlSocket/1.3\r\n".to_string(),
        ok("n#C004C003", word(3)),
        ok("n#0xc004c003", transcript_word(300)),
        "522 LLRPC 'n#C004C003' error: Invalid argument\r\n".into(),
        "522 LLRPC 'n#C004C003' requires 4 bytes input data\r\n".into(),
        ok("w#4004C005", word(1)),
        ok("w#80044006", String::new()),
        ok("w#4004C005", word(0)),
        "522 LLRPC 'n#4004C005' error: Invalid argument\r\n".into(),
        "500 Syntax error in LLRPC name 'n#xyz'\r\n".into(),
        "510 No element named 'nobody'\r\n".into(),
        ok("a#c0044007", word(0)),
        "Click::ControlSocket/1.3\r\n530 Permission denied for 'w#4004C005'\r\n".into(),
        "Click::ControlSocket/1.3\r\n511 No proxied handler named 'w.name'\r\n".into(),
    ];
    assert_eq!(said, expected.concat());
}

/// A number as the text that a lossy transcript shows.
fn transcript_word(n: u32) -> String {
    String::from_utf8_lossy(&n.to_ne_bytes()).into_owned()
}

/// A router in real time, with packets that never end.
fn busy_router(config: &str) -> Harness {
    Harness::real_time(&format!("InfiniteSource -> k :: Counter -> Discard; {config}"))
}

/// What the control socket `ctl` takes, as it says itself.
fn memory(port: u16) -> usize {
    let said = transcript(port, b"read ctl.memory\n");
    said.lines().last().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

#[test]
fn clients_who_announce_much_are_told_to_go_and_an_administrator_gets_in() {
    let mut t = busy_router("ctl :: ControlSocket(TCP, 0); c :: Counter; Idle -> c -> Discard");
    with_client(&mut t, |port| {
        assert!(
            transcript(port, b"writedata c.reset 67000000\n").contains("521 Data too large, at most 8388608")
        );
        let piece = vec![b'x'; 1 << 20];
        let mut clients: Vec<TcpStream> = (0..40).map(|_| connect(port)).collect();
        for client in &mut clients {
            client.set_nonblocking(true).unwrap();
            let _ = client.write(b"writedata c.reset 8000000\n");
        }
        for _ in 0..40 {
            clients.iter_mut().for_each(|client| drop(client.write(&piece)));
            let taken = memory(port);
            assert!(taken <= connections::MAX_MEMORY, "{taken}");
        }
        assert!(transcript(port, b"read c.count\n").contains("DATA 1\r\n0"));
    });
}

/// The connections of two control sockets.
fn connections(port: u16) -> usize {
    let said = |name| transcript(port, format!("read {name}.connections\n").as_bytes());
    let number = |said: &str| said.lines().last().and_then(|n| n.parse::<usize>().ok());
    ["ctl", "other"].iter().map(|name| number(&said(name)).unwrap_or_else(|| panic!("{name}"))).sum()
}

#[test]
fn all_sockets_of_a_router_share_what_they_may_take() {
    let mut t = busy_router(
        "ctl :: ControlSocket(TCP, 0); other :: ControlSocket(TCP, 0); c :: Counter; Idle -> c -> Discard",
    );
    let other: u16 = t.read("other.port").parse().unwrap();
    with_client(&mut t, |port| {
        let piece = vec![b'x'; 1 << 20];
        let mut clients: Vec<TcpStream> = (0..20).flat_map(|_| [connect(port), connect(other)]).collect();
        for client in &mut clients {
            client.set_nonblocking(true).unwrap();
            let _ = client.write(b"writedata c.reset 8000000\n");
        }
        for _ in 0..40 {
            clients.iter_mut().for_each(|client| drop(client.write(&piece)));
            let taken = memory(port);
            assert!(taken <= connections::MAX_MEMORY, "{taken}");
        }
        drop(clients);
        let half = connections::MAX_CONNECTIONS / 2 + 10;
        let mut idle: Vec<TcpStream> = (0..half).map(|_| connect(port)).collect();
        idle.extend((0..half).map(|_| connect(other)));
        assert!(transcript(other, b"read c.count\n").contains("DATA 1\r\n0"));
        // They are read by a connection to one, then by another.
        let there = connections(port);
        assert!(there <= connections::MAX_CONNECTIONS + 1 && there > half, "{there}");
        // The oldest went, though the newest came to another socket.
        let mut said = String::new();
        idle[0].read_to_string(&mut said).unwrap();
        assert!(said.ends_with("590 Connection closed to make room for others\r\n"), "{said}");
    });
}

#[test]
fn endless_lines_cost_no_memory() {
    let mut t = busy_router("ctl :: ControlSocket(TCP, 0); c :: Counter; Idle -> c -> Discard");
    with_client(&mut t, |port| {
        let mut client = connect(port);
        let newlines = vec![b'\n'; 1 << 20];
        for _ in 0..20 {
            client.write_all(&newlines).expect("it is read");
            assert!(memory(port) < 100_000);
        }
        client.write_all(b"read c.count\nquit\n").unwrap();
        let mut said = String::new();
        client.read_to_string(&mut said).unwrap();
        assert!(said.contains("DATA 1\r\n0"), "{said}");
    });
}

#[test]
fn an_administrator_gets_in_where_many_only_wait() {
    let mut t = busy_router("ctl :: ControlSocket(TCP, 0); c :: Counter; Idle -> c -> Discard");
    with_client(&mut t, |port| {
        let mut idle: Vec<TcpStream> = (0..connections::MAX_CONNECTIONS).map(|_| connect(port)).collect();
        // Who never reads what it asked for is one of those who wait.
        idle[7].write_all(&b"read classes\n".repeat(1000)).unwrap();
        for _ in 0..3 {
            assert!(memory(port) <= connections::MAX_MEMORY);
            assert!(transcript(port, b"read c.count\n").contains("DATA 1\r\n0"));
        }
        let mut said = String::new();
        idle[0].read_to_string(&mut said).unwrap();
        assert!(said.ends_with("590 Connection closed to make room for others\r\n"), "{said}");
    });
}

#[test]
fn a_command_must_arrive_in_time() {
    let mut t = busy_router("ctl :: ControlSocket(TCP, 0, TIMEOUT 0.2s); c :: Counter; Idle -> c -> Discard");
    with_client(&mut t, |port| {
        let mut slow = connect(port);
        slow.write_all(b"writedata c.reset 5\nab").unwrap();
        let mut said = String::new();
        slow.read_to_string(&mut said).unwrap();
        assert_eq!(said, "Click::ControlSocket/1.3\r\n590 Command did not arrive in time\r\n");
    });
}

#[test]
fn mistakes_in_the_configuration() {
    for (config, text) in [
        ("ControlSocket(TCP, 0.0.0.0:0, LOCALHOST true)", "contradicts the address 0.0.0.0 of PORT"),
        ("ControlSocket(TCP, host:1)", "PORT: requires TCP port"),
        ("ControlSocket(TCP, http x)", "PORT"),
        ("ControlSocket(TCP)", "PORT: required argument missing"),
        ("ControlSocket(CARRIER_PIGEON, 1)", "unknown socket type 'CARRIER_PIGEON'"),
        ("ControlSocket(TCP, 0, PROXY nobody)", "PROXY: does not name an element"),
        ("ControlSocket(SOCKET, -1)", "FD"),
    ] {
        let e = Harness::errors(config);
        assert!(e.contains(text), "{config}: {e}");
    }
}

/// What two clients are told, of whom the second may only read.
fn told_to_both(config: &str, asked: &[u8]) -> (String, String) {
    let sockets = "ctl :: ControlSocket(TCP, 0); r :: ControlSocket(TCP, 0, READONLY true);";
    let mut t = Harness::new(&format!("{sockets}\n{config}"));
    let read_only = t.read("r.port").parse().unwrap();
    with_client(&mut t, |port| (transcript(port, asked), transcript(read_only, asked)))
}

#[test]
fn who_may_only_read_sees_no_keys() {
    let config = "define($K \\<0102030405060708090a0b0c0d0e0f10>);\n\
                  e :: IPsecESPEncrypt(0x1001, KEY 000102030405060708090a0b0c0d0e0f10111213, SRC 1.0.0.1, DST 1.0.0.2);\n\
                  Idle -> e -> w :: WepEncap(\\<a1b2c3d4e5>) -> Discard;\n\
                  l :: RadixIPsecLookup(0/0 0, 1.0.0.0/8 1 7 $K \\<11111111111111111111111111111111> 1 32);\n\
                  Idle -> l; l[0] -> Discard; l[1] -> Discard; l[2] -> Discard;";
    let asked = b"read config\nread flatconfig\nread e.config\nread w.config\nread w.key\nread l.config\nread l.table\n";
    let (all, hidden) = told_to_both(config, asked);
    for key in ["0001020304", "a1b2c3d4e5", "A1B2C3D4E5", "0102030405060708", "1111111111"] {
        assert!(all.contains(key) && !hidden.contains(key), "{key}: {hidden}");
    }
    let count = |text: &str| hidden.matches(text).count();
    assert_eq!((count("\u{2022}\u{2022}\u{2022}") > 8, count("520"), count("590")), (true, 0, 0), "{hidden}");
    assert!(hidden.contains("1.0.0.0/8 1 7 \u{2022}\u{2022}\u{2022}"), "{hidden}");
}

/// Keys in comments and scripts, in what scripts know, in errors, and keys that are not in use yet.
#[test]
fn keys_that_are_repeated_elsewhere_are_hidden_too() {
    let config = "// the old key: 99887766554433221100\n\
                  e :: IPsecESPEncrypt(0x1001, KEY /* once aabbccddeeff */ 000102030405060708090a0b0c0d0e0f10111213, SRC 1.0.0.1, DST 1.0.0.2);\n\
                  Idle -> e -> Discard;\n\
                  next :: Script(TYPE PASSIVE, write e.config \"0x1001, KEY 123412341234123412341234123412341234abcd\");\n\
                  same :: Script(TYPE PASSIVE, set k 000102030405060708090a0b0c0d0e0f10111213, return $k);\n\
                  n :: Counter(COUNT 10111213);";
    let asked = b"read config\nread flatconfig\nread next.config\nread same.config\nread same.run\n";
    let config = config.replace("Counter(COUNT 10111213)", "Script(TYPE PASSIVE, return 10111213)");
    let (all, hidden) = told_to_both(&config, &[&asked[..], b"read n.run\n"].concat());
    for key in ["99887766554433221100", "aabbccddeeff", "0001020304", "12341234"] {
        assert!(all.contains(key) && !hidden.contains(key), "{key}: {hidden}");
    }
    // What is not a key is shown.
    assert!(hidden.ends_with("DATA 8\r\n10111213"), "{hidden}");
    assert!(hidden.contains("next :: Script(\u{2022}\u{2022}\u{2022})"), "{hidden}");
}

/// A router whose configuration is long, with bytes in it that are not UTF-8.
fn large_router() -> Harness {
    let steps: String = (0..2000).map(|n| format!("-> c{n} :: CheckLength({}) ", n + 100)).collect();
    let name = clickwork_router::text::decode(*b"caf\xe9");
    Harness::new(&format!("i :: Script(TYPE PASSIVE, print \"{name}\"); Idle {steps} -> Discard"))
}

/// The value of a handler of the router, and how many bytes of it were made for who reads it.
fn shared(t: &mut Harness, handler: &str) -> (String, usize) {
    let target = Target { element: None, handler: handler.to_string() };
    let pieces = t.router.read_pieces(&target, "", false).unwrap();
    (clickwork_router::text::decode(pieces.to_vec()), pieces.own())
}

#[test]
fn large_texts_are_made_once_and_shared() {
    let mut t = large_router();
    let flat = clickwork_lang::print(&t.router.to_graph());
    assert!(flat.len() > 50_000);
    assert_eq!(shared(&mut t, "flatconfig"), (flat.clone(), 0));
    assert_eq!(t.read("flatconfig"), flat);
    let (list, own) = shared(&mut t, "list");
    assert_eq!((list.lines().next(), list.lines().count(), own), (Some("2003"), 2004, 0));
    // Only what has changed is made anew; what stands near an end is not worth a piece of its own.
    for (name, config) in [("c1000", "7"), ("c3", "8"), ("c1999", "1234567")] {
        t.write(&format!("{name}.config {config}")).unwrap();
        let (text, own) = shared(&mut t, "flatconfig");
        assert_eq!(text, clickwork_lang::print(&t.router.to_present_graph()));
        assert!(text.contains(&format!("{name} :: CheckLength({config});")) && own < 3 * 4096 + 200, "{own}");
    }
}
