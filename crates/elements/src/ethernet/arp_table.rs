//! ARPTable: an ARP cache that several ARPQueriers share.

use super::arp_cache::{ArpCache, Limits};
use super::shared_cache::SharedCache;
use clickwork_packet::Timestamp;
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "keeps Ethernet addresses of IP addresses for ARPQueriers",
    manual: "Holds an ARP cache. ARPQuerier elements that name it in TABLE share it, so that what one learns all know. \
             There are never more than ENTRY_CAPACITY entries, whoever is asked for or answers unasked; the cost of a \
             packet does not depend on their number.",
    example: "t :: ARPTable; DriverManager(write t.insert 10.0.0.1 2:0:0:0:0:1, print t.table, stop)",
    ports: "0/0",
    args: &LIMIT_ARGS,
    handlers: &[
        read_handler!(
            "table",
            "addresses, whether known, Ethernet addresses, ages",
            |e: &mut ArpTable, cx| e.cache().print(cx.steady())
        ),
        read_handler!("drops", "packets that waited in vain", |e: &mut ArpTable, _| e.cache().drops()),
        read_handler!("count", "entries", |e: &mut ArpTable, _| e.cache().count()),
        read_handler!("length", "packets that wait", |e: &mut ArpTable, _| e.cache().length()),
        write_handler!("insert", "adds an entry: IP ETHER", |e: &mut ArpTable, text, cx| {
            insert(&mut e.cache(), text, cx)
        }),
        write_handler!("delete", "forgets an address", |e: &mut ArpTable, text, cx| {
            delete(&mut e.cache(), text, cx)
        }),
        write_handler!("clear", "removes all entries", |e: &mut ArpTable, _, cx| {
            losing(&mut e.cache(), cx, |cache, _| cache.clear());
        }),
    ],
    ..Class::new("ARPTable", "ethernet", || Box::<ArpTable>::default())
};

/// The arguments that set a cache's limits.
pub(super) const LIMIT_ARGS: [ArgSpec; 5] = [
    ArgSpec::keyword("CAPACITY", ArgType::U32, "2048", "packets that may wait; 0: any number"),
    ArgSpec::keyword(
        "ENTRY_CAPACITY",
        ArgType::U32,
        "0",
        "entries, of which the oldest give way to new ones; 0: 1048576",
    ),
    ArgSpec::keyword(
        "ENTRY_PACKET_CAPACITY",
        ArgType::U32,
        "0",
        "packets that may wait for one entry; 0: any number",
    ),
    ArgSpec::keyword(
        "CAPACITY_SLIM_FACTOR",
        ArgType::U32,
        "2",
        "part of the waiting packets dropped on overflow",
    ),
    ArgSpec::keyword("TIMEOUT", ArgType::Seconds, "5m", "how long an entry holds; 0: for ever"),
];

#[derive(Default)]
struct ArpTable {
    shared: Arc<SharedCache>,
}

impl ArpTable {
    fn cache(&self) -> MutexGuard<'_, ArpCache> {
        self.shared.lock()
    }
}

/// Reads the limits from a configuration.
pub(super) fn read_limits(args: &mut Args) -> Limits {
    let mut l = Limits::default();
    args.read("CAPACITY", &mut l.packets).read("ENTRY_CAPACITY", &mut l.entries);
    args.read("ENTRY_PACKET_CAPACITY", &mut l.entry_packets).read("CAPACITY_SLIM_FACTOR", &mut l.slim_factor);
    args.read("TIMEOUT", &mut l.timeout);
    if l.slim_factor == 0 {
        args.error("CAPACITY_SLIM_FACTOR cannot be zero");
    }
    l
}

/// Does something to a cache that may end packets that wait, and counts those.
pub(super) fn losing<R>(
    cache: &mut ArpCache,
    cx: &mut Cx<'_>,
    change: impl FnOnce(&mut ArpCache, Timestamp) -> R,
) -> R {
    let before = cache.drops();
    let result = change(cache, cx.recent());
    if cache.drops() > before {
        cx.count_drop("no ARP answer", cache.drops() - before);
    }
    result
}

const INSERT_ARGS: &[ArgSpec] = &[
    ArgSpec::required("IP", ArgType::IpAddr, "the address"),
    ArgSpec::required("ETH", ArgType::EtherAddr, "its Ethernet address"),
];
const DELETE_ARGS: &[ArgSpec] = &[ArgSpec::required("IP", ArgType::IpAddr, "the address")];

/// The `insert` handler: `IP ETHER`. Packets that waited are for the next query's answer to send.
pub(super) fn insert(cache: &mut ArpCache, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
    let mut args = Args::from_words(INSERT_ARGS, text, &cx.names());
    let (ip, ether) = (args.get::<Ipv4Address>("IP"), args.get::<EtherAddress>("ETH"));
    args.finish().map_err(|e| e.to_string())?;
    if let (Some(ip), Some(ether)) = (ip, ether) {
        losing(cache, cx, |cache, now| cache.insert(ip, ether, now));
    }
    Ok(())
}

/// The `delete` handler: `IP`.
pub(super) fn delete(cache: &mut ArpCache, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
    let mut args = Args::from_words(DELETE_ARGS, text, &cx.names());
    let ip = args.get::<Ipv4Address>("IP");
    args.finish().map_err(|e| e.to_string())?;
    if let Some(ip) = ip {
        losing(cache, cx, |cache, now| cache.insert(ip, EtherAddress::BROADCAST, now));
    }
    Ok(())
}

/// Takes over another cache's entries; this one's limits stay.
pub(super) fn take_cache(new: &mut ArpCache, old: &mut ArpCache) {
    let limits = new.limits;
    *new = std::mem::take(old);
    new.limits = limits;
}

/// When expired entries are removed for the first time, in whole seconds.
pub(super) fn first_expiry(limits: &Limits) -> Option<Duration> {
    (!limits.timeout.is_zero()).then_some(Duration::from_secs(limits.timeout.as_secs()))
}

/// How often expired entries are removed from then on.
pub(super) fn expiry_interval(limits: &Limits) -> Option<Duration> {
    first_expiry(limits).map(|first| first + Duration::from_secs(1))
}

impl Element for ArpTable {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.cache().limits = read_limits(args);
        cx.export(Arc::clone(&self.shared));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(interval) = first_expiry(&self.cache().limits) {
            cx.schedule_timer_after(0, interval);
        }
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let now = cx.steady();
        losing(&mut self.cache(), cx, |cache, _| cache.expire(now));
        if let Some(interval) = expiry_interval(&self.cache().limits) {
            cx.schedule_timer_after(0, interval);
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<ArpTable>(old) {
            take_cache(&mut self.cache(), &mut old.cache());
        }
    }
}
