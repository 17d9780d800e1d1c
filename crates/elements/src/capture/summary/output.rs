//! Writes summary dumps: the header lines and one record for each packet. Where the bytes go is the element's affair.

use clickwork_router::args::{quote, split_words, unquote};
use clickwork_source::text;

use super::field::{self, Field, FieldFacts, Width};
use super::headers::{Checks, Headers, PacketView};
use super::print;

/// The version of the format.
pub const VERSION: (u32, u32) = (1, 3);

/// The mark in the length word of a binary record that holds a line of text.
pub(super) const TEXT_RECORD: u32 = 0x8000_0000;

/// What a dump shows of each packet.
#[derive(Clone, Debug)]
pub struct Output {
    fields: Vec<&'static FieldFacts>,
    checks: Checks,
    binary: bool,
    show_bad: bool,
    needs_headers: bool,
    line: String,
}

/// Why a list of fields cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldError {
    /// There is no field of this name.
    Unknown(String),
    /// The field has no binary form.
    NotBinary(String),
    /// The list is empty.
    None,
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FieldError::Unknown(name) => write!(f, "unknown content type '{name}'"),
            FieldError::NotBinary(name) => write!(f, "cannot use field {name} with BINARY"),
            FieldError::None => write!(f, "no contents specified"),
        }
    }
}

/// Lines before the records.
#[derive(Clone, Debug, Default)]
pub struct Preamble {
    /// Who writes the dump.
    pub creator: Option<String>,
    /// Name of the host.
    pub host: Option<String>,
    /// When, as a timestamp and as people write it.
    pub runtime: Option<String>,
}

impl Output {
    /// For the fields named in `fields`, separated by spaces. All errors in the list are returned.
    pub fn new(
        fields: &str,
        binary: bool,
        checks: Checks,
        show_bad: bool,
    ) -> Result<Output, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut found = Vec::new();
        for name in split_words(fields).iter().map(|word| unquote(word)) {
            match field::find(&name) {
                Some(facts) if binary && facts.width == Width::NotBinary => {
                    errors.push(FieldError::NotBinary(name))
                }
                Some(facts) => found.push(facts),
                None => errors.push(FieldError::Unknown(name)),
            }
        }
        if found.is_empty() {
            errors.push(FieldError::None);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let needs_headers = found.iter().any(|facts| facts.needs_headers());
        Ok(Output { fields: found, checks, binary, show_bad, needs_headers, line: String::new() })
    }

    /// Whether the dump has a packet count, so that one record can stand for many packets.
    pub fn has_count(&self) -> bool {
        self.fields.iter().any(|facts| facts.field == Field::Count)
    }

    /// The header lines.
    pub fn header(&self, preamble: &Preamble) -> String {
        let mut text = format!("!IPSummaryDump {}.{}\n", VERSION.0, VERSION.1);
        if let Some(creator) = &preamble.creator {
            text.push_str(&format!("!creator {}\n", quote(creator)));
        }
        if let Some(host) = &preamble.host {
            text.push_str(&format!("!host {host}\n"));
        }
        if let Some(runtime) = &preamble.runtime {
            text.push_str(&format!("!runtime {runtime}\n"));
        }
        let names: Vec<&str> = self.fields.iter().map(|facts| self.column_name(facts)).collect();
        text.push_str(&format!("!data {}\n", names.join(" ")));
        if self.binary {
            text.push_str("!binary\n");
        }
        text
    }

    /// In text, the precision of a timestamp can be seen.
    fn column_name(&self, facts: &FieldFacts) -> &'static str {
        if facts.field == Field::NanoTimestamp && !self.binary { "timestamp" } else { facts.name }
    }

    /// Appends the record of a packet, after a `!bad` line if that is wanted and due. Returns what is to become the
    /// packet's extra-length annotation: lengths in the record count from the IP length.
    pub fn record(&mut self, out: &mut Vec<u8>, view: PacketView<'_>) -> u32 {
        let mut headers = match self.needs_headers {
            true => Headers::check(view, self.checks),
            false => Headers::unchecked(view, self.checks),
        };
        let start = out.len();
        if self.binary {
            self.put_binary(out, &mut headers);
        } else {
            self.put_text(out, &mut headers);
        }
        if let Some(bad) = headers.bad.filter(|_| self.show_bad) {
            let mut line = Vec::new();
            self.text_line(&mut line, &format!("!bad {bad}\n"));
            out.splice(start..start, line);
        }
        headers.extra_length
    }

    fn put_text(&mut self, out: &mut Vec<u8>, headers: &mut Headers<'_>) {
        self.line.clear();
        for (index, facts) in self.fields.iter().enumerate() {
            if index > 0 {
                self.line.push(' ');
            }
            print::print_text(&mut self.line, headers, facts);
        }
        self.line.push('\n');
        out.extend_from_slice(&text::encode(&self.line));
    }

    fn put_binary(&self, out: &mut Vec<u8>, headers: &mut Headers<'_>) {
        let start = out.len();
        out.extend([0; 4]);
        for facts in &self.fields {
            print::print_binary(out, headers, facts);
        }
        let length = (out.len() - start) as u32;
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// Appends a line of text, which ends with a newline, as the format wants it.
    pub fn text_line(&self, out: &mut Vec<u8>, line: &str) {
        let line = text::encode(line);
        if self.binary {
            out.extend((TEXT_RECORD | (line.len() as u32 + 4)).to_be_bytes());
        }
        out.extend_from_slice(&line);
    }
}
