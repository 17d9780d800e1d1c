//! The table by itself: what scripts do not show.

#[allow(dead_code, reason = "made for scripts")]
mod driver;

use std::net::SocketAddr;
use std::ptr::null_mut;

use clickwork_prolac_tcp::sockets::RawAddress;
use driver::library::Stack;
use driver::script::{PacketSpec, TcpOption};
use driver::wire::{self, Ends};

const SYN: u8 = 2;
const ACK: u8 = 16;

/// packetdrill invents its local address: it need not be told to the library.
#[test]
fn addresses_are_learned() {
    let stack = Stack::load("");
    let (table, user) = (stack.table(), stack.table().userdata);
    let local: SocketAddr = "192.168.77.3:8080".parse().unwrap();
    let raw = RawAddress::from(local);
    // SAFETY: the table is filled in, and pointers lead to memory of ours.
    unsafe {
        let fd = table.socket.unwrap()(user, libc::AF_INET, libc::SOCK_STREAM, 0);
        let bytes = raw.as_bytes();
        assert_eq!(table.bind.unwrap()(user, fd, bytes.as_ptr().cast(), bytes.len() as u32), 0);
        assert_eq!(table.listen.unwrap()(user, fd, 1), 0);
    }
    let ends = Ends {
        source: "192.0.2.9".parse().unwrap(),
        destination: local.ip(),
        source_port: 5000,
        destination_port: 8080,
    };
    let options = Some(vec![TcpOption::Mss(1000)]);
    let syn = PacketSpec { flags: SYN, window: Some(1000), options, ..PacketSpec::default() };
    stack.send(&wire::build(&ends, &syn));
    let (_, packet) = stack.receive().expect("a SYN-ACK");
    let answer = wire::parse(&packet).unwrap();
    assert_eq!((answer.ends, answer.spec.flags), (ends.reversed(), SYN | ACK));
}

/// The clock goes on by itself when it is asked, exactly as long as one sleeps, and not while nothing is asked.
#[test]
fn time_is_exact() {
    let stack = Stack::load("patient");
    let begin = stack.now();
    assert_eq!(stack.now(), begin + 1);
    stack.usleep(1_000_000);
    assert_eq!(stack.now(), begin + 1_000_002);
}

/// A command of the script that takes its time counts, a short pause of the driver does not, and with the flag for it none at all.
#[test]
fn pauses_do_not_count() {
    let elapsed = |flags: &str, pause: u64| {
        let stack = Stack::load(flags);
        let (begin, real) = (stack.now(), std::time::Instant::now());
        std::thread::sleep(std::time::Duration::from_millis(pause));
        (stack.now() - begin, real.elapsed().as_millis())
    };
    // The machine may make it a long one.
    let (time, _) = (0..1000).map(|_| elapsed("", 30)).find(|(_, real)| *real < 100).expect("a short pause");
    assert_eq!(time, 1);
    assert!(elapsed("", 150).0 > 150_000);
    assert_eq!(elapsed("patient", 150).0, 1);
}

/// A time that was set is as far as packets can be waited for; with none there is nothing to wait for.
#[test]
fn nothing_is_an_answer() {
    let stack = Stack::load("");
    assert!(stack.receive().is_none());
}

/// Two threads sleep in calls that time ends, and nobody else is there: real time lets them go, each at its own time. A thread that
/// the machine keeps waiting before it looks at the clock is late, rightly: then they try again.
#[test]
fn sleepers_end_by_themselves() {
    let exact =
        |[short, long]: [i64; 2]| (20_000..21_000).contains(&short) && (50_000..51_000).contains(&long);
    assert!((0..50).any(|_| exact(two_sleeps())), "{:?}", two_sleeps());
}

fn two_sleeps() -> [i64; 2] {
    let stack = Stack::load("");
    let begin = stack.now();
    let wait = |milliseconds: i32| {
        // SAFETY: the table is filled in, and no descriptor is looked at.
        let ready =
            unsafe { stack.table().poll.unwrap()(stack.table().userdata, null_mut(), 0, milliseconds) };
        (ready, stack.now() - begin)
    };
    let (short, long) = std::thread::scope(|scope| {
        let short = scope.spawn(|| wait(20));
        let long = scope.spawn(|| wait(50));
        (short.join().unwrap(), long.join().unwrap())
    });
    assert_eq!((short.0, long.0), (0, 0));
    [short.1, long.1]
}

/// A C program has its own declaration of the table, and calls what has variable arguments as such.
#[test]
fn c_programs_see_the_same_table() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/table.c");
    let program = clickwork_oracles::unused("prolac-tcp-table");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let built = std::process::Command::new(compiler)
        .args(["-std=gnu11", "-Wall", "-Werror", "-o"])
        .arg(&program)
        .args([source, "-ldl"])
        .status()
        .expect("a C compiler");
    assert!(built.success());
    let ran = std::process::Command::new(&program).arg(driver::library::path()).output().expect("it runs");
    std::fs::remove_file(&program).expect("it was written");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "done\n", "{}", String::from_utf8_lossy(&ran.stderr));
}
