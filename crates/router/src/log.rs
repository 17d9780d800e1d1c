//! Where an element's messages and output go: standard error, standard output, a buffer in tests, or a writer of the
//! program's; and to who listens besides.
//!
//! Nobody has to read what a router says: a pipe or terminal that stands still costs lines, not packets (see
//! [`Outlet`]). How many were lost is said when it is read again.

use crate::outlet::Outlet;
use clickwork_source::text;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A shared sink of text lines.
#[derive(Clone, Debug, Default)]
pub struct Log {
    sink: Sink,
    listeners: Arc<Listeners>,
}

/// Gets copies of what a log is given. It is called in the middle of other work, so it must return soon, and must not
/// write to the log itself.
pub trait Listener: Send + Sync {
    /// Takes a copy.
    fn hear(&self, bytes: &[u8]);
}

/// The listeners of a log, as long as they live.
#[derive(Default)]
struct Listeners(Mutex<Vec<Weak<dyn Listener>>>);

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listeners")
    }
}

impl Listeners {
    fn tell(&self, bytes: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|listener| {
            listener.upgrade().is_some_and(|l| {
                l.hear(bytes);
                true
            })
        });
    }
}

#[derive(Clone, Default)]
enum Sink {
    #[default]
    Nowhere,
    Stream(Arc<Mutex<Stream>>),
    Buffer(Arc<Mutex<Vec<u8>>>),
    Writer(Arc<Mutex<dyn Write + Send>>),
}

/// A stream that others may read slowly.
struct Stream {
    outlet: Outlet,
    /// Written before each piece of text.
    before: &'static [u8],
    /// Pieces of text for which there was no room, and nobody was told.
    lost: u64,
}

impl Stream {
    fn write(&mut self, bytes: &[u8]) {
        // A closed stream is not an error.
        match self.outlet.make_room() {
            Ok(true) => {
                let text = [self.before, bytes].concat();
                let _ = self.outlet.write_all(&text).and_then(|()| self.outlet.flush());
            }
            Ok(false) => self.lost += 1,
            Err(_) => {}
        }
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sink::Stream(_) => "Stream",
            Sink::Nowhere => "Nowhere",
            Sink::Buffer(_) => "Buffer",
            Sink::Writer(_) => "Writer",
        })
    }
}

impl Log {
    fn to(sink: Sink) -> Log {
        Log { sink, listeners: Arc::default() }
    }

    /// Lines go to listeners alone.
    pub fn quiet() -> Log {
        Log::to(Sink::Nowhere)
    }

    /// A log that writes to the same place, but has listeners of its own.
    pub fn apart(&self) -> Log {
        Log::to(self.sink.clone())
    }

