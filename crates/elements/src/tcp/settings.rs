//! The arguments of ProlacTCP, and what they make of a stack.

use super::address::{ADDRESS, Address};
use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{Options, TcpStack};
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, BadValue, FromArg, Names};
use std::net::IpAddr;
use std::time::Duration;

/// The smallest MTU, RFC 791 §3.2.
const LEAST_MTU: i64 = 68;
const PERSONALITIES: &[&str] = &["linux", "bsd"];
const ECN: &[&str] = &["never", "always", "accept"];
const COOKIES: &[&str] = &["never", "full", "always"];
const PATH_MTU: &[&str] = &["off", "icmp", "blackhole", "probe"];
const CONGESTION: &[&str] = &["reno", "cubic"];

/// The table of arguments.
pub const ARGS: &[ArgSpec] = &[
    ArgSpec::keyword(
        "PERSONALITY",
        ArgType::Choice(PERSONALITIES),
        "linux",
        "whose manner on the wire it has",
    ),
    ArgSpec::keyword(
        "MTU",
        ArgType::IntRange { min: LEAST_MTU, max: 65_535 },
        "1500",
        "the longest IP packet it sends",
    ),
    ArgSpec::keyword("MSS", ArgType::U16, "", "the longest segment it asks for; as MTU allows, if not given"),
    ArgSpec::keyword("WINDOW_SCALING", ArgType::Bool, "true", "windows above 64 KB, RFC 7323"),
    ArgSpec::keyword("TIMESTAMPS", ArgType::Bool, "true", "timestamps, RFC 7323"),
    ArgSpec::keyword(
        "SACK",
        ArgType::Bool,
        "",
        "selective acknowledgments, RFC 2018; not with bsd, if not given",
    ),
    ArgSpec::keyword("ECN", ArgType::Choice(ECN), "accept", "explicit congestion notification, RFC 3168"),
    ArgSpec::keyword("FAST_OPEN", ArgType::Bool, "false", "text in the SYN, RFC 7413, as client and server"),
    ArgSpec::keyword("SYN_COOKIES", ArgType::Choice(COOKIES), "full", "SYN cookies, RFC 4987 §3.6"),
    ArgSpec::keyword(
        "PATH_MTU",
        ArgType::Choice(PATH_MTU),
        "icmp",
        "how the path's MTU is found, RFC 1191, 8899",
    ),
    ArgSpec::keyword(
        "CONGESTION",
        ArgType::Choice(CONGESTION),
        "",
        "congestion control; reno with bsd, else cubic",
    ),
    ArgSpec::keyword("INITIAL_WINDOW", ArgType::U32, "", "segments sent before the first acknowledgment"),
    ArgSpec::keyword("RTO_MIN", ArgType::Seconds, "", "least retransmission timeout"),
    ArgSpec::keyword("TIME_WAIT", ArgType::Seconds, "60", "how long ports rest after a connection"),
    ArgSpec::keyword(
        "RCVBUF",
        ArgType::U32,
        "",
        "bytes that may wait to be read; grows with need, if not given",
    ),
    ArgSpec::keyword("SNDBUF", ArgType::U32, "", "bytes that may wait to be acknowledged; as above"),
    ArgSpec::keyword("NODELAY", ArgType::Bool, "true", "whether small segments are sent at once"),
    ArgSpec::keyword("KEEPALIVE", ArgType::Bool, "false", "whether idle connections are probed"),
    ArgSpec::keyword("SEED", ArgType::U64, "", "of its random numbers and secrets; for tests").secret(),
    ArgSpec::rest("ADDR", ADDRESS, "its own addresses; all packets are for it, if none is given"),
];

/// What a stack is to be like.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub config: Config,
    pub options: Options,
    pub addresses: Vec<IpAddr>,
    pub seed: Option<u64>,
}

impl Settings {
    /// Reads the arguments.
    pub fn read(args: &mut Args) -> Settings {
        let mut config = Config::default();
        if choice(args, "PERSONALITY", PERSONALITIES) == Some(1) {
            config = Config::bsd();
        }
        switches(args, &mut config);
        numbers(args, &mut config);
        // Urgent data are text as any other to all who use the stack, RFC 6093 §5.
        let mut options =
            Options { no_delay: true, reuse_address: true, out_of_band_inline: true, ..Options::default() };
        args.read("NODELAY", &mut options.no_delay).read("KEEPALIVE", &mut options.keep_alive);
        args.read("SNDBUF", &mut options.send_buffer);
        args.read("FAST_OPEN", &mut options.fast_open);
        options.receive_buffer = args.get("RCVBUF");
        Settings { config, options, addresses: addresses(args), seed: args.get("SEED") }
    }

