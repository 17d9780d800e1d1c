//! What is known about a packet on one edge of a decision diagram.
//!
//! Each test taken adds facts: bits that must have a value, values that a word does not have, a length that
//! the packet has at least. [`Facts::decide`] answers a further test from them. Where paths meet,
//! [`Facts::meet`] keeps what holds on both.
//!
//! A packet may be too short for a test, so a fact about bits says only: *if* the first `need` bytes of the
//! word are there, the bits are so. That is sound because a test either sees these bytes or has its fixed
//! outcome for short packets.

use crate::expr::Test;
use crate::headers::Base;

/// Excluded values remembered per word; forgetting some costs a redundant test, never a wrong answer.
const EXCLUSIONS: usize = 48;
/// Words remembered per edge.
const WORDS: usize = 24;

/// Facts about one packet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Facts {
    words: Vec<Word>,
    /// Bytes known to be in each section.
    present: [usize; 3],
}

/// Facts about one word, conditional on its bytes being there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Word {
    base: Base,
    offset: u16,
    /// Known bits, their values, and how many bytes must be there for them to be so.
    mask: u32,
    value: u32,
    need: usize,
    /// `word & mask != value`, each if the bytes of its mask are there.
    excluded: Vec<Test>,
}

impl Facts {
    /// The outcome of `test`, if the facts settle it.
    pub fn decide(&self, test: &Test) -> Option<bool> {
        let word = self.word(test)?;
        let answer = word.decide(test, self.bytes_present(test))?;
        let surely_seen = self.present[test.base as usize] >= test.required_length();
        (surely_seen || answer == test.short).then_some(answer)
    }

    /// Adds what follows from `test` having had this outcome.
    pub fn learn(&mut self, test: &Test, outcome: bool) {
        if outcome != test.short {
            let present = &mut self.present[test.base as usize];
            *present = (*present).max(test.required_length());
        }
        let word = self.word_mut(test);
        if outcome { word.learn_bits(test) } else { word.exclude(test) }
    }

    /// Keeps only what `other` says too.
    pub fn meet(&mut self, other: &Facts) {
        for (mine, theirs) in self.present.iter_mut().zip(other.present) {
            *mine = (*mine).min(theirs);
        }
        self.words.retain_mut(|word| {
            let theirs = other.words.iter().find(|w| w.base == word.base && w.offset == word.offset);
            theirs.is_some_and(|theirs| {
                word.meet(theirs);
                word.mask != 0 || !word.excluded.is_empty()
            })
        });
    }

    /// Forgets the words that are not among these.
    pub fn keep_only(&mut self, words: &[(Base, u16)]) {
        self.words.retain(|word| words.contains(&(word.base, word.offset)));
    }

    /// How many bytes of the test's word are known to be there.
    fn bytes_present(&self, test: &Test) -> usize {
        self.present[test.base as usize].saturating_sub(usize::from(test.offset))
    }

    fn word(&self, test: &Test) -> Option<&Word> {
        self.words.iter().find(|word| word.base == test.base && word.offset == test.offset)
    }

    fn word_mut(&mut self, test: &Test) -> &mut Word {
        let known = self.words.iter().position(|word| word.base == test.base && word.offset == test.offset);
        let index = known.unwrap_or_else(|| {
            if self.words.len() == WORDS {
                self.words.remove(0);
            }
            self.words.push(Word::unknown(test));
            self.words.len() - 1
        });
        &mut self.words[index]
    }
}

impl Word {
    fn unknown(test: &Test) -> Self {
        Self { base: test.base, offset: test.offset, mask: 0, value: 0, need: 0, excluded: Vec::new() }
    }

    /// Whether the bits of `test` match, in a packet that has all bytes `test` needs and at least `present`
    /// bytes of the word.
    fn decide(&self, test: &Test, present: usize) -> Option<bool> {
        let seen = test.need().max(present);
        let (mask, value) = if self.need <= seen { (self.mask, self.value) } else { (0, 0) };
        if mask & test.mask & (value ^ test.value) != 0 {
            return Some(false);
        }
        if test.mask & !mask == 0 {
            return Some(true);
        }
        let (mask, value) = (mask | test.mask, value | test.value);
        let ruled_out =
            |not: &Test| not.need() <= seen && not.mask & !mask == 0 && value & not.mask == not.value;
        self.excluded.iter().any(ruled_out).then_some(false)
    }

