//! Packet types: the language of [`Class::packets`](crate::Class::packets), which says what packets an element expects on
//! its inputs and what becomes of them on its outputs.
//!
//! Not here: what a type check makes of it; that is a pass. A code is `INPUTS/OUTPUTS`, each side a list separated by
//! commas whose last item repeats. An input is a *type*:
//!
//! - `any`; `ether` and `ether-ip`, `ether-ip6`, `ether-arp`, `ether-vlan`, `arp-query`, `arp-reply`: Ethernet frames;
//! - `ip`, `ip-expired`, `ip6`, `arp`, `tcp`, `udp`, `icmp`, `icmp6`: packets whose network header is marked so, wherever
//!   their data begins;
//! - `ip@N`: the header stands N bytes behind the start of the data, marked or not. N is a number or an argument's name;
//! - `device(DEVNAME)`: Ethernet frames, if the interface is an Ethernet; `ethertype(ARG)@N`: what an Ethernet type says;
//! - `should T`: the element does no harm to other packets, but is of no use to them;
//! - `only T`: the element is there to let no other packets pass.
//!
//! An output is one or more *changes*, separated by spaces, and alternatives separated by `|`. A type alone says what the
//! packet is known to be when it leaves; `same` says nothing new; for the others see [`Change`].

use std::fmt;

/// A kind of header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Header {
    /// Ethernet (without tag).
    Ether,
    /// What an 802.1Q tag adds behind the Ethernet header: the tag and another Ethernet type.
    Vlan,
    /// IPv4.
    Ip,
    /// IPv6.
    Ip6,
    /// ARP.
    Arp,
    /// An ARP query; also an [`Header::Arp`].
    ArpQuery,
    /// An ARP reply; also an [`Header::Arp`].
    ArpReply,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP.
    Icmp,
    /// ICMP for IPv6.
    Icmp6,
}

impl Header {
    /// Its length in bytes, without options.
    pub fn length(self) -> i32 {
        match self {
            Header::Ether => 14,
            Header::Vlan => 4,
            Header::Ip | Header::Tcp => 20,
            Header::Ip6 => 40,
            Header::Arp | Header::ArpQuery | Header::ArpReply => 28,
            Header::Udp | Header::Icmp | Header::Icmp6 => 8,
        }
    }

    /// Whether it is a `general` header.
    pub fn is(self, general: Header) -> bool {
        self == general || (general == Header::Arp && matches!(self, Header::ArpQuery | Header::ArpReply))
    }

    /// What stands behind an Ethernet header with this type.
    pub fn of_ethertype(ethertype: u16) -> Option<Header> {
        match ethertype {
            0x0800 => Some(Header::Ip),
            0x0806 => Some(Header::Arp),
            0x8100 => Some(Header::Vlan),
            0x86DD => Some(Header::Ip6),
            _ => None,
        }
    }
}

/// A type by name: headers at their places, and whether those are counted from the marked network header.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The name in codes.
    pub name: &'static str,
    /// Whether the first header is the marked network header.
    pub marked: bool,
    /// Headers with their distance from the first.
    pub headers: &'static [(Header, i32)],
}

use Header::{Arp, ArpQuery, ArpReply, Ether, Icmp, Icmp6, Ip, Ip6, Tcp, Udp, Vlan};

/// All types that have a name.
pub const LAYOUTS: &[Layout] = &[
    framed("ether", &[(Ether, 0)]),
    framed("ether-ip", &[(Ether, 0), (Ip, 14)]),
    framed("ether-ip6", &[(Ether, 0), (Ip6, 14)]),
    framed("ether-arp", &[(Ether, 0), (Arp, 14)]),
    framed("ether-vlan", &[(Ether, 0), (Vlan, 14)]),
    framed("arp-query", &[(Ether, 0), (ArpQuery, 14)]),
    framed("arp-reply", &[(Ether, 0), (ArpReply, 14)]),
    marked("ip", &[(Ip, 0)]),
    marked("ip-expired", &[(Ip, 0)]),
    marked("ip6", &[(Ip6, 0)]),
    marked("arp", &[(Arp, 0)]),
    marked("tcp", &[(Ip, 0), (Tcp, 20)]),
    marked("udp", &[(Ip, 0), (Udp, 20)]),
    marked("icmp", &[(Ip, 0), (Icmp, 20)]),
    marked("icmp6", &[(Ip6, 0), (Icmp6, 40)]),
];

const fn framed(name: &'static str, headers: &'static [(Header, i32)]) -> Layout {
    Layout { name, marked: false, headers }
}

const fn marked(name: &'static str, headers: &'static [(Header, i32)]) -> Layout {
    Layout { name, marked: true, headers }
}

