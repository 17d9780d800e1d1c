//! ESP against the IPsec of the Linux kernel: AES-GCM and AES-CBC with HMAC, tunnel and transport, 32 and 64 bits of
//! sequence number; each side pings the other.
//!
//! The peer is a kernel host in a namespace. If this kernel has no ESP, it is a kernel of its own: User Mode Linux
//! (`apt install user-mode-linux kmod`), at the other end of a TAP interface. Without both the test is ignored.

use crate::lab::{Host, read, route_until, router};
use crate::support::{in_namespace, ip, run, unshare_network};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// A pair of associations.
struct Case {
    name: &'static str,
    /// The router's host that pings and is pinged.
    inside: &'static str,
    tunnel: bool,
    /// Whether the tunnel is one over IPv6.
    over_ipv6: bool,
    gcm_bits: Option<usize>,
    esn: bool,
}

const CASES: [Case; 7] = [
    Case {
        name: "gcm-tunnel",
        inside: "10.1.1.7",
        tunnel: true,
        over_ipv6: false,
        gcm_bits: Some(128),
        esn: false,
    },
    Case {
        name: "cbc-tunnel",
        inside: "10.1.2.7",
        tunnel: true,
        over_ipv6: false,
        gcm_bits: None,
        esn: false,
    },
    Case {
        name: "gcm-transport",
        inside: "10.9.0.13",
        tunnel: false,
        over_ipv6: false,
        gcm_bits: Some(256),
        esn: false,
    },
    Case {
        name: "cbc-transport",
        inside: "10.9.0.14",
        tunnel: false,
        over_ipv6: false,
        gcm_bits: None,
        esn: false,
    },
    Case {
        name: "gcm-esn",
        inside: "10.1.5.7",
        tunnel: true,
        over_ipv6: false,
        gcm_bits: Some(192),
        esn: true,
    },
    Case { name: "cbc-esn", inside: "10.9.0.16", tunnel: false, over_ipv6: false, gcm_bits: None, esn: true },
    Case {
        name: "gcm-over-ipv6",
        inside: "10.1.7.7",
        tunnel: true,
        over_ipv6: true,
        gcm_bits: Some(128),
        esn: false,
    },
];

const PEER_MAC: &str = "02:00:00:00:00:a0";
const OUR_MAC: &str = "02:00:00:00:00:00";
/// How many pings of each size each side sends.
const PINGS: usize = 3;
const SIZES: [usize; 3] = [8, 57, 1200];

/// A key of this many bytes; every association has another.
fn key(len: usize, seed: usize) -> String {
    (0..len).map(|n| format!("{:02x}", (n * 7 + seed * 29 + (seed >> 8) * 5 + 3) % 256)).collect()
}

impl Case {
    /// The numbers of the associations to the peer and from it.
    fn spis(&self, number: usize) -> [usize; 2] {
        [0x1000 + number, 0x2000 + number]
    }

