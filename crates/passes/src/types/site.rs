//! One element for the type check: the facts of its class, its arguments, and what it does to a packet.

use clickwork_lang::ElementDecl;
use clickwork_packet::anno::Anno;
use clickwork_router::Class;
use clickwork_router::args::{ArgKind, Args, FromArg, Names, unquote};
use clickwork_router::packet_types::{Amount, Change, Header, PacketType, PacketTypes, What};

use super::pattern;
use super::state::{Found, Mark, State};

/// An element with what is known of its class.
pub(super) struct Site<'a> {
    pub class: &'static Class,
    pub types: PacketTypes<'static>,
    config: &'a str,
    /// How many outputs are connected.
    outputs: usize,
    args: Args,
}

/// Why a packet is none that an element expects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// Something else stands where this header should.
    Header { expected: Header, at: i32, found: Found },
    /// The network header is not marked; it should be this.
    Unmarked { expected: Header },
}

impl<'a> Site<'a> {
    /// The site of an element, unless nothing is known of its class.
    pub fn new(element: &'a ElementDecl, class: &'static Class, outputs: usize) -> Option<Self> {
        let types = PacketTypes::parse(class.packets).ok()?;
        let args = Args::new(class.args, &element.config, &Names::default());
        Some(Site { class, types, config: &element.config, outputs, args })
    }

    /// The text of an argument or its default. The last of the remaining arguments counts if it has that name too.
    fn text(&self, name: &str) -> Option<String> {
        let spec = self.class.args.iter().find(|s| s.name == name)?;
        let rest = self.class.args.iter().find(|s| s.kind == ArgKind::Rest && s.name.ends_with(name));
        let by_position = rest.and_then(|_| self.args.rest().last()).filter(|t| integer(t).is_some());
        let given = self.args.raw(name).or(by_position.map(String::as_str));
        Some(unquote(given.unwrap_or(spec.default)))
    }

    /// The value of an amount, unless it is beyond all packets.
    pub fn number(&self, amount: Amount<'_>) -> Option<i32> {
        let number = match amount {
            Amount::Number(n) => Some(n),
            Amount::Argument(name) => integer(&self.text(name)?),
        };
        number.filter(|n| (-LONGEST..=LONGEST).contains(n))
    }

    /// The place of an annotation.
    fn anno(&self, name: &str) -> Option<i32> {
        let text = if name == "PAINT" { name.to_string() } else { self.text(name)? };
        Anno::from_arg(&text, &Names::default()).ok().map(|anno| i32::from(anno.offset))
    }

    /// The headers of a type with their places, relative to the data if the type says where, else to the mark.
    fn headers(&self, what: What<'_>) -> Vec<(Header, i32)> {
        match what {
            What::Any => Vec::new(),
            What::Layout(layout) => layout.headers.to_vec(),
            What::EtherType(name) => {
                let ethertype = self.text(name).and_then(|t| u16::try_from(integer(&t)?).ok());
                ethertype.and_then(Header::of_ethertype).map(|h| (h, 0)).into_iter().collect()
            }
            What::Device(name) => match self.text(name).is_some_and(|n| is_ethernet(&n)) {
                true => vec![(Header::Ether, 0)],
                false => Vec::new(),
            },
        }
    }

    /// Where a type begins in the data of a packet; `None` if that is not known.
    fn start(&self, t: &PacketType<'_>, state: &State) -> Option<i32> {
        match (t.at, t.what, state.mark) {
            (Some(at), ..) => self.number(at),
            (None, What::Layout(layout), Mark::At(at)) if layout.marked => Some(at),
            (None, What::Layout(layout), _) if layout.marked => None,
            _ => Some(0),
        }
    }

    /// Whether a packet is of a type, as far as is known.
    pub fn expect(&self, t: &PacketType<'_>, state: &State) -> Result<(), Fault> {
        let headers = self.headers(t.what);
        let by_mark = t.at.is_none() && matches!(t.what, What::Layout(l) if l.marked);
        if by_mark && state.mark == Mark::Unset {
            return Err(Fault::Unmarked { expected: headers[0].0 });
        }
        let Some(start) = self.start(t, state) else { return Ok(()) };
        for (expected, distance) in headers {
            let at = start.saturating_add(distance);
            if !state.clone().learn(expected, at) {
                return Err(Fault::Header { expected, at, found: state.find(at) });
            }
        }
        Ok(())
    }

