//! Changes of TCP sequence numbers, for connections whose payload an element makes longer or shorter.
//!
//! Each direction has a list of points: from this sequence number on, so much is added. Sequence numbers of a direction are
//! shifted by what holds at their place, acknowledgements in the other direction are shifted back, those in SACK options
//! too (RFC 2018 §3).

use clickwork_packet::checksum;
use clickwork_packet::headers::tcp::option;

/// Points of one direction that are remembered; older ones are of segments long acknowledged.
const MOST_POINTS: usize = 64;
/// Points this far behind are forgotten, before sequence numbers wrap.
const FAR: u32 = 1 << 30;

/// Whether sequence number `a` is at or after `b` (RFC 9293 §3.4).
fn at_or_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 >= 0
}

/// The changes of one direction.
#[derive(Clone, Default, Debug)]
struct Shifts {
    /// What is added before the first point.
    base: i32,
    /// Sequence numbers, ascending, with what is added from there on.
    points: Vec<(u32, i32)>,
}

impl Shifts {
    fn last(&self) -> i32 {
        self.points.last().map_or(self.base, |(_, shift)| *shift)
    }

    fn changes(&self) -> bool {
        self.base != 0 || !self.points.is_empty()
    }

    /// Adds a point where `change` more is added than before it; the last point may be given again.
    fn add(&mut self, from: u32, change: i32) -> bool {
        if self.points.last().is_some_and(|(last, _)| !at_or_after(from, *last)) {
            return false;
        }
        if self.points.last().is_some_and(|(last, _)| *last == from) {
            self.points.pop();
        }
        let shift = self.last().wrapping_add(change);
        self.points.push((from, shift));
        if self.points.len() > MOST_POINTS {
            self.base = self.points.remove(0).1;
        }
        true
    }

    /// Forgets the points if a segment is far beyond them.
    fn age(&mut self, sequence: u32) {
        if self.points.last().is_some_and(|(last, _)| at_or_after(sequence, last.wrapping_add(FAR))) {
            self.base = self.last();
            self.points.clear();
        }
    }

    fn shifted(&self, sequence: u32) -> u32 {
        let point = self.points.iter().rev().find(|(from, _)| at_or_after(sequence, *from));
        sequence.wrapping_add_signed(point.map_or(self.base, |(_, shift)| *shift))
    }

    /// What was shifted to `acknowledged`.
    fn shifted_back(&self, acknowledged: u32) -> u32 {
        let before = |shift: i32| acknowledged.wrapping_sub(shift as u32);
        let point = self.points.iter().rev().find(|(from, shift)| at_or_after(before(*shift), *from));
        before(point.map_or(self.base, |(_, shift)| *shift))
    }
}

/// The changes of a connection.
#[derive(Clone, Default, Debug)]
pub struct Sequences([Shifts; 2]);

impl Sequences {
    /// Shifts sequence numbers of a direction from `from` on by `change` more than before. False if `from` is before a
    /// point that is known.
    pub fn add(&mut self, direction: usize, from: u32, change: i32) -> bool {
        self.0[direction].add(from, change)
    }

    /// What is added to the newest sequence numbers of a direction.
    pub fn shift(&self, direction: usize) -> i32 {
        self.0[direction].last()
    }

    /// Changes the header of a segment; `tcp` is what there is of it, with its options, at least 18 bytes.
    pub fn apply(&mut self, direction: usize, tcp: &mut [u8]) {
        let sequence = read(tcp, 4);
        self.0[direction].age(sequence);
        if self.0[direction].changes() {
            replace(tcp, 4, self.0[direction].shifted(sequence));
        }
        let back = &self.0[1 - direction];
        if back.changes() {
            let acknowledged = read(tcp, 8);
            replace(tcp, 8, back.shifted_back(acknowledged));
            change_sack(tcp, |edge| back.shifted_back(edge));
        }
    }
}

fn read(tcp: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]])
}

fn checksum_of(tcp: &[u8]) -> u16 {
    u16::from_be_bytes([tcp[16], tcp[17]])
}

fn set_checksum(tcp: &mut [u8], checksum: u16) {
    tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
}

/// Replaces a number at an even place, and updates the checksum.
fn replace(tcp: &mut [u8], at: usize, new: u32) {
    let checksum = checksum::update_u32(checksum_of(tcp), read(tcp, at), new);
    tcp[at..at + 4].copy_from_slice(&new.to_be_bytes());
    set_checksum(tcp, checksum);
}

