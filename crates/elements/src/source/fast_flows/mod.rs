//! Sources of Ethernet frames with UDP or TCP flows, for load tests. They are pulled, at a rate that they keep.
//!
//! [`FastSource`] has what they share: rate, limit, counts and handlers. What the frames are is a [`Maker`]'s business.

use crate::shaping::gap_rate::{GapRate, MAX_RATE};
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_packet::headers::ethernet::{EthernetHeader, ethertype};
use clickwork_packet::headers::{Header, Ipv4Header, Ipv4Mut};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, Handler, read_handler, write_handler};
use zerocopy::IntoBytes;

pub(super) mod fast_tcp_flows;
pub(super) mod fast_udp_flows;
pub(super) mod fast_udp_source;
pub(super) mod fast_udp_source_ip6;

/// Makes the frames of a [`FastSource`].
pub(super) trait Maker: Default + Send + 'static {
    /// Reads the arguments that are its own.
    fn configure(&mut self, args: &mut Args, cx: &Cx<'_>);

    /// Makes frame number `count`, counted from 0. At the end there may be some that finish what was begun; none ends it.
    fn make(&mut self, count: u64, at_end: bool, cx: &mut Cx<'_>) -> Option<Packet>;

    /// Begins anew.
    fn reset(&mut self);
}

/// What the frames of a source have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    ether: EthernetHeader,
    ip: Ipv4Header,
    length: usize,
}

/// The shortest frame, without the check sequence.
const MIN_LENGTH: u32 = 60;
/// The longest: what IP can have in an Ethernet header.
const MAX_LENGTH: u32 = 65_535 + ETHER as u32;
const ETHER: usize = size_of::<EthernetHeader>();
const IP: usize = size_of::<Ipv4Header>();
const TTL: u8 = 250;
/// Room in front of frames.
const HEADROOM: usize = 28;

impl Default for Frame {
    fn default() -> Frame {
        Frame { ether: EthernetHeader::default(), ip: Ipv4Header::default(), length: MIN_LENGTH as usize }
    }
}

impl Frame {
    fn read(args: &mut Args, cx: &Cx<'_>) -> Frame {
        let ether = |a: Option<EtherAddress>| a.unwrap_or_default();
        let address = |a: Option<Ipv4Address>| a.unwrap_or(Ipv4Address::UNSPECIFIED);
        let (destination, source) = (ether(args.get("DSTETH")), ether(args.get("SRCETH")));
        let mut ip = Ipv4Header::default();
        ip.ttl = TTL;
        ip.set_source(address(args.get("SRCIP")));
        ip.set_destination(address(args.get("DSTIP")));
        let ether = EthernetHeader::new(destination, source, ethertype::IPV4);
        Frame { ether, ip, length: read_length(args, cx) as usize }
    }

    /// Bytes behind the IP header.
    fn transport_len(&self) -> u16 {
        (self.length - ETHER - IP) as u16
    }

    /// The packet with this transport header, whose checksum `set_checksum` sets, and a payload of zeros.
    fn packet<H: Header>(
        &self,
        protocol: u8,
        mut header: H,
        set_checksum: impl FnOnce(&mut H, u16),
    ) -> Packet {
        let mut ip = self.ip;
        ip.protocol = protocol;
        // The payload adds nothing to the sum.
        let checksum = ip.pseudo_sum(self.transport_len()).bytes(header.as_bytes()).finish();
        set_checksum(&mut header, checksum);
        let mut p = Packet::zeroed(HEADROOM, self.length, 0);
        let data = p.data_mut();
        data[..ETHER].copy_from_slice(self.ether.as_bytes());
        data[ETHER..ETHER + IP].copy_from_slice(ip.as_bytes());
        data[ETHER + IP..][..size_of::<H>()].copy_from_slice(header.as_bytes());
        if let Some(mut ip) = Ipv4Mut::new(&mut data[ETHER..]) {
            ip.set_total_len((self.length - ETHER) as u16);
            ip.fill_checksum();
        }
        p.set_network_header(ETHER as i32, IP as u32);
        p.set_dst_ip(ip.destination());
        p
    }
}

