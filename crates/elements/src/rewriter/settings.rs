//! Keyword arguments of rewriters.

use super::apply::Annotations;
use super::kind::Kind;
use super::table::{Timeouts, Tracking};
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args, FromArg, Names, SecondsIn};
use clickwork_router::{Cx, ElementId};
use std::time::Duration;

/// Where the most flows there may be is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// Here.
    Flows(i32),
    /// In another rewriter, which shares it.
    Of(ElementId),
}

/// What keyword arguments say.
pub struct Settings {
    /// Timeouts of the first and the second table, in seconds.
    seconds: [Timeouts; 2],
    /// How often flows that have ended are removed.
    pub reap_interval: Duration,
    /// The capacity, if it is given.
    pub capacity: Option<Capacity>,
    /// Annotations that packets get.
    pub annotations: Annotations,
}

/// Seconds as a flow's timeout: at most what moments in milliseconds can tell apart, 24 days.
fn milliseconds(seconds: u32) -> u32 {
    seconds.saturating_mul(1000).min(i32::MAX as u32)
}

impl Settings {
    /// The defaults of a kind.
    pub fn new(kind: Kind) -> Settings {
        let usual = if matches!(kind, Kind::Addr | Kind::AddrPair) { 2 * 3600 } else { 300 };
        let tcp = Timeouts { guarantee: 5, usual, busy: 24 * 3600, done: 240 };
        let udp = Timeouts { guarantee: 5, usual: 300, busy: 300, done: 0 };
        Settings {
            seconds: [if kind == Kind::Udp { udp } else { tcp }, udp],
            reap_interval: Duration::from_secs(15 * 60),
            capacity: None,
            annotations: Annotations { destination: true, reply: None },
        }
    }

    /// Reads the arguments.
    pub fn read(&mut self, kind: Kind, args: &mut Args, cx: &Cx<'_>) {
        let [first, second] = &mut self.seconds;
        match kind {
            Kind::Ip => {
                seconds(args, "UDP_TIMEOUT", &mut second.usual);
                read_streaming(args, &["UDP_STREAMING_TIMEOUT"], second);
                seconds(args, "UDP_GUARANTEE", &mut second.guarantee);
                read_tcp(args, first);
            }
            Kind::Tcp => read_tcp(args, first),
            Kind::Udp => {
                seconds(args, "UDP_TIMEOUT", &mut first.usual);
                seconds(args, "TIMEOUT", &mut first.usual);
                read_streaming(args, &["UDP_STREAMING_TIMEOUT", "STREAMING_TIMEOUT"], first);
                seconds(args, "UDP_GUARANTEE", &mut first.guarantee);
                seconds(args, "GUARANTEE", &mut first.guarantee);
            }
            _ => {
                seconds(args, "TIMEOUT", &mut first.usual);
                seconds(args, "GUARANTEE", &mut first.guarantee);
            }
        }
        if !matches!(kind, Kind::Addr | Kind::AddrPair) {
            args.read("DST_ANNO", &mut self.annotations.destination);
        }
        self.annotations.reply = args.get_with("REPLY_ANNO", AnnoOfSize(1)).map(|anno| anno.offset);
        let mut reap_interval = self.reap_interval.as_secs() as u32;
        seconds(args, "REAP_INTERVAL", &mut reap_interval);
        self.reap_interval = Duration::from_secs(reap_interval.into());
        for name in ["CAPACITY", "MAPPING_CAPACITY"] {
            self.read_capacity(name, args, cx);
        }
    }

    fn read_capacity(&mut self, name: &str, args: &mut Args, cx: &Cx<'_>) {
        let Some(text) = args.raw(name).map(str::to_string) else { return };
        self.capacity = match i32::from_arg(&text, &Names::default()) {
            Ok(flows) => Some(Capacity::Flows(flows)),
            Err(_) => cx.find(&text).filter(|&id| super::is_rewriter(cx, id)).map(Capacity::Of),
        };
        if self.capacity.is_none() {
            args.error("bad MAPPING_CAPACITY");
        }
    }

    /// How long flows of each table last, for a kind that has one or two.
    pub fn tables(&self, kind: Kind) -> [Option<(Tracking, Timeouts)>; 2] {
        let timeouts = |t: Timeouts| Timeouts {
            guarantee: milliseconds(t.guarantee),
            usual: milliseconds(t.usual),
            busy: milliseconds(t.busy),
            done: milliseconds(t.done),
        };
        let tracking = match kind {
            Kind::Ip | Kind::Tcp => Tracking::Tcp,
            Kind::Udp => Tracking::Udp,
            _ => Tracking::Plain,
        };
        let second = (kind == Kind::Ip).then(|| (Tracking::Udp, timeouts(self.seconds[1])));
        [Some((tracking, timeouts(self.seconds[0]))), second]
    }
}

fn seconds(args: &mut Args, name: &str, slot: &mut u32) {
    args.read_with(name, SecondsIn(0), slot);
}

