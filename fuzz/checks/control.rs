//! What must hold for any bytes that a client of a control socket sends: it does not matter in which pieces they arrive,
//! the memory they take is bounded, and each command gets a well-formed answer. The fuzz target runs it on made-up bytes,
//! a test of `elements` on the seeds.

use clickwork_elements::control::control_socket::execute::{Rights, execute};
use clickwork_elements::control::control_socket::input::{Input, MAX_DATA, MAX_LINE};
use clickwork_elements::control::control_socket::protocol::{Command, Reply};
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::Timestamp;
use clickwork_router::{Clock, Log, Options, Router, build};
use clickwork_source::Sources;
use std::cell::RefCell;
use std::sync::Arc;

/// A router with handlers of all kinds; none of them acts on anything outside.
const CONFIG: &str = "c :: Counter; w :: Switch(1); Idle -> c -> q :: Queue(7) -> Unqueue -> w; w[0] -> Discard; \
                      w[1] -> Discard; r :: LinearIPLookup(10.0.0.0/8 0); Idle -> r -> Discard; \
                      a :: AnonymizeIPAddr; Idle -> a -> Discard; p :: Script(TYPE PROXY, returnq $0)";

thread_local! {
    static ROUTER: RefCell<Router> = RefCell::new(router());
}

fn router() -> Router {
    let registry = Arc::new(clickwork_elements::registry());
    let mut sources = Sources::new();
    let file = sources.add("config", CONFIG);
    let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
    let options =
        Options { clock, log: Log::quiet(), output: Log::quiet(), seed: Some(1), ..Options::default() };
    build(&graph, &sources, &registry, options).expect("the configuration is correct").0
}

/// The first byte says how long the pieces are; the rest is what the client sends before it closes.
pub fn check(data: &[u8]) {
    let Some((&size, sent)) = data.split_first() else { return };
    let all = commands(sent, sent.len().max(1));
    assert_eq!(commands(sent, usize::from(size).max(1)), all);
    ROUTER.with_borrow_mut(|router| {
        let proxy = router.find("p");
        for command in &all {
            for rights in [
                Rights { read_only: true, proxy: None },
                Rights { read_only: false, proxy },
                Rights::default(),
            ] {
                check_reply(command, &execute(router, rights, command));
            }
        }
    });
}

/// All commands in what a client sends.
fn commands(sent: &[u8], size: usize) -> Vec<Command> {
    let mut input = Input::default();
    let mut found = Vec::new();
    for piece in sent.chunks(size) {
        input.extend(piece);
        found.extend(std::iter::from_fn(|| input.next()));
        let most = MAX_LINE + MAX_DATA + 2 * size;
        assert!(input.memory() <= most + most / 7, "{}", input.memory());
        if input.is_closed() {
            return found;
        }
    }
    input.close();
    found.extend(std::iter::from_fn(|| input.next()));
    assert!(input.is_empty());
    found
}

/// Lines that begin with one code, a dash behind it but in the last; then data, if there are, of the length that is said.
fn check_reply(command: &Command, reply: &Reply) {
    let bytes = reply.0.to_vec();
    let mut rest = &bytes[..];
    loop {
        let end = rest.windows(2).position(|pair| pair == b"\r\n").expect("a line has an end");
        let line = &rest[..end];
        rest = &rest[end + 2..];
        assert!(line.len() >= 4 && line[..3].iter().all(u8::is_ascii_digit), "{command:?}: {line:?}");
        assert!(!line.iter().any(u8::is_ascii_control), "{command:?}: {line:?}");
        match line[3] {
            b'-' => {}
            b' ' if rest.starts_with(b"DATA ") => break,
            b' ' if rest.is_empty() => return,
            // Two answers in one, after a wrong QUIT.
            b' ' if matches!(command, Command::Quit(false)) => {}
            other => panic!("{command:?}: {other} behind the code"),
        }
    }
    let end = rest.windows(2).position(|pair| pair == b"\r\n").expect("a line has an end");
    let length = std::str::from_utf8(&rest["DATA ".len()..end]).expect("digits");
    assert_eq!(length.parse(), Ok(rest.len() - end - 2), "{command:?}");
}
