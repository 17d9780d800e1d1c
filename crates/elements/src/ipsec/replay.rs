//! Which sequence numbers have been received: protection against replay (RFC 4303 §3.4.3), and the upper half of extended
//! sequence numbers (appendix A).
//!
//! Not here: whether a packet is authentic. A number is first checked, and noted only when its packet proved authentic.

/// Bits in a word of the bitmap.
const WORD: u64 = u64::BITS as u64;

/// What a window says of a sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Not received before.
    New,
    /// Received before.
    Before,
    /// Left of the window: it cannot be told.
    TooOld,
}

/// The numbers received lately: up to `size` of them, ending at the greatest.
#[derive(Clone, Debug)]
pub struct Window {
    greatest: u64,
    size: u64,
    /// A bit for each number, at its place modulo the number of bits. One word more than the window needs, so that whole
    /// words can be cleared when it moves (RFC 6479).
    received: Vec<u64>,
}

impl Window {
    /// The window of a receiver that has got nothing: numbers from 1 on are new.
    pub fn new(size: u32) -> Window {
        Window::starting_at(0, size)
    }

    /// The window of a receiver for which the numbers up to `greatest` are not too great, though none was received.
    pub fn starting_at(greatest: u64, size: u32) -> Window {
        let size = u64::from(size);
        Window { greatest, size, received: vec![0; size.div_ceil(WORD) as usize + 1] }
    }

    /// The greatest number received.
    pub fn greatest(&self) -> u64 {
        self.greatest
    }

    /// Whether a number was received.
    pub fn check(&self, number: u64) -> Seen {
        if number > self.greatest {
            Seen::New
        } else if self.greatest - number >= self.size {
            Seen::TooOld
        } else if self.received[self.word(number)] & bit(number) != 0 {
            Seen::Before
        } else {
            Seen::New
        }
    }

    /// Notes that a number was received; the window moves if it is greater than all before.
    pub fn note(&mut self, number: u64) {
        if number > self.greatest {
            let words = (number / WORD - self.greatest / WORD).min(self.received.len() as u64);
            for step in 1..=words {
                let word = self.word(self.greatest.saturating_add(step * WORD));
                self.received[word] = 0;
            }
            self.greatest = number;
        } else if self.greatest - number >= self.size {
            return;
        }
        let word = self.word(number);
        self.received[word] |= bit(number);
    }

    /// Forgets everything but that this number was received.
    pub fn restart(&mut self, number: u64) {
        self.received.fill(0);
        self.greatest = number;
        self.note(number);
    }

    /// The extended number whose lower half is `low`: the one nearest to the window (appendix A2.1).
    pub fn extended(&self, low: u32) -> u64 {
        let (high, top) = ((self.greatest >> 32) as u32, self.greatest as u32);
        let bottom = top.wrapping_sub((self.size as u32).saturating_sub(1));
        let in_one_subspace = u64::from(top) + 1 >= self.size;
        // There are no numbers before the first nor after the last. If the guess is wrong, the packet proves not authentic.
        let high = match (in_one_subspace, low >= bottom) {
            (true, false) => high.saturating_add(1),
            (false, true) => high.saturating_sub(1),
            _ => high,
        };
        u64::from(high) << 32 | u64::from(low)
    }

    /// The same knowledge in a window of another size. What the smaller one could not tell counts as received.
    pub fn resized(&self, size: u32) -> Window {
        let mut new = Window::starting_at(self.greatest, size);
        for back in 0..u64::from(size).min(self.greatest) {
            let number = self.greatest - back;
            if self.check(number) != Seen::New {
                new.note(number);
            }
        }
        new
    }

    fn word(&self, number: u64) -> usize {
        (number / WORD % self.received.len() as u64) as usize
    }
}

fn bit(number: u64) -> u64 {
    1 << (number % WORD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// The definition: a set of all numbers received.
    #[derive(Default)]
    struct Model {
        received: HashSet<u64>,
        greatest: u64,
    }

    impl Model {
        fn check(&self, number: u64, size: u64) -> Seen {
            match number {
                n if n > self.greatest => Seen::New,
                n if self.greatest - n >= size => Seen::TooOld,
                n if self.received.contains(&n) => Seen::Before,
                _ => Seen::New,
            }
        }
    }

    proptest! {
        #[test]
        fn the_bitmap_agrees_with_a_set(
            size in 0u32..300,
            steps in prop::collection::vec(prop_oneof![-300i64..300, -5i64..200, 0i64..5000], 1..200),
        ) {
            let (mut window, mut model) = (Window::new(size), Model::default());
            for step in steps {
                let number = model.greatest.saturating_add_signed(step).max(1);
                let seen = window.check(number);
                prop_assert_eq!(seen, model.check(number, u64::from(size)));
                if seen == Seen::New {
                    window.note(number);
                    model.received.insert(number);
                    model.greatest = model.greatest.max(number);
                }
                prop_assert_eq!(window.greatest(), model.greatest);
            }
        }

        #[test]
        fn extended_numbers_near_the_window_are_found(
            top in (1u64 << 33)..(1 << 40), size in 1u32..5000, distance in -5000i64..(1 << 31)
        ) {
            let mut window = Window::new(size);
            window.note(top);
            let number = top.saturating_add_signed(distance.max(1 - i64::from(size)));
            prop_assert_eq!(window.extended(number as u32), number);
        }
    }

    #[test]
    fn extended_numbers_begin_with_the_first() {
        let window = Window::new(64);
        assert_eq!((window.extended(1), window.extended(u32::MAX)), (1, u64::from(u32::MAX)));
        let mut window = Window::new(64);
        window.note(u64::from(u32::MAX));
        assert_eq!(window.extended(0), 1 << 32);
        window.note(u64::MAX);
        assert_eq!(window.check(window.extended(0)), Seen::TooOld);
    }

    #[test]
    fn a_window_of_another_size_forgets_nothing() {
        let mut old = Window::new(64);
        [1, 5, 70, 80].into_iter().for_each(|n| old.note(n));
        let (larger, smaller) = (old.resized(128), old.resized(32));
        for number in 1..=81 {
            let seen = old.check(number);
            let expected = if seen == Seen::TooOld { Seen::Before } else { seen };
            assert_eq!(larger.check(number), expected, "{number}");
            assert_eq!(smaller.check(number) == Seen::New, seen == Seen::New && number > 48, "{number}");
        }
    }
}
