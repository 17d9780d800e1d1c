//! A program as Rust: the text of a module that decides as the interpreter does.
//!
//! ```text
//! pub struct Constants;
//! pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16>
//! ```
//!
//! `fast` returns the output, or `None` for a packet that is dropped or, in a search, whose fields are not all there: the
//! element decides about it. The text depends on the program alone, so that classifiers with equal programs have equal
//! text, and needs `std` and `clickwork_packet` (without header views).
//!
//! No check of a length is lost. A packet is asked once whether it is long enough for all steps; if it is, they read
//! arrays of words, at places that are known to lie in them (`steps`). If not, the steps are walked in a table,
//! with a check before each (`short`). For large sets of rules there is a search instead (`tables`). Read first: Kohler,
//! Morris, Chen (2002), §4.

mod meaning;
mod short;
mod steps;
mod tables;

use crate::diagram::Target;
use crate::headers::Base;
use crate::program::Program;
use std::fmt::Write as _;

/// Longer programs are not written as steps: compiling them would take too long.
const MOST_STEPS: usize = 2000;
/// Larger searches are not written: compiling them would take too long.
const MOST_BOXES: usize = 20_000;

/// Where a program's sections are in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sections {
    /// All offsets count from the start of the data, as in `Classifier`.
    Data,
    /// Offsets count from the headers that are marked, as in `IPFilter` and `IPClassifier`.
    Headers,
}

impl Sections {
    /// What the text calls the section of a base.
    fn name(self, base: Base) -> &'static str {
        match (self, base) {
            (Sections::Data, _) => "data",
            (Sections::Headers, Base::Ether) => "ether",
            (Sections::Headers, Base::Network) => "network",
            (Sections::Headers, Base::Transport) => "transport",
        }
    }

    /// Rust that finds the section of a base in the packet `p`.
    fn find(self, base: Base) -> &'static str {
        match (self, base) {
            (Sections::Data, _) => "p.data()",
            (Sections::Headers, Base::Ether) => "p.mac_header().unwrap_or_default()",
            (Sections::Headers, Base::Network) => "p.network_bytes().unwrap_or_default()",
            (Sections::Headers, Base::Transport) => "transport_bytes(p).unwrap_or_default()",
        }
    }
}

/// A section that some step looks at, and how many words the steps read of it.
struct Used {
    base: Base,
    name: &'static str,
    words: usize,
}

/// The text of a module that decides as `program` does. `None` for a program that is too long to compile, and for what
/// neither language makes: words at other places than multiples of four, outputs that do not fit the result.
pub fn module(program: &Program, sections: Sections) -> Option<String> {
    let steps = program.steps();
    let whole_words = steps.iter().all(|step| step.test.offset.is_multiple_of(4));
    let small_ports = program.outputs().last().is_none_or(|port| u16::try_from(*port).is_ok());
    let used: Vec<Used> = Base::ALL
        .into_iter()
        .map(|base| Used { base, name: sections.name(base), words: program.safe_length(base).div_ceil(4) })
        .filter(|used| used.words > 0)
        .collect();
    let text = match program.search_of_code() {
        _ if !whole_words || !small_ports => return None,
        Some(search) if search.boxes().len() > MOST_BOXES => return None,
        Some(search) => tables::tables(search, sections, &used),
        None if steps.len() > MOST_STEPS => return None,
        None if steps.is_empty() => constant(program.start()),
        None => {
            [entry(&used, sections), steps::functions(steps, sections, &used), short::table(steps, &used)]
                .concat()
        }
    };
    let transport = if used.iter().any(|used| used.name == "transport") { TRANSPORT } else { "" };
    Some([HEAD, &text, transport].concat())
}

const HEAD: &str = "\
//! The decisions of a classifier.

use clickwork_packet::Packet;

/// Nothing differs between elements with this code.
#[derive(Debug)]
pub struct Constants;
";

