//! States that a socket can be in, and the calls that are tried in each.

use std::net::SocketAddr;

use clickwork_prolac_tcp::sockets::linux::*;
use clickwork_prolac_tcp::sockets::{Errno, RawAddress};

use super::api::{Api, Outcome};

type Prepare = fn(&mut dyn Api) -> i32;
type Perform = fn(&mut dyn Api, i32) -> String;

pub const STATES: &[(&str, Prepare)] = &[
    ("no descriptor", |_| 7_777_777),
    ("new", |api| new(api)),
    ("bound", |api| bound(api)),
    ("listening", |api| listening(api, 5).0),
    ("listening, a connection waits", |api| {
        let (listener, address) = listening(api, 5);
        connecting(api, address);
        listener
    }),
    ("connecting", |api| {
        // A full queue of a listener keeps further SYNs away.
        let (_, address) = listening(api, 0);
        connecting(api, address);
        connecting(api, address)
    }),
    ("refused", |api| {
        let nobody = bound(api);
        let address = api.local(nobody).unwrap();
        connecting(api, address)
    }),
    ("established, connect not repeated", |api| {
        let (_, address) = listening(api, 5);
        connecting(api, address)
    }),
    ("established", |api| pair(api).0),
    ("accepted", |api| pair(api).1),
    ("established, text to read", |api| with_text(api).0),
    ("established, urgent byte to read", |api| {
        let (fd, peer) = pair(api);
        api.send(peer, 3, MSG_OOB).unwrap();
        settled(api, fd)
    }),
    ("established, urgent byte inline", |api| {
        let (fd, peer) = pair(api);
        api.set(fd, SOL_SOCKET, SO_OOBINLINE, &1i32.to_ne_bytes()).unwrap();
        api.send(peer, 3, MSG_OOB).unwrap();
        settled(api, fd)
    }),
    ("peer has shut down", |api| {
        let (fd, peer) = pair(api);
        api.shutdown(peer, SHUT_WR).unwrap();
        settled(api, fd)
    }),
    ("peer has shut down, text to read", |api| {
        let (fd, peer) = with_text(api);
        api.shutdown(peer, SHUT_WR).unwrap();
        settled(api, fd)
    }),
    ("peer has closed", |api| {
        let (fd, peer) = pair(api);
        api.close(peer).unwrap();
        settled(api, fd)
    }),
    ("shut down for writing", |api| {
        let (fd, peer) = pair(api);
        api.shutdown(fd, SHUT_WR).unwrap();
        acknowledged(api, fd, peer)
    }),
    ("shut down for reading", |api| {
        let (fd, _) = pair(api);
        api.shutdown(fd, SHUT_RD).unwrap();
        settled(api, fd)
    }),
    ("shut down for both", |api| {
        let (fd, peer) = pair(api);
        api.shutdown(fd, SHUT_RDWR).unwrap();
        acknowledged(api, fd, peer)
    }),
    ("both have shut down, we first", |api| {
        let (fd, peer) = pair(api);
        api.shutdown(fd, SHUT_WR).unwrap();
        api.settle();
        api.shutdown(peer, SHUT_WR).unwrap();
        settled(api, fd)
    }),
    ("both have shut down, peer first", |api| {
        let (fd, peer) = pair(api);
        api.shutdown(peer, SHUT_WR).unwrap();
        api.settle();
        api.shutdown(fd, SHUT_WR).unwrap();
        settled(api, fd)
    }),
    ("reset by peer", |api| reset(api)),
    ("reset by peer, error taken", |api| {
        let fd = reset(api);
        api.get(fd, SOL_SOCKET, SO_ERROR, 4).unwrap();
        fd
    }),
    ("reset by peer, text to read", |api| {
        let (fd, peer) = with_text(api);
        linger_zero(api, peer);
        api.close(peer).unwrap();
        settled(api, fd)
    }),
    ("peer has shut down, then reset", |api| {
        let (fd, peer) = pair(api);
        api.shutdown(peer, SHUT_WR).unwrap();
        api.settle();
        linger_zero(api, peer);
        api.close(peer).unwrap();
        settled(api, fd)
    }),
    ("disconnected", |api| {
        let (fd, _) = pair(api);
        api.connect(fd, &[0; 16]).unwrap();
        settled(api, fd)
    }),
    ("listener, shut down", |api| {
        let (fd, _) = listening(api, 5);
        api.shutdown(fd, SHUT_RDWR).unwrap();
        settled(api, fd)
    }),
];

