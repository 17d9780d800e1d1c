//! LookupIP6Route: sends IPv6 packets where a route table says.

use super::lookup::{BATCH, Hop, Route, Table};
use super::route_code;
use clickwork_packet::addr::{Ipv6Address, Ipv6Prefix};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HostOrPrefix, Names, split_words};
use clickwork_router::element::{split_batch, try_downcast};
use clickwork_router::{
    Class, Cx, Element, Fast, FastCode, FastPath, read_handler, read_param_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends IPv6 packets where a route table says",
    manual: "Looks each packet's destination annotation up in a table of routes, sets the annotation to the gateway of the \
             most specific route that holds it, unless the route has none or '::', and sends the packet to the route's \
             output. Packets without a route are dropped. A later route for the same addresses replaces an earlier one. A \
             few routes are compared all at once; more stand in a compressed trie, so that hundreds of thousands take \
             little memory and a lookup takes a few steps.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetIP6Address(2001:db8::5) -> \
              r :: LookupIP6Route(2001:db8::/32 0, ::/0 2001:db8::1 1) -> Discard; r [1] -> Discard",
    ports: "1/-",
    processing: "h/h",
    flow: "x/x!",
    packets: "any/same",
    args: &[ArgSpec::rest(
        "ROUTE",
        ArgType::Other("ADDR/MASK [GATEWAY] OUTPUT"),
        "addresses, the router they are reached through ('::' or nothing: none), and the output",
    )],
    handlers: &[
        write_handler!(
            "add",
            "adds or replaces a route, ADDR/MASK [GATEWAY] OUTPUT",
            |e: &mut LookupIP6Route, text, cx| e.add(text, cx)
        ),
        write_handler!("remove", "removes the route for ADDR/MASK", |e: &mut LookupIP6Route, text, cx| {
            e.remove(text, cx)
        }),
        write_handler!("ctrl", "'add ROUTE' or 'remove ADDR/MASK'", |e: &mut LookupIP6Route, text, cx| {
            e.control(text, cx)
        }),
        read_handler!("table", "all routes", |e: &mut LookupIP6Route, _| e.table.print()),
        read_param_handler!(
            "lookup",
            "output and gateway for an address",
            |e: &mut LookupIP6Route, text, cx| e.lookup(text, cx)
        ),
    ],
    fast: Some(FastPath::of::<LookupIP6Route>().changing()),
    ..Class::new("LookupIP6Route", "ip6", || Box::<LookupIP6Route>::default())
};

const PREFIX: ArgSpec = ArgSpec::required("PREFIX", ArgType::Ip6Prefix, "addresses");
const PORT: ArgSpec = ArgSpec::required("PORT", ArgType::I32, "output");
const WITHOUT_GATEWAY: &[ArgSpec] = &[PREFIX, PORT];
const WITH_GATEWAY: &[ArgSpec] =
    &[PREFIX, ArgSpec::required("GATEWAY", ArgType::Ip6Addr, "next router"), PORT];
const REMOVAL: &[ArgSpec] = &[PREFIX];

#[derive(Default)]
struct LookupIP6Route {
    table: Table,
    /// The routes of the configuration, to tell at a hot swap whether they changed.
    configured: Vec<String>,
    outputs: u32,
}

impl LookupIP6Route {
    fn add(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let specs = if split_words(text).len() == 2 { WITHOUT_GATEWAY } else { WITH_GATEWAY };
        let mut args = Args::from_words(specs, text, &cx.names());
        let prefix: Option<HostOrPrefix<Ipv6Prefix>> = args.get("PREFIX");
        let gateway = if specs.len() == 3 { args.get("GATEWAY") } else { Some(Ipv6Address::UNSPECIFIED) };
        let port: Option<i32> = args.get("PORT");
        args.finish().map_err(|e| e.to_string())?;
        let (Some(HostOrPrefix(prefix)), Some(gateway), Some(port)) = (prefix, gateway, port) else {
            return Err("bad route".to_string());
        };
        match u32::try_from(port).ok().filter(|port| *port < self.outputs) {
            Some(port) => self.insert(Route::new(prefix, gateway, port)),
            None => Err("output port out of range".to_string()),
        }
    }

    fn insert(&mut self, route: Route) -> Result<(), String> {
        self.table.insert(route).map(drop).map_err(|e| e.to_string())
    }

    fn remove(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let mut args = Args::from_words(REMOVAL, text, &cx.names());
        let prefix: Option<HostOrPrefix<Ipv6Prefix>> = args.get("PREFIX");
        args.finish().map_err(|e| e.to_string())?;
        if let Some(HostOrPrefix(prefix)) = prefix {
            self.table.remove(prefix);
        }
        Ok(())
    }

