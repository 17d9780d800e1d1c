//! The configuration of an IP router, from its plan.

use super::plan::{Interface, Plan, Route};
use clickwork_packet::addr::Ipv4Address;
use std::fmt::Display;

/// Where packets come from and go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Network interfaces.
    Devices,
    /// Captures.
    Simulated,
}

/// What is the same in every router.
const INTERFACE: &str = include_str!("interface.click");
/// Lines of lists are no longer.
const WIDTH: usize = 108;

/// The configuration; `file` is what it is called where it says how it is run.
pub fn write(plan: &Plan, form: Form, file: &str) -> String {
    let parts = [
        head(plan, form, file),
        definitions(plan, form),
        INTERFACE.to_string(),
        interfaces(plan, form),
        routes(plan),
        received(plan),
        errors(plan),
        local(plan),
        end(plan, form),
    ];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    // What is written here can be parsed; if not, 'check' is the one to say so.
    clickwork_lang::format(&text).unwrap_or(text)
}

fn each(plan: &Plan, line: impl Fn(usize, &Interface) -> String) -> String {
    plan.interfaces.iter().enumerate().map(|(n, i)| line(n, i)).collect()
}

fn head(plan: &Plan, form: Form, file: &str) -> String {
    let interfaces = match plan.interfaces.len() {
        1 => "one interface".to_string(),
        several => format!("{several} interfaces"),
    };
    let mut text = format!(
        "// {}: an IP router with {interfaces} (RFC 1812), begun by 'clickwork new ip-router'.\n//\n\
         // This is the router of \"The Click modular router\" (TOCS 2000), Figure 8. It answers ARP queries and asks its own,\n\
         // checks headers, looks up routes, processes IP options, fragments, answers pings, and sends the ICMP errors of a\n\
         // router. It is yours to change.\n//\n",
        file.rsplit('/').next().unwrap_or(file),
    );
    text += &format!("// {:<16} {:<20} MTU\n", "interface", "address");
    text += &each(plan, |_, i| format!("// {:<16} {:<20} {}\n", i.name, i.prefix.to_string(), i.mtu));
    if !plan.routes.is_empty() {
        text += &format!("//\n// {:<16} {:<20} interface\n", "route", "gateway");
    }
    for r in &plan.routes {
        let name = &plan.interfaces[r.interface].name;
        let (destination, gateway) = (r.destination.to_string(), r.gateway.to_string());
        text += &format!("// {destination:<16} {gateway:<20} {name}\n");
    }
    text + DRAWING + &how_to_run(form, file)
}

const DRAWING: &str = "//
//   FromDevice -> HostEtherFilter -> Classifier --ARP query--> ARPResponder -> Queue -> ToDevice
//                                    |        '---ARP reply--> ARPQuerier (A)
//                                    v
//                                  Paint -> Strip -> CheckIPHeader -> IPClassifier --> nobody's address: Discard
//                                                                     |
//                                                                     v
//   for the router: IPReassembler, pings, errors  <-- StaticIPLookup (B) <-- GetIPAddress
//                                                     |
//                                                     v
//      IPFragmenter <- DecIPTTL <- FixIPSrc <- IPGWOptions <- PaintTee <- DropBroadcasts
//        |    |           |                        |             |
//        |    '-----------'------- ICMPError ------'-------------'------> RatedSplitter -> (B)
//        v
//      ARPQuerier (A) -> Queue -> ToDevice
//
";

fn how_to_run(form: Form, file: &str) -> String {
    match form {
        Form::Devices => format!(
            "// Run it as root. The interfaces must be up and have no IP address of their own ('ip addr flush dev NAME'):\n//\n\
             //    clickwork run {file}\n//\n\
             // Each interface has an Ethernet address made from its IP address; ETHER0=NAME gives it that of the interface NAME.\n"
        ),
        Form::Simulated => format!(
            "// It reads what the hosts of each network send from a capture, and writes what they get to a capture:\n//\n\
             //    clickwork run --simtime {file}\n"
        ),
    }
}

