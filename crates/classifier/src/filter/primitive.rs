//! The smallest parts of an expression: collected words in, one checked question about a packet out.
//!
//! A [`Draft`] holds what the words said (`src`, `port`, `>`, `1023`). [`Draft::check`] fills in what was
//! left out from the primitive before (`src port 80 or 81`), finds contradictions, and makes a [`Primitive`].

use super::names::{DCCP, ICMP, TCP, TCP_OR_UDP, TRANSPORT, UDP, protocol_name};
use super::relation::{Operator, Relation, RelationError};

/// Which of the two addresses or ports must fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Source,
    Destination,
    Either,
    Both,
}

/// The header an address was asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    Ether,
    Ip,
}

/// Bits of the IP header, or with a protocol, of the transport header of its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub protocol: Option<u32>,
    /// First bit, counted from the start of the header.
    pub bit: u32,
    /// Length in bits, 1 to 32; a field lies within one aligned word.
    pub bits: u32,
}

impl Field {
    pub const fn ip(bit: u32, bits: u32) -> Self {
        Self { protocol: None, bit, bits }
    }

    /// All bits of the field set.
    pub fn full(&self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }
}

/// RFC 791 §3.1, RFC 2474 §3, RFC 9293 §3.1, RFC 792.
pub(crate) const VERSION: Field = Field::ip(0, 4);
pub(crate) const HEADER_LENGTH: Field = Field::ip(4, 4);
pub(crate) const TOS: Field = Field::ip(8, 8);
pub(crate) const DSCP: Field = Field::ip(8, 6);
pub(crate) const LENGTH: Field = Field::ip(16, 16);
pub(crate) const ID: Field = Field::ip(32, 16);
pub(crate) const TTL: Field = Field::ip(64, 8);
pub(crate) const WINDOW: Field = Field { protocol: Some(TCP), bit: 14 * 8, bits: 16 };
pub(crate) const ICMP_TYPE: Field = Field { protocol: Some(ICMP), bit: 0, bits: 8 };

/// What a primitive asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Host,
    Net,
    Ether,
    Protocol,
    Port,
    TcpFlags,
    Fragment,
    Unfragmented,
    /// ECN-capable transport, congestion experienced: RFC 3168 §5.
    Ect,
    Ce,
    Field(Field),
}

/// What it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    None,
    Integer(i64),
    Range(u32, u32),
    /// A name, which also says what it is a value of.
    Named(Kind, u32),
    Host(u32),
    Net(u32, u32),
    Ether([u8; 6]),
}

/// A mask written after `&`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mask {
    Integer(u32),
    Address(u32),
    Ether([u8; 6]),
}

/// One primitive as written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draft {
    pub kind: Option<Kind>,
    pub side: Option<Side>,
    pub protocol: Option<u32>,
    pub header: Option<Header>,
    pub operator: Operator,
    pub negated: bool,
    pub mask: Option<Mask>,
    pub value: Value,
}

/// What the next primitive may leave out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Previous {
    pub kind: Option<Kind>,
    pub side: Option<Side>,
    pub protocol: Option<u32>,
}

/// A checked primitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Primitive {
    /// The packet must be of this protocol.
    pub protocol: Option<u32>,
    pub question: Question,
}

/// What a primitive asks besides the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Nothing,
    Address(Side, Relation),
    Ether { side: Side, address: [u8; 6], mask: [u8; 6], negated: bool },
    Protocol(Relation),
    Fragment { wanted: bool },
    Port(Side, Relation),
    TcpFlags(u32),
    Field(Field, Relation),
}

/// A primitive that makes no sense: message and hint.
pub(crate) type Complaint = (String, String);

/// A checked primitive, what it lends to the next one, and a warning.
pub(crate) type Checked = (Primitive, Previous, Option<Complaint>);

impl Draft {
    pub fn new() -> Self {
        Self {
            kind: None,
            side: None,
            protocol: None,
            header: None,
            operator: Operator::Equal,
            negated: false,
            mask: None,
            value: Value::None,
        }
    }

