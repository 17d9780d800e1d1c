//! A compressed multibit trie: the first 16 bits of an address index an array, six more a node, and so on until there is a
//! leaf. A node is two words of 64 bits and two places: which of its 64 slots are nodes, which stand one after the other at
//! one place, and where runs of equal leaves begin, whose entries stand at the other. Counting bits finds either.
//!
//! Not the rules of routes: a stretch of addresses is *painted* by a rule, and says its colour. A change takes apart the
//! nodes on its way and puts them together again, in blocks of memory that are used again by their size.

use super::entry::Entry;
use clickwork_packet::prefetch;

/// Bits that index the array.
const ROOT_BITS: u32 = 16;
/// Bits that index a node.
const STRIDE: u32 = 6;
const SLOTS: usize = 1 << STRIDE;
/// Marks a word of the array that is the place of a node; routes as short as those there have entries without this bit.
const NODE: u32 = 1 << 31;

/// The trie. It is empty at first.
#[derive(Clone, Debug)]
pub struct Trie {
    /// Nodes and leaves by the first bits, as bare words: an array of zeros takes no memory until it is written to.
    root: Vec<u32>,
    nodes: Arena<Node>,
    leaves: Arena<Entry>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Which slots are nodes.
    children: u64,
    /// Which other slots begin a run of equal leaves.
    starts: u64,
    first_child: u32,
    first_leaf: u32,
}

/// What stands for the addresses that share some bits.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Leaf(Entry),
    Node(Node),
}

/// A stretch of addresses: those that share the first `len` bits with `address`.
#[derive(Clone, Copy)]
struct Stretch {
    address: u128,
    len: u32,
}

impl Default for Trie {
    fn default() -> Trie {
        Trie { root: vec![0; 1 << ROOT_BITS], nodes: Arena::default(), leaves: Arena::default() }
    }
}

impl Node {
    /// The place of the node in slot `index`, if there is one.
    #[inline]
    fn child(&self, index: u32) -> Option<usize> {
        let before = self.children & !(u64::MAX << index);
        let is_node = self.children >> index & 1 != 0;
        is_node.then(|| (self.first_child + before.count_ones()) as usize)
    }

    /// The place of the leaf in slot `index`, which is no node.
    #[inline]
    fn leaf(&self, index: u32) -> usize {
        let up_to = self.starts & u64::MAX >> (63 - index);
        (self.first_leaf + up_to.count_ones() - 1) as usize
    }
}

/// The six highest bits.
#[inline]
fn index_of(rest: u128) -> u32 {
    (rest >> (128 - STRIDE)) as u32
}

impl Trie {
    /// The entry of an address.
    #[inline]
    pub fn entry(&self, address: u128) -> Entry {
        let word = self.root[(address >> (128 - ROOT_BITS)) as usize];
        if word & NODE == 0 {
            return Entry::from_bits(word);
        }
        let mut node = &self.nodes.items[(word & !NODE) as usize];
        let mut rest = address << ROOT_BITS;
        while let Some(child) = node.child(index_of(rest)) {
            node = &self.nodes.items[child];
            rest <<= STRIDE;
        }
        self.leaves.items[node.leaf(index_of(rest))]
    }

    /// The entries of several addresses, at most 64. All take a step, then all the next: so the memory for one step of one
    /// address is asked for while the others are at work.
    pub fn entries(&self, addresses: &[u128], entries: &mut [Entry]) {
        addresses.iter().for_each(|a| prefetch::read(&self.root[(a >> (128 - ROOT_BITS)) as usize]));
        // Where each address is: what is left of it, and its node.
        let mut places = [(0u128, 0usize); 64];
        let mut waiting = 0u64;
        for (i, (&address, place)) in addresses.iter().zip(&mut places).enumerate() {
            let word = self.root[(address >> (128 - ROOT_BITS)) as usize];
            if word & NODE == 0 {
                entries[i] = Entry::from_bits(word);
            } else {
                *place = (address << ROOT_BITS, (word & !NODE) as usize);
                prefetch::read(&self.nodes.items[place.1]);
                waiting |= 1 << i;
            }
        }
        let mut leaves = [usize::MAX; 64];
        while waiting != 0 {
            let mut round = waiting;
            while round != 0 {
                let i = round.trailing_zeros() as usize;
                round &= round - 1;
                let (rest, at) = places[i];
                let node = &self.nodes.items[at];
                match node.child(index_of(rest)) {
                    Some(child) => {
                        prefetch::read(&self.nodes.items[child]);
                        places[i] = (rest << STRIDE, child);
                    }
                    None => {
                        leaves[i] = node.leaf(index_of(rest));
                        prefetch::read(&self.leaves.items[leaves[i]]);
                        waiting &= !(1 << i);
                    }
                }
            }
        }
        for (entry, leaf) in entries.iter_mut().zip(leaves).filter(|(_, leaf)| *leaf != usize::MAX) {
            *entry = self.leaves.items[leaf];
        }
    }

