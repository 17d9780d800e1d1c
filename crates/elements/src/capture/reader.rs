//! Reads the packets of a capture file, one after another.
//!
//! [`Reader`] recognises pcap, pcapng and their compressed forms by their first bytes, and lends each packet from its
//! one buffer. It does not touch packet contents and creates no router packets: FromDump does.
//!
//! Damage ends the file: the packets before it are delivered, then one [`CaptureError`] says what and where, then
//! nothing more. Memory is bounded by [`MAX_CAPTURED`], whatever lengths the file claims.

use std::io;
use std::os::fd::BorrowedFd;

use super::error::{CaptureError, Fault};
use super::input::{Input, Patience};
use super::linktype::LinkType;
use super::pcap::{self, Format};
use super::pcapng::{self, BlockHeader, Section, Trailer};

/// The longest packet accepted, in bytes: tcpdump's largest snapshot length.
pub const MAX_CAPTURED: u32 = 262_144;

/// One captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Nanoseconds since 1970; 0 if the file gives no time.
    pub timestamp: u64,
    /// Bytes the packet had on the wire; at least as many as there are in `data`.
    pub original_length: u32,
    /// What was captured of the packet.
    pub data: &'a [u8],
    /// What the first header in `data` is.
    pub link_type: LinkType,
}

/// An open capture file.
pub struct Reader {
    name: String,
    input: Input,
    /// None until the header of the file has come.
    layout: Option<Layout>,
    /// Whether what is before the first record has been read.
    is_begun: bool,
    /// What of the last record is still to be passed over.
    rest: Rest,
    record_offset: u64,
    finished: bool,
}

enum Layout {
    Pcap(Format),
    PcapNg(Section),
}

/// The end of a record whose packet has been lent: bytes to pass over, then perhaps the second length of a block.
#[derive(Clone, Copy, Default)]
struct Rest {
    bytes: u64,
    trailer: Option<Trailer>,
}

/// Place and fields of a packet at the start of the input's buffer.
struct Found {
    timestamp: u64,
    length: u32,
    link_type: LinkType,
    start: usize,
    captured: usize,
    rest: Rest,
}

impl Reader {
    /// Opens the file `name`; `-` is standard input.
    pub fn open(name: &str) -> Result<Reader, CaptureError> {
        Reader::open_with(name, Patience::Always)
    }

    /// The same; of what may keep us waiting, perhaps nothing is read yet.
    pub fn open_with(name: &str, patience: Patience) -> Result<Reader, CaptureError> {
        let shown = if name == "-" { "<stdin>" } else { name };
        Reader::new(shown, Input::open(name, patience))
    }

    /// Reads a capture from any stream; `name` is for messages.
    pub fn from_stream(name: &str, stream: impl io::Read + Send + 'static) -> Result<Reader, CaptureError> {
        Reader::new(name, Input::from_stream(stream))
    }

    fn new(name: &str, input: io::Result<Input>) -> Result<Reader, CaptureError> {
        let failure = |error| CaptureError { file: name.to_owned(), offset: None, fault: Fault::Io(error) };
        let input = input.map_err(failure)?;
        let waits = input.waits_for().is_some();
        let mut reader = Reader {
            name: name.to_owned(),
            record_offset: 0,
            input,
            layout: None,
            is_begun: false,
            rest: Rest::default(),
            finished: false,
        };
        if !waits {
            reader.begin()?;
        }
        Ok(reader)
    }

    /// Reads what is before the first record, if that has not been done.
    ///
    /// # Errors
    /// If it is wrong, or a pipe [has not brought it yet](CaptureError::is_not_yet).
    pub fn begin(&mut self) -> Result<(), CaptureError> {
        if self.is_begun {
            return Ok(());
        }
        if self.layout.is_none() {
            self.layout = Some(read_layout(&mut self.input).map_err(|fault| self.error(None, fault))?);
            self.record_offset = self.input.offset();
        }
        self.read_descriptions().map_err(|fault| self.error(Some(self.input.offset()), fault))?;
        self.is_begun = true;
        Ok(())
    }

    /// The file's name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Link type of the file, or of the first interface; `None` if no interface has been described yet, or the header of
    /// the file has not come.
    pub fn link_type(&self) -> Option<LinkType> {
        match self.layout.as_ref()? {
            Layout::Pcap(format) => Some(format.link_type),
            Layout::PcapNg(section) => section.link_type(),
        }
    }

