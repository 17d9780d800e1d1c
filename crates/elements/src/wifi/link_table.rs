//! LinkTable: links between hosts and the best routes over them.

use super::links::{Links, Way};
use super::params::{line, set};
use clickwork_packet::addr::Ipv4Address;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, Names, split_words};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "keeps links between hosts and the best routes over them",
    manual: "Holds directed links between IP addresses, each with a metric (a cost), a sequence number and an age, and \
             computes the cheapest routes from and to the address IP with Dijkstra's algorithm, every five seconds and when the \
             handler dijkstra is written. A link that was not updated for STALE seconds is forgotten; an update counts if \
             its sequence number is higher. Links from or to addresses on the blacklist are not used. There can be 16384 \
             hosts and as many links.",
    example: "t :: LinkTable(IP 10.0.0.1); Script(write t.update_link 10.0.0.1 10.0.0.2 10 1 0, write t.dijkstra, print t.routes)",
    ports: "0/0",
    args: &[
        ArgSpec::keyword("IP", ArgType::IpAddr, "", "own address; must be given"),
        ArgSpec::keyword("STALE", ArgType::U32, "120", "seconds after which a link is forgotten"),
    ],
    handlers: &[
        read_handler!("routes", "best routes to all hosts", |e: &mut LinkTable, _| e
            .links()
            .print_routes(Way::From)),
        read_handler!(
            "routes_old",
            "best routes to all hosts, in an older format",
            |e: &mut LinkTable, cx| e.links().print_routes_old(cx.steady())
        ),
        read_handler!("routes_from", "best routes to all hosts", |e: &mut LinkTable, _| e
            .links()
            .print_routes(Way::From)),
        read_handler!("routes_to", "best routes from all hosts", |e: &mut LinkTable, _| e
            .links()
            .print_routes(Way::To)),
        read_handler!(
            "links",
            "all links: from, to, metric, sequence number, age",
            |e: &mut LinkTable, cx| e.links().print_links(cx.steady())
        ),
        read_handler!("hosts", "all hosts", |e: &mut LinkTable, _| e.links().print_hosts()),
        read_handler!("blacklist", "hosts whose links are not used", |e: &mut LinkTable, _| e
            .links()
            .print_blacklist()),
        read_handler!("dijkstra_time", "how long the last computation took", |e: &mut LinkTable, _| line(
            clickwork_packet::Timestamp::ZERO + e.computation
        )),
        write_handler!("clear", "forgets links and hosts", |e: &mut LinkTable, _, _| e.links().clear()),
        write_handler!("blacklist_clear", "empties the blacklist", |e: &mut LinkTable, _, _| {
            e.links().blacklist.clear();
        }),
        write_handler!("blacklist_add", "puts a host on the blacklist", |e: &mut LinkTable, text, cx| {
            let host = listed(text, cx)?;
            e.links().blacklist.insert(host, ());
            Ok::<(), String>(())
        }),
        write_handler!(
            "blacklist_remove",
            "takes a host off the blacklist",
            |e: &mut LinkTable, text, cx| {
                let host = listed(text, cx)?;
                e.links().blacklist.remove(host);
                Ok::<(), String>(())
            }
        ),
        write_handler!("dijkstra", "computes the routes", |e: &mut LinkTable, _, cx| e.compute(cx)),
        write_handler!(
            "update_link",
            "sets a link: FROM TO METRIC SEQ AGE",
            |e: &mut LinkTable, text, cx| e.update(text, cx)
        ),
    ],
    ..Class::new("LinkTable", "wifi", || Box::<LinkTable>::default())
};

/// How often routes are computed.
const PERIOD: Duration = Duration::from_secs(5);

/// The links, shared.
#[derive(Default)]
pub struct SharedLinks(Mutex<Links>);

impl SharedLinks {
    /// The links. Nothing that holds them can panic half-way, so a poisoned lock is as good as a clean one.
    pub fn lock(&self) -> MutexGuard<'_, Links> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

#[derive(Default)]
struct LinkTable {
    shared: Arc<SharedLinks>,
    computation: Duration,
}

fn listed(text: &str, cx: &Cx<'_>) -> Result<Ipv4Address, String> {
    let mut host = Ipv4Address::default();
    set(&mut host, text, cx, "blacklist_add parameter must be ipaddress")?;
    Ok(host)
}

/// A word of an update.
fn word<T: FromArg>(words: &[String], at: usize, names: &Names, message: &str) -> Result<T, String> {
    T::from_arg(&words[at], names).map_err(|_| message.to_string())
}

impl LinkTable {
    fn links(&self) -> MutexGuard<'_, Links> {
        self.shared.lock()
    }

    fn compute(&mut self, cx: &Cx<'_>) {
        let start = cx.steady();
        self.links().compute();
        self.computation = cx.steady().since(start);
    }

    fn update(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let (words, names) = (split_words(text), cx.names());
        if words.len() != 5 {
            let first = words.first().map_or("", String::as_str);
            return Err(format!("Must have three arguments: currently has {}: {first}", words.len()));
        }
        let from = word(&words, 0, &names, "Couldn't read IPAddress out of from")?;
        let to = word(&words, 1, &names, "Couldn't read IPAddress out of to")?;
        let metric = word(&words, 2, &names, "Couldn't read metric")?;
        let sequence = word(&words, 3, &names, "Couldn't read seq")?;
        let age = word(&words, 4, &names, "Couldn't read age")?;
        self.links().update(from, to, sequence, age, metric, cx.steady());
        Ok(())
    }
}

