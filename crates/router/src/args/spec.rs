//! The table of a class's arguments: what it may be given, under which names, and of which types.
//!
//! The table is part of the class facts. The runtime matches configurations against it, and the manual, completion
//! and the checker are made from it. It lists arguments in the order in which positions are assigned.

use std::borrow::Cow;

/// How an argument may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgKind {
    /// Mandatory, by position or keyword.
    Required,
    /// Optional, by position or keyword.
    Positional,
    /// Optional, by keyword only.
    Keyword,
    /// Mandatory, by keyword only.
    RequiredKeyword,
    /// All arguments that no other entry takes.
    Rest,
}

/// One argument of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgSpec {
    /// The keyword, in capitals by custom.
    pub name: &'static str,
    /// How it may be given.
    pub kind: ArgKind,
    /// What it holds.
    pub ty: ArgType,
    /// The default as a user would write it; empty if there is none.
    pub default: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Older keywords for the same argument. Using one gives a warning.
    pub aliases: &'static [&'static str],
    /// The word from which on it is a key, 0 if all of it is; see [`ArgSpec::secret`].
    pub secret_from: Option<usize>,
}

impl ArgSpec {
    /// A mandatory argument, by position or keyword.
    pub const fn required(name: &'static str, ty: ArgType, help: &'static str) -> Self {
        Self::new(name, ArgKind::Required, ty, "", help)
    }

    /// An optional argument, by position or keyword.
    pub const fn positional(
        name: &'static str,
        ty: ArgType,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, ArgKind::Positional, ty, default, help)
    }

    /// An optional argument, by keyword only.
    pub const fn keyword(name: &'static str, ty: ArgType, default: &'static str, help: &'static str) -> Self {
        Self::new(name, ArgKind::Keyword, ty, default, help)
    }

    /// A mandatory argument, by keyword only.
    pub const fn required_keyword(name: &'static str, ty: ArgType, help: &'static str) -> Self {
        Self::new(name, ArgKind::RequiredKeyword, ty, "", help)
    }

    /// All arguments that no other entry takes, each of type `ty`.
    pub const fn rest(name: &'static str, ty: ArgType, help: &'static str) -> Self {
        Self::new(name, ArgKind::Rest, ty, "", help)
    }

    /// The same argument, also known by older keywords: `ArgSpec::keyword(...).aliases(&["LENGTH"])`.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The same argument, which is a key: it is hidden from those who may not change the configuration, and may be
    /// `file:NAME`. [`HexKey`](super::HexKey) and [`DataKey`](super::DataKey) read it.
    pub const fn secret(self) -> Self {
        self.secret_from_word(0)
    }

    /// The same for an argument of words that is a key from a word on.
    pub const fn secret_from_word(mut self, word: usize) -> Self {
        self.secret_from = Some(word);
        self
    }

    /// The same mandatory argument, for which an empty one means `default`, as in `Paint(, ANNO 4)`.
    pub const fn or(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    const fn new(
        name: &'static str,
        kind: ArgKind,
        ty: ArgType,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self { name, kind, ty, default, help, aliases: &[], secret_from: None }
    }

    /// Whether leaving it out is an error.
    pub const fn is_mandatory(&self) -> bool {
        matches!(self.kind, ArgKind::Required | ArgKind::RequiredKeyword)
    }

    /// Whether it may be given without its keyword.
    pub const fn is_positional(&self) -> bool {
        matches!(self.kind, ArgKind::Required | ArgKind::Positional)
    }
}

/// The type of an argument, for people and tools. Reading a value is [`FromArg`](super::FromArg)'s job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// `true`, `false`, `yes`, `no`, `1`, `0`, ...
    Bool,
    /// An integer of 8 bits.
    U8,
    /// An integer of 16 bits.
    U16,
    /// An integer of 32 bits.
    U32,
    /// An integer of 64 bits.
    U64,
    /// A signed integer of 32 bits.
    I32,
    /// A signed integer of 64 bits.
    I64,
    /// An integer between two bounds, both allowed.
    IntRange {
        /// The smallest value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// A decimal number kept as a fixed-point or floating number.
    Real,
    /// Text, quoted if it has spaces.
    String,
    /// Text without spaces or quotes.
    Word,
    /// Bytes.
    Data,
    /// Text taken as it stands.
    Text,
    /// One of several words.
    Choice(&'static [&'static str]),
    /// Bytes per second.
    Bandwidth,
    /// Packets per second.
    Rate,
    /// A length of time.
    Seconds,
    /// A point in time.
    Timestamp,
    /// An IPv4 address.
    IpAddr,
    /// An IPv4 prefix.
    IpPrefix,
    /// An IPv4 address or prefix.
    IpAddrOrPrefix,
    /// An IPv6 address.
    Ip6Addr,
    /// An IPv6 prefix.
    Ip6Prefix,
    /// An Ethernet address.
    EtherAddr,
    /// A TCP port.
    TcpPort,
    /// A UDP port.
    UdpPort,
    /// An IP protocol.
    IpProto,
    /// A packet annotation of so many bytes; 0: of any size.
    Anno(u8),
    /// The name of an element.
    Element,
    /// A file.
    Filename,
    /// A handler and the value to write to it.
    HandlerCall,
    /// Something of the class's own, named here.
    Other(&'static str),
}