    /// The peer's address that pings.
    fn outside(&self) -> &'static str {
        if self.tunnel { "10.2.0.1" } else { "10.9.0.2" }
    }

    /// The router's end of the tunnel, or its host.
    fn end(&self) -> &'static str {
        match (self.tunnel, self.over_ipv6) {
            (true, true) => "2001:db8::1",
            (true, false) => "10.9.0.1",
            (false, _) => self.inside,
        }
    }

    /// The peer's end.
    fn peer_end(&self) -> &'static str {
        if self.over_ipv6 { "2001:db8::2" } else { "10.9.0.2" }
    }

    /// Arguments of our elements for an association.
    fn arguments(&self, spi: usize) -> String {
        let keys = match self.gcm_bits {
            Some(bits) => key(bits / 8 + 4, spi),
            None => format!("{}, CIPHER aes-cbc, AUTH_KEY {}", key(16, spi), key(32, spi + 1)),
        };
        let mode = if self.tunnel { "tunnel" } else { "transport" };
        format!("{spi}, {keys}, MODE {mode}, ESN {}", self.esn)
    }

    /// Arguments of `ip xfrm state` for an association.
    fn algorithm(&self, spi: usize) -> String {
        let algorithm = match self.gcm_bits {
            Some(bits) => format!("aead 'rfc4106(gcm(aes))' 0x{} 128", key(bits / 8 + 4, spi)),
            None => format!(
                "enc 'cbc(aes)' 0x{} auth-trunc 'hmac(sha256)' 0x{} 128",
                key(16, spi),
                key(32, spi + 1)
            ),
        };
        let mode = if self.tunnel { "tunnel" } else { "transport" };
        let flag = match (self.esn, self.over_ipv6) {
            (true, _) => "flag esn",
            // Else what is inside would have to be IPv6 too.
            (_, true) => "flag af-unspec",
            _ => "",
        };
        format!(
            "proto esp spi {spi} reqid {} mode {mode} replay-window 64 {flag} {algorithm}",
            spi % 0x1000 + 1
        )
    }
}

/// What the peer does, as a shell script: sets up its associations, pings, and stays to answer.
fn peer_script(device: &str) -> String {
    let mut text = format!(
        "exec 2>&1\nip link set lo up\nip addr add 10.2.0.1/32 dev lo\nip addr add 10.9.0.2/24 dev {device}\nip link set {device} up\n\
         ip route add 10.1.0.0/16 via 10.9.0.1 src 10.2.0.1\n\
         sysctl -qw net.ipv6.conf.{device}.disable_ipv6=0\nip -6 addr add 2001:db8::2/64 dev {device} nodad\n\
         ip -6 neigh add 2001:db8::1 lladdr {OUR_MAC} dev {device}\n"
    );
    for (case, number) in CASES.iter().zip(0..) {
        let [to_peer, from_peer] = case.spis(number);
        let (end, peer, mode) =
            (case.end(), case.peer_end(), if case.tunnel { "tunnel" } else { "transport" });
        let template = |from: &str, to: &str| {
            if case.tunnel {
                format!("src {from} dst {to} proto esp reqid {} mode {mode}", number + 1)
            } else {
                format!("proto esp reqid {} mode {mode}", number + 1)
            }
        };
        let _ = writeln!(
            text,
            "ip xfrm state add src {end} dst {peer} {} || echo FAILED {}\n\
             ip xfrm state add src {peer} dst {end} {} || echo FAILED {}\n\
             ip xfrm policy add src {inside}/32 dst {outside}/32 dir in tmpl {}\n\
             ip xfrm policy add src {outside}/32 dst {inside}/32 dir out tmpl {}",
            case.algorithm(to_peer),
            case.name,
            case.algorithm(from_peer),
            case.name,
            template(end, peer),
            template(peer, end),
            inside = case.inside,
            outside = case.outside(),
        );
    }
    for case in &CASES {
        for size in SIZES {
            let _ = writeln!(
                text,
                "ping -q -c {PINGS} -i 0.05 -W 60 -s {size} -I {} {} >/dev/null && echo PINGED {} {size} || echo FAILED {} {size}",
                case.outside(),
                case.inside,
                case.name,
                case.name
            );
        }
    }
    text + "echo DONE\n"
}

