//! Receiving from an interface through a packet socket with a memory-mapped ring.
//!
//! Frames are read in place from the ring, in bursts, without system calls; the caller copies what it keeps.
//! Frames larger than a ring slot (merged packets, jumbo frames) come through the socket's queue instead, in
//! their place in the order. Read first: packet(7), then `sys/ring.rs` and `offload`.

use crate::error::{DeviceError, Fault, Result};
use crate::finish::{Finisher, Origin};
use crate::interface::{Interface, lost};
use crate::sys::ring::{Ring, VNET_HEADER};
use crate::sys::{bpf, socket};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How to receive. The default is what a router wants of an Ethernet interface, except that the host goes on
/// receiving too (`sniffer`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiveOptions {
    /// Also frames that are addressed to other hosts.
    pub promiscuous: bool,
    /// Longest part of a frame that is handed out, in bytes.
    pub snap_length: usize,
    /// Only frames of this Ethernet type; 0 for all.
    pub protocol: u16,
    /// The host's own protocols receive the frames as well. Without, we are the only receiver (Linux 6.6).
    pub sniffer: bool,
    /// Also frames that this host sends, ours included.
    pub outbound: bool,
    /// Memory of the ring, in bytes, rounded to blocks of 64 KiB.
    pub ring_bytes: usize,
}

impl Default for ReceiveOptions {
    fn default() -> Self {
        ReceiveOptions {
            promiscuous: false,
            snap_length: usize::MAX,
            protocol: 0,
            sniffer: true,
            outbound: false,
            ring_bytes: 4 << 20,
        }
    }
}

/// What sort of address a frame was sent to, seen from this interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketType {
    /// This interface.
    Host,
    /// Everybody.
    Broadcast,
    /// A group.
    Multicast,
    /// Another host (promiscuous mode).
    OtherHost,
    /// Sent by this host.
    Outgoing,
}

impl PacketType {
    fn of(number: u8) -> PacketType {
        match number {
            libc::PACKET_BROADCAST => PacketType::Broadcast,
            libc::PACKET_MULTICAST => PacketType::Multicast,
            libc::PACKET_OTHERHOST => PacketType::OtherHost,
            libc::PACKET_OUTGOING => PacketType::Outgoing,
            _ => PacketType::Host,
        }
    }
}

/// One received frame, valid during the call that hands it out.
#[derive(Debug)]
pub struct Frame<'a> {
    /// As on the wire, from the link-layer header on, VLAN tag included; at most `snap_length` bytes.
    pub data: &'a [u8],
    /// Length on the wire.
    pub length: usize,
    /// Seconds and nanoseconds since 1970, when the kernel received it.
    pub timestamp: (u32, u32),
    /// Whom it was sent to.
    pub packet_type: PacketType,
    /// Tag control information of the outermost VLAN tag, if the kernel had taken it out of the frame.
    pub vlan_tci: Option<u16>,
}

/// What happened to frames that were not handed out as they came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveCounts {
    /// Partial checksums completed.
    pub checksums_completed: u64,
    /// Merged packets that were cut.
    pub merged: u64,
    /// Dropped: their offload information contradicts their bytes.
    pub malformed: u64,
    /// Dropped: longer than a ring slot, and the queue for such frames was full.
    pub too_large: u64,
    /// Dropped by the kernel because the ring was full.
    pub ring_full: u64,
}

/// The receiving side of an interface.
pub struct PacketReceiver {
    socket: OwnedFd,
    ring: Ring,
    finisher: Finisher,
    /// Takes frames that do not fit a slot.
    large: Vec<u8>,
    name: String,
    index: u32,
    outbound: bool,
    empty_calls: u32,
    /// It has been reported that the interface is down.
    down: bool,
    ring_full: u64,
    warnings: Vec<String>,
    /// While open, the host does not see what we receive.
    _hidden: Option<OwnedFd>,
}

/// Frames up to this length get ring slots of their size; the rest go through the queue.
const LARGEST_SLOT: usize = 9216;
/// Ethernet header and a VLAN tag.
const LINK_HEADER: usize = 18;
/// Room in the queue for frames that do not fit a slot.
const QUEUE_BYTES: i32 = 8 << 20;
/// One in this many calls that find nothing asks whether the interface is still there.
const CALLS_PER_CHECK: u32 = 64;

