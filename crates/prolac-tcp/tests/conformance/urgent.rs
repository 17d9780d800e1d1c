//! RFC 9293 §3.8.5: urgent data.

use crate::support::*;

/// MUST-30, MUST-62: the pointer is to what follows the urgent data, counted from the segment's own number.
#[test]
fn pointer_is_behind() {
    let mut t = Peer::established();
    t.inject(". 1 ack 1 win 0");
    t.write_urgent(2000);
    t.write(500);
    t.inject(". 1 ack 1 win 1500");
    t.expect("U. 1(1000) ack 1 urg 2000");
    t.inject(". 1 ack 1001 win 1500");
    t.expect("U. 1001(1000) ack 1 urg 1000");
    t.expect("P. 2001(500) ack 1");
}

/// MUST-31: any length.
#[test]
fn any_length() {
    let mut t = Peer::established();
    t.inject("U. 1(1000) urg 3000");
    t.inject("U. 1001(1000) urg 2000");
    t.inject("UP. 2001(1000) urg 1000");
    assert!(t.reported(|e| matches!(e, Event::Urgent(_))));
    let id = t.id();
    assert!(t.stack.read_urgent(t.now, id).is_ok());
}

/// MUST-32.
#[test]
fn user_is_told() {
    let mut t = Peer::established();
    t.reported(|_| true);
    t.inject("U. 1 urg 500");
    assert!(t.reported(|e| matches!(e, Event::Urgent(_))), "before the data itself has come");
}

/// MUST-33: reading stops at the mark, so the user knows where urgent data ends.
#[test]
fn user_learns_where() {
    let mut t = Peer::established();
    t.inject("UP. 1(100) urg 51");
    let id = t.id();
    let mut buffer = [0; 200];
    let first = t.stack.read(t.now, id, &mut buffer).expect("what stands before the mark");
    assert_eq!(first, 50);
    assert!(t.stack.read_urgent(t.now, id).is_ok());
    let rest = t.stack.read(t.now, id, &mut buffer).expect("what stands behind it");
    assert_eq!(rest, 49);
}

/// The option that keeps it in the stream.
#[test]
fn in_line() {
    let mut t = Peer::established();
    t.set(option::OUT_OF_BAND_INLINE, 1);
    t.inject("UP. 1(100) urg 51");
    assert_eq!(t.read_all(), 100);
}

#[test]
fn nothing_urgent_to_read() {
    let mut t = Peer::established();
    let id = t.id();
    assert_eq!(t.stack.read_urgent(t.now, id).err().map(|e| e.0), Some(errno::EINVAL));
}
