//! The element behind every IPv4 lookup class: it sends packets where a route table says.
//!
//! Not the tables, which are in [`lookup`](super::lookup). Each class is one table and its facts, in a file of its own.

use super::lookup::commands::{self, AddressNames, CommandError, Context};
use super::lookup::{Hop, RouteError, RouteTable};
use super::route_code;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HostOrPrefix, Names};
use clickwork_router::element::{split_batch, try_downcast};
use clickwork_router::handler::Handler;
use clickwork_router::{
    Class, Cx, Element, Fast, FastCode, FastPath, read_handler, read_param_handler, write_handler,
};

const ARGS: &[ArgSpec] = &[ArgSpec::rest(
    "ROUTE",
    ArgType::Other("ADDR/MASK [GATEWAY] OUTPUT"),
    "addresses, the router they are reached through ('-' or nothing: none), and the output",
)];

/// The facts that all lookup classes share, for the class of table `T`; name, help and manual are its own.
pub(super) const fn class<T: RouteTable + Default + Send + 'static>(
    name: &'static str,
    make: fn() -> Box<dyn Element>,
) -> Class {
    Class {
        ports: "1/-",
        processing: "h/h",
        flow: "x/x!",
        packets: "any/same",
        args: ARGS,
        handlers: IpLookup::<T>::HANDLERS,
        fast: Some(FastPath::of::<IpLookup<T>>().changing()),
        ..Class::new(name, "ip", make)
    }
}

/// What an element says of packets without a route.
#[derive(Clone, Copy)]
pub(super) enum Complaint {
    /// Nothing.
    None,
    /// In this name, that there is no route.
    NoRoute(&'static str),
    /// In this name, that there is no gateway for the address, as the number it is in memory.
    NoGateway(&'static str),
}

/// A lookup element with its table.
pub(super) struct IpLookup<T> {
    table: T,
    /// The routes of the configuration, to tell at a hot swap whether they changed.
    configured: Vec<String>,
    complaint: Complaint,
    /// What the user is told about the class at its configuration.
    advice: Option<&'static str>,
    outputs: u32,
}

impl<T: RouteTable + Default + Send + 'static> IpLookup<T> {
    /// An element with an empty table, for [`Class::make`].
    pub(super) fn boxed(complaint: Complaint) -> Box<dyn Element> {
        Box::new(Self::new(complaint, None))
    }

    /// The same of a class that the user is advised against.
    pub(super) fn discouraged(complaint: Complaint, advice: &'static str) -> Box<dyn Element> {
        Box::new(Self::new(complaint, Some(advice)))
    }

    fn new(complaint: Complaint, advice: Option<&'static str>) -> Self {
        Self { table: T::default(), configured: Vec::new(), complaint, advice, outputs: 0 }
    }

    const HANDLERS: &'static [Handler] = &[
        write_handler!("add", "adds a route, ADDR/MASK [GATEWAY] OUTPUT", |e: &mut Self, t, cx| e.add(t, cx)),
        write_handler!("set", "adds or replaces a route", |e: &mut Self, t, cx| e.set(t, cx)),
        write_handler!("remove", "removes the route for ADDR/MASK", |e: &mut Self, t, cx| e.remove(t, cx)),
        write_handler!("ctrl", "'add', 'set', 'remove' lines: all or none", |e: &mut Self, t, cx| e
            .ctrl(t, cx)),
        write_handler!("flush", "removes all routes", |e: &mut Self, _, _| e.table.clear()).flags("b"),
        read_handler!("table", "all routes", |e: &mut Self, _| commands::dump(&e.table)).flags("$"),
        read_param_handler!("lookup", "output and gateway for an address", |e: &mut Self, t, cx| e
            .lookup(t, cx)),
    ];

    fn add(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        self.insert(text, false, cx)
    }

    fn set(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        self.insert(text, true, cx)
    }

    fn insert(&mut self, text: &str, replace: bool, cx: &Cx<'_>) -> Result<(), String> {
        let route = with_context(cx, |context| commands::parse_route(text, context))?;
        self.table.insert(route, replace).map(drop).map_err(|e| e.to_string())
    }

