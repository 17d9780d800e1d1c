//! From the value of a field to a column of a dump, in text or binary.

use std::fmt::Write;
use std::net::Ipv4Addr;

use clickwork_packet::headers::icmp;
use clickwork_router::args::quote_bytes;
use md5::{Digest, Md5};

use super::extract::{Value, extract};
use super::field::{Field, FieldFacts, Width};
use super::headers::Headers;
use super::ip_options;
use super::tcp_options::{self, Shown};

/// The letters of the TCP flags, from the lowest bit (FIN) to NS.
pub const TCP_FLAG_LETTERS: &str = "FSRPAUECN";

/// Appends the text of a field, `-` if the packet has no such thing.
pub fn print_text(out: &mut String, headers: &mut Headers<'_>, facts: &FieldFacts) {
    match extract(headers, facts.field) {
        Some(Value::Number(number)) => print_number(out, facts.field, number, headers),
        Some(Value::Time(nanoseconds)) => print_time(out, nanoseconds),
        Some(Value::Bytes(bytes)) => print_bytes(out, facts.field, bytes),
        None => out.push('-'),
    }
}

fn print_number(out: &mut String, field: Field, number: u64, headers: &Headers<'_>) {
    let _ = match field {
        Field::IpSource | Field::IpDestination => write!(out, "{}", Ipv4Addr::from_bits(number as u32)),
        Field::IpFragment => write!(out, "{}", number as u8 as char),
        Field::IpFragmentOffset => print_fragment_offset(out, number),
        Field::IpProtocol => print_protocol(out, number),
        Field::IpEcn => write!(out, "{}", ["no", "ect1", "ect2", "ce"][number as usize & 3]),
        Field::TcpFlags => print_tcp_flags(out, number),
        Field::IcmpTypeName => print_name(out, icmp::type_name(number as u8), number),
        Field::IcmpCodeName => {
            let icmp_type = headers.icmp.map_or(0, |icmp| icmp[0]);
            print_name(out, icmp::code_name(icmp_type, number as u8), number)
        }
        Field::Direction if number == 0 => write!(out, ">"),
        Field::Direction if number == 1 => write!(out, "<"),
        Field::EtherType => write!(out, "{number:04X}"),
        _ => write!(out, "{number}"),
    };
}

fn print_name(out: &mut String, name: Option<&str>, number: u64) -> std::fmt::Result {
    match name {
        Some(name) => out.write_str(name),
        None => write!(out, "{number}"),
    }
}

fn print_protocol(out: &mut String, protocol: u64) -> std::fmt::Result {
    match protocol {
        1 => out.write_char('I'),
        6 => out.write_char('T'),
        17 => out.write_char('U'),
        _ => write!(out, "{protocol}"),
    }
}

/// The offset in bytes, `+` for more fragments, `!` for don't fragment.
fn print_fragment_offset(out: &mut String, flags_and_offset: u64) -> std::fmt::Result {
    let more = if flags_and_offset & 0x2000 != 0 { "+" } else { "" };
    let whole = if flags_and_offset & 0x4000 != 0 { "!" } else { "" };
    write!(out, "{}{more}{whole}", (flags_and_offset & 0x1fff) * 8)
}

fn print_tcp_flags(out: &mut String, flags: u64) -> std::fmt::Result {
    const ACK: u64 = 0x10;
    const PUSH: u64 = 0x08;
    if flags == 0 {
        return out.write_char('.');
    }
    if flags == ACK | PUSH {
        return out.write_str("PA");
    }
    TCP_FLAG_LETTERS
        .chars()
        .enumerate()
        .filter(|(bit, _)| flags & (1 << bit) != 0)
        .try_for_each(|(_, letter)| out.write_char(letter))
}

