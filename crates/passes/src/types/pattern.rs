//! What the patterns of classifiers say about packets: which outputs a packet of a known type can take, and what is known
//! of one that took an output.
//!
//! Not classification itself. What a pattern says beyond headers and their order is left alone.

use clickwork_router::args::{split_args, split_words};
use clickwork_router::packet_types::Header;

use super::site::LONGEST;
use super::state::{Found, Mark, State};

/// What a packet is that leaves Classifier by `output`; `None` if it cannot.
pub(super) fn classified(config: &str, output: usize, state: &State) -> Option<State> {
    let patterns = split_args(config);
    let taken_before = |pattern: &String| test(pattern, state) == Some(true);
    let own = patterns.get(output)?;
    if patterns[..output].iter().any(taken_before) || test(own, state) == Some(false) {
        return None;
    }
    learn_from(own, state)
}

/// One clause `OFFSET/VALUE%MASK` of a pattern.
struct Clause {
    negated: bool,
    offset: i32,
    /// Bytes with the mask of those bits that matter.
    bytes: Vec<(u8, u8)>,
}

/// The clauses of a pattern; those that cannot be read are left out and make the second value false.
fn clauses(pattern: &str) -> (Vec<Clause>, bool) {
    let words = split_words(pattern);
    let words: Vec<_> = words.iter().filter(|w| *w != "-").collect();
    let read: Vec<Clause> = words.iter().filter_map(|w| clause(w)).collect();
    let complete = read.len() == words.len();
    (read, complete)
}

fn clause(word: &str) -> Option<Clause> {
    let (negated, word) = word.strip_prefix('!').map_or((false, word), |w| (true, w));
    let (offset, value) = word.split_once('/')?;
    let (value, mask) = value.split_once('%').map_or((value, None), |(v, m)| (v, Some(m)));
    let mask = mask.map_or_else(|| "f".repeat(value.len()), str::to_string);
    if value.len() != mask.len() || value.len() % 2 == 1 || !value.is_ascii() || !mask.is_ascii() {
        return None;
    }
    let pair = |at: usize| byte(&value[at..at + 2], &mask[at..at + 2]);
    let bytes = (0..value.len()).step_by(2).map(pair).collect::<Option<_>>()?;
    let offset = offset.parse().ok().filter(|n| (0..=LONGEST).contains(n))?;
    Some(Clause { negated, offset, bytes })
}

/// Two digits of a value and of a mask. A `?` in the value matches everything.
fn byte(value: &str, mask: &str) -> Option<(u8, u8)> {
    let cared_for: String = value.chars().map(|c| if c == '?' { '0' } else { 'f' }).collect();
    let mask = u8::from_str_radix(mask, 16).ok()? & u8::from_str_radix(&cared_for, 16).ok()?;
    Some((u8::from_str_radix(&value.replace('?', "0"), 16).ok()? & mask, mask))
}

/// Whether a packet matches a pattern; `None` if some do and some do not.
fn test(pattern: &str, state: &State) -> Option<bool> {
    let (clauses, complete) = clauses(pattern);
    let results: Vec<_> = clauses.iter().map(|c| test_clause(c, state)).collect();
    match results {
        r if r.contains(&Some(false)) => Some(false),
        r if complete && r.iter().all(|r| *r == Some(true)) => Some(true),
        _ => None,
    }
}

fn test_clause(clause: &Clause, state: &State) -> Option<bool> {
    let mut matches = Some(true);
    for (at, &(value, mask)) in (clause.offset..).zip(&clause.bytes) {
        let (known, known_mask) = known_byte(state, at);
        if (known ^ value) & mask & known_mask != 0 {
            return Some(clause.negated);
        }
        if mask & !known_mask != 0 {
            matches = None;
        }
    }
    matches.map(|m| m != clause.negated)
}

/// What the headers of a packet say of one of its bytes: value and mask.
fn known_byte(state: &State, at: i32) -> (u8, u8) {
    let (header, start) = match state.find(at) {
        Found::Header(header) => (header, at),
        Found::Inside(header, start) => (header, start),
        Found::Nothing => return (0, 0),
    };
    let next = match state.find(start + header.length()) {
        Found::Header(next) => Some(next),
        _ => None,
    };
    let word = |value: u16, first: i32| (value.to_be_bytes()[usize::from(at - start != first)], 0xFF);
    match (header, at - start) {
        (Header::Ether, 12 | 13) => next.and_then(ethertype).map_or((0, 0), |t| word(t, 12)),
        (Header::Vlan, 2 | 3) => next.and_then(ethertype).map_or((0, 0), |t| word(t, 2)),
        (Header::ArpQuery, 6 | 7) => word(1, 6),
        (Header::ArpReply, 6 | 7) => word(2, 6),
        (Header::Ip, 0) => (0x40, 0xF0),
        (Header::Ip6, 0) => (0x60, 0xF0),
        (Header::Ip, 9) => next.and_then(protocol).map_or((0, 0), |p| (p, 0xFF)),
        _ => (0, 0),
    }
}

fn ethertype(header: Header) -> Option<u16> {
    let types = [0x0800, 0x0806, 0x8100, 0x86DD];
    types.into_iter().find(|&t| Header::of_ethertype(t).is_some_and(|general| header.is(general)))
}

const PROTOCOLS: [(Header, u8, &str); 3] =
    [(Header::Icmp, 1, "icmp"), (Header::Tcp, 6, "tcp"), (Header::Udp, 17, "udp")];

fn protocol(header: Header) -> Option<u8> {
    PROTOCOLS.iter().find(|p| p.0 == header).map(|p| p.1)
}

