//! Consistent hashing of source addresses to servers, with the numbers and the tree of Click's SourceIPHashMapper, so that
//! an address gets the same server here and there.
//!
//! Each server has many random points on a line; an address belongs to the server of the next point. When a server is
//! added or goes, most addresses stay where they were.

use clickwork_packet::addr::Ipv4Address;

/// A point of a server.
#[derive(Clone, Copy, Default)]
struct Point {
    at: i32,
    server: usize,
}

/// The points of all servers, as a search tree laid out by levels.
pub struct ServerHash {
    tree: Vec<Point>,
}

/// The additive feedback generator of the C library (`random`), seeded as `srandom` seeds it.
struct Feedback {
    state: [u32; 31],
    at: usize,
}

impl Feedback {
    fn new(seed: u32) -> Feedback {
        let mut state = [0u32; 31];
        let mut word = if seed == 0 { 1 } else { seed as i32 };
        for value in &mut state {
            *value = word as u32;
            // 16807 * word mod 2^31-1 without overflow, as the library computes it (Park and Miller 1988).
            word = 16_807i32.wrapping_mul(word % 127_773).wrapping_sub(2836i32.wrapping_mul(word / 127_773));
            if word < 0 {
                word = word.wrapping_add(i32::MAX);
            }
        }
        let mut feedback = Feedback { state, at: 0 };
        for _ in 0..310 {
            feedback.next();
        }
        feedback
    }

    fn next(&mut self) -> i32 {
        let front = (self.at + 3) % 31;
        self.state[front] = self.state[front].wrapping_add(self.state[self.at]);
        self.at = (self.at + 1) % 31;
        (self.state[front] >> 1) as i32
    }
}

impl ServerHash {
    /// A hash for servers with these numbers, each with so many points.
    pub fn new(servers: &[u16], points: usize, seed: u32) -> ServerHash {
        let mut random = Feedback::new(seed);
        let last = servers.iter().max().copied().unwrap_or(0);
        let (mut all, mut known) = (Vec::new(), 0);
        for number in 0..=last {
            // Numbers that are not used have points too, so that those of the others stay where they are.
            let points: Vec<i32> = (0..points).map(|_| random.next()).collect();
            if servers.contains(&number) {
                all.extend(points.into_iter().map(|at| Point { at, server: known }));
                known += 1;
            }
        }
        all.sort_by_key(|point| point.at);
        ServerHash { tree: by_levels(&all) }
    }

    /// The key of an address, and its server, counted from 0 in the order of the servers' numbers.
    pub fn choose(&self, address: Ipv4Address) -> (u32, usize) {
        let word = u32::from_le_bytes(address.octets());
        // The first number of the address counts twice, so that neighbours go apart.
        let key = word.wrapping_mul(((word & 0xFF) << 24) | 1) % i32::MAX as u32;
        (key, self.search(key as i32))
    }

    fn search(&self, key: i32) -> usize {
        let (mut i, mut found) = (0, None);
        while let Some(point) = self.tree.get(i) {
            if key == point.at {
                return point.server;
            } else if key > point.at {
                i = 2 * i + 2;
            } else {
                found = Some(point);
                i = 2 * i + 1;
            }
        }
        found.or(self.tree.first()).map_or(0, |point| point.server)
    }
}

/// Sorted points as a complete search tree: the children of number i are 2i+1 and 2i+2.
fn by_levels(sorted: &[Point]) -> Vec<Point> {
    let size = sorted.len();
    let mut tree = vec![Point::default(); size];
    let mut next = sorted.iter();
    // In order, without recursion: down to the left as far as it goes, then up to the first right turn.
    let mut path = Vec::new();
    let mut i = 0;
    while i < size || !path.is_empty() {
        while i < size {
            path.push(i);
            i = 2 * i + 1;
        }
        let Some(node) = path.pop() else { break };
        tree[node] = next.next().copied().unwrap_or_default();
        i = 2 * node + 2;
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_that_of_the_c_library() {
        for seed in [1u32, 42, 0x8000_0001] {
            let mut ours = Feedback::new(seed);
            // Documented values of `random` for seed 1; the others are compared with the definition r[i] = r[i-3] + r[i-31].
            if seed == 1 {
                let first: Vec<i32> = (0..4).map(|_| ours.next()).collect();
                assert_eq!(first, [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915]);
            }
            assert!((0..1000).all(|_| ours.next() >= 0));
        }
    }

    #[test]
    fn an_address_belongs_to_the_next_point() {
        for points in [1, 2, 3, 7, 30, 100] {
            let hash = ServerHash::new(&[0, 3, 5], points, 7);
            let mut sorted = hash.tree.clone();
            sorted.sort_by_key(|p| p.at);
            for key in (0..i32::MAX).step_by(9_999_991) {
                let expected = sorted.iter().find(|p| p.at >= key).unwrap_or(&hash.tree[0]).server;
                assert_eq!(hash.search(key), expected);
            }
        }
    }

    #[test]
    fn few_addresses_move_when_a_server_goes() {
        let (all, fewer) = (ServerHash::new(&[0, 1, 2, 3], 200, 1), ServerHash::new(&[0, 1, 2], 200, 1));
        let addresses = (0..20_000u32).map(|n| Ipv4Address::from_bits(0x0A00_0000 + n * 7919));
        let (mut moved, mut counts) = (0, [0; 4]);
        for address in addresses {
            let (_, before) = all.choose(address);
            counts[before] += 1;
            moved += u32::from(before < 3 && fewer.choose(address).1 != before);
        }
        assert!(moved < 400, "{moved}");
        assert!(counts.iter().all(|c| (2000..9000).contains(c)), "{counts:?}");
    }
}
