//! How the data of packets lie in memory: so many bytes behind a multiple of a power of two.

/// What is known about the addresses at which packets begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alignment {
    /// No packets come here, so whatever is said about them is true.
    Nothing,
    /// Packets begin `offset` bytes behind a multiple of `modulus`; with modulus 1, anywhere.
    At {
        /// A power of two.
        modulus: u32,
        /// Below the modulus.
        offset: u32,
    },
}

impl Alignment {
    /// Nothing is known, or nothing is asked for.
    pub const ANY: Alignment = Alignment::at(1, 0);

    /// The alignment of given modulus, a power of two, and offset, which is below it.
    pub const fn at(modulus: u32, offset: u32) -> Alignment {
        Alignment::At { modulus, offset }
    }

    /// As [`Alignment::at`], of numbers that may not be right.
    pub fn checked(modulus: u32, offset: u32) -> Option<Alignment> {
        (modulus.is_power_of_two() && offset < modulus).then_some(Alignment::at(modulus, offset))
    }

    /// The modulus; 1 if there are no packets.
    pub fn modulus(self) -> u32 {
        match self {
            Alignment::Nothing => 1,
            Alignment::At { modulus, .. } => modulus,
        }
    }

    /// The offset; 0 if there are no packets.
    pub fn offset(self) -> u32 {
        match self {
            Alignment::Nothing => 0,
            Alignment::At { offset, .. } => offset,
        }
    }

    /// What packets have after a move by some bytes, towards the end of the buffer if positive.
    pub fn moved(self, bytes: i64) -> Alignment {
        match self {
            Alignment::Nothing => Alignment::Nothing,
            Alignment::At { modulus, offset } => {
                let offset = (i64::from(offset) + bytes).rem_euclid(i64::from(modulus));
                Alignment::at(modulus, offset as u32)
            }
        }
    }

    /// What packets have after a move by an unknown multiple of `step`, a power of two.
    pub fn coarse(self, step: u32) -> Alignment {
        match self {
            Alignment::Nothing => Alignment::Nothing,
            Alignment::At { modulus, offset } => {
                let modulus = modulus.min(step);
                Alignment::at(modulus, offset % modulus)
            }
        }
    }

    /// What is true of packets of which some have one alignment and some the other.
    pub fn or(self, other: Alignment) -> Alignment {
        match (self, other) {
            (Alignment::Nothing, a) | (a, Alignment::Nothing) => a,
            (Alignment::At { modulus: m, offset: a }, Alignment::At { modulus: n, offset: b }) => {
                let apart = a.abs_diff(b);
                let common = if apart == 0 { u32::MAX } else { 1 << apart.trailing_zeros() };
                let modulus = m.min(n).min(common);
                Alignment::at(modulus, a % modulus)
            }
        }
    }

    /// What packets must have that both say; nothing if they contradict each other.
    pub fn and(self, other: Alignment) -> Option<Alignment> {
        match (self.satisfies(other), other.satisfies(self)) {
            (true, _) => Some(self),
            (_, true) => Some(other),
            _ => None,
        }
    }

    /// Whether packets with this alignment have the other one as well.
    pub fn satisfies(self, wanted: Alignment) -> bool {
        match (self, wanted) {
            (Alignment::Nothing, _) => true,
            (_, Alignment::Nothing) => false,
            (Alignment::At { modulus, offset }, Alignment::At { modulus: step, offset: at }) => {
                modulus % step == 0 && offset % step == at
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether a packet that begins at an address is among those meant.
    fn holds(alignment: Alignment, address: u32) -> bool {
        matches!(alignment, Alignment::At { modulus, offset } if address % modulus == offset)
    }

    fn any() -> impl Strategy<Value = Alignment> {
        let at =
            (0u32..5, 0u32..16).prop_map(|(bits, offset)| Alignment::at(1 << bits, offset % (1 << bits)));
        prop_oneof![9 => at, 1 => Just(Alignment::Nothing)]
    }

    proptest! {
        #[test]
        fn every_operation_is_about_sets_of_addresses(a in any(), b in any(), bytes in -40i64..40, bits in 0u32..5) {
            let all = |test: &dyn Fn(u32) -> bool| (64..128).all(test);
            prop_assert_eq!(a.satisfies(b), all(&|x| !holds(a, x) || holds(b, x)));
            prop_assert!(all(&|x| !(holds(a, x) || holds(b, x)) || holds(a.or(b), x)));
            prop_assert!(all(&|x| (holds(a, x) && holds(b, x)) == a.and(b).is_some_and(|both| holds(both, x))));
            prop_assert!(all(&|x| holds(a, x) == holds(a.moved(bytes), x.wrapping_add_signed(bytes as i32))));
            let step = 1 << bits;
            prop_assert!(all(&|x| !holds(a, x) || holds(a.coarse(step), x + step) && holds(a.coarse(step), x + 3 * step)));
            // No stronger statement is true of both.
            let or = a.or(b);
            let finer = [0, or.modulus()].map(|more| Alignment::at(2 * or.modulus(), or.offset() + more));
            prop_assert!(or == Alignment::Nothing || finer.iter().all(|&f| !a.satisfies(f) || !b.satisfies(f)));
        }
    }

    #[test]
    fn wrong_numbers_are_refused() {
        assert_eq!(Alignment::checked(4, 2), Some(Alignment::at(4, 2)));
        assert_eq!([(3, 0), (0, 0), (4, 4)].map(|(m, o)| Alignment::checked(m, o)), [None; 3]);
    }
}
