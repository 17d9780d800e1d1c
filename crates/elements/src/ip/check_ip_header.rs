//! CheckIPHeader and CheckIPHeader2: let only well-formed IP packets through.

use super::addresses::Several;
use super::fast::check_ip_header::fast;
use super::header_check::{Fault, HeaderCheck};
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Prefix;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HostOrPrefix};
use clickwork_router::element::try_downcast;
use clickwork_router::handler::{Handler, Listed};
use clickwork_router::{Class, Cx, Element, Fast, FastCode, FastPath, SimpleElement, Verdict, read_handler};
use std::fmt::Write;

/// The class facts.
pub static CLASS: Class = Class {
    help: "checks IP headers",
    manual: "Lets packets through whose IP header, OFFSET bytes into the packet, is well formed: long enough, version 4, \
             lengths that agree with each other and the packet, right checksum, and a source that is not in BADSRC unless \
             the destination is in GOODDST. INTERFACES lists a router's own addresses with their networks: the networks' \
             broadcast addresses are bad sources, as are 0.0.0.0 and 255.255.255.255, and the addresses themselves good \
             destinations. Packets that pass have their headers marked, the destination annotation set, and bytes behind \
             the IP packet cut off. The others go to output 1 if it is connected, and are dropped otherwise; the first of \
             them (all of them with VERBOSE) is reported. One or two arguments may be given by position, as in older \
             configurations: BADSRC and OFFSET, or OFFSET alone.",
    example: "InfiniteSource(DATA \\<4500001400000000 401166d70a0000010a000002>, LIMIT 1, STOP true) -> \
              c :: CheckIPHeader(INTERFACES 10.0.0.254/24 20.0.0.254/24) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only ip@OFFSET/mark ip@OFFSET,same",
    args: ARGS,
    handlers: HANDLERS,
    flags: "A",
    fast: Some(FastPath::of::<CheckIPHeader>()),
    ..Class::new("CheckIPHeader", "ip", || Box::new(CheckIPHeader::new(true)))
};

/// The same without a look at the checksum.
pub static CLASS2: Class = Class {
    help: "checks IP headers except their checksum",
    manual: "As CheckIPHeader, but does not look at the checksum unless CHECKSUM is true: for packets whose checksum the \
             device or another element has checked.",
    example: "InfiniteSource(DATA \\<4500001400000000 401100000a0000010a000002>, LIMIT 1, STOP true) -> \
              CheckIPHeader2 -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only ip@OFFSET/mark ip@OFFSET,same",
    args: ARGS,
    handlers: HANDLERS,
    flags: "A",
    fast: Some(FastPath::of::<CheckIPHeader>()),
    ..Class::new("CheckIPHeader2", "ip", || Box::new(CheckIPHeader::new(false)))
};

const ARGS: &[ArgSpec] = &[
    ArgSpec::keyword("INTERFACES", ArgType::Other("IP prefixes"), "", "the router's addresses and networks"),
    ArgSpec::keyword("BADSRC", ArgType::Other("IP addresses"), "", "sources to refuse"),
    ArgSpec::keyword("GOODDST", ArgType::Other("IP addresses"), "", "destinations that excuse a bad source"),
    ArgSpec::keyword("OFFSET", ArgType::U32, "0", "where the IP header is in the packet"),
    ArgSpec::keyword("VERBOSE", ArgType::Bool, "false", "report every bad packet, not only the first"),
    ArgSpec::keyword("DETAILS", ArgType::Bool, "false", "count bad packets by reason, for drop_details"),
    ArgSpec::keyword("CHECKSUM", ArgType::Bool, "", "check the checksum"),
    ArgSpec::rest("BADSRC OFFSET", ArgType::Other("IP addresses, then offset"), "the old form, by position"),
];

const HANDLERS: &[Handler] = &[
    read_handler!("drops", "bad packets", |e: &mut CheckIPHeader, _| e.drops),
    read_handler!("drop_details", "bad packets by reason", |e: &mut CheckIPHeader, _| e.drop_details())
        .listed(Listed::IfTrue("DETAILS")),
];

struct CheckIPHeader {
    check: HeaderCheck,
    verbose: bool,
    details: bool,
    drops: u64,
    drops_by_fault: [u64; Fault::ALL.len()],
}

impl CheckIPHeader {
    fn new(checksum: bool) -> CheckIPHeader {
        let check = HeaderCheck::new(checksum);
        CheckIPHeader { check, verbose: false, details: false, drops: 0, drops_by_fault: Default::default() }
    }

