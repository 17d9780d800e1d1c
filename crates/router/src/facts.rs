//! Facts about an element class: the one definition that the runtime, every tool and the manual read.
//!
//! The codes are Click's. A *port count* `1/1-2` gives the inputs and outputs an element may have; `=` stands for
//! "as many as inputs", each `+` after it for one more. A *processing code* `a/ah` says for each input and output,
//! the last letter repeating, whether it is push (`h`), pull (`l`) or agnostic (`a`). A *flow code* `x/x` says which
//! outputs a packet that entered a port may leave by: ports with a letter in common; `#` stands for the port's own
//! number, `[^x]` for everything but `x`.

use crate::args::ArgSpec;
use crate::element::Element;
use crate::fast::FastPath;
use crate::handler::Handler;
use crate::llrpc::Llrpc;

/// What there is to know about an element class.
#[derive(Debug)]
pub struct Class {
    /// The name, as configurations write it.
    pub name: &'static str,
    /// The family, which is the folder its file is in.
    pub family: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The manual: what the element does to a packet, in plain paragraphs.
    pub manual: &'static str,
    /// A configuration that uses the element; the tests run it. Empty if it needs a device or file.
    pub example: &'static str,
    /// Port count code.
    pub ports: &'static str,
    /// Processing code.
    pub processing: &'static str,
    /// Flow code.
    pub flow: &'static str,
    /// Packet types on inputs and outputs, such as `ip/ip,ip-expired`; `any/same` if the class does not care. See
    /// [`packet_types`](crate::packet_types) for the language.
    pub packets: &'static str,
    /// Click's element flags, such as `S0` (makes no packets of its own).
    pub flags: &'static str,
    /// The configuration arguments, in order.
    pub args: &'static [ArgSpec],
    /// The class's own handlers; every element has the standard ones besides.
    pub handlers: &'static [Handler],
    /// Whether an element that pushes packets without inputs, or pulls without outputs that are pulled, does so in its task, which
    /// then has handlers (`scheduled`, `tickets`, `home_thread`).
    pub task_handlers: bool,
    /// Functions of an element that are called by number.
    pub llrpcs: &'static [Llrpc],
    /// When an element is configured, relative to others: lower first. See [`phase`].
    pub phase: u8,
    /// The common case of the action, for the router compiler.
    pub fast: Option<FastPath>,
    /// Makes an element.
    pub make: fn() -> Box<dyn Element>,
}

/// Configuration order, for [`Class::phase`].
pub mod phase {
    /// Elements that give names and facts to the others (AddressInfo, ScheduleInfo).
    pub const INFO: u8 = 0;
    /// Elements that may claim a device before the ordinary ones.
    pub const PRIVILEGED: u8 = 25;
    /// The rest.
    pub const DEFAULT: u8 = 100;
    /// Elements that look at others when they are configured.
    pub const LAST: u8 = 200;
}

impl Class {
    /// The common case, to be completed with `..Class::new(...)`: one input, one output, agnostic.
    pub const fn new(name: &'static str, family: &'static str, make: fn() -> Box<dyn Element>) -> Class {
        Class {
            name,
            family,
            help: "",
            manual: "",
            example: "",
            ports: "1/1",
            processing: "a/a",
            flow: "x/x",
            packets: "any/same",
            flags: "",
            args: &[],
            handlers: &[],
            task_handlers: false,
            llrpcs: &[],
            phase: phase::DEFAULT,
            fast: None,
            make,
        }
    }

    /// Whether an element may have these numbers of ports.
    pub fn allows_ports(&self, inputs: usize, outputs: usize) -> PortCheck {
        check_ports(self.ports, inputs, outputs)
    }

    /// The value of a flag letter in [`Class::flags`]: 1 if alone, the number behind it otherwise.
    pub fn flag(&self, letter: char) -> Option<i32> {
        let at = self.flags.find(letter)?;
        let digits: String = self.flags[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        Some(digits.parse().unwrap_or(1))
    }
}

/// How packets cross a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Processing {
    /// The upstream element hands packets over.
    Push,
    /// The downstream element asks for packets.
    Pull,
    /// Either, as the neighbours want.
    Agnostic,
}

impl Processing {
    /// `push`, `pull` or `agnostic`.
    pub fn name(self) -> &'static str {
        match self {
            Processing::Push => "push",
            Processing::Pull => "pull",
            Processing::Agnostic => "agnostic",
        }
    }

    fn from_letter(c: u8) -> Processing {
        match c {
            b'h' => Processing::Push,
            b'l' => Processing::Pull,
            _ => Processing::Agnostic,
        }
    }
}

/// Splits a two-sided code at its slash; a code without one holds for both sides.
fn sides(code: &str) -> (&str, &str) {
    let code = code.trim_end_matches('!');
    code.split_once('/').unwrap_or((code, code))
}

/// The processing of port number `port` on one side of a processing code.
pub fn processing_of(code: &str, is_output: bool, port: usize) -> Processing {
    let (inputs, outputs) = sides(code);
    let letters = if is_output { outputs } else { inputs }.trim_end_matches('!').as_bytes();
    letters.get(port).or(letters.last()).map_or(Processing::Agnostic, |&c| Processing::from_letter(c))
}

