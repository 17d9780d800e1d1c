//! File descriptors that elements wait on.

use crate::element::Ready;
use crate::router::ElementId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

#[derive(Debug)]
struct Watch {
    element: ElementId,
    ready: Ready,
    /// A duplicate, so that polling never touches a descriptor that the element has closed.
    fd: OwnedFd,
}

/// The watched descriptors, by the number the element knows them by.
#[derive(Debug, Default)]
pub(crate) struct PollSet {
    watches: BTreeMap<RawFd, Watch>,
}

impl PollSet {
    pub fn watch(&mut self, element: ElementId, fd: BorrowedFd<'_>, ready: Ready) -> io::Result<()> {
        let known = self.watches.remove(&fd.as_raw_fd()).filter(|w| w.element == element);
        if ready.read || ready.write {
            let own = match known {
                Some(w) => w.fd,
                None => fd.try_clone_to_owned()?,
            };
            self.watches.insert(fd.as_raw_fd(), Watch { element, ready, fd: own });
        }
        Ok(())
    }

    pub fn unwatch(&mut self, fd: RawFd) {
        self.watches.remove(&fd);
    }

    pub fn is_empty(&self) -> bool {
        self.watches.is_empty()
    }

    /// Waits until a descriptor is ready, `timeout` passes (forever if `None`) or a signal arrives, and returns what is
    /// ready.
    pub fn wait(&self, timeout: Option<Duration>) -> Vec<(ElementId, RawFd, Ready)> {
        let mut fds: Vec<PollFd<'_>> =
            self.watches.values().map(|w| PollFd::new(&w.fd, events(w.ready))).collect();
        let timeout = timeout.map(|d| Timespec {
            tv_sec: i64::try_from(d.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(d.subsec_nanos()),
        });
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        let ready = fds.iter().zip(&self.watches).filter(|(p, _)| !p.revents().is_empty());
        ready.map(|(p, (&fd, w))| (w.element, fd, readiness(p.revents()))).collect()
    }
}

fn events(ready: Ready) -> PollFlags {
    let read = if ready.read { PollFlags::IN } else { PollFlags::empty() };
    let write = if ready.write { PollFlags::OUT } else { PollFlags::empty() };
    read | write
}

fn readiness(events: PollFlags) -> Ready {
    Ready {
        read: events.intersects(PollFlags::IN | PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL),
        write: events.intersects(PollFlags::OUT | PollFlags::ERR),
    }
}
