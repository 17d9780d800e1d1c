//! Capture files written, read back, compared with an independent implementation, and damaged.

use std::io::{self, Cursor};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::error::{CaptureError, Fault};
use super::linktype::LinkType;
use super::reader::{MAX_CAPTURED, Reader};
use super::writer::{Options, Writer};

/// A file in memory that outlives its writer.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Timestamp, length on the wire, captured bytes.
type Packet = (u64, u32, Vec<u8>);

fn write(name: &str, options: Options, packets: &[Packet]) -> Vec<u8> {
    let file = Shared::default();
    let mut writer = Writer::new(name, file.clone(), options).unwrap();
    for (timestamp, length, data) in packets {
        writer.write_packet(*timestamp, *length, data).unwrap();
    }
    writer.finish().unwrap();
    file.0.lock().unwrap().clone()
}

fn read(bytes: &[u8]) -> Result<(Vec<Packet>, Option<CaptureError>), CaptureError> {
    let mut reader = Reader::from_stream("t", Cursor::new(bytes.to_vec()))?;
    let mut packets = Vec::new();
    loop {
        match reader.next_record() {
            Ok(Some(record)) => {
                packets.push((record.timestamp, record.original_length, record.data.to_vec()))
            }
            Ok(None) => return Ok((packets, None)),
            Err(error) => {
                assert!(matches!(reader.next_record(), Ok(None)), "an error ends the file");
                return Ok((packets, Some(error)));
            }
        }
    }
}

fn sample() -> Vec<Packet> {
    (1..5).map(|n| (n * 1_000_000_007_000, 60 + n as u32, vec![n as u8; 7 * n as usize])).collect()
}

fn all() -> Options {
    Options { snaplen: u32::MAX, ..Options::default() }
}

proptest! {
    #[test]
    fn every_format_round_trips(
        packets in prop::collection::vec((0..4_000_000_000_000_000_000u64, any::<u16>(),
                                          prop::collection::vec(any::<u8>(), 0..200)), 0..20),
        nano: bool,
        format in prop::sample::select(vec!["a.pcap", "a.pcapng", "a.pcap.gz", "a.pcapng.gz"]),
    ) {
        let unit = if nano { 1 } else { 1000 };
        let packets: Vec<Packet> = packets
            .into_iter()
            .map(|(time, more, data)| (time / unit * unit, data.len() as u32 + u32::from(more), data))
            .collect();
        let bytes = write(format, Options { nano, ..all() }, &packets);
        let (got, error) = read(&bytes).unwrap();
        prop_assert!(error.is_none());
        prop_assert_eq!(got, packets);
    }

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400), head in 0..4usize) {
        let heads = [vec![], write("a.pcap", all(), &[]), write("a.pcapng", all(), &[]), vec![0x1f, 0x8b, 8, 0]];
        let _ = read(&[&heads[head][..], &bytes].concat());
    }

    #[test]
    fn one_wrong_byte_never_panics(at in 0..400usize, value: u8) {
        for format in ["a.pcap", "a.pcapng"] {
            let mut bytes = write(format, all(), &sample());
            let at = at % bytes.len();
            bytes[at] = value;
            let _ = read(&bytes);
        }
    }
}

#[test]
fn a_file_cut_anywhere_delivers_the_packets_before() {
    for format in ["a.pcap", "a.pcapng"] {
        let packets = sample();
        let bytes = write(format, all(), &packets);
        let ends: Vec<usize> =
            (0..=packets.len()).map(|n| write(format, all(), &packets[..n]).len()).collect();
        for cut in ends[0]..bytes.len() {
            let (got, error) = read(&bytes[..cut]).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
            assert!(got.len() >= whole && got[..] == packets[..got.len()], "{format} cut at {cut}");
            assert_eq!(error.is_none(), ends.contains(&cut), "{format} cut at {cut}");
            if let Some(error) = error {
                let text = error.to_string();
                assert!(text.contains("the file ends inside a packet record"), "{text}");
            }
        }
    }
}

#[test]
fn damage_is_reported_with_its_place() {
    let packets = sample();
    let mut bytes = write("a.pcap", all(), &packets);
    let second = write("a.pcap", all(), &packets[..1]).len();
    bytes[second + 8..second + 12].copy_from_slice(&(MAX_CAPTURED + 1).to_le_bytes());
    let (got, error) = read(&bytes).unwrap();
    assert_eq!(got, packets[..1]);
    let error = error.unwrap();
    assert_eq!(error.offset, Some(second as u64));
    assert!(error.to_string().starts_with(&format!("t: byte {second}: bad packet header")), "{error}");
}

#[test]
fn files_that_are_no_captures() {
    let cases: [(&[u8], &str); 4] = [
        (b"", "t: empty file"),
        (b"short", "t: not a tcpdump file (too short)"),
        (&[7; 24], "t: not a tcpdump file (bad magic number)"),
        (
            &[0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 28, 9, 9, 9, 9],
            "t: not a tcpdump file (bad pcapng section header)",
        ),
    ];
    for (bytes, message) in cases {
        assert_eq!(read(bytes).unwrap_err().to_string(), message);
    }
    assert!(matches!(Reader::open("/proc/nonexistent/x").err().unwrap().fault, Fault::Io(_)));
}

