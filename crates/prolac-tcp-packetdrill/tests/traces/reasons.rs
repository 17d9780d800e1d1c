//! Why ours answers otherwise than the kernel: the rows of a table in `docs/tcp-conformance.md`, which says more.

use super::states::{FIN, RST, SYN, Segment, State};

/// The first cell of the row that a difference belongs to.
pub fn reason(state: &State, segment: &Segment) -> Option<&'static str> {
    of_a_beginning(state, segment).or_else(|| of_a_connection(state, segment))
}

fn of_a_beginning(state: &State, segment: &Segment) -> Option<&'static str> {
    let has = |flag: u8| segment.flags & flag != 0;
    let (name, place) = (state.name, segment.place());
    Some(match name {
        "SYN-SENT" if has(SYN) => "text and FIN in a SYN-ACK",
        "SYN-RECEIVED" if has(SYN) => "SYN in the window of a half-open connection",
        "SYN-RECEIVED" if place == "edge" => "right edge of a half-open connection",
        "SYN-RECEIVED, actively" if has(RST) && place != "left" => "RST for who began",
        "SYN-RECEIVED, actively" if segment.acknowledges() == "nothing" => "ACK of less than the SYN",
        "SYN-RECEIVED, actively" if has(SYN) && !has(RST) => "SYNs that cross",
        _ => return None,
    })
}

fn of_a_connection(state: &State, segment: &Segment) -> Option<&'static str> {
    let has = |flag: u8| segment.flags & flag != 0;
    let (name, place) = (state.name, segment.place());
    let is_over = matches!(name, "CLOSING" | "CLOSE-WAIT" | "LAST-ACK" | "LAST-ACK, text sent");
    Some(match name {
        "FIN-WAIT-2, left" => "FIN-WAIT-2 without a user",
        "TIME-WAIT" if has(RST) => "RST in TIME-WAIT",
        "TIME-WAIT" if has(SYN) => "new connection instead of TIME-WAIT",
        "TIME-WAIT" => "no ACK in TIME-WAIT",
        _ if has(RST) && place == "left" => "RST that ends at the left edge",
        _ if place == "left" => "ACK in what was received before",
        _ if is_over => "text behind the FIN",
        _ if has(FIN) && place == "crossing" => "FIN behind old text",
        "FIN-WAIT-1, left" if place == "edge" => "text behind the window, without a user",
        _ if segment.acknowledges() == "old" => "old ACK on the fast path",
        _ => return None,
    })
}