impl PacketReceiver {
    /// Starts to receive from the interface `name`.
    pub fn open(name: &str, options: &ReceiveOptions) -> Result<PacketReceiver> {
        let interface = Interface::find(name)?;
        let fail = |action| move |error: io::Error| DeviceError::system(name, action, &error);
        let socket = socket::packet_socket().map_err(fail("open a packet socket"))?;
        let fd = socket.as_fd();
        set_options(fd, options).map_err(fail("set up the packet socket"))?;
        let slot = LINK_HEADER + interface.mtu.min(LARGEST_SLOT);
        let ring = Ring::map(fd, slot, options.ring_bytes).map_err(fail("map a receive ring"))?;
        if options.promiscuous {
            socket::join_promiscuous(fd, interface.index).map_err(fail("become promiscuous"))?;
        }
        let mut warnings = Vec::new();
        let hidden = if options.sniffer { None } else { hide(&interface, &mut warnings) };
        let protocol = if options.protocol == 0 { libc::ETH_P_ALL as u16 } else { options.protocol };
        // Last, so that the ring never holds frames that came before the options were set.
        socket::bind(fd, interface.index, protocol).map_err(fail("bind the packet socket"))?;
        Ok(PacketReceiver {
            socket,
            ring,
            finisher: Finisher::new(options.snap_length),
            large: vec![0; VNET_HEADER + LINK_HEADER + 65536],
            name: name.to_string(),
            index: interface.index,
            outbound: options.outbound,
            empty_calls: 0,
            down: false,
            ring_full: 0,
            warnings,
            _hidden: hidden,
        })
    }

