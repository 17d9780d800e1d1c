//! The fuzz target's check on its seeds, on beginnings of them, and on seeds with one byte changed.

#[path = "../../../fuzz/checks/capture.rs"]
mod capture;

use std::fs;
use std::path::Path;

#[test]
fn the_seeds_their_beginnings_and_their_neighbours_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/capture");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the seeds are there") {
        let seed = fs::read(entry.expect("readable").path()).expect("readable");
        for length in (0..=seed.len()).step_by(2) {
            capture::check(&seed[..length]);
        }
        for at in (0..seed.len()).step_by(2) {
            let mut neighbour = seed.clone();
            for value in [0xff, seed[at] ^ 0x10] {
                neighbour[at] = value;
                capture::check(&neighbour);
            }
        }
        count += 1;
    }
    assert!(count > 0);
}
