//! What the tests share: routers made twice from one configuration, once with segments, and everything that can be seen of
//! them.
#![allow(dead_code)] // no test uses everything

pub mod exercise;
pub mod packets;
pub mod random;
pub mod subjects;

use clickwork_compile::{Leash, Library, Text, rustc};
use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::Timestamp;
use clickwork_router::{Clock, Log, Options, Reload, Router, build};
use clickwork_source::{Sources, render_click};
use std::fmt::Write;
use std::sync::Arc;

/// The seeds of random configurations: `count`, or as many as CLICKWORK_RANDOM says, or that in CLICKWORK_SEED alone.
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    match number("CLICKWORK_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CLICKWORK_RANDOM").unwrap_or(count),
    }
}

/// The code of a text, compiled now.
pub fn compiled(name: &str, text: &Text) -> Library {
    let folder = clickwork_oracles::unused(&format!("clickwork-{name}"));
    let _ = std::fs::remove_dir_all(&folder); // of a process with the same number that was killed
    std::fs::create_dir(&folder).expect("nobody else has this name");
    let code = rustc::compile(text, &folder, &Leash::default());
    let _ = std::fs::remove_dir_all(&folder);
    Library::from_bytes(&code.unwrap_or_else(|e| panic!("{e}"))).expect("it can be loaded")
}

/// A router and what it says and prints.
pub struct Running {
    pub router: Router,
    pub log: Log,
}

/// Makes a router of a configuration; the messages if it is not correct.
pub fn start(text: &str, ordered: bool) -> Result<Running, String> {
    start_reloading(text, ordered, None)
}

/// The same of a router whose configuration can be replaced.
pub fn start_reloading(text: &str, ordered: bool, reload: Option<Reload>) -> Result<Running, String> {
    let (mut sources, registry) = (Sources::default(), Arc::new(registry()));
    let file = sources.add("t.click", text);
    let told = |sources: &Sources, messages: &clickwork_source::Diagnostics| -> String {
        messages.iter().map(|d| render_click(sources, d)).collect()
    };
    let (graph, messages) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    if messages.has_errors() {
        return Err(told(&sources, &messages));
    }
    let (log, clock) = (Log::buffer(), Clock::simulated(Timestamp::new(1_000_000_000, 0)));
    let (output, seed) = (log.clone(), Some(1));
    let options = Options { ordered, clock, output, seed, log: log.clone(), reload, ..Options::default() };
    match build(&graph, &sources, &registry, options) {
        Ok((router, _)) => Ok(Running { router, log }),
        Err(errors) => Err(told(&sources, &errors)),
    }
}

impl Running {
    /// All that can be seen: messages, and of each element what the router counts and what its handlers read.
    pub fn seen(&mut self) -> String {
        let mut seen = self.log.taken();
        for id in self.router.ids() {
            let info = self.router.info(id);
            let _ = writeln!(seen, "{} packets {} drops {:?}", info.name, info.packets, sorted(&info.drops));
            let name = info.name.clone();
            for (handler, what) in self.router.handlers(id) {
                if what.read.is_some() && !what.parameter {
                    let value = self.router.read_handler(id, &handler, "").map_err(|e| e.to_string());
                    let value = value.map_or_else(|e| e, |v| v.text());
                    let _ = writeln!(seen, "{name}.{handler} = {value}");
                }
            }
        }
        seen
    }
}

fn sorted(drops: &[(&'static str, u64)]) -> Vec<(&'static str, u64)> {
    let mut drops = drops.to_vec();
    drops.sort_unstable();
    drops
}

/// The lines in which two texts differ, up to ten, side by side.
pub fn difference(a: &str, b: &str) -> Option<String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
    let line =
        |lines: &[&str], n: usize| lines.get(n).map_or("(nothing)".to_string(), |line| line.to_string());
    let differing = (0..a.len().max(b.len())).filter(|&n| a.get(n) != b.get(n));
    let shown: Vec<String> = differing
        .take(10)
        .map(|n| format!("{n}\n  interpreted: {}\n  compiled:    {}", line(&a, n), line(&b, n)))
        .collect();
    (!shown.is_empty()).then(|| shown.join("\n"))
}
