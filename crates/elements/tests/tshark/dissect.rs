//! What another implementation reads in packets: tshark's dissectors, field by field.

use clickwork_elements::capture::linktype::LinkType;
use clickwork_elements::capture::writer::{Options, Writer};
use std::path::PathBuf;
use std::process::Command;

/// A capture file that goes away.
struct Capture(PathBuf);

impl Capture {
    fn of(link_type: LinkType, frames: &[Vec<u8>]) -> Capture {
        let file = clickwork_oracles::unused("clickwork-oracle");
        let options = Options { link_type, ..Options::default() };
        let mut writer = Writer::create(file.to_str().expect("a plain name"), options).unwrap();
        for (frame, number) in frames.iter().zip(1u64..) {
            writer.write_packet(number * 1_000_000_000, frame.len() as u32, frame).unwrap();
        }
        writer.finish().unwrap();
        Capture(file)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One line for each frame: the values of `fields`, separated by '|', nothing where the frame has no such field, and the
/// values of one field separated by ','. `preferences` are tshark's, `name:value`.
pub fn dissected(
    link_type: LinkType,
    frames: &[Vec<u8>],
    fields: &[&str],
    preferences: &[&str],
) -> Vec<String> {
    clickwork_oracles::program("tshark");
    let capture = Capture::of(link_type, frames);
    let mut command = Command::new("tshark");
    command.args(["-T", "fields", "-E", "separator=|", "-r"]).arg(&capture.0);
    command.args(preferences.iter().flat_map(|p| ["-o", p]));
    let output = command.args(fields.iter().flat_map(|f| ["-e", f])).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark: {errors}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}
