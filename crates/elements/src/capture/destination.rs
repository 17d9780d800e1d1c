//! Where a file that an element writes goes: a file, or standard output.
//!
//! A file is opened when the router is initialised, so that a wrong name is an error then, but emptied only when the
//! first byte is written: when a router is replaced while it runs, the new one must not destroy what the old one is
//! still writing.

use clickwork_source::text;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};

/// How many bytes are collected before they are handed to the system.
const BUFFER: usize = 64 * 1024;

/// A stream of bytes to be written.
pub type Stream = Box<dyn Write + Send>;

/// An opened destination that has not been touched yet.
#[derive(Debug)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file.
    File(File),
}

impl Destination {
    /// Opens the file called [`name`](text); `-` is standard output.
    pub fn open(name: &str) -> io::Result<Destination> {
        if name == "-" {
            return Ok(Destination::Stdout);
        }
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(text::to_path(name))
            .map(Destination::File)
    }

    /// Empties the file and begins to write. Standard output is not buffered here, because handlers print there too
    /// and the order must be kept.
    pub fn start(self) -> Stream {
        match self {
            Destination::Stdout => Box::new(io::stdout()),
            Destination::File(file) => {
                // A pipe or device has no length, and needs none.
                let _ = file.set_len(0);
                Box::new(BufWriter::with_capacity(BUFFER, file))
            }
        }
    }
}

/// The name of a destination, for people.
pub fn shown_name(name: &str) -> &str {
    if name == "-" { "<stdout>" } else { name }
}
