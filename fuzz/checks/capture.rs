//! What must hold for any bytes taken as a capture file, and as a summary dump. The fuzz target runs it on made-up bytes,
//! the tests of `elements` on the seeds.

use clickwork_elements::capture::linktype::LinkType;
use clickwork_elements::capture::reader::{MAX_CAPTURED, Reader, Record};
use clickwork_elements::capture::summary::draft::Draft;
use clickwork_elements::capture::summary::field::{FIELDS, Width};
use clickwork_elements::capture::summary::headers::{Checks, PacketView};
use clickwork_elements::capture::summary::input::DumpInput;
use clickwork_elements::capture::summary::output::{Output, Preamble};
use std::cell::RefCell;
use std::io::Cursor;

/// Compressed input can expand a thousandfold; this much of it is looked at.
const MAX_RECORDS: usize = 200;

/// Reads the bytes in both ways; panics if anything goes wrong.
pub fn check(data: &[u8]) {
    check_capture(data);
    check_dump(data);
}

/// Records are no longer than promised, and every field of every packet can be printed.
fn check_capture(data: &[u8]) {
    let Ok(mut reader) = Reader::from_stream("fuzz", Cursor::new(data.to_vec())) else { return };
    for _ in 0..MAX_RECORDS {
        match reader.next_record() {
            Ok(Some(record)) => check_record(&record),
            Ok(None) => return,
            Err(_) => assert!(matches!(reader.next_record(), Ok(None)), "an error ends the file"),
        }
    }
}

fn check_record(record: &Record<'_>) {
    assert!(
        record.data.len() <= MAX_CAPTURED as usize && record.data.len() <= record.original_length as usize
    );
    for link_type in [record.link_type, LinkType::IP] {
        let network = link_type.ip_offset(record.data).map(|offset| &record.data[offset..]);
        let header = network.map_or(0, |ip| usize::from(ip[0] & 0xf) * 4);
        summarise(PacketView {
            data: record.data,
            network,
            transport: network.and_then(|ip| ip.get(header..)),
            timestamp: record.timestamp as i64,
            ..PacketView::default()
        });
    }
}

thread_local! {
    /// The header lines and the writer of a dump of all fields, in text and in binary.
    static DUMPS: RefCell<[(String, Output); 2]> = RefCell::new([false, true].map(|binary| {
        let checks = Checks { careful_truncation: true, extra_length: true };
        let fields = FIELDS.iter().filter(|facts| !binary || facts.width != Width::NotBinary);
        let names: Vec<&str> = fields.map(|facts| facts.name).collect();
        let output = Output::new(&names.join(" "), binary, checks, true).expect("all fields are known");
        (output.header(&Preamble::default()), output)
    }));
}

/// Dumps of all fields, in text and in binary.
fn summarise(view: PacketView<'_>) -> [Vec<u8>; 2] {
    DUMPS.with_borrow_mut(|dumps| {
        dumps.each_mut().map(|(header, output)| {
            let mut dump = header.clone().into_bytes();
            output.record(&mut dump, view);
            dump
        })
    })
}

/// Every line makes a packet or a message, and every packet makes a line that makes a packet.
fn check_dump(data: &[u8]) {
    for draft in drafts(data) {
        for dump in summarise(view(&draft)) {
            assert_eq!(drafts(&dump).len(), 1, "{}", String::from_utf8_lossy(&dump));
        }
    }
}

fn drafts(data: &[u8]) -> Vec<Draft> {
    let Ok(mut input) = DumpInput::from_stream("fuzz", Cursor::new(data.to_vec()), 6) else {
        return Vec::new();
    };
    let mut drafts = Vec::new();
    if input.begin().is_ok() {
        while let Some(mut draft) = input.next_draft().filter(|_| drafts.len() < MAX_RECORDS) {
            draft.finish(true);
            drafts.push(draft);
        }
    }
    drafts
}

fn view(draft: &Draft) -> PacketView<'_> {
    let network = draft.data.get(draft.network..).filter(|_| draft.has_ip);
    PacketView {
        data: &draft.data,
        network,
        transport: network.and_then(|_| draft.data.get(draft.transport..)),
        timestamp: draft.timestamp,
        extra_packets: draft.extra_packets,
        paint: draft.paint,
        ..PacketView::default()
    }
}