/// A number, or the argument of the element that gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount<'a> {
    /// As written.
    Number(i32),
    /// The value of an argument, or its default.
    Argument(&'a str),
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// Anything.
    Any,
    /// A type with a name.
    Layout(&'static Layout),
    /// What the Ethernet type in an argument says.
    EtherType(&'a str),
    /// What the interface named by an argument carries.
    Device(&'a str),
}

/// A packet type, and its place in the data if that is given (`@N`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketType<'a> {
    /// What it is.
    pub what: What<'a>,
    /// Where in the data it begins.
    pub at: Option<Amount<'a>>,
}

/// What an element expects on an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation<'a> {
    /// The type.
    pub packet_type: PacketType<'a>,
    /// Whether other packets pass without harm (`should`).
    pub lenient: bool,
    /// Whether the element keeps other packets back (`only`), which may then be among those that come.
    pub filters: bool,
}

/// What an element does to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// `same`: nothing.
    Same,
    /// `each`: nothing; and by which output packets leave does not depend on what they are.
    Each,
    /// `none`: no packet leaves here.
    Nothing,
    /// `new TYPE`: it is a new packet.
    New(PacketType<'a>),
    /// `TYPE`: it is known to be one.
    Known(PacketType<'a>),
    /// `mark TYPE@N`: it is known to be one, and its network header annotation is set to that.
    Mark(PacketType<'a>),
    /// `unmarked` or `unmarked-unless(ARG)`: the network header annotation is not set, unless the argument is true.
    Unmarked(Option<&'a str>),
    /// `remarked`: the network header annotation is set, to what is not known.
    Remarked,
    /// `strip(N)`: N bytes are taken off the front.
    Strip(Amount<'a>),
    /// `unstrip(N)`: N bytes are put back.
    Unstrip(Amount<'a>),
    /// `strip-ip`: the marked IP header is taken off.
    StripIp,
    /// `to-network-header`: the data begins with the network header.
    ToNetworkHeader,
    /// `push(HEADER HEADER...)`: headers are put in front of the data; IP headers are marked.
    Push(Vec<Header>),
    /// `paint(COLOR, ANNO)`: an annotation is set to a colour.
    Paint(Amount<'a>, &'a str),
    /// `unpainted`: the paint annotation is set to what is not known.
    Unpainted,
    /// `forget`: bytes are rewritten; what they are now is not known.
    Forget,
    /// `align(MODULUS, OFFSET)`: the data's address leaves OFFSET when divided by MODULUS.
    Align(Amount<'a>, Amount<'a>),
    /// `only(N)`: packets leave by output N alone.
    Only(Amount<'a>),
    /// `alone`: no packet leaves here if another output is connected.
    Alone,
    /// `from(N)`: only packets that came in by input N.
    From(Amount<'a>),
    /// `classified`: only packets that the Classifier pattern of this output describes.
    Classified,
    /// `filtered`: only packets that the IP expression of this output describes.
    Filtered,
    /// `painted(ANNO)`: only packets whose colour is the number of this output.
    PaintedAsOutput(&'a str),
    /// `painted-as(COLOR, ANNO)`: only packets of that colour.
    PaintedAs(Amount<'a>, &'a str),
    /// `painted-not(COLOR, ANNO)`: only packets of another colour.
    PaintedNot(Amount<'a>, &'a str),
}

/// A packet type code, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketTypes<'a> {
    inputs: Vec<Expectation<'a>>,
    outputs: Vec<Vec<Vec<Change<'a>>>>,
}

/// What is wrong with a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCode(String);

impl fmt::Display for BadCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadCode {}

impl<'a> PacketTypes<'a> {
    /// Reads a code.
    ///
    /// # Errors
    /// At the first word that has no meaning.
    pub fn parse(code: &'a str) -> Result<Self, BadCode> {
        let bad = || BadCode(format!("'{code}': expected INPUTS/OUTPUTS"));
        let (inputs, outputs) = code.split_once('/').ok_or_else(bad)?;
        let alternatives = |item| split(item, '|').map(changes).collect();
        Ok(PacketTypes {
            inputs: split(inputs, ',').map(expectation).collect::<Result<_, _>>()?,
            outputs: split(outputs, ',').map(alternatives).collect::<Result<_, _>>()?,
        })
    }

    /// What is expected on an input, if anything.
    pub fn input(&self, port: usize) -> Option<&Expectation<'a>> {
        self.inputs.get(port).or(self.inputs.last())
    }

    /// What may happen to packets that leave by an output; empty if nothing is known.
    pub fn output(&self, port: usize) -> &[Vec<Change<'a>>] {
        self.outputs.get(port).or(self.outputs.last()).map_or(&[], Vec::as_slice)
    }
}

/// Splits at separators outside of parentheses. An empty text has no items.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let at_separator = move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && c == separator
    };
    text.split(at_separator).map(str::trim).filter(|item| !item.is_empty())
}

fn expectation(text: &str) -> Result<Expectation<'_>, BadCode> {
    let (lenient, filters) = (text.strip_prefix("should "), text.strip_prefix("only "));
    let packet_type = packet_type(lenient.or(filters).unwrap_or(text))?;
    Ok(Expectation { packet_type, lenient: lenient.is_some(), filters: filters.is_some() })
}

fn packet_type(text: &str) -> Result<PacketType<'_>, BadCode> {
    let (name, at) = text.split_once('@').map_or((text, None), |(name, at)| (name, Some(amount(at))));
    let what = match call(name) {
        ("any", None) => What::Any,
        ("ethertype", Some(argument)) => What::EtherType(argument),
        ("device", Some(argument)) => What::Device(argument),
        _ => What::Layout(
            LAYOUTS
                .iter()
                .find(|l| l.name == name)
                .ok_or_else(|| BadCode(format!("'{name}' is not a packet type")))?,
        ),
    };
    Ok(PacketType { what, at })
}

/// `NAME(INSIDE)`, or a name alone.
fn call(text: &str) -> (&str, Option<&str>) {
    let inside = text.strip_suffix(')').and_then(|t| t.split_once('('));
    inside.map_or((text, None), |(name, inside)| (name, Some(inside)))
}

fn amount(text: &str) -> Amount<'_> {
    text.parse().map_or(Amount::Argument(text), Amount::Number)
}

fn changes(text: &str) -> Result<Vec<Change<'_>>, BadCode> {
    let mut words = split(text, ' ');
    let mut changes = Vec::new();
    while let Some(word) = words.next() {
        let mut operand = || packet_type(words.next().unwrap_or_default());
        changes.push(match word {
            "new" => Change::New(operand()?),
            "mark" => Change::Mark(operand()?),
            _ => change(word)?,
        });
    }
    Ok(changes)
}

fn change(word: &str) -> Result<Change<'_>, BadCode> {
    let (name, inside) = call(word);
    let inside = inside.unwrap_or_default();
    let (first, second) = inside.split_once(',').unwrap_or((inside, ""));
    let (first, second) = (first.trim(), second.trim());
    Ok(match name {
        "same" => Change::Same,
        "each" => Change::Each,
        "none" => Change::Nothing,
        "any" => Change::New(PacketType { what: What::Any, at: None }),
        "unmarked" => Change::Unmarked(None),
        "unmarked-unless" => Change::Unmarked(Some(first)),
        "remarked" => Change::Remarked,
        "strip" => Change::Strip(amount(first)),
        "unstrip" => Change::Unstrip(amount(first)),
        "strip-ip" => Change::StripIp,
        "to-network-header" => Change::ToNetworkHeader,
        "push" => Change::Push(split(inside, ' ').map(header).collect::<Result<_, _>>()?),
        "paint" => Change::Paint(amount(first), second),
        "unpainted" => Change::Unpainted,
        "forget" => Change::Forget,
        "align" => Change::Align(amount(first), amount(second)),
        "only" => Change::Only(amount(first)),
        "alone" => Change::Alone,
        "from" => Change::From(amount(first)),
        "classified" => Change::Classified,
        "filtered" => Change::Filtered,
        "painted" => Change::PaintedAsOutput(first),
        "painted-as" => Change::PaintedAs(amount(first), second),
        "painted-not" => Change::PaintedNot(amount(first), second),
        _ => Change::Known(packet_type(word)?),
    })
}