    /// Gives `listener` copies from now on, as long as it lives.
    pub fn add_listener(&self, listener: &Arc<impl Listener + 'static>) {
        let listener: Weak<dyn Listener> = Arc::downgrade(listener) as _;
        self.listeners.0.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    /// Lines go to standard error.
    pub fn stderr() -> Log {
        Log::stream(Outlet::stderr(), b"")
    }

    /// Text goes to standard output, at once.
    pub fn stdout() -> Log {
        Log::stream(Outlet::stdout(), b"")
    }

    /// Text goes to a stream, each piece of it behind `before`.
    pub fn stream(outlet: Outlet, before: &'static [u8]) -> Log {
        Log::to(Sink::Stream(Arc::new(Mutex::new(Stream { outlet, before, lost: 0 }))))
    }

    fn with_stream<R>(&self, f: impl FnOnce(&mut Stream) -> R) -> Option<R> {
        let Sink::Stream(stream) = &self.sink else { return None };
        Some(f(&mut stream.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Sets whether everything waits until what is written has been read. It does at first; when packets are to go on
    /// meanwhile it must not.
    pub fn set_patient(&self, patient: bool) {
        self.with_stream(|stream| stream.outlet.set_patient(patient));
    }

    /// Writes what waits, unless nobody reads it.
    pub fn finish(&self) {
        self.with_stream(|stream| drop(stream.outlet.finish()));
    }

    /// Writes what waits as far as it is read now. True if something goes on waiting.
    pub fn push_out(&self) -> bool {
        let waits = |stream: &mut Stream| stream.outlet.push_out().is_ok() && stream.outlet.is_waiting();
        self.with_stream(waits).unwrap_or(false)
    }

    /// How many pieces of text were lost since the last call, once there is room again.
    pub fn take_lost(&self) -> u64 {
        let lost = |stream: &mut Stream| match stream.outlet.has_room() {
            true => std::mem::take(&mut stream.lost),
            false => 0,
        };
        self.with_stream(lost).unwrap_or(0)
    }

    /// Lines are kept; [`Log::taken`] returns them.
    pub fn buffer() -> Log {
        Log::to(Sink::Buffer(Arc::default()))
    }

    /// Lines go to `writer`, each in one call.
    pub fn writer(writer: impl Write + Send + 'static) -> Log {
        Log::to(Sink::Writer(Arc::new(Mutex::new(writer))))
    }

    /// Writes a line.
    pub fn line(&self, text: &str) {
        let mut bytes = text::encode(text).into_owned();
        bytes.push(b'\n');
        self.raw(&bytes);
    }

    /// Writes bytes as they are. A closed stream is not an error.
    pub fn raw(&self, bytes: &[u8]) {
        match &self.sink {
            Sink::Nowhere => {}
            Sink::Stream(stream) => stream.lock().unwrap_or_else(PoisonError::into_inner).write(bytes),
            Sink::Buffer(b) => b.lock().unwrap_or_else(|e| e.into_inner()).extend_from_slice(bytes),
            Sink::Writer(w) => {
                let _ = w.lock().unwrap_or_else(|e| e.into_inner()).write_all(bytes);
            }
        }
        self.listeners.tell(bytes);
    }

    /// What was written to a buffer since the last call.
    pub fn taken(&self) -> String {
        match &self.sink {
            Sink::Stream(_) | Sink::Nowhere | Sink::Writer(_) => String::new(),
            Sink::Buffer(b) => {
                let bytes = std::mem::take(&mut *b.lock().unwrap_or_else(|e| e.into_inner()));
                text::decode(bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Ear(Mutex<Vec<u8>>);

    impl Listener for Ear {
        fn hear(&self, bytes: &[u8]) {
            self.0.lock().unwrap().extend_from_slice(bytes);
        }
    }

    #[test]
    fn lines_that_nobody_reads_are_counted() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let log = Log::stream(Outlet::file(std::os::fd::OwnedFd::from(writer)), b"> ");
        log.set_patient(false);
        let line = "x".repeat(999);
        for _ in 0..1500 {
            log.line(&line);
        }
        assert!(log.push_out());
        assert_eq!(log.take_lost(), 0);
        let mut read = vec![0; 20_000];
        for _ in 0..36 {
            std::io::Read::read_exact(&mut reader, &mut read).unwrap();
            log.push_out();
        }
        let lost = log.take_lost();
        assert!((350..450).contains(&lost), "{lost}");
        assert_eq!(log.take_lost(), 0);
    }

    #[test]
    fn listeners_hear_what_all_copies_of_a_log_are_given_as_long_as_they_live() {
        let log = Log::buffer();
        let (ear, other) = (Arc::new(Ear::default()), Arc::new(Ear::default()));
        log.clone().add_listener(&ear);
        let apart = log.apart();
        apart.add_listener(&other);
        log.line("a");
        apart.line("b");
        Log::quiet().line("c");
        assert_eq!((&**ear.0.lock().unwrap(), &**other.0.lock().unwrap()), (&b"a\n"[..], &b"b\n"[..]));
        assert_eq!(log.taken(), "a\nb\n");
        drop(ear);
        log.line("d");
        assert_eq!(log.listeners.0.lock().unwrap().len(), 0);
    }
}
