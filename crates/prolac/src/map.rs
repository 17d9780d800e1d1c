//! An ordered map whose copies share what they have in common.
//!
//! A module's names and its table of definitions are its parent's with a few more. A copy costs nothing, and a change
//! copies the way from the root to the entry: a tree of heights that differ by one at most (AVL).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// An ordered map; cloning it takes constant time.
#[derive(Clone)]
pub struct Map<K, V> {
    root: Link<K, V>,
}

type Link<K, V> = Option<Arc<Node<K, V>>>;

#[derive(Clone)]
struct Node<K, V> {
    key: K,
    value: V,
    height: u8,
    left: Link<K, V>,
    right: Link<K, V>,
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map { root: None }
    }
}

impl<K, V> Map<K, V> {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// All entries by their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let mut iter = Iter { waiting: Vec::new() };
        iter.descend(&self.root);
        iter
    }
}

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let mut link = &self.root;
        while let Some(node) = link {
            link = match key.cmp(&node.key) {
                Ordering::Less => &node.left,
                Ordering::Greater => &node.right,
                Ordering::Equal => return Some(&node.value),
            };
        }
        None
    }

    /// The value of a key, to change.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.get(key)?;
        let mut link = &mut self.root;
        while let Some(node) = link {
            let node = Arc::make_mut(node);
            link = match key.cmp(&node.key) {
                Ordering::Less => &mut node.left,
                Ordering::Greater => &mut node.right,
                Ordering::Equal => return Some(&mut node.value),
            };
        }
        None
    }

    /// Sets the value of a key; the value before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        insert(&mut self.root, key, value)
    }

    /// Removes a key; its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.get(key)?;
        remove(&mut self.root, key)
    }
}

fn insert<K: Ord + Clone, V: Clone>(link: &mut Link<K, V>, key: K, value: V) -> Option<V> {
    let Some(node) = link else {
        *link = Some(Arc::new(Node { key, value, height: 1, left: None, right: None }));
        return None;
    };
    let node = Arc::make_mut(node);
    let before = match key.cmp(&node.key) {
        Ordering::Less => insert(&mut node.left, key, value),
        Ordering::Greater => insert(&mut node.right, key, value),
        Ordering::Equal => return Some(std::mem::replace(&mut node.value, value)),
    };
    balance(link);
    before
}

/// Removes a key that is there.
fn remove<K: Ord + Clone, V: Clone>(link: &mut Link<K, V>, key: &K) -> Option<V> {
    let node = Arc::make_mut(link.as_mut()?);
    let value = match key.cmp(&node.key) {
        Ordering::Less => remove(&mut node.left, key),
        Ordering::Greater => remove(&mut node.right, key),
        Ordering::Equal => match remove_first(&mut node.right) {
            Some((key, value)) => {
                node.key = key;
                Some(std::mem::replace(&mut node.value, value))
            }
            None => {
                let left = node.left.take();
                return std::mem::replace(link, left).map(|node| node.value.clone());
            }
        },
    };
    balance(link);
    value
}

fn remove_first<K: Clone, V: Clone>(link: &mut Link<K, V>) -> Option<(K, V)> {
    let node = Arc::make_mut(link.as_mut()?);
    if node.left.is_some() {
        let first = remove_first(&mut node.left);
        balance(link);
        return first;
    }
    let right = node.right.take();
    std::mem::replace(link, right).map(|node| (node.key.clone(), node.value.clone()))
}

fn height<K, V>(link: &Link<K, V>) -> u8 {
    link.as_ref().map_or(0, |node| node.height)
}

impl<K, V> Node<K, V> {
    fn measure(&mut self) {
        self.height = 1 + height(&self.left).max(height(&self.right));
    }
}

/// Makes the heights of both sides differ by one at most; they differ by two at most before.
fn balance<K: Clone, V: Clone>(link: &mut Link<K, V>) {
    let Some(node) = link else { return };
    let node = Arc::make_mut(node);
    let (left, right) = (height(&node.left), height(&node.right));
    if left > right + 1 {
        if node.left.as_ref().is_some_and(|l| height(&l.left) < height(&l.right)) {
            rotate_left(&mut node.left);
        }
        rotate_right(link);
    } else if right > left + 1 {
        if node.right.as_ref().is_some_and(|r| height(&r.right) < height(&r.left)) {
            rotate_right(&mut node.right);
        }
        rotate_left(link);
    } else {
        node.measure();
    }
}

