//! What element classes do to the alignment of packets, and which alignment they need: a table.
//!
//! Classes that are not in it hand packets on as they lie, along their flow code, and need nothing. Where no input leads
//! to an output, nothing is known about what comes out there, except from the sources in the table.

use clickwork_router::Class;
use clickwork_router::args::{Args, Names, split_args, split_words};

use super::alignment::Alignment;

/// How packets that leave by an output lie, compared with the packets that came in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// As they did.
    Keep,
    /// So many bytes further on; before, if negative.
    Move(i64),
    /// Some bytes further on, and besides an unknown multiple of a power of two.
    Steps(i64, u32),
    /// In a new place.
    Make(Alignment),
    /// So many bytes further on, or in a new place.
    MoveOrMake(i64, Alignment),
    /// No packets leave.
    Nothing,
    /// Somewhere.
    Lose,
}

/// How packets must lie on an input.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Need {
    /// Just as what follows needs them.
    Downstream,
    /// Like this.
    At(Alignment),
    /// Always in the same way, up to multiples of this.
    Alike(u32),
}

/// What an element does and needs. The last of either list holds for further ports.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    changes: Vec<Change>,
    needs: Vec<Need>,
}

impl Rule {
    /// What is true of most classes.
    fn neutral() -> Rule {
        Rule { changes: vec![Change::Keep], needs: vec![Need::Downstream] }
    }

    /// The change for packets that leave by an output.
    pub fn change(&self, output: usize) -> Change {
        *self.changes.get(output).or(self.changes.last()).unwrap_or(&Change::Keep)
    }

    /// The need at an input.
    pub fn need(&self, input: usize) -> Need {
        *self.needs.get(input).or(self.needs.last()).unwrap_or(&Need::Downstream)
    }
}

/// An entry of the table, before an element's arguments are filled in.
struct Entry {
    classes: &'static [&'static str],
    changes: &'static [ByArguments<Change>],
    needs: &'static [ByArguments<Need>],
}

/// Something that may depend on the arguments of an element.
#[derive(Clone, Copy)]
enum ByArguments<T> {
    Always(T),
    /// What a number makes of it; the third is the number that counts if none is given.
    Number(&'static str, fn(i64) -> T, Option<i64>),
    /// What a condition makes of it that defaults to false.
    Flag(&'static str, fn(bool) -> T),
    /// What all arguments together make of it.
    All(fn(&[String]) -> Option<T>),
}

use ByArguments::{All, Always, Flag, Number};
use Change::{Keep, Lose, Make, Move, MoveOrMake, Nothing, Steps};
use Need::{Alike, At, Downstream};

/// An IP header at a multiple of 4.
const IP: Alignment = Alignment::at(4, 0);
/// An Ethernet header with an IP header at a multiple of 4 behind it.
const ETHERNET: Alignment = Alignment::at(4, 2);
const HALFWORD: Alignment = Alignment::at(2, 0);

const TABLE: &[Entry] = &[
    // Sources.
    entry(
        &["FromDevice", "FromHost", "FromLinux", "PollDevice"],
        &[All(|args| device(args).map(Make))],
        &[Always(Downstream)],
    ),
    entry(&["InfiniteSource", "RatedSource"], &[Always(Make(IP))], &[Always(Downstream)]),
    entry(&["Idle", "SimpleIdle"], &[Always(Nothing)], &[Always(Downstream)]),
    // Elements that move the front of packets.
    entry(&["Align"], &[All(|args| align(args).map(Make))], &[Always(Downstream)]),
    entry(&["Strip"], &[Number("LENGTH", Move, None)], &[Always(Downstream)]),
    entry(&["Unstrip"], &[Number("LENGTH", back, None)], &[Always(Downstream)]),
    entry(&["Resize"], &[Number("HEAD", back, Some(0))], &[Always(Downstream)]),
    entry(&["EtherEncap"], &[Always(Move(-14))], &[Always(Downstream)]),
    entry(&["EtherVLANEncap"], &[Always(Steps(-14, 4))], &[Always(Downstream)]),
    entry(&["VLANEncap", "VLANDecap", "StripIPHeader"], &[Always(Steps(0, 4))], &[Always(Downstream)]),
    entry(&["StripEtherVLANHeader"], &[Always(Steps(14, 4))], &[Always(Downstream)]),
    entry(
        &["StripToNetworkHeader", "UnstripIPHeader", "EnsureEther"],
        &[Always(Lose)],
        &[Always(Downstream)],
    ),
    // IP.
    entry(&["CheckIPHeader", "CheckIPHeader2"], &[Always(Keep)], &[All(|args| Some(ip_at(header(args))))]),
    entry(&["MarkIPHeader"], &[Always(Keep)], &[Number("OFFSET", ip_at, Some(0))]),
    entry(&["IPInputCombo"], &[Always(Move(14))], &[Always(At(ETHERNET))]),
    entry(&["IPEncap"], &[Always(Move(-20))], &[Always(At(IP))]),
    entry(
        &["UDPIPEncap", "RandomUDPIPEncap", "RoundRobinUDPIPEncap", "ICMPPingEncap", "ICMPIPEncap"],
        &[Always(Steps(0, 4))],
        &[Always(At(IP))],
    ),
    entry(&["RoundRobinTCPIPEncap", "StoreUDPTimeSeqRecord"], &[Always(Steps(0, 4))], &[Always(At(IP))]),
    entry(
        &["IPFragmenter"],
        &[Number("HEADROOM", |room| MoveOrMake(0, IP.moved(room)), Some(28)), Always(Keep)],
        &[Always(Downstream)],
    ),
    entry(
        &["ICMPError"],
        &[Flag("ETHER", |ether| if ether { Lose } else { Make(IP) })],
        &[Always(Downstream)],
    ),
    // Ethernet.
    entry(&["ARPResponder"], &[Always(Make(ETHERNET)), Always(Keep)], &[Always(At(HALFWORD))]),
    entry(
        &["ARPQuerier"],
        &[Always(MoveOrMake(-14, ETHERNET)), Always(Make(ETHERNET))],
        &[Always(Downstream), Always(At(HALFWORD))],
    ),
    entry(&["ToHost", "ToLinux"], &[Always(Keep)], &[All(|args| device(args).map(At))]),
    // Classification.
    entry(&["Classifier"], &[Always(Keep)], &[All(|args| Some(classifier(args)))]),
];

const fn entry(
    classes: &'static [&'static str],
    changes: &'static [ByArguments<Change>],
    needs: &'static [ByArguments<Need>],
) -> Entry {
    Entry { classes, changes, needs }
}

/// Bytes that are put in front move the beginning of a packet back.
fn back(bytes: i64) -> Change {
    Move(-bytes)
}

/// An IP header some bytes into the packet at a multiple of 4.
fn ip_at(offset: i64) -> Need {
    At(IP.moved(-offset))
}

/// Where a CheckIPHeader finds the header: `OFFSET`, or in the old form the first or second argument.
fn header(args: &[String]) -> i64 {
    let number = |text: &str| text.trim().parse().ok();
    let positional = || args.iter().take(2).find_map(|a| number(a));
    keyword_argument(args, "OFFSET").and_then(number).or_else(positional).unwrap_or(0)
}

/// The alignment of an Align.
fn align(args: &[String]) -> Option<Alignment> {
    let number = |keyword, position: usize| {
        let given = keyword_argument(args, keyword).or(args.get(position).map(String::as_str));
        given?.parse::<u32>().ok()
    };
    Alignment::checked(number("MODULUS", 0)?, number("OFFSET", 1)?)
}

/// The alignment of packets of a device: as `ALIGNMENT` says, else by the `TYPE` of the device.
fn device(args: &[String]) -> Option<Alignment> {
    match (keyword_argument(args, "ALIGNMENT"), keyword_argument(args, "TYPE")) {
        (Some(text), _) => align(&split_words(text)),
        (None, Some("IP")) => Some(IP),
        _ => Some(ETHERNET),
    }
}

/// The value of an argument given by its keyword.
fn keyword_argument<'a>(args: &'a [String], keyword: &str) -> Option<&'a str> {
    let value = |arg: &'a String| arg.strip_prefix(keyword)?.strip_prefix(char::is_whitespace);
    args.iter().find_map(value).map(str::trim)
}

