//! Patterns: what to make of a flow's addresses and ports, with a range to choose from for one of them.
//!
//! `SADDR SPORT DADDR DPORT` for rewriters of ports, `SADDR DADDR` for rewriters of addresses; `-` leaves a field as it is.

use super::flow_id::FlowId;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use clickwork_router::args::{FromArg, HostOrPrefix, Names};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// How values of a range are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    /// What the flow has if it is in the range, else as `Random`. Written without a mark.
    Same,
    /// From a random value on. Written with `?`.
    Random,
    /// From the value after the last one on. Written with `#`.
    Sequential,
}

/// A pattern. Inputs and rewriters that name the same one take turns in its range.
#[derive(Debug)]
pub struct Pattern {
    source: u32,
    source_port: u16,
    destination: u32,
    destination_port: u16,
    /// Whether it has ports: then the range is one of ports.
    has_ports: bool,
    choice: Choice,
    /// The range's last value, counted from its first; 0 if there is nothing to choose.
    top: u32,
    /// The next value of a sequential choice.
    next: AtomicU32,
}

/// The field of a pattern that may be a range.
struct Range {
    choice: Choice,
    top: u32,
}

impl Range {
    /// Takes the mark for the manner of choice off a text.
    fn unmarked<'t>(&mut self, text: &'t str) -> &'t str {
        let (rest, choice) = match (text.strip_suffix('#'), text.strip_suffix('?')) {
            (Some(rest), _) => (rest, Choice::Sequential),
            (_, Some(rest)) if self.choice == Choice::Same => (rest, Choice::Random),
            (_, Some(rest)) => (rest, self.choice),
            _ => return text,
        };
        self.choice = choice;
        rest
    }

    /// `FIRST-LAST` or a prefix, whose network and broadcast addresses are left out.
    fn addresses(&mut self, text: &str, names: &Names) -> Option<u32> {
        let text = self.unmarked(text);
        let address = |text: &str| Ipv4Address::from_arg(text, names).ok().map(Ipv4Address::to_bits);
        if let Some((first, last)) = text.split_once('-') {
            let (first, last) = (address(first)?, address(last)?);
            self.top = last.checked_sub(first)?;
            return Some(first);
        }
        let HostOrPrefix(Ipv4Prefix { address, mask }) = HostOrPrefix::from_arg(text, names).ok()?;
        let (address, length) = (address.to_bits(), mask.mask_to_prefix_len()?);
        match length {
            _ if address == 0 || length == 0 => None,
            32 => {
                self.top = 0;
                Some(address)
            }
            31 => {
                self.top = 1;
                Some(address & mask.to_bits())
            }
            _ => {
                self.top = !mask.to_bits() - 2;
                Some((address & mask.to_bits()) | 1)
            }
        }
    }

    /// `FIRST-LAST`.
    fn ports(&mut self, text: &str) -> Option<u16> {
        let (first, last) = self.unmarked(text).split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        self.top = u32::from(last.checked_sub(first)?);
        Some(first)
    }
}

/// A port number in any base.
fn number(text: &str) -> Option<u16> {
    u16::from_arg(text, &Names::default()).ok()
}

/// A port, or 0 for `-`.
fn port(text: &str) -> Option<u16> {
    if text == "-" { Some(0) } else { number(text).filter(|&n| n > 0) }
}

impl Pattern {
    /// Reads a pattern of two to four words.
    ///
    /// # Errors
    /// What is wrong with it, in Click's words.
    pub fn parse(words: &[String], names: &Names) -> Result<Pattern, String> {
        // With three words, the last is the source port.
        let (source, source_port, destination, destination_port) = match words {
            [s, d] => (s, "-", d, "-"),
            [s, d, sp] => (s, sp.as_str(), d, "-"),
            [s, sp, d, dp] => (s, sp.as_str(), d, dp.as_str()),
            _ => return Err("syntax error".to_string()),
        };
        let address = |text: &str| match text {
            "-" => Some(0),
            _ => Ipv4Address::from_arg(text, names).ok().map(Ipv4Address::to_bits),
        };
        let mut range = Range { choice: Choice::Same, top: 0 };
        let source =
            address(source).or_else(|| range.addresses(source, names)).ok_or("bad source address")?;
        let source_port = port(source_port).or_else(|| range.ports(source_port)).ok_or("bad source port")?;
        let destination = address(destination).ok_or("bad destination address")?;
        let destination_port = port(destination_port).ok_or("bad destination port")?;
        let has_ports = words.len() >= 3;
        let Range { choice, top } = range;
        let next = AtomicU32::new(0);
        Ok(Pattern { source, source_port, destination, destination_port, has_ports, choice, top, next })
    }