    /// Makes the stack, whose random numbers follow from SEED or from `chance`, if there is one.
    pub fn stack(&self, chance: Option<u64>) -> TcpStack {
        let mut stack = TcpStack::new(self.config);
        if let Some(seed) = self.seed.or(chance) {
            stack.seed(seed);
        }
        self.apply(&mut stack);
        stack
    }

    /// Gives a stack that has run with others these settings.
    pub fn apply(&self, stack: &mut TcpStack) {
        stack.set_config(self.config);
        self.addresses.iter().for_each(|address| stack.add_address(*address));
    }

    /// Whether connections that were made with other settings can go on with these.
    pub fn has_addresses_of(&self, before: &Settings) -> bool {
        let all = self.addresses.is_empty() == before.addresses.is_empty();
        all && before.addresses.iter().all(|address| self.addresses.contains(address))
    }
}

/// One of some words, as its number.
struct Word(&'static [&'static str]);

impl ArgParser for Word {
    type Value = u32;

    fn parse(&self, text: &str, _: &Names) -> Result<u32, BadValue> {
        let n = self.0.iter().position(|word| *word == text);
        n.map(|n| n as u32).ok_or_else(|| format!("expected one of {}", self.0.join(", ")).into())
    }
}

fn choice(args: &mut Args, name: &str, words: &'static [&'static str]) -> Option<u32> {
    args.get_with(name, Word(words))
}

/// Extensions that can be turned on and off.
fn switches(args: &mut Args, config: &mut Config) {
    let mut switch = |name: &str, slot: &mut u32, on: u32| {
        if let Some(wanted) = args.get::<bool>(name) {
            *slot = if wanted { on } else { 0 };
        }
    };
    switch("WINDOW_SCALING", &mut config.window_scaling, 1);
    switch("TIMESTAMPS", &mut config.timestamps, 1);
    switch("SACK", &mut config.sack, 1);
    // As client and as server.
    switch("FAST_OPEN", &mut config.fast_open, 3);
    let mut choose = |name: &str, words, slot: &mut u32| {
        if let Some(n) = choice(args, name, words) {
            *slot = n;
        }
    };
    choose("ECN", ECN, &mut config.ecn);
    choose("SYN_COOKIES", COOKIES, &mut config.syn_cookies);
    choose("CONGESTION", CONGESTION, &mut config.congestion_control);
    if let Some(how) = choice(args, "PATH_MTU", PATH_MTU) {
        // Bits: by ICMP, by probes after a black hole, by probes always.
        config.path_mtu = [0, 1, 3, 5][how as usize];
    }
}

fn numbers(args: &mut Args, config: &mut Config) {
    args.read("MTU", &mut config.mtu).read("INITIAL_WINDOW", &mut config.initial_window);
    if !(LEAST_MTU..=65_535).contains(&config.mtu.into()) {
        args.error_in("MTU", format!("must be between {LEAST_MTU} and 65535"));
    }
    if config.initial_window == 0 {
        args.error_in("INITIAL_WINDOW", "must be at least 1");
    }
    if let Some(mss) = args.get::<u16>("MSS") {
        config.mss = mss.into();
    }
    let mut time = |name: &str, slot: &mut u32| {
        let Some(time) = args.get::<Duration>(name) else { return };
        match u32::try_from(time.as_micros()) {
            Ok(micros) => *slot = micros,
            Err(_) => args.error_in(name, "must be less than 4294 seconds"),
        }
    };
    time("RTO_MIN", &mut config.rto_min);
    time("TIME_WAIT", &mut config.time_wait);
}

fn addresses(args: &mut Args) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for n in 0..args.rest().len() {
        match Address::from_arg(&args.rest()[n], args.names()) {
            Ok(address) => addresses.push(address.0),
            Err(_) => args.error_in_rest(n, format!("'{}' should be an IP or IPv6 address", args.rest()[n])),
        }
    }
    addresses
}