    /// The question this asks after the primitive `previous`.
    pub fn check(mut self, previous: &Previous) -> Result<Checked, Complaint> {
        let had_side = self.side.is_some();
        let mut kind = self.kind_or_inferred(previous)?;
        let header = self.header.unwrap_or(match self.value {
            Value::Ether(_) => Header::Ether,
            _ => Header::Ip,
        });
        if header == Header::Ether && kind == Kind::Host {
            kind = Kind::Ether;
        }
        if (header == Header::Ether) != (kind == Kind::Ether) {
            return Err(self.wrong_header(kind));
        }
        let mut warning = None;
        let question = self.question(kind, &mut warning)?;
        let sided = matches!(question, Question::Address(..) | Question::Ether { .. } | Question::Port(..));
        if had_side && !sided {
            let message = format!("{}: 'src' or 'dst' ignored", self.quoted(kind));
            warning = Some((message, "only addresses and ports have a source and a destination".to_owned()));
        }
        let previous = Previous { kind: Some(kind), side: self.side, protocol: self.protocol };
        Ok((Primitive { protocol: self.protocol, question }, previous, warning))
    }

    /// What is asked about, guessed from the value and the primitive before if no word says it.
    fn kind_or_inferred(&mut self, previous: &Previous) -> Result<Kind, Complaint> {
        if let Some(kind) = self.kind {
            return Ok(kind);
        }
        let kind = match self.value {
            Value::Host(_) => Kind::Host,
            Value::Net(..) => Kind::Net,
            Value::Ether(_) => Kind::Ether,
            Value::Named(kind, _) => kind,
            Value::Integer(_) | Value::Range(..) => match previous.kind {
                Some(kind @ (Kind::Field(_) | Kind::Protocol | Kind::Port | Kind::Ect)) => kind,
                _ => {
                    return Err(complaint(
                        "specify header field or 'port'",
                        "for example 'dst port 80' or 'ip ttl 80'",
                    ));
                }
            },
            Value::None if self.protocol.is_some() => Kind::Protocol,
            Value::None => {
                return Err(complaint(
                    "partial directive",
                    "say what to compare with, for example 'src host 10.0.0.1'",
                ));
            }
        };
        match kind {
            Kind::Host | Kind::Net | Kind::Ether | Kind::TcpFlags => self.side = self.side.or(previous.side),
            Kind::Port => {
                self.side = self.side.or(previous.side);
                self.protocol = self.protocol.or(previous.protocol);
            }
            Kind::Field(field) => self.protocol = self.protocol.or(field.protocol),
            _ => {}
        }
        Ok(kind)
    }

    fn question(&mut self, kind: Kind, warning: &mut Option<Complaint>) -> Result<Question, Complaint> {
        match kind {
            Kind::Host | Kind::Net => self.address(kind),
            Kind::Ether => self.ether(),
            Kind::Protocol => self.protocol_question(warning),
            Kind::Port => self.port(warning),
            Kind::TcpFlags => self.tcp_flags(),
            Kind::Fragment | Kind::Unfragmented => {
                self.no_value(kind)?;
                Ok(Question::Fragment { wanted: kind == Kind::Fragment })
            }
            Kind::Ce => {
                self.no_value(kind)?;
                Ok(Question::Field(TOS, Relation::equal(3, 3)))
            }
            Kind::Ect if self.value == Value::None => {
                Ok(Question::Field(TOS, Relation { negated: true, ..Relation::equal(3, 0) }))
            }
            Kind::Ect => Ok(Question::Field(TOS, self.relation(kind, 3, warning)?)),
            Kind::Field(field) => Ok(Question::Field(field, self.relation(kind, field.full(), warning)?)),
        }
    }

    fn address(&mut self, kind: Kind) -> Result<Question, Complaint> {
        let (address, own_mask) = match (kind, self.value) {
            (Kind::Host, Value::Host(address)) => (address, u32::MAX),
            (Kind::Net, Value::Net(address, mask)) => (address, mask),
            (Kind::Host, _) => {
                return Err(self.about(kind, "address missing", "write an address such as 10.0.0.1"));
            }
            _ => return Err(self.about(kind, "address missing", "write a network such as 10.0.0.0/8")),
        };
        self.only_equality(kind)?;
        let mask = match self.mask {
            None => own_mask,
            Some(Mask::Integer(mask) | Mask::Address(mask)) => mask,
            Some(Mask::Ether(_)) => return Err(self.bad_mask(kind)),
        };
        let relation = Relation { negated: self.negated, ..Relation::equal(mask, address & mask) };
        Ok(Question::Address(*self.side.get_or_insert(Side::Either), relation))
    }

