//! A multibit trie with its routes pushed to the leaves: the first bits of an address index one wide array, eight more
//! index a node, and so on until an entry is no node.
//!
//! With 24 first bits this is DIR-24-8; with 16 it is far smaller and takes one step more.

use super::entry::Entry;
use super::painted::Canvas;
use super::printed::Order;
use super::store::Reuse;
use clickwork_packet::prefetch;

/// Bits per node below the root.
const NODE_BITS: u32 = 8;
const NODE_SIZE: usize = 1 << NODE_BITS;

type Node = [Entry; NODE_SIZE];

/// The trie. `ROOT_BITS` is 16 or 24.
#[derive(Clone, Debug)]
pub struct Multibit<const ROOT_BITS: u32> {
    /// Entries by the first `ROOT_BITS` bits, as bare words: an array of zeros takes no memory until it is written to.
    root: Vec<u32>,
    nodes: Vec<Node>,
    free: Vec<u32>,
}

impl<const ROOT_BITS: u32> Default for Multibit<ROOT_BITS> {
    fn default() -> Self {
        Self { root: vec![0; 1 << ROOT_BITS], nodes: Vec::new(), free: Vec::new() }
    }
}

/// The indexes of the entries that a prefix covers, in an array that is indexed by the address shifted right.
fn covered(address: u32, prefix_len: u32, shift: u32, array_bits: u32) -> std::ops::Range<usize> {
    let first = (address >> shift) as usize & ((1 << array_bits) - 1);
    let free_bits = (32 - prefix_len).saturating_sub(shift);
    first..first + (1 << free_bits)
}

impl<const ROOT_BITS: u32> Canvas for Multibit<ROOT_BITS> {
    const REUSE: Reuse = if ROOT_BITS == 16 { Reuse::Latest } else { Reuse::First };
    const ORDER: Order = if ROOT_BITS == 16 { Order::Places } else { Order::Buckets };

    fn paint(&mut self, address: u32, prefix_len: u8, rule: impl Fn(Entry) -> Entry + Copy) {
        let prefix_len = u32::from(prefix_len);
        let shift = 32 - ROOT_BITS;
        for index in covered(address, prefix_len, shift, ROOT_BITS) {
            let entry = Entry::from_bits(self.root[index]);
            self.root[index] = self.painted(entry, address, prefix_len, shift, rule).to_bits();
        }
    }

    #[inline]
    fn entry(&self, address: u32) -> Entry {
        let mut entry = Entry::from_bits(self.root[(address >> (32 - ROOT_BITS)) as usize]);
        let mut shift = 32 - ROOT_BITS;
        while let Some(node) = entry.as_node() {
            shift -= NODE_BITS;
            entry = self.nodes[node][(address >> shift) as usize % NODE_SIZE];
        }
        entry
    }

    #[inline]
    fn prefetch(&self, address: u32) {
        let root = &self.root[(address >> (32 - ROOT_BITS)) as usize];
        if ROOT_BITS > 16 {
            // Too big for a cache: to read on would be to wait.
            prefetch::read(root);
        } else if let Some(node) = Entry::from_bits(*root).as_node() {
            prefetch::read(&self.nodes[node][(address >> (32 - ROOT_BITS - NODE_BITS)) as usize % NODE_SIZE]);
        }
    }
}

impl<const ROOT_BITS: u32> Multibit<ROOT_BITS> {
    /// What becomes of an entry that stands for all addresses that differ only in the lower `shift` bits, if the part of
    /// them under a prefix is painted.
    fn painted(
        &mut self,
        entry: Entry,
        address: u32,
        prefix_len: u32,
        shift: u32,
        rule: impl Fn(Entry) -> Entry + Copy,
    ) -> Entry {
        let whole = prefix_len <= 32 - shift;
        match entry.as_node() {
            None if whole => rule(entry),
            None if rule(entry) == entry => entry,
            found => {
                let node = found.unwrap_or_else(|| self.new_node(entry));
                self.paint_node(node, address, prefix_len, shift, rule)
            }
        }
    }

    /// Paints the entries of a node, and gives up the node if they have become equal.
    fn paint_node(
        &mut self,
        node: usize,
        address: u32,
        prefix_len: u32,
        shift: u32,
        rule: impl Fn(Entry) -> Entry + Copy,
    ) -> Entry {
        let below = shift - NODE_BITS;
        let whole = prefix_len <= 32 - shift;
        let range = if whole { 0..NODE_SIZE } else { covered(address, prefix_len, below, NODE_BITS) };
        for index in range {
            let entry = self.nodes[node][index];
            self.nodes[node][index] = self.painted(entry, address, prefix_len, below, rule);
        }
        self.node_or_entry(node)
    }

    fn node_or_entry(&mut self, node: usize) -> Entry {
        let entries = &self.nodes[node];
        let first = entries[0];
        if first.as_node().is_some() || entries.iter().any(|&entry| entry != first) {
            return Entry::node(node as u32);
        }
        self.free.push(node as u32);
        first
    }

    fn new_node(&mut self, entry: Entry) -> usize {
        match self.free.pop() {
            Some(node) => {
                self.nodes[node as usize] = [entry; NODE_SIZE];
                node as usize
            }
            None => {
                self.nodes.push([entry; NODE_SIZE]);
                self.nodes.len() - 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_given_back_when_their_routes_go() {
        let mut trie = Multibit::<16>::default();
        let (wide, host) = (Entry::route(16, 1), Entry::route(32, 2));
        trie.paint(0x0A01_0000, 16, |_| wide);
        trie.paint(0x0A01_0203, 32, |_| host);
        assert_eq!((trie.nodes.len(), trie.free.len()), (2, 0));
        assert_eq!((trie.entry(0x0A01_0203), trie.entry(0x0A01_0204)), (host, wide));
        trie.paint(0x0A01_0203, 32, |entry| if entry == host { wide } else { entry });
        assert_eq!((trie.nodes.len(), trie.free.len()), (2, 2));
        assert_eq!(trie.entry(0x0A01_0203), wide);
    }
}
