//! The patterns that come with the program, found by name.

/// A pattern file.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// The name of the file, such as `ip.clickpat`.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub help: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All of them.
pub const SHIPPED: &[Shipped] = &[
    Shipped {
        name: "arp.clickpat",
        help: "no ARP between the routers of a combined configuration",
        text: include_str!("../../../../patterns/arp.clickpat"),
    },
    Shipped {
        name: "ip.clickpat",
        help: "combination elements for IP routers",
        text: include_str!("../../../../patterns/ip.clickpat"),
    },
];

/// The pattern file of a name; `.clickpat` may be left out.
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|s| s.name == name || s.name.strip_suffix(".clickpat") == Some(name))
}