    fn drop_details(&self) -> Result<String, String> {
        if !self.details {
            return Err("bad packets are counted by reason only with DETAILS true".to_string());
        }
        let mut text = String::new();
        for (fault, count) in Fault::ALL.iter().zip(self.drops_by_fault) {
            let _ = writeln!(text, "{count}\t{}", fault.text());
        }
        Ok(text)
    }

    #[cold]
    fn uncommon(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.check.check(p) {
            Ok(()) => Verdict::PASS,
            Err(fault) => self.refuse(fault, cx),
        }
    }

    fn refuse(&mut self, fault: Fault, cx: &mut Cx<'_>) -> Verdict {
        if self.drops == 0 || self.verbose {
            cx.chatter(&format!("{}: IP header check failed: {}", cx.name(), fault.text()));
        }
        self.drops += 1;
        self.drops_by_fault[fault as usize] += 1;
        cx.out_or_drop(1, fault.text())
    }
}

/// Reads the arguments that CheckIPHeader and IPInputCombo share.
pub(super) fn read_addresses(args: &mut Args, check: &mut HeaderCheck) {
    if let Some(Several(interfaces)) = args.get::<Several<HostOrPrefix<Ipv4Prefix>>>("INTERFACES") {
        check.bad_sources.extend(interfaces.iter().map(|i| i.0.broadcast()));
        check.good_destinations.extend(interfaces.iter().map(|i| i.0.address));
        check.refuse_universal_sources();
    }
    if let Some(Several(addresses)) = args.get("BADSRC") {
        check.bad_sources.extend(addresses);
    }
    if let Some(Several(addresses)) = args.get("GOODDST") {
        check.good_destinations.extend(addresses);
    }
}

/// Reads the old form, by position: bad sources and offset, or the offset alone.
fn read_by_position(args: &mut Args, check: &mut HeaderCheck) {
    let mut given = args.rest().to_vec();
    let names = args.names().clone();
    let last = if given.len() == 2 { 1 } else { 0 };
    let offset = given.get(last).and_then(|text| u32::from_arg(text, &names).ok());
    match offset {
        Some(offset) => (check.offset, _) = (offset as usize, given.pop()),
        None if last == 1 => args.error_in_rest(1, "OFFSET: parse error"),
        None => {}
    }
    match given.first().map(|text| Several::from_arg(text, &names)) {
        None => {}
        Some(Ok(Several(addresses))) => {
            check.bad_sources.extend(addresses);
            check.refuse_universal_sources();
        }
        Some(Err(_)) => args.error_in_rest(0, "BADSRC: parse error"),
    }
    if given.len() > 2 {
        args.error_in_rest(2, "too many arguments");
    }
}

impl Fast for CheckIPHeader {
    fn fast_code(&self) -> Option<FastCode> {
        let source = include_str!("fast/check_ip_header.rs").into();
        Some(FastCode { module: "check_ip_header", source, constants: self.check.constants_text(0, "") })
    }

    #[inline]
    fn fast(&self, p: &mut Packet) -> Option<u16> {
        fast(&self.check.constants(0), p)
    }
}