    /// Offset of what will be read next, in bytes of the uncompressed file.
    pub fn position(&self) -> u64 {
        let trailer = if self.rest.trailer.is_some() { 4 } else { 0 };
        self.input.offset() + self.rest.bytes + trailer
    }

    /// Offset of the record that was read last.
    pub fn record_position(&self) -> u64 {
        self.record_offset
    }

    /// Size of the file in bytes, if it is a plain uncompressed file.
    pub fn size(&self) -> Option<u64> {
        self.input.size()
    }

    /// Continues with the record that starts at `offset`. In a pipe that has not brought it yet, to be called again.
    pub fn seek(&mut self, offset: u64) -> Result<(), CaptureError> {
        self.begin()?;
        self.rest = Rest::default();
        self.finished = false;
        self.input.seek(offset).map_err(|error| self.error(None, Fault::Io(error)))
    }

    /// What to wait for when the header or the next packet is not there yet.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        self.input.waits_for()
    }

    /// The next packet; `Ok(None)` at the end of the file, and after an error. An error that says that the packet
    /// [is not there yet](CaptureError::is_not_yet) is no end.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, CaptureError> {
        if self.finished {
            return Ok(None);
        }
        if let Err(error) = self.begin() {
            self.finished = !error.is_not_yet();
            return Err(error);
        }
        match self.find_packet() {
            Ok(Some(found)) => Ok(Some(self.lend(found))),
            Ok(None) => {
                self.finished = true;
                Ok(None)
            }
            Err(fault) => {
                self.finished = !fault.is_not_yet();
                Err(self.error(Some(self.record_offset), fault))
            }
        }
    }

    /// The error of a file that cannot be used for what it is wanted for.
    pub fn unsuitable(&self, why: String) -> CaptureError {
        self.error(None, Fault::NotACapture(why))
    }

    fn error(&self, offset: Option<u64>, fault: Fault) -> CaptureError {
        CaptureError { file: self.name.clone(), offset, fault }
    }

    /// Consumes the header before the packet now, and the packet when the next one is asked for.
    fn lend(&mut self, found: Found) -> Record<'_> {
        self.input.consume(found.start);
        self.rest = Rest { bytes: found.rest.bytes + found.captured as u64, trailer: found.rest.trailer };
        Record {
            timestamp: found.timestamp,
            original_length: found.length,
            data: &self.input.available()[..found.captured],
            link_type: found.link_type,
        }
    }

    fn find_packet(&mut self) -> Result<Option<Found>, Fault> {
        self.record_offset = self.input.offset();
        pass(&mut self.input, &mut self.rest)?;
        self.record_offset = self.input.offset();
        match &self.layout {
            Some(Layout::Pcap(format)) => find_in_pcap(&mut self.input, format),
            Some(Layout::PcapNg(_)) => self.find_in_pcapng(),
            None => Ok(None),
        }
    }

    /// Passes blocks until a packet block.
    fn find_in_pcapng(&mut self) -> Result<Option<Found>, Fault> {
        let Some(Layout::PcapNg(section)) = &mut self.layout else { return Ok(None) };
        while let Some(header) = peek_block(&mut self.input, section)? {
            if pcapng::is_packet(header) {
                return found_in_block(&mut self.input, section, header).map(Some);
            }
            self.rest = take_description(&mut self.input, section, header)?;
            pass(&mut self.input, &mut self.rest)?;
            self.record_offset = self.input.offset();
        }
        Ok(None)
    }

    /// Reads up to the first interface description of a pcapng file, so that its link type is known at once.
    fn read_descriptions(&mut self) -> Result<(), Fault> {
        let Some(Layout::PcapNg(section)) = &mut self.layout else { return Ok(()) };
        // What a pipe had not brought the last time.
        pass(&mut self.input, &mut self.rest)?;
        while section.link_type().is_none() {
            match peek_block(&mut self.input, section)? {
                Some(header) if !pcapng::is_packet(header) => {
                    self.rest = take_description(&mut self.input, section, header)?;
                    pass(&mut self.input, &mut self.rest)?;
                }
                _ => break,
            }
        }
        Ok(())
    }
}