    fn ether(&mut self) -> Result<Question, Complaint> {
        let Value::Ether(address) = self.value else {
            return Err(self.about(
                Kind::Ether,
                "address missing",
                "write an address such as 00:01:02:03:04:05",
            ));
        };
        self.only_equality(Kind::Ether)?;
        let mask = match self.mask {
            None => [0xff; 6],
            Some(Mask::Ether(mask)) => mask,
            Some(_) => return Err(self.bad_mask(Kind::Ether)),
        };
        let side = *self.side.get_or_insert(Side::Either);
        Ok(Question::Ether { side, address, mask, negated: self.negated })
    }

    fn protocol_question(&mut self, warning: &mut Option<Complaint>) -> Result<Question, Complaint> {
        let named = match self.value {
            Value::Named(Kind::Protocol, number) => Some(number),
            Value::None => self.protocol,
            Value::Integer(_) | Value::Range(..) => None,
            _ => return Err(self.value_missing(Kind::Protocol)),
        };
        let already = self.protocol.take();
        let wanted = named.map(i64::from).or(if let Value::Integer(n) = self.value { Some(n) } else { None });
        if let (Some(first), Some(second)) = (already, wanted)
            && i64::from(first) != second
        {
            return Err(self.about(Kind::Protocol, "specified twice", "a packet has one transport protocol"));
        }
        if let Some(pseudo) = named.filter(|&number| number >= TCP_OR_UDP) {
            return self.pseudo_protocol(pseudo);
        }
        if let Some(number) = named {
            self.value = Value::Integer(i64::from(number));
        }
        let relation = self.relation(Kind::Protocol, 0xff, warning)?;
        if let Some(number) = relation.exactly(0xff) {
            self.protocol = Some(number);
            return Ok(Question::Nothing);
        }
        Ok(Question::Protocol(relation))
    }

    fn pseudo_protocol(&mut self, protocol: u32) -> Result<Question, Complaint> {
        if self.operator != Operator::Equal || self.negated || self.mask.is_some() {
            let message = format!("'{}': operator or mask not supported", protocol_name(protocol));
            return Err((message, "it stands for several protocols: use 'not'".to_owned()));
        }
        self.protocol = Some(protocol);
        Ok(Question::Nothing)
    }

    fn port(&mut self, warning: &mut Option<Complaint>) -> Result<Question, Complaint> {
        const SCTP: u32 = 132;
        const UDP_LITE: u32 = 136;
        match *self.protocol.get_or_insert(TCP_OR_UDP) {
            TCP | UDP | TCP_OR_UDP | DCCP | SCTP | UDP_LITE => {}
            other => {
                let hint = format!("{} has no ports; tcp and udp have", protocol_name(other));
                return Err((format!("'port': bad protocol {other}"), hint));
            }
        }
        let relation = self.relation(Kind::Port, 0xffff, warning)?;
        Ok(Question::Port(*self.side.get_or_insert(Side::Either), relation))
    }

    fn tcp_flags(&mut self) -> Result<Question, Complaint> {
        let flags = match self.value {
            Value::Named(Kind::TcpFlags, flags) => i64::from(flags),
            Value::Integer(flags) => flags,
            _ => return Err(self.value_missing(Kind::TcpFlags)),
        };
        match *self.protocol.get_or_insert(TCP) {
            TCP => {}
            other => {
                return Err((
                    format!("'tcp opt': bad protocol {other}"),
                    "only TCP has these flags".to_owned(),
                ));
            }
        }
        if self.operator != Operator::Equal || self.negated || self.mask.is_some() {
            let hint = "write 'not tcp opt ...', or compare 'tcp[13]'";
            return Err(self.about(Kind::TcpFlags, "operator or mask not supported", hint));
        }
        match u32::try_from(flags) {
            Ok(flags @ 0..=255) => Ok(Question::TcpFlags(flags)),
            _ => Err((
                format!("'tcp opt': value {flags} out of range"),
                "the flags are one byte: 0 to 255".to_owned(),
            )),
        }
    }

