//! Options: what each holds in a new socket, what setting it gives, and what it holds then.

use clickwork_prolac_tcp::sockets::Errno;
use clickwork_prolac_tcp::sockets::linux::*;

use super::api::Api;

macro_rules! options {
    ($($level:ident: $($name:ident)*;)*) => {
        pub const OPTIONS: &[(&str, i32, i32)] = &[$($((stringify!($name), $level, $name),)*)*];
    };
}

options! {
    SOL_SOCKET: SO_REUSEADDR SO_REUSEPORT SO_KEEPALIVE SO_OOBINLINE SO_SNDBUF SO_RCVBUF SO_RCVLOWAT SO_SNDLOWAT SO_TYPE
        SO_PROTOCOL SO_DOMAIN SO_ACCEPTCONN SO_ERROR SO_BROADCAST SO_DONTROUTE SO_NO_CHECK SO_TIMESTAMP SO_ZEROCOPY SO_LINGER;
    IPPROTO_TCP: TCP_NODELAY TCP_MAXSEG TCP_CORK TCP_KEEPIDLE TCP_KEEPINTVL TCP_KEEPCNT TCP_SYNCNT TCP_LINGER2
        TCP_DEFER_ACCEPT TCP_WINDOW_CLAMP TCP_QUICKACK TCP_USER_TIMEOUT TCP_FASTOPEN TCP_FASTOPEN_CONNECT TCP_NOTSENT_LOWAT
        TCP_INQ TCP_THIN_LINEAR_TIMEOUTS TCP_THIN_DUPACK TCP_SAVE_SYN TCP_FASTOPEN_NO_COOKIE;
    IPPROTO_IP: IP_TOS IP_TTL IP_MTU_DISCOVER IP_FREEBIND IP_RECVERR IP_BIND_ADDRESS_NO_PORT;
    IPPROTO_IPV6: IPV6_V6ONLY IPV6_TCLASS IPV6_UNICAST_HOPS IPV6_MTU_DISCOVER IPV6_RECVERR;
}

/// Values that are set: usual ones, the ends of ranges, and what lies outside.
const VALUES: [i32; 15] = [0, 1, -1, 2, 5, 6, 64, 87, 88, 127, 128, 255, 256, 32_767, 1 << 20];

/// `before; after setting each value: result and what it holds`.
pub fn describe(api: &mut dyn Api, domain: i32, level: i32, option: i32) -> String {
    let fd = api.socket(domain, SOCK_STREAM, 0).unwrap() as i32;
    let mut text = format!("{};", held(api, fd, level, option));
    for value in VALUES {
        let result = match api.set(fd, level, option, &value.to_ne_bytes()) {
            Ok(_) => held(api, fd, level, option),
            Err(errno) => name(errno),
        };
        text += &format!(" {value}:{result}");
    }
    for length in [0, 1, 3] {
        let result = match api.set(fd, level, option, &[1, 0, 0, 0][..length]) {
            Ok(_) => held(api, fd, level, option),
            Err(errno) => name(errno),
        };
        text += &format!(" {length}B:{result}");
    }
    text + &format!(" get1B:{}", read(api, fd, level, option, 1))
}

fn held(api: &mut dyn Api, fd: i32, level: i32, option: i32) -> String {
    read(api, fd, level, option, 4)
}

fn read(api: &mut dyn Api, fd: i32, level: i32, option: i32, length: usize) -> String {
    match api.get(fd, level, option, length) {
        Ok(bytes) if bytes.len() == 4 => i32::from_ne_bytes(bytes.try_into().unwrap()).to_string(),
        Ok(bytes) => format!("{bytes:?}").replace(' ', ""),
        Err(errno) => name(errno),
    }
}

fn name(errno: i32) -> String {
    format!("{:?}", Errno(errno))
}

type Perform = fn(&mut dyn Api) -> String;

