//! Whether a router has done with IP options what it should (RFC 791 §3.1, RFC 1812 §5.3.13).

use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::ipv4::option;

/// Checks what the options of a packet `before` the router have become `after` it. Knows headers with one option, which
/// comes first.
pub fn are_updated(before: &[u8], after: &[u8], router: Ipv4Address) -> Result<(), &'static str> {
    let right = match before.first() {
        Some(&option::RECORD_ROUTE) => after == recorded(before, router),
        Some(&option::TIMESTAMP) => stamped(before, after, router).is_some_and(|expected| after == expected),
        _ => after == before,
    };
    if right { Ok(()) } else { Err("option not updated as it should be") }
}

/// Where the next entry of an option goes, if one of `length` bytes still fits.
fn room(option: &[u8], length: usize) -> Option<usize> {
    let at = usize::from(option[2]) - 1;
    (at + length <= usize::from(option[1])).then_some(at)
}

/// A record route option with the router's address in it, if there was room.
fn recorded(before: &[u8], router: Ipv4Address) -> Vec<u8> {
    let mut option = before.to_vec();
    if let Some(at) = room(before, 4) {
        option[at..at + 4].copy_from_slice(&router.octets());
        option[2] += 4;
    }
    option
}

/// A timestamp option with an entry more, or with one more packet that found no room. The time itself is taken from
/// `after`; there must be one, and it is not midnight.
fn stamped(before: &[u8], after: &[u8], router: Ipv4Address) -> Option<Vec<u8>> {
    let mut option = before.to_vec();
    let with_address = before[3] & 0xf == 1;
    let length = if with_address { 8 } else { 4 };
    let Some(at) = room(before, length) else {
        option[3] += 0x10;
        return Some(option);
    };
    if with_address {
        option[at..at + 4].copy_from_slice(&router.octets());
    }
    let place = at + length - 4..at + length;
    let time = after.get(place.clone()).filter(|time| **time != [0; 4])?;
    option[place].copy_from_slice(time);
    option[2] += length as u8;
    Some(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(before: &[u8], after: &[u8]) -> bool {
        are_updated(before, after, Ipv4Address::new(10, 1, 0, 1)).is_ok()
    }

    #[test]
    fn a_route_is_recorded_where_there_is_room() {
        assert!(right(&[7, 7, 4, 0, 0, 0, 0, 0], &[7, 7, 8, 10, 1, 0, 1, 0]));
        assert!(!right(&[7, 7, 4, 0, 0, 0, 0, 0], &[7, 7, 4, 0, 0, 0, 0, 0]));
        assert!(!right(&[7, 7, 4, 0, 0, 0, 0, 0], &[7, 7, 8, 10, 0, 0, 1, 0]));
        assert!(right(&[7, 7, 8, 1, 2, 3, 4, 0], &[7, 7, 8, 1, 2, 3, 4, 0]));
    }

    #[test]
    fn a_time_is_added_where_there_is_room() {
        assert!(right(&[68, 8, 5, 0, 0, 0, 0, 0], &[68, 8, 9, 0, 0, 0, 0, 80]));
        assert!(!right(&[68, 8, 5, 0, 0, 0, 0, 0], &[68, 8, 5, 0, 0, 0, 0, 0]));
        let before = [68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(right(&before, &[68, 12, 13, 1, 10, 1, 0, 1, 0, 0, 0, 80]));
        assert!(!right(&before, &[68, 12, 13, 1, 0, 0, 0, 0, 0, 0, 0, 80]));
        assert!(right(&[68, 8, 9, 0, 0, 0, 0, 7], &[68, 8, 9, 0x10, 0, 0, 0, 7]));
        assert!(!right(&[68, 8, 9, 0, 0, 0, 0, 7], &[68, 8, 9, 0, 0, 0, 0, 7]));
    }

    #[test]
    fn other_options_stay_as_they_are() {
        assert!(right(&[1, 1, 1, 0], &[1, 1, 1, 0]) && right(&[], &[]));
        assert!(!right(&[1, 1, 1, 0], &[1, 1, 0, 0]) && !right(&[], &[0; 4]));
    }
}