pub const CALLS: &[(&str, Perform)] = &[
    ("bind", |api, fd| told(api.bind(fd, "127.0.0.1:0".parse().unwrap()))),
    ("bind IPv6", |api, fd| told(api.bind(fd, "[::1]:0".parse().unwrap()))),
    ("bind elsewhere", |api, fd| told(api.bind(fd, "192.0.2.77:0".parse().unwrap()))),
    ("listen", |api, fd| told(api.listen(fd, 5))),
    ("accept", |api, fd| told(api.accept(fd).map(|_| 0))),
    ("connect", |api, fd| {
        let (_, address) = listening(api, 5);
        told(api.connect(fd, RawAddress::from(address).as_bytes()))
    }),
    ("connect twice", |api, fd| {
        let (_, address) = listening(api, 5);
        let raw = RawAddress::from(address);
        let first = told(api.connect(fd, raw.as_bytes()));
        api.settle();
        format!("{first}, {}", told(api.connect(fd, raw.as_bytes())))
    }),
    ("connect thrice", |api, fd| {
        let (_, address) = listening(api, 5);
        let raw = RawAddress::from(address);
        for _ in 0..2 {
            let _ = api.connect(fd, raw.as_bytes());
            api.settle();
        }
        told(api.connect(fd, raw.as_bytes()))
    }),
    ("connect with a byte", |api, fd| told(api.connect(fd, &[2]))),
    ("connect with a short address", |api, fd| told(api.connect(fd, &[2, 0, 0, 80, 127, 0]))),
    ("connect AF_UNIX", |api, fd| told(api.connect(fd, &[1; 16]))),
    ("connect broadcast", |api, fd| {
        let address: SocketAddr = "255.255.255.255:80".parse().unwrap();
        told(api.connect(fd, RawAddress::from(address).as_bytes()))
    }),
    ("connect AF_UNSPEC", |api, fd| told(api.connect(fd, &[0; 16]))),
    ("connect AF_UNSPEC, SO_ERROR", |api, fd| {
        let _ = api.connect(fd, &[0; 16]);
        number(api, fd, SOL_SOCKET, SO_ERROR)
    }),
    ("connect AF_UNSPEC, listen", |api, fd| {
        let _ = api.connect(fd, &[0; 16]);
        told(api.listen(fd, 5))
    }),
    ("getsockname", |api, fd| told(api.local(fd).map(|address| i64::from(address.port() != 0)))),
    ("getpeername", |api, fd| told(api.peer(fd))),
    ("recv", |api, fd| told(api.receive(fd, 100, 0))),
    ("recv twice", |api, fd| {
        let first = told(api.receive(fd, 100, 0));
        format!("{first}, {}", told(api.receive(fd, 100, 0)))
    }),
    ("recv of nothing", |api, fd| told(api.receive(fd, 0, 0))),
    ("recv MSG_PEEK, recv", |api, fd| {
        let first = told(api.receive(fd, 2, MSG_PEEK));
        format!("{first}, {}", told(api.receive(fd, 100, 0)))
    }),
    ("recv MSG_TRUNC", |api, fd| told(api.receive(fd, 100, MSG_TRUNC))),
    ("recv MSG_OOB", |api, fd| told(api.receive(fd, 1, MSG_OOB))),
    ("recv MSG_OOB twice", |api, fd| {
        let first = told(api.receive(fd, 1, MSG_OOB));
        format!("{first}, {}", told(api.receive(fd, 1, MSG_OOB)))
    }),
    ("recv MSG_OOB, poll", |api, fd| {
        let _ = api.receive(fd, 1, MSG_OOB);
        bits(api.poll(fd))
    }),
    ("recv MSG_OOB|MSG_PEEK, recv MSG_OOB", |api, fd| {
        let first = told(api.receive(fd, 1, MSG_OOB | MSG_PEEK));
        format!("{first}, {}", told(api.receive(fd, 1, MSG_OOB)))
    }),
    ("recv, recv MSG_OOB, recv, poll", |api, fd| {
        let first = told(api.receive(fd, 2, 0));
        let second = told(api.receive(fd, 1, MSG_OOB));
        let third = told(api.receive(fd, 100, 0));
        format!("{first}, {second}, {third}, {}", bits(api.poll(fd)))
    }),
    ("recv MSG_ERRQUEUE", |api, fd| told(api.receive(fd, 1, MSG_ERRQUEUE))),
    ("recv, recv MSG_OOB", |api, fd| {
        let _ = api.receive(fd, 100, 0);
        told(api.receive(fd, 1, MSG_OOB))
    }),
    ("send", |api, fd| told(api.send(fd, 10, 0))),
    ("send twice", |api, fd| {
        let first = told(api.send(fd, 10, 0));
        api.settle();
        format!("{first}, {}", told(api.send(fd, 10, 0)))
    }),
    ("send of nothing", |api, fd| told(api.send(fd, 0, 0))),
    ("send MSG_OOB", |api, fd| told(api.send(fd, 1, MSG_OOB))),
    ("send, recv", |api, fd| {
        let _ = api.send(fd, 10, 0);
        api.settle();
        told(api.receive(fd, 100, 0))
    }),
    ("recv, send", |api, fd| {
        let _ = api.receive(fd, 100, 0);
        told(api.send(fd, 10, 0))
    }),
    ("shutdown SHUT_RD", |api, fd| told(api.shutdown(fd, SHUT_RD))),
    ("shutdown SHUT_WR", |api, fd| told(api.shutdown(fd, SHUT_WR))),
    ("shutdown SHUT_WR, send", |api, fd| {
        let _ = api.shutdown(fd, SHUT_WR);
        told(api.send(fd, 1, 0))
    }),
    ("shutdown SHUT_RDWR", |api, fd| told(api.shutdown(fd, SHUT_RDWR))),
    ("shutdown SHUT_RDWR, recv", |api, fd| {
        let _ = api.shutdown(fd, SHUT_RDWR);
        told(api.receive(fd, 100, 0))
    }),
    ("shutdown SHUT_RDWR, poll", |api, fd| {
        let _ = api.shutdown(fd, SHUT_RDWR);
        api.settle();
        bits(api.poll(fd))
    }),
    ("shutdown 7", |api, fd| told(api.shutdown(fd, 7))),
    ("poll", |api, fd| bits(api.poll(fd))),
    ("recv, poll", |api, fd| {
        let _ = api.receive(fd, 100, 0);
        bits(api.poll(fd))
    }),
    ("SO_ERROR", |api, fd| number(api, fd, SOL_SOCKET, SO_ERROR)),
    ("SO_ERROR, poll", |api, fd| {
        let _ = api.get(fd, SOL_SOCKET, SO_ERROR, 4);
        bits(api.poll(fd))
    }),
    ("SO_ACCEPTCONN", |api, fd| number(api, fd, SOL_SOCKET, SO_ACCEPTCONN)),
    ("state in TCP_INFO", |api, fd| match api.get(fd, IPPROTO_TCP, TCP_INFO, 280) {
        Ok(info) => info[0].to_string(),
        Err(errno) => name(errno),
    }),
    ("SIOCINQ", |api, fd| told(api.ioctl(fd, SIOCINQ))),
    ("SIOCOUTQ", |api, fd| queued(api, fd, SIOCOUTQ)),
    ("SIOCOUTQNSD", |api, fd| queued(api, fd, SIOCOUTQNSD)),
    ("SIOCATMARK", |api, fd| told(api.ioctl(fd, SIOCATMARK))),
    ("recv, SIOCATMARK", |api, fd| {
        let _ = api.receive(fd, 100, 0);
        told(api.ioctl(fd, SIOCATMARK))
    }),
    ("ioctl TCGETS", |api, fd| told(api.ioctl(fd, 0x5401))),
    ("F_GETFL", |api, fd| told(api.fcntl(fd, F_GETFL, 0))),
    ("set TCP_NODELAY", |api, fd| told(api.set(fd, IPPROTO_TCP, TCP_NODELAY, &1i32.to_ne_bytes()))),
    ("set TCP_FASTOPEN", |api, fd| told(api.set(fd, IPPROTO_TCP, TCP_FASTOPEN, &5i32.to_ne_bytes()))),
    ("set TCP_FASTOPEN_CONNECT", |api, fd| {
        told(api.set(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &1i32.to_ne_bytes()))
    }),
    ("set TCP_WINDOW_CLAMP 0", |api, fd| told(api.set(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &[0; 4]))),
    ("IP_MTU", |api, fd| told(api.get(fd, IPPROTO_IP, IP_MTU, 4).map(|_| 0))),
    ("close", |api, fd| told(api.close(fd))),
    ("close twice", |api, fd| {
        let _ = api.close(fd);
        told(api.close(fd))
    }),
];

