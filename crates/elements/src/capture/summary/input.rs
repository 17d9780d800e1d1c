//! Reads summary dumps: header lines change what the following records mean, records become [`Draft`]s.
//!
//! A wrong line costs that line, not the file. What is wrong is kept as [`Notice`]s for the element to print.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;

use clickwork_router::args::{FromArg, IpProto, Names, split_words, unquote};
use clickwork_source::text;

use crate::capture::error::system_message;
use crate::capture::input::{Input, Patience};

use super::draft::{Defaults, Draft, FlowId};
use super::field::{self, FieldFacts, NONE};
use super::inject::inject;
use super::output::{TEXT_RECORD, VERSION};
use super::parse::{NO_NAMES, Parsed, parse_binary, parse_text};

/// A longer line or record is not believed.
const MAX_LINE: usize = 1 << 20;

/// Header lines with which a dump without a version line can start.
const FIRST_WORDS: [&str; 5] = ["!creator", "!data", "!contents", "!proto", "!flowid"];

/// Something to tell the user about the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Whether it is only a warning.
    pub is_warning: bool,
    /// Where: `file:line`, or `file:record N`.
    pub place: String,
    /// What.
    pub message: String,
}

/// An open dump.
pub struct DumpInput {
    name: String,
    input: Input,
    /// The number of the line or record read last.
    number: u64,
    fields: Vec<&'static FieldFacts>,
    /// The fields in the order in which they are applied.
    order: Vec<usize>,
    defaults: Defaults,
    aggregate: Option<u32>,
    /// What addresses and protocols can be called.
    names: Names,
    binary: bool,
    /// Whether the first line has been looked at.
    is_begun: bool,
    finished: bool,
    /// Whether a pipe has not brought the next record yet.
    waiting: bool,
    has_complained: bool,
    notices: Vec<Notice>,
}

/// A line of text or a packet's record.
enum Record {
    Text(String),
    Binary(Vec<u8>),
}

impl DumpInput {
    /// Opens the dump `name`; `-` is standard input. `protocol` is that of packets that do not say theirs.
    pub fn open(name: &str, patience: Patience, protocol: u8) -> io::Result<DumpInput> {
        let shown = if name == "-" { "<stdin>" } else { name };
        Ok(DumpInput::new(shown, Input::open(name, patience)?, protocol))
    }

    /// Reads a dump from any stream; `name` is for messages.
    pub fn from_stream(
        name: &str,
        stream: impl io::Read + Send + 'static,
        protocol: u8,
    ) -> io::Result<DumpInput> {
        Ok(DumpInput::new(name, Input::from_stream(stream)?, protocol))
    }

    fn new(name: &str, input: Input, protocol: u8) -> DumpInput {
        DumpInput {
            name: name.to_owned(),
            input,
            number: 0,
            fields: Vec::new(),
            order: Vec::new(),
            defaults: Defaults { protocol, flow: None, minor_version: VERSION.1 },
            aggregate: None,
            names: Names::default(),
            binary: false,
            is_begun: false,
            finished: false,
            waiting: false,
            has_complained: false,
            notices: Vec::new(),
        }
    }

    /// The file's name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Offset of what will be read next.
    pub fn position(&self) -> u64 {
        self.input.offset()
    }

    /// Size of the file in bytes, if it is a plain uncompressed file.
    pub fn size(&self) -> Option<u64> {
        self.input.size()
    }

