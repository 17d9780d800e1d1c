//! SpinlockInfo, SpinlockAcquire, SpinlockRelease and SpinlockPush: critical sections of configurations for several threads.

use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict};
use std::sync::Arc;

/// The class facts of SpinlockInfo.
pub static INFO: Class = Class {
    help: "names spinlocks",
    manual: "Each argument is the name of a lock that SpinlockAcquire, SpinlockRelease and SpinlockPush in the same compound, or in \
             those within it, can use. A router runs on one thread here, so that nobody ever waits for a lock: names are \
             checked, and the elements pass packets on.",
    example: "SpinlockInfo(l); InfiniteSource(LIMIT 5, STOP true) -> SpinlockAcquire(l) -> SpinlockRelease(l) -> Discard",
    ports: "0/0",
    phase: phase::INFO,
    args: &[ArgSpec::rest("NAME", ArgType::String, "a lock")],
    ..Class::new("SpinlockInfo", "threads", || Box::new(SpinlockInfo))
};

const LOCK: &[ArgSpec] = &[ArgSpec::required("LOCK", ArgType::String, "the lock, named by a SpinlockInfo")];

const fn user(name: &'static str) -> Class {
    Class { args: LOCK, ..Class::new(name, "threads", || Box::new(User)) }
}

/// The class facts of SpinlockAcquire.
pub static ACQUIRE: Class = Class {
    help: "begins a critical section, which is free of cost on one thread",
    manual: "In Click, packets wait here until no other thread holds the lock. A router runs on one thread here: the lock must \
             have been named by a SpinlockInfo, and packets pass at once.",
    example: INFO_EXAMPLE,
    ..user("SpinlockAcquire")
};

/// The class facts of SpinlockRelease.
pub static RELEASE: Class = Class {
    help: "ends a critical section, which is free of cost on one thread",
    manual: "In Click, gives back the lock that SpinlockAcquire took. A router runs on one thread here: the lock must have been \
             named by a SpinlockInfo, and packets pass at once.",
    example: INFO_EXAMPLE,
    ..user("SpinlockRelease")
};

/// The class facts of SpinlockPush.
pub static PUSH: Class = Class {
    help: "makes all that follows a critical section, which is free of cost on one thread",
    manual: "In Click, holds the lock while a packet is pushed through the elements downstream. A router runs on one thread \
             here: the lock must have been named by a SpinlockInfo, and packets pass at once.",
    example: "SpinlockInfo(l); InfiniteSource(LIMIT 5, STOP true) -> SpinlockPush(l) -> Discard",
    processing: "h/h",
    ..user("SpinlockPush")
};

const INFO_EXAMPLE: &str = "SpinlockInfo(l); InfiniteSource(LIMIT 5, STOP true) -> SpinlockAcquire(l) -> SpinlockRelease(l) -> Discard";

/// The names that one SpinlockInfo gives.
struct Locks {
    /// The compound it stands in, with a slash behind, or nothing.
    context: String,
    names: Vec<String>,
}

impl Locks {
    fn has(&self, name: &str, user: &str) -> bool {
        user.starts_with(&self.context) && self.names.iter().any(|known| known == name)
    }
}

struct SpinlockInfo;

impl Element for SpinlockInfo {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let context = cx.name().rfind('/').map_or("", |slash| &cx.name()[..=slash]).to_string();
        let mut names = Vec::new();
        for (index, text) in args.rest().to_vec().iter().enumerate() {
            match crate::values::parse::<String>(text, "") {
                Ok(name) => names.push(name),
                Err(_) => args.error_in_rest(index, "bad NAME"),
            }
        }
        cx.export(Arc::new(Locks { context, names }));
    }
}

/// An element that uses a lock.
struct User;

impl SimpleElement for User {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let Some(name) = args.get::<String>("LOCK") else { return };
        let known = |id| cx.exported::<Locks>(id).is_some_and(|locks| locks.has(&name, cx.name()));
        if !cx.router().ids().any(known) {
            args.error(format!("cannot locate spinlock {name}"));
        }
    }

    fn simple_action(&mut self, _: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn packets_pass_and_locks_are_known_in_their_compound_and_within() {
        let mut t = Harness::new(
            "elementclass C { input -> SpinlockAcquire(l) -> SpinlockPush(m) -> SpinlockRelease(l) -> output; SpinlockInfo(m) } \
             s :: Source -> C -> SpinlockAcquire(n) -> k :: Sink; SpinlockInfo(l, n)",
        );
        t.push("s", 0, [Packet::new(b"a"), Packet::new(b"b")]);
        assert_eq!(t.bytes("k"), [b"a", b"b"]);
    }

    #[test]
    fn unknown_locks_are_named() {
        for class in ["SpinlockAcquire", "SpinlockRelease", "SpinlockPush"] {
            let e = Harness::errors(&format!(
                "elementclass C {{ SpinlockInfo(l); Idle -> Discard }} C; Idle -> {class}(l) -> Discard"
            ));
            assert!(e.contains("cannot locate spinlock l"), "{e}");
        }
        let e = Harness::errors("SpinlockInfo(a b)");
        assert!(e.contains("bad NAME"), "{e}");
    }
}
