//! Security associations of the old classes: keys, counters and window that RadixIPsecLookup and SATable hold, and that
//! travel with a packet as a reference in an annotation.
//!
//! An annotation cannot hold a pointer here: it names the element that holds the association, and its number there. A
//! reference that leads nowhere, whoever wrote it, is no association.

use super::replay::Window;
use clickwork_packet::Packet;
use clickwork_packet::anno::Anno;
use clickwork_router::args::{ArgSpec, ArgType, Args, DataKey, Names};
use clickwork_router::{Cx, ElementId};
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The SPI with which a packet is to be sent.
pub const SPI: Anno = Anno::new(32, 4);
/// The reference to the association: element and number, four bytes each. An element's number is stored plus one.
const REFERENCE: Anno = Anno::new(40, 8);

/// Bytes of each key.
pub const KEY_LEN: usize = 16;

/// The words that describe an association at the end of a route.
pub const ARGS: &[ArgSpec] = &[
    ArgSpec::required("SPI", ArgType::U32, "security parameters index"),
    ArgSpec::required("ENCRYPT_KEY", ArgType::Data, "16 bytes").secret(),
    ArgSpec::required("AUTH_KEY", ArgType::Data, "16 bytes").secret(),
    ArgSpec::required("REPLAY", ArgType::U32, "first sequence number"),
    ArgSpec::required("OOSIZE", ArgType::U8, "sequence numbers below the greatest that may still come"),
];

/// A security association.
pub struct Association {
    /// Key of IPsecAES (all of it) and IPsecDES (its first half).
    pub encryption_key: [u8; KEY_LEN],
    /// Key of IPsecAuthHMACSHA1.
    pub authentication_key: [u8; KEY_LEN],
    /// The first sequence number.
    pub start: u32,
    window_size: u8,
    state: Mutex<State>,
}

/// What changes with every packet.
pub struct State {
    /// The next sequence number to send.
    pub next: u32,
    /// What was received.
    pub window: Window,
}

impl Association {
    /// Reads [`ARGS`]: the SPI and the association; nothing if it is malformed. `complain` takes Click's words about it.
    pub fn parse(text: &str, names: &Names, complain: impl Fn(&str)) -> Option<(u32, Association)> {
        let mut args = Args::from_words(ARGS, text, names);
        let (spi, start, window_size) = (args.get("SPI"), args.get("REPLAY"), args.get("OOSIZE"));
        let (encryption, authentication): (Option<DataKey>, Option<DataKey>) =
            (args.get("ENCRYPT_KEY"), args.get("AUTH_KEY"));
        if let Err(errors) = args.finish() {
            errors.0.iter().filter(|e| e.message.starts_with("key file")).for_each(|e| complain(&e.message));
            return None;
        }
        let keys = (encryption?.0.try_into().ok(), authentication?.0.try_into().ok());
        let (Some(encryption_key), Some(authentication_key)) = keys else {
            complain("key has bad length");
            return None;
        };
        let (start, window_size) = (start?, window_size?);
        let state = State { next: start, window: Window::starting_at(start.into(), u32::from(window_size)) };
        let state = Mutex::new(state);
        Some((spi?, Association { encryption_key, authentication_key, start, window_size, state }))
    }

    /// Counters and window.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on where the same association was in the router before.
    fn take_state(&self, old: &Association) {
        let same = (self.encryption_key, self.authentication_key, self.start)
            == (old.encryption_key, old.authentication_key, old.start);
        if same {
            let (mut mine, old) = (self.state(), old.state());
            mine.next = old.next;
            mine.window = old.window.resized(u32::from(self.window_size));
        }
    }
}

/// As Click prints it: ` |KEY| |KEY|`.
impl fmt::Display for Association {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |key: &[u8]| key.iter().map(|b| format!("{b:02x}")).collect::<String>();
        write!(f, " |{}| |{}|", hex(&self.encryption_key), hex(&self.authentication_key))
    }
}

/// The associations of an element, which it exports.
#[derive(Default)]
pub struct Store(Mutex<Associations>);

