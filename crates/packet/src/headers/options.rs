//! Options in type-length-value form, as IPv4 (RFC 791 §3.1) and TCP (RFC 9293 §3.2) share it.
//!
//! Not what an option means: kinds are named in [`super::ipv4::option`] and [`super::tcp::option`].

/// Ends the list; what follows is padding.
pub const END: u8 = 0;
/// One byte of padding between options.
pub const NO_OPERATION: u8 = 1;

/// One option with a length, found by [`Options`]. Padding is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawOption<'a> {
    /// Where the option's first byte is, counted from the start of the options.
    pub offset: usize,
    /// The option's first byte.
    pub kind: u8,
    /// What follows the length byte.
    pub data: &'a [u8],
}

impl RawOption<'_> {
    /// The length of the whole option in bytes, as its length byte says.
    pub fn len(&self) -> usize {
        self.data.len() + 2
    }

    /// Never: an option has at least a kind and a length.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// An option whose length byte is missing, below 2, or points beyond the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedOption {
    /// Where the option's first byte is, counted from the start of the options.
    pub offset: usize,
    /// The option's first byte.
    pub kind: u8,
}

/// The options in `bytes`, in order. Ends after the first malformed one.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Options<'a> {
    /// The options in `bytes`, which start right behind the fixed part of the header.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<RawOption<'a>, MalformedOption>;

    fn next(&mut self) -> Option<Self::Item> {
        let padding = self.bytes[self.offset..].iter().take_while(|&&kind| kind == NO_OPERATION).count();
        let offset = self.offset + padding;
        let kind = *self.bytes.get(offset).filter(|&&kind| kind != END)?;
        let length = self.bytes.get(offset + 1).map_or(0, |&length| usize::from(length));
        let data = self.bytes.get(offset + 2..offset + length);
        self.offset = if data.is_some() { offset + length } else { self.bytes.len() };
        Some(match data {
            Some(data) => Ok(RawOption { offset, kind, data }),
            None => Err(MalformedOption { offset, kind }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn passes_over_padding_and_stops_at_the_end() {
        let bytes = [1, 7, 3, 4, 1, 1, 68, 4, 5, 1, 0, 7, 3, 4];
        let found: Vec<_> =
            Options::new(&bytes).map(|o| o.unwrap()).map(|o| (o.offset, o.kind, o.len())).collect();
        assert_eq!(found, [(1, 7, 3), (6, 68, 4)]);
    }

    #[test]
    fn tells_where_the_damage_is_and_stops() {
        for (bytes, offset) in [(&[1, 7, 1, 0][..], 1), (&[7, 0], 0), (&[7, 5, 4, 0], 0), (&[7, 3, 4, 9], 3)]
        {
            let mut options = Options::new(bytes).skip_while(Result::is_ok);
            assert_eq!(options.next().unwrap().unwrap_err().offset, offset, "{bytes:?}");
            assert_eq!(options.next(), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(0u8..10, 0..40)) {
            let found: Vec<_> = Options::new(&bytes).collect();
            prop_assert!(found.iter().rev().skip(1).all(Result::is_ok));
            for option in found.into_iter().flatten() {
                prop_assert_eq!(usize::from(bytes[option.offset + 1]), option.len());
            }
        }
    }
}
