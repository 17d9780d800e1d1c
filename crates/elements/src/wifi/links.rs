//! Links between hosts, and Dijkstra's algorithm over them, for LinkTable. It knows no element and no clock.
//!
//! A metric of 0 stands for "no link" and "not reached", as in Click.

use super::station_map::StationMap;
use clickwork_packet::Timestamp;
use clickwork_packet::addr::Ipv4Address;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt::Write;

/// Which way routes go: from the own address, or to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From here to others.
    From,
    /// From others to here.
    To,
}

#[derive(Clone, Debug)]
struct Link {
    metric: u32,
    sequence: u32,
    age: u32,
    /// When it had that age, in whole seconds.
    updated: i64,
}

impl Link {
    fn age(&self, now: Timestamp) -> u32 {
        self.age.wrapping_add((now.seconds() - self.updated) as u32)
    }
}

/// How a host is reached one way: at which cost, and over which neighbour.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    metric: u32,
    over: Ipv4Address,
}

/// What is known of a host: reached from the own address, and reaching it.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    from: Reach,
    to: Reach,
}

impl Host {
    fn reach(&mut self, way: Way) -> &mut Reach {
        match way {
            Way::From => &mut self.from,
            Way::To => &mut self.to,
        }
    }
}

/// A route that costs this much is none.
const TOO_MUCH: u32 = 777_777;

/// The links and hosts.
#[derive(Default)]
pub struct Links {
    own: Ipv4Address,
    stale: u32,
    hosts: StationMap<Ipv4Address, Host>,
    links: StationMap<(Ipv4Address, Ipv4Address), Link>,
    /// Hosts whose links are not used.
    pub blacklist: StationMap<Ipv4Address, ()>,
}

impl Links {
    /// No links yet. Those older than `stale` seconds are forgotten.
    pub fn new(own: Ipv4Address, stale: u32) -> Links {
        let mut links = Links { own, stale, ..Links::default() };
        links.hosts.insert(own, Host::default());
        links
    }

    /// Forgets links and hosts.
    pub fn clear(&mut self) {
        self.links.clear();
        self.hosts.clear();
        self.hosts.insert(self.own, Host::default());
    }

    /// Takes over the links and hosts of another table.
    pub fn take_links(&mut self, other: &mut Links) {
        self.links = std::mem::take(&mut other.links);
        self.hosts = std::mem::take(&mut other.hosts);
        self.hosts.entry(self.own, Host::default);
    }

    /// Sets a link, unless what is known is as new.
    pub fn update(
        &mut self,
        from: Ipv4Address,
        to: Ipv4Address,
        sequence: u32,
        age: u32,
        metric: u32,
        now: Timestamp,
    ) {
        let unspecified = from.is_unspecified() || to.is_unspecified();
        if unspecified || metric == 0 || age > self.stale {
            return;
        }
        self.hosts.entry(from, Host::default);
        self.hosts.entry(to, Host::default);
        let link = Link { metric, sequence, age, updated: now.seconds() };
        match self.links.get_mut((from, to)) {
            Some(known) if sequence <= known.sequence => {}
            Some(known) => *known = link,
            None => self.links.insert((from, to), link),
        }
    }

    /// Forgets links that are too old.
    pub fn forget_stale(&mut self, now: Timestamp) {
        let stale = self.stale;
        self.links.retain(|_, link| link.age(now) <= stale);
    }

    fn link(&self, from: Ipv4Address, to: Ipv4Address) -> Option<&Link> {
        let listed = self.blacklist.get(from).is_some() || self.blacklist.get(to).is_some();
        self.links.get((from, to)).filter(|_| !listed)
    }

    fn metric(&self, from: Ipv4Address, to: Ipv4Address) -> u32 {
        self.link(from, to).map_or(0, |link| link.metric)
    }

    /// Computes the cheapest routes both ways.
    pub fn compute(&mut self) {
        // The table may have forgotten it in a flood.
        self.hosts.entry(self.own, Host::default);
        self.search(Way::From);
        self.search(Way::To);
    }