impl ArgType {
    /// A short name for messages and the manual, such as `IP address`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            ArgType::IntRange { min, max } => format!("integer between {min} and {max}").into(),
            ArgType::Choice(words) => format!("one of {}", words.join(", ")).into(),
            ArgType::Anno(size) if size > 0 => format!("packet annotation of size {size}").into(),
            other => other.describe().0.into(),
        }
    }

    /// A value a user could write; empty if the type alone does not say.
    pub fn example(self) -> &'static str {
        match self {
            ArgType::Choice(words) => words.first().copied().unwrap_or_default(),
            ArgType::Anno(16) => "DST_IP6",
            ArgType::Anno(8) => "PERFCTR",
            ArgType::Anno(4) => "AGGREGATE",
            ArgType::Anno(2) => "VLAN_TCI",
            other => other.describe().1,
        }
    }

    fn describe(self) -> (&'static str, &'static str) {
        match self {
            ArgType::Bool => ("bool", "true"),
            ArgType::U8 => ("integer between 0 and 255", "64"),
            ArgType::U16 => ("integer between 0 and 65535", "1500"),
            ArgType::U32 => ("unsigned integer", "1000"),
            ArgType::U64 => ("unsigned 64-bit integer", "1000"),
            ArgType::I32 => ("integer", "-1"),
            ArgType::I64 => ("64-bit integer", "-1"),
            ArgType::IntRange { .. } => ("integer", ""),
            ArgType::Real => ("real number", "0.5"),
            ArgType::String => ("string", "\"some text\""),
            ArgType::Word => ("word", "name"),
            ArgType::Data => ("data string", "\\<00 1a ff>"),
            ArgType::Text => ("text", ""),
            ArgType::Choice(_) => ("word", ""),
            ArgType::Bandwidth => ("bandwidth", "10Mbps"),
            ArgType::Rate => ("rate in packets per second", "1000"),
            ArgType::Seconds => ("time in seconds", "1.5s"),
            ArgType::Timestamp => ("timestamp", "1000000000.5"),
            ArgType::IpAddr => ("IP address", "10.0.0.1"),
            ArgType::IpPrefix => ("IP address prefix", "10.0.0.0/8"),
            ArgType::IpAddrOrPrefix => ("IP address or prefix", "10.0.0.1/24"),
            ArgType::Ip6Addr => ("IPv6 address", "2001:db8::1"),
            ArgType::Ip6Prefix => ("IPv6 address prefix", "2001:db8::/32"),
            ArgType::EtherAddr => ("Ethernet address", "00:1a:2b:3c:4d:5e"),
            ArgType::TcpPort => ("TCP port", "80"),
            ArgType::UdpPort => ("UDP port", "53"),
            ArgType::IpProto => ("IP protocol", "udp"),
            ArgType::Anno(_) => ("packet annotation", "PAINT"),
            ArgType::Element => ("element name", "q1"),
            ArgType::Filename => ("filename", "trace.pcap"),
            ArgType::HandlerCall => ("handler call", "c.reset"),
            ArgType::Other(name) => (name, ""),
        }
    }

    /// "expected TYPE, such as EXAMPLE", for hints.
    pub(super) fn expectation(self) -> String {
        match self.example() {
            "" => format!("expected {}", self.name()),
            example => format!("expected {}, such as {example}", self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_can_be_constants() {
        const SPEC: ArgSpec =
            ArgSpec::keyword("MTU", ArgType::U16, "1500", "largest packet").aliases(&["MAXLENGTH"]);
        assert_eq!((SPEC.kind, SPEC.default, SPEC.aliases), (ArgKind::Keyword, "1500", &["MAXLENGTH"][..]));
        assert!(!SPEC.is_mandatory() && !SPEC.is_positional());
        let required = ArgSpec::required("SRC", ArgType::IpAddr, "source");
        assert!(required.is_mandatory() && required.is_positional());
    }

    #[test]
    fn types_say_what_they_expect() {
        assert_eq!(ArgType::IpAddr.expectation(), "expected IP address, such as 10.0.0.1");
        assert_eq!(ArgType::IntRange { min: 1, max: 9 }.expectation(), "expected integer between 1 and 9");
        assert_eq!(ArgType::Choice(&["a", "b"]).expectation(), "expected one of a, b, such as a");
        assert_eq!(ArgType::Anno(2).expectation(), "expected packet annotation of size 2, such as VLAN_TCI");
        assert_eq!(ArgType::Other("pattern").expectation(), "expected pattern");
    }
}
