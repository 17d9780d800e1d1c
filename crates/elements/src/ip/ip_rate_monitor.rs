//! IPRateMonitor: measures how much networks and hosts send and get.

use super::rate_tree::{PERIODS_PER_SECOND, RateTree, period};
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_packet::{Batch, Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, Real2, split_args};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "measures rates of IP traffic by network and host",
    manual: "Measures how many packets or bytes, as TYPE says, come from and go to addresses. Packets of input 0 count for \
             their source (forward), those of input 1 for their destination (reverse). At first there is one rate for all \
             addresses with the same first byte; when it reaches THRESH per second, rates are kept for each value of the \
             second byte, and so on. Networks whose rate has become low are put together again. Each packet counts with \
             probability RATIO; THRESH is given as if that were 1.\n\n\
             MEMORY limits the kilobytes used, at least 100; without it the limit is 256 MB. Unless ANNO is false, the rates \
             of the smallest network known are put into the packet's forward and reverse rate annotations, for Block and \
             CompareBlock. Packets without a marked IP header pass uncounted.",
    example: "InfiniteSource(LIMIT 9, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) \
              -> IPRateMonitor(PACKETS, 1, 100) -> CompareBlock(1, 1, 5) => Discard, Discard",
    ports: "1-2/1-2",
    flow: "#/#",
    args: &[
        ArgSpec::required("TYPE", ArgType::Word, "PACKETS or BYTES"),
        ArgSpec::required("RATIO", ArgType::Real, "probability that a packet counts, 0 to 1"),
        ArgSpec::required("THRESH", ArgType::I32, "rate per second from which on parts are told apart"),
        ArgSpec::positional("MEMORY", ArgType::U32, "0", "kilobytes it may use"),
        ArgSpec::positional("ANNO", ArgType::Bool, "true", "whether packets get the rates as annotations"),
    ],
    handlers: &[
        read_handler!("thresh", "THRESH times RATIO", |e: &mut IpRateMonitor, _| e.tree.threshold),
        read_handler!(
            "look",
            "time since the last reset in units of 8 ms, then all rates",
            |e: &mut IpRateMonitor, cx| {
                let now = period(cx.recent());
                format!("{}\n{}", now - e.since, e.tree.text(now))
            }
        ),
        read_handler!("mem", "bytes used", |e: &mut IpRateMonitor, _| e.tree.bytes()),
        read_handler!("memmax", "bytes it may use; 0 if none were given", |e: &mut IpRateMonitor, _| e
            .memory)
        .and_write(write_handler!("", "", |e: &mut IpRateMonitor, text, cx| e.set_memory(text, cx))),
        write_handler!(
            "anno_level",
            "ADDRESS, LEVEL, SECONDS: do not divide that network for a time",
            |e: &mut IpRateMonitor, text, cx| e.hold(text, cx)
        ),
        write_handler!("reset", "forgets all rates", |e: &mut IpRateMonitor, _, cx| {
            e.tree.clear();
            e.since = period(cx.recent());
        }),
    ],
    ..Class::new("IPRateMonitor", "ip", || Box::<IpRateMonitor>::default())
};

/// Kilobytes that are granted at least.
const LEAST_MEMORY: u32 = 100;
/// Bytes that are used at most if no limit was given.
const UNLIMITED: usize = 256 << 20;
/// A ratio of 1.
const ALL: u32 = 1 << 16;

struct IpRateMonitor {
    tree: RateTree,
    bytes: bool,
    ratio: u32,
    /// The limit as it was given, in bytes.
    memory: u64,
    annotates: bool,
    /// The period of the last reset.
    since: i64,
}

impl Default for IpRateMonitor {
    fn default() -> IpRateMonitor {
        let tree = RateTree::new(1, UNLIMITED);
        IpRateMonitor { tree, bytes: false, ratio: ALL, memory: 0, annotates: true, since: 0 }
    }
}

impl IpRateMonitor {
    fn limit_memory(&mut self, kilobytes: u32) {
        self.memory = if kilobytes == 0 { 0 } else { u64::from(kilobytes.max(LEAST_MEMORY)) * 1024 };
        let given = usize::try_from(self.memory).unwrap_or(usize::MAX);
        self.tree.most_bytes = if self.memory == 0 { UNLIMITED } else { given };
    }

    fn set_memory(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let args = split_args(text);
        let [kilobytes] = args.as_slice() else { return Err("expecting 1 integer".to_string()) };
        let kilobytes = crate::values::parse::<i32>(kilobytes, "").map_err(|_| "not an integer")?;
        self.limit_memory(u32::try_from(kilobytes).unwrap_or(LEAST_MEMORY));
        self.tree.fold_to_limit(period(cx.recent()));
        Ok(())
    }