fn definitions(plan: &Plan, form: Form) -> String {
    let mut text = "define(\n".to_string();
    text += &each(plan, |n, i| {
        let ends = match form {
            Form::Devices => format!("$DEV{n} {}", i.name),
            Form::Simulated => format!("$IN{n} in-{0}.pcap, $OUT{n} out-{0}.pcap", i.name),
        };
        format!("  {ends}, $ETHER{n} {}, $MTU{n} {},\n", i.ether.with_colons(), i.mtu)
    });
    let mut broadcasts = plan.broadcasts();
    broadcasts.push(Ipv4Address::BROADCAST);
    text += "\n  // the router's addresses, and those that stand for many hosts\n";
    text += &(list("  $ADDRESSES ", "             ", " ", plan.addresses()) + ",\n");
    text += &(list("  $BROADCASTS ", "              ", " ", broadcasts) + ",\n");
    text + "\n  $ERRORS 1000      // how many ICMP errors it sends at most, per second\n);\n"
}

/// Values in lines that are not too long: the first begins with `first`, the others with `indent`.
fn list<T: Display>(
    first: &str,
    indent: &str,
    separator: &str,
    values: impl IntoIterator<Item = T>,
) -> String {
    let mut lines = vec![first.to_string()];
    let mut is_first = true;
    for value in values {
        let value = value.to_string();
        let last = lines.last_mut().expect("there is one");
        if !std::mem::take(&mut is_first) {
            last.push_str(separator.trim_end());
            if last.len() + value.len() > WIDTH {
                lines.push(format!("{indent}{value}"));
                continue;
            }
            last.push(' ');
        }
        last.push_str(&value);
    }
    lines.join("\n")
}

fn interfaces(plan: &Plan, form: Form) -> String {
    let mut text = each(plan, |n, i| {
        let (address, network) = (i.prefix.address, i.prefix.network());
        format!("if{n} :: Interface({}, {address}, {network}, $ETHER{n}, $MTU{n});\n", n + 1)
    });
    text += "\n";
    text += &match form {
        Form::Devices => devices(plan),
        Form::Simulated => captures(plan),
    };
    text
}

fn devices(plan: &Plan) -> String {
    "// SNIFFER false: the host does not answer as well. PROMISC true: any Ethernet address will do.\n"
        .to_string()
        + &each(plan, |n, _| {
            format!("from{n} :: FromDevice($DEV{n}, PROMISC true, SNIFFER false) -> if{n};\n")
        })
        + &each(plan, |n, _| format!("if{n} [2] -> queue{n} :: Queue(1000) -> to{n} :: ToDevice($DEV{n});\n"))
}

fn captures(plan: &Plan) -> String {
    each(plan, |n, _| format!("from{n} :: FromDump($IN{n}, TIMING true, STOP true) -> if{n};\n"))
        + &each(plan, |n, _| {
            format!("if{n} [2] -> queue{n} :: Queue(1000) -> SetTimestamp -> to{n} :: ToDump($OUT{n});\n")
        })
}

/// What becomes of packets for which there is no route: an output of the routing table, beside 0 for the router itself
/// and one for each interface.
fn no_route(plan: &Plan) -> Option<usize> {
    (!plan.has_default()).then_some(plan.interfaces.len() + 1)
}

/// The output for addresses that are nobody's.
fn martians(plan: &Plan) -> usize {
    plan.interfaces.len() + 1 + usize::from(!plan.has_default())
}

/// The routes, by what they are for.
fn table(plan: &Plan) -> Vec<(&'static str, Vec<String>)> {
    let to_itself =
        |addresses: Vec<Ipv4Address>| addresses.into_iter().map(|address| format!("{address}/32 0"));
    let everybody = ["255.255.255.255/32 0".to_string(), "224.0.0.0/4 0".to_string()];
    let network = |(n, i): (usize, &Interface)| format!("{} {}", i.prefix.network(), n + 1);
    let nobody = |network: &str| format!("{network} {}", martians(plan));
    let route = |r: &Route| format!("{} {} {}", r.destination, r.gateway, r.interface + 1);
    let mut table = vec![
        ("the router itself", to_itself(plan.addresses()).collect()),
        (
            "broadcasts and groups, which are not forwarded",
            to_itself(plan.broadcasts()).chain(everybody).collect(),
        ),
        ("the networks that it is on", plan.interfaces.iter().enumerate().map(network).collect()),
        ("nobody's addresses (RFC 1812 5.3.7)", MARTIANS.map(nobody).to_vec()),
    ];
    if !plan.routes.is_empty() {
        table.push(("other networks", plan.routes.iter().map(route).collect()));
    }
    if let Some(output) = no_route(plan) {
        table.push(("all others", vec![format!("0.0.0.0/0 {output}")]));
    }
    table
}

