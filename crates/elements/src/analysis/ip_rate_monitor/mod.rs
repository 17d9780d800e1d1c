//! IPRateMonitor: measures rates from and to addresses, finer where there is much traffic.

mod zoom;

use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::Ipv4;
use clickwork_packet::{Batch, Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Real2, Word, split_args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use zoom::{Zoom, period, periods};

use crate::values::parse;

/// The class facts.
pub static CLASS: Class = Class {
    help: "measures traffic rates from and to addresses",
    manual: "Measures packets or bytes (TYPE) per second from and to IP addresses: of packets that come in by input 0 the \
             source counts, of those at input 1 the destination. At first there is one rate for each first byte of an \
             address. Where a rate exceeds THRESH, rates are kept for the next byte too, and so on; where it falls below \
             again they are given up. One packet in 1/RATIO is measured. With ANNO the packet's forward and reverse rate \
             annotations are set. The handler 'look' shows the rates: address, rate from it, rate to it; its first line is \
             the time since the last reset, in periods of 8 ms.\n\n\
             MEMORY is a limit in kilobytes, as Click counts them, at least 100; 0 stands for 256 megabytes. When it is \
             reached, no finer rates are kept.",
    example: "RatedSource(RATE 1000, LIMIT 500, STOP true) -> UDPIPEncap(18.26.4.44, 1, 2.0.0.2, 2) \
              -> m :: IPRateMonitor(PACKETS, 1, 100) -> Discard; DriverManager(wait_stop, print m.look)",
    ports: "1-2/1-2",
    packets: "ip/same",
    args: &[
        ArgSpec::required("TYPE", ArgType::Choice(&["PACKETS", "BYTES"]), "what is counted"),
        ArgSpec::required("RATIO", ArgType::Real, "which part of the packets is measured, up to 1"),
        ArgSpec::required("THRESH", ArgType::I32, "rate per second above which finer rates are kept"),
        ArgSpec::positional("MEMORY", ArgType::U64, "0", "limit in kilobytes"),
        ArgSpec::positional("ANNO", ArgType::Bool, "true", "whether packets are annotated with the rates"),
    ],
    handlers: &[
        read_handler!("thresh", "the threshold, times the ratio", |e: &mut Monitor, _| e.zoom.threshold),
        read_handler!("look", "the rates", |e: &mut Monitor, cx| {
            let now = period(cx.steady());
            format!("{}\n{}", now - e.reset_at, e.zoom.text(now))
        }),
        read_handler!("mem", "bytes used", |e: &mut Monitor, _| e.zoom.memory()),
        read_handler!("memmax", "limit in bytes; written in kilobytes", |e: &mut Monitor, _| e.zoom.limit)
            .and_write(write_handler!("", "", |e: &mut Monitor, text, cx| e.set_limit(text, cx))),
        write_handler!(
            "anno_level",
            "ADDRESS, LEVEL, SECONDS: no finer rates than LEVEL for a time",
            |e: &mut Monitor, text, cx| e.fix(text, cx)
        ),
        write_handler!("reset", "forgets all rates", |e: &mut Monitor, _, cx| {
            e.zoom.reset();
            e.reset_at = period(cx.steady());
        })
        .flags("b"),
    ],
    ..Class::new("IPRateMonitor", "analysis", || Box::<Monitor>::default())
};

/// All packets.
const WHOLE: u32 = 1 << 16;
/// The least limit, in kilobytes.
const LEAST_MEMORY: u64 = 100;

#[derive(Default)]
struct Monitor {
    in_bytes: bool,
    annotates: bool,
    ratio: u32,
    zoom: Zoom,
    reset_at: i64,
}

/// A limit in kilobytes as one in bytes.
fn limit(kilobytes: u64) -> usize {
    let kilobytes = if kilobytes == 0 { 0 } else { kilobytes.max(LEAST_MEMORY) };
    usize::try_from(kilobytes.saturating_mul(1024)).unwrap_or(usize::MAX)
}

impl Monitor {
    fn set_limit(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let [text] = &split_args(text)[..] else { return Err("expecting 1 integer".to_owned()) };
        let kilobytes: i32 = parse(text, "").map_err(|_| "not an integer")?;
        self.zoom.limit = limit(kilobytes.max(0) as u64);
        let forward = cx.random() & 1 == 1;
        self.zoom.fold_to_limit(period(cx.steady()), forward);
        Ok(())
    }

    fn fix(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let [address, level, seconds] = &split_args(text)[..] else {
            return Err("expecting 3 arguments".to_owned());
        };
        let address: Ipv4Address = parse(address, "").map_err(|_| "not an IP address")?;
        let level = parse::<i32>(level, "").ok().filter(|level| (0..4).contains(level));
        let level = level.ok_or("2nd argument specifies a level, between 0 and 3, to annotate")?;
        let seconds = parse::<i32>(seconds, "").ok().filter(|seconds| *seconds > 0);
        let seconds = seconds.ok_or("3rd argument specifies when this rule expires, must be > 0")?;
        let until = period(cx.steady()) + periods(seconds.into());
        self.zoom.fix(address.octets(), level as usize, until);
        Ok(())
    }

    fn measure(&mut self, p: &mut Packet, port: usize, cx: &mut Cx<'_>) {
        let measured = (cx.random() >> 5) & 0xffff <= self.ratio;
        let Some(ip) = p.network_bytes().and_then(Ipv4::new) else { return };
        let amount = if self.in_bytes { i64::from(ip.total_len()) } else { 1 };
        let address = if port == 0 { ip.source() } else { ip.destination() };
        let now = period(cx.recent());
        let rates = self.zoom.update(address.octets(), amount, port.min(1), measured, now);
        if let (Some([from, to]), true) = (rates, self.annotates) {
            p.set_anno_u32(anno::FWD_RATE, from);
            p.set_anno_u32(anno::REV_RATE, to);
        }
        self.zoom.fold_in_time(now, || cx.random() & 1 == 1);
    }
}

impl Element for Monitor {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let (mut thresh, mut memory) = (1i32, 0u64);
        self.annotates = true;
        args.read_with("RATIO", Real2(16), &mut self.ratio)
            .read("THRESH", &mut thresh)
            .read("MEMORY", &mut memory)
            .read("ANNO", &mut self.annotates);
        if let Some(Word(kind)) = args.get("TYPE") {
            match kind.to_uppercase().as_str() {
                "PACKETS" => self.in_bytes = false,
                "BYTES" => self.in_bytes = true,
                _ => args.error("monitor type should be \"PACKETS\" or \"BYTES\""),
            }
        }
        if self.ratio > WHOLE {
            args.error("ratio must be between 0 and 1");
        }
        self.zoom.limit = limit(memory);
        self.zoom.threshold = (i64::from(thresh) * i64::from(self.ratio)) >> 16;
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.reset_at = period(cx.steady());
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.iter_mut() {
            self.measure(p, port, cx);
        }
        if port > 0 {
            cx.emit_batch(port, batch.take());
        }
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.pull(port, limit);
        for p in batch.iter_mut() {
            self.measure(p, port, cx);
        }
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Monitor>(old) {
            let (limit, threshold) = (self.zoom.limit, self.zoom.threshold);
            self.zoom = std::mem::take(&mut old.zoom);
            (self.zoom.limit, self.zoom.threshold) = (limit, threshold);
            self.reset_at = old.reset_at;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::anno;
    use std::time::Duration;

    const STREAM: &str = "RatedSource(LENGTH 72, RATE 1000) -> UDPIPEncap(18.26.4.44, 1, 2.0.0.2, 2)";

    fn rates(look: &str, address: &str) -> Option<(f64, f64)> {
        let line = look.lines().find(|line| line.trim_start().starts_with(&format!("{address}\t")))?;
        let mut numbers = line.trim_start().split('\t').skip(1).map(|n| n.parse().unwrap());
        Some((numbers.next()?, numbers.next()?))
    }

    #[test]
    fn zooms_in_on_busy_networks_and_out_again() {
        let mut t = Harness::new(&format!("{STREAM} -> m :: IPRateMonitor(PACKETS, 1, 100) -> k :: Sink"));
        t.run_for(Duration::from_secs(3));
        let look = t.read("m.look");
        let first: i64 = look.lines().next().unwrap().parse().unwrap();
        assert!((370..380).contains(&first), "{look}");
        assert!(look.contains("\n18\t") && look.contains("\n\t\t\t18.26.4.44\t"), "{look}");
        let (from, to) = rates(&look, "18.26.4.44").unwrap();
        assert!((from - 1000.0).abs() < 30.0 && to == 0.0, "{look}");
        let p = t.take("k").pop().unwrap();
        assert!((950..1050).contains(&p.anno_u32(anno::FWD_RATE)));
        assert_eq!(t.read("m.mem"), (4 * 2080 + 4 * 40).to_string());
        t.write("m.reset").unwrap();
        assert_eq!(t.read("m.look"), "0\n");
    }

    #[test]
    fn bytes_and_directions() {
        let mut t = Harness::new(&format!(
            "{STREAM} -> m :: IPRateMonitor(bytes, 1, 1000000) -> k :: Sink; \
            {STREAM} -> [1] m [1] -> l :: Sink"
        ));
        t.run_for(Duration::from_secs(3));
        let look = t.read("m.look");
        let (from, none) = rates(&look, "18").unwrap();
        let (nothing, to) = rates(&look, "2").unwrap();
        assert!((from - 100_000.0).abs() < 3000.0 && (to - 100_000.0).abs() < 3000.0, "{look}");
        assert_eq!((none, nothing), (0.0, 0.0));
        assert!(!t.take("l").is_empty());
    }

    #[test]
    fn a_level_can_be_fixed_and_memory_limited() {
        let mut t = Harness::new(&format!("{STREAM} -> m :: IPRateMonitor(PACKETS, 1, 100) -> Sink"));
        t.run_for(Duration::from_secs(1));
        t.write("m.anno_level 18.26.4.44, 1, 100").unwrap();
        t.run_for(Duration::from_secs(1));
        let look = t.read("m.look");
        assert!(look.contains("\t18.26\t") && !look.contains("18.26.4"), "{look}");
        t.write("m.memmax 1").unwrap();
        assert_eq!(t.read("m.memmax"), "102400");
        for (call, error) in [
            ("memmax x", "not an integer"),
            ("memmax 1, 2", "expecting 1 integer"),
            ("anno_level 1.2.3.4", "expecting 3 arguments"),
            ("anno_level x, 1, 1", "not an IP address"),
            ("anno_level 1.2.3.4, 4, 1", "2nd argument specifies a level, between 0 and 3, to annotate"),
            ("anno_level 1.2.3.4, 1, 0", "3rd argument specifies when this rule expires, must be > 0"),
        ] {
            assert_eq!(t.write(&format!("m.{call}")).unwrap_err(), error);
        }
    }

    #[test]
    fn floods_of_addresses_stay_within_the_limit() {
        let mut t = Harness::new("s :: Source -> m :: IPRateMonitor(PACKETS, 1, 0, 100) -> Discard");
        let address = |n: u32| std::net::Ipv4Addr::from(n.wrapping_mul(2_654_435_761)).to_string();
        t.push("s", 0, (0..5000).map(|n| ip(&address(n), "2.2.2.2").marked()));
        let memory: usize = t.read("m.mem").parse().unwrap();
        assert!(memory > 50_000 && memory <= 102_400, "{memory}");
    }

    #[test]
    fn says_what_is_wrong() {
        for (args, error) in [
            ("FLOWS, 1, 1", "monitor type should be \"PACKETS\" or \"BYTES\""),
            ("BYTES, 1.5, 1", "ratio must be between 0 and 1"),
        ] {
            let e = Harness::errors(&format!("Idle -> IPRateMonitor({args}) -> Idle"));
            assert!(e.contains(error), "{e}");
        }
    }
}
