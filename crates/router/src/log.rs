//! Where an element's messages and output go: standard error, standard output, a buffer in tests, or a writer of the
//! program's; and to who listens besides.

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
    Stderr,
    Stdout,
    Nowhere,
    Buffer(Arc<Mutex<Vec<u8>>>),
    Writer(Arc<Mutex<dyn Write + Send>>),
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sink::Stderr => "Stderr",
            Sink::Stdout => "Stdout",
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
        Log::to(Sink::Stderr)
    }

    /// Text goes to standard output, at once.
    pub fn stdout() -> Log {
        Log::to(Sink::Stdout)
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
        self.listeners.tell(bytes);
    }

    /// What was written to a buffer since the last call.
    pub fn taken(&self) -> String {
        match &self.sink {
            Sink::Stderr | Sink::Stdout | Sink::Nowhere | Sink::Writer(_) => String::new(),
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
