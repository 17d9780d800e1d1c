//! The fuzz targets' checks on their seeds, on beginnings of them, and on seeds with one byte changed.

#[path = "../../../fuzz/checks/capture.rs"]
mod capture;
#[path = "../../../fuzz/checks/control.rs"]
mod control;

use std::fs;
use std::path::Path;

/// Runs a check on the seeds of its target, and what is like them.
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the seeds are there") {
        let seed = fs::read(entry.expect("readable").path()).expect("readable");
        for length in (0..=seed.len()).step_by(2) {
            check(&seed[..length]);
        }
        for at in (0..seed.len()).step_by(2) {
            let mut neighbour = seed.clone();
            for value in [0xff, seed[at] ^ 0x10] {
                neighbour[at] = value;
                check(&neighbour);
            }
        }
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn captures_and_their_neighbours_pass() {
    replay("capture", capture::check);
}

#[test]
fn what_control_clients_send_and_its_neighbours_pass() {
    replay("control", control::check);
}