/// Our side: a gateway whose hosts answer pings, and which pings the peer's host on demand.
fn gateway() -> String {
    let mut text = format!(
        "from :: FromDevice(r0, PROMISC true, SNIFFER false) -> kind :: Classifier(12/0806 20/0001, 12/0800, 12/86dd, -);\n\
         kind [0] -> ARPResponder(10.9.0.0/24 {OUR_MAC}) -> out :: Queue -> ToDevice(r0);\n\
         kind [3] -> Discard;\n\
         kind [1] -> Strip(14) -> CheckIPHeader -> d0 :: IPsecESPDecrypt({});\n\
         kind [2] -> Strip(14) -> d0;\n\
         frames :: EtherEncap(0x0800, {OUR_MAC}, {PEER_MAC}) -> out;\n\
         frames6 :: EtherEncap(0x86DD, {OUR_MAC}, {PEER_MAC}) -> out;\n\
         plain :: CheckIPHeader -> c :: IPClassifier(icmp type echo, icmp type echo-reply, -);\n\
         c [2] -> Discard;\n\
         c [0] -> ICMPPingResponder -> mine :: IPClassifier({});\n\
         c [1] -> answers :: IPClassifier({});\n",
        CASES[0].arguments(CASES[0].spis(0)[1]),
        CASES.iter().map(|c| format!("src host {}", c.inside)).collect::<Vec<_>>().join(", "),
        CASES.iter().map(|c| format!("dst host {}", c.inside)).collect::<Vec<_>>().join(", "),
    );
    for (case, number) in CASES.iter().zip(0..) {
        let [to_peer, _] = case.spis(number);
        let ends = match case.tunnel {
            true => format!(", SRC {}, DST {}", case.end(), case.peer_end()),
            false => String::new(),
        };
        let frames = if case.over_ipv6 { "frames6" } else { "frames" };
        let _ = writeln!(
            text,
            "d{number} [0] -> plain; mine [{number}] -> e{number} :: IPsecESPEncrypt({}{ends}) -> {frames};\n\
             answers [{number}] -> answered{number} :: Counter -> Discard;\n\
             ask{number} :: RatedSource(LENGTH 300, RATE 50, LIMIT {PINGS}, ACTIVE false) \
             -> ICMPPingEncap({}, {}) -> e{number};",
            case.arguments(to_peer),
            case.inside,
            case.outside()
        );
        match CASES.get(number + 1) {
            Some(next) => {
                let arguments = next.arguments(next.spis(number + 1)[1]);
                let _ = writeln!(text, "d{number} [1] -> d{} :: IPsecESPDecrypt({arguments});", number + 1);
            }
            None => {
                let _ = writeln!(text, "d{number} [1] -> unknown :: Counter -> Discard; Idle -> d{number};");
            }
        }
    }
    text
}

/// The peer's host, at work.
struct Peer {
    /// What its script says.
    lines: Receiver<String>,
    process: Child,
    script: PathBuf,
    /// The namespace that it lives in, if it is not a kernel of its own.
    _host: Option<Host>,
}

impl Peer {
    fn new(mut process: Child, script: PathBuf, host: Option<Host>) -> Peer {
        let (sender, lines) = mpsc::channel();
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Peer { lines, process, script, _host: host }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // With all that it has started: a User Mode Linux is several processes.
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.process.wait();
        let _ = self.script.parent().map(std::fs::remove_dir_all);
    }
}

/// Whether the kernel here has ESP with both ciphers.
fn kernel_has_esp() -> bool {
    thread::spawn(|| {
        unshare_network().is_ok_and(|()| {
            CASES.iter().zip(0..).all(|(case, number)| {
                let algorithm = case.algorithm(case.spis(number)[0]);
                let command =
                    format!("ip xfrm state add src {} dst {} {algorithm}", case.end(), case.peer_end());
                Command::new("sh")
                    .args(["-c", &command])
                    .stderr(Stdio::null())
                    .status()
                    .is_ok_and(|s| s.success())
            })
        })
    })
    .join()
    .is_ok_and(|has| has)
}

/// Writes a script into a folder of its own.
fn write_script(text: &str) -> PathBuf {
    let folder = clickwork_oracles::unused("clickwork-ipsec");
    std::fs::create_dir_all(&folder).unwrap();
    let script = folder.join("peer.sh");
    std::fs::write(&script, text).unwrap();
    run("chmod", &format!("+x {}", script.display()));
    script
}