    fn learn_bits(&mut self, test: &Test) {
        self.mask |= test.mask;
        self.value = (self.value & !test.mask) | test.value;
        self.need = self.need.max(test.need());
        for not in std::mem::take(&mut self.excluded) {
            self.exclude(&not);
        }
    }

    /// Adds `word & mask != value`; if one bit of it is open, that bit is now known.
    fn exclude(&mut self, not: &Test) {
        if self.mask & not.mask & (self.value ^ not.value) != 0 && self.need <= not.need() {
            return;
        }
        let agrees = self.mask & not.mask & (self.value ^ not.value) == 0;
        let open = not.mask & !self.mask;
        if agrees && open.is_power_of_two() {
            self.mask |= open;
            self.value |= !not.value & open;
            self.need = self.need.max(not.need());
            return;
        }
        if self.excluded.len() == EXCLUSIONS {
            self.excluded.remove(0);
        }
        self.excluded.push(*not);
    }

    fn meet(&mut self, other: &Word) {
        let mut excluded: Vec<Test> =
            self.excluded.iter().filter(|not| other.decide(not, 0) == Some(false)).copied().collect();
        let theirs = other.excluded.iter().filter(|not| self.decide(not, 0) == Some(false));
        for not in theirs {
            if !excluded.contains(not) && excluded.len() < EXCLUSIONS {
                excluded.push(*not);
            }
        }
        self.mask &= other.mask & !(self.value ^ other.value);
        self.value &= self.mask;
        self.need = self.need.max(other.need);
        self.excluded = excluded;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(mask: u32, value: u32) -> Test {
        Test::new(Base::Network, 8, mask << 16, value << 16)
    }

    #[test]
    fn a_value_settles_other_values() {
        let mut facts = Facts::default();
        facts.learn(&byte(0xff, 6), true);
        assert_eq!(facts.decide(&byte(0xff, 6)), Some(true));
        assert_eq!(facts.decide(&byte(0xff, 17)), Some(false));
        assert_eq!(facts.decide(&byte(0x02, 2)), Some(true));
        assert_eq!(facts.decide(&Test::new(Base::Network, 8, !0, 0)), Some(false));
        assert_eq!(facts.decide(&Test::new(Base::Network, 8, !0, 6 << 16)), None);
    }

    #[test]
    fn a_failed_test_settles_its_repetition_and_narrower_ones() {
        let mut facts = Facts::default();
        facts.learn(&byte(0xf0, 0x40), false);
        assert_eq!(facts.decide(&byte(0xf0, 0x40)), Some(false));
        assert_eq!(facts.decide(&byte(0xff, 0x45)), Some(false));
        assert_eq!(facts.decide(&byte(0xff, 0x55)), None);
    }

    #[test]
    fn a_failed_single_bit_is_known_only_if_the_byte_is_there() {
        let mut facts = Facts::default();
        facts.learn(&byte(0x02, 2), false);
        assert_eq!(facts.decide(&byte(0x02, 0)), None, "a short packet fails both");
        facts.learn(&Test::new(Base::Network, 16, !0, 7), true);
        assert_eq!(facts.decide(&byte(0x02, 0)), Some(true), "now the packet is long enough");
    }

    #[test]
    fn a_meeting_keeps_what_both_say() {
        let mut left = Facts::default();
        left.learn(&byte(0xff, 6), true);
        let mut right = Facts::default();
        right.learn(&byte(0xff, 17), true);
        left.meet(&right);
        assert_eq!(left.decide(&byte(0xff, 6)), None);
        assert_eq!(left.decide(&byte(0xff, 8)), Some(false), "6 and 17 share the clear bit 3");
        assert_eq!(left.decide(&byte(0x08, 0)), Some(true));
    }

    #[test]
    fn a_match_of_a_test_true_of_short_packets_says_nothing_of_shorter_ones() {
        let mut facts = Facts::default();
        let two_bytes = Test { short: true, ..Test::new(Base::Network, 0, 0xffff_0000, 0x4500_0000) };
        facts.learn(&two_bytes, true);
        assert_eq!(facts.decide(&Test::new(Base::Network, 0, 0xff00_0000, 0x4500_0000)), None);
        assert_eq!(facts.decide(&two_bytes), Some(true));
    }
}
