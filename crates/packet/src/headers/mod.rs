//! Protocol headers as checked views of packet data, one protocol a file.
//!
//! `Ipv4::new(data)` checks once that the data hold a whole header; after that no accessor can fail. `Ipv4Mut::new` is
//! the same for writing. The fixed part of each header is a plain struct (`Ipv4Header`) that any fixed-size piece of
//! data can be seen as; the views add what follows it: options and payload. Not validation: checksums, versions and
//! lengths against each other are the business of elements such as CheckIPHeader, who need to tell the reasons apart.
//!
//! Read first: [`view`], then the protocol's RFC, named at the top of its file.
#![forbid(unsafe_code)]

pub mod arp;
pub mod ethernet;
pub mod icmp;
pub mod icmp6;
pub mod ipv4;
pub mod ipv6;
pub mod options;
pub mod tcp;
pub mod udp;
pub mod view;

pub use arp::{Arp, ArpHeader, ArpMut};
pub use ethernet::{Ethernet, EthernetHeader, EthernetMut};
pub use icmp::{Icmp, IcmpHeader, IcmpMut};
pub use icmp6::{Icmp6, Icmp6Header, Icmp6Mut};
pub use ipv4::{Ipv4, Ipv4Header, Ipv4Mut};
pub use ipv6::{Ipv6, Ipv6Header, Ipv6Mut};
pub use tcp::{Tcp, TcpHeader, TcpMut};
pub use udp::{Udp, UdpHeader, UdpMut};
pub use view::{Header, View, ViewMut};