/// The left child takes the node's place.
fn rotate_right<K: Clone, V: Clone>(link: &mut Link<K, V>) {
    let Some(mut node) = link.take() else { return };
    let old = Arc::make_mut(&mut node);
    let Some(mut left) = old.left.take() else { return *link = Some(node) };
    let new = Arc::make_mut(&mut left);
    old.left = new.right.take();
    old.measure();
    new.right = Some(node);
    new.measure();
    *link = Some(left);
}

/// The right child takes the node's place.
fn rotate_left<K: Clone, V: Clone>(link: &mut Link<K, V>) {
    let Some(mut node) = link.take() else { return };
    let old = Arc::make_mut(&mut node);
    let Some(mut right) = old.right.take() else { return *link = Some(node) };
    let new = Arc::make_mut(&mut right);
    old.right = new.left.take();
    old.measure();
    new.left = Some(node);
    new.measure();
    *link = Some(right);
}

/// The entries of a [`Map`] by their keys.
pub struct Iter<'m, K, V> {
    /// The nodes whose left side is done, the next one last.
    waiting: Vec<&'m Node<K, V>>,
}

impl<'m, K, V> Iter<'m, K, V> {
    fn descend(&mut self, mut link: &'m Link<K, V>) {
        while let Some(node) = link {
            self.waiting.push(node);
            link = &node.left;
        }
    }
}

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        let node = self.waiting.pop()?;
        self.descend(&node.right);
        Some((&node.key, &node.value))
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use super::{Link, Map, Node, height};

    fn is_balanced(link: &Link<u32, u32>) -> bool {
        link.as_ref().is_none_or(|node| {
            let (left, right) = (height(&node.left), height(&node.right));
            left.abs_diff(right) <= 1
                && node.height == 1 + left.max(right)
                && is_balanced(&node.left)
                && is_balanced(&node.right)
        })
    }

    #[test]
    fn a_map_is_like_another_and_its_copies_stay_what_they_were() {
        let mut random = 1_u64;
        let mut next = |limit: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((random >> 33) % limit) as u32
        };
        let (mut map, mut model) = (Map::default(), BTreeMap::new());
        let mut copies = Vec::new();
        for step in 0..5000 {
            let (key, value) = (next(300), next(1000));
            match next(3) {
                0 => assert_eq!(map.remove(&key), model.remove(&key)),
                1 => assert_eq!(map.get_mut(&key).copied(), model.get(&key).copied()),
                _ => assert_eq!(map.insert(key, value), model.insert(key, value)),
            }
            if let (Some(mine), Some(other)) = (map.get_mut(&key), model.get_mut(&key)) {
                (*mine, *other) = (value + 1, value + 1);
            }
            assert!(is_balanced(&map.root), "step {step}");
            assert_eq!(map.is_empty(), model.is_empty());
            if step % 250 == 0 {
                copies.push((map.clone(), model.clone()));
            }
        }
        copies.push((map, model));
        for (map, model) in copies {
            assert!(map.iter().eq(model.iter()));
        }
    }

    #[test]
    fn copies_share_their_nodes() {
        fn nodes(link: &Link<u32, u32>, all: &mut BTreeSet<*const Node<u32, u32>>) {
            if let Some(node) = link {
                all.insert(Arc::as_ptr(node));
                nodes(&node.left, all);
                nodes(&node.right, all);
            }
        }
        let mut maps = vec![Map::default()];
        for key in 0..1000 {
            let mut child = maps[maps.len() - 1].clone();
            child.insert(key, key);
            maps.push(child);
        }
        let mut all = BTreeSet::new();
        maps.iter().for_each(|map| nodes(&map.root, &mut all));
        assert!(all.len() < 1000 * 14, "{} nodes in 1000 maps of 500 entries on average", all.len());
    }
}
