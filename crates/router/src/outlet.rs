//! Bytes on their way to a file, pipe or terminal that may take them slowly, or not at all, while packets go on.
//!
//! What cannot be written at once waits here, up to [`LIMIT`] bytes. A reader that falls behind is waited for as long as it
//! takes something now and then, so that a pipeline loses nothing; one that takes nothing for [`PATIENCE`] is *stalled*: it is
//! waited for no longer until it reads again, and what there is no room for is refused. Files are written at once.
//!
//! A named pipe that nobody has opened to read is opened all the same ([`open`]): it takes what it holds.
//!
//! The descriptor stays as it is, since other programs share it: a pipe that polls as writable takes [`CHUNK`] bytes.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// Bytes that may wait; then nothing further is to be written.
pub const LIMIT: usize = 1 << 20;
/// How long a reader may take nothing before it counts as stalled.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// The same in the end.
const LAST_PATIENCE: Duration = Duration::from_secs(5);
/// What a pipe takes without waiting if it is writable (PIPE_BUF), and a terminal.
const CHUNK: usize = 4096;
const TERMINAL_CHUNK: usize = 256;

/// Opens a file to be written. If not `patient`, a named pipe's reader is not waited for: until there is one, the pipe is
/// open at both ends here, so that it stalls as one whose reader stands still.
///
/// # Errors
/// Of the system.
pub fn open(options: &mut OpenOptions, name: &Path, patient: bool) -> io::Result<File> {
    if patient {
        return options.open(name);
    }
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    match options.open(name) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) && is_fifo(name) => {
            options.read(true).open(name)
        }
        opened => opened,
    }
}

fn is_fifo(name: &Path) -> bool {
    std::fs::metadata(name).is_ok_and(|facts| facts.file_type().is_fifo())
}

/// Where bytes go.
#[derive(Debug)]
enum Target {
    Stdout,
    Stderr,
    File(OwnedFd),
}

/// A stream of bytes to a descriptor.
#[derive(Debug)]
pub struct Outlet {
    target: Target,
    /// What is written in one call so that it does not wait; nothing if no call waits.
    chunk: Option<usize>,
    waiting: Vec<u8>,
    /// How much of `waiting` has been written.
    written: usize,
    /// Whether writing waits until the reader has taken everything.
    patient: bool,
    stalled: bool,
}

impl Outlet {
    /// To standard output.
    pub fn stdout() -> Outlet {
        Outlet::new(Target::Stdout)
    }

    /// To standard error.
    pub fn stderr() -> Outlet {
        Outlet::new(Target::Stderr)
    }

    /// To an open file.
    pub fn file(file: impl Into<OwnedFd>) -> Outlet {
        Outlet::new(Target::File(file.into()))
    }

    fn new(target: Target) -> Outlet {
        let mut outlet =
            Outlet { target, chunk: None, waiting: Vec::new(), written: 0, patient: true, stalled: false };
        outlet.chunk = chunk(outlet.as_fd());
        outlet
    }

    /// Sets whether writing waits until the reader has taken everything. It does at first.
    pub fn set_patient(&mut self, patient: bool) {
        self.patient = patient;
    }

    /// Whether a reader can keep it waiting at all.
    pub fn may_wait(&self) -> bool {
        self.chunk.is_some() && !self.patient
    }

    /// Whether something waits to be written.
    pub fn is_waiting(&self) -> bool {
        self.written < self.waiting.len()
    }

    /// Whether more may be written by those who can wait. They leave room for packets that are on their way already.
    pub fn has_room(&self) -> bool {
        self.waits() < LIMIT / 2
    }

    fn waits(&self) -> usize {
        self.waiting.len() - self.written
    }

    /// Whether more may be written, perhaps after waiting for a reader that is slow.
    ///
    /// # Errors
    /// Of the system: a pipe that nobody will read.
    pub fn make_room(&mut self) -> io::Result<bool> {
        self.push_out()?;
        while self.waits() >= LIMIT && !self.stalled {
            match self.is_ready(PATIENCE) {
                true => self.push_out()?,
                false => self.stalled = true,
            }
        }
        Ok(self.waits() < LIMIT)
    }

    /// Writes what the reader takes now.
    ///
    /// # Errors
    /// Of the system; what waited is lost.
    pub fn push_out(&mut self) -> io::Result<()> {
        self.push_out_waiting(Duration::ZERO)
    }

    /// Writes everything, unless the reader takes nothing for five seconds: then what waits is given up, and it is not
    /// waited for again. True if it took all.
    ///
    /// # Errors
    /// Of the system; what waited is lost.
    pub fn finish(&mut self) -> io::Result<bool> {
        self.finish_within(if self.stalled { Duration::ZERO } else { LAST_PATIENCE })
    }

    /// The same, with another time.
    ///
    /// # Errors
    /// Of the system; what waited is lost.
    pub fn finish_within(&mut self, patience: Duration) -> io::Result<bool> {
        self.push_out_waiting(patience)?;
        self.stalled = self.is_waiting();
        (self.written, self.waiting) = (0, Vec::new());
        Ok(!self.stalled)
    }