    /// What a packet is after some changes, if it leaves by `output` at all.
    pub fn apply(&self, changes: &[Change<'_>], state: &State, output: usize) -> Option<State> {
        let mut state = state.clone();
        for change in changes {
            self.change(change, &mut state, output)?;
        }
        Some(state)
    }

    fn change(&self, change: &Change<'_>, state: &mut State, output: usize) -> Option<()> {
        match change {
            Change::Same | Change::Each | Change::From(_) => {}
            Change::Nothing => return None,
            Change::New(t) => *state = self.made(t),
            Change::Known(t) => self.know(t, state)?,
            Change::Mark(t) => {
                self.know(t, state)?;
                state.mark = t.at.and_then(|at| self.number(at)).map_or(Mark::Unknown, Mark::At);
            }
            Change::Unmarked(unless) => {
                let never = unless.is_none_or(|name| self.is_false(name));
                state.mark = if never { Mark::Unset } else { Mark::Unknown };
            }
            Change::Remarked => state.mark = Mark::Unknown,
            Change::Strip(n) => self.strip(self.number(*n), state),
            Change::Unstrip(n) => self.strip(self.number(*n).and_then(i32::checked_neg), state),
            Change::StripIp => self.strip(Some(Header::Ip.length()), state),
            Change::ToNetworkHeader => match state.mark {
                Mark::At(at) => state.strip(at),
                Mark::Unset => {}
                Mark::Unknown => self.strip(None, state),
            },
            Change::Push(headers) => headers.iter().rev().for_each(|&h| state.push(h)),
            Change::Forget => state.headers.clear(),
            Change::Align(modulus, remainder) => {
                let both = self.number(*modulus).zip(self.number(*remainder));
                state.alignment = both.filter(|(modulus, _)| *modulus > 0);
            }
            Change::Classified => *state = pattern::classified(self.config, output, state)?,
            Change::Filtered => *state = pattern::filtered(self.config, output, state)?,
            Change::Alone => return (self.outputs == 1).then_some(()),
            Change::Only(n) => return self.number(*n).is_none_or(|n| n == output as i32).then_some(()),
            _ => return self.color(change, state, output),
        }
        Some(())
    }

    /// Changes that concern the paint annotation.
    fn color(&self, change: &Change<'_>, state: &mut State, output: usize) -> Option<()> {
        let color = |anno: &str| self.anno(anno).and_then(|a| state.colors.get(&a)).copied();
        let may_be = |known: Option<i32>, wanted: Option<i32>| {
            known.zip(wanted).is_none_or(|(known, wanted)| known == wanted)
        };
        let leaves = match *change {
            Change::PaintedAsOutput(anno) => {
                may_be(color(anno), Some(output as i32)) || color(anno) == Some(EVERYWHERE)
            }
            Change::PaintedAs(c, anno) => may_be(color(anno), self.number(c)),
            Change::PaintedNot(c, anno) => {
                color(anno).is_none() || self.number(c).is_none() || color(anno) != self.number(c)
            }
            Change::Paint(c, anno) => {
                match (self.anno(anno), self.number(c)) {
                    (Some(anno), Some(color)) => _ = state.colors.insert(anno, color),
                    (Some(anno), None) => _ = state.colors.remove(&anno),
                    (None, _) => state.colors.clear(),
                }
                true
            }
            _ => {
                state.colors.clear();
                true
            }
        };
        leaves.then_some(())
    }

    /// A packet of which only the type is known.
    fn made(&self, t: &PacketType<'_>) -> State {
        let marked = matches!(t.what, What::Layout(l) if l.marked);
        let start = t.at.and_then(|at| self.number(at)).unwrap_or_default();
        let headers = self.headers(t.what).into_iter().map(|(h, distance)| (start + distance, h));
        let mark = if marked { Mark::At(start) } else { Mark::Unknown };
        State { headers: headers.collect(), mark, ..State::default() }
    }

    /// Notes that a packet is of a type; `None` if that cannot be.
    fn know(&self, t: &PacketType<'_>, state: &mut State) -> Option<()> {
        let Some(start) = self.start(t, state) else { return Some(()) };
        let mut headers = self.headers(t.what).into_iter();
        headers.all(|(h, distance)| state.learn(h, start.saturating_add(distance))).then_some(())
    }

    /// Takes bytes off; if it is not known how many, nothing more is known.
    fn strip(&self, bytes: Option<i32>, state: &mut State) {
        match bytes {
            Some(bytes) => state.strip(bytes),
            None => *state = State { colors: std::mem::take(&mut state.colors), ..State::default() },
        }
    }

    fn is_false(&self, argument: &str) -> bool {
        self.text(argument)
            .is_some_and(|t| ["false", "no", "0", "f", "n", ""].contains(&t.to_lowercase().as_str()))
    }
}

/// More than the bytes of any packet.
pub(super) const LONGEST: i32 = 1 << 20;

/// The colour that PaintSwitch sends to all outputs.
const EVERYWHERE: i32 = 255;

fn integer(text: &str) -> Option<i32> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => i32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// Whether an interface of that name is an Ethernet for certain. Others may carry raw IP packets (tun0, ppp0) or the frames
/// of a radio.
fn is_ethernet(interface: &str) -> bool {
    let numbered = ["eth", "em", "tap", "veth", "bond", "br"];
    let predictable = ["eno", "enp", "ens", "enx"];
    let begins_with_digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_hexdigit() && c != 'e');
    numbered
        .iter()
        .filter_map(|p| interface.strip_prefix(p))
        .any(|r| r.starts_with(|c: char| c.is_ascii_digit()))
        || predictable.iter().filter_map(|p| interface.strip_prefix(p)).any(begins_with_digit)
}