/// What no host may be called (RFC 1812 §5.3.7).
const MARTIANS: [&str; 3] = ["0.0.0.0/8", "127.0.0.0/8", "240.0.0.0/4"];

fn routes(plan: &Plan) -> String {
    let group = |(about, routes): (&str, Vec<String>)| {
        format!("    // {about}\n{}", list("    ", "    ", ", ", routes))
    };
    let groups: Vec<String> = table(plan).into_iter().map(group).collect();
    let mut text = format!(
        "// Every IP packet, from the network or made here, finds its way by the routing table.\n\
         routes :: StaticIPLookup(\n{});\n\n",
        groups.join(",\n")
    );
    text += &each(plan, |n, _| format!("routes [{0}] -> [1] if{n};\n", n + 1));
    text + &format!("routes [{}] -> martians :: Discard;\n", martians(plan))
}

fn received(plan: &Plan) -> String {
    "// Packets from the network.\n\
     received :: Strip(14)\n    -> CheckIPHeader(BADSRC $BROADCASTS)\n    \
     -> source :: IPClassifier(src net 0.0.0.0/8 or 127.0.0.0/8 or 224.0.0.0/4 or 240.0.0.0/4, -);\n\
     source [0] -> martians;\nsource [1] -> GetIPAddress(16) -> routes;\n\n"
        .to_string()
        + &each(plan, |n, _| format!("if{n} -> received;\n"))
}

fn errors(plan: &Plan) -> String {
    let mut text = "// ICMP errors: as many as are allowed (RFC 1812 4.3.2.8), with the precedence of internetwork control (4.3.2.5).\n\
                    errors :: RatedSplitter($ERRORS) -> SetIPDSCP(48) -> routes;\nerrors [1] -> Discard;\n\n"
        .to_string();
    text += &each(plan, |n, _| format!("if{n} [1] -> errors;\n"));
    if let Some(output) = no_route(plan) {
        let own = plan.interfaces[0].prefix.address;
        text += &format!("routes [{output}] -> ICMPError({own}, unreachable, net, $BROADCASTS) -> errors;\n");
    }
    text
}

fn local(plan: &Plan) -> String {
    let own = plan.interfaces[0].prefix.address;
    let mine = "    -> mine :: IPClassifier(dst host ";
    let mine = list(mine, &" ".repeat(mine.len()), " or ", plan.addresses());
    format!(
        "// Packets for the router itself: it answers pings, and offers no other service.\n\
         routes [0]\n    -> whole :: IPReassembler\n{mine}, -)\n    \
         -> what :: IPClassifier(icmp type echo, udp, icmp or tcp, -);\n\
         whole [1] -> ICMPError({own}, timeexceeded, 1, $BROADCASTS) -> errors;\n\
         what [0] -> ICMPPingResponder -> routes;\n\
         what [1] -> ICMPError({own}, unreachable, port, $BROADCASTS) -> errors;\n\
         what [2] -> Discard;\n\
         what [3] -> ICMPError({own}, unreachable, protocol, $BROADCASTS) -> errors;\n\
         mine [1] -> Discard;                    // broadcasts\n"
    )
}

fn end(plan: &Plan, form: Form) -> String {
    match form {
        Form::Devices => String::new(),
        Form::Simulated => format!(
            "// Stop when all captures have been read and everything has been sent.\n\
             DriverManager(wait_stop {}, wait 1s, stop);\n",
            plan.interfaces.len()
        ),
    }
}
