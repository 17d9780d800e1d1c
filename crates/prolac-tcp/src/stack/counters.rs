//! What a stack counts: segments in and out, connections, and everything it drops without an answer, by reason.

macro_rules! counters {
    ($(#[$attribute:meta])* $name:ident; $(#[doc = $text:literal] $field:ident,)*) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = $text] pub $field: u64,)*
        }

        impl $name {
            /// Names and values, in the order of the fields.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($field), self.$field),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Packets that were dropped without an answer, by reason.
    Drops;
    #[doc = "Neither IPv4 nor IPv6."] version,
    #[doc = "Shorter than its headers or its length field say."] truncated,
    #[doc = "An IP header that contradicts itself."] ip_header,
    #[doc = "A wrong checksum of the IPv4 header."] ip_checksum,
    #[doc = "A fragment: they are not put together here."] fragment,
    #[doc = "Neither TCP nor ICMP."] protocol,
    #[doc = "To an address that is not ours."] not_ours,
    #[doc = "From or to an address that TCP cannot use: multicast, broadcast, unspecified."] address,
    #[doc = "A TCP header that contradicts itself, or port 0."] tcp_header,
    #[doc = "A wrong checksum of a TCP segment."] tcp_checksum,
    #[doc = "An ICMP message that is cut off, has a wrong checksum, or quotes no segment."] icmp,
    #[doc = "An ICMP message about a connection that is not there."] icmp_unknown,
    #[doc = "A reset for no connection."] stray_reset,
    #[doc = "No room: segments or connections."] memory,
    #[doc = "A SYN, or the acknowledgment of a SYN-ACK, that the listener's queue has no room for."] backlog,
    #[doc = "To a listener: neither SYN nor ACK, or a reset."] listener,
    #[doc = "For a connection: without ACK where one must be."] no_ack,
    #[doc = "For a connection: a reset outside of the window, or one that was challenged."] reset,
    #[doc = "For a connection: any other that it did not take, such as a SYN again or a very old acknowledgment."] unacceptable,
}

counters! {
    /// What a stack did.
    Activity;
    #[doc = "IP packets given to it."] packets_in,
    #[doc = "IP packets that it gave, each of which may be cut into several."] packets_out,
    #[doc = "TCP segments in, merged ones counted one by one."] segments_in,
    #[doc = "TCP segments out, counted as they are after cutting."] segments_out,
    #[doc = "Bytes of text in."] bytes_in,
    #[doc = "Bytes of text out, those sent again included."] bytes_out,
    #[doc = "Resets that came for a connection."] resets_in,
    #[doc = "Resets sent."] resets_out,
    #[doc = "ICMP messages handed to a connection."] icmp_in,
    #[doc = "Connections that the user began."] active_opens,
    #[doc = "Connections that peers began."] passive_opens,
    #[doc = "Connections established."] established,
    #[doc = "Connections gone."] closed,
    #[doc = "Connections in TIME-WAIT that were forgotten early, as there were too many."] time_wait_overflow,
    #[doc = "Connections in TIME-WAIT that gave their place to a new SYN."] time_wait_reused,
    #[doc = "Segments whose text was copied, as their buffers were much larger."] buffers_shrunk,
}

/// All counters of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// What it did.
    pub activity: Activity,
    /// What it dropped without an answer.
    pub drops: Drops,
}

impl Counters {
    /// Names and values, those of drops with `drop_` before them.
    pub fn iter(&self) -> impl Iterator<Item = (String, u64)> {
        let activity = self.activity.iter().map(|(name, value)| (name.to_owned(), value));
        activity.chain(self.drops.iter().map(|(name, value)| (format!("drop_{name}"), value)))
    }

    /// Packets dropped without an answer.
    pub fn dropped(&self) -> u64 {
        self.drops.iter().map(|(_, value)| value).sum()
    }
}