fn name(errno: i32) -> String {
    format!("{:?}", Errno(errno)).replace("Errno(", "errno ").replace(')', "")
}

pub fn told(outcome: Outcome) -> String {
    outcome.map_or_else(name, |value| value.to_string())
}

fn bits(outcome: Outcome) -> String {
    outcome.map_or_else(name, |bits| {
        let names: [(i16, &str); 8] = [
            (POLLIN, "IN"),
            (POLLPRI, "PRI"),
            (POLLOUT, "OUT"),
            (POLLERR, "ERR"),
            (POLLHUP, "HUP"),
            (POLLNVAL, "NVAL"),
            (POLLRDHUP, "RDHUP"),
            (0, ""),
        ];
        let set = names.iter().filter(|(bit, _)| bits as i16 & bit != 0).map(|(_, name)| *name);
        let text = set.collect::<Vec<_>>().join("|");
        if text.is_empty() { "nothing".into() } else { text }
    })
}

fn number(api: &mut dyn Api, fd: i32, level: i32, option: i32) -> String {
    match api.get(fd, level, option, 4) {
        Ok(bytes) => match i32::from_ne_bytes(bytes.try_into().unwrap()) {
            small @ 0..=1 => small.to_string(),
            errno => format!("told {}", name(errno)),
        },
        Err(errno) => name(errno),
    }
}

