//! What the families of the library are called, and what they are for.

/// A family: its name in the facts, its title, and a sentence about it.
pub struct Family<'a> {
    pub name: &'a str,
    pub title: &'a str,
    pub about: &'a str,
}

const fn family(name: &'static str, title: &'static str, about: &'static str) -> Family<'static> {
    Family { name, title, about }
}

/// The families of the library, in the order of the index: from what every router has to what few have.
pub static FAMILIES: &[Family<'_>] = &[
    family("source", "Sources", "Elements that make packets, at a rate or as fast as they can."),
    family("device", "Interfaces", "Elements that receive from and send to network interfaces and the host."),
    family("capture", "Captures", "Elements that read and write capture files and summaries of packets."),
    family(
        "standard",
        "Basics",
        "Counting, marking, cutting, copying, switching and discarding packets of any kind.",
    ),
    family("queue", "Queues", "Elements that store packets: where pushing ends and pulling begins."),
    family(
        "sched",
        "Scheduling",
        "Elements that choose between inputs or outputs, and that move packets when it is time.",
    ),
    family("shaping", "Rates", "Meters, shapers and splitters by packets, bits or time; RED."),
    family("aqm", "Active queue management", "Elements that drop or mark packets before queues are full."),
    family("classify", "Classification", "Elements that look at packets and choose an output."),
    family("ethernet", "Ethernet", "Ethernet and VLAN headers, ARP, switches."),
    family("spantree", "Bridges", "The spanning tree of switches, and what watches them."),
    family("ip", "IP", "IPv4 headers, routes, fragments, options and addresses."),
    family("icmp", "ICMP", "Errors, echo requests and replies."),
    family("tcpudp", "TCP and UDP", "Headers and checksums of TCP and UDP."),
    family(
        "tcp",
        "TCP connections",
        "TCP stacks, and servers, clients and proxies that use their connections.",
    ),
    family("rewriter", "Rewriters", "Network address translation, load balancing, proxies."),
    family("ip6", "IPv6", "IPv6 headers, neighbours, routes, errors; translation from and to IPv4."),
    family("ipsec", "IPsec", "Encrypted and authenticated tunnels."),
    family("compression", "Header compression", "Shorter headers on slow links (RFC 2507)."),
    family("wifi", "Wireless", "IEEE 802.11: encapsulation, rates, what is printed and counted."),
    family("wifi/ap", "Access points", "What an IEEE 802.11 access point answers."),
    family("wifi/station", "Stations", "What an IEEE 802.11 station asks."),
    family("analysis", "Measurement", "Aggregates, flows and timestamps of traffic."),
    family("print", "Printing", "Elements that print the packets that pass."),
    family("socket", "Sockets", "Sockets of the host, and other things the program shares with it."),
    family("control", "Control", "Handlers called by scripts, by other programs, and at events."),
    family("info", "Information", "Elements that no packet meets: names, priorities, messages."),
    family("threads", "Threads", "Which thread runs what."),
    family("local", "Special", "Elements made for single configurations."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_of_the_library_has_a_title() {
        for (name, class) in crate::classes::registry().iter() {
            assert!(FAMILIES.iter().any(|f| f.name == class.family), "{name} is of {}", class.family);
        }
    }
}
