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
    let stack = Stack::load("");
    let begin = stack.now();
    assert_eq!(stack.now(), begin + 1);
    stack.usleep(1_000_000);
    assert_eq!(stack.now(), begin + 1_000_002);
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(stack.now(), begin + 1_000_003, "a pause of the driver");
    std::thread::sleep(std::time::Duration::from_millis(150));
    assert!(stack.now() > begin + 1_150_000, "a command of the script that took its time");
}

/// A time that was set is as far as packets can be waited for; with none there is nothing to wait for.
#[test]
fn nothing_is_an_answer() {
    let stack = Stack::load("");
    assert!(stack.receive().is_none());
}

/// Two threads sleep in calls that time ends, and nobody else is there: real time lets them go, each at its own time.
#[test]
fn sleepers_end_by_themselves() {
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
    assert!((20_000..21_000).contains(&short.1), "{short:?}");
    assert!((50_000..51_000).contains(&long.1), "{long:?}");
}

/// A C program has its own declaration of the table, and calls what has variable arguments as such.
#[test]
fn c_programs_see_the_same_table() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/table.c");
    let program = std::env::temp_dir().join(format!("prolac-tcp-table-{}", std::process::id()));
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