#[test]
fn old_and_foreign_pcap_variants() {
    let big = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    // Version 2.3 with lengths in the old order, big-endian, nanoseconds, raw IP as BSD hosts number it.
    let old = big(&[0xa1b2_3c4d, 0x0002_0003, 0, 0, 65535, 12, 5, 6, 9, 4, 0x0102_0304]);
    assert_eq!(read(&old).unwrap().0, vec![(5_000_000_006, 9, vec![1, 2, 3, 4])]);
    assert_eq!(Reader::from_stream("t", Cursor::new(old)).unwrap().link_type(), Some(LinkType::IP));
    // The modified format, with eight more bytes before the packet.
    let modified = big(&[0xa1b2_cd34, 0x0002_0004, 0, 0, 65535, 1, 5, 6, 4, 9, 77, 88, 0x0102_0304]);
    assert_eq!(read(&modified).unwrap().0, vec![(5_000_006_000, 9, vec![1, 2, 3, 4])]);
    // More captured than there was: the packet is cut, the bytes are passed over.
    let tcptrace = big(&[0xa1b2_c3d4, 0x0002_0004, 0, 0, 65535, 1, 5, 6, 5, 4, 0x0102_0304]);
    let (got, error) = read(&[&tcptrace[..], &[0xee]].concat()).unwrap();
    assert_eq!(got, vec![(5_000_006_000, 4, vec![1, 2, 3, 4])]);
    assert!(error.is_none());
}

/// Two sections of different byte order, interfaces of different resolution, all kinds of packet blocks.
#[test]
fn pcapng_sections_interfaces_and_blocks() {
    fn block(kind: u32, body: &[u32], big: bool) -> Vec<u8> {
        let length = 12 + 4 * body.len() as u32;
        let words = [&[kind, length][..], body, &[length]].concat();
        words.iter().flat_map(|word| if big { word.to_be_bytes() } else { word.to_le_bytes() }).collect()
    }
    let magic = 0x1a2b_3c4d;
    let mut file = block(0x0a0d_0d0a, &[magic, 1, u32::MAX, u32::MAX], false);
    // Little-endian. Interface 0: Ethernet, at most 2 bytes; interface 1: raw IP, 2^-10 s, 100 s later.
    file.extend(block(1, &[1, 2], false));
    file.extend(block(1, &[101, 0, 9 | 1 << 16, 0x8a, 14 | 8 << 16, 100, 0, 0], false));
    file.extend(block(5, &[0, 1, 2, 3], false));
    file.extend(block(3, &[3, 0x0403_0201], false));
    file.extend(block(6, &[1, 0, 1024 + 512, 4, 9, 0x0403_0201], false));
    // Big-endian, with version 1.0 in one word; interface 0 is FDDI; the obsolete packet block.
    file.extend(block(0x0a0d_0d0a, &[magic, 1 << 16, u32::MAX, u32::MAX], true));
    file.extend(block(1, &[10 << 16, 0], true));
    file.extend(block(2, &[0, 0, 5, 4, 4, 0x0102_0304], true));

    let mut reader = Reader::from_stream("t", Cursor::new(file)).unwrap();
    assert_eq!(reader.link_type(), Some(LinkType::ETHER));
    let mut got = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        got.push((record.timestamp, record.original_length, record.data.to_vec(), record.link_type));
    }
    assert_eq!(
        got,
        vec![
            (0, 3, vec![1, 2], LinkType::ETHER),
            (101_500_000_000, 9, vec![1, 2, 3, 4], LinkType::IP),
            (5000, 4, vec![1, 2, 3, 4], LinkType::FDDI),
        ]
    );
}

#[test]
fn packets_are_cut_at_the_snapshot_length() {
    let options = Options { snaplen: 10, ..Options::default() };
    for format in ["a.pcap", "a.pcapng"] {
        let (got, _) = read(&write(format, options.clone(), &[(0, 100, vec![1; 90])])).unwrap();
        assert_eq!(got, vec![(0, 100, vec![1; 10])]);
    }
}

#[test]
fn seeking_repeats_a_record() {
    let path = clickwork_oracles::unused("clickwork-seek");
    std::fs::write(&path, write("a.pcap", all(), &sample())).unwrap();
    let mut reader = Reader::open(path.to_str().unwrap()).unwrap();
    reader.next_record().unwrap();
    let position = reader.position();
    let second = reader.next_record().unwrap().unwrap().data.to_vec();
    assert_eq!(reader.record_position(), position);
    while reader.next_record().unwrap().is_some() {}
    reader.seek(position).unwrap();
    assert_eq!(reader.next_record().unwrap().unwrap().data, second);
    assert!(reader.seek(1_000_000).is_err());
    std::fs::remove_file(path).unwrap();
}

/// `pcap-file` reads what we write.
#[test]
fn an_independent_reader_agrees() {
    let packets = sample();
    let bytes = write("a.pcap", all(), &packets);
    let mut reader = pcap_file::pcap::PcapReader::new(&bytes[..]).unwrap();
    let mut got = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        got.push((packet.timestamp.as_nanos() as u64, packet.orig_len, packet.data.to_vec()));
    }
    assert_eq!(got, packets);

    let bytes = write("a.pcapng", all(), &packets);
    let mut reader = pcap_file::pcapng::PcapNgReader::new(&bytes[..]).unwrap();
    let mut got = Vec::new();
    while let Some(block) = reader.next_block() {
        if let pcap_file::pcapng::Block::EnhancedPacket(packet) = block.unwrap() {
            got.push((packet.original_len, packet.data.to_vec()));
        }
    }
    assert_eq!(got, packets.iter().map(|(_, length, data)| (*length, data.clone())).collect::<Vec<_>>());
}

/// A disk that is full after some bytes.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_value() {
    let options = Options { unbuffered: true, ..all() };
    let mut writer = Writer::new("a.pcap", Full(150), options).unwrap();
    let results: Vec<bool> = (0..3).map(|_| writer.write_packet(0, 60, &[0; 60]).is_ok()).collect();
    assert_eq!(results, [true, false, false]);
}