    /// Hands out up to `limit` frames in order of arrival, without waiting; gives how many. Fewer than
    /// `limit`: no more are there, it is time to poll. Ring slots are given back to the kernel as soon as `each`
    /// returns.
    ///
    /// # Errors
    /// [`Fault::Down`](crate::Fault::Down) once when the interface goes down (receiving resumes when it is up
    /// again), [`Fault::Vanished`](crate::Fault::Vanished) when it is removed. Frames that came before are
    /// handed out first.
    pub fn receive(&mut self, limit: usize, mut each: impl FnMut(Frame<'_>)) -> Result<usize> {
        let mut given = 0;
        while given < limit {
            if self.finisher.give_segment(&mut each) {
                given += 1;
            } else if let Some(frames) = self.take_slot(&mut each) {
                given += frames;
            } else {
                break;
            }
        }
        if given == 0 {
            self.check_now_and_then()?;
        } else {
            self.down = false;
        }
        Ok(given)
    }

    /// Takes one frame from the ring: 1 if it was handed out, 0 if it was dropped or is to be cut, `None` if
    /// there is none.
    fn take_slot(&mut self, each: &mut impl FnMut(Frame<'_>)) -> Option<usize> {
        let mut slot = self.ring.next()?;
        let facts = slot.facts();
        let tagged = facts.status & libc::TP_STATUS_VLAN_VALID != 0;
        let origin = Origin {
            length: facts.length,
            timestamp: (facts.seconds, facts.nanoseconds),
            packet_type: PacketType::of(facts.packet_type),
            vlan: tagged.then_some((facts.vlan_tpid, facts.vlan_tci)),
        };
        let (offload, data) = slot.bytes();
        let given = if origin.packet_type == PacketType::Outgoing && !self.outbound {
            // Only kernels before 4.20 give us these unasked.
            false
        } else if facts.status & libc::TP_STATUS_COPY != 0 {
            drop(slot);
            self.take_large(origin, each)
        } else {
            self.finisher.give(origin, offload, data, each)
        };
        Some(usize::from(given))
    }

    /// Takes a frame that was too large for its slot from the queue.
    fn take_large(&mut self, origin: Origin, each: &mut impl FnMut(Frame<'_>)) -> bool {
        let length = socket::receive(self.socket.as_fd(), &mut self.large).unwrap_or(0);
        if length > self.large.len() {
            // Longer than any usual packet ("BIG TCP"): lost this time, and room from now on.
            self.large.resize(length, 0);
            self.finisher.drop_too_large();
            return false;
        }
        match self.large[..length].split_first_chunk_mut::<VNET_HEADER>() {
            Some((offload, data)) => self.finisher.give(origin, *offload, data, each),
            None => {
                self.finisher.drop_too_large();
                false
            }
        }
    }

    fn check_now_and_then(&mut self) -> Result<()> {
        self.empty_calls = self.empty_calls.wrapping_add(1);
        if self.empty_calls.is_multiple_of(CALLS_PER_CHECK) { self.check() } else { Ok(()) }
    }

    /// Asks whether the interface can still be received from. [`receive`](Self::receive) asks now and then;
    /// ask when polling the descriptor reports an error, and from time to time while the interface is down: its
    /// removal then wakes nobody.
    pub fn check(&mut self) -> Result<()> {
        match socket::take_error(self.socket.as_fd()) {
            Ok(None) if !self.down => Ok(()),
            Ok(Some(error)) if error.raw_os_error() != Some(libc::ENETDOWN) => {
                Err(DeviceError::system(&self.name, "receive", &error))
            }
            _ => self.report_loss(),
        }
    }

    fn report_loss(&mut self) -> Result<()> {
        let error = lost(self.socket.as_fd(), &self.name, self.index, "receive");
        let is_known = std::mem::replace(&mut self.down, true) && error.fault() == Fault::Down;
        if is_known { Ok(()) } else { Err(error) }
    }

    /// Frames that were not handed out as they came, since the start.
    pub fn counts(&mut self) -> ReceiveCounts {
        if let Ok((_, dropped)) = socket::take_statistics(self.socket.as_fd()) {
            self.ring_full += u64::from(dropped);
        }
        ReceiveCounts { ring_full: self.ring_full, ..self.finisher.counts() }
    }

    /// Things the user should be told, each once: what could not be set up, what costs speed.
    pub fn take_warnings(&mut self) -> Vec<String> {
        if self.finisher.take_first_merged() {
            self.warnings.push(merged_warning(&self.name));
        }
        std::mem::take(&mut self.warnings)
    }
}

impl AsFd for PacketReceiver {
    /// Readable when frames wait, for `poll`. Segments of a merged packet that is half handed out do not count:
    /// poll only after [`receive`](Self::receive) gave fewer than its limit.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn set_options(fd: BorrowedFd<'_>, options: &ReceiveOptions) -> io::Result<()> {
    let set = |name, value| socket::set_int(fd, libc::SOL_PACKET, name, value);
    set(libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V2 as i32)?;
    set(libc::PACKET_VNET_HDR, 1)?;
    set(libc::PACKET_COPY_THRESH, 1)?;
    if !options.outbound {
        // Kernels before 4.20 lack this; `take_slot` then sorts them out.
        let _ = set(libc::PACKET_IGNORE_OUTGOING, 1);
    }
    // Beyond the system's limit only with CAP_NET_ADMIN; up to the limit always.
    socket::set_int(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, QUEUE_BYTES)
        .or_else(|_| socket::set_int(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, QUEUE_BYTES))
}

fn hide(interface: &Interface, warnings: &mut Vec<String>) -> Option<OwnedFd> {
    let name = &interface.name;
    bpf::hide_from_host(interface.index)
        .map_err(|error| {
            warnings.push(format!(
                "{name}: cannot hide its packets from the host ({error}): the host handles them too. \
                 `iptables -A INPUT -i {name} -j DROP` and `sysctl net.ipv4.conf.{name}.forwarding=0` \
                 prevent that"
            ));
        })
        .ok()
}

fn merged_warning(name: &str) -> String {
    let off = Interface::find(name).map(|i| i.offloads().merging_off()).unwrap_or_default();
    let off = if off.is_empty() { "gro off gso off tso off".to_string() } else { off };
    format!(
        "{name}: packets arrive merged (GRO or TSO); each is cut into what was sent, which costs time. \
         `ethtool -K {name} {off}` prevents merging (for veth and virtual machines: on the sender's end)"
    )
}