    /// Replaces each entry of the addresses that share the first `len` bits, at least one, with `address` by what `rule`
    /// says.
    pub fn paint(&mut self, address: u128, len: u32, rule: impl Fn(Entry) -> Entry + Copy) {
        let stretch = Stretch { address, len };
        let first = (address >> (128 - ROOT_BITS)) as usize;
        for index in first..first + (1 << ROOT_BITS.saturating_sub(len)) {
            let word = self.root[index];
            let slot = match word & NODE {
                0 => Slot::Leaf(Entry::from_bits(word)),
                _ => Slot::Node(self.nodes.items[(word & !NODE) as usize]),
            };
            let painted = self.painted(slot, ROOT_BITS, stretch, rule);
            self.root[index] = match (painted, word & NODE) {
                (Slot::Leaf(entry), 0) => entry.to_bits(),
                (Slot::Leaf(entry), _) => {
                    self.nodes.release(word & !NODE, 1);
                    entry.to_bits()
                }
                (Slot::Node(node), 0) => NODE | self.nodes.allocate(&[node]),
                (Slot::Node(node), _) => {
                    self.nodes.items[(word & !NODE) as usize] = node;
                    word
                }
            };
        }
    }

    /// What becomes of a slot for addresses that share `depth` bits, if the part of them in the stretch is painted.
    fn painted(
        &mut self,
        slot: Slot,
        depth: u32,
        stretch: Stretch,
        rule: impl Fn(Entry) -> Entry + Copy,
    ) -> Slot {
        let is_whole = stretch.len <= depth;
        match slot {
            Slot::Leaf(entry) if is_whole || rule(entry) == entry => Slot::Leaf(rule(entry)),
            Slot::Leaf(entry) => self.repainted([Slot::Leaf(entry); SLOTS], depth, stretch, rule),
            Slot::Node(node) if !is_whole && stretch.len > depth + STRIDE => {
                self.painted_below(node, depth, stretch, rule)
            }
            Slot::Node(node) => {
                let slots = self.take_apart(node);
                self.repainted(slots, depth, stretch, rule)
            }
        }
    }

    /// Paints in a single slot of a node; mostly nothing changes in the node itself.
    fn painted_below(
        &mut self,
        node: Node,
        depth: u32,
        stretch: Stretch,
        rule: impl Fn(Entry) -> Entry + Copy,
    ) -> Slot {
        let index = index_of(stretch.address << depth);
        let place = node.child(index);
        let slot = match place {
            Some(place) => Slot::Node(self.nodes.items[place]),
            None => Slot::Leaf(self.leaves.items[node.leaf(index)]),
        };
        let painted = self.painted(slot, depth + STRIDE, stretch, rule);
        match (place, slot, painted) {
            (Some(place), _, Slot::Node(child)) => {
                self.nodes.items[place] = child;
                Slot::Node(node)
            }
            (None, Slot::Leaf(before), Slot::Leaf(after)) if before == after => Slot::Node(node),
            _ => {
                let mut slots = self.take_apart(node);
                slots[index as usize] = painted;
                self.put_together(&slots)
            }
        }
    }

    /// Paints in all slots of a node that are in the stretch, or have a part of it.
    fn repainted(
        &mut self,
        mut slots: [Slot; SLOTS],
        depth: u32,
        stretch: Stretch,
        rule: impl Fn(Entry) -> Entry + Copy,
    ) -> Slot {
        let range = if stretch.len <= depth {
            0..SLOTS
        } else {
            let first = index_of(stretch.address << depth) as usize;
            first..first + (1 << STRIDE.saturating_sub(stretch.len - depth))
        };
        for slot in &mut slots[range] {
            *slot = self.painted(*slot, depth + STRIDE, stretch, rule);
        }
        self.put_together(&slots)
    }

