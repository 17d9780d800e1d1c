//! Tests for `mechanism.rs` to run in environments of its choice.

use std::thread;

fn needs_nothing() {}

fn needs_tshark() {
    clickwork_oracles::program("tshark");
}

fn needs_root_in_a_thread() {
    let run = thread::spawn(clickwork_oracles::root).join();
    if let Err(panic) = run {
        std::panic::resume_unwind(panic);
    }
}

fn needs_another_kernel() {
    clickwork_oracles::lacking("this kernel has no bridges");
}

fn says_what_is_wrong() -> Result<(), libtest_mimic::Failed> {
    clickwork_oracles::program("no-such-program");
    Ok(())
}

fn main() {
    use clickwork_oracles::{fallible, run, test};
    run(vec![
        test("needs_nothing", needs_nothing),
        test("needs_tshark", needs_tshark),
        test("needs_root_in_a_thread", needs_root_in_a_thread),
        test("needs_another_kernel", needs_another_kernel),
        fallible("says_what_is_wrong", says_what_is_wrong),
    ]);
}
