//! Runs `scripts/*.pkt` on the shared object, each with IPv4, IPv6 and IPv4 on an IPv6 socket: what Linux does, packet by
//! packet.
//!
//! That they are indeed what Linux does can be seen with `SCRIPTS_ON_KERNEL=1` in the environment, as root: then they run on
//! the kernel's own TCP, in real time. A script that says `// Deviates: REASON` is known to fail with the TCP as it is; it is an error if it does not.

mod driver;

use std::path::{Path, PathBuf};

use driver::run::{Mode, Tested, run};
use driver::script::Script;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut paths = Vec::new();
    find(&directory, &mut paths);
    paths.sort();
    let trials = paths.iter().flat_map(|path| trials(&directory, path)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn find(directory: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("scripts").map(|entry| entry.expect("a file").path()) {
        if entry.is_dir() {
            find(&entry, paths);
        } else if entry.extension().is_some_and(|extension| extension == "pkt") {
            paths.push(entry);
        }
    }
}

fn trials(directory: &Path, path: &Path) -> Vec<Trial> {
    let name = path.strip_prefix(directory).unwrap().with_extension("").display().to_string();
    let text = std::fs::read_to_string(path).expect("a script");
    let script = match driver::parse::parse(&text) {
        Ok(script) => script,
        Err(error) => return vec![Trial::test(name, move || Err(Failed::from(error)))],
    };
    let wanted = |mode: &Mode| match &script.only {
        Some(only) => only.iter().any(|name| name == mode.name()),
        None => true,
    };
    let trial = |mode: Mode| {
        let (text, name) = (text.clone(), format!("{name}::{}", mode.name()));
        let parsed = move || driver::parse::parse(&text).expect("it was parsed before");
        match std::env::var_os("SCRIPTS_ON_KERNEL") {
            None => Trial::test(name, move || judge(&parsed(), run(&parsed(), mode, Tested::Ours))),
            Some(_) => Trial::test(name, move || run(&parsed(), mode, Tested::Kernel).map_err(Failed::from)),
        }
    };
    Mode::ALL.into_iter().filter(wanted).map(trial).collect()
}

fn judge(script: &Script, result: Result<(), String>) -> Result<(), Failed> {
    match (&script.deviates, result) {
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(error.into()),
        (Some(reason), Err(error)) => {
            println!("known to deviate: {reason}: {error}");
            Ok(())
        }
        (Some(reason), Ok(())) => Err(format!("passes, but says that it deviates: {reason}").into()),
    }
}
