//! The base without any extension keeps to RFC 9293 as well: this program runs itself with nothing else, and leaves out the
//! rows that ask for an extension.

use std::process::Command;

use crate::subset;
use crate::support::EXTENSIONS;

/// Modules about extensions.
const ABOUT_EXTENSIONS: [&str; 15] = [
    "base::",
    "document::",
    "blind_attacks::",
    "congestion::",
    "cookies::",
    "cubic::",
    "ecn::",
    "fast_open::",
    "icmp::path_mtu",
    "linux::",
    "path_mtu::",
    "rack::",
    "sack::",
    "timestamps::",
    "undo::",
];

/// Rows of RFC 9293 that an extension meets, with its name.
const BY_EXTENSIONS: [(&str, &str); 16] = [
    ("acknowledgments::delayed", "delay-ack"),
    ("acknowledgments::goes_with_text", "delay-ack"),
    ("arrives_ack::of_the_distant_past", "blind-defence"),
    ("arrives_disorder::blocks_end_with_the_text", "sack"),
    ("arrives_reset::in_window", "blind-defence"),
    ("arrives_syn::across_the_edge", "blind-defence"),
    ("arrives_syn::in_window", "blind-defence"),
    ("arrives_syn::time_wait_opens_anew_by_timestamp", "timestamps"),
    ("opening::isn_depends_on_the_secret", "secure-iss"),
    ("opening::isn_differs_between_connections", "secure-iss"),
    ("opening::isn_of_a_listener", "secure-iss"),
    ("options::mss_less_options", "timestamps"),
    ("options::order_of_linux", "timestamps, sack"),
    ("options::ours_are_padded", "timestamps, sack"),
    ("options::unaligned", "timestamps, sack"),
    ("window::ours_grows", "receive-autotune"),
];

#[test]
fn base_alone() {
    run("base");
}

/// With the extensions that the rows above name, and no others.
#[test]
fn base_with_what_rfc_9293_asks_for() {
    run("delay-ack blind-defence timestamps secure-iss sack receive-autotune");
}

/// With each extension and what it needs, and with all but each.
#[test]
#[ignore = "some minutes: all rows for each"]
fn base_with_and_without_each() {
    let catalogue = subset::catalogue();
    let with = |name: &String| catalogue.with_needs(std::slice::from_ref(name)).expect("an extension");
    for name in catalogue.names() {
        run(&with(&name).join(" "));
        let others = catalogue.names().into_iter().filter(|other| !with(other).contains(&name));
        run(&others.collect::<Vec<_>>().join(" "));
    }
}

/// Runs all that the extensions allow.
fn run(extensions: &str) {
    let has = |needed: &str| needed.split(", ").all(|name| extensions.split(' ').any(|e| e == name));
    let missing = BY_EXTENSIONS.iter().filter(|(_, needed)| !has(needed)).map(|(row, _)| *row);
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env(EXTENSIONS, extensions).arg("--quiet");
    for name in ABOUT_EXTENSIONS.into_iter().chain(missing) {
        command.args(["--skip", name]);
    }
    let output = command.output().expect("a run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "with {extensions}:\n{text}");
    let passed = text.split(" passed").next().and_then(|text| text.rsplit(' ').next()?.parse::<u32>().ok());
    assert!(passed > Some(350), "{passed:?} tests were run");
}