    fn hold(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let args = split_args(text);
        let [address, level, seconds] = args.as_slice() else {
            return Err("expecting 3 arguments".to_string());
        };
        let address = Ipv4Address::from_arg(address, &cx.names()).map_err(|_| "not an IP address")?;
        let level = crate::values::parse::<i32>(level, "").ok().filter(|level| (0..4).contains(level));
        let level = level.ok_or("2nd argument specifies a level, between 0 and 3, to annotate")?;
        let seconds = crate::values::parse::<i32>(seconds, "").ok().filter(|&seconds| seconds >= 1);
        let seconds = seconds.ok_or("3rd argument specifies when this rule expires, must be > 0")?;
        let until = period(cx.recent()) + i64::from(seconds) * PERIODS_PER_SECOND;
        self.tree.hold(address.octets(), level as usize, until);
        Ok(())
    }

    fn measure(&mut self, port: usize, p: &mut Packet, cx: &mut Cx<'_>) {
        let counts = (cx.random() >> 5) & 0xFFFF <= self.ratio;
        let Some(ip) = p.network_header().and_then(Ipv4Header::peek) else { return };
        let address = if port == 0 { ip.source() } else { ip.destination() };
        let n = if self.bytes { ip.total_len().into() } else { 1 };
        let now = period(cx.recent());
        let rates = self.tree.update(address.octets(), port, n, counts, now);
        if let Some([forward, reverse]) = rates.filter(|_| self.annotates) {
            p.set_anno_u32(anno::FWD_RATE, forward as u32);
            p.set_anno_u32(anno::REV_RATE, reverse as u32);
        }
        if self.tree.is_fold_due(now) {
            let enough = if self.memory > 0 { self.tree.most_bytes } else { self.tree.bytes() / 10 * 9 };
            let oldest_first = cx.random() & 1 == 1;
            self.tree.fold(self.tree.threshold, oldest_first, enough, now);
        }
    }
}

impl Element for IpRateMonitor {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        match args.raw("TYPE").map(|word| word.trim().to_ascii_uppercase()).as_deref() {
            Some("PACKETS") | None => {}
            Some("BYTES") => self.bytes = true,
            Some(_) => args.error("monitor type should be \"PACKETS\" or \"BYTES\""),
        }
        self.ratio = args.get_with("RATIO", Real2(16)).unwrap_or(ALL);
        if self.ratio > ALL {
            args.error("ratio must be between 0 and 1");
        }
        let threshold = i64::from(args.get::<i32>("THRESH").unwrap_or(1));
        self.tree.threshold = (threshold * i64::from(self.ratio.min(ALL))) >> 16;
        let kilobytes = args.get("MEMORY").unwrap_or(0);
        self.limit_memory(kilobytes);
        args.read("ANNO", &mut self.annotates);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.since = period(cx.recent());
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        batch.iter_mut().for_each(|p| self.measure(port, p, cx));
        if port > 0 {
            cx.emit_batch(port, batch.take());
        }
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.pull(port, limit);
        batch.iter_mut().for_each(|p| self.measure(port, p, cx));
        batch
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use std::time::Duration;

    /// Hosts 18.26.4.9 and 18.26.4.10 send 900 and 100 packets of 128 bytes a second, and get as many as they send.
    fn monitored(args: &str) -> Harness {
        let mut t = Harness::new(&format!(
            "RatedSource(LENGTH 100, RATE 900) -> UDPIPEncap(18.26.4.9, 1, 7.0.0.1, 2) -> t :: Tee;
             RatedSource(LENGTH 100, RATE 100) -> UDPIPEncap(18.26.4.10, 1, 7.0.0.1, 2) -> t;
             t[0] -> m :: IPRateMonitor({args}) -> k :: Discard; t[1] -> IPMirror -> [1] m; m[1] -> Discard"
        ));
        t.run_for(Duration::from_secs(5));
        t
    }

    /// Lines of `look`, without the first: indent, address, whole rates.
    fn look(t: &mut Harness) -> Vec<(usize, String, i64, i64)> {
        let text = t.read("m.look");
        let line = |line: &str| {
            let indent = line.len() - line.trim_start().len();
            let fields: Vec<_> = line.trim_start().split('\t').collect();
            let rate = |i: usize| fields[i].parse::<f64>().unwrap() as i64;
            (indent, fields[0].to_string(), rate(1), rate(2))
        };
        text.lines().skip(1).map(line).collect()
    }

    fn about(rate: i64, expected: i64) -> bool {
        (rate - expected).abs() <= expected / 10
    }

    #[test]
    fn high_rates_are_told_apart() {
        let mut t = monitored("PACKETS, 1, 500");
        let lines = look(&mut t);
        let names: Vec<_> = lines.iter().map(|l| (l.0, l.1.as_str())).collect();
        assert_eq!(names, [(0, "18"), (1, "18.26"), (2, "18.26.4"), (3, "18.26.4.9"), (3, "18.26.4.10")]);
        for (line, expected) in lines.iter().zip([1000, 1000, 1000, 900, 100]) {
            assert!(about(line.2, expected) && about(line.3, expected), "{line:?}");
        }
        // One level at the top, three below it, and a counter for each line.
        assert_eq!(t.read("m.mem"), (4 * 2080 + 5 * 40).to_string());
    }

