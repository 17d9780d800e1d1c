//! What a standards-compliant router has to do with each class of the demonstration's packets: RFC 1812 by section.

use super::fate::{Fate, Fates};

/// What is expected for one class of packets.
#[derive(Debug)]
pub struct Expectation {
    /// The class, by its name in [`super::traffic::CLASSES`].
    pub class: &'static str,
    /// What a router must do, in a few words.
    pub must: &'static str,
    /// Where RFC 1812 says so; empty where it says nothing.
    pub section: &'static str,
    /// What this router does: each of these once for each packet.
    each: &'static [Fate],
    /// What it does a fixed number of times, whatever the number of packets.
    also: &'static [(Fate, u64)],
    /// Why this is less than a router must do.
    pub remark: Option<&'static str>,
}

/// The classes of one kind, under a heading.
pub struct Group {
    /// The heading.
    pub heading: &'static str,
    /// The classes.
    pub classes: &'static [Expectation],
}

const fn expect(
    class: &'static str,
    must: &'static str,
    section: &'static str,
    each: &'static [Fate],
) -> Expectation {
    Expectation { class, must, section, each, also: &[], remark: None }
}

/// Everything that is expected, in the order of the capture.
pub static GROUPS: &[Group] = &[
    Group {
        heading: "Address resolution",
        classes: &[
            expect("arp-reply", "learn the address", "§3.3.2", &[Fate::Learned]),
            expect("arp-request", "answer for itself", "§3.3.2", &[Fate::ArpReply]),
            expect("arp-other", "leave it alone", "§3.3.2", &[Fate::Dropped]),
        ],
    },
    Group {
        heading: "Ordinary traffic",
        classes: &[
            expect("udp", "forward", "§5.2.1", &[Fate::Forwarded]),
            expect("tcp", "forward", "§5.2.1", &[Fate::Forwarded]),
            expect("ping", "forward", "§5.2.1", &[Fate::Forwarded]),
            expect("ping-router", "answer", "§4.3.3.6", &[Fate::EchoReply]),
            expect("for-router", "deliver to its own host", "§5.2.3", &[Fate::ToHost]),
            expect("fragment", "forward, not reassemble", "§5.2.6", &[Fate::Forwarded]),
            expect("bad-udp-checksum", "forward: the hosts check", "§5.2.1", &[Fate::Forwarded]),
        ],
    },
    Group {
        heading: "Expired or damaged",
        classes: &[
            expect("ttl-expired", "report time exceeded", "§5.3.1", &[Fate::TIME_EXCEEDED]),
            expect("bad-checksum", "drop silently", "§5.2.2", &[Fate::Dropped]),
            expect("bad-header", "drop silently", "§5.2.2", &[Fate::Dropped]),
            expect("bad-source", "drop silently", "§5.3.7", &[Fate::Dropped]),
        ],
    },
    Group {
        heading: "Larger than 1500 bytes",
        classes: &[
            // Of 1508 bytes come two fragments, of 4028 three.
            Expectation {
                also: &[(Fate::Fragment, 5)],
                ..expect("oversized", "cut into fragments", "§5.2.6", &[])
            },
            expect("oversized-df", "report the greatest size", "§5.2.7.1", &[Fate::NEED_FRAGMENT]),
        ],
    },
    Group {
        heading: "IP options",
        classes: &[
            expect("record-route", "forward, add its address", "§5.3.13.5", &[Fate::Forwarded]),
            expect("timestamp", "forward, add the time", "§5.3.13.6", &[Fate::Forwarded]),
            Expectation {
                remark: Some(
                    "Source routes are left to the router's host, as in the paper: the packets are addressed \
                     to the router, and no element follows the route. RFC 1812 wants routers to follow it; \
                     RFC 7126 since advises to drop such packets.",
                ),
                ..expect("source-route", "follow the route", "§5.3.13.4", &[Fate::ToHost])
            },
            expect("bad-option", "report parameter problem", "§4.3.3.5", &[Fate::PARAMETER_PROBLEM]),
        ],
    },
    Group {
        heading: "Broadcasts, detours and strangers",
        classes: &[
            expect("link-broadcast", "not forward", "§5.3.4", &[Fate::Dropped]),
            expect("broadcast", "deliver, not forward", "§5.3.5", &[Fate::ToHost]),
            expect("redirect", "forward and redirect", "§5.2.7.2", &[Fate::Forwarded, Fate::REDIRECT]),
            Expectation {
                remark: Some(
                    "The packet waits, and its address is asked for. But if nobody ever answers, RFC 1812 would \
                     like its source to hear that the host is unreachable; this router, like the paper's, \
                     drops it after five minutes without a word.",
                ),
                ..expect("unresolved", "hold it, ask by ARP", "§3.3.2", &[Fate::ArpQuery, Fate::Held])
            },
            expect("not-ip", "drop", "", &[Fate::Dropped]),
        ],
    },
];

impl Expectation {
    /// What should become of `sent` packets of the class.
    pub fn fates(&self, sent: u64) -> Fates {
        let each = self.each.iter().map(|&fate| (fate, sent));
        each.chain(self.also.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::traffic::CLASSES;
    use super::*;

    #[test]
    fn every_class_has_an_expectation_in_its_order() {
        let expected: Vec<_> = GROUPS.iter().flat_map(|g| g.classes).map(|e| e.class).collect();
        let sent: Vec<_> = CLASSES.iter().map(|c| c.name).collect();
        assert_eq!(expected, sent);
    }

    #[test]
    fn the_text_fits_its_columns() {
        for e in GROUPS.iter().flat_map(|g| g.classes) {
            assert!(
                e.class.len() <= 16 && e.must.len() <= 24 && e.section.chars().count() <= 9,
                "{}",
                e.class
            );
        }
    }
}