fn read_tcp(args: &mut Args, t: &mut Timeouts) {
    seconds(args, "TCP_NODATA_TIMEOUT", &mut t.usual);
    seconds(args, "TIMEOUT", &mut t.busy);
    seconds(args, "TCP_TIMEOUT", &mut t.busy);
    seconds(args, "TCP_DONE_TIMEOUT", &mut t.done);
    seconds(args, "TCP_GUARANTEE", &mut t.guarantee);
    seconds(args, "GUARANTEE", &mut t.guarantee);
}

/// The timeout of streams, which is the usual one unless it is given.
fn read_streaming(args: &mut Args, names: &[&str], t: &mut Timeouts) {
    t.busy = t.usual;
    names.iter().for_each(|name| seconds(args, name, &mut t.busy));
}

/// The inputs' specifications.
pub const INPUTS: ArgSpec = ArgSpec::rest(
    "INPUTSPEC",
    ArgType::Other("input specification"),
    "what begins a flow, one for each input",
);
/// See [`Annotations::destination`].
pub const DST_ANNO: ArgSpec =
    ArgSpec::keyword("DST_ANNO", ArgType::Bool, "true", "whether the destination annotation is set");
/// See [`Annotations::reply`].
pub const REPLY_ANNO: ArgSpec = ArgSpec::keyword(
    "REPLY_ANNO",
    ArgType::Anno(1),
    "",
    "annotation that answers get as the flow's first packet had it",
);
/// See [`Capacity`].
pub const CAPACITY: ArgSpec = ArgSpec::keyword(
    "CAPACITY",
    ArgType::Other("number or element"),
    "2147483647",
    "most mappings, or a rewriter to share its capacity",
);
/// The same by its other name.
pub const MAPPING_CAPACITY: ArgSpec =
    ArgSpec::keyword("MAPPING_CAPACITY", ArgType::Other("number or element"), "", "the same as CAPACITY");
/// How often flows that have ended are removed.
pub const REAP_INTERVAL: ArgSpec = ArgSpec::keyword(
    "REAP_INTERVAL",
    ArgType::Seconds,
    "15m",
    "how often mappings that have ended are removed; 0: never",
)
.aliases(&["REAP_TIME"]);
/// TCP's usual timeout.
pub const TCP_NODATA_TIMEOUT: ArgSpec = ArgSpec::keyword(
    "TCP_NODATA_TIMEOUT",
    ArgType::Seconds,
    "5m",
    "how long connections last without data in both directions",
);
/// TCP's timeout with data.
pub const TCP_TIMEOUT: ArgSpec =
    ArgSpec::keyword("TCP_TIMEOUT", ArgType::Seconds, "24h", "how long connections with data last");
/// The same by its other name.
pub const TCP_PLAIN_TIMEOUT: ArgSpec =
    ArgSpec::keyword("TIMEOUT", ArgType::Seconds, "", "the same as TCP_TIMEOUT");
/// TCP's timeout after the end.
pub const TCP_DONE_TIMEOUT: ArgSpec =
    ArgSpec::keyword("TCP_DONE_TIMEOUT", ArgType::Seconds, "4m", "how long ended connections last");
/// TCP's guarantee.
pub const TCP_GUARANTEE: ArgSpec = ArgSpec::keyword(
    "TCP_GUARANTEE",
    ArgType::Seconds,
    "5",
    "how long after a packet nothing can push a connection out",
);
/// UDP's usual timeout.
pub const UDP_TIMEOUT: ArgSpec =
    ArgSpec::keyword("UDP_TIMEOUT", ArgType::Seconds, "5m", "how long flows of UDP last");
/// UDP's timeout of streams.
pub const UDP_STREAMING_TIMEOUT: ArgSpec = ArgSpec::keyword(
    "UDP_STREAMING_TIMEOUT",
    ArgType::Seconds,
    "",
    "how long flows of three packets with an answer last; as UDP_TIMEOUT",
);
/// UDP's guarantee.
pub const UDP_GUARANTEE: ArgSpec = ArgSpec::keyword(
    "UDP_GUARANTEE",
    ArgType::Seconds,
    "5",
    "how long after a packet nothing can push a flow out",
);
/// The timeout of other rewriters.
pub const TIMEOUT: ArgSpec =
    ArgSpec::keyword("TIMEOUT", ArgType::Seconds, "", "how long mappings last without packets");
/// The timeout of streams by its other name.
pub const STREAMING_TIMEOUT: ArgSpec =
    ArgSpec::keyword("STREAMING_TIMEOUT", ArgType::Seconds, "", "the same as UDP_STREAMING_TIMEOUT");
/// The guarantee.
pub const GUARANTEE: ArgSpec = ArgSpec::keyword(
    "GUARANTEE",
    ArgType::Seconds,
    "5",
    "how long after a packet nothing can push a mapping out",
);
