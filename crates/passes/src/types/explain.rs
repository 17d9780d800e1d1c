//! Messages of the type check: which packets come from where, what is wrong with them, and what helps.

use clickwork_lang::ElementDecl;
use clickwork_router::packet_types::{Amount, Change, Header};
use clickwork_source::{Diagnostic, Severity};

use super::infer::{At, Inference, Mistake};
use super::site::Fault;
use super::state::{Found, Mark, State};
use crate::Network;

/// So many elements on the way are pointed at; of longer ways, those that change the packet come first.
const PLACES: usize = 8;

/// The message about a mistake, with the way that led to it.
pub(super) fn message(
    network: &Network,
    inference: &Inference<'_>,
    way: &[At],
    mistake: &Mistake,
) -> Diagnostic {
    let element = |at: &At| network.element(at.port.element);
    let (severity, state) = match mistake.lenient {
        true => (Severity::Warning, &mistake.at.state),
        false => (Severity::Error, &mistake.at.state),
    };
    let Some(target) = element(&mistake.at) else {
        return Diagnostic::new(severity, clickwork_source::Span::NONE, "an element is missing");
    };
    let source = way.iter().rev().skip(1).find(|at| makes_headers(inference, at)).or(way.first());
    let source = source.and_then(element).map_or_else(String::new, nickname);
    let port = input_name(network, mistake);
    let (packets, expectation) = (packets(&mistake.fault, state), expectation(&mistake.fault, state));
    let text = format!(
        "{packets} from {source} reach {port}{}, which expects {expectation}: {}",
        nickname(target),
        remedy(inference, mistake, target)
    );
    let message =
        Diagnostic::new(severity, target.span, text).label(target.span, format!("expects {expectation}"));
    places(network, way).into_iter().fold(message, |m, (e, remark)| m.aside(e.span, remark))
}

/// `input 1 of `, if the element has several.
fn input_name(network: &Network, mistake: &Mistake) -> String {
    let port = mistake.at.port;
    match network.input_count(port.element) {
        0 | 1 => String::new(),
        _ => format!("input {} of ", port.port),
    }
}

/// Whether packets have the header they begin with from here.
fn makes_headers(inference: &Inference<'_>, at: &At) -> bool {
    let Some(site) = inference.site(at.port.element) else { return false };
    let mut changes = site.types.output(at.port.port).iter().flatten();
    at.leaves && changes.any(|c| matches!(c, Change::New(_) | Change::Push(_)))
}

/// How a person would call it: `FromDevice(eth0)` if it has no name of its own.
fn nickname(element: &ElementDecl) -> String {
    let base = element.name.rsplit('/').next().unwrap_or(&element.name);
    if !base.contains('@') {
        return format!("'{} :: {}'", element.name, element.class);
    }
    let config = element.config.trim();
    let short: String = config.chars().take(24).collect();
    match (config.len(), short.len() < config.len()) {
        (0, _) => element.class.clone(),
        (_, true) => format!("{}({short}...)", element.class),
        (_, false) => format!("{}({short})", element.class),
    }
}

/// What the reader sees at the elements on the way: where packets come from, and what changes them.
fn places<'n>(network: &'n Network, way: &[At]) -> Vec<(&'n ElementDecl, String)> {
    let mut places: Vec<(&ElementDecl, String, bool)> = Vec::new();
    // A way begins with an output; then there are an input and an output for each element, and the last input.
    let [first, steps @ ..] = way else { return Vec::new() };
    let origin = network.element(first.port.element);
    places.extend(origin.map(|e| (e, format!("from here: {}", self::state(&first.state)), true)));
    for step in steps.chunks_exact(2) {
        let (before, after) = (&step[0].state, &step[1].state);
        let Some(element) = network.element(step[1].port.element) else { continue };
        places.push(match before == after {
            true => (element, "through here".to_string(), false),
            false => (element, format!("from here on: {}", self::state(after)), true),
        });
    }
    places.retain(|(e, ..)| !e.span.is_none());
    if places.len() > PLACES {
        places.retain(|(.., changes)| *changes);
    }
    places.into_iter().map(|(e, remark, _)| (e, remark)).collect()
}