/// The header that a named type ends with.
fn header(name: &str) -> Result<Header, BadCode> {
    let layout = LAYOUTS.iter().find(|l| l.name == name).and_then(|l| l.headers.last());
    let other = if name == "vlan" { Some(Vlan) } else { None };
    other.or(layout.map(|h| h.0)).ok_or_else(|| BadCode(format!("'{name}' is not a header")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(name: &str, at: Option<Amount<'static>>) -> PacketType<'static> {
        let layout = LAYOUTS.iter().find(|l| l.name == name).unwrap();
        PacketType { what: What::Layout(layout), at }
    }

    #[test]
    fn the_last_item_repeats() {
        let types = PacketTypes::parse("ip/ip,ip-expired").unwrap();
        assert_eq!(types.input(7).unwrap().packet_type, layout("ip", None));
        assert_eq!(types.output(0), [[Change::Known(layout("ip", None))]]);
        assert_eq!(types.output(3), [[Change::Known(layout("ip-expired", None))]]);
        let none = PacketTypes::parse("/").unwrap();
        assert!(none.input(0).is_none() && none.output(0).is_empty());
    }

    #[test]
    fn changes_follow_each_other_and_have_alternatives() {
        let types =
            PacketTypes::parse("should ip@OFFSET/strip(14) mark ip@0 paint(COLOR, PAINT)|none").unwrap();
        let offset = Amount::Argument("OFFSET");
        let input = Expectation { packet_type: layout("ip", Some(offset)), lenient: true, filters: false };
        assert_eq!(types.input(0), Some(&input));
        let first = vec![
            Change::Strip(Amount::Number(14)),
            Change::Mark(layout("ip", Some(Amount::Number(0)))),
            Change::Paint(Amount::Argument("COLOR"), "PAINT"),
        ];
        assert_eq!(types.output(0), [first, vec![Change::Nothing]]);
        let pushed = PacketTypes::parse("any/push(ip udp)").unwrap();
        assert_eq!(pushed.output(0), [[Change::Push(vec![Ip, Udp])]]);
    }

    #[test]
    fn words_without_meaning_are_errors() {
        for code in ["ip", "ipx/same", "any/push(same)", "any/new", "any/strp(4)"] {
            assert!(PacketTypes::parse(code).is_err(), "{code}");
        }
    }
}
