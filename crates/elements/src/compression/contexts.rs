//! Which context a packet stream has: a bounded table, in which a new stream takes the place of the one unused longest.

use super::headers::Stream;
use std::collections::HashMap;

/// Contexts numbered from 0, with the streams they serve.
pub struct Contexts<T> {
    by_stream: HashMap<Stream, u8>,
    slots: Vec<Slot<T>>,
    /// The slots used last and longest ago.
    newest: u8,
    oldest: u8,
}

struct Slot<T> {
    stream: Option<Stream>,
    value: T,
    newer: u8,
    older: u8,
}

impl<T: Default> Contexts<T> {
    /// Contexts 0 to `last`.
    pub fn new(last: u8) -> Contexts<T> {
        let slot = |n: u8| Slot {
            stream: None,
            value: T::default(),
            newer: n.saturating_sub(1),
            older: n.saturating_add(1).min(last),
        };
        Contexts { by_stream: HashMap::new(), slots: (0..=last).map(slot).collect(), newest: 0, oldest: last }
    }

    /// The context of a stream, and whether it is new to it.
    pub fn of(&mut self, stream: Stream) -> (u8, bool, &mut T) {
        let (number, is_new) = match self.by_stream.get(&stream) {
            Some(&number) => (number, false),
            None => {
                let number = self.oldest;
                let before = self.slots[usize::from(number)].stream.replace(stream);
                before.map(|s| self.by_stream.remove(&s));
                self.by_stream.insert(stream, number);
                (number, true)
            }
        };
        self.touch(number);
        (number, is_new, &mut self.slots[usize::from(number)].value)
    }

    /// A context by number.
    pub fn get_mut(&mut self, number: u8) -> Option<&mut T> {
        self.slots.get_mut(usize::from(number)).map(|slot| &mut slot.value)
    }

    /// How many contexts serve a stream.
    pub fn len(&self) -> usize {
        self.by_stream.len()
    }

    /// Makes a slot the one used last.
    fn touch(&mut self, number: u8) {
        if number == self.newest {
            return;
        }
        let (newer, older) = (self.slots[usize::from(number)].newer, self.slots[usize::from(number)].older);
        self.slots[usize::from(newer)].older = older;
        if number == self.oldest {
            self.oldest = newer;
        } else {
            self.slots[usize::from(older)].newer = newer;
        }
        self.slots[usize::from(number)].older = self.newest;
        self.slots[usize::from(self.newest)].newer = number;
        self.newest = number;
    }
}

#[cfg(test)]
mod tests {
    use super::super::headers::Chain;
    use super::*;
    use crate::ip::samples::ip;

    fn stream(n: u8) -> Stream {
        let bytes = ip("10.0.0.1", &format!("10.0.0.{n}")).payload(1, b"").bytes();
        Stream::of(&bytes, Chain::of(&bytes).unwrap())
    }

    #[test]
    fn a_new_stream_takes_the_place_unused_longest() {
        for last in [0, 1, 3, 255] {
            let mut contexts = Contexts::<u8>::new(last);
            let places = u32::from(last) + 1;
            // A list in which the used one is moved to the front is the definition.
            let mut model: Vec<u8> = Vec::new();
            for step in 0..2000u32 {
                let n = (step.wrapping_mul(2_654_435_761) >> 16) as u8 % 9 + (step / 300) as u8;
                let is_new = !model.contains(&n);
                model.retain(|&other| other != n);
                model.insert(0, n);
                model.truncate(places as usize);
                let (number, new, value) = contexts.of(stream(n));
                assert_eq!(new, is_new, "step {step}");
                assert!(new || *value == n);
                *value = n;
                assert!(u32::from(number) < places && contexts.len() == model.len());
            }
        }
    }
}
