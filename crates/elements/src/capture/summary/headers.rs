//! A packet as a summary sees it, with its headers checked and trailing link-layer padding taken away.
//!
//! Reads nothing beyond the bytes given, whatever lengths the headers claim. Of several things wrong with a packet the
//! first is kept, in Click's words, for the `!bad` line.

/// Protocol numbers.
pub mod protocol {
    #![allow(missing_docs)]
    pub const ICMP: u8 = 1;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const DCCP: u8 = 33;
    pub const UDPLITE: u8 = 136;
}

/// What is known of a packet. The header slices reach from the header to the end of the packet's data.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketView<'a> {
    /// All data.
    pub data: &'a [u8],
    /// From the MAC header on, if its place is known.
    pub mac: Option<&'a [u8]>,
    /// From the network header on, if its place is known.
    pub network: Option<&'a [u8]>,
    /// From the transport header on, if its place is known.
    pub transport: Option<&'a [u8]>,
    /// Timestamp annotation, in nanoseconds.
    pub timestamp: i64,
    /// First-timestamp annotation, in nanoseconds.
    pub first_timestamp: i64,
    /// Extra-length annotation: bytes the packet had but that were not captured.
    pub extra_length: u32,
    /// Extra-packets annotation.
    pub extra_packets: u32,
    /// Paint annotation.
    pub paint: u8,
    /// Aggregate annotation.
    pub aggregate: u32,
}

/// What the checks of [`Headers::check`] are to include.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Call a packet bad if it has fewer bytes, captured or not, than its IP length says.
    pub careful_truncation: bool,
    /// Add the extra-length annotation to lengths.
    pub extra_length: bool,
}

/// A packet with the headers that could be believed.
#[derive(Clone, Debug)]
pub struct Headers<'a> {
    /// The packet.
    pub view: PacketView<'a>,
    /// The IPv4 packet without padding, if there is a valid header; at least its first four bytes.
    pub ip: Option<&'a [u8]>,
    /// From the transport header to the end of the IP packet.
    pub transport: Option<&'a [u8]>,
    /// The TCP header and payload, if the packet is TCP and not a later fragment.
    pub tcp: Option<&'a [u8]>,
    /// The same for UDP.
    pub udp: Option<&'a [u8]>,
    /// The same for ICMP.
    pub icmp: Option<&'a [u8]>,
    /// Bytes behind the end of the IP packet.
    pub padding: usize,
    /// The extra-length annotation, less what the IP length accounts for.
    pub extra_length: u32,
    /// Whether lengths include `extra_length`.
    pub add_extra_length: bool,
    /// The first thing found wrong.
    pub bad: Option<String>,
}

/// A big-endian 16-bit number, or 0 if it is not all there.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]))
}

/// A big-endian 32-bit number, or 0 if it is not all there.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

