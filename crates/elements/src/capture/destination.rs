//! Where a file that an element writes goes: a file, a pipe, or standard output.
//!
//! A file is opened when the router is initialised, so that a wrong name is an error then, but emptied only when the
//! first byte is written: when a router is replaced while it runs, the new one must not destroy what the old one is
//! still writing.
//!
//! A pipe is written as far as its reader takes it; the rest waits, so that packets go on (see
//! [`clickwork_router::outlet`]). Whoever writes asks for room before.

use clickwork_router::outlet::{self, Outlet, PATIENCE};
use clickwork_source::text;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How many bytes are collected before they are handed to the system.
const BUFFER: usize = 64 * 1024;

/// A stream of bytes to be written.
pub enum Stream {
    /// A file, or whatever else takes all at once.
    Plain(Box<dyn Write + Send>),
    /// A pipe, terminal or standard output.
    Outlet(Outlet),
}

impl Stream {
    /// To an open file or pipe. If `patient`, a slow reader is waited for.
    pub fn file(file: File, patient: bool) -> Stream {
        if file.metadata().is_ok_and(|facts| facts.is_file()) {
            return Stream::Plain(Box::new(BufWriter::with_capacity(BUFFER, file)));
        }
        let mut outlet = Outlet::file(file);
        outlet.set_patient(patient);
        Stream::Outlet(outlet)
    }

    /// Opens a file to write something once. A pipe that nobody reads is an error instead of a reason to wait.
    ///
    /// # Errors
    /// Of the system.
    pub fn open_once(options: &mut OpenOptions, name: &Path) -> io::Result<Stream> {
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        options.custom_flags(flags).open(name).map(|file| Stream::file(file, false))
    }

    /// Writes this and closes the file. A pipe's reader is waited for at most a second.
    ///
    /// # Errors
    /// Of the system.
    pub fn write_once(mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)?;
        match &mut self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Outlet(outlet) => {
                if outlet.finish_within(PATIENCE)? {
                    Ok(())
                } else {
                    Err(unread())
                }
            }
        }
    }

    /// Whether more may be written, perhaps after waiting for a reader that is slow.
    ///
    /// # Errors
    /// Of the system.
    pub fn make_room(&mut self) -> io::Result<bool> {
        match self {
            Stream::Plain(_) => Ok(true),
            Stream::Outlet(outlet) => outlet.make_room(),
        }
    }

    /// Whether more may be written.
    pub fn has_room(&self) -> bool {
        match self {
            Stream::Plain(_) => true,
            Stream::Outlet(outlet) => outlet.has_room(),
        }
    }

    /// Writes what a reader takes now. A file is written when enough has been collected.
    ///
    /// # Errors
    /// Of the system.
    pub fn push_out(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(_) => Ok(()),
            Stream::Outlet(outlet) => outlet.flush(),
        }
    }

    /// What to wait for while something waits to be written.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Stream::Outlet(outlet) if outlet.is_waiting() => Some(outlet.as_fd()),
            _ => None,
        }
    }

    /// Writes everything. A reader that takes nothing for a long time is an error.
    ///
    /// # Errors
    /// Of the system.
    pub fn finish(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Outlet(outlet) => match outlet.finish()? {
                true => Ok(()),
                false => Err(unread()),
            },
        }
    }
}

/// The error of a pipe that nobody reads.
pub fn unread() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "nobody reads it")
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Outlet(outlet) => outlet.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Outlet(outlet) => outlet.flush(),
        }
    }
}

/// An opened destination that has not been touched yet.
#[derive(Debug)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file.
    File(File),
}

impl Destination {
    /// Opens the file called [`name`](text); `-` is standard output. If `patient`, a pipe's reader is waited for.
    pub fn open(name: &str, patient: bool) -> io::Result<Destination> {
        if name == "-" {
            return Ok(Destination::Stdout);
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        outlet::open(&mut options, &text::to_path(name), patient).map(Destination::File)
    }

    /// Empties the file and begins to write; if `patient`, so that a slow reader is waited for. Standard output is not
    /// buffered here, because handlers print there too and the order must be kept.
    pub fn start(self, patient: bool) -> Stream {
        match self {
            Destination::Stdout => {
                // A descriptor of its own can be watched beside others.
                let own = rustix::stdio::stdout().try_clone_to_owned();
                let mut outlet = own.map_or_else(|_| Outlet::stdout(), Outlet::file);
                outlet.set_patient(patient);
                Stream::Outlet(outlet)
            }
            Destination::File(file) => {
                // A pipe or device has no length, and needs none.
                let _ = file.set_len(0);
                Stream::file(file, patient)
            }
        }
    }
}

/// The name of a destination, for people.
pub fn shown_name(name: &str) -> &str {
    if name == "-" { "<stdout>" } else { name }
}
