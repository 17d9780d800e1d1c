//! The different hops of a table, numbered.

use super::Hop;
use super::entry::MAX_HOPS;
use std::collections::HashMap;

/// Hops with their numbers and how many routes use each. Numbers of hops that no route uses are given anew.
#[derive(Clone, Debug, Default)]
pub struct Hops {
    list: Vec<(Hop, u32)>,
    numbers: HashMap<Hop, u32>,
    free: Vec<u32>,
}

impl Hops {
    /// Whether there is no number for another hop.
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.list.len() == MAX_HOPS
    }

    /// The hop of a number in use.
    #[inline]
    pub fn at(&self, number: usize) -> Hop {
        self.list[number].0
    }

    /// The number of a hop in use.
    pub fn number(&self, hop: Hop) -> Option<u32> {
        self.numbers.get(&hop).copied()
    }

    /// The number of a hop, which one more route uses.
    pub fn acquire(&mut self, hop: Hop) -> u32 {
        let number = *self.numbers.entry(hop).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.list.push((hop, 0));
                self.list.len() as u32 - 1
            })
        });
        let (named, users) = &mut self.list[number as usize];
        *named = hop;
        *users += 1;
        number
    }

    /// One route fewer uses the hop.
    pub fn release(&mut self, hop: Hop) {
        let Some(&number) = self.numbers.get(&hop) else { return };
        let users = &mut self.list[number as usize].1;
        *users -= 1;
        if *users == 0 {
            self.numbers.remove(&hop);
            self.free.push(number);
        }
    }
}
