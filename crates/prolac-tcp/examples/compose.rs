//! The TCP with extensions of your choice, as C.
//!
//! ```text
//! cargo run -p clickwork-prolac-tcp --example compose                                 # which extensions there are
//! cargo run -p clickwork-prolac-tcp --example compose -- delay-ack slow-start         # writes tcp.c and tcp.h
//! cargo run -p clickwork-prolac-tcp --example compose -- -o out/small.c base          # no extension at all
//! ```
//!
//! `all` stands for all extensions, `base` for none. What an extension needs must be named too. The C includes
//! `environment.h` of the folder `include`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[path = "../src/compose.rs"]
#[allow(dead_code)]
mod compose;

use compose::{Catalogue, Error};

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let output = match words.iter().position(|word| word == "-o") {
        Some(at) if at + 1 < words.len() => PathBuf::from(words.drain(at..at + 2).nth(1).unwrap_or_default()),
        Some(_) => return usage(),
        None => PathBuf::from("tcp.c"),
    };
    if words.iter().any(|word| word.starts_with('-')) {
        return usage();
    }
    match run(&words, &output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: compose [-o FILE.c] [EXTENSION... | all | base]");
    ExitCode::from(2)
}

fn run(words: &[String], output: &Path) -> Result<(), Error> {
    let catalogue = Catalogue::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tcp")))?;
    if words.is_empty() {
        catalogue.extensions().for_each(list);
        return Ok(());
    }
    let names = match words {
        [word] if word == "all" => catalogue.names(),
        [word] if word == "base" => Vec::new(),
        names => names.to_vec(),
    };
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let made = catalogue.compile(&names, &stem, 3)?;
    write(&output.with_extension("h"), &made.header)?;
    write(output, &made.source)
}

fn list(extension: &compose::Extension) {
    println!("{:20} {}", extension.name, extension.about);
    if !extension.needs.is_empty() {
        println!("{:20} needs {}", "", extension.needs.join(", "));
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|error| Error::Read { path: path.to_path_buf(), error })
}
