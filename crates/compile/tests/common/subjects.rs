//! Configurations of the repository that are run both ways: examples, benchmarks, the examples in the manuals of element classes,
//! and what the tests of the tools and of the language begin with.

use super::packets::packet;
use super::random::Random;
use clickwork_elements::capture::writer::{Options, Writer};
use clickwork_elements::registry;
use std::path::{Path, PathBuf};

/// A configuration to be run.
pub struct Subject {
    pub name: String,
    pub text: String,
}

/// The captures that configurations read.
const CAPTURES: &[&str] = &["in.pcap", "in0.pcap", "in1.pcap"];

/// All there are. Those that are no correct configurations are among them.
pub fn all() -> Vec<Subject> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in
        ["examples", "bench", "crates/passes/tests", "crates/clickwork/tests", "fuzz/seeds/parse_click"]
    {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let own = registry();
    let manuals = own.iter().filter(|(name, class)| *name == class.name && !class.example.is_empty());
    let manuals = manuals.map(|(name, class)| Subject::new(name, class.example));
    let files = files.iter().flat_map(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let name = file.strip_prefix(&root).unwrap_or(file).display().to_string();
        match file.extension().is_some_and(|ending| ending == "txt") {
            true => cases(&name, &text),
            false => vec![Subject::new(&name, &text)],
        }
    });
    manuals.chain(files).filter(Subject::is_harmless).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// The configurations in a golden file.
fn cases(name: &str, text: &str) -> Vec<Subject> {
    let sections = text.split("\n== ").filter_map(|section| section.split_once('\n'));
    let mut case = "";
    let mut subjects = Vec::new();
    for (title, body) in sections {
        match title.split_once(' ') {
            Some(("case", title)) => case = title,
            _ if title == "config" => subjects.push(Subject::new(&format!("{name}: {case}"), body)),
            _ => {}
        }
    }
    subjects
}

impl Subject {
    fn new(name: &str, text: &str) -> Subject {
        // Few packets are as good as millions.
        let text = text.replace("$N 4000000", "$N 500");
        let text = with_limits(&text);
        let text = with_captures(&with_captures(&text, "FromDevice("), "ToDevice(");
        Subject { name: name.to_string(), text }
    }

    /// Whether it can be run anywhere: it needs no network, and does not wait for somebody.
    fn is_harmless(&self) -> bool {
        let needs = ["Socket(", "Device(", "KernelTun(", "KernelTap(", "RouterLink(", "FromHost(", "ToHost("];
        !needs.iter().any(|word| self.text.contains(word))
    }
}

/// The text with an end to each source.
fn with_limits(text: &str) -> String {
    let mut parts = text.split("InfiniteSource");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let own = part.split(';').next().unwrap_or_default().contains("LIMIT");
        out += &match part.strip_prefix('(') {
            _ if own => format!("InfiniteSource{part}"),
            Some(rest) => format!("InfiniteSource(LIMIT 200, {rest}"),
            None => format!("InfiniteSource(LIMIT 200){part}"),
        };
    }
    out
}

/// The text with captures in place of devices.
fn with_captures(text: &str, device: &str) -> String {
    let mut parts = text.split(device);
    let mut out = parts.next().unwrap_or_default().to_string();
    for (n, part) in parts.enumerate() {
        let (arguments, rest) = part.split_once(')').unwrap_or((part, ""));
        let force = if arguments.contains("FORCE_IP true") { ", FORCE_IP true" } else { "" };
        out += &match device {
            "FromDevice(" => format!("FromDump(in{}.pcap, STOP true{force})", n % 2),
            _ => format!("ToDump(sent{n}.pcap, SNAPLEN 0)"),
        };
        out += rest;
    }
    out
}

/// A folder where configurations run: with captures to read, and what they write.
pub struct Folder(PathBuf);

impl Folder {
    /// The working folder of this program from now on.
    pub fn enter(name: &str) -> Folder {
        let path = clickwork_oracles::unused(&format!("clickwork-{name}"));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        std::env::set_current_dir(&path).expect("it is there");
        let mut random = Random::new(7);
        CAPTURES.iter().for_each(|name| write_capture(name, &mut random));
        Folder(path)
    }

    /// What was written there since the last call, by name.
    pub fn written(&self) -> String {
        let mut files = Vec::new();
        collect(&self.0, &mut files);
        files.retain(|file| !CAPTURES.iter().any(|name| file.ends_with(name)));
        files.sort();
        let mut written = String::new();
        for file in files {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let name = file.strip_prefix(&self.0).unwrap_or(&file).display().to_string();
            written += &format!("file {name}: {} bytes {:x?}\n", bytes.len(), &bytes);
            let _ = std::fs::remove_file(file);
        }
        written
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn write_capture(name: &str, random: &mut Random) {
    let mut writer = Writer::create(name, Options::default()).expect("a capture can be written");
    for number in 0..60 {
        let p = packet(random);
        let at = 1_000_000_000_000_000_000 + number * 1_000_000;
        writer.write_packet(at, p.len() as u32, p.data()).expect("a packet can be written");
    }
    writer.finish().expect("the capture can be closed");
}