impl SimpleElement for CheckIPHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        read_addresses(args, &mut self.check);
        let mut offset = 0u32;
        args.read("OFFSET", &mut offset).read("VERBOSE", &mut self.verbose);
        args.read("DETAILS", &mut self.details).read("CHECKSUM", &mut self.check.checksum);
        self.check.offset = offset as usize;
        read_by_position(args, &mut self.check);
    }

    // Left alone, the compiler calls it for each packet of a batch.
    #[inline(always)]
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.common(p) {
            Some(port) => Verdict::Out(port),
            None => self.uncommon(p, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<CheckIPHeader>(old) {
            (self.drops, self.drops_by_fault) = (old.drops, old.drops_by_fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn a_good_packet_is_marked_cut_and_annotated() {
        let mut t = Harness::new("s :: Source -> CheckIPHeader(OFFSET 2) -> k :: Sink");
        let good = ip("1.0.0.1", "2.0.0.2").options(&[1, 1]).bytes();
        t.push("s", 0, [Packet::new(&[&b"ab"[..], &good, b"padding"].concat())]);
        let p = t.take("k").remove(0);
        assert_eq!(
            (p.network_offset(), p.network_header_len(), p.len()),
            (Some(2), Some(24), 2 + good.len())
        );
        assert_eq!(p.dst_ip().to_string(), "2.0.0.2");
    }

    /// One packet for each fault, in order.
    fn bad() -> Vec<Packet> {
        let good = ip("1.0.0.1", "2.0.0.2").bytes();
        let changed = |at: usize, to: u8| {
            let mut bytes = good.clone();
            bytes[at] = to;
            Packet::new(&bytes)
        };
        let short = Packet::new(&good[..19]);
        vec![short, changed(0, 0x65), changed(0, 0x44), changed(3, 200), changed(3, 19), changed(8, 1)]
    }

    #[test]
    fn faults_are_told_apart() {
        let mut t = Harness::new("s :: Source -> c :: CheckIPHeader(VERBOSE yes, DETAILS yes) -> k :: Sink");
        t.push("s", 0, bad());
        let expected = "1\ttiny packet\n1\tbad IP version\n1\tbad IP header length\n2\tbad IP length\n\
                        1\tbad IP checksum\n0\tbad source address\n";
        assert_eq!((t.read("c.drop_details"), t.read("c.drops")), (expected.into(), "6".into()));
        let printed = t.printed();
        assert!(
            printed
                .starts_with("c: IP header check failed: tiny packet\nc: IP header check failed: bad IP v")
        );
        assert_eq!((printed.lines().count(), t.bytes("k").len()), (6, 0));
    }

    #[test]
    fn only_the_first_fault_is_reported_unless_told_otherwise() {
        let mut t = Harness::new("s :: Source -> c :: CheckIPHeader -> k :: Sink; c[1] -> bad :: Sink");
        t.push("s", 0, bad());
        assert_eq!(t.printed(), "c: IP header check failed: tiny packet\n");
        assert_eq!(t.bytes("bad").len(), 6);
        assert!(t.read("c.drop_details").contains("DETAILS true"));
    }

    #[test]
    fn the_second_form_ignores_the_checksum() {
        let mut t = Harness::new("s :: Source -> CheckIPHeader2 -> k :: Sink");
        t.push("s", 0, bad());
        assert_eq!(t.bytes("k").len(), 1);
    }

    #[test]
    fn bad_sources_are_refused_unless_the_destination_excuses_them() {
        let cases = [
            ("", "0.0.0.0", "9.9.9.9", true),
            ("INTERFACES 10.0.0.254/24", "0.0.0.0", "9.9.9.9", false),
            ("INTERFACES 10.0.0.254/24", "10.0.0.255", "9.9.9.9", false),
            ("INTERFACES 10.0.0.254/24", "10.0.0.255", "10.0.0.254", true),
            ("BADSRC 1.2.3.4", "1.2.3.4", "9.9.9.9", false),
            ("BADSRC 1.2.3.4", "0.0.0.0", "9.9.9.9", true),
            ("BADSRC 1.2.3.4, GOODDST 9.9.9.9", "1.2.3.4", "9.9.9.9", true),
            ("1.2.3.4 5.6.7.8", "5.6.7.8", "9.9.9.9", false),
            ("1.2.3.4", "255.255.255.255", "9.9.9.9", false),
        ];
        for (config, source, destination, passes) in cases {
            let mut t = Harness::new(&format!("s :: Source -> CheckIPHeader({config}) -> k :: Sink"));
            t.push("s", 0, [ip(source, destination).packet()]);
            assert_eq!(t.bytes("k").len() == 1, passes, "{config}: {source} > {destination}");
        }
    }

    #[test]
    fn positions_are_offset_or_sources_and_offset() {
        for config in ["3", "OFFSET 3", "1.2.3.4, 3", "BADSRC 1.2.3.4, OFFSET 3"] {
            let mut t = Harness::new(&format!("s :: Source -> CheckIPHeader({config}) -> k :: Sink"));
            t.push("s", 0, [Packet::new(&[&b"abc"[..], &ip("1.0.0.1", "2.0.0.2").bytes()].concat())]);
            assert_eq!(t.bytes("k").len(), 1, "{config}");
        }
        assert!(
            Harness::errors("Idle -> CheckIPHeader(nonsense) -> Discard").contains("BADSRC: parse error")
        );
        assert!(
            Harness::errors("Idle -> CheckIPHeader(1.2.3.4, x) -> Discard").contains("OFFSET: parse error")
        );
    }
}
