//! The demonstration without network: `examples/ip-router.click` works on the capture of [`super::traffic`], in
//! simulated time, and what becomes of each class of packets is found out from outside.
//!
//! What was sent is read from the captures that the router writes (see [`super::observe`]). What was not sent is
//! found by stopping the router's time between two classes: the counts that have changed since the last stop (packets
//! dropped, held, learned) belong to the class in between. No element knows that it is being watched.

use super::fate::{Fate, Fates};
use super::observe::{Seen, at_host, on_network};
use super::traffic::{Frame, frames};
use crate::config::{Input, Maker};
use crate::output;
use crate::report::Report;
use clickwork_elements::capture::reader::Reader;
use clickwork_elements::capture::writer::{Options, Writer};
use clickwork_packet::Timestamp;
use clickwork_router::{Clock, Driver, Log, Outcome, Router};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The configuration, and the name of its file.
pub const CONFIG: &str = include_str!("../../../../examples/ip-router.click");
/// See [`CONFIG`].
pub const CONFIG_NAME: &str = "ip-router.click";
/// The captures of what the router gets, by interface.
pub const INPUTS: [&str; 2] = ["in0.pcap", "in1.pcap"];
/// The captures of what it sends, by interface.
pub const OUTPUTS: [&str; 2] = ["out0.pcap", "out1.pcap"];
/// What the router's own host gets.
pub const HOST: &str = "host.pcap";

/// How long after a packet the router is asked what it did: half the time between two packets.
const PAUSE: Duration = Duration::from_micros(500);
/// How much time the router may take to stop after the last packet.
const LONGEST_END: Duration = Duration::from_secs(1);

/// What became of the packets of one class.
#[derive(Debug, Default)]
pub struct Treatment {
    /// How many were sent to the router.
    pub sent: u64,
    /// What happened.
    pub fates: Fates,
    /// Where packets were dropped and why: element, reason, number.
    pub drops: Vec<(String, &'static str, u64)>,
    /// What is wrong with what the router sent.
    pub faults: Vec<&'static str>,
}

/// What a run found out.
#[derive(Debug)]
pub struct Findings {
    /// By class, in the order of [`super::traffic::CLASSES`].
    pub treatments: Vec<Treatment>,
    /// Frames the router sent, to both networks and to its host.
    pub sent: u64,
    /// Frames among them that stem from no packet of the capture.
    pub strays: u64,
    /// Elements of the router.
    pub elements: usize,
    /// What elements said while it ran.
    pub messages: String,
}

/// Writes the captures to `directory`, runs the router there, and looks at what it did. The router comes back, stopped.
pub fn run(directory: &Path) -> Result<(Findings, Router), String> {
    let frames = frames();
    std::fs::create_dir_all(directory)
        .map_err(|e| format!("{}: {}", directory.display(), output::reason(&e)))?;
    output::write(&directory.join(CONFIG_NAME), CONFIG)?;
    for (interface, name) in INPUTS.iter().enumerate() {
        write_capture(&directory.join(name), frames.iter().filter(|f| f.interface == interface))?;
    }
    let mut router = make(directory, &frames)?;
    let mut treatments = watch(&mut router, &frames)?;
    let (elements, messages) = (router.len(), router.log().taken());
    // A capture that cannot be read back could not be written: only the router knows why.
    let (sent, strays) = read_back(directory, &frames, &mut treatments)
        .map_err(|e| format!("{e}\nthe router said:\n{messages}"))?;
    Ok((Findings { treatments, sent, strays, elements, messages }, router))
}

fn write_capture<'f>(file: &Path, frames: impl Iterator<Item = &'f Frame>) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {}", file.display(), output::reason(&e));
    let options = Options { snaplen: u32::MAX, ..Options::default() };
    let mut writer = Writer::create(&file.to_string_lossy(), options).map_err(failed)?;
    for frame in frames {
        writer.write_packet(frame.timestamp, frame.bytes.len() as u32, &frame.bytes).map_err(failed)?;
    }
    writer.finish().map_err(failed)
}

/// The router, its files in `directory`, its clock at the first packet.
fn make(directory: &Path, frames: &[Frame]) -> Result<Router, String> {
    let names = ["IN0", "IN1", "OUT0", "OUT1", "HOST"].iter();
    let files = INPUTS.iter().chain(&OUTPUTS).chain([&HOST]);
    let quoted =
        |file: &str| clickwork_router::args::quote(&directory.join(file).to_string_lossy()).to_string();
    let defines = names.zip(files).map(|(name, file)| (name.to_string(), quoted(file))).collect();
    // The router reports the first bad header it meets; here they are all on purpose, so that is kept for when
    // something goes wrong.
    let maker = Maker { defines, log: Log::buffer(), ..Maker::new() };
    let input = Input { name: CONFIG_NAME.to_string(), text: CONFIG.to_string(), files: None };
    let made = maker.make(&input, Clock::simulated(time_of(&frames[0])), None);
    made.router.ok_or_else(|| Report::human().text(&made.sources, &made.diagnostics))
}

fn time_of(frame: &Frame) -> Timestamp {
    Timestamp::from_nanos(frame.timestamp as i64)
}