/// Options whose values are structures or names.
pub const OTHERS: &[(&str, Perform)] = &[
    ("SO_LINGER 1, 7", |api| set_and_get(api, SOL_SOCKET, SO_LINGER, &ints(&[1, 7]), 8)),
    ("SO_LINGER 0, 7", |api| set_and_get(api, SOL_SOCKET, SO_LINGER, &ints(&[0, 7]), 8)),
    ("SO_RCVTIMEO 1.5 s", |api| set_and_get(api, SOL_SOCKET, SO_RCVTIMEO, &longs(&[1, 500_000]), 16)),
    ("SO_SNDTIMEO 0.5 s", |api| set_and_get(api, SOL_SOCKET, SO_SNDTIMEO, &longs(&[0, 500_000]), 16)),
    ("SO_RCVTIMEO 0 s", |api| set_and_get(api, SOL_SOCKET, SO_RCVTIMEO, &longs(&[0, 0]), 16)),
    ("SO_RCVTIMEO too many us", |api| set_and_get(api, SOL_SOCKET, SO_RCVTIMEO, &longs(&[0, 1_000_000]), 16)),
    ("SO_RCVTIMEO short", |api| set_and_get(api, SOL_SOCKET, SO_RCVTIMEO, &longs(&[0]), 16)),
    ("TCP_CONGESTION reno", |api| set_and_get(api, IPPROTO_TCP, TCP_CONGESTION, b"reno", 16)),
    ("TCP_CONGESTION cubic", |api| set_and_get(api, IPPROTO_TCP, TCP_CONGESTION, b"cubic\0\0", 16)),
    ("TCP_CONGESTION nonsense", |api| set_and_get(api, IPPROTO_TCP, TCP_CONGESTION, b"nonsense", 0)),
    ("TCP_CONGESTION empty", |api| set_and_get(api, IPPROTO_TCP, TCP_CONGESTION, b"", 0)),
    ("no such socket option", |api| set_and_get(api, SOL_SOCKET, 9999, &ints(&[1]), 4)),
    ("no such TCP option", |api| set_and_get(api, IPPROTO_TCP, 9999, &ints(&[1]), 4)),
    ("no such level", |api| set_and_get(api, 9999, 1, &ints(&[1]), 4)),
    ("SO_ERROR is not set", |api| set_and_get(api, SOL_SOCKET, SO_ERROR, &ints(&[1]), 4)),
    ("bytes of TCP_INFO", |api| {
        let fd = api.socket(AF_INET, SOCK_STREAM, 0).unwrap() as i32;
        api.get(fd, IPPROTO_TCP, TCP_INFO, 1000).map_or_else(name, |info| info.len().to_string())
    }),
    ("TCP_INFO of a new socket", |api| {
        let fd = api.socket(AF_INET, SOCK_STREAM, 0).unwrap() as i32;
        let info = api.get(fd, IPPROTO_TCP, TCP_INFO, 280).unwrap();
        let word = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().unwrap());
        // rto, snd_mss, snd_ssthresh, snd_cwnd, advmss, reordering, min_rtt
        format!("{:?}", [8, 16, 76, 80, 84, 88, 148].map(word))
    }),
    ("socket of no family", |api| outcome(api.socket(77, SOCK_STREAM, 0))),
    ("socket of no type", |api| outcome(api.socket(AF_INET, 9, 0))),
    ("socket of type 15", |api| outcome(api.socket(AF_INET, 15, 0))),
    ("socket with UDP", |api| outcome(api.socket(AF_INET, SOCK_STREAM, 17))),
    ("socket with protocol -1", |api| outcome(api.socket(AF_INET, SOCK_STREAM, -1))),
    ("socket with protocol 300", |api| outcome(api.socket(AF_INET, SOCK_STREAM, 300))),
    ("socket with flags", |api| outcome(api.socket(AF_INET, SOCK_STREAM | 0x100, 0))),
    ("same port twice", |api| same_port(api, false, false)),
    ("same port twice, one reuses", |api| same_port(api, true, false)),
    ("same port twice, both reuse", |api| same_port(api, true, true)),
    ("dual stack and IPv4", |api| two_families(api, 0)),
    ("IPv6 only and IPv4", |api| two_families(api, 1)),
    ("IPv6 only binds a mapped address", |api| {
        let fd = api.socket(AF_INET6, SOCK_STREAM, 0).unwrap() as i32;
        api.set(fd, IPPROTO_IPV6, IPV6_V6ONLY, &ints(&[1])).unwrap();
        outcome(api.bind(fd, "[::ffff:127.0.0.1]:0".parse().unwrap()))
    }),
    ("an IPv6 socket binds a mapped address", |api| {
        let fd = api.socket(AF_INET6, SOCK_STREAM, 0).unwrap() as i32;
        let bound = outcome(api.bind(fd, "[::ffff:127.0.0.1]:0".parse().unwrap()));
        format!("{bound} {}", api.local(fd).unwrap().ip())
    }),
    ("an IPv6 socket is bound by nothing", |api| {
        let fd = api.socket(AF_INET6, SOCK_STREAM, 0).unwrap() as i32;
        api.local(fd).unwrap().to_string()
    }),
    ("an IPv6 socket listens by itself", |api| {
        let fd = api.socket(AF_INET6, SOCK_STREAM, 0).unwrap() as i32;
        let listens = outcome(api.listen(fd, 1));
        format!("{listens} {}", api.local(fd).unwrap().ip())
    }),
];

fn outcome(outcome: super::api::Outcome) -> String {
    outcome.map_or_else(name, |_| "done".into())
}

fn set_and_get(api: &mut dyn Api, level: i32, option: i32, value: &[u8], length: usize) -> String {
    let fd = api.socket(AF_INET, SOCK_STREAM, 0).unwrap() as i32;
    let set = outcome(api.set(fd, level, option, value));
    if length == 0 {
        return set;
    }
    format!("{set}, {}", read(api, fd, level, option, length))
}

fn ints(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn longs(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// Two sockets bind the same port; then both listen.
fn same_port(api: &mut dyn Api, first: bool, second: bool) -> String {
    let one = api.socket(AF_INET, SOCK_STREAM, 0).unwrap() as i32;
    let two = api.socket(AF_INET, SOCK_STREAM, 0).unwrap() as i32;
    for (fd, reuses) in [(one, first), (two, second)] {
        api.set(fd, SOL_SOCKET, SO_REUSEADDR, &ints(&[reuses.into()])).unwrap();
    }
    api.bind(one, "127.0.0.1:0".parse().unwrap()).unwrap();
    let address = api.local(one).unwrap();
    let bound = outcome(api.bind(two, address));
    let listens = [outcome(api.listen(one, 1)), outcome(api.listen(two, 1))];
    format!("{bound}, {}, {}", listens[0], listens[1])
}

/// `[::]` and `0.0.0.0` on the same port.
fn two_families(api: &mut dyn Api, only: i32) -> String {
    let one = api.socket(AF_INET6, SOCK_STREAM, 0).unwrap() as i32;
    let two = api.socket(AF_INET, SOCK_STREAM, 0).unwrap() as i32;
    api.set(one, IPPROTO_IPV6, IPV6_V6ONLY, &ints(&[only])).unwrap();
    api.bind(one, "[::]:0".parse().unwrap()).unwrap();
    let port = api.local(one).unwrap().port();
    outcome(api.bind(two, std::net::SocketAddr::new([0, 0, 0, 0].into(), port)))
}