    #[test]
    fn low_rates_stay_together() {
        let mut t = monitored("PACKETS, 1, 5000");
        let lines = look(&mut t);
        assert_eq!(lines.iter().map(|l| l.1.as_str()).collect::<Vec<_>>(), ["18"]);
        let mut t = monitored("BYTES, 1, 5000");
        assert!(about(look(&mut t)[0].2, 128_000));
    }

    #[test]
    fn networks_are_put_together_when_their_rates_have_fallen() {
        let mut t = Harness::new(
            "RatedSource(RATE 1000, LIMIT 4000) -> UDPIPEncap(18.26.4.9, 1, 7.0.0.1, 2) -> m :: IPRateMonitor(PACKETS, 1, 500) \
             -> Discard; RatedSource(RATE 10) -> UDPIPEncap(18.1.1.1, 1, 7.0.0.1, 2) -> m",
        );
        t.run_for(Duration::from_secs(3));
        assert!(look(&mut t).len() >= 4);
        t.run_for(Duration::from_secs(10));
        assert_eq!(look(&mut t).iter().map(|l| l.1.as_str()).collect::<Vec<_>>(), ["18"]);
        assert_eq!(t.read("m.mem"), "2120");
    }

    #[test]
    fn only_a_part_counts() {
        let mut t = monitored("PACKETS, 0.25, 5000");
        let rate = look(&mut t)[0].2;
        assert!((190..310).contains(&rate), "{rate}");
        assert_eq!(t.read("m.thresh"), "1250");
    }

    #[test]
    fn memory_is_limited() {
        let mut t = Harness::new("Idle -> m :: IPRateMonitor(PACKETS, 1, 0, 1) -> Discard");
        for i in 0..2000u32 {
            let source = format!("{}.{}.{}.{}", i % 251, i % 97, i % 13, i % 7);
            t.push("m", 0, [crate::ip::samples::ip(&source, "1.1.1.1").marked()]);
        }
        let used: usize = t.read("m.mem").parse().unwrap();
        assert!(used <= 102_400 && used > 95_000, "{used}");
        assert_eq!(t.read("m.memmax"), "102400");
        t.write("m.memmax 200").unwrap();
        assert_eq!(t.read("m.memmax"), "204800");
        assert_eq!(t.write("m.memmax x").unwrap_err(), "not an integer");
        t.write("m.reset").unwrap();
        assert_eq!((t.read("m.mem"), t.read("m.look")), ("2080".into(), "0\n".into()));
    }

    #[test]
    fn a_network_can_be_kept_whole_for_a_time() {
        let mut t = monitored("PACKETS, 1, 500");
        t.write("m.anno_level 18.26.0.0, 1, 3").unwrap();
        t.run_for(Duration::from_secs(2));
        assert_eq!(look(&mut t).last().unwrap().1, "18.26");
        t.run_for(Duration::from_secs(3));
        assert_eq!(look(&mut t).last().unwrap().1, "18.26.4.10");
        for (text, error) in [
            ("1.2.3.4, 1", "expecting 3 arguments"),
            ("x, 1, 1", "not an IP address"),
            ("1.2.3.4, 4, 1", "2nd argument specifies a level, between 0 and 3, to annotate"),
            ("1.2.3.4, 1, 0", "3rd argument specifies when this rule expires, must be > 0"),
        ] {
            assert_eq!(t.write(&format!("m.anno_level {text}")).unwrap_err(), error);
        }
    }

    #[test]
    fn packets_are_annotated_for_those_who_block() {
        for (anno, blocked) in [("", true), (", ANNO false", false)] {
            let mut t = Harness::new(&format!(
                "RatedSource(RATE 1000) -> UDPIPEncap(18.26.4.9, 1, 7.0.0.1, 2) -> IPRateMonitor(PACKETS, 1, 500{anno})
                 -> b :: Block(800); b[0] -> Discard; b[1] -> c :: Counter -> Discard"
            ));
            t.run_for(Duration::from_secs(5));
            assert_eq!(t.read("c.count").parse::<i32>().unwrap() > 4000, blocked);
        }
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (args, message) in [
            ("BITS, 1, 1", "monitor type should be \"PACKETS\" or \"BYTES\""),
            ("BYTES, 2, 1", "ratio must be between 0 and 1"),
            ("BYTES, 1, x", "THRESH"),
        ] {
            let e = Harness::errors(&format!("Idle -> IPRateMonitor({args}) -> Discard"));
            assert!(e.contains(message), "{e}");
        }
    }
}