fn read_length(args: &mut Args, cx: &Cx<'_>) -> u32 {
    let length = args.get::<u32>("LENGTH").unwrap_or(MIN_LENGTH);
    if length < MIN_LENGTH {
        cx.chatter(&format!("warning: packet length < {MIN_LENGTH}, defaulting to {MIN_LENGTH}"));
    }
    if length > MAX_LENGTH {
        args.error_in("LENGTH", format!("must be at most {MAX_LENGTH}"));
    }
    length.clamp(MIN_LENGTH, MAX_LENGTH)
}

/// A random port as Click draws it; never 65535.
fn random_port(cx: &mut Cx<'_>) -> u16 {
    (cx.random() % 0xFFFF) as u16
}

/// The greatest number of flows.
const MAX_FLOWS: u32 = 1 << 22;

/// Reads FLOWS.
fn read_flows(args: &mut Args) -> usize {
    match args.get::<u32>("FLOWS") {
        Some(0) => args.error_in("FLOWS", "must be at least 1"),
        Some(n) if n > MAX_FLOWS => args.error_in("FLOWS", format!("must be at most {MAX_FLOWS}")),
        n => return n.unwrap_or(1) as usize,
    }
    1
}

const RATE: ArgSpec =
    ArgSpec::required("RATE", ArgType::U32, "frames per second, 0 for as many as are pulled");
const LIMIT: ArgSpec = ArgSpec::required("LIMIT", ArgType::I32, "frames to make; negative for no end");
const LENGTH: ArgSpec = ArgSpec::required("LENGTH", ArgType::U32, "length of frames, at least 60");
const SRCETH: ArgSpec = ArgSpec::required("SRCETH", ArgType::EtherAddr, "source Ethernet address");
const SRCIP: ArgSpec = ArgSpec::required("SRCIP", ArgType::IpAddr, "source IP address");
const DSTETH: ArgSpec = ArgSpec::required("DSTETH", ArgType::EtherAddr, "destination Ethernet address");
const DSTIP: ArgSpec = ArgSpec::required("DSTIP", ArgType::IpAddr, "destination IP address");
const FLOWS: ArgSpec = ArgSpec::required("FLOWS", ArgType::U32, "flows at a time");
const FLOWSIZE: ArgSpec = ArgSpec::required("FLOWSIZE", ArgType::U32, "packets of a flow");
const CHECKSUM: ArgSpec = ArgSpec::positional("CHECKSUM", ArgType::Bool, "true", "compute the UDP checksum");
const ACTIVE: ArgSpec = ArgSpec::positional("ACTIVE", ArgType::Bool, "true", "whether it makes frames");

/// The facts that these sources have in common.
const fn class<M: Maker>(name: &'static str) -> Class {
    Class {
        ports: "0/1",
        processing: "l/l",
        packets: "/ether-ip",
        handlers: FastSource::<M>::HANDLERS,
        ..Class::new(name, "source", || Box::<FastSource<M>>::default())
    }
}

/// The timer that ends a pause.
const PAUSE: usize = 0;

pub(super) struct FastSource<M> {
    maker: M,
    /// None: as many frames as are pulled.
    rate: Option<GapRate>,
    /// None: no end.
    limit: Option<u64>,
    active: bool,
    count: u64,
    /// Whether the last frame has been made.
    ended: bool,
    /// When the first frame was made, and when the limit was reached.
    first: Timestamp,
    last: Option<Timestamp>,
    /// Active while frames can be had.
    empty: Option<NotifierId>,
}

impl<M: Maker> Default for FastSource<M> {
    fn default() -> FastSource<M> {
        FastSource {
            maker: M::default(),
            rate: None,
            limit: None,
            active: true,
            count: 0,
            ended: false,
            first: Timestamp::ZERO,
            last: None,
            empty: None,
        }
    }
}