impl Element for LinkTable {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let ip = args.get("IP").unwrap_or(Ipv4Address::UNSPECIFIED);
        let stale = args.get::<u32>("STALE").unwrap_or(120);
        if ip.is_unspecified() {
            args.error("IP not specified");
        }
        *self.links() = Links::new(ip, stale);
        cx.export(Arc::clone(&self.shared));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.schedule_timer_after(0, Duration::ZERO);
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        self.links().forget_stale(cx.steady());
        self.compute(cx);
        cx.schedule_timer_after(0, PERIOD);
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<LinkTable>(old) {
            self.links().take_links(&mut old.links());
            self.compute(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    /// 1 -10-> 2 -10-> 3, 1 -50-> 3, and the way back 3 -5-> 1.
    fn triangle() -> Harness {
        let mut t = Harness::new("t :: LinkTable(IP 10.0.0.1)");
        for link in ["1 10.0.0.2 10", "2 10.0.0.3 10", "1 10.0.0.3 50", "3 10.0.0.1 5"] {
            t.write(&format!("t.update_link 10.0.0.{link} 1 0")).unwrap();
        }
        t.write("t.dijkstra").unwrap();
        t
    }

    #[test]
    fn the_cheapest_routes_are_found_in_both_ways() {
        let mut t = triangle();
        let from = "10.0.0.2 hops 1 metric 10 10.0.0.1 (10) 10.0.0.2\n\
                    10.0.0.3 hops 2 metric 20 10.0.0.1 (10) 10.0.0.2 (10) 10.0.0.3\n";
        assert_eq!((t.read("t.routes"), t.read("t.routes_from")), (from.into(), from.into()));
        let to = "10.0.0.1 hops 2 metric 15 10.0.0.2 (10) 10.0.0.3 (5) 10.0.0.1\n\
                  10.0.0.1 hops 1 metric 5 10.0.0.3 (5) 10.0.0.1\n";
        assert_eq!(t.read("t.routes_to"), to);
        let old =
            "10.0.0.2  10.0.0.1 10 (1,0) 10.0.0.2\n10.0.0.3  10.0.0.1 10 (1,0) 10.0.0.2 10 (1,0) 10.0.0.3\n";
        assert_eq!(t.read("t.routes_old"), old);
        assert_eq!(t.read("t.hosts"), "10.0.0.1\n10.0.0.2\n10.0.0.3\n");
    }

    #[test]
    fn newer_updates_count_and_listed_hosts_do_not() {
        let mut t = triangle();
        t.write("t.update_link 10.0.0.1 10.0.0.3 1 1 0").unwrap();
        assert!(t.read("t.links").contains("10.0.0.1 10.0.0.3 50 1 0\n"));
        t.write("t.update_link 10.0.0.1 10.0.0.3 1 2 7").unwrap();
        t.write("t.dijkstra").unwrap();
        assert!(t.read("t.links").contains("10.0.0.1 10.0.0.3 1 2 7\n"));
        assert!(t.read("t.routes").ends_with("10.0.0.3 hops 1 metric 1 10.0.0.1 (1) 10.0.0.3\n"));
        t.write("t.blacklist_add 10.0.0.3").unwrap();
        assert_eq!(t.read("t.blacklist"), "10.0.0.3 \n");
        assert_eq!(t.read("t.routes"), "10.0.0.2 hops 1 metric 10 10.0.0.1 (10) 10.0.0.2\n");
        t.write("t.blacklist_remove 10.0.0.3").unwrap();
        assert_eq!((t.read("t.blacklist"), t.read("t.routes").lines().count()), ("\n".into(), 2));
    }

    #[test]
    fn links_grow_old() {
        let mut t = Harness::new("t :: LinkTable(IP 10.0.0.1, STALE 10)");
        t.write("t.update_link 10.0.0.1 10.0.0.2 10 1 4").unwrap();
        t.write("t.update_link 10.0.0.1 10.0.0.3 10 1 11").unwrap();
        t.run_for(std::time::Duration::from_secs(6));
        assert_eq!(t.read("t.links"), "10.0.0.1 10.0.0.2 10 1 10\n");
        t.run_for(std::time::Duration::from_secs(5));
        assert_eq!((t.read("t.links"), t.read("t.routes")), ("".into(), "".into()));
        t.write("t.clear").unwrap();
        t.write("t.dijkstra").unwrap();
        assert_eq!(t.read("t.hosts"), "10.0.0.1\n");
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(Harness::errors("LinkTable").contains("IP not specified"));
        let mut t = Harness::new("t :: LinkTable(IP 10.0.0.1)");
        for (call, message) in [
            ("update_link 1.0.0.1 2.0.0.2", "Must have three arguments: currently has 2: 1.0.0.1"),
            ("update_link x 2.0.0.2 1 1 1", "Couldn't read IPAddress out of from"),
            ("update_link 1.0.0.1 x 1 1 1", "Couldn't read IPAddress out of to"),
            ("update_link 1.0.0.1 2.0.0.2 x 1 1", "Couldn't read metric"),
            ("update_link 1.0.0.1 2.0.0.2 1 x 1", "Couldn't read seq"),
            ("update_link 1.0.0.1 2.0.0.2 1 1 x", "Couldn't read age"),
            ("blacklist_add x", "blacklist_add parameter must be ipaddress"),
        ] {
            assert_eq!(t.write(&format!("t.{call}")).unwrap_err(), message);
        }
    }
}
