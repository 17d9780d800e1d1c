//! Writes packets to a capture file, in the formats of [`super::pcap`] and [`super::pcapng`].
//!
//! Failures (a full disk, a closed pipe) are values; after one, the file holds whole records up to some point before
//! it, but perhaps also part of one.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::destination::{Destination, Stream};
use super::linktype::LinkType;
use super::{pcap, pcapng};

/// What a file is to be like.
#[derive(Clone, Debug)]
pub struct Options {
    /// The link type of all packets.
    pub link_type: LinkType,
    /// At most this many bytes of each packet are written; `u32::MAX` is no limit.
    pub snaplen: u32,
    /// Timestamps in nanoseconds instead of microseconds.
    pub nano: bool,
    /// Hand every packet to the system at once.
    pub unbuffered: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { link_type: LinkType::ETHER, snaplen: 2000, nano: false, unbuffered: false }
    }
}

/// An open capture file.
pub struct Writer {
    sink: Sink,
    options: Options,
    format: Format,
    /// One record at a time is put together here.
    record: Vec<u8>,
}

/// The last time that a pcap file can tell, in nanoseconds since 1970: its seconds have 32 bits.
const LAST_OF_PCAP: u64 = u32::MAX as u64 * 1_000_000_000 + 999_999_999;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Pcap,
    PcapNg,
}

enum Sink {
    Plain(Stream),
    Gzip(Box<GzEncoder<Stream>>),
}

impl Writer {
    /// Creates the file `name`; `-` is standard output. The name decides the format: `.pcapng` and `.ntar` for
    /// pcapng, anything else for pcap; and a further `.gz` for compression.
    pub fn create(name: &str, options: Options) -> io::Result<Writer> {
        Writer::begin(name, Destination::open(name, true)?.start(true), options)
    }

    /// Writes to anything, in the format that [`Writer::create`] would choose for `name`.
    pub fn new(name: &str, stream: impl Write + Send + 'static, options: Options) -> io::Result<Writer> {
        Writer::begin(name, Stream::Plain(Box::new(stream)), options)
    }

    /// Writes to a stream, in the format that [`Writer::create`] would choose for `name`.
    pub fn begin(name: &str, stream: Stream, options: Options) -> io::Result<Writer> {
        let (stem, compressed) = match name.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (name, false),
        };
        let sink = match compressed {
            true => Sink::Gzip(Box::new(GzEncoder::new(stream, Compression::default()))),
            false => Sink::Plain(stream),
        };
        let is_pcapng = stem.ends_with(".pcapng") || stem.ends_with(".ntar");
        let format = if is_pcapng { Format::PcapNg } else { Format::Pcap };
        let mut writer = Writer { sink, options, format, record: Vec::new() };
        writer.write_file_header()?;
        Ok(writer)
    }

    /// Writes one packet. `timestamp` is nanoseconds since 1970 (or the last time [there is](Writer::can_tell)) and `original_length` the bytes the packet had on the
    /// wire; `data` is cut at the snapshot length.
    pub fn write_packet(&mut self, timestamp: u64, original_length: u32, data: &[u8]) -> io::Result<()> {
        let captured = data.len().min(self.options.snaplen as usize);
        let data = &data[..captured];
        self.record.clear();
        match self.format {
            Format::Pcap => self.put_pcap_record(timestamp, original_length, data),
            Format::PcapNg => self.put_pcapng_record(timestamp, original_length, data),
        }
        self.write_record()
    }

    /// What the file is written to.
    pub fn stream(&mut self) -> &mut Stream {
        match &mut self.sink {
            Sink::Plain(stream) => stream,
            Sink::Gzip(encoder) => encoder.get_mut(),
        }
    }

    /// Whether the format has room for a time, in nanoseconds since 1970. Those of pcap files end in February 2106.
    pub fn can_tell(&self, timestamp: u64) -> bool {
        self.format == Format::PcapNg || timestamp / 1_000_000_000 <= u64::from(u32::MAX)
    }

    /// Hands everything written so far to the system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// Completes the file. Dropping a writer does the same, but cannot report a failure.
    pub fn finish(self) -> io::Result<()> {
        match self.sink {
            Sink::Plain(mut stream) => stream.finish(),
            Sink::Gzip(encoder) => encoder.finish()?.finish(),
        }
    }

    fn write_record(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.record)?;
        if self.options.unbuffered { self.sink.flush() } else { Ok(()) }
    }

    fn put_u16(&mut self, value: u16) {
        self.record.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.record.extend_from_slice(&value.to_le_bytes());
    }

    fn write_file_header(&mut self) -> io::Result<()> {
        match self.format {
            Format::Pcap => self.put_pcap_header(),
            Format::PcapNg => self.put_pcapng_header(),
        }
        self.write_record()
    }

    fn put_pcap_header(&mut self) {
        self.put_u32(if self.options.nano { pcap::MAGIC_NANO } else { pcap::MAGIC_MICRO });
        self.put_u16(2);
        self.put_u16(4);
        self.put_u32(0); // Time zone: timestamps are in UTC.
        self.put_u32(0); // Accuracy of timestamps: not stated.
        self.put_u32(self.options.snaplen);
        self.put_u32(self.options.link_type.0);
    }

    fn put_pcap_record(&mut self, timestamp: u64, original_length: u32, data: &[u8]) {
        let timestamp = timestamp.min(LAST_OF_PCAP);
        let fraction = (timestamp % 1_000_000_000) as u32;
        self.put_u32((timestamp / 1_000_000_000) as u32);
        self.put_u32(if self.options.nano { fraction } else { fraction / 1000 });
        self.put_u32(data.len() as u32);
        self.put_u32(original_length);
        self.record.extend_from_slice(data);
    }

    /// One section with one interface.
    fn put_pcapng_header(&mut self) {
        self.put_u32(pcapng::SECTION_HEADER);
        self.put_u32(28);
        self.put_u32(pcapng::BYTE_ORDER_MAGIC);
        self.put_u16(1);
        self.put_u16(0);
        self.put_u32(u32::MAX); // Section length, eight bytes: not stated.
        self.put_u32(u32::MAX);
        self.put_u32(28);
        self.put_pcapng_interface();
    }

    fn put_pcapng_interface(&mut self) {
        self.put_u32(pcapng::INTERFACE);
        self.put_u32(32);
        self.put_u16(self.options.link_type.0 as u16);
        self.put_u16(0);
        self.put_u32(if self.options.snaplen == u32::MAX { 0 } else { self.options.snaplen });
        self.put_u16(9); // Timestamp resolution: ten to the minus this.
        self.put_u16(1);
        self.put_u32(if self.options.nano { 9 } else { 6 });
        self.put_u32(0); // End of options.
        self.put_u32(32);
    }

    fn put_pcapng_record(&mut self, timestamp: u64, original_length: u32, data: &[u8]) {
        let padded = data.len().next_multiple_of(4);
        let block = padded as u32 + 32;
        let ticks = if self.options.nano { timestamp } else { timestamp / 1000 };
        self.put_u32(pcapng::ENHANCED_PACKET);
        self.put_u32(block);
        self.put_u32(0); // Interface.
        self.put_u32((ticks >> 32) as u32);
        self.put_u32(ticks as u32);
        self.put_u32(data.len() as u32);
        self.put_u32(original_length);
        self.record.extend_from_slice(data);
        self.record.resize(28 + padded, 0);
        self.put_u32(block);
    }
}

impl Sink {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Sink::Plain(stream) => stream.write_all(bytes),
            Sink::Gzip(encoder) => encoder.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(stream) => stream.flush(),
            Sink::Gzip(encoder) => encoder.flush(),
        }
    }
}