    /// The same pattern but for what has been chosen.
    pub fn is_like(&self, other: &Pattern) -> bool {
        let fields = |p: &Pattern| {
            let (from, to) = ((p.source, p.source_port), (p.destination, p.destination_port));
            (from, to, p.has_ports, p.choice, p.top)
        };
        fields(self) == fields(other)
    }

    /// Goes on choosing where another pattern stopped.
    pub fn continue_from(&self, other: &Pattern) {
        self.next.store(other.next.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// What becomes of a flow, apart from the choice.
    pub fn applied(&self, id: FlowId) -> FlowId {
        let or = |new: u32, old| if new == 0 { old } else { new };
        let or_port = |new: u16, old| if new == 0 { old } else { new };
        FlowId {
            source: or(self.source, id.source),
            destination: or(self.destination, id.destination),
            source_port: or_port(self.source_port, id.source_port),
            destination_port: or_port(self.destination_port, id.destination_port),
        }
    }

    /// Whether there is something to choose.
    pub fn has_range(&self) -> bool {
        self.top > 0
    }

    /// What is left of what came out without the choice.
    pub fn without_choice(&self, id: FlowId) -> FlowId {
        match self.has_ports {
            true => FlowId { source_port: 0, ..id },
            false => FlowId { source: 0, ..id },
        }
    }

    /// Whether what came out is in the range.
    pub fn offers(&self, id: &FlowId) -> bool {
        let (value, base) = match self.has_ports {
            true => (u32::from(id.source_port), u32::from(self.source_port)),
            false => (id.source, self.source),
        };
        value.wrapping_sub(base) <= self.top
    }

    /// What becomes of a flow, or `None` if all values of the range are taken.
    pub fn choose(
        &self,
        id: FlowId,
        random: impl FnOnce() -> u32,
        mut taken: impl FnMut(FlowId) -> bool,
    ) -> Option<FlowId> {
        let plain = self.applied(id);
        if !self.has_range() {
            return Some(plain);
        }
        let base = if self.has_ports { u32::from(self.source_port) } else { self.source };
        let with = |value: u32| match self.has_ports {
            true => FlowId { source_port: base.wrapping_add(value) as u16, ..plain },
            false => FlowId { source: base.wrapping_add(value), ..plain },
        };
        let own = u32::from(id.source_port).wrapping_sub(base);
        if self.choice == Choice::Same && self.has_ports && own <= self.top && !taken(with(own)) {
            return Some(with(own));
        }
        let start = match self.choice {
            Choice::Sequential => {
                Some(self.next.load(Ordering::Relaxed)).filter(|&n| n <= self.top).unwrap_or(0)
            }
            _ => ((u64::from(random()) * (u64::from(self.top) + 1)) >> 32) as u32,
        };
        let value = (start..=self.top).chain(0..start).find(|&value| !taken(with(value)))?;
        self.next.store(value.wrapping_add(1), Ordering::Relaxed);
        Some(with(value))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = Ipv4Address::from_bits;
        match self.source {
            first if !self.has_ports && self.top > 0 => {
                write!(f, "{}-{}", address(first), address(first.wrapping_add(self.top)))?;
            }
            0 => f.write_str("-")?,
            source => write!(f, "{}", address(source))?,
        }
        match (self.has_ports, u32::from(self.source_port)) {
            (false, _) => {}
            (true, 0) => f.write_str(" -")?,
            (true, first) if self.top > 0 => write!(f, " {first}-{}", first + self.top)?,
            (true, port) => write!(f, " {port}")?,
        }
        match self.destination {
            0 => f.write_str(" -")?,
            destination => write!(f, " {}", address(destination))?,
        }
        match (self.has_ports, self.destination_port) {
            (false, _) => Ok(()),
            (true, 0) => f.write_str(" -"),
            (true, port) => write!(f, " {port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_router::args::split_words;
    use std::collections::HashSet;

    fn parse(text: &str) -> Result<Pattern, String> {
        Pattern::parse(&split_words(text), &Names::default())
    }

    #[test]
    fn patterns_are_printed_as_click_prints_them() {
        for (text, printed) in [
            ("1.0.0.1 1024-65535# - -", "1.0.0.1 1024-65535 - -"),
            ("- - 2.0.0.2 80", "- - 2.0.0.2 80"),
            ("1.0.0.1 20 - -", "1.0.0.1 20 - -"),
            ("1.0.0.1 - 5000-5001", "1.0.0.1 5000-5001 - -"),
            ("1.0.0.0/29# -", "1.0.0.1-1.0.0.6 -"),
            ("1.0.0.6/31 2.0.0.2", "1.0.0.6-1.0.0.7 2.0.0.2"),
            ("1.0.0.9/32 -", "1.0.0.9 -"),
            ("1.0.0.1-1.0.1.1? -", "1.0.0.1-1.0.1.1 -"),
            ("- -", "- -"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), printed);
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_clicks_words() {
        for (text, wrong) in [
            ("a b c d e", "syntax error"),
            ("1.0.0.300 -", "bad source address"),
            ("1.0.0.5-1.0.0.4 -", "bad source address"),
            ("0.0.0.0/0 -", "bad source address"),
            ("- 0 - -", "bad source port"),
            ("- 10-9 - -", "bad source port"),
            ("- 10-65536 - -", "bad source port"),
            ("- 10# - -", "bad source port"),
            ("- - x -", "bad destination address"),
            ("- - - 65536", "bad destination port"),
            ("- - - 1-2", "bad destination port"),
        ] {
            assert_eq!(parse(text).unwrap_err(), wrong, "{text}");
        }
    }

    /// Chooses until nothing is left, for one flow.
    fn all(pattern: &Pattern, id: FlowId) -> Vec<FlowId> {
        let mut taken = HashSet::new();
        let key = |id: FlowId| (id.source, id.source_port);
        let mut chosen = Vec::new();
        let mut random = 0x1234_5678u32;
        while let Some(new) = pattern.choose(id, || random, |id| taken.contains(&key(id))) {
            taken.insert(key(new));
            chosen.push(new);
            random = random.wrapping_mul(0x9E37_79B9).wrapping_add(1);
        }
        chosen
    }

    #[test]
    fn every_value_is_chosen_once_in_each_manner() {
        let id = FlowId { source_port: 2002, ..FlowId::default() };
        for (text, first) in [
            ("1.0.0.1 2000-2006# - -", Some(2000)),
            ("1.0.0.1 2000-2006 - -", Some(2002)),
            ("1.0.0.1 2000-2006? - -", None),
        ] {
            let chosen = all(&parse(text).unwrap(), id);
            let ports: HashSet<u16> = chosen.iter().map(|id| id.source_port).collect();
            assert_eq!((chosen.len(), ports), (7, (2000..=2006).collect()), "{text}");
            assert!(first.is_none_or(|first| chosen[0].source_port == first), "{text}: {}", chosen[0]);
        }
        let sequence: Vec<u16> =
            all(&parse("1.0.0.1 65534-65535# - -").unwrap(), id).iter().map(|id| id.source_port).collect();
        assert_eq!(sequence, [65534, 65535]);
        let hosts = all(&parse("1.0.0.0/30# -").unwrap(), FlowId::default());
        assert_eq!(
            hosts.iter().map(|id| id.source().to_string()).collect::<Vec<_>>(),
            ["1.0.0.1", "1.0.0.2"]
        );
    }

    #[test]
    fn a_sequence_goes_on_after_what_was_freed() {
        let pattern = parse("1.0.0.1 10-12# - -").unwrap();
        let next = |_: ()| pattern.choose(FlowId::default(), || 0, |_| false).unwrap().source_port;
        assert_eq!([next(()), next(()), next(()), next(())], [10, 11, 12, 10]);
    }
}