    fn control(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let (command, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        match command {
            "add" => self.add(rest, cx),
            "remove" => self.remove(rest, cx),
            _ => Err("bad command, should be `add' or `remove'".to_string()),
        }
    }

    fn lookup(&self, text: &str, cx: &Cx<'_>) -> Result<String, String> {
        let address = Ipv6Address::from_arg(text.trim(), &cx.names()).map_err(|_| "expected IPv6 address")?;
        Ok(match self.table.lookup(address) {
            None => "-1".to_string(),
            Some(Hop { gateway, port }) if gateway.is_unspecified() => port.to_string(),
            Some(Hop { gateway, port }) => format!("{port} {gateway}"),
        })
    }
}

impl LookupIP6Route {
    /// Looks all packets of a batch up, so that they wait for memory together.
    fn push_together(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        let mut addresses = [0u128; BATCH];
        let count = batch.iter().zip(&mut addresses).map(|(p, a)| *a = p.dst_ip6().to_bits()).count();
        let mut hops = [None; BATCH];
        self.table.lookup_batch(&addresses[..count], |i, hop| hops[i] = hop);
        let mut hops = hops.into_iter();
        split_batch(batch, cx, "no route", |p| hops.next().flatten().map(|hop| follow(p, hop)));
    }
}

/// A route of the configuration; its output may be one that is not there.
fn route(text: &str, names: &Names) -> Option<Route> {
    let words = split_words(text);
    let (prefix, gateway, port) = match &words[..] {
        [prefix, port] => (prefix, Ipv6Address::UNSPECIFIED, port),
        [prefix, gateway, port] => (prefix, Ipv6Address::from_arg(gateway, names).ok()?, port),
        _ => return None,
    };
    let HostOrPrefix(prefix) = HostOrPrefix::from_arg(prefix, names).ok()?;
    let port = i32::from_arg(port, names).ok()?;
    Some(Route::new(prefix, gateway, u32::try_from(port).ok()?))
}

/// Notes the gateway of a hop, and gives its output.
#[inline]
fn follow(p: &mut Packet, hop: Hop) -> u16 {
    if !hop.gateway.is_unspecified() {
        p.set_dst_ip6(hop.gateway);
    }
    hop.port as u16
}

impl Fast for LookupIP6Route {
    /// Code while the table is small.
    fn fast_code(&self) -> Option<FastCode> {
        let source = route_code::text(&self.table, self.outputs)?;
        Some(FastCode { module: "route6_table", source: source.into(), constants: "Constants".to_string() })
    }