#[derive(Default)]
struct Associations {
    /// All, by number.
    all: HashMap<u32, (u32, Arc<Association>)>,
    /// Those for packets that are received, by SPI.
    incoming: HashMap<u32, u32>,
    next: u32,
}

impl Store {
    fn lock(&self) -> MutexGuard<'_, Associations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an association and gives its number.
    pub fn add(&self, spi: u32, association: Association) -> u32 {
        let mut inner = self.lock();
        while inner.all.contains_key(&inner.next) {
            inner.next = inner.next.wrapping_add(1);
        }
        let number = inner.next;
        inner.next = number.wrapping_add(1);
        inner.all.insert(number, (spi, Arc::new(association)));
        number
    }

    /// Makes an association the one for packets received with its SPI, unless there is one. `complain` takes Click's words.
    pub fn receive(&self, number: u32, complain: impl Fn(&str)) {
        let mut inner = self.lock();
        let Some((spi, association)) = inner.all.get(&number) else { return };
        if *spi == 0 || association.start == 0 {
            complain("SATable <unknown>: Attempt to insert data failed. Invalid arguments");
            return;
        }
        let spi = *spi;
        inner.incoming.entry(spi).or_insert(number);
    }

    /// Forgets an association, unless it is the one for an SPI.
    pub fn release(&self, number: u32) {
        let mut inner = self.lock();
        if !inner.incoming.values().any(|&n| n == number) {
            inner.all.remove(&number);
        }
    }

    /// Forgets the association for an SPI. False if there is none.
    pub fn remove(&self, spi: u32) -> bool {
        let mut inner = self.lock();
        let Some(number) = inner.incoming.remove(&spi) else { return false };
        inner.all.remove(&number);
        true
    }

    /// The number of the association for packets received with an SPI.
    pub fn incoming(&self, spi: u32) -> Option<u32> {
        self.lock().incoming.get(&spi).copied()
    }

    /// An association by its number.
    pub fn get(&self, number: u32) -> Option<Arc<Association>> {
        self.lock().all.get(&number).map(|(_, association)| Arc::clone(association))
    }

    /// One line for each association that is for packets received, sorted.
    pub fn dump(&self) -> String {
        let inner = self.lock();
        let mut spis: Vec<_> = inner.incoming.iter().collect();
        spis.sort_unstable();
        let mut text = String::new();
        for (spi, number) in spis {
            if let Some((_, association)) = inner.all.get(number) {
                let _ = writeln!(text, " |{spi}|{association}");
            }
        }
        text
    }

    /// Associations go on where those with the same SPI and keys were in the router before.
    pub fn take_state(&self, old: &Store) {
        let (mine, old) = (self.lock(), old.lock());
        for (spi, association) in mine.all.values() {
            let same_spi = old.all.values().filter(|(before, _)| before == spi);
            same_spi.for_each(|(_, before)| association.take_state(before));
        }
    }

    /// Takes everything that the other store has.
    pub fn take_all(&self, old: &Store) {
        std::mem::swap(&mut *self.lock(), &mut *old.lock());
    }
}

/// Notes on a packet that association `number` of `holder` is for it.
pub fn refer(p: &mut Packet, holder: ElementId, number: u32) {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&holder.0.wrapping_add(1).to_ne_bytes());
    bytes[4..].copy_from_slice(&number.to_ne_bytes());
    p.set_anno_bytes(REFERENCE, &bytes);
}

/// Notes that there is none.
pub fn refer_to_none(p: &mut Packet) {
    p.set_anno_bytes(REFERENCE, &[0; 8]);
}

/// The association that a packet refers to.
pub fn of_packet(p: &Packet, cx: &Cx<'_>) -> Option<Arc<Association>> {
    let (holder, number) = p.anno_bytes(REFERENCE).split_first_chunk::<4>()?;
    let holder = u32::from_ne_bytes(*holder).checked_sub(1)?;
    let number = u32::from_ne_bytes(number.try_into().ok()?);
    let known = (holder as usize) < cx.router().ids().size_hint().0;
    if known { cx.exported::<Store>(ElementId(holder))?.get(number) } else { None }
}