    /// What to wait for if the last call found no packet because it is not there yet.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        self.input.waits_for().filter(|_| self.waiting)
    }

    /// What is to be told since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Lets the columns have names that a router defines.
    pub fn set_names(&mut self, names: Names) {
        self.names = names;
    }

    /// The fields that the columns mean until the dump says otherwise.
    pub fn set_fields(&mut self, fields: &str) {
        self.set_field_words(&split_words(fields));
    }

    /// The flow of packets that do not say theirs: source address and port, destination address and port, protocol.
    pub fn set_flow(&mut self, flow: &str) {
        self.set_flow_words(&split_words(flow));
    }

    /// Reads the first line, after defaults have been set. That of a pipe is read with the first packet.
    pub fn begin(&mut self) -> io::Result<()> {
        if self.input.waits_for().is_some() { Ok(()) } else { self.read_banner() }
    }

    /// Reads the first line, if that has not been done. It says that this is a dump and of which version.
    fn read_banner(&mut self) -> io::Result<()> {
        if self.is_begun {
            return Ok(());
        }
        let present = self.input.line_length(MAX_LINE)?;
        let line = text::decode(&self.input.available()[..present]);
        self.is_begun = true;
        let Some(version) = line.strip_prefix("!IPSummaryDump") else {
            self.number = 1;
            let looks_right =
                FIRST_WORDS.iter().any(|word| line.starts_with(word)) || !self.fields.is_empty();
            if !looks_right {
                self.warn("missing banner line; is this an IP summary dump?".to_owned());
            }
            self.number = 0;
            return Ok(());
        };
        self.number = 1;
        self.set_version(version.trim());
        self.input.consume(present);
        Ok(())
    }

    fn set_version(&mut self, version: &str) {
        let Some((major, minor)) = version.split_once('.') else { return };
        let minor = &minor[..minor.find(|c: char| !c.is_ascii_digit()).unwrap_or(minor.len())];
        let (Ok(major), Ok(minor)) = (major.parse::<u32>(), minor.parse::<u32>()) else { return };
        if major != VERSION.0 || minor > VERSION.1 {
            self.warn(format!("unexpected IPSummaryDump version {major}.{minor}"));
        } else {
            self.defaults.minor_version = minor;
        }
    }

    /// The next packet, not yet finished; `None` at the end of the dump, after a failure to read it, and if it
    /// [is not there yet](DumpInput::waits_for).
    pub fn next_draft(&mut self) -> Option<Draft> {
        self.waiting = false;
        while !self.finished {
            match self.read_record() {
                Ok(Some(Record::Text(line))) if line.starts_with('!') => self.header_line(&line),
                Ok(Some(Record::Text(line))) if line.starts_with('#') || line.trim().is_empty() => {}
                Ok(Some(record)) => {
                    if let Some(draft) = self.draft(&record) {
                        return Some(draft);
                    }
                }
                Ok(None) => self.finished = true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.waiting = true;
                    return None;
                }
                Err(error) => {
                    self.finished = true;
                    self.complain(system_message(&error));
                }
            }
        }
        None
    }

    fn place(&self) -> String {
        let record = if self.binary { "record " } else { "" };
        format!("{}:{record}{}", self.name, self.number)
    }

    fn warn(&mut self, message: String) {
        self.notices.push(Notice { is_warning: true, place: self.place(), message });
    }

    fn complain(&mut self, message: String) {
        self.notices.push(Notice { is_warning: false, place: self.place(), message });
    }

    fn read_record(&mut self) -> io::Result<Option<Record>> {
        self.read_banner()?;
        let record = if self.binary { self.read_binary()? } else { self.read_line()?.map(Record::Text) };
        self.number += 1;
        Ok(record)
    }

    fn read_line(&mut self) -> io::Result<Option<String>> {
        let length = self.input.line_length(MAX_LINE)?;
        if length == 0 {
            return Ok(None);
        }
        let line = text::decode(&self.input.available()[..length]);
        self.input.consume(length);
        Ok(Some(line))
    }

    fn read_binary(&mut self) -> io::Result<Option<Record>> {
        if !self.input.require(4)? {
            return Ok(None);
        }
        let head: [u8; 4] = self.input.available()[..4].try_into().unwrap_or_default();
        let head = u32::from_be_bytes(head);
        let length = (head & !TEXT_RECORD) as usize;
        if length < 4 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "binary record too short"));
        }
        if length > MAX_LINE {
            return Err(too_long());
        }
        if !self.input.require(length)? {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends inside a record"));
        }
        let bytes = self.input.available()[4..length].to_vec();
        self.input.consume(length);
        if head & TEXT_RECORD == 0 {
            return Ok(Some(Record::Binary(bytes)));
        }
        let text = text::decode(bytes);
        Ok(Some(Record::Text(text.trim_end_matches('\0').to_owned())))
    }

    fn header_line(&mut self, line: &str) {
        let words = split_words(line.trim_end());
        match words.first().map(String::as_str) {
            Some("!data" | "!contents") => self.set_field_words(&words[1..]),
            Some("!flowid") => self.set_flow_words(&words[1..]),
            Some("!proto") => self.set_protocol(&words[1..], "!proto"),
            Some("!aggregate") => self.set_aggregate(&words[1..]),
            Some("!binary") => self.set_binary(&words[1..]),
            _ => {}
        }
    }

    fn set_field_words(&mut self, words: &[String]) {
        self.fields = words.iter().map(|word| self.find_field(&unquote(word))).collect();
        if self.fields.is_empty() {
            self.complain("no contents specified".to_owned());
        }
        self.order = (0..self.fields.len()).collect();
        self.order.sort_by_key(|index| self.fields[*index].rank);
    }

    fn find_field(&mut self, name: &str) -> &'static FieldFacts {
        match field::find(name) {
            Some(facts) if facts.rank.is_some() || facts.field == NONE.field => facts,
            Some(facts) => {
                self.warn(format!("content type '{name}' ignored on input"));
                facts
            }
            None => {
                self.warn(format!("unknown content type '{name}'"));
                NONE
            }
        }
    }

    fn set_flow_words(&mut self, words: &[String]) {
        match parse_flow(words) {
            Some(flow) => {
                self.defaults.flow = Some(flow);
                if words.len() > 4 {
                    self.set_protocol(&words[4..5], "!flowid");
                }
            }
            None => {
                self.defaults.flow = None;
                self.complain("bad !flowid specification".to_owned());
            }
        }
    }

    fn set_protocol(&mut self, words: &[String], line: &str) {
        let [word] = words else { return self.complain(format!("bad {line}")) };
        match parse_protocol(word, &self.names) {
            Some(protocol) => self.defaults.protocol = protocol,
            None => self.complain(format!("bad protocol in {line}")),
        }
    }

    fn set_aggregate(&mut self, words: &[String]) {
        self.aggregate = match words {
            [word] => u32::from_arg(word, &NO_NAMES).ok(),
            _ => None,
        };
        if self.aggregate.is_none() {
            self.complain("bad !aggregate specification".to_owned());
        }
    }

    fn set_binary(&mut self, words: &[String]) {
        if !words.is_empty() {
            self.complain("bad !binary specification".to_owned());
        }
        self.binary = true;
        self.number = 0;
    }

    /// Makes a packet; if no field of the record can be used, complains once a file and makes none.
    fn draft(&mut self, record: &Record) -> Option<Draft> {
        let mut draft = Draft::new(self.defaults);
        let used = match record {
            Record::Text(line) => self.apply_text(&mut draft, line),
            Record::Binary(bytes) => self.apply_binary(&mut draft, bytes),
        };
        if used == 0 {
            if !self.has_complained {
                self.has_complained = true;
                let problem =
                    if self.fields.is_empty() { "no '!data' provided" } else { "packet parse error" };
                self.complain(problem.to_owned());
            }
            return None;
        }
        draft.aggregate = draft.aggregate.or(self.aggregate);
        Some(draft)
    }

    /// Applies the columns of a line; returns how many could be used. Columns at the end may be missing.
    fn apply_text(&self, draft: &mut Draft, line: &str) -> usize {
        let columns = split_columns(line, self.fields.len());
        let mut used = 0;
        for &index in &self.order {
            let facts = self.fields[index];
            let column =
                columns.get(index).filter(|text| !matches!(**text, "" | "-") && facts.rank.is_some());
            if let Some(value) = column.and_then(|column| parse_text(facts, column, draft, &self.names)) {
                inject(draft, facts.field, &value);
                used += 1;
            }
        }
        used
    }

    fn apply_binary(&self, draft: &mut Draft, mut record: &[u8]) -> usize {
        let values: Vec<Option<Parsed>> =
            self.fields.iter().map(|facts| parse_binary(facts, &mut record)).collect();
        let mut used = 0;
        for &index in &self.order {
            if let (Some(value), Some(_)) = (&values[index], self.fields[index].rank) {
                inject(draft, self.fields[index].field, value);
                used += 1;
            }
        }
        used
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a line or record of more than {MAX_LINE} bytes"))
}