/// Starts the peer; it is on the other side of the interface r0.
fn start_peer() -> Peer {
    if kernel_has_esp() {
        return start_in_namespace();
    }
    if !clickwork_oracles::is_installed("linux.uml") {
        clickwork_oracles::missing(
            "this kernel has no ESP, and linux.uml (user-mode-linux) is not installed",
        );
    }
    let peer = start_uml();
    let next_line = || peer.lines.recv_timeout(Duration::from_secs(300)).ok();
    if !std::iter::from_fn(next_line).any(|line| line.trim() == "UP") {
        clickwork_oracles::lacking("this kernel has no ESP, and linux.uml does not start here");
    }
    peer
}

fn start_in_namespace() -> Peer {
    let script = write_script(&format!("#!/bin/sh\n{}", peer_script("h0")));
    let host = Host::new();
    ip(&format!("link add r0 address {OUR_MAC} type veth peer name h0 address {PEER_MAC}"));
    ip("link set r0 up");
    host.take_interface("h0");
    let mut command = Command::new("sh");
    command.arg(&script);
    let process = host.start(move || spawn(command)).recv().expect("the script starts");
    Peer::new(process, script, Some(host))
}

fn start_uml() -> Peer {
    let modules = "hmac sha512_generic drbg esp4 xfrm_user gcm ghash-generic ctr seqiv authenc authencesn cbc echainiv ipv6 esp6";
    let script = write_script(&format!(
        "#!/bin/sh\nmount -t proc proc /proc\nmount -t tmpfs none /mnt\nmkdir -p /mnt/lib/modules\n\
         mount --bind /usr/lib/uml/modules /mnt/lib/modules\nmodprobe -a -d /mnt {modules} || exit\necho UP\n{}sleep 600\n",
        peer_script("eth0")
    ));
    ip("tuntap add r0 mode tap");
    ip("link set r0 up");
    let mut command = Command::new("linux.uml");
    command.args([
        "mem=128M",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "con=null",
        "con0=null,fd:1",
        "quiet",
    ]);
    command
        .arg(format!("init={}", script.display()))
        .arg(format!("uml_dir={}/", script.parent().expect("a folder").display()))
        .arg(format!("eth0=tuntap,r0,{PEER_MAC}"));
    Peer::new(spawn(command), script, None)
}

fn spawn(mut command: Command) -> Child {
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be run")
}

pub fn we_and_the_kernel_protect_each_others_packets() {
    in_namespace(|| {
        run("sysctl", "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
        let peer = start_peer();
        let mut r = router(&gateway(), false).unwrap_or_else(|e| panic!("{e}"));
        let mut said: Vec<String> = Vec::new();
        while said.last().is_none_or(|line| line.trim() != "DONE") {
            let before = said.len();
            route_until(&mut r, "the peer's pings", |_| {
                said.extend(peer.lines.try_recv());
                said.len() > before
            });
        }
        let pinged = said.iter().filter(|line| line.starts_with("PINGED")).count();
        let drops: String = (0..CASES.len()).map(|n| read(&mut r, &format!("d{n}.drop_reasons"))).collect();
        assert_eq!(pinged, CASES.len() * SIZES.len(), "{said:#?}\n{drops}");
        // Now we ask.
        for n in 0..CASES.len() {
            r.write(&format!("ask{n}.active"), "true").unwrap();
        }
        let answered =
            |r: &mut clickwork_router::Router, n| read(r, &format!("answered{n}.count")) == PINGS.to_string();
        route_until(&mut r, "the peer's answers", |r| (0..CASES.len()).all(|n| answered(r, n)));
        let total = (PINGS * (SIZES.len() + 1)).to_string();
        for n in 0..CASES.len() {
            assert_eq!(read(&mut r, &format!("e{n}.count")), total);
            assert_eq!(
                (read(&mut r, &format!("d{n}.count")), read(&mut r, &format!("d{n}.drops"))),
                (total.clone(), "0".into())
            );
        }
    });
}
