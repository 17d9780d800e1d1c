//! What both pattern languages mean: a truth expression over word tests.
//!
//! [`Expr::holds`] is the reference semantics; a compiled [`crate::Program`] must agree with it on every
//! packet, however short.

use crate::headers::{Base, Headers, partial_word_at};

/// One comparison: the four bytes at `offset` from `base`, masked, equal `value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Test {
    /// Header the offset counts from.
    pub base: Base,
    /// Byte offset of the word.
    pub offset: u16,
    /// Relevant bits; the first byte of the packet is the most significant.
    pub mask: u32,
    /// Wanted bits; zero outside `mask`.
    pub value: u32,
    /// The outcome if a byte with relevant bits lies beyond the end of the packet.
    pub short: bool,
}

impl Test {
    /// A test that fails on packets too short for it. Bits of `value` outside `mask` are cleared.
    pub fn new(base: Base, offset: u16, mask: u32, value: u32) -> Self {
        Self { base, offset, mask, value: value & mask, short: false }
    }

    /// How many bytes of the word (0 to 4) must be in the packet.
    #[inline]
    pub fn need(&self) -> usize {
        if self.mask == 0 { 0 } else { 4 - self.mask.trailing_zeros() as usize / 8 }
    }

    /// How long the section must be for the test to look at the packet: offset plus needed bytes, or 0
    /// without relevant bits.
    pub fn required_length(&self) -> usize {
        if self.mask == 0 { 0 } else { usize::from(self.offset) + self.need() }
    }

    /// The outcome for one packet.
    pub fn holds(&self, headers: &Headers<'_>) -> bool {
        if self.mask == 0 {
            return true;
        }
        let word = partial_word_at(headers.section(self.base), usize::from(self.offset), self.need());
        word.map_or(self.short, |word| word & self.mask == self.value)
    }
}

/// A truth expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// True or false for every packet.
    Always(bool),
    /// One comparison.
    Test(Test),
    /// The opposite.
    Not(Box<Expr>),
    /// All of them; true if there are none.
    And(Vec<Expr>),
    /// At least one of them; false if there are none.
    Or(Vec<Expr>),
    /// `c1 ? e1 : c2 ? e2 : ... : otherwise`.
    Choice(Vec<(Expr, Expr)>, Box<Expr>),
}

impl Expr {
    /// Whether the packet satisfies the expression, found by evaluating it as it stands.
    pub fn holds(&self, headers: &Headers<'_>) -> bool {
        match self {
            Expr::Always(truth) => *truth,
            Expr::Test(test) => test.holds(headers),
            Expr::Not(inner) => !inner.holds(headers),
            Expr::And(parts) => parts.iter().all(|part| part.holds(headers)),
            Expr::Or(parts) => parts.iter().any(|part| part.holds(headers)),
            Expr::Choice(cases, otherwise) => cases
                .iter()
                .find(|(condition, _)| condition.holds(headers))
                .map_or(otherwise.as_ref(), |(_, result)| result)
                .holds(headers),
        }
    }

    /// The opposite, except that a packet too short for one of the tests still fails: `src port != 5` is not
    /// `not (src port 5)`.
    #[must_use]
    pub(crate) fn negated_if_present(mut self) -> Self {
        self.flip_short();
        Expr::Not(Box::new(self))
    }

    fn flip_short(&mut self) {
        match self {
            Expr::Always(_) => {}
            Expr::Test(test) => test.short = !test.short,
            Expr::Not(inner) => inner.flip_short(),
            Expr::And(parts) | Expr::Or(parts) => parts.iter_mut().for_each(Expr::flip_short),
            Expr::Choice(cases, otherwise) => {
                otherwise.flip_short();
                for (condition, result) in cases {
                    condition.flip_short();
                    result.flip_short();
                }
            }
        }
    }
}

impl From<Test> for Expr {
    fn from(test: Test) -> Self {
        Expr::Test(test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_needs_the_bytes_of_its_mask_only() {
        let test = Test::new(Base::Ether, 1, 0xffff_0000, 0x0203_ffff);
        assert_eq!(test.required_length(), 3);
        assert!(test.holds(&Headers::raw(&[1, 2, 3])));
        assert!(!test.holds(&Headers::raw(&[1, 2])));
    }

    #[test]
    fn the_two_negations_differ_on_short_packets_only() {
        let test = Expr::from(Test::new(Base::Ether, 0, 0xff00_0000, 0x0500_0000));
        let strict = test.clone().negated_if_present();
        let plain = Expr::Not(Box::new(test));
        for (packet, expected) in [(&[5u8][..], (false, false)), (&[6], (true, true)), (&[], (false, true))] {
            let headers = Headers::raw(packet);
            assert_eq!((strict.holds(&headers), plain.holds(&headers)), expected);
        }
    }
}
