//! Ones' complement sums of text: taken while it is copied, joined and cut in two, so that text is read once.
//!
//! A sum here is what [`crate::abi::Segment::sum`] holds: the text's 16-bit words in memory order, as if the text began
//! at an even place, folded to 16 bits. Read first: RFC 1071 §2; `checksum.rs` of the packet crate computes those of
//! headers.

/// Carries added back in until 16 bits remain. Zero only for zero.
#[inline]
pub fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xFFFF_FFFF) + (sum >> 32);
    let sum = (sum as u32).wrapping_add((sum >> 32) as u32);
    // The halves and the carry of their sum, which the lower half of this addition hands to the upper one.
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

/// The sum of `data`.
#[inline]
pub fn sum(data: &[u8]) -> u32 {
    u32::from(fold(if data.len() < BLOCK { short(data) } else { long(data) }))
}

/// Copies `from` to `to`, which are of equal length, and returns the sum.
#[inline]
pub fn copy(from: &[u8], to: &mut [u8]) -> u32 {
    assert_eq!(from.len(), to.len(), "text is copied whole");
    if from.len() >= BLOCK {
        return u32::from(fold(copy_long(from, to)));
    }
    to.copy_from_slice(from);
    u32::from(fold(short(from)))
}

/// Bytes that are summed at once, where there are so many.
const BLOCK: usize = 64;

fn long(data: &[u8]) -> u64 {
    let (blocks, rest) = data.as_chunks::<BLOCK>();
    let mut lanes = [0; LANES];
    for block in blocks {
        add_block(&mut lanes, block);
    }
    total(lanes) + short(rest)
}

fn copy_long(from: &[u8], to: &mut [u8]) -> u64 {
    let ((from, from_rest), (to, to_rest)) = (from.as_chunks::<BLOCK>(), to.as_chunks_mut::<BLOCK>());
    let mut lanes = [0; LANES];
    for (from, to) in from.iter().zip(to) {
        *to = *from;
        add_block(&mut lanes, from);
    }
    to_rest.copy_from_slice(from_rest);
    total(lanes) + short(from_rest)
}

/// The sum of two pieces of text together, of which the first has `length` bytes.
#[inline]
pub fn join(first: u32, length: usize, second: u32) -> u32 {
    u32::from(fold(u64::from(first) + u64::from(at(second, length))))
}

/// The sum of what follows the first `length` bytes, given that of the whole and that of those.
#[inline]
pub fn rest(whole: u32, first: u32, length: usize) -> u32 {
    let difference = fold(u64::from(whole) + u64::from(!fold(u64::from(first))));
    at(u32::from(difference), length)
}

/// A sum as it counts when the text begins `offset` bytes further on: at an odd place the bytes of each word swap.
#[inline]
fn at(sum: u32, offset: usize) -> u32 {
    let sum = fold(u64::from(sum));
    u32::from(if offset % 2 == 1 { sum.swap_bytes() } else { sum })
}

/// Sums that do not wait for each other.
const LANES: usize = 4;

/// Words of eight bytes, whose carries go into the upper half: an addition and one of the carry for each, which is less
/// than what vector registers take, as these would have to widen each word.
#[inline(always)]
fn add_block(lanes: &mut [u128; LANES], block: &[u8; BLOCK]) {
    for words in block.as_chunks::<8>().0.as_chunks::<LANES>().0 {
        for (lane, &word) in lanes.iter_mut().zip(words) {
            *lane += u128::from(u64::from_ne_bytes(word));
        }
    }
}

/// The lanes together. 2^32 and 2^64 count as 1.
#[inline]
fn total(lanes: [u128; LANES]) -> u64 {
    let sum: u128 = lanes.iter().sum();
    let low = sum as u64;
    (low & 0xFFFF_FFFF) + (low >> 32) + (sum >> 64) as u64
}

/// The words of less than a block added up.
#[inline]
fn short(data: &[u8]) -> u64 {
    let (words, odd) = data.as_chunks::<4>();
    let last = match *odd {
        [] => 0,
        [a] => u32::from_ne_bytes([a, 0, 0, 0]),
        [a, b] => u32::from_ne_bytes([a, b, 0, 0]),
        [a, b, c, ..] => u32::from_ne_bytes([a, b, c, 0]),
    };
    words.iter().fold(u64::from(last), |sum, &word| sum + u64::from(u32::from_ne_bytes(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071 §1, the complement of the checksum as the packet crate computes it.
    fn plain(data: &[u8]) -> u16 {
        (!clickwork_packet::checksum::checksum(data)).to_be()
    }

    /// Zero and its complement are the same number.
    fn same(a: u32, b: u16) -> bool {
        let (a, b) = (fold(u64::from(a)), b);
        a == b || (a == 0 && b == 0xFFFF) || (a == 0xFFFF && b == 0)
    }

    proptest! {
        #[test]
        fn copies_and_sums(data in proptest::collection::vec(any::<u8>(), 0..3000)) {
            let mut to = vec![0; data.len()];
            prop_assert!(same(copy(&data, &mut to), plain(&data)));
            prop_assert_eq!(&to, &data);
            prop_assert!(same(sum(&data), plain(&data)));
        }

        #[test]
        fn cuts_and_joins(data in proptest::collection::vec(any::<u8>(), 0..300), at: prop::sample::Index) {
            let at = at.index(data.len() + 1);
            let (first, second) = (sum(&data[..at]), sum(&data[at..]));
            prop_assert!(same(join(first, at, second), plain(&data)));
            prop_assert!(same(rest(sum(&data), first, at), plain(&data[at..])));
        }
    }

    #[test]
    fn large_values_do_not_overflow() {
        let data = [0xFF; 65536];
        assert!(same(sum(&data), 0xFFFF));
        assert!(same(rest(0xFFFF, 0xFFFF, 1), 0));
        assert!(same(join(u32::MAX, 3, u32::MAX), 0xFFFF));
    }
}
