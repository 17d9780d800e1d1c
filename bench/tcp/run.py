#!/usr/bin/env python3
"""Measures the Prolac TCP as a user program beside smoltcp, lwIP and the kernel's own TCP.

    bench/tcp/run.py [--rounds 5] [--seconds 3] [--only echo,discard,chargen,connect,loss] [--stacks prolac,smoltcp,lwip,linux]

All user programs have the same path: a TUN device with offload headers, a Linux client at the other end. Those called
plain read and write bare packets, as these stacks come; prolac-no-offload computes checksums and cuts segments itself.
`loss` sends to
a client behind a router that drops packets of MTU size at random, each way. Rounds take turns, so that what else the
machine does meets all alike; medians are printed. Needs root, ip, nft, ethtool; lwIP's sources are fetched by apt.
Namespaces are removed in the end.
"""
import argparse, atexit, os, pathlib, statistics, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "target" / "bench-tcp"
MEASURE = BUILD / "release" / "measure"
SERVERS = {
    "prolac": [ROOT / "target/release/examples/serve", "t0", "10.9.0.2"],
    "prolac-no-offload": [ROOT / "target/release/examples/serve", "t0", "10.9.0.2", "plain"],
    "smoltcp": [BUILD / "release/smoltcp-serve", "t0", "10.9.0.2"],
    "smoltcp-plain": [BUILD / "release/smoltcp-serve", "t0", "10.9.0.2", "plain"],
    "lwip": [BUILD / "lwip-serve", "t0", "10.9.0.2", "10.9.0.1"],
    "lwip-plain": [BUILD / "lwip-serve-plain", "t0", "10.9.0.2", "10.9.0.1"],
    "linux": [MEASURE, "serve", "cubic"],
}
LOSSES = [0, 1, 10]  # in 1000 packets


def run(*words, **options):
    return subprocess.run([str(w) for w in words], check=True, text=True, **options)


