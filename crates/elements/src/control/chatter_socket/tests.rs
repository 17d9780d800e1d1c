//! Clients over loopback and Unix sockets.

use super::*;
use crate::testing::Harness;
use clickwork_packet::Packet;
use std::io::Read;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// Lets the router look at its sockets a few times.
fn turn(t: &mut Harness) {
    for _ in 0..20 {
        t.run_for(Duration::from_millis(1));
    }
}

/// Repeats `step`, and lets the router run between, until it gives something: the system takes its time to carry what was sent.
fn until<T>(t: &mut Harness, mut step: impl FnMut(&mut Harness) -> Option<T>) -> T {
    let give_up = Instant::now() + Duration::from_secs(300);
    loop {
        turn(t);
        if let Some(value) = step(t) {
            return value;
        }
        assert!(Instant::now() < give_up, "it is there in time");
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn connect(t: &mut Harness, element: &str) -> TcpStream {
    let port: u16 = t.read(&format!("{element}.port")).parse().expect("a port");
    let client = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    client.set_nonblocking(true).unwrap();
    client
}

const GREETING: &str = "Click::ChatterSocket/1.0\r\n";

/// A client that has been greeted, and so hears what is said from now on.
fn listener(t: &mut Harness, element: &str) -> TcpStream {
    let client = connect(t, element);
    assert_eq!(hear(t, &client, GREETING.len()), GREETING);
    client
}

/// The next text of some length.
fn hear(t: &mut Harness, client: impl Read, length: usize) -> String {
    let mut client = client.take(length as u64);
    let mut bytes = Vec::new();
    until(t, |_| {
        let _ = client.read_to_end(&mut bytes);
        (bytes.len() == length).then_some(())
    });
    String::from_utf8(bytes).unwrap()
}

/// What has arrived so far.
fn heard(mut client: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = client.read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// Keeps the clock going, so that the router never waits.
const CONFIG: &str =
    "s :: Source -> Print(x) -> Discard; c :: ChatterSocket(TCP, 0); Script(TYPE ACTIVE, wait 1ms, loop);";

#[test]
fn clients_get_a_greeting_and_then_every_message() {
    let mut t = Harness::new(CONFIG);
    t.push_now("early");
    let clients = [listener(&mut t, "c"), listener(&mut t, "c")];
    t.push_now("a");
    t.push_now("b");
    let expected = "x:    1 | 61\nx:    1 | 62\n";
    assert_eq!(clients.each_ref().map(|client| hear(&mut t, client, expected.len())), [expected; 2]);
    let [first, second] = clients;
    // Messages are printed as ever.
    assert_eq!(t.printed().lines().count(), 3);
    first.shutdown(Shutdown::Both).unwrap();
    turn(&mut t);
    t.push_now("c");
    assert_eq!(hear(&mut t, &second, 13), "x:    1 | 63\n");
    t.push_now("d");
    t.router.cleanup();
    second.set_nonblocking(false).unwrap();
    assert_eq!(heard(&second), "x:    1 | 64\n");
}

impl Harness {
    /// Pushes a packet at once, without running.
    fn push_now(&mut self, text: &str) {
        let element = self.router.find("s").expect("a Source");
        let to = clickwork_router::Endpoint { element, port: 0 };
        self.router.push(to, clickwork_packet::Batch::one(Packet::new(text.as_bytes())));
    }
}

#[test]
fn a_client_that_does_not_listen_is_dropped_and_costs_little() {
    let config = CONFIG.replace("Print(x)", "Print(x, MAXLENGTH 2000)");
    let mut t = Harness::new(&config);
    let lazy = listener(&mut t, "c");
    for n in 0..6000 {
        t.push_now(&"y".repeat(1500));
        if n % 20 == 0 {
            t.run_for(Duration::from_millis(1));
        }
    }
    // It got what the system's buffers took, and then its end.
    lazy.set_nonblocking(false).unwrap();
    let (text, all) = (heard(&lazy), t.printed());
    assert!(text.len() < all.len() && text.starts_with("x: 1500 | "), "{} of {}", text.len(), all.len());
}

#[test]
fn channels_are_apart() {
    let mut t = Harness::new(
        "s :: Source -> MarkIPHeader -> IPPrint(quiet, CHANNEL q) -> IPPrint(loud, CHANNEL l) -> IPPrint(none, CHANNEL n) -> Discard; \
         q :: ChatterSocket(TCP, 0, CHANNEL q, GREETING false); \
         l :: ChatterSocket(TCP, 0, CHANNEL l, GREETING false, QUIET_CHANNEL false); \
         d :: ChatterSocket(TCP, 0, GREETING false); Script(TYPE ACTIVE, wait 1ms, loop);",
    );
    let clients = ["q", "l", "d"].map(|c| connect(&mut t, c));
    let [mut q, mut l] = [String::new(), String::new()];
    // Without a greeting nobody knows when the router has seen them.
    until(&mut t, |t| {
        t.push_now("?");
        q += &heard(&clients[0]);
        l += &heard(&clients[1]);
        (!q.is_empty() && !l.is_empty()).then_some(())
    });
    assert!(q.starts_with("quiet: ") && l.starts_with("loud: "), "{q} {l}");
    let printed = t.printed();
    assert!(printed.contains(l.lines().next().unwrap()) && !printed.contains("quiet: "), "{printed}");
    assert_eq!(heard(&clients[2]), "");
}

#[test]
fn a_unix_socket_goes_with_the_router() {
    let path = clickwork_oracles::unused("chatter");
    let config = CONFIG.replace("TCP, 0", &format!("unix, {}", path.display()));
    let mut t = Harness::new(&config);
    let client = UnixStream::connect(&path).unwrap();
    client.set_nonblocking(true).unwrap();
    assert_eq!(hear(&mut t, &client, GREETING.len()), GREETING);
    let e = Harness::errors(&config);
    assert!(e.contains(&format!("bind: {}: Address already in use", path.display())), "{e}");
    let retrying = format!("ChatterSocket(UNIX, {}, RETRIES 1)", path.display());
    let mut patient = Harness::new(&retrying);
    let printed = patient.printed();
    assert!(printed.contains("Address already in use (1 try left)"), "{printed}");
    t.router.cleanup();
    assert!(!path.exists());
}

#[test]
fn a_file_that_a_dead_router_left_is_replaced() {
    let path = clickwork_oracles::unused("chatter-left");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let mut t = Harness::new(&CONFIG.replace("TCP, 0", &format!("unix, {}", path.display())));
    assert!(UnixStream::connect(&path).is_ok());
    t.router.cleanup();
    assert!(!path.exists());
}

#[test]
fn other_machines_are_let_in_only_if_that_is_said() {
    let mut t = Harness::new("c :: ChatterSocket(TCP, 0); a :: ChatterSocket(TCP, 0.0.0.0:0);");
    let printed = t.printed();
    let port = t.read("a.port");
    let line =
        format!("a :: ChatterSocket: listening on 0.0.0.0:{port}: other machines can read the messages\n");
    assert_eq!(printed, line);
}

#[test]
fn the_oldest_client_makes_room_for_one_too_many() {
    let mut t = Harness::new(CONFIG);
    let port: u16 = t.read("c.port").parse().unwrap();
    let connect = |t: &mut Harness| {
        let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        t.run_for(Duration::from_millis(2));
        client
    };
    let clients: Vec<TcpStream> = (0..=MAX_CLIENTS).map(|_| connect(&mut t)).collect();
    turn(&mut t);
    let mut ends = clients.iter().map(|mut client| {
        client.set_nonblocking(true).unwrap();
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).is_ok()
    });
    assert_eq!((ends.next(), ends.any(|end| end)), (Some(true), false));
}

#[test]
fn wrong_arguments_are_named() {
    for (config, message) in [
        ("ChatterSocket(UDP, 1)", "unknown socket type `UDP'"),
        ("ChatterSocket(TCP)", "PORT: required argument missing"),
        ("ChatterSocket(UNIX)", "FILENAME: required argument missing"),
        ("ChatterSocket(TCP, many)", "PORT: parse error"),
        ("ChatterSocket(TCP, 7778+)", "PORT: parse error"),
    ] {
        let e = Harness::errors(config);
        assert!(e.contains(message), "{config}: {e}");
    }
    let e = Harness::errors(&format!("ChatterSocket(UNIX, /{})", "x".repeat(108)));
    assert!(e.contains("filename too long"), "{e}");
}