    fn fast(&self, p: &mut Packet) -> Option<u16> {
        let hop = self.table.lookup(p.dst_ip6()).filter(|hop| hop.port < self.outputs)?;
        Some(follow(p, hop))
    }
}

impl Element for LookupIP6Route {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.outputs = cx.outputs() as u32;
        self.configured = args.rest().to_vec();
        let names = args.names().clone();
        let mut needed = 0;
        for (index, text) in self.configured.clone().iter().enumerate() {
            let Some(route) = route(text, &names) else {
                let wrong = format!("argument {} should be DADDR/MASK [GW] OUTPUT", index + 1);
                args.error_in_rest(index, wrong);
                continue;
            };
            needed = needed.max(route.hop.port + 1);
            if let Err(error) = self.insert(route) {
                args.error_in_rest(index, error);
            }
        }
        if self.configured.is_empty() {
            args.warn("no routes");
        }
        if needed > self.outputs {
            args.error(format!("need {needed} or more output ports"));
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if batch.len() > 1 && self.table.is_large() {
            return self.push_together(batch, cx);
        }
        split_batch(batch, cx, "no route", |p| Some(follow(p, self.table.lookup(p.dst_ip6())?)));
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

    fn to(address: &str) -> Packet {
        let mut p = Packet::new(b"x");
        p.set_dst_ip6(address.parse().unwrap());
        p
    }

    fn with_routes(routes: &str) -> String {
        format!(
            "s :: Source -> r :: LookupIP6Route({routes}); r[0] -> a :: Sink; r[1] -> b :: Sink; r[2] -> c :: Sink"
        )
    }

    fn destinations(t: &mut Harness, sink: &str) -> Vec<String> {
        t.take(sink).iter().map(|p| p.dst_ip6().to_string()).collect()
    }

    #[test]
    fn packets_leave_by_the_most_specific_route_towards_its_gateway() {
        let config =
            with_routes("::/0 fe80::9 2, 2001:db8::/32 0, 2001:db8:1::/48 ::0 1, 2001:db8:1::3 fe80::8 0");
        let addresses = ["2001:db8:1::3", "2001:db8:2::", "2001:db8:1:ffff::", "2001:db9::", "2001:db8::1"];
        let mut batched = Harness::batched(&config);
        batched.push_batch("s", 0, addresses.map(to));
        let mut ordered = Harness::new(&config);
        ordered.push("s", 0, addresses.map(to));
        for mut t in [batched, ordered] {
            assert_eq!(destinations(&mut t, "a"), ["fe80::8", "2001:db8:2::", "2001:db8::1"]);
            assert_eq!(destinations(&mut t, "b"), ["2001:db8:1:ffff::"]);
            assert_eq!(destinations(&mut t, "c"), ["fe80::9"]);
        }
    }

    #[test]
    fn a_large_table_sends_every_packet_of_a_batch_its_way() {
        let routes: String =
            (1..201).map(|n| format!("2001:db8:{n:x}::/48 fe80::{n:x} {}, ", n % 3)).collect();
        let mut t = Harness::batched(&with_routes(&format!("{routes} 2001:db8:7:1::/64 1")));
        let mut addresses: Vec<String> = (1..63).map(|n| format!("2001:db8:{:x}::9", n * 2)).collect();
        addresses.extend(["2001:db8:7:1::5".to_string(), "2002::".to_string()]);
        t.push_batch("s", 0, addresses.iter().map(|address| to(address)));
        for (n, sink) in ["a", "b", "c"].into_iter().enumerate() {
            let mut expected: Vec<_> =
                (1..63).map(|i| i * 2).filter(|i| i % 3 == n).map(|i| format!("fe80::{i:x}")).collect();
            if n == 1 {
                expected.push("2001:db8:7:1::5".to_string());
            }
            assert_eq!(destinations(&mut t, sink), expected);
        }
        assert_eq!(t.read("r.drop_reasons"), "1\tno route\n");
    }

    #[test]
    fn the_table_is_printed_and_changed_as_in_click() {
        let mut t = Harness::new(&with_routes("2001:db8::7/32 0, ::/0 fe80::1 1, 2001:db8::/32 fe80::2 2"));
        let heading = "# Active routes\n";
        // The third replaced the first, and took its place.
        assert_eq!(t.read("r.table"), format!("{heading}2001:db8::/32\tfe80::2\t2\n::/0\tfe80::1\t1\n"));
        t.write("r.remove ::/0").unwrap();
        t.write("r.remove ::/0").unwrap();
        t.write("r.add 2001:db8:5::/48 1").unwrap();
        t.write("r.ctrl add 2001:db8:6::1 fe80::3 0").unwrap();
        assert_eq!(t.read("r.lookup 2001:db8:6::1"), "0 fe80::3");
        t.write("r.ctrl remove 2001:db8::/32").unwrap();
        assert_eq!(
            t.read("r.table"),
            format!("{heading}2001:db8:5::/48\t::\t1\n2001:db8:6::1/128\tfe80::3\t0\n")
        );
        assert_eq!((t.read("r.lookup 2001:db8:5::1"), t.read("r.lookup ::")), ("1".into(), "-1".into()));
        for (call, why) in [
            ("r.add ::/0 3", "output port out of range"),
            ("r.add ::/0 -1", "output port out of range"),
            ("r.ctrl set ::/0 1", "bad command, should be `add' or `remove'"),
            ("r.add x 1", "PREFIX"),
            ("r.add ::/0 x 1", "GATEWAY"),
            ("r.remove", "PREFIX"),
        ] {
            let error = t.write(call).unwrap_err();
            assert!(error.contains(why), "{call}: {error}");
        }
    }

    #[test]
    fn mistakes_are_named_by_their_place() {
        let e = Harness::errors(&with_routes("::/0 0, ten 1, 2::/16 -1, 3::/16, 4::/16 x 1"));
        for n in 2..=5 {
            assert!(e.contains(&format!("argument {n} should be DADDR/MASK [GW] OUTPUT")), "{e}");
        }
        assert!(Harness::errors(&with_routes("::/0 4")).contains("need 5 or more output ports"));
        let mut t = Harness::new(&with_routes(""));
        assert_eq!(t.read("r.table"), "");
        t.push("s", 0, [to("::1")]);
        assert_eq!(t.read("r.drop_reasons"), "1\tno route\n");
    }

    #[test]
    fn a_hot_swap_keeps_routes_unless_the_configuration_changed() {
        let mut old = Harness::new(&with_routes("2001:db8::/32 0"));
        old.write("r.add 2001:db8::2 fe80::1 2").unwrap();
        let mut same = Harness::new(&with_routes("2001:db8::/32 0"));
        same.router.take_over(old.router);
        assert_eq!(same.read("r.lookup 2001:db8::2"), "2 fe80::1");
        let mut other = Harness::new(&with_routes("2001:db8::/32 1"));
        other.router.take_over(same.router);
        assert_eq!(other.read("r.lookup 2001:db8::2"), "1");
    }
}