const TRANSPORT: &str = "
#[inline]
fn transport_bytes(p: &Packet) -> Option<&[u8]> {
    p.network_bytes()?.get(p.network_header_len()? as usize..)
}
";

/// The function of a program that asks nothing.
fn constant(decision: Target) -> String {
    let decision = decided(decision);
    format!(
        "\n/// The output for every packet.\n#[inline]\npub fn fast(_: &Constants, _: &mut Packet) -> Option<u16> {{\n    {decision}\n}}\n"
    )
}

/// A decision as a Rust expression.
fn decided(decision: Target) -> String {
    match decision {
        Target::Output(port) => format!("Some({port})"),
        Target::Step(_) | Target::Drop => "None".into(),
    }
}

/// The function that finds the sections and asks for their lengths.
fn entry(used: &[Used], sections: Sections) -> String {
    let list = |each: &dyn Fn(&Used) -> String| used.iter().map(each).collect::<Vec<_>>().join(", ");
    let tuple = |items: String| if used.len() == 1 { items } else { format!("({items})") };
    let words = tuple(list(&|used| format!("{}.as_chunks().0.first_chunk::<{}>()", used.name, used.words)));
    let found = tuple(list(&|used| format!("Some({})", used.name)));
    let names = list(&|used| used.name.to_owned());
    let decide = format!(
        "    match {words} {{\n        {found} => step_0({names}),\n        _ => short([{names}]),\n    }}\n}}\n"
    );
    find_sections(used, sections) + &decide
}

/// The beginning of the function `fast`, which finds the sections.
fn find_sections(used: &[Used], sections: Sections) -> String {
    let mut text = String::from(
        "\n/// The output for a packet, or `None` if it is dropped.\n#[inline]\n\
         pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {\n",
    );
    for used in used {
        let _ = writeln!(text, "    let {} = {};", used.name, sections.find(used.base));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoNames, classifier, ip_classifier};

    fn function(text: &str, name: &str) -> String {
        let rest = text.split_once(&format!("fn {name}")).expect("the function is there").1;
        rest.split_once("\n}").expect("functions end").0.to_owned()
    }

    #[test]
    fn steps_become_conditions_with_their_meaning() {
        let program = ip_classifier(&["src net 10.0.0.0/8 and tcp", "-"], &NoNames).unwrap().program;
        let text = module(&program, Sections::Headers).unwrap();
        let expected = "(network: &[[u8; 4]; 4]) -> Option<u16> {
    if u32::from_be_bytes(network[2]) & 0x00ff_0000 != 0x0006_0000 { // not tcp
        return Some(1);
    }
    if u32::from_be_bytes(network[3]) & 0xff00_0000 == 0x0a00_0000 { // source 10.0.0.0/8
        return Some(0);
    }
    Some(1)";
        assert_eq!(function(&text, "step_0"), expected);
    }

    #[test]
    fn values_of_one_word_become_a_match() {
        let program = classifier(&["12/0800", "12/0806", "12/86dd", "-"]).unwrap().program;
        let text = module(&program, Sections::Data).unwrap();
        let expected = "(data: &[[u8; 4]; 4]) -> Option<u16> {
    match u32::from_be_bytes(data[3]) & 0xffff_0000 {
        0x0800_0000 => return Some(0), // 12/0800
        0x0806_0000 => return Some(1), // 12/0806
        0x86dd_0000 => return Some(2), // 12/86dd
        _ => {}
    }
    Some(3)";
        assert_eq!(function(&text, "step_0"), expected);
    }

    #[test]
    fn what_cannot_be_code_is_none() {
        let odd = crate::Test::new(Base::Ether, 1, !0, 5);
        let unaligned = Program::from_rules(&[(odd.into(), Target::Output(0))]);
        let large = Program::from_rules(&[(crate::Expr::Always(true), Target::Output(65536))]);
        assert!(module(&unaligned, Sections::Data).is_none() && module(&large, Sections::Data).is_none());
    }
}