/// Result of comparing actual port numbers with a port count code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortCheck {
    /// All is well.
    Ok,
    /// Ports are connected beyond the highest allowed number of inputs.
    TooManyInputs(usize),
    /// Fewer inputs are connected than the class needs.
    TooFewInputs(usize),
    /// As above, for outputs.
    TooManyOutputs(usize),
    /// As above, for outputs.
    TooFewOutputs(usize),
}

/// The least and the greatest number that one side of a port count code allows.
pub fn port_range(side: &str) -> (usize, usize) {
    let side = side.trim_end_matches('!');
    match side.split_once('-') {
        Some((low, high)) => (low.parse().unwrap_or(0), high.parse().unwrap_or(usize::MAX)),
        None => side.parse().map_or((0, usize::MAX), |n| (n, n)),
    }
}

fn check_ports(code: &str, inputs: usize, outputs: usize) -> PortCheck {
    let (input_side, output_side) = sides(code);
    let (low, high) = port_range(input_side);
    if inputs < low {
        return PortCheck::TooFewInputs(low);
    } else if inputs > high {
        return PortCheck::TooManyInputs(high);
    }
    let (low, high) = match output_side.strip_prefix('=') {
        Some(plus) => (inputs + plus.len(), inputs + plus.len()),
        None => port_range(output_side),
    };
    match outputs {
        n if n < low => PortCheck::TooFewOutputs(low),
        n if n > high => PortCheck::TooManyOutputs(high),
        _ => PortCheck::Ok,
    }
}

/// Whether a packet that enters `input` may leave by `output`, by a flow code.
pub fn flows(code: &str, input: usize, output: usize) -> bool {
    let (inputs, outputs) = sides(code);
    let (a, b) = (flow_item(inputs, input), flow_item(outputs, output));
    a.meets(&b)
}

/// The set of letters that a flow code gives a port, possibly the complement of it.
struct FlowSet {
    letters: Vec<FlowLetter>,
    complement: bool,
}

#[derive(PartialEq, Clone, Copy)]
enum FlowLetter {
    Named(u8),
    Port(usize),
}

impl FlowSet {
    fn meets(&self, other: &FlowSet) -> bool {
        let common = |a: &FlowSet, b: &FlowSet| a.letters.iter().any(|l| b.letters.contains(l));
        match (self.complement, other.complement) {
            (false, false) => common(self, other),
            (true, false) => other.letters.iter().any(|l| !self.letters.contains(l)),
            (false, true) => self.letters.iter().any(|l| !other.letters.contains(l)),
            (true, true) => true,
        }
    }
}

fn flow_item(side: &str, port: usize) -> FlowSet {
    let mut items = Vec::new();
    let bytes = side.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let end = if bytes[i] == b'[' { side[i..].find(']').map_or(bytes.len(), |n| i + n) } else { i };
        items.push(&bytes[i..=end.min(bytes.len() - 1)]);
        i = end + 1;
    }
    let item: &[u8] = items.get(port).or(items.last()).copied().unwrap_or(b"x");
    let inner = item.strip_prefix(b"[").map_or(item, |s| s.strip_suffix(b"]").unwrap_or(s));
    let (complement, inner) = inner.strip_prefix(b"^").map_or((false, inner), |s| (true, s));
    let letter = |&c: &u8| if c == b'#' { FlowLetter::Port(port) } else { FlowLetter::Named(c) };
    FlowSet { letters: inner.iter().map(letter).collect(), complement }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_counts() {
        assert_eq!(check_ports("1/1-2", 1, 2), PortCheck::Ok);
        assert_eq!(check_ports("1/1-2", 1, 3), PortCheck::TooManyOutputs(2));
        assert_eq!(check_ports("1/1-2", 0, 1), PortCheck::TooFewInputs(1));
        assert_eq!(check_ports("-/-", 9, 0), PortCheck::Ok);
        assert_eq!(check_ports("2-/=", 3, 3), PortCheck::Ok);
        assert_eq!(check_ports("-/=+", 3, 3), PortCheck::TooFewOutputs(4));
        assert_eq!(check_ports("1-/1-!", 1, 7), PortCheck::Ok);
    }

    #[test]
    fn the_last_processing_letter_repeats() {
        assert_eq!(processing_of("a/ah", true, 0), Processing::Agnostic);
        assert_eq!(processing_of("a/ah", true, 5), Processing::Push);
        assert_eq!(processing_of("h/lh", true, 0), Processing::Pull);
        assert_eq!(processing_of("l", false, 0), Processing::Pull);
    }

    #[test]
    fn flow_codes() {
        assert!(flows("x/x", 3, 4));
        assert!(!flows("x/y", 0, 0));
        assert!(flows("xy/x", 0, 0) && !flows("xy/x", 1, 0));
        assert!(flows("#/#", 2, 2) && !flows("#/#", 2, 1));
        assert!(!flows("#/[^#]", 2, 2) && flows("#/[^#]", 2, 1));
        assert!(flows("xy/[xy]x", 1, 0) && !flows("xy/[xy]x", 1, 1));
    }
}
