//! Where an element's messages and output go: standard error, standard output, a buffer in tests, or a writer of the
//! program's.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// A shared sink of text lines.
#[derive(Clone, Debug, Default)]
pub struct Log(Sink);

#[derive(Clone, Default)]
enum Sink {
    #[default]
    Stderr,
    Stdout,
    Buffer(Arc<Mutex<Vec<u8>>>),
    Writer(Arc<Mutex<dyn Write + Send>>),
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sink::Stderr => "Stderr",
            Sink::Stdout => "Stdout",
            Sink::Buffer(_) => "Buffer",
            Sink::Writer(_) => "Writer",
        })
    }
}

impl Log {
    /// Lines go to standard error.
    pub fn stderr() -> Log {
        Log(Sink::Stderr)
    }

    /// Text goes to standard output, at once.
    pub fn stdout() -> Log {
        Log(Sink::Stdout)
    }

    /// Lines are kept; [`Log::taken`] returns them.
    pub fn buffer() -> Log {
        Log(Sink::Buffer(Arc::default()))
    }

    /// Lines go to `writer`, each in one call.
    pub fn writer(writer: impl Write + Send + 'static) -> Log {
        Log(Sink::Writer(Arc::new(Mutex::new(writer))))
    }

    /// Writes a line.
    pub fn line(&self, text: &str) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(b'\n');
        self.raw(&bytes);
    }

    /// Writes bytes as they are. A closed stream is not an error.
    pub fn raw(&self, bytes: &[u8]) {
        match &self.0 {
            Sink::Stderr => {
                let _ = std::io::stderr().lock().write_all(bytes);
            }
            Sink::Stdout => {
                let mut out = std::io::stdout().lock();
                let _ = out.write_all(bytes).and_then(|()| out.flush());
            }
            Sink::Buffer(b) => b.lock().unwrap_or_else(|e| e.into_inner()).extend_from_slice(bytes),
            Sink::Writer(w) => {
                let _ = w.lock().unwrap_or_else(|e| e.into_inner()).write_all(bytes);
            }
        }
    }

    /// What was written to a buffer since the last call.
    pub fn taken(&self) -> String {
        match &self.0 {
            Sink::Stderr | Sink::Stdout | Sink::Writer(_) => String::new(),
            Sink::Buffer(b) => {
                let bytes = std::mem::take(&mut *b.lock().unwrap_or_else(|e| e.into_inner()));
                String::from_utf8_lossy(&bytes).into_owned()
            }
        }
    }
}