/// Runs the router class by class to its end.
fn watch(router: &mut Router, frames: &[Frame]) -> Result<Vec<Treatment>, String> {
    let mut driver = Driver::default();
    let mut before = Counts::of(router);
    let mut treatments = Vec::new();
    for of_class in frames.chunk_by(|a, b| a.class == b.class) {
        let end = of_class.last().map_or(Timestamp::ZERO, time_of) + PAUSE;
        let outcome = driver.run_for(router, end.since(router.clock().peek()));
        if outcome != Outcome::TimeLimit {
            return Err(format!("the router ended before the capture did ({outcome:?})"));
        }
        let now = Counts::of(router);
        let mut treatment = now.since(&before, router);
        treatment.sent = of_class.len() as u64;
        treatments.push(treatment);
        before = now;
    }
    let outcome = driver.run_for(router, LONGEST_END);
    router.cleanup();
    match outcome {
        Outcome::Stopped => Ok(treatments),
        other => Err(format!("the router did not stop after the capture ({other:?})")),
    }
}

/// What the elements of a router have counted.
#[derive(Default)]
struct Counts {
    /// By element and reason.
    drops: BTreeMap<(u32, &'static str), u64>,
    learned: u64,
    held: u64,
}

impl Counts {
    fn of(router: &mut Router) -> Counts {
        let mut counts = Counts::default();
        for id in router.ids() {
            let info = router.info(id);
            counts.drops.extend(info.drops.iter().map(|&(reason, n)| ((id.0, reason), n)));
            match info.class.name {
                // A packet that reaches it is dropped because of the way that it took.
                "Discard" => _ = counts.drops.insert((id.0, "discarded"), info.packets),
                "ARPQuerier" => {
                    let mut number = |handler| {
                        let value = router.read_handler(id, handler, "");
                        value.ok().and_then(|v| v.text().trim().parse::<u64>().ok()).unwrap_or(0)
                    };
                    counts.learned += number("responses");
                    counts.held += number("length");
                }
                _ => {}
            }
        }
        counts
    }

    /// What happened between `before` and this.
    fn since(&self, before: &Counts, router: &Router) -> Treatment {
        let mut treatment = Treatment::default();
        for (&(element, reason), &n) in &self.drops {
            let n = n - before.drops.get(&(element, reason)).unwrap_or(&0);
            if n > 0 {
                let name = router.info(clickwork_router::ElementId(element)).name.clone();
                treatment.drops.push((name, reason, n));
            }
        }
        let dropped = treatment.drops.iter().map(|(_, _, n)| n).sum();
        let learned = self.learned - before.learned;
        let held = self.held.saturating_sub(before.held);
        let counts = [(Fate::Dropped, dropped), (Fate::Learned, learned), (Fate::Held, held)];
        treatment.fates = counts.into_iter().filter(|(_, n)| *n > 0).collect();
        treatment
    }
}

/// Adds what the router sent to what is known, and returns how many frames that was, and how many strays.
fn read_back(directory: &Path, frames: &[Frame], treatments: &mut [Treatment]) -> Result<(u64, u64), String> {
    let mut seen = Vec::new();
    for (interface, name) in OUTPUTS.iter().enumerate() {
        let packets = read_capture(&directory.join(name))?;
        seen.extend(packets.iter().map(|bytes| on_network(interface, bytes, frames)));
    }
    seen.extend(read_capture(&directory.join(HOST))?.iter().map(|bytes| at_host(bytes, frames)));
    let sent = seen.len() as u64;
    let mut known = 0;
    for Seen { class, fate, fault } in seen.into_iter().flatten() {
        known += 1;
        *treatments[class].fates.entry(fate).or_default() += 1;
        treatments[class].faults.extend(fault);
    }
    Ok((sent, sent - known))
}

fn read_capture(file: &Path) -> Result<Vec<Vec<u8>>, String> {
    let mut reader = Reader::open(&file.to_string_lossy()).map_err(|e| e.to_string())?;
    let mut packets = Vec::new();
    while let Some(record) = reader.next_record().map_err(|e| e.to_string())? {
        packets.push(record.data.to_vec());
    }
    Ok(packets)
}

#[cfg(test)]
mod tests {
    use super::super::expect::GROUPS;
    use super::super::traffic::CLASSES;
    use super::*;
    use std::path::PathBuf;

    fn scratch(name: &str) -> PathBuf {
        clickwork_oracles::unused(&format!("clickwork-{name}"))
    }

    #[test]
    fn the_router_treats_every_class_as_expected() {
        let directory = scratch("offline");
        let (findings, _) = run(&directory).unwrap();
        assert_eq!((findings.treatments.len(), findings.strays), (CLASSES.len(), 0));
        for (e, t) in GROUPS.iter().flat_map(|g| g.classes).zip(&findings.treatments) {
            assert_eq!(t.fates, e.fates(t.sent), "{}", e.class);
            assert_eq!(t.faults, [""; 0], "{}", e.class);
        }
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_named() {
        let file = scratch("no-directory");
        std::fs::write(&file, "").unwrap();
        let error = run(&file.join("below")).err().unwrap();
        assert!(error.starts_with(&file.display().to_string()), "{error}");
        std::fs::remove_file(file).unwrap();
    }
}