    fn remove(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let removal = with_context(cx, |context| commands::parse_removal(text, context))?;
        self.table.remove(&removal).map(drop).map_err(|e| e.to_string())
    }

    fn ctrl(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        with_context(cx, |context| commands::transact(&mut self.table, text, context))
    }

    fn lookup(&self, text: &str, cx: &Cx<'_>) -> Result<String, String> {
        with_context(cx, |context| commands::lookup(&self.table, text, context))
    }

    /// Tells of packets without a route.
    #[cold]
    fn complain(&self, destinations: &[Ipv4Address], cx: &Cx<'_>) {
        for destination in destinations {
            match self.complaint {
                Complaint::NoRoute(speaker) => {
                    cx.report("no route", || format!("{speaker}: no route for {destination}"));
                }
                Complaint::NoGateway(speaker) => {
                    let number = u32::from_le_bytes(destination.octets());
                    cx.report("no gw", || format!("{speaker}: no gw for {number:x}"));
                }
                Complaint::None => {}
            }
        }
    }
}

/// Runs `act` with the names and outputs of the element of `cx`. An error becomes its text.
fn with_context<R>(
    cx: &Cx<'_>,
    act: impl FnOnce(Context<'_>) -> Result<R, CommandError>,
) -> Result<R, String> {
    let names = DefinedNames(cx.names());
    act(Context { names: &names, outputs: cx.outputs() as u32 }).map_err(|e| e.to_string())
}

/// The names that AddressInfo and its relatives defined.
pub(crate) struct DefinedNames(pub(crate) Names);

impl AddressNames for DefinedNames {
    fn prefix(&self, word: &str) -> Option<Ipv4Prefix> {
        HostOrPrefix::from_arg(word, &self.0).ok().map(|HostOrPrefix(prefix)| prefix)
    }

    fn address(&self, word: &str) -> Option<Ipv4Address> {
        Ipv4Address::from_arg(word, &self.0).ok()
    }
}

/// Notes the gateway of a hop, and gives its output.
#[inline]
fn follow(p: &mut Packet, hop: Hop) -> u16 {
    if !hop.gateway.is_unspecified() {
        p.set_dst_ip(hop.gateway);
    }
    hop.port as u16
}

fn argument_error(number: usize, error: &CommandError) -> String {
    match error {
        CommandError::ExpectedRoute => format!("argument {number} should be 'ADDR/MASK [GATEWAY] OUTPUT'"),
        CommandError::BadOutput => format!("argument {number} bad OUTPUT"),
        other => format!("argument {number}: {other}"),
    }
}

impl<T: RouteTable + Default + Send + 'static> Fast for IpLookup<T> {
    /// Code while the table is small.
    fn fast_code(&self) -> Option<FastCode> {
        let source = route_code::text(&self.table, self.outputs)?;
        Some(FastCode { module: "route_table", source: source.into(), constants: "Constants".to_string() })
    }

    fn fast(&self, p: &mut Packet) -> Option<u16> {
        let hop = self.table.lookup(p.dst_ip()).filter(|hop| hop.port < self.outputs)?;
        Some(follow(p, hop))
    }
}

