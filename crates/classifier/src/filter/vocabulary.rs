//! What a word of the language can mean: a type word, or a name of a number in some sense.

use super::names::{ICMP, Names, NumberKind, TCP, TCP_OR_UDP, UDP, number, protocol_name};
use super::primitive::{
    DSCP, HEADER_LENGTH, ICMP_TYPE, ID, Kind, LENGTH, TOS, TTL, VERSION, WINDOW, kind_name,
};

/// Words that say what is asked about.
pub(crate) fn type_word(word: &str) -> Option<Kind> {
    Some(match word {
        "ce" => Kind::Ce,
        "dscp" => Kind::Field(DSCP),
        "ect" => Kind::Ect,
        "frag" => Kind::Fragment,
        "hl" => Kind::Field(HEADER_LENGTH),
        "host" => Kind::Host,
        "id" => Kind::Field(ID),
        "len" => Kind::Field(LENGTH),
        "net" => Kind::Net,
        "opt" => Kind::TcpFlags,
        "port" => Kind::Port,
        "proto" => Kind::Protocol,
        "tos" => Kind::Field(TOS),
        "ttl" => Kind::Field(TTL),
        "type" => Kind::Field(ICMP_TYPE),
        "unfrag" => Kind::Unfragmented,
        "vers" => Kind::Field(VERSION),
        "win" => Kind::Field(WINDOW),
        _ => return None,
    })
}

/// Words of the grammar, which are never names.
pub(crate) fn is_syntax(word: &str) -> bool {
    matches!(word, "dest" | "dst" | "ether" | "ip" | "not" | "src" | "and" | "or" | "true" | "false" | "mask")
}

/// What a name turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Not a known name.
    Unknown,
    /// A value of this kind.
    Value(Kind, u32),
    /// Known, but not in this sense, or in several: message and hint.
    Unclear(String, String),
}

const SENSES: [(NumberKind, Kind); 5] = [
    (NumberKind::IpProtocol, Kind::Protocol),
    (NumberKind::TcpPort, Kind::Port),
    (NumberKind::UdpPort, Kind::Port),
    (NumberKind::TcpFlags, Kind::TcpFlags),
    (NumberKind::IcmpType, Kind::Field(ICMP_TYPE)),
];

/// The meaning of a name where a value of `kind` (if any is named) for packets of `protocol` (if any is
/// named) may stand.
pub(crate) fn meaning(names: &dyn Names, word: &str, kind: Option<Kind>, protocol: Option<u32>) -> Meaning {
    if is_syntax(word) {
        return Meaning::Unknown;
    }
    let known: Vec<(NumberKind, Kind, u32)> = SENSES
        .iter()
        .filter_map(|&(sense, of)| number(names, sense, word).map(|number| (sense, of, number)))
        .collect();
    if known.is_empty() {
        return Meaning::Unknown;
    }
    let mut fitting: Vec<(Kind, u32)> = known
        .iter()
        .filter(|(sense, of, _)| kind.is_none_or(|kind| kind == *of) && fits(*sense, protocol))
        .map(|&(_, of, number)| (of, number))
        .collect();
    fitting.dedup();
    match fitting[..] {
        [(kind, number)] => Meaning::Value(kind, number),
        _ => unclear(word, kind, protocol, &known, fitting.len() > 1),
    }
}

/// Whether packets of `protocol` have values in this sense.
fn fits(sense: NumberKind, protocol: Option<u32>) -> bool {
    let Some(protocol) = protocol else { return true };
    match sense {
        NumberKind::IpProtocol => true,
        NumberKind::TcpPort | NumberKind::TcpFlags => protocol == TCP || protocol == TCP_OR_UDP,
        NumberKind::UdpPort => protocol == UDP || protocol == TCP_OR_UDP,
        NumberKind::IcmpType => protocol == ICMP,
    }
}

fn unclear(
    word: &str,
    kind: Option<Kind>,
    protocol: Option<u32>,
    known: &[(NumberKind, Kind, u32)],
    ambiguous: bool,
) -> Meaning {
    let mut choices: Vec<String> =
        known.iter().map(|(_, of, _)| format!("'{} {word}'", kind_name(*of))).collect();
    choices.dedup();
    let choices = choices.join(", ");
    let written: Vec<String> =
        kind.map(kind_name).into_iter().chain(protocol.map(protocol_name)).chain([word.to_owned()]).collect();
    let trouble = if ambiguous { "ambiguous" } else { "meaningless" };
    let message = format!("'{}' is {trouble}; try {choices}", written.join(" "));
    Meaning::Unclear(message, format!("the name '{word}' is known as {choices}"))
}

#[cfg(test)]
mod tests {
    use super::super::names::NoNames;
    use super::*;

    #[test]
    fn a_name_means_what_its_surroundings_allow() {
        let meaning = |word, kind, protocol| meaning(&NoNames, word, kind, protocol);
        assert_eq!(meaning("www", None, None), Meaning::Value(Kind::Port, 80));
        assert_eq!(meaning("syn", None, None), Meaning::Value(Kind::TcpFlags, 2));
        assert_eq!(meaning("echo", Some(Kind::Port), None), Meaning::Value(Kind::Port, 7));
        assert_eq!(meaning("echo", None, Some(ICMP)), Meaning::Value(Kind::Field(ICMP_TYPE), 8));
        assert_eq!(meaning("nothing", None, None), Meaning::Unknown);
        let Meaning::Unclear(message, _) = meaning("echo", None, None) else { panic!("echo is ambiguous") };
        assert_eq!(message, "'echo' is ambiguous; try 'port echo', 'icmp type echo'");
        let Meaning::Unclear(message, _) = meaning("syn", Some(Kind::Host), None) else {
            panic!("syn is no host")
        };
        assert_eq!(message, "'ip host syn' is meaningless; try 'tcp opt syn'");
    }
}
