//! What was said and some client has not been sent yet.
//!
//! Messages come while any element runs; the element that sends them is woken by a descriptor. The backlog never grows
//! beyond its limit: what is older is forgotten, and clients that wanted it are lost.

use clickwork_router::Listener;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that a client may fall behind.
pub const MAX_BACKLOG: usize = 500_000;

/// The backlog of a channel's messages, shared with the log that feeds it.
#[derive(Debug)]
pub struct Backlog {
    text: Mutex<Text>,
    /// Becomes readable when there is something new.
    news: OwnedFd,
}

/// Bytes, with their positions in all that was ever kept.
#[derive(Debug, Default)]
pub struct Text {
    bytes: VecDeque<u8>,
    start: u64,
    /// Whether there is a client to keep anything for.
    pub is_wanted: bool,
}

impl Text {
    /// The position behind the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// What follows a position, in one piece or the first of two; nothing if it was forgotten.
    pub fn from(&self, position: u64) -> Option<&[u8]> {
        let at = position.checked_sub(self.start)? as usize;
        let (front, back) = self.bytes.as_slices();
        front.get(at..).filter(|rest| !rest.is_empty()).or_else(|| back.get(at - front.len().min(at)..))
    }

    /// Forgets what is before a position.
    pub fn forget_before(&mut self, position: u64) {
        let n = position.saturating_sub(self.start).min(self.bytes.len() as u64);
        self.bytes.drain(..n as usize);
        self.start += n;
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.forget_before(self.end().saturating_sub(MAX_BACKLOG as u64));
    }
}

impl Backlog {
    /// An empty one.
    ///
    /// # Errors
    /// If the process has no descriptor to spare.
    pub fn new() -> io::Result<Backlog> {
        let news = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Backlog { text: Mutex::default(), news })
    }

    /// The descriptor that becomes readable.
    pub fn news(&self) -> BorrowedFd<'_> {
        self.news.as_fd()
    }

    /// Takes note that the news are known.
    pub fn read_news(&self) {
        let _ = rustix::io::read(&self.news, &mut [0; 8]);
    }

    /// The text.
    pub fn text(&self) -> MutexGuard<'_, Text> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Backlog {
    fn hear(&self, bytes: &[u8]) {
        let mut text = self.text();
        if text.is_wanted {
            text.add(bytes);
            let _ = rustix::io::write(&self.news, &1u64.to_ne_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_outlive_what_is_forgotten() {
        let mut text = Text::default();
        text.add(b"abc");
        text.forget_before(2);
        text.add(b"de");
        let mut seen = Vec::new();
        let mut at = 2;
        while let Some(bytes) = text.from(at).filter(|b| !b.is_empty()) {
            seen.extend_from_slice(bytes);
            at += bytes.len() as u64;
        }
        assert_eq!((seen.as_slice(), text.end(), text.from(1)), (&b"cde"[..], 5, None));
        assert_eq!(text.from(5), Some(&b""[..]));
    }

    #[test]
    fn the_backlog_has_a_limit_and_nothing_is_kept_for_nobody() {
        let backlog = Backlog::new().unwrap();
        backlog.hear(b"nobody");
        assert_eq!(backlog.text().end(), 0);
        backlog.text().is_wanted = true;
        for _ in 0..11 {
            backlog.hear(&[b'x'; 50_000]);
        }
        let text = backlog.text();
        assert_eq!((text.bytes.len(), text.end()), (MAX_BACKLOG, 550_000));
    }
}
