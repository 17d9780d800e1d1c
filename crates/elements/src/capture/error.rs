//! What can be wrong with a capture file, and where.

use std::{fmt, io};

/// A fault of a capture file. Everything before it has been delivered.
#[derive(Debug)]
pub struct CaptureError {
    /// The file as the user named it; `<stdin>` for standard input.
    pub file: String,
    /// Offset in bytes of the damaged record in the (uncompressed) file; `None` if the file as a whole is at fault.
    pub offset: Option<u64>,
    /// What is wrong.
    pub fault: Fault,
}

/// The kinds of fault.
#[derive(Debug)]
pub enum Fault {
    /// The system could not open or read the file, or its compression is damaged.
    Io(io::Error),
    /// The file has no bytes at all.
    Empty,
    /// The file is not a capture of a known format. The message is Click's where Click has one.
    NotACapture(String),
    /// A record is cut off: the file ends inside it.
    Truncated,
    /// A record contradicts itself or the format.
    Damaged(String),
}

impl CaptureError {
    /// Whether there is nothing wrong but that a pipe has not brought the next record yet.
    pub fn is_not_yet(&self) -> bool {
        self.fault.is_not_yet()
    }
}

impl Fault {
    /// Whether a pipe has not brought what is to be read.
    pub fn is_not_yet(&self) -> bool {
        matches!(self, Fault::Io(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(offset) = self.offset {
            write!(f, "byte {offset}: ")?;
        }
        self.fault.fmt(f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Io(error) => write!(f, "{}", system_message(error)),
            Fault::Empty => write!(f, "empty file"),
            Fault::NotACapture(message) => write!(f, "{message}"),
            Fault::Truncated => {
                write!(f, "the file ends inside a packet record; the packets before it were read")
            }
            Fault::Damaged(message) => write!(f, "{message}; the packets before it were read"),
        }
    }
}

impl std::error::Error for CaptureError {}

/// The system's words for an error, without the number that Rust adds ("No such file or directory").
pub fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
