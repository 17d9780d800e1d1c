//! The packet as a classifier sees it: three byte strings that begin at the three headers.
//!
//! Not a parser: the caller knows where the headers are (from annotations or by construction). A header that
//! is not there is an empty slice, and every test on it fails as on a packet that is too short.

/// The header from which a test counts its offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// Start of the packet data for `Classifier`; the Ethernet header for `IPFilter` and `IPClassifier`.
    Ether = 0,
    /// The network (IP) header.
    Network = 1,
    /// The transport header, which follows the IP options.
    Transport = 2,
}

impl Base {
    /// All bases, in the order of their numbers.
    pub const ALL: [Base; 3] = [Base::Ether, Base::Network, Base::Transport];

    /// What Click adds to an offset of this base when it prints a program.
    pub fn printed_offset(self) -> usize {
        256 * self as usize
    }
}

/// The bytes from each header to the end of the packet.
#[derive(Debug, Clone, Copy)]
pub struct Headers<'a> {
    /// Indexed by [`Base`]; the fourth is always empty and makes every two-bit index valid.
    sections: [&'a [u8]; 4],
}

impl<'a> Headers<'a> {
    /// A packet for `Classifier` patterns: offsets count from the start of `data`.
    #[inline]
    pub fn raw(data: &'a [u8]) -> Self {
        Self { sections: [data, &[], &[], &[]] }
    }

    /// A packet for IP filters whose headers begin at byte `network` and byte `transport` of `data`. Tests on
    /// the Ethernet header fail.
    #[inline]
    pub fn ip(data: &'a [u8], network: usize, transport: usize) -> Self {
        let from = |start: usize| data.get(start..).unwrap_or_default();
        Self { sections: [&[], from(network), from(transport), &[]] }
    }

    /// The same with an Ethernet header. `frame` is the packet from its Ethernet header on, which may begin
    /// before the packet data (in the headroom).
    #[inline]
    #[must_use]
    pub fn with_ether(mut self, frame: &'a [u8]) -> Self {
        self.sections[Base::Ether as usize] = frame;
        self
    }

    /// The bytes from header `base` to the end of the packet.
    #[inline]
    pub fn section(&self, base: Base) -> &'a [u8] {
        self.sections[base as usize]
    }

    /// Whether there is nothing to look at.
    pub(crate) fn are_empty(&self) -> bool {
        self.sections.iter().all(|section| section.is_empty())
    }

    /// The section with the number `index` modulo 4.
    #[inline]
    pub(crate) fn section_at(&self, index: u8) -> &'a [u8] {
        self.sections[usize::from(index & 3)]
    }
}

/// The four bytes at `offset`, most significant first.
#[inline]
pub(crate) fn word_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let word = bytes.get(offset..offset + 4)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*word))
}

/// The first `need` (1 to 4) bytes at `offset` in their places in a word; absent bytes after those read as 0.
/// `None` if fewer than `need` are there.
pub(crate) fn partial_word_at(bytes: &[u8], offset: usize, need: usize) -> Option<u32> {
    let available = bytes.get(offset..).unwrap_or_default();
    if available.len() < need {
        return None;
    }
    let mut word = [0; 4];
    let count = available.len().min(4);
    word[..count].copy_from_slice(&available[..count]);
    Some(u32::from_be_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_beyond_the_packet_are_empty() {
        let headers = Headers::ip(&[1, 2, 3], 1, 9);
        assert_eq!(headers.section(Base::Network), &[2, 3]);
        assert!(headers.section(Base::Transport).is_empty());
        assert!(headers.section(Base::Ether).is_empty());
    }

    #[test]
    fn partial_words_are_padded_on_the_right() {
        assert_eq!(partial_word_at(&[0, 1, 2], 1, 2), Some(0x0102_0000));
        assert_eq!(partial_word_at(&[0, 1, 2], 1, 3), None);
        assert_eq!(partial_word_at(&[0, 1, 2], 7, 1), None);
        assert_eq!(word_at(&[9, 1, 2, 3, 4], 1), Some(0x0102_0304));
    }
}
