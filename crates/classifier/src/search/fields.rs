//! The fields that rules ask about, found in their tests, and their values in a packet.
//!
//! A field is a run of bits of a word that no test reaches across: two tests of one word whose bits overlap or lie within one
//! another belong to the same field. So `src net 10.0.0.0/8` and `src host 10.0.0.1` ask about one field, source and
//! destination port about two.
//!
//! A field that is missing in a packet has a value too, one above all others, because rules answer differently then: `udp`
//! may hold of a packet that ends before its ports.

use crate::expr::{Expr, Test};
use crate::headers::{Base, Headers, partial_word_at, word_at};
use std::collections::BTreeMap;

/// Fields at most: what an IP filter usually asks about, and one cache line of bounds for a rule.
pub const FIELDS: usize = 8;

/// The values of one packet.
pub type Values = [u32; FIELDS];

/// Some bits of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub base: Base,
    pub offset: u16,
    /// Bits behind it in the word.
    pub shift: u32,
    /// How many bits it has.
    pub width: u32,
    /// So many ones.
    pub bits: u32,
}

impl Field {
    fn new(base: Base, offset: u16, shift: u32, width: u32) -> Field {
        Field { base, offset, shift, width, bits: u32::MAX >> (32 - width) }
    }

    /// Whether the test asks about (bits of) this field.
    pub fn has(&self, test: &Test) -> bool {
        self.base == test.base && self.offset == test.offset && self.bits << self.shift & test.mask != 0
    }

    /// The value that says that the field is not there. There is none for a field of 32 bits.
    pub fn missing(&self) -> Option<u32> {
        1u32.checked_shl(self.width)
    }

    /// The greatest value.
    pub fn last(&self) -> u32 {
        self.missing().unwrap_or(u32::MAX)
    }

    /// The value in a packet; `None` if it is there in part, or if its absence has no value.
    #[inline]
    fn value(&self, headers: &Headers<'_>) -> Option<u32> {
        let section = headers.section_at(self.base as u8);
        match word_at(section, usize::from(self.offset)) {
            Some(word) => Some(word >> self.shift & self.bits),
            None => self.near_the_end(section),
        }
    }

    #[cold]
    fn near_the_end(&self, section: &[u8]) -> Option<u32> {
        let before = (32 - self.shift - self.width) as usize / 8;
        let need = 4 - self.shift as usize / 8;
        let available = section.len().saturating_sub(usize::from(self.offset));
        match partial_word_at(section, usize::from(self.offset), need) {
            Some(word) => Some(word >> self.shift & self.bits),
            None if available <= before => self.missing(),
            None => None,
        }
    }
}

/// Reads the values of the fields; `None` for packets that the search must leave to the diagram. In place, because a
/// processor stalls on copying at once what it has just written in pieces.
#[inline]
pub fn read(fields: &[Field], headers: &Headers<'_>, values: &mut Values) -> Option<()> {
    for (value, field) in values.iter_mut().zip(fields) {
        *value = field.value(headers)?;
    }
    Some(())
}

/// The fields that most rules ask about.
pub fn fields<'a>(rules: impl Iterator<Item = &'a Expr>) -> Vec<Field> {
    let mut masks: BTreeMap<(Base, u16), BTreeMap<u32, usize>> = BTreeMap::new();
    for rule in rules {
        each_test(rule, &mut |test| {
            *masks.entry((test.base, test.offset)).or_default().entry(test.mask).or_default() += 1;
        });
    }
    let mut counted: Vec<(usize, Field)> = Vec::new();
    for ((base, offset), masks) in masks {
        counted.extend(
            runs(&masks).map(|(count, shift, width)| (count, Field::new(base, offset, shift, width))),
        );
    }
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    counted.into_iter().take(FIELDS).map(|(_, field)| field).collect()
}

/// The runs of bits that hang together through masks, as (tests, first bit, bits).
fn runs(masks: &BTreeMap<u32, usize>) -> impl Iterator<Item = (usize, u32, u32)> {
    let mut runs: Vec<(usize, u32)> = Vec::new();
    for (&mask, &count) in masks.iter().filter(|(mask, _)| **mask != 0) {
        let mut run = (count, u32::MAX >> mask.leading_zeros() & u32::MAX << mask.trailing_zeros());
        runs.retain(|other| {
            let joined = other.1 & run.1 != 0;
            if joined {
                run = (run.0 + other.0, run.1 | other.1);
            }
            !joined
        });
        runs.push(run);
    }
    runs.into_iter().map(|(count, bits)| (count, bits.trailing_zeros(), bits.count_ones()))
}

/// Calls `visit` with every test of the expression.
pub fn each_test(expr: &Expr, visit: &mut dyn FnMut(&Test)) {
    match expr {
        Expr::Always(_) => {}
        Expr::Test(test) => visit(test),
        Expr::Not(inner) => each_test(inner, visit),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| each_test(part, visit)),
        Expr::Choice(cases, otherwise) => {
            for (condition, result) in cases {
                each_test(condition, visit);
                each_test(result, visit);
            }
            each_test(otherwise, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(tests: &[Test]) -> Vec<(u16, u32, u32)> {
        let rules: Vec<Expr> = tests.iter().map(|test| (*test).into()).collect();
        let mut places: Vec<_> =
            fields(rules.iter()).iter().map(|field| (field.offset, field.shift, field.width)).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn tests_that_overlap_ask_about_one_field() {
        let test = |offset, mask| Test::new(Base::Network, offset, mask, 0);
        assert_eq!(places(&[test(12, 0xff00_0000), test(12, !0), test(12, 0x00ff_0000)]), [(12, 0, 32)]);
        assert_eq!(
            places(&[test(0, 0xffff), test(0, 0xfc00), test(0, 0xffff_0000)]),
            [(0, 0, 16), (0, 16, 16)]
        );
        assert_eq!(places(&[test(12, 0x0010_0000), test(12, 0x0002_0000)]), [(12, 17, 1), (12, 20, 1)]);
        assert_eq!(places(&[test(4, 0xf00f), test(4, 0x0100)]), [(4, 0, 16)], "holes belong to it");
    }

    #[test]
    fn a_field_is_there_or_missing_or_neither() {
        let field = Field::new(Base::Ether, 4, 8, 16);
        let value = |bytes: &[u8]| field.value(&Headers::raw(bytes));
        assert_eq!(value(&[0, 0, 0, 0, 9, 1, 2, 9]), Some(0x0102));
        assert_eq!(value(&[0, 0, 0, 0, 9, 1, 2]), Some(0x0102), "the rest of the word does not matter");
        assert_eq!(value(&[0, 0, 0, 0, 9, 1]), None);
        assert_eq!((value(&[0, 0, 0, 0, 9]), value(&[])), (Some(0x1_0000), Some(0x1_0000)));
        assert_eq!(Field::new(Base::Ether, 0, 0, 32).value(&Headers::raw(&[])), None);
    }
}