    /// Writes what the reader takes, with as much time for each piece.
    fn push_out_waiting(&mut self, patience: Duration) -> io::Result<()> {
        while self.is_waiting() {
            if self.chunk.is_some() && !self.is_ready(patience) {
                return Ok(());
            }
            let rest = &self.waiting[self.written..];
            let piece = &rest[..rest.len().min(self.chunk.unwrap_or(usize::MAX))];
            match rustix::io::write(self.as_fd(), piece) {
                Ok(n) => (self.written, self.stalled) = (self.written + n, false),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if patience.is_zero() => return Ok(()),
                Err(Errno::AGAIN) => {}
                Err(error) => {
                    (self.written, self.waiting) = (0, Vec::new());
                    return Err(error.into());
                }
            }
        }
        (self.written, self.stalled) = (0, false);
        self.waiting.clear();
        Ok(())
    }

    /// Whether the reader takes something within this time.
    fn is_ready(&self, patience: Duration) -> bool {
        is_writable(self.as_fd(), patience)
    }
}

/// How much to write at once to a file whose reader may be slow; `None` for one that has no reader.
fn chunk(file: BorrowedFd<'_>) -> Option<usize> {
    // Miri, which runs tests, does not know the call.
    if cfg!(miri) {
        return None;
    }
    match fstat(file).map(|facts| FileType::from_raw_mode(facts.st_mode)) {
        Ok(FileType::RegularFile | FileType::Directory) => None,
        Ok(FileType::CharacterDevice) if rustix::termios::isatty(file) => Some(TERMINAL_CHUNK),
        _ => Some(CHUNK),
    }
}

/// Whether a descriptor can be written, or has an error to tell, within this time.
pub fn is_writable(fd: BorrowedFd<'_>, patience: Duration) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    let timeout = Timespec::try_from(patience).ok();
    poll(&mut fds, timeout.as_ref()).is_ok_and(|ready| ready > 0)
}

/// Whether a descriptor can be read, or is at its end, at once.
pub fn is_readable(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

impl AsFd for Outlet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.target {
            Target::Stdout => rustix::stdio::stdout(),
            Target::Stderr => rustix::stdio::stderr(),
            Target::File(file) => file.as_fd(),
        }
    }
}

impl Write for Outlet {
    /// Takes everything: whoever writes asks for room before.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written > LIMIT {
            self.waiting.drain(..self.written);
            self.written = 0;
        }
        self.waiting.extend_from_slice(bytes);
        if self.patient {
            self.flush()?;
        } else if self.waits() >= CHUNK {
            self.push_out()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.patient {
            return self.push_out();
        }
        while self.is_waiting() {
            self.push_out_waiting(LAST_PATIENCE)?;
        }
        Ok(())
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Read};

    fn impatient() -> (PipeReader, Outlet) {
        let (reader, writer) = io::pipe().unwrap();
        let mut outlet = Outlet::file(OwnedFd::from(writer));
        outlet.set_patient(false);
        (reader, outlet)
    }

    /// Writes lines of 100 bytes until there is no room.
    fn fill(outlet: &mut Outlet) -> usize {
        let mut lines = 0;
        while outlet.make_room().unwrap() {
            outlet.write_all(&[b'x'; 100]).unwrap();
            lines += 1;
        }
        lines
    }

    #[test]
    fn a_stalled_reader_costs_what_exceeds_the_limit_and_one_wait() {
        let (mut reader, mut outlet) = impatient();
        let lines = fill(&mut outlet);
        assert!(lines * 100 > LIMIT && lines * 100 < 2 * LIMIT, "{lines}");
        // It is not waited for again.
        assert!(outlet.stalled && !outlet.make_room().unwrap());
        // What waits comes out in order as it is read.
        let mut some = vec![0; 20_000];
        reader.read_exact(&mut some[..20_000]).unwrap();
        assert!(outlet.make_room().unwrap() && !outlet.has_room());
        outlet.write_all(b"end").unwrap();
        let rest = std::thread::spawn(move || {
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest).map(|_| rest)
        });
        assert!(outlet.finish().unwrap());
        drop(outlet);
        let rest = rest.join().unwrap().unwrap();
        assert_eq!(rest.len(), lines * 100 - 20_000 + 3);
        assert!(rest.ends_with(b"xend"));
    }

    #[test]
    fn a_slow_reader_is_waited_for() {
        let (mut reader, mut outlet) = impatient();
        let all = std::thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).map(|_| all)
        });
        for n in 0..40_000u32 {
            assert!(outlet.make_room().unwrap());
            outlet.write_all(format!("{n:099}\n").as_bytes()).unwrap();
        }
        drop(outlet);
        let all = all.join().unwrap().unwrap();
        assert!(all.len() == 4_000_000 && all.ends_with(b"39999\n"));
    }

    #[test]
    fn a_reader_that_goes_away_is_an_error() {
        let (reader, mut outlet) = impatient();
        drop(reader);
        outlet.write_all(b"x").unwrap();
        assert_eq!(outlet.push_out().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert!(!outlet.is_waiting());
    }

    #[test]
    fn files_are_written_at_once() {
        let name = clickwork_oracles::unused("clickwork-outlet");
        let mut outlet = Outlet::file(File::create(&name).unwrap());
        outlet.set_patient(false);
        assert!(!outlet.may_wait());
        outlet.write_all(&[b'x'; 5000]).unwrap();
        outlet.flush().unwrap();
        assert!(!outlet.is_waiting());
        assert_eq!(std::fs::read(&name).unwrap().len(), 5000);
        std::fs::remove_file(&name).unwrap();
    }
}