impl<'a> Headers<'a> {
    /// Without any header: for summaries that show none.
    pub fn unchecked(view: PacketView<'a>, checks: Checks) -> Headers<'a> {
        Headers {
            ip: None,
            transport: None,
            tcp: None,
            udp: None,
            icmp: None,
            padding: 0,
            extra_length: view.extra_length,
            add_extra_length: checks.extra_length,
            bad: None,
            view,
        }
    }

    /// Finds and checks the IP header and the header behind it.
    pub fn check(view: PacketView<'a>, checks: Checks) -> Headers<'a> {
        let mut headers = Headers::unchecked(view, checks);
        if let Some(network) = view.network {
            headers.check_ip(network, checks.careful_truncation);
        }
        headers.find_transport();
        headers.settle_extra_length();
        headers
    }

    fn check_ip(&mut self, network: &'a [u8], careful_truncation: bool) {
        if network.len() < 4 {
            return self.set_bad("truncated IP header".to_owned());
        }
        let (version, header_words) = (network[0] >> 4, network[0] & 0xf);
        let ip_length = usize::from(u16_at(network, 2));
        if version != 4 {
            return self.set_bad(format!("IP version {version}"));
        }
        if header_words < 5 {
            return self.set_bad(format!("IP header length {header_words}"));
        }
        if ip_length < usize::from(header_words) * 4 {
            return self.set_bad(format!("IP length {ip_length}"));
        }
        let known = network.len() as u64 + u64::from(self.extra_length);
        if network.len() > ip_length {
            self.padding = network.len() - ip_length;
            self.extra_length = self.extra_length.saturating_add(self.padding as u32);
        } else if careful_truncation && known < ip_length as u64 {
            self.set_bad(format!("truncated IP missing {}", ip_length as u64 - known));
        }
        self.ip = Some(&network[..network.len() - self.padding]);
    }

    fn find_transport(&mut self) {
        let Some(transport) = self.view.transport else { return };
        let transport = &transport[..transport.len().saturating_sub(self.padding)];
        self.transport = Some(transport);
        let Some(ip) = self.ip else { return };
        if ip.len() <= self.ip_header_length() || !self.is_first_fragment() {
            return;
        }
        match self.ip_protocol() {
            protocol::TCP => self.check_tcp(transport),
            protocol::UDP => self.udp = Some(transport),
            protocol::ICMP => self.icmp = Some(transport),
            _ => {}
        }
    }

    fn check_tcp(&mut self, tcp: &'a [u8]) {
        match tcp.get(12).map(|byte| byte >> 4) {
            Some(words @ 0..5) => self.set_bad(format!("TCP header length {words}")),
            _ => self.tcp = Some(tcp),
        }
    }

    /// Lengths are taken from the IP header, so extra bytes count only where that cannot say how many there are.
    fn settle_extra_length(&mut self) {
        let Some(ip) = self.ip else { return };
        let full = ip.len() as u64 + u64::from(self.extra_length);
        let beyond = if self.ip_length() == 0xffff { full.saturating_sub(0xffff) } else { 0 };
        self.extra_length = beyond.min(u32::MAX.into()) as u32;
    }

    fn set_bad(&mut self, what: String) {
        self.bad.get_or_insert(what);
    }

    /// Length of the data without padding.
    pub fn length(&self) -> usize {
        self.view.data.len() - self.padding.min(self.view.data.len())
    }

    /// Bytes of the IP packet; 0 without one.
    pub fn network_length(&self) -> usize {
        self.ip.map_or(0, <[u8]>::len)
    }

    /// Bytes from the transport header on.
    pub fn transport_length(&self) -> usize {
        self.transport.map_or(0, <[u8]>::len)
    }

    /// The IP total length field.
    pub fn ip_length(&self) -> u16 {
        self.ip.map_or(0, |ip| u16_at(ip, 2))
    }

    /// The IP header length in bytes.
    pub fn ip_header_length(&self) -> usize {
        self.ip.map_or(0, |ip| usize::from(ip[0] & 0xf) * 4)
    }

    /// The IP protocol; 0 if it was not captured.
    pub fn ip_protocol(&self) -> u8 {
        self.ip.and_then(|ip| ip.get(9)).copied().unwrap_or(0)
    }

    /// Whether the fragment offset is zero.
    pub fn is_first_fragment(&self) -> bool {
        self.ip.is_some_and(|ip| u16_at(ip, 6) & 0x1fff == 0)
    }

    /// Where the payload starts in the data, and how many bytes it has by the IP length. It may lie beyond the data.
    pub fn payload(&self) -> (usize, usize) {
        let Some(network) = self.ip.and(self.view.network) else { return (0, self.length()) };
        let network_offset = self.view.data.len() as isize - network.len() as isize;
        let skipped = self.ip_header_length() + self.transport_header_length();
        let offset = (network_offset + skipped as isize).max(0) as usize;
        (offset, usize::from(self.ip_length()).saturating_sub(skipped))
    }

    fn transport_header_length(&self) -> usize {
        if !self.is_first_fragment() {
            return 0;
        }
        match self.ip_protocol() {
            protocol::TCP => {
                let words = self.transport.and_then(|tcp| tcp.get(12)).map_or(5, |byte| byte >> 4);
                usize::from(words.max(5)) * 4
            }
            protocol::UDP | protocol::UDPLITE => 8,
            _ => 0,
        }
    }
}