def quiet(*words):
    return subprocess.run([str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


# ---- what is measured

def build(stacks):
    if any(stack.startswith("prolac") for stack in stacks):
        run("cargo", "build", "-q", "--release", "-p", "clickwork-prolac-tcp-host", "--example", "serve", cwd=ROOT)
    environment = dict(os.environ, CARGO_TARGET_DIR=str(BUILD))
    run("cargo", "build", "-q", "--release", cwd=HERE / "peers", env=environment)
    if any(stack.startswith("lwip") for stack in stacks) and not build_lwip():
        print("lwip is left out: its sources cannot be had", file=sys.stderr)
        stacks[:] = [stack for stack in stacks if not stack.startswith("lwip")]


def build_lwip():
    sources = BUILD / "lwip"
    if not (sources / "src").is_dir() and not fetch_lwip(sources):
        return False
    files = [*(sources / "src/core").glob("*.c"), *(sources / "src/core/ipv4").glob("*.c")]
    includes = [f"-I{HERE}/peers/lwip", f"-I{sources}/src/include"]
    for name, plain in (("lwip-serve", 0), ("lwip-serve-plain", 1)):
        define = f"-DPLAIN={plain}"
        run("cc", "-O3", "-w", define, *includes, HERE / "peers/lwip/main.c", *files, "-o", BUILD / name)
    return True


def fetch_lwip(sources):
    """The sources of Debian's package, without a change to the system's list of sources."""
    sources.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "lists/partial").mkdir(parents=True)
        (pathlib.Path(folder) / "list").write_text("deb-src http://deb.debian.org/debian bookworm main\n")
        options = [f"-oDir::Etc::sourcelist={folder}/list", "-oDir::Etc::sourceparts=/dev/null",
                   f"-oDir::State::lists={folder}/lists"]
        subprocess.run(["apt-get", *options, "-qq", "update"], cwd=folder)
        subprocess.run(["apt-get", *options, "-qq", "source", "--download-only", "lwip"], cwd=folder)
        archives = list(pathlib.Path(folder).glob("*.orig.tar.*"))
        return bool(archives) and quiet("tar", "xf", archives[0], "-C", sources, "--strip-components=1")


# ---- where it runs

class Space:
    """A network namespace."""

    def __init__(self, name):
        self.header = None
        self.name = f"bench-tcp-{os.getpid()}-{name}"
        run("ip", "netns", "add", self.name)
        atexit.register(quiet, "ip", "netns", "del", self.name)
        self.ip("link set lo up")
        # Enough for many connections in a short time.
        self.run("sysctl -qw net.ipv4.ip_local_port_range=1024\t65000 net.ipv4.tcp_tw_reuse=1")

    def command(self, *words):
        return ["ip", "netns", "exec", self.name, *[str(w) for w in words]]

    def run(self, words):
        run(*self.command(*words.split(" ")), stdout=subprocess.DEVNULL)

    def ip(self, words):
        run("ip", "-n", self.name, *words.split())

    def tun(self, header=True):
        if header is self.header:
            return
        if self.header is not None:
            self.ip("tuntap del t0 mode tun")
        self.header = header
        self.ip(f"tuntap add t0 mode tun {'vnet_hdr' if header else ''}")
        self.ip("addr add 10.9.0.1/24 dev t0")
        self.ip("link set t0 up")


def direct():
    """Server and client in one namespace, the TUN device between them; the kernel's own server over a veth pair."""
    client, far = Space("client"), Space("far")
    client.ip(f"link add v0 type veth peer name v1 netns {far.name}")
    client.ip("addr add 10.8.0.1/24 dev v0")
    far.ip("addr add 10.8.0.2/24 dev v1")
    client.ip("link set v0 up")
    far.ip("link set v1 up")
    return client, {stack: (far, "10.8.0.2") if stack == "linux" else (client, "10.9.0.2") for stack in SERVERS}


def routed():
    """Server, router, client. The server's side sends packets of MTU size, so that each is lost alone."""
    server, router, client = Space("server"), Space("router"), Space("behind")
    server.ip(f"link add s0 type veth peer name r0 netns {router.name}")
    client.ip(f"link add c0 type veth peer name r1 netns {router.name}")
    for space, device, address in [(server, "s0", "10.8.1.1"), (router, "r0", "10.8.1.2"),
                                   (router, "r1", "10.8.2.2"), (client, "c0", "10.8.2.1")]:
        space.ip(f"addr add {address}/24 dev {device}")
        space.ip(f"link set {device} up")
    server.ip("route add default via 10.8.1.2")
    client.ip("route add default via 10.8.2.2")
    router.ip("route add 10.9.0.0/24 via 10.8.1.1")
    for space in (server, router):
        space.run("sysctl -qw net.ipv4.ip_forward=1")
    server.run("ethtool -K s0 tso off")
    return server, router, client


def lose(router, per_thousand):
    """In both directions: a rule of the forwarding chain sees them all."""
    rule = f"numgen random mod 1000 < {per_thousand} drop\n" if per_thousand else ""
    chain = f"chain forward {{\ntype filter hook forward priority 0\n{rule}}}"
    text = f"table ip loss\ndelete table ip loss\ntable ip loss {{\n{chain}\n}}\n"
    run(*router.command("nft", "-f", "-"), input=text)


# ---- measuring

def measure(stack, space, client, *words, pin=None):
    """One number from the client, with the server started for it. With `pin`, server and client on these processors."""
    space.tun(not stack.endswith("plain"))
    pins = [["taskset", "-c", str(cpu)] for cpu in pin] if pin else [[], []]
    server = subprocess.Popen(space.command(*pins[0], *SERVERS[stack]), stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.2)
        done = subprocess.run(client.command(*pins[1], MEASURE, *words), text=True, capture_output=True, timeout=60)
        return float(done.stdout or "nan")
    except subprocess.TimeoutExpired:
        return float("nan")
    finally:
        server.kill()
        server.wait()


def show(number):
    return f"{number:.0f}" if number >= 1000 else f"{number:.3g}"


def table(title, columns, rows):
    print(f"\n{title}\n\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, values in rows.items():
        middles = [statistics.median(v) if v else float("nan") for v in values]
        spreads = [f" ({show(min(v))}-{show(max(v))})" if len(v) > 1 else "" for v in values]
        print(f"| {name} | {' | '.join(show(m) + s for m, s in zip(middles, spreads))} |", flush=True)


def run_direct(stacks, what, arguments):
    client, places = direct()
    columns = {"echo, one processor, µs": ("echo", 20000, (0, 0)), "echo, two processors, µs": ("echo", 20000, (0, 1)),
               "discard, Gbit/s": ("discard", arguments.seconds, None),
               "chargen, Gbit/s": ("chargen", arguments.seconds, None),
               "connections a second": ("connect", arguments.seconds, None)}
    columns = {name: column for name, column in columns.items() if column[0] in what}
    rows = {stack: [[] for _ in columns] for stack in stacks}
    for _ in range(arguments.rounds):
        for place, (service, number, pin) in enumerate(columns.values()):
            for stack in stacks:
                space, address = places[stack]
                rows[stack][place].append(measure(stack, space, client, service, address, number, pin=pin))
    table("Linux at the other end", list(columns), rows)


def run_routed(stacks, arguments):
    server, router, client = routed()
    rows = {stack: [[] for _ in LOSSES] for stack in stacks}
    for _ in range(arguments.rounds):
        for place, loss in enumerate(LOSSES):
            lose(router, loss)
            for stack in stacks:
                address = "10.8.1.1" if stack == "linux" else "10.9.0.2"
                rows[stack][place].append(measure(stack, server, client, "chargen", address, arguments.seconds))
    table("Sending through a router that loses packets, Gbit/s", [f"{loss / 10:g} %" for loss in LOSSES], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", default="echo,discard,chargen,connect,loss")
    parser.add_argument("--stacks", default=",".join(SERVERS))
    arguments = parser.parse_args()
    stacks, what = arguments.stacks.split(","), arguments.only.split(",")
    build(stacks)
    if set(what) - {"loss"}:
        run_direct(stacks, what, arguments)
    if "loss" in what:
        run_routed(stacks, arguments)


if __name__ == "__main__":
    main()