impl<T: RouteTable + Default + Send + 'static> Element for IpLookup<T> {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let names = DefinedNames(args.names().clone());
        let context = Context { names: &names, outputs: cx.outputs() as u32 };
        let mut repeated = 0;
        if let Some(advice) = self.advice {
            args.warn(advice);
        }
        self.outputs = context.outputs;
        self.configured = args.rest().to_vec();
        for (index, text) in self.configured.iter().enumerate() {
            let inserted = commands::parse_route(text, context)
                .and_then(|route| self.table.insert(route, false).map_err(CommandError::from));
            match inserted {
                Ok(_) => {}
                Err(CommandError::Table(RouteError::Exists(_))) => repeated += 1,
                Err(error) => args.error_in_rest(index, argument_error(index + 1, &error)),
            }
        }
        if repeated > 0 {
            let routes = if repeated == 1 { "route" } else { "routes" };
            args.warn(format!("{repeated} {routes} replaced by later versions"));
        }
    }

    fn push(&mut self, _port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if batch.len() > 1 {
            batch.iter().for_each(|p| self.table.prefetch(p.dst_ip()));
        }
        let mut lost = Vec::new();
        split_batch(batch, cx, "no route", |p| {
            let Some(hop) = self.table.lookup(p.dst_ip()) else {
                lost.push(p.dst_ip());
                return None;
            };
            Some(follow(p, hop))
        });
        if !lost.is_empty() {
            self.complain(&lost, cx);
        }
    }

    /// Routes that handlers added and removed stay if the configuration says the same as before; if it says something
    /// else, it holds.
    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Self>(old)
            && old.configured == self.configured
        {
            std::mem::swap(&mut self.table, &mut old.table);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::addr::Ipv4Address;

    const CLASSES: [&str; 7] = [
        "StaticIPLookup",
        "LookupIPRoute",
        "LinearIPLookup",
        "SortedIPLookup",
        "RadixIPLookup",
        "DirectIPLookup",
        "RangeIPLookup",
    ];

    fn to(address: &str) -> Packet {
        let mut p = Packet::new(b"x");
        p.set_dst_ip(address.parse().unwrap());
        p
    }

    fn with_routes(class: &str, routes: &str) -> String {
        format!(
            "s :: Source -> r :: {class}({routes}); r[0] -> a :: Sink; r[1] -> b :: Sink; r[2] -> c :: Sink"
        )
    }

    fn destinations(t: &mut Harness, sink: &str) -> Vec<Ipv4Address> {
        t.take(sink).iter().map(Packet::dst_ip).collect()
    }

    #[test]
    fn packets_leave_by_the_most_specific_route_towards_its_gateway() {
        for class in CLASSES {
            let config =
                with_routes(class, "0/0 9.9.9.9 2, 10.0.0.0/8 0, 10.1.0.0/16 - 1, 10.1.2.3 8.8.8.8 0");
            let mut batched = Harness::batched(&config);
            let addresses = ["10.1.2.3", "10.2.0.0", "10.1.255.255", "11.0.0.0", "10.0.0.1"];
            batched.push_batch("s", 0, addresses.map(to));
            let mut ordered = Harness::new(&config);
            ordered.push("s", 0, addresses.map(to));
            for mut t in [batched, ordered] {
                let expected = |addresses: &[&str]| -> Vec<Ipv4Address> {
                    addresses.iter().map(|address| address.parse().unwrap()).collect()
                };
                assert_eq!(
                    destinations(&mut t, "a"),
                    expected(&["8.8.8.8", "10.2.0.0", "10.0.0.1"]),
                    "{class}"
                );
                assert_eq!(destinations(&mut t, "b"), expected(&["10.1.255.255"]), "{class}");
                assert_eq!(destinations(&mut t, "c"), expected(&["9.9.9.9"]), "{class}");
            }
        }
    }

    #[test]
    fn a_hot_swap_keeps_routes_unless_the_configuration_changed() {
        for class in CLASSES {
            let mut old = Harness::new(&with_routes(class, "10.0.0.0/8 0"));
            old.write("r.add 10.0.0.2/32 1.1.1.1 2").unwrap();
            let mut same = Harness::new(&with_routes(class, "10.0.0.0/8 0"));
            same.router.take_over(old.router);
            assert_eq!(same.read("r.lookup 10.0.0.2"), "2 1.1.1.1", "{class}");
            let mut other = Harness::new(&with_routes(class, "10.0.0.0/8 1"));
            other.router.take_over(same.router);
            assert_eq!(other.read("r.lookup 10.0.0.2"), "1", "{class}");
        }
    }

    #[test]
    fn handlers_change_the_table_and_say_why_not() {
        for class in CLASSES {
            let mut t = Harness::new(&with_routes(class, "10.0.0.0/8 0, 10.0.0.2/32 8.8.8.8 2"));
            assert_eq!(t.read("r.lookup 10.0.0.2"), "2 8.8.8.8");
            t.write("r.remove 10.0.0.2/32").unwrap();
            assert_eq!(t.read("r.lookup 10.0.0.2"), "0");
            t.write("r.add 10.0.0.2/31 1.1.1.1 2").unwrap();
            assert_eq!(t.read("r.lookup 10.0.0.3"), "2 1.1.1.1");
            t.write("r.set 10/8 1").unwrap();
            let table = t.read("r.table");
            let mut lines: Vec<&str> = table.lines().collect();
            lines.sort_unstable();
            assert_eq!(lines, ["10.0.0.0/8\t\t-\t\t1", "10.0.0.2/31\t\t1.1.1.1\t\t2"], "{class}");
            for (call, why) in [
                ("r.add 10/8 2", "conflict with existing route '10.0.0.0/8 - 1'"),
                ("r.remove 12/8", "route '12.0.0.0/8 - -1' not found"),
                ("r.add 12/8 3", "bad OUTPUT"),
                ("r.set twelve 1", "expected 'ADDR/MASK [GATEWAY] OUTPUT'"),
                ("r.ctrl add 12/8 1\nremove 13/8", "route '13.0.0.0/8 - -1' not found"),
            ] {
                let error = t.write(call).unwrap_err();
                assert!(error.contains(why), "{class}: {error}");
            }
            assert_eq!(t.read("r.lookup 12.0.0.0"), "-1");
            t.write("r.flush").unwrap();
            assert_eq!(t.read("r.table"), "");
        }
    }

    #[test]
    fn packets_without_a_route_are_dropped_and_told_of_a_few_times() {
        for (class, speaker) in [("StaticIPLookup", "LinearIPLookup"), ("RadixIPLookup", "IPRouteTable")] {
            let mut t = Harness::new(&with_routes(class, "10.0.0.0/8 0"));
            t.push("s", 0, (0..9).map(|_| to("99.9.9.9")));
            assert_eq!(t.printed(), format!("{speaker}: no route for 99.9.9.9\n").repeat(5), "{class}");
            assert!(t.take("a").is_empty());
        }
        let mut t = Harness::new(&with_routes("SortedIPLookup", "10.0.0.0/8 0"));
        t.push("s", 0, (0..9).map(|_| to("99.9.8.7")));
        assert!(t.printed().ends_with(&"SortedIPLookup: no gw for 7080963\n".repeat(5)));
        let mut t = Harness::new(&with_routes("DirectIPLookup", "10.0.0.0/8 0"));
        t.push("s", 0, [to("99.9.9.9")]);
        assert_eq!(t.printed(), "");
    }

    #[test]
    fn bad_routes_are_named_by_their_place() {
        let errors = Harness::errors(&with_routes("StaticIPLookup", "10/8 0, ten 1, 11/8 3, 12/8"));
        assert!(errors.contains("argument 2 should be 'ADDR/MASK [GATEWAY] OUTPUT'"), "{errors}");
        assert!(errors.contains("argument 3 bad OUTPUT"), "{errors}");
        assert!(errors.contains("argument 4 should be 'ADDR/MASK [GATEWAY] OUTPUT'"), "{errors}");
        let errors = Harness::errors(&with_routes("RadixIPLookup", "10.0.0.1/255.0.0.255 0"));
        assert!(
            errors.contains("argument 1: the mask of '10.0.0.1/255.0.0.255' is not a prefix"),
            "{errors}"
        );
    }

    /// A million routes; without optimisation a thirty-second part of that.
    const MANY: u32 = if cfg!(debug_assertions) { 1 << 15 } else { 1 << 20 };

    #[test]
    fn many_routes_load_through_handlers_in_one_transaction() {
        let network = |i: u32| Ipv4Address::from_bits(i.wrapping_mul(0x9E37_79B1) & 0xFFFF_FF00);
        let add = |i: u32| format!("set {}/24 10.0.{}.1 {}\n", network(i), i % 256, i % 3);
        let mut t = Harness::new(&with_routes("StaticIPLookup", "0/0 2"));
        t.write(&format!("r.ctrl {}", (0..MANY).map(add).collect::<String>())).unwrap();
        // Later routes replaced earlier ones for the same network.
        let last: std::collections::HashMap<_, _> = (0..MANY).map(|i| (network(i), i)).collect();
        for (network, i) in last.iter().step_by(97) {
            let expected = format!("{} 10.0.{}.1", i % 3, i % 256);
            assert_eq!(t.read(&format!("r.lookup {network}")), expected);
        }
        assert_eq!(t.read("r.table").lines().count(), last.len() + 1);
    }
}