    fn relation(
        &self,
        kind: Kind,
        full: u32,
        warning: &mut Option<Complaint>,
    ) -> Result<Relation, Complaint> {
        let mask = match self.mask {
            None => None,
            Some(Mask::Integer(mask)) => Some(mask),
            Some(_) => return Err(self.bad_mask(kind)),
        };
        let made = match self.value {
            Value::Integer(value) => Relation::new(self.operator, self.negated, value, mask, full),
            Value::Named(of, value) if of == kind => {
                Relation::new(self.operator, self.negated, i64::from(value), mask, full)
            }
            Value::Range(low, high) if self.operator == Operator::Equal => {
                Relation::within(self.negated, low, high, mask, full)
            }
            Value::Range(..) => {
                return Err(self.about(kind, "operator not supported", "a range goes with = and != only"));
            }
            _ => return Err(self.value_missing(kind)),
        };
        let (relation, note) = made.map_err(|error| self.relation_error(kind, error, full))?;
        *warning = note.map(|note| (note, "compare with a value inside the range".to_owned()));
        Ok(relation)
    }

    fn relation_error(&self, kind: Kind, error: RelationError, full: u32) -> Complaint {
        match error {
            RelationError::Mask => {
                let hint = format!("use a mask of at most 0x{full:X}");
                self.about(kind, &format!("mask out of range, bound 0x{full:X}"), &hint)
            }
            RelationError::Value => self.about(
                kind,
                &format!("out of range, bound {full}"),
                &format!("use a value from 0 to {full}"),
            ),
            RelationError::EmptyRange => self.about(kind, "empty range", "write the lower bound first"),
        }
    }

    fn only_equality(&self, kind: Kind) -> Result<(), Complaint> {
        if self.operator == Operator::Equal {
            return Ok(());
        }
        Err(self.about(kind, "operator not supported", "addresses are compared with = and != only"))
    }

    fn no_value(&self, kind: Kind) -> Result<(), Complaint> {
        if self.value == Value::None && self.mask.is_none() {
            return Ok(());
        }
        Err(self.about(kind, "value not supported", "it stands alone, without a value"))
    }

    fn wrong_header(&self, kind: Kind) -> Complaint {
        match kind {
            Kind::Ether | Kind::Host | Kind::Net => self.about(
                kind,
                "address missing",
                "'ether' goes with Ethernet addresses, 'ip' with IP addresses",
            ),
            _ => self.about(kind, "ip only", "remove 'ether'"),
        }
    }

    fn value_missing(&self, kind: Kind) -> Complaint {
        self.about(kind, "value missing", "write the value to compare with after it")
    }

    fn bad_mask(&self, kind: Kind) -> Complaint {
        self.about(kind, "bad mask", "the mask must be of the same sort as the value")
    }

    fn about(&self, kind: Kind, message: &str, hint: &str) -> Complaint {
        (format!("{}: {message}", self.quoted(kind)), hint.to_owned())
    }

    fn quoted(&self, kind: Kind) -> String {
        let side = match self.side {
            None => "",
            Some(Side::Source) => "src ",
            Some(Side::Destination) => "dst ",
            Some(Side::Either) => "src or dst ",
            Some(Side::Both) => "src and dst ",
        };
        format!("'{side}{}'", kind_name(kind))
    }
}

fn complaint(message: &str, hint: &str) -> Complaint {
    (message.to_owned(), hint.to_owned())
}

/// How messages call it.
pub(crate) fn kind_name(kind: Kind) -> String {
    let name = match kind {
        Kind::Host => "ip host",
        Kind::Net => "ip net",
        Kind::Ether => "ether host",
        Kind::Protocol => "proto",
        Kind::Port => "port",
        Kind::TcpFlags => "tcp opt",
        Kind::Fragment => "ip frag",
        Kind::Unfragmented => "ip unfrag",
        Kind::Ect => "ip ect",
        Kind::Ce => "ip ce",
        Kind::Field(LENGTH) => "ip len",
        Kind::Field(ID) => "ip id",
        Kind::Field(VERSION) => "ip vers",
        Kind::Field(HEADER_LENGTH) => "ip hl",
        Kind::Field(TOS) => "ip tos",
        Kind::Field(DSCP) => "ip dscp",
        Kind::Field(TTL) => "ip ttl",
        Kind::Field(WINDOW) => "tcp win",
        Kind::Field(ICMP_TYPE) => "icmp type",
        Kind::Field(Field { protocol: Some(TRANSPORT), .. }) => "transp[...]",
        Kind::Field(Field { protocol: Some(protocol), .. }) => {
            return format!("{}[...]", protocol_name(protocol));
        }
        Kind::Field(_) => "ip[...]",
    };
    name.to_owned()
}
