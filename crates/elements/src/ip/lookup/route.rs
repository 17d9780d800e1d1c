//! Routes, hops, and the text in which Click reads and prints them.

use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use std::fmt;

/// Where a lookup sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The next router; `0.0.0.0` if the destination is on the link itself.
    pub gateway: Ipv4Address,
    /// The output port.
    pub port: u32,
}

/// As the `lookup` handler prints it: `2 8.8.8.8`, or `0` without a gateway.
impl fmt::Display for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.port)?;
        if self.gateway.is_unspecified() { Ok(()) } else { write!(f, " {}", self.gateway) }
    }
}

/// Addresses and the hop that leads to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The addresses, host bits clear.
    prefix: Ipv4Prefix,
    /// Where packets to them go.
    pub hop: Hop,
}

impl Route {
    /// A route; host bits in `prefix` are cleared, as Click does.
    pub fn new(prefix: Ipv4Prefix, gateway: Ipv4Address, port: u32) -> Self {
        Self { prefix: prefix.network(), hop: Hop { gateway, port } }
    }

    /// The addresses, host bits clear.
    pub fn prefix(&self) -> Ipv4Prefix {
        self.prefix
    }

    /// One line of the `table` handler, in columns made with tabs, without the newline.
    pub fn table_line(&self) -> String {
        let prefix = column(self.prefix.to_string(), 16);
        let gateway = column(gateway_text(self.hop.gateway), 8);
        format!("{prefix}{gateway}{}", self.hop.port)
    }
}

/// `text` up to the next column; texts shorter than `width` take two tabs.
fn column(text: String, width: usize) -> String {
    let tabs = if text.len() < width { "\t\t" } else { "\t" };
    text + tabs
}

fn gateway_text(gateway: Ipv4Address) -> String {
    if gateway.is_unspecified() { "-".to_owned() } else { gateway.to_string() }
}

/// As error messages print it: `10.0.0.0/8 10.1.0.1 2`, or with `-` for no gateway.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.prefix, gateway_text(self.hop.gateway), self.hop.port)
    }
}

/// Which route to remove: that of a prefix, and only if it has this hop, where one is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    prefix: Ipv4Prefix,
    hop: Option<Hop>,
}

impl Removal {
    /// The route of `prefix` whatever its hop (`None`), or if it has this hop. Host bits are cleared.
    pub fn new(prefix: Ipv4Prefix, hop: Option<Hop>) -> Self {
        Self { prefix: prefix.network(), hop }
    }

    /// The addresses, host bits clear.
    pub fn prefix(&self) -> Ipv4Prefix {
        self.prefix
    }

    /// Whether `route` is the one.
    pub fn matches(&self, route: &Route) -> bool {
        self.prefix == route.prefix && self.hop.is_none_or(|hop| hop == route.hop)
    }
}

/// As error messages print it; a removal of any hop has port -1.
impl fmt::Display for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hop {
            Some(hop) => Route { prefix: self.prefix, hop }.fmt(f),
            None => write!(f, "{} - -1", self.prefix),
        }
    }
}

/// Why a table did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// The table has this route for the same prefix.
    Exists(Route),
    /// The table has no such route.
    NotFound(Removal),
    /// This kind of table needs masks of leading ones.
    MaskWithHoles(Ipv4Prefix),
    /// The table has as many different hops as it can name.
    TooManyHops,
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists(route) => write!(f, "conflict with existing route '{route}'"),
            Self::NotFound(removal) => write!(f, "route '{removal}' not found"),
            Self::MaskWithHoles(prefix) => {
                write!(
                    f,
                    "the mask of '{prefix}' is not a prefix: only StaticIPLookup, LinearIPLookup and "
                )?;
                write!(f, "SortedIPLookup take such masks")
            }
            Self::TooManyHops => {
                write!(f, "more than {} different gateways and ports", super::entry::MAX_HOPS)
            }
        }
    }
}

impl std::error::Error for RouteError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(prefix: &str, gateway: &str, port: u32) -> Route {
        Route::new(prefix.parse().unwrap(), gateway.parse().unwrap(), port)
    }

    #[test]
    fn prints_columns_as_click_does() {
        assert_eq!(route("10.0.0.7/8", "0.0.0.0", 0).table_line(), "10.0.0.0/8\t\t-\t\t0");
        assert_eq!(route("192.168.0.0/16", "5.5.5.5", 2).table_line(), "192.168.0.0/16\t\t5.5.5.5\t\t2");
        assert_eq!(route("192.168.100.0/24", "18.26.4.1", 2).table_line(), "192.168.100.0/24\t18.26.4.1\t2");
    }

    #[test]
    fn prints_errors_as_click_does() {
        let route = route("10.0.0.0/8", "10.1.0.1", 2);
        assert_eq!(
            RouteError::Exists(route).to_string(),
            "conflict with existing route '10.0.0.0/8 10.1.0.1 2'"
        );
        let any = Removal::new(route.prefix(), None);
        assert_eq!(RouteError::NotFound(any).to_string(), "route '10.0.0.0/8 - -1' not found");
        assert_eq!(route.hop.to_string(), "2 10.1.0.1");
    }
}