/// What is known of a packet: its headers from the start of its data on, and the mark if it is elsewhere.
pub(super) fn state(state: &State) -> String {
    let ahead: Vec<_> =
        state.headers.range(0..).map(|(at, h)| format!("{} at offset {at}", name(*h))).collect();
    let mut parts = if ahead.is_empty() { vec!["any packet".to_string()] } else { ahead };
    match state.mark {
        Mark::Unset => parts.push("no header marked".to_string()),
        Mark::At(at) if !state.headers.contains_key(&at) => {
            parts.push(format!("network header at offset {at}"))
        }
        Mark::At(at) => parts.push(format!("marked at offset {at}")),
        Mark::Unknown => {}
    }
    parts.extend(state.alignment.map(|(m, r)| format!("aligned {m}/{r}")));
    parts.join(", ")
}

fn name(header: Header) -> &'static str {
    match header {
        Header::Ether => "Ethernet",
        Header::Vlan => "VLAN tag",
        Header::Ip => "IP",
        Header::Ip6 => "IPv6",
        Header::Arp => "ARP",
        Header::ArpQuery => "ARP query",
        Header::ArpReply => "ARP reply",
        Header::Tcp => "TCP",
        Header::Udp => "UDP",
        Header::Icmp => "ICMP",
        Header::Icmp6 => "ICMPv6",
    }
}

fn plural(header: Header) -> &'static str {
    match header {
        Header::Ether => "Ethernet frames",
        Header::Vlan => "Frames with VLAN tag",
        Header::Ip => "IP packets",
        Header::Ip6 => "IPv6 packets",
        Header::Arp => "ARP packets",
        Header::ArpQuery => "ARP queries",
        Header::ArpReply => "ARP replies",
        Header::Tcp => "TCP packets",
        Header::Udp => "UDP packets",
        Header::Icmp => "ICMP packets",
        Header::Icmp6 => "ICMPv6 packets",
    }
}

/// The packets that are not expected.
fn packets(fault: &Fault, state: &State) -> &'static str {
    let first = || match state.find(0) {
        Found::Header(h) | Found::Inside(h, _) => plural(h),
        Found::Nothing => "Packets",
    };
    match fault {
        Fault::Header { found: Found::Header(h) | Found::Inside(h, _), .. } => plural(*h),
        Fault::Header { .. } | Fault::Unmarked { .. } => first(),
    }
}

fn expectation(fault: &Fault, state: &State) -> String {
    match *fault {
        Fault::Unmarked { expected } => format!("their {} header to be marked", name(expected)),
        Fault::Header { expected, at, found: Found::Inside(h, _) } => {
            format!(
                "{} at offset {at}, where they have the inside of their {} header",
                name(expected),
                name(h)
            )
        }
        Fault::Header { expected, at, .. } if state.mark == Mark::At(at) && at != 0 => {
            format!("{} at offset {at}, which is marked as network header", name(expected))
        }
        Fault::Header { expected, at, .. } => format!("{} at offset {at}", name(expected)),
    }
}

/// What helps.
fn remedy(inference: &Inference<'_>, mistake: &Mistake, target: &ElementDecl) -> String {
    let state = &mistake.at.state;
    match mistake.fault {
        Fault::Unmarked { expected } => mark_it(expected, state),
        Fault::Header { expected, at, found } => match place_of(expected, state) {
            Some(place) if place != at => move_it(inference, mistake, target, at, place),
            _ => send_other(expected, found),
        },
    }
}