/// The state of a packet that matched: headers follow from the bytes that the pattern demands.
fn learn_from(pattern: &str, state: &State) -> Option<State> {
    let (clauses, _) = clauses(pattern);
    let demanded = |at: i32| {
        let of_clause = |c: &Clause| c.bytes.get(usize::try_from(at - c.offset).ok()?).copied();
        let mut found = clauses.iter().filter(|c| !c.negated).filter_map(of_clause);
        found.find(|(_, mask)| *mask == 0xFF).map(|(value, _)| value)
    };
    let demanded_word = |at: i32| Some(u16::from_be_bytes([demanded(at)?, demanded(at + 1)?]));
    let mut state = state.clone();
    if state.find(0) == Found::Nothing && asks_for_ethertype(&clauses) {
        let mut framed = state.clone();
        state = if framed.learn(Header::Ether, 0) { framed } else { state };
    }
    // Each header may tell of the next; there are not many behind each other.
    for _ in 0..4 {
        for (at, header) in state.headers.clone() {
            let next = match header {
                Header::Ether => demanded_word(at + 12).and_then(Header::of_ethertype),
                Header::Vlan => demanded_word(at + 2).and_then(Header::of_ethertype),
                Header::Ip => demanded(at + 9).and_then(|p| Some(PROTOCOLS.iter().find(|q| q.1 == p)?.0)),
                _ => None,
            };
            if let Some(next) = next
                && !state.learn(next, at + header.length())
            {
                return None;
            }
            let operation = match demanded_word(at + 6) {
                Some(1) => Header::ArpQuery,
                Some(2) => Header::ArpReply,
                _ => continue,
            };
            if header == Header::Arp && !state.learn(operation, at) {
                return None;
            }
        }
    }
    Some(state)
}

/// Whether a clause compares exactly the two bytes where Ethernet frames have their type with a type of ours: nobody does
/// so with packets that are no frames.
fn asks_for_ethertype(clauses: &[Clause]) -> bool {
    clauses.iter().any(|c| match c.bytes[..] {
        [(high, 0xFF), (low, 0xFF)] if c.offset == 12 && !c.negated => {
            Header::of_ethertype(u16::from_be_bytes([high, low])).is_some()
        }
        _ => false,
    })
}

/// What a packet is that leaves IPClassifier by `output`; `None` if it cannot. An expression counts only if it names one
/// protocol and joins everything by `and`.
pub(super) fn filtered(config: &str, output: usize, state: &State) -> Option<State> {
    let patterns = split_args(config);
    let mut state = state.clone();
    let header = protocol_of(patterns.get(output)?);
    if let (Some(header), Mark::At(at)) = (header, state.mark)
        && !state.learn(header, at + Header::Ip.length())
    {
        return None;
    }
    Some(state)
}

fn protocol_of(expression: &str) -> Option<Header> {
    let words = split_words(expression);
    let simple = |w: &String| !matches!(w.as_str(), "or" | "not") && w.chars().all(|c| !"|!?:()".contains(c));
    let mut named = PROTOCOLS.iter().filter(|p| words.iter().any(|w| w == p.2)).map(|p| p.0);
    let first = named.next()?;
    (named.next().is_none() && words.iter().all(simple)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Header::*;

    fn state(headers: &[(i32, Header)]) -> State {
        State { headers: headers.iter().copied().collect(), ..State::default() }
    }

    const ROUTER: &str = "12/0806 20/0001, 12/0806 20/0002, 12/0800, -";

    #[test]
    fn frames_are_told_apart_by_their_type() {
        let frame = state(&[(0, Ether)]);
        let after = |output| classified(ROUTER, output, &frame);
        assert_eq!(after(0), Some(state(&[(0, Ether), (14, ArpQuery)])));
        assert_eq!(after(2), Some(state(&[(0, Ether), (14, Ip)])));
        assert_eq!(after(3), Some(frame.clone()));
        assert_eq!(after(4), None);
        assert_eq!(classified(ROUTER, 2, &State::default()), Some(state(&[(0, Ether), (14, Ip)])));
    }

    #[test]
    fn known_packets_take_one_output() {
        let outputs = |s: State| (0..4).filter(|&o| classified(ROUTER, o, &s).is_some()).collect::<Vec<_>>();
        assert_eq!(outputs(state(&[(0, Ether), (14, Ip)])), [2]);
        assert_eq!(outputs(state(&[(0, Ether), (14, ArpReply)])), [1]);
        assert_eq!(outputs(state(&[(0, Ether), (14, Arp)])), [0, 1, 3]);
        assert_eq!(outputs(state(&[(0, Ip)])), [0, 1, 2, 3]);
    }

    #[test]
    fn masks_and_negations_count() {
        let ip = state(&[(0, Ip), (20, Tcp)]);
        let passes = |pattern: &str| test(pattern, &ip);
        assert_eq!(passes("0/4?"), Some(true));
        assert_eq!(passes("0/40%f0 9/06"), Some(true));
        assert_eq!(passes("!9/06"), Some(false));
        assert_eq!(passes("9/11"), Some(false));
        assert_eq!(passes("0/45"), None);
        assert_eq!(passes("nonsense"), None);
    }

    #[test]
    fn expressions_name_a_protocol_if_they_demand_it() {
        assert_eq!(protocol_of("icmp type echo and ip unfrag"), Some(Icmp));
        assert_eq!(protocol_of("src tcp port 80"), Some(Tcp));
        for other in ["tcp or udp", "not tcp", "src host 1.0.0.1", "!(udp)", "-", "tcp and udp port 53"] {
            assert_eq!(protocol_of(other), None, "{other}");
        }
    }
}