/// A Classifier compares words of four bytes, which lie on different sides of a word's border in memory if packets do not
/// lie alike. If it reads nothing, it needs nothing.
fn classifier(patterns: &[String]) -> Need {
    if patterns.iter().all(|p| p.trim() == "-") { Downstream } else { Alike(4) }
}

/// The rule for an element, or the name of the argument that it would depend on but that cannot be read. The class is
/// missing if nobody knows it.
pub fn rule(name: &str, class: Option<&'static Class>, config: &str) -> Result<Rule, &'static str> {
    let Some(entry) = TABLE.iter().find(|e| e.classes.contains(&name)) else { return Ok(Rule::neutral()) };
    let mut arguments = Arguments { class, config };
    let changes = entry.changes.iter().map(|c| arguments.fill_in(c)).collect::<Result<_, _>>()?;
    let needs = entry.needs.iter().map(|n| arguments.fill_in(n)).collect::<Result<_, _>>()?;
    Ok(Rule { changes, needs })
}

/// The rule for an element of which one knows only that it moves packets, but not how far.
pub fn unknown() -> Rule {
    Rule { changes: vec![Lose], needs: vec![Downstream] }
}

/// The arguments of an element.
struct Arguments<'a> {
    class: Option<&'static Class>,
    config: &'a str,
}

impl Arguments<'_> {
    fn fill_in<T: Copy>(&mut self, by: &ByArguments<T>) -> Result<T, &'static str> {
        match *by {
            Always(value) => Ok(value),
            Number(name, make, default) => {
                let number = self.read(name, |args| args.get::<i32>(name).map(i64::from), default);
                number.map(make).ok_or(name)
            }
            Flag(name, make) => {
                self.read(name, |args| args.get::<bool>(name), Some(false)).map(make).ok_or(name)
            }
            All(make) => make(&split_args(self.config)).ok_or("its arguments"),
        }
    }

    /// An argument as the class reads it; if it is not given, the default.
    fn read<T>(&self, name: &str, get: impl Fn(&mut Args) -> Option<T>, default: Option<T>) -> Option<T> {
        let specs = self.class.map_or(&[][..], |c| c.args);
        if !specs.iter().any(|s| s.name == name) {
            return default;
        }
        let mut args = Args::new(specs, self.config, &Names::default());
        if args.has(name) { get(&mut args) } else { default }
    }
}