/// Up to `count` columns, separated by spaces that are not in double quotes.
fn split_columns(line: &str, count: usize) -> Vec<&str> {
    let mut columns = Vec::new();
    let mut rest = line.trim_end();
    while columns.len() < count && !rest.is_empty() {
        let (column, behind) = rest.split_at(column_length(rest));
        columns.push(column);
        rest = behind.trim_start();
    }
    columns
}

fn column_length(text: &str) -> usize {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if byte.is_ascii_whitespace() && !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// Source address and port, destination address and port; `-` for one that is not known.
fn parse_flow(words: &[String]) -> Option<FlowId> {
    let address = |word: &str| if word == "-" { Some(Ipv4Addr::UNSPECIFIED) } else { word.parse().ok() };
    let port = |word: &str| if word == "-" { Some(0) } else { u16::from_arg(word, &NO_NAMES).ok() };
    let [source, source_port, destination, destination_port, ..] = words else { return None };
    Some(FlowId {
        source: address(source)?,
        source_port: port(source_port)?,
        destination: address(destination)?,
        destination_port: port(destination_port)?,
    })
}

fn parse_protocol(word: &str, names: &Names) -> Option<u8> {
    match word {
        "I" => Some(1),
        "T" => Some(6),
        "U" => Some(17),
        _ => IpProto::from_arg(word, names).ok().map(|protocol| protocol.0),
    }
}