    /// Dijkstra's algorithm. Of hosts that are equally near, the one that the table lists first is next.
    fn search(&mut self, way: Way) {
        self.hosts.values_mut().for_each(|host| *host.reach(way) = Reach::default());
        let order: HashMap<Ipv4Address, usize> =
            self.hosts.iter().enumerate().map(|(position, (ip, _))| (ip, position)).collect();
        let mut neighbours: HashMap<Ipv4Address, Vec<(Ipv4Address, u32)>> = HashMap::new();
        for ((from, to), link) in self.links.iter() {
            let (near, far) = if way == Way::From { (from, to) } else { (to, from) };
            neighbours.entry(near).or_default().push((far, link.metric));
        }
        self.hosts.entry(self.own, Host::default).reach(way).over = self.own;
        let mut done: Vec<bool> = vec![false; order.len()];
        let mut next = BinaryHeap::from([Reverse((0u32, order[&self.own], self.own))]);
        while let Some(Reverse((metric, position, ip))) = next.pop() {
            if std::mem::replace(&mut done[position], true) {
                continue;
            }
            for &(far, step) in neighbours.get(&ip).map_or(&[][..], Vec::as_slice) {
                let (Some(&place), Some(host)) = (order.get(&far), self.hosts.get_mut(far)) else { continue };
                let (total, reach) = (metric.saturating_add(step), host.reach(way));
                if !done[place] && (reach.metric == 0 || total < reach.metric) {
                    *reach = Reach { metric: total, over: ip };
                    next.push(Reverse((total, place, far)));
                }
            }
        }
    }

    /// The best route to a host, or from it; empty if there is none.
    fn route(&mut self, host: Ipv4Address, way: Way) -> Vec<Ipv4Address> {
        let (mut route, mut at) = (Vec::new(), host);
        for _ in 0..=self.hosts.len() {
            let Some(reach) = self.hosts.get_mut(at).map(|host| *host.reach(way)) else { break };
            route.push(at);
            if reach.metric == 0 {
                break;
            }
            at = reach.over;
        }
        if way == Way::From {
            route.reverse();
        }
        route
    }

    /// The cost of a route; `None` if it is none, or none that is any good.
    fn cost(&self, route: &[Ipv4Address]) -> Option<u32> {
        let mut total = 0u32;
        for step in route.windows(2) {
            match self.metric(step[0], step[1]) {
                0 => return None,
                metric => total = total.saturating_add(metric),
            }
        }
        (total != 0 && total < TOO_MUCH).then_some(total)
    }

    fn sorted_hosts(&self) -> Vec<Ipv4Address> {
        let mut hosts: Vec<_> = self.hosts.iter().map(|(ip, _)| ip).collect();
        hosts.sort_by_key(|ip| ip.to_bits());
        hosts
    }

    /// The best routes, with hops and costs.
    pub fn print_routes(&mut self, way: Way) -> String {
        let mut text = String::new();
        for host in self.sorted_hosts() {
            let route = self.route(host, way);
            let (Some(cost), Some(last)) = (self.cost(&route), route.last()) else { continue };
            // A String takes any text.
            let _ = write!(text, "{last} hops {} metric {cost} {}", route.len() - 1, route[0]);
            for step in route.windows(2) {
                let _ = write!(text, " ({}) {}", self.metric(step[0], step[1]), step[1]);
            }
            text.push('\n');
        }
        text
    }

    /// The best routes from here, with sequence numbers and ages of the links.
    pub fn print_routes_old(&mut self, now: Timestamp) -> String {
        let mut text = String::new();
        for host in self.sorted_hosts() {
            let route = self.route(host, Way::From);
            let (Some(_), Some(last)) = (self.cost(&route), route.last()) else { continue };
            // A String takes any text.
            let _ = write!(text, "{last}  {}", route[0]);
            for step in route.windows(2) {
                let Some(link) = self.link(step[0], step[1]) else { continue };
                let _ = write!(text, " {} ({},{}) {}", link.metric, link.sequence, link.age(now), step[1]);
            }
            text.push('\n');
        }
        text
    }

    /// All links.
    pub fn print_links(&self, now: Timestamp) -> String {
        let line = |((from, to), link): ((Ipv4Address, Ipv4Address), &Link)| {
            format!("{from} {to} {} {} {}\n", link.metric, link.sequence, link.age(now))
        };
        self.links.iter().map(line).collect()
    }

    /// All hosts.
    pub fn print_hosts(&self) -> String {
        self.sorted_hosts().iter().map(|ip| format!("{ip}\n")).collect()
    }

    /// The blacklist.
    pub fn print_blacklist(&self) -> String {
        self.blacklist.iter().map(|(ip, ())| format!("{ip} ")).collect::<String>() + "\n"
    }
}
