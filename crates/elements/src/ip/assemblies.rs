//! All packets of which pieces have arrived: found by key, and from the oldest on. Each step takes constant time, however
//! many there are.

use super::reassembly::{Assembly, Key};
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

/// Entries of the line that may be for nothing, beside as many as there are packets.
const SLACK: usize = 64;

/// The packets being reassembled.
#[derive(Default)]
pub struct Assemblies {
    by_key: HashMap<Key, Assembly>,
    /// Number and key, in the order in which they were begun. Some are no longer there.
    line: VecDeque<(u64, Key)>,
    begun: u64,
}

impl Assemblies {
    /// The packet with a key; a new one if there is none, made with its number. Says whether it is new.
    pub fn get_or_begin(&mut self, key: Key, make: impl FnOnce(u64) -> Assembly) -> (&mut Assembly, bool) {
        let mut is_new = false;
        let assembly = self.by_key.entry(key).or_insert_with(|| {
            is_new = true;
            self.begun += 1;
            self.line.push_back((self.begun, key));
            make(self.begun)
        });
        (assembly, is_new)
    }

    /// Takes one out.
    pub fn remove(&mut self, key: &Key) -> Option<Assembly> {
        let assembly = self.by_key.remove(key)?;
        if self.line.len() > 2 * self.by_key.len() + SLACK {
            let by_key = &self.by_key;
            self.line.retain(|(number, key)| is_there(by_key, *number, key));
        }
        Some(assembly)
    }

    /// Takes out the one that was begun first.
    pub fn remove_oldest(&mut self) -> Option<Assembly> {
        while let Some((number, key)) = self.line.pop_front() {
            if is_there(&self.by_key, number, &key) {
                return self.by_key.remove(&key);
            }
        }
        None
    }

    /// Takes out those that pass a test, the oldest first.
    pub fn remove_all(&mut self, mut goes: impl FnMut(&Assembly) -> bool) -> Vec<Assembly> {
        let (by_key, mut gone) = (&mut self.by_key, Vec::new());
        self.line.retain(|(number, key)| {
            if !is_there(by_key, *number, key) {
                return false;
            }
            let leaves = by_key.get(key).is_some_and(&mut goes);
            if leaves {
                gone.extend(by_key.remove(key));
            }
            !leaves
        });
        gone
    }

    /// All in Click's order: by bucket, the newest first.
    pub fn listed(&self) -> Vec<(&Key, &Assembly)> {
        let mut all: Vec<(&Key, &Assembly)> = self.by_key.iter().collect();
        all.sort_by_key(|(key, assembly)| (key.bucket(), Reverse(assembly.number)));
        all
    }
}

fn is_there(by_key: &HashMap<Key, Assembly>, number: u64, key: &Key) -> bool {
    by_key.get(key).is_some_and(|assembly| assembly.number == number)
}