/// Where a header is, or where it must be because nothing is known of what stands behind the link-level headers.
fn place_of(header: Header, state: &State) -> Option<i32> {
    let known = state.headers.iter().find(|(_, h)| h.is(header)).map(|(&at, _)| at);
    let is_network = matches!(header, Header::Ip | Header::Ip6 | Header::Arp);
    let (&last, &outer) = state.headers.iter().next_back()?;
    let behind = matches!(outer, Header::Ether | Header::Vlan).then_some(last + outer.length());
    known.or(behind.filter(|_| is_network))
}

fn mark_it(expected: Header, state: &State) -> String {
    let other = state.headers.values().find(|h| matches!(h, Header::Ip | Header::Ip6) || h.is(Header::Arp));
    if let Some(other) = other.filter(|h| !h.is(expected)) {
        return send_other(expected, Found::Header(*other));
    }
    let argument = match place_of(expected, state) {
        Some(0) | None => String::new(),
        Some(place) => format!("({place})"),
    };
    match expected {
        Header::Arp => format!("insert CheckARPHeader{argument}"),
        Header::Ip => format!("insert CheckIPHeader{argument}, or MarkIPHeader{argument}"),
        _ => format!("insert MarkIPHeader{argument}"),
    }
}

/// The header is at `place` instead of `at`.
fn move_it(
    inference: &Inference<'_>,
    mistake: &Mistake,
    target: &ElementDecl,
    at: i32,
    place: i32,
) -> String {
    let site = inference.site(mistake.at.port.element);
    let expected = site.and_then(|s| s.types.input(mistake.at.port.port)).map(|e| e.packet_type);
    let offset = match expected.and_then(|t| t.at) {
        Some(Amount::Argument(name)) if place >= 0 => Some(name),
        _ => None,
    };
    let simple = target.config.trim().parse::<i32>().is_ok() || target.config.trim().is_empty();
    let use_it = offset.map(|name| match simple && target.class.starts_with("CheckIPHeader") {
        true => format!("use {}({place})", target.class),
        false => format!("give {} {name} {place}", target.class),
    });
    let is_frame = matches!(mistake.fault, Fault::Header { expected: Header::Ether, .. });
    let insert = match place - at {
        distance if distance > 0 => format!("insert Strip({distance})"),
        distance if is_frame => {
            let make = send_other(Header::Ether, mistake.at.state.find(at));
            format!("{make}, or Unstrip({}) to put their old header back", -distance)
        }
        distance => format!("insert Unstrip({})", -distance),
    };
    let too_far = place >= 0 && place < at && offset.is_some();
    match use_it {
        Some(use_it) if too_far => use_it,
        Some(use_it) => format!("{insert}, or {use_it}"),
        None => insert,
    }
}

/// These packets should not come here at all.
fn send_other(expected: Header, found: Found) -> String {
    let only = |pattern: &str| format!("let only {} pass, by {pattern}", lower(plural(expected)));
    match (expected, found) {
        (Header::Ether, Found::Header(Header::Ip)) => "insert an ARPQuerier or EtherEncap".to_string(),
        (Header::Ether, _) => "insert EtherEncap".to_string(),
        (Header::Ip | Header::Ip6, Found::Header(Header::Tcp | Header::Udp | Header::Icmp)) => {
            "insert IPEncap, or do not strip the IP header".to_string()
        }
        (Header::Ip, _) => only("Classifier(12/0800)"),
        (Header::Ip6, _) => only("Classifier(12/86dd)"),
        (Header::Arp, _) => only("Classifier(12/0806)"),
        (Header::ArpQuery, _) => only("Classifier(12/0806 20/0001)"),
        (Header::ArpReply, _) => only("Classifier(12/0806 20/0002)"),
        (Header::Tcp, _) => only("IPClassifier(tcp)"),
        (Header::Udp, _) => only("IPClassifier(udp)"),
        (Header::Icmp, _) => only("IPClassifier(icmp)"),
        (Header::Vlan | Header::Icmp6, _) => format!("let only {} pass", lower(plural(expected))),
    }
}

fn lower(plural: &str) -> String {
    plural.replacen("Frames", "frames", 1)
}