/// Recognises the format by the first bytes.
fn read_layout(input: &mut Input) -> Result<Layout, Fault> {
    if !input.require(1).map_err(Fault::Io)? {
        return Err(Fault::Empty);
    }
    input.require(pcap::FILE_HEADER).map_err(Fault::Io)?;
    let first = input.available();
    if pcapng::recognises(first) {
        return Section::parse(first)
            .map(Layout::PcapNg)
            .map_err(|_| not_a_capture("bad pcapng section header"));
    }
    if first.len() < pcap::FILE_HEADER {
        return Err(not_a_capture("too short"));
    }
    let format = Format::parse(first)?;
    input.consume(pcap::FILE_HEADER);
    Ok(Layout::Pcap(format))
}

fn not_a_capture(why: &str) -> Fault {
    Fault::NotACapture(format!("not a tcpdump file ({why})"))
}

fn find_in_pcap(input: &mut Input, format: &Format) -> Result<Option<Found>, Fault> {
    if !input.require(1).map_err(Fault::Io)? {
        return Ok(None);
    }
    let start = format.record_header();
    require(input, start)?;
    let header = format.parse_record(input.available());
    packet_length(header.captured.saturating_add(header.excess))?;
    let captured = header.captured as usize;
    require(input, start + captured)?;
    Ok(Some(Found {
        timestamp: header.timestamp,
        length: header.length,
        link_type: format.link_type,
        start,
        captured,
        rest: Rest { bytes: header.excess.into(), trailer: None },
    }))
}

/// The header of the next block, whose [`pcapng::needed`] bytes are then present. A section header starts a new
/// section at once, because only its own byte order can be used to read it.
fn peek_block(input: &mut Input, section: &mut Section) -> Result<Option<BlockHeader>, Fault> {
    if !input.require(1).map_err(Fault::Io)? {
        return Ok(None);
    }
    require(input, pcapng::BLOCK_HEADER)?;
    if pcapng::recognises(input.available()) {
        require(input, 12)?;
        *section = Section::parse(input.available())?;
    }
    let header = section.parse_block_header(input.available())?;
    require(input, pcapng::needed(header))?;
    Ok(Some(header))
}

/// Reads section headers and interface descriptions. Says what is to be passed over of these and of all other blocks without
/// packets.
fn take_description(input: &mut Input, section: &mut Section, header: BlockHeader) -> Result<Rest, Fault> {
    let block = &input.available()[..pcapng::needed(header)];
    match header.kind {
        pcapng::SECTION_HEADER => section.check_version(block)?,
        pcapng::INTERFACE => section.add_interface(without_trailer(block, header))?,
        _ => {}
    }
    Ok(Rest { bytes: u64::from(header.length) - 4, trailer: Some(section.trailer(header)) })
}

fn found_in_block(input: &mut Input, section: &Section, header: BlockHeader) -> Result<Found, Fault> {
    let packet = section.parse_packet(header, input.available())?;
    let captured = packet_length(packet.captured)?;
    require(input, packet.data_offset + captured)?;
    let behind = u64::from(header.length) - 4 - (packet.data_offset + captured) as u64;
    Ok(Found {
        timestamp: packet.timestamp,
        length: packet.length,
        link_type: packet.link_type,
        start: packet.data_offset,
        captured,
        rest: Rest { bytes: behind, trailer: Some(section.trailer(header)) },
    })
}

/// Passes over the end of a record. `rest` is what is left of it, nothing in the end.
fn pass(input: &mut Input, rest: &mut Rest) -> Result<(), Fault> {
    if !input.skip(&mut rest.bytes).map_err(Fault::Io)? {
        return Err(Fault::Truncated);
    }
    if let Some(trailer) = rest.trailer {
        require(input, 4)?;
        rest.trailer = None;
        trailer.check(input.available())?;
        input.consume(4);
    }
    Ok(())
}

/// A captured length that is believed.
fn packet_length(claimed: u32) -> Result<usize, Fault> {
    if claimed > MAX_CAPTURED {
        return Err(Fault::Damaged(format!("bad packet header: a captured length of {claimed} bytes")));
    }
    Ok(claimed as usize)
}

fn require(input: &mut Input, count: usize) -> Result<(), Fault> {
    if input.require(count).map_err(Fault::Io)? { Ok(()) } else { Err(Fault::Truncated) }
}

/// Without the second length of a block that is present as a whole, so that it is not taken for an option.
fn without_trailer(block: &[u8], header: BlockHeader) -> &[u8] {
    if block.len() == header.length as usize { &block[..block.len() - 4] } else { block }
}