fn settled(api: &mut dyn Api, fd: i32) -> i32 {
    api.settle();
    fd
}

/// Linux delays the acknowledgment of a FIN, until something asks for it.
fn acknowledged(api: &mut dyn Api, fd: i32, peer: i32) -> i32 {
    api.settle();
    assert_eq!(api.receive(peer, 1, 0), Ok(0));
    api.set(peer, IPPROTO_TCP, TCP_QUICKACK, &1i32.to_ne_bytes()).unwrap();
    settled(api, fd)
}

/// In CLOSED Linux gives what happens to be left in its variables.
fn queued(api: &mut dyn Api, fd: i32, request: u64) -> String {
    match api.get(fd, IPPROTO_TCP, TCP_INFO, 1).as_deref() {
        Ok([7]) => "whatever".into(),
        _ => told(api.ioctl(fd, request)),
    }
}

fn new(api: &mut dyn Api) -> i32 {
    api.socket(AF_INET, SOCK_STREAM, 0).unwrap() as i32
}

fn bound(api: &mut dyn Api) -> i32 {
    let fd = new(api);
    api.bind(fd, "127.0.0.1:0".parse().unwrap()).unwrap();
    fd
}

/// A listener, and where.
pub fn listening(api: &mut dyn Api, backlog: i32) -> (i32, SocketAddr) {
    let fd = bound(api);
    api.listen(fd, backlog).unwrap();
    let address = api.local(fd).unwrap();
    (fd, address)
}

/// A socket that has begun to connect.
fn connecting(api: &mut dyn Api, address: SocketAddr) -> i32 {
    let fd = new(api);
    let begun = api.connect(fd, RawAddress::from(address).as_bytes());
    assert_eq!(begun, Err(Errno::INPROGRESS.0));
    settled(api, fd)
}

/// Two ends of a connection: who began it, and who accepted it.
pub fn pair(api: &mut dyn Api) -> (i32, i32) {
    let (listener, address) = listening(api, 5);
    let fd = connecting(api, address);
    assert_eq!(api.connect(fd, RawAddress::from(address).as_bytes()), Ok(0));
    let peer = api.accept(listener).unwrap() as i32;
    api.close(listener).unwrap();
    (fd, peer)
}

fn with_text(api: &mut dyn Api) -> (i32, i32) {
    let (fd, peer) = pair(api);
    api.send(peer, 5, 0).unwrap();
    api.settle();
    (fd, peer)
}

fn linger_zero(api: &mut dyn Api, fd: i32) {
    let linger = [1i32.to_ne_bytes(), 0i32.to_ne_bytes()].concat();
    api.set(fd, SOL_SOCKET, SO_LINGER, &linger).unwrap();
}

fn reset(api: &mut dyn Api) -> i32 {
    let (fd, peer) = pair(api);
    linger_zero(api, peer);
    api.close(peer).unwrap();
    settled(api, fd)
}