impl<M: Maker> FastSource<M> {
    const HANDLERS: &'static [Handler] = &[
        read_handler!("count", "frames made", |e: &mut FastSource<M>, _| e.count),
        read_handler!(
            "rate",
            "frames made per second, once the limit has been reached",
            |e: &mut FastSource<M>, _| e.measured_rate()
        )
        .and_write(write_handler!("", "", |e: &mut FastSource<M>, text, cx| e.set_rate(text, cx))),
        write_handler!("reset", "begins anew", |e: &mut FastSource<M>, _, cx| e.reset(cx)).flags("b"),
        write_handler!(
            "active",
            "makes frames or not, and begins anew",
            |e: &mut FastSource<M>, text, cx| {
                e.active = crate::values::parse(text, "").map_err(|_| "active parameter must be boolean")?;
                if e.active {
                    e.reset(cx);
                }
                Ok::<(), String>(())
            }
        )
        .flags("c"),
        write_handler!("limit", "sets how many frames to make", |e: &mut FastSource<M>, text, cx| {
            let limit = crate::values::parse::<i32>(text, "");
            e.limit = u64::try_from(limit.map_err(|_| "limit parameter must be integer >= 0")?).ok();
            e.ended = false;
            e.wake(cx);
            Ok::<(), String>(())
        }),
    ];

    fn wake(&self, cx: &mut Cx<'_>) {
        self.empty.into_iter().for_each(|empty| cx.wake(empty));
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        (self.count, self.last, self.ended) = (0, None, false);
        self.maker.reset();
        self.wake(cx);
    }

    /// Frames per second from the first to the last, by milliseconds; 0 before the last.
    fn measured_rate(&self) -> u64 {
        let millis = self.last.map(|last| (last.nanos() / 1_000_000 - self.first.nanos() / 1_000_000).max(1));
        millis.map_or(0, |millis| self.count * 1000 / millis.unsigned_abs())
    }

    fn set_rate(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let rate =
            crate::values::parse::<u32>(text, "").map_err(|_| "rate parameter must be integer >= 0")?;
        if rate > MAX_RATE {
            return Err(format!("rate too large; max is {MAX_RATE}"));
        }
        self.rate = self.rate.map(|_| GapRate::new(rate));
        self.wake(cx);
        Ok(())
    }

    fn is_at_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.count >= limit)
    }

    fn make(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let p = self.maker.make(self.count, self.is_at_limit(), cx);
        self.ended = p.is_none();
        if p.is_some() {
            let now = cx.steady();
            self.first = if self.count == 0 { now } else { self.first };
            self.count += 1;
            if self.is_at_limit() {
                self.last = Some(now);
            }
        }
        p
    }

    /// Lets those who pull sleep until there is a frame to have.
    fn pause(&self, cx: &mut Cx<'_>) {
        self.empty.into_iter().for_each(|empty| cx.sleep(empty));
        let wait = self.rate.filter(|_| self.active && !self.ended).and_then(|rate| rate.wait(cx.steady()));
        if let Some(wait) = wait {
            cx.schedule_timer_after(PAUSE, wait);
        }
    }
}

impl<M: Maker> Element for FastSource<M> {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let rate = args.get::<u32>("RATE").unwrap_or(0);
        if rate > MAX_RATE {
            args.warn(format!("rate too large; lowered to {MAX_RATE}"));
        }
        self.rate = (rate > 0).then(|| GapRate::new(rate));
        self.limit = args.get::<i32>("LIMIT").and_then(|limit| u64::try_from(limit).ok());
        args.read("ACTIVE", &mut self.active);
        self.maker.configure(args, cx);
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::Stop));
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let allowed = self.rate.as_mut().map_or(limit, |rate| rate.allowance(cx.steady()).min(limit));
        let mut batch = cx.fresh_batch();
        while self.active && !self.ended && batch.len() < allowed {
            batch.extend(self.make(cx));
        }
        if batch.is_empty() {
            self.pause(cx);
        }
        if let Some(rate) = &mut self.rate {
            rate.spend(batch.len());
        }
        batch
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        self.wake(cx);
    }
}
