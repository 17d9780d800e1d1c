//! Address ranges in sorted lists, found by binary search: the least memory for many routes.
//!
//! The first 16 bits of an address choose a list, so that lists, and changes of them, stay short.

use super::entry::Entry;
use super::painted::Canvas;
use super::printed::Order;
use clickwork_packet::prefetch;

const LIST_BITS: u32 = 16;

/// From `start` up to the start of the next range in the list, or the list's end.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u16,
    entry: Entry,
}

/// For each value of the first 16 bits, the ranges of the last 16, by start. The first starts at 0, neighbours differ, and
/// an empty list means one range without a route.
#[derive(Clone, Debug)]
pub struct Ranges {
    lists: Vec<Vec<Range>>,
}

impl Default for Ranges {
    fn default() -> Self {
        Self { lists: vec![Vec::new(); 1 << LIST_BITS] }
    }
}

impl Canvas for Ranges {
    const ORDER: Order = Order::Buckets;

    fn paint(&mut self, address: u32, prefix_len: u8, rule: impl Fn(Entry) -> Entry + Copy) {
        let host_bits = 32 - u32::from(prefix_len);
        let first = (address >> LIST_BITS) as usize;
        let (lists, last) = match host_bits.checked_sub(LIST_BITS) {
            Some(bits) => (1 << bits, u16::MAX),
            None => (1, address as u16 | ((1u32 << host_bits) - 1) as u16),
        };
        for list in &mut self.lists[first..first + lists] {
            paint_list(list, address as u16, last, rule);
        }
    }

    #[inline]
    fn entry(&self, address: u32) -> Entry {
        let list = &self.lists[(address >> LIST_BITS) as usize];
        let after = list.partition_point(|range| range.start <= address as u16);
        if after == 0 { Entry::NONE } else { list[after - 1].entry }
    }

    #[inline]
    fn prefetch(&self, address: u32) {
        let list = &self.lists[(address >> LIST_BITS) as usize];
        if let Some(middle) = list.get(list.len() / 2) {
            prefetch::read(middle);
        }
    }
}

/// Paints the ranges from `first` to `last`, both included, splitting those at the ends.
fn paint_list(list: &mut Vec<Range>, first: u16, last: u16, rule: impl Fn(Entry) -> Entry) {
    if list.is_empty() {
        list.push(Range { start: 0, entry: Entry::NONE });
    }
    let from = split(list, first);
    let to = last.checked_add(1).map_or(list.len(), |next| split(list, next));
    list[from..to].iter_mut().for_each(|range| range.entry = rule(range.entry));
    join(list, from.saturating_sub(1), to);
    if matches!(list[..], [Range { entry: Entry::NONE, .. }]) {
        *list = Vec::new();
    }
}

/// Makes a range start at `start`, and returns its place. The list is not empty.
fn split(list: &mut Vec<Range>, start: u16) -> usize {
    let place = list.partition_point(|range| range.start < start);
    if list.get(place).is_none_or(|range| range.start != start) {
        list.insert(place, Range { start, entry: list[place - 1].entry });
    }
    place
}

/// Joins equal neighbours in the places `from..=to`.
fn join(list: &mut Vec<Range>, from: usize, to: usize) {
    let to = to.min(list.len() - 1);
    let mut kept = from;
    for place in from + 1..=to {
        if list[place].entry != list[kept].entry {
            kept += 1;
            list[kept] = list[place];
        }
    }
    if kept < to {
        list.drain(kept + 1..=to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_range_and_lists_vanish_with_their_routes() {
        let mut ranges = Ranges::default();
        let entry = Entry::route(24, 1);
        for third in [2u32, 4, 3] {
            ranges.paint(0x0A01_0000 | third << 8, 24, |_| entry);
        }
        assert_eq!(ranges.lists[0x0A01].len(), 3);
        assert_eq!(ranges.entry(0x0A01_03FF), entry);
        assert_eq!(ranges.entry(0x0A01_0500), Entry::NONE);
        ranges.paint(0x0A01_0000, 16, |_| Entry::NONE);
        assert_eq!(ranges.lists[0x0A01].capacity(), 0);
    }
}
