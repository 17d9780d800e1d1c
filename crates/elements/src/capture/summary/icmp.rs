//! Which ICMP messages carry an identifier and a sequence number. Their names are in the packet crate.

use clickwork_packet::headers::icmp::icmp_type as of;

/// Whether messages of this type carry an identifier and a sequence number (RFC 792).
pub fn icmp_has_sequence(icmp_type: u8) -> bool {
    let paired = [
        of::ECHO,
        of::ECHO_REPLY,
        of::TIMESTAMP,
        of::TIMESTAMP_REPLY,
        of::INFORMATION,
        of::INFORMATION_REPLY,
    ];
    paired.contains(&icmp_type)
}