/// Changes the edges of the blocks in SACK options.
fn change_sack(tcp: &mut [u8], change: impl Fn(u32) -> u32) {
    let end = usize::from(tcp[12] >> 4) * 4;
    let old: Vec<u8> = tcp.get(20..end).unwrap_or_default().to_vec();
    let mut at = 20;
    while let [kind, rest @ ..] = tcp.get(at..end).unwrap_or_default() {
        let length = match (*kind, rest.first()) {
            (0, _) => break,
            (1, _) => 1,
            (_, Some(&length)) if length >= 2 && at + usize::from(length) <= end => usize::from(length),
            _ => break,
        };
        if *kind == option::SACK && length % 8 == 2 {
            for edge in (at + 2..at + length).step_by(4) {
                let new = change(read(tcp, edge));
                tcp[edge..edge + 4].copy_from_slice(&new.to_be_bytes());
            }
        }
        at += length;
    }
    // The options are whole words, wherever in them the edges are.
    let words =
        |bytes: &[u8]| bytes.chunks_exact(2).map(|w| u16::from_be_bytes([w[0], w[1]])).collect::<Vec<_>>();
    let new = words(tcp.get(20..end).unwrap_or_default());
    let checksum = words(&old)
        .into_iter()
        .zip(new)
        .filter(|(old, new)| old != new)
        .fold(checksum_of(tcp), |checksum, (old, new)| checksum::update(checksum, old, new));
    set_checksum(tcp, checksum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_packet::checksum::Sum;

    /// A header with a right checksum (without pseudo-header).
    fn header(sequence: u32, acknowledged: u32, options: &[u8]) -> Vec<u8> {
        let mut tcp = [&[0, 1, 0, 2][..], &sequence.to_be_bytes(), &acknowledged.to_be_bytes()].concat();
        tcp.extend([(5 + options.len() as u8 / 4) << 4, 0x10, 9, 9, 0, 0, 0, 0]);
        tcp.extend(options);
        let sum = Sum::new().bytes(&tcp).finish();
        set_checksum(&mut tcp, sum);
        tcp
    }

    #[test]
    fn numbers_are_shifted_from_their_points_on_and_back_again() {
        let mut s = Sequences::default();
        assert!(s.add(0, 1000, 5) && s.add(0, 2000, -2));
        assert!(!s.add(0, 1500, 1));
        for (sequence, shifted) in [(999, 999), (1000, 1005), (1997, 2002), (2000, 2003), (9000, 9003)] {
            let mut tcp = header(sequence, 7, &[]);
            s.apply(0, &mut tcp);
            assert_eq!((read(&tcp, 4), read(&tcp, 8)), (shifted, 7));
            assert_eq!(Sum::new().bytes(&tcp).finish(), 0);
            let mut answer = header(7, shifted, &[]);
            s.apply(1, &mut answer);
            assert_eq!((read(&answer, 4), read(&answer, 8)), (7, sequence));
        }
        // The same command again is the same change.
        assert!(s.add(0, 2000, -2));
        assert_eq!(s.shift(0), 3);
    }

    #[test]
    fn selective_acknowledgements_are_shifted_back_at_odd_places_too() {
        let mut s = Sequences::default();
        s.add(0, 100, 10);
        let edges = [500u32.to_be_bytes(), 600u32.to_be_bytes()].concat();
        for before in [0, 1, 2] {
            let mut options = vec![1; before];
            options.extend([5, 10]);
            options.extend(&edges);
            options.resize(12, 0);
            let (mut tcp, start) = (header(1, 400, &options), 22 + before);
            s.apply(1, &mut tcp);
            assert_eq!((read(&tcp, start), read(&tcp, start + 4), read(&tcp, 8)), (490, 590, 390));
            assert_eq!(Sum::new().bytes(&tcp).finish(), 0);
        }
    }

    #[test]
    fn broken_options_are_left_alone() {
        let mut s = Sequences::default();
        s.add(0, 100, 10);
        for options in [[5, 0, 0, 0], [5, 200, 0, 0], [9, 1, 0, 0], [5, 2, 5, 10], [1, 1, 1, 5]] {
            let mut tcp = header(1, 50, &options);
            s.apply(1, &mut tcp);
            assert_eq!(tcp[20..], options);
            tcp.truncate(22);
            s.apply(1, &mut tcp);
        }
    }

    #[test]
    fn points_are_few_and_are_forgotten_in_time() {
        let mut s = Sequences::default();
        (0..1000).for_each(|n| assert!(s.add(0, n * 10, 1)));
        assert_eq!((s.0[0].points.len(), s.shift(0)), (MOST_POINTS, 1000));
        let mut tcp = header(FAR + 20_000, 0, &[]);
        s.apply(0, &mut tcp);
        assert!(s.0[0].points.is_empty());
        assert_eq!(read(&tcp, 4), FAR + 21_000);
    }
}
