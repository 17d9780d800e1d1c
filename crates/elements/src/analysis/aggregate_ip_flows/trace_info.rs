//! The XML file about flows that AggregateIPFlows writes.

use super::table::{Flow, FlowKey};
use crate::capture::destination::{Destination, Stream, unread};
use clickwork_packet::Timestamp;
use clickwork_source::text::encode;
use std::io::{self, Write};

/// The file, once it has been opened.
pub struct TraceInfo {
    sink: Sink,
    head: String,
    is_stdout: bool,
}

enum Sink {
    Opened(Option<Destination>),
    Open(Stream),
}

/// Seconds and nanoseconds.
fn exact(time: Timestamp) -> String {
    format!("{}.{:09}", time.seconds(), time.subsec_nanos())
}

/// Text inside single quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('\'', "&apos;")
}

impl TraceInfo {
    /// Opens the file; `source` is the name of the file that packets come from.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open(name: &str, source: &str) -> io::Result<TraceInfo> {
        let destination = Destination::open(name, false)?;
        let is_stdout = matches!(destination, Destination::Stdout);
        let file = if source.is_empty() { String::new() } else { format!(" file='{}'", escaped(source)) };
        let head = format!("<?xml version='1.0' standalone='yes'?>\n<trace{file}>\n");
        Ok(TraceInfo { sink: Sink::Opened(Some(destination)), head, is_stdout })
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if let Sink::Opened(destination) = &mut self.sink
            && let Some(destination) = destination.take()
        {
            let mut stream = destination.start(false);
            stream.write_all(&encode(&self.head))?;
            self.sink = Sink::Open(stream);
        }
        match &mut self.sink {
            Sink::Open(stream) => match stream.make_room()? {
                true => stream.write_all(&encode(text)).and_then(|()| stream.push_out()),
                false => Err(unread()),
            },
            Sink::Opened(_) => Ok(()),
        }
    }

    /// Writes what comes before the flows, if it goes to standard output, where the order of texts counts.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn start(&mut self) -> io::Result<()> {
        if self.is_stdout { self.write("") } else { Ok(()) }
    }

    /// Writes about a flow that is over.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flow(&mut self, key: &FlowKey, flow: &Flow) -> io::Result<()> {
        let ends = [(key.hosts.a, key.ports >> 16), (key.hosts.b, key.ports & 0xffff)];
        let [(src, sport), (dst, dport)] = if flow.reverse { [ends[1], ends[0]] } else { ends };
        let Flow { aggregate, packets: [forward, back], .. } = flow;
        let (begin, duration) = (exact(flow.first), exact(flow.last - flow.first));
        let position = match flow.file_position {
            0 => String::new(),
            position => format!(" filepos='{position}'"),
        };
        self.write(&format!(
            "<flow aggregate='{aggregate}' src='{src}' sport='{sport}' dst='{dst}' dport='{dport}' \
             begin='{begin}' duration='{duration}'{position}>\n  \
             <stream dir='0' packets='{forward}' /><stream dir='1' packets='{back}' />\n</flow>\n"
        ))
    }

    /// Completes the file. As in Click, the last line does not go to standard output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.write(if self.is_stdout { "" } else { "</trace>\n" })?;
        match &mut self.sink {
            Sink::Open(stream) => stream.finish(),
            Sink::Opened(_) => Ok(()),
        }
    }
}