    /// The slots of a node, whose memory is given back.
    fn take_apart(&mut self, node: Node) -> [Slot; SLOTS] {
        let slots = std::array::from_fn(|index| match node.child(index as u32) {
            Some(child) => Slot::Node(self.nodes.items[child]),
            None => Slot::Leaf(self.leaves.items[node.leaf(index as u32)]),
        });
        self.nodes.release(node.first_child, node.children.count_ones());
        self.leaves.release(node.first_leaf, node.starts.count_ones());
        slots
    }

    /// A node of these slots, or a leaf if they are all the same leaf.
    fn put_together(&mut self, slots: &[Slot; SLOTS]) -> Slot {
        let mut node = Node::default();
        let (mut children, mut leaves) = (Vec::new(), Vec::new());
        for (index, slot) in slots.iter().enumerate() {
            match *slot {
                Slot::Node(child) => {
                    node.children |= 1 << index;
                    children.push(child);
                }
                Slot::Leaf(entry) if leaves.last() != Some(&entry) => {
                    node.starts |= 1 << index;
                    leaves.push(entry);
                }
                Slot::Leaf(_) => {}
            }
        }
        if let ([], [only]) = (&children[..], &leaves[..]) {
            return Slot::Leaf(*only);
        }
        node.first_child = self.nodes.allocate(&children);
        node.first_leaf = self.leaves.allocate(&leaves);
        Slot::Node(node)
    }
}

/// Blocks of up to 64 items in one piece of memory, whose sizes are powers of two.
#[derive(Clone, Debug)]
struct Arena<T> {
    items: Vec<T>,
    /// Blocks to be used again, by the logarithm of their size.
    free: [Vec<u32>; STRIDE as usize + 1],
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena { items: Vec::new(), free: Default::default() }
    }
}

fn class_of(len: u32) -> usize {
    len.next_power_of_two().trailing_zeros() as usize
}

impl<T: Copy + Default> Arena<T> {
    /// The place of a new block with these items; of no meaning if there are none.
    fn allocate(&mut self, items: &[T]) -> u32 {
        if items.is_empty() {
            return 0;
        }
        let class = class_of(items.len() as u32);
        let place = self.free[class].pop().unwrap_or_else(|| {
            let place = self.items.len();
            self.items.resize(place + (1 << class), T::default());
            place as u32
        });
        self.items[place as usize..][..items.len()].copy_from_slice(items);
        place
    }

    fn release(&mut self, place: u32, len: u32) {
        if len > 0 {
            self.free[class_of(len)].push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items in use.
    fn used<T>(arena: &Arena<T>) -> usize {
        let free: usize = arena.free.iter().enumerate().map(|(class, list)| list.len() << class).sum();
        arena.items.len() - free
    }

    #[test]
    fn memory_is_given_back_when_routes_go() {
        let mut trie = Trie::default();
        let address = 0x2001_0db8_0000_0000_0000_0000_0000_0001;
        let (wide, host) = (Entry::route(32, 1), Entry::route(128, 2));
        trie.paint(address, 32, |_| wide);
        let before = (used(&trie.nodes), used(&trie.leaves));
        trie.paint(address, 128, |_| host);
        assert_eq!((trie.entry(address), trie.entry(address ^ 1), trie.entry(0)), (host, wide, Entry::NONE));
        assert!(used(&trie.nodes) > before.0);
        trie.paint(address, 128, |_| wide);
        assert_eq!((used(&trie.nodes), used(&trie.leaves)), before);
        trie.paint(address, 32, |_| Entry::NONE);
        assert_eq!((used(&trie.nodes), used(&trie.leaves)), (0, 0));
    }

    #[test]
    fn a_painted_stretch_ends_where_it_should_at_every_length() {
        for len in 9..=128 {
            let mut trie = Trie::default();
            let address = u128::MAX << (128 - len) & 0x2aaa_aaaa_aaaa_aaaa_aaaa_aaaa_aaaa_aaaa;
            let last = address | u128::MAX.checked_shr(len).unwrap_or(0);
            trie.paint(address, len, |_| Entry::route(len as u8, 7));
            let seen = [address, last, address - 1, last + 1].map(|a| trie.entry(a).specificity());
            assert_eq!(seen, [len + 1, len + 1, 0, 0], "{len}");
            let mut together = [Entry::NONE; 4];
            trie.entries(&[address, last, address - 1, last + 1], &mut together);
            assert_eq!(together.map(Entry::specificity), seen, "{len}");
        }
    }
}
