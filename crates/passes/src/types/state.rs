//! What is known of a packet at one point of a configuration: which headers stand where, what is marked, its colour.

use std::collections::BTreeMap;

use clickwork_router::packet_types::Header;

/// The network header annotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// Nothing is known of it.
    #[default]
    Unknown,
    /// It is not set.
    Unset,
    /// It is set to this place in the data.
    At(i32),
}

/// What is known of a packet. Places count from the start of its data; those before it, which Unstrip brings back, are
/// negative. IP headers count as if they had no options.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    pub headers: BTreeMap<i32, Header>,
    pub mark: Mark,
    /// Annotations of one byte, by their place.
    pub colors: BTreeMap<i32, i32>,
    /// Modulus and remainder of the data's address.
    pub alignment: Option<(i32, i32)>,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    Nothing,
    /// A header begins here.
    Header(Header),
    /// The place is inside a header that begins at another.
    Inside(Header, i32),
}

/// Headers farther away than this are forgotten, so that packets which go round in cycles have finitely many states.
const REACH: std::ops::RangeInclusive<i32> = -256..=512;

impl State {
    /// What is known of a header at a place.
    pub fn find(&self, at: i32) -> Found {
        match self.headers.range(..=at).next_back() {
            Some((&start, &header)) if start == at => Found::Header(header),
            Some((&start, &header)) if at < start + header.length() => Found::Inside(header, start),
            _ => Found::Nothing,
        }
    }

    /// Adds a header; false if what is known says otherwise.
    pub fn learn(&mut self, header: Header, at: i32) -> bool {
        let general = match self.find(at) {
            Found::Header(known) if known.is(header) => return true,
            Found::Header(known) => header.is(known),
            Found::Inside(..) => false,
            Found::Nothing => self.headers.range(at..at + header.length()).next().is_none(),
        };
        if general {
            self.headers.insert(at, header);
        }
        general
    }

    /// Takes bytes off the front, or puts some there if negative.
    pub fn strip(&mut self, bytes: i32) {
        let places = std::mem::take(&mut self.headers);
        let moved = places.into_iter().map(|(at, header)| (at.saturating_sub(bytes), header));
        self.headers = moved.filter(|(at, _)| REACH.contains(at)).collect();
        if let Mark::At(at) = self.mark {
            let at = at.saturating_sub(bytes);
            self.mark = if REACH.contains(&at) { Mark::At(at) } else { Mark::Unknown };
        }
        self.alignment = self.alignment.map(|(m, r)| (m, r.saturating_add(bytes).rem_euclid(m)));
    }

    /// Puts a header in front of the data. Stripped bytes that it overwrites are gone.
    pub fn push(&mut self, header: Header) {
        self.strip(-header.length());
        self.headers.retain(|&at, _| at >= header.length());
        self.headers.insert(0, header);
        if matches!(header, Header::Ip | Header::Ip6) {
            self.mark = Mark::At(0);
        }
    }

    /// What is known of packets of which some are this and some the other.
    pub fn join(&mut self, other: &State) {
        self.headers =
            self.headers.iter().filter_map(|(&at, &a)| Some((at, common(a, other, at)?))).collect();
        if self.mark != other.mark {
            self.mark = Mark::Unknown;
        }
        self.colors.retain(|anno, color| other.colors.get(anno) == Some(color));
        if self.alignment != other.alignment {
            self.alignment = None;
        }
    }

    /// What is known of packets that are any of these.
    pub fn join_all<'a>(mut states: impl Iterator<Item = &'a State>) -> Option<State> {
        let mut joined = states.next()?.clone();
        states.for_each(|s| joined.join(s));
        Some(joined)
    }
}

/// The most special header that covers `a` and what the other state has at its place.
fn common(a: Header, other: &State, at: i32) -> Option<Header> {
    let b = *other.headers.get(&at)?;
    [a, b, Header::Arp].into_iter().find(|&g| a.is(g) && b.is(g))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Header::*;

    fn state(headers: &[(i32, Header)]) -> State {
        State { headers: headers.iter().copied().collect(), ..State::default() }
    }

    #[test]
    fn what_is_learnt_must_agree_with_what_is_known() {
        let mut s = state(&[(0, Ether), (14, Arp)]);
        assert!(s.learn(ArpQuery, 14) && s.learn(Arp, 14));
        assert_eq!(s.find(14), Found::Header(ArpQuery));
        assert!(!s.learn(ArpReply, 14) && !s.learn(Ip, 0) && !s.learn(Ip, 12));
        assert_eq!(s.find(12), Found::Inside(Ether, 0));
        assert!(!state(&[(14, Ip)]).learn(Ip, 0), "it would reach into the other");
    }

    #[test]
    fn stripped_headers_come_back_unless_they_are_overwritten() {
        let mut s = state(&[(0, Ether), (14, Ip)]);
        s.strip(14);
        assert_eq!((s.find(-14), s.find(0)), (Found::Header(Ether), Found::Header(Ip)));
        s.push(Ip);
        assert_eq!(s, State { mark: Mark::At(0), ..state(&[(0, Ip), (20, Ip)]) });
    }

    #[test]
    fn a_join_knows_what_both_know() {
        let mut s = state(&[(0, Ether), (14, ArpQuery), (42, Udp)]);
        s.join(&State { mark: Mark::At(14), ..state(&[(0, Ether), (14, ArpReply)]) });
        assert_eq!(s, state(&[(0, Ether), (14, Arp)]));
    }
}