/// Six decimals, nine if there are nanoseconds.
fn print_time(out: &mut String, nanoseconds: i64) {
    let (sign, magnitude) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    let (seconds, fraction) = (magnitude / 1_000_000_000, magnitude % 1_000_000_000);
    let _ = match fraction % 1000 {
        0 => write!(out, "{sign}{seconds}.{:06}", fraction / 1000),
        _ => write!(out, "{sign}{seconds}.{fraction:09}"),
    };
}

fn print_bytes(out: &mut String, field: Field, bytes: &[u8]) {
    match field {
        Field::IpOptions => out.push_str(&ip_options::print(bytes)),
        Field::TcpOptions => out.push_str(&tcp_options::print(bytes, Shown::All)),
        Field::TcpNonTimestampOptions => out.push_str(&tcp_options::print(bytes, Shown::AllButTimestamps)),
        Field::TcpSack => out.push_str(&tcp_options::print(bytes, Shown::Sack)),
        Field::Payload => out.push_str(&quote_bytes(bytes)),
        Field::PayloadMd5 => print_md5_short(out, bytes),
        Field::PayloadMd5Hex => print_hex(out, &Md5::digest(bytes), ""),
        _ => print_mac(out, bytes),
    }
}

fn print_hex(out: &mut String, bytes: &[u8], separator: &str) {
    for (index, byte) in bytes.iter().enumerate() {
        let separator = if index == 0 { "" } else { separator };
        let _ = write!(out, "{separator}{byte:02x}");
    }
}

fn print_mac(out: &mut String, bytes: &[u8]) {
    let start = out.len();
    print_hex(out, bytes, "-");
    out[start..].make_ascii_uppercase();
}

/// The digest in 22 characters of six bits each, lowest bits first.
fn print_md5_short(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@";
    let digest: [u8; 16] = Md5::digest(bytes).into();
    let bits = u128::from_le_bytes(digest);
    out.extend((0..128).step_by(6).map(|bit| DIGITS[(bits >> bit) as usize & 63] as char));
}

/// Appends the binary form of a field; zeros if the packet has no such thing.
pub fn print_binary(out: &mut Vec<u8>, headers: &mut Headers<'_>, facts: &FieldFacts) {
    let value = extract(headers, facts.field);
    match facts.width {
        Width::Bytes(16) => match value {
            Some(Value::Bytes(payload)) => out.extend(Md5::digest(payload)),
            _ => out.extend([0; 16]),
        },
        Width::Bytes(size) => put_fixed(out, facts.field, value, size),
        Width::Counted => put_counted(out, facts.field, value),
        Width::NotBinary => {}
    }
}

fn put_fixed(out: &mut Vec<u8>, field: Field, value: Option<Value<'_>>, size: usize) {
    match value {
        Some(Value::Bytes(bytes)) => out.extend(&bytes[..size.min(bytes.len())]),
        Some(Value::Time(nanoseconds)) => put_time(out, field, nanoseconds),
        Some(Value::Number(number)) => out.extend(&number.to_be_bytes()[8 - size..]),
        None => out.extend(std::iter::repeat_n(0, size)),
    }
}

/// Seconds, then micro- or nanoseconds.
fn put_time(out: &mut Vec<u8>, field: Field, nanoseconds: i64) {
    let fraction = nanoseconds.rem_euclid(1_000_000_000) as u32;
    let precise = matches!(field, Field::NanoTimestamp | Field::FirstNanoTimestamp);
    out.extend((nanoseconds.div_euclid(1_000_000_000) as u32).to_be_bytes());
    out.extend((if precise { fraction } else { fraction / 1000 }).to_be_bytes());
}

fn put_counted(out: &mut Vec<u8>, field: Field, value: Option<Value<'_>>) {
    let list = match value {
        Some(Value::Bytes(list)) => list,
        _ => &[],
    };
    let list = match field {
        Field::TcpNonTimestampOptions => tcp_options::filter(list, Shown::AllButTimestamps),
        Field::TcpSack => tcp_options::filter(list, Shown::Sack),
        _ => list.to_vec(),
    };
    out.push(list.len() as u8);
    out.extend(list);
}
