//! Notifiers: how an element learns without asking whether packets wait upstream or room is left downstream.
//!
//! A storage element makes an *empty notifier* (active while it holds packets) and perhaps a *full notifier* (active
//! while it has room). An element that pulls gathers the empty notifiers upstream of its input into one [`Signal`] and
//! registers its task: the task may sleep while the signal is inactive and is scheduled when it becomes active.

/// Which condition a notifier tells about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum NotifierKind {
    /// Active while packets may be had: for those who pull.
    Empty,
    /// Active while packets are accepted: for those who push.
    Full,
    /// Active while somebody outside reads what is written: for those who push packets that can wait, from files.
    Reader,
}

/// What a search for notifiers does when it meets one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// It ends there.
    Stop,
    /// It goes on behind it.
    Continue,
    /// The signal ends there, since this notifier speaks for those behind it; but the search goes on for them, and whoever
    /// waits is woken by them too. For elements that hold packets back for a while.
    ContinueWake,
}

/// A notifier of the router.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct NotifierId(pub(crate) u32);

/// An activity signal: active if any of its notifiers is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signal {
    always: bool,
    notifiers: Vec<NotifierId>,
}

impl Signal {
    /// A signal that is never active.
    pub fn idle() -> Signal {
        Signal::default()
    }

    /// A signal that is always active.
    pub fn busy() -> Signal {
        Signal { always: true, notifiers: Vec::new() }
    }

    /// Whether the signal is active whatever happens, so that waiting for it makes no sense.
    pub fn is_always_active(&self) -> bool {
        self.always
    }

    /// The notifiers it is derived from.
    pub fn notifiers(&self) -> &[NotifierId] {
        &self.notifiers
    }

    /// Adds a notifier.
    pub fn add(&mut self, n: NotifierId) {
        if !self.notifiers.contains(&n) {
            self.notifiers.push(n);
        }
    }

    /// Adds all that `other` is derived from.
    pub fn join(&mut self, other: &Signal) {
        self.always |= other.always;
        other.notifiers.iter().for_each(|&n| self.add(n));
    }
}

#[derive(Debug)]
struct Notifier {
    active: bool,
    /// Elements whose tasks are scheduled when it becomes active.
    listeners: Vec<u32>,
    /// Notifiers that become active with it.
    dependents: Vec<NotifierId>,
}

#[derive(Debug, Default)]
pub(crate) struct Notifiers(Vec<Notifier>);

impl Notifiers {
    /// A new notifier, active at first: whoever waits looks once.
    pub fn add(&mut self) -> NotifierId {
        self.0.push(Notifier { active: true, listeners: Vec::new(), dependents: Vec::new() });
        NotifierId(self.0.len() as u32 - 1)
    }

    pub fn listen(&mut self, n: NotifierId, element: u32) {
        let listeners = &mut self.0[n.0 as usize].listeners;
        if !listeners.contains(&element) {
            listeners.push(element);
        }
    }

    pub fn depend(&mut self, n: NotifierId, dependent: NotifierId) {
        let dependents = &mut self.0[n.0 as usize].dependents;
        if n != dependent && !dependents.contains(&dependent) {
            dependents.push(dependent);
        }
    }

    #[inline]
    pub fn is_active(&self, n: NotifierId) -> bool {
        self.0[n.0 as usize].active
    }

    #[inline]
    pub fn signal_active(&self, s: &Signal) -> bool {
        s.always || s.notifiers.iter().any(|&n| self.is_active(n))
    }

    #[inline]
    pub fn sleep(&mut self, n: NotifierId) {
        self.0[n.0 as usize].active = false;
    }

    /// Activates the notifier and all that depend on it; `schedule` is told whose tasks to schedule.
    #[inline]
    pub fn wake(&mut self, n: NotifierId, schedule: &mut impl FnMut(u32)) {
        if !self.is_active(n) {
            self.activate(n, schedule);
        }
    }

    fn activate(&mut self, n: NotifierId, schedule: &mut impl FnMut(u32)) {
        let mut pending = vec![n];
        while let Some(n) = pending.pop() {
            let notifier = &mut self.0[n.0 as usize];
            if !std::mem::replace(&mut notifier.active, true) {
                notifier.listeners.iter().for_each(|&e| schedule(e));
                pending.extend_from_slice(&notifier.dependents);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waking_schedules_listeners_once_per_activation() {
        let mut n = Notifiers::default();
        let (a, b) = (n.add(), n.add());
        n.listen(a, 7);
        n.listen(b, 9);
        n.depend(a, b);
        n.sleep(a);
        n.sleep(b);
        let mut woken = Vec::new();
        n.wake(a, &mut |e| woken.push(e));
        n.wake(a, &mut |e| woken.push(e));
        assert_eq!(woken, [7, 9]);
        assert!(n.is_active(b));
    }

    #[test]
    fn a_signal_is_active_if_any_part_is() {
        let mut n = Notifiers::default();
        let (a, b) = (n.add(), n.add());
        let mut s = Signal::idle();
        assert!(!n.signal_active(&s));
        s.add(a);
        s.add(b);
        n.sleep(a);
        assert!(n.signal_active(&s));
        n.sleep(b);
        assert!(!n.signal_active(&s));
        s.join(&Signal::busy());
        assert!(n.signal_active(&s));
    }
}
