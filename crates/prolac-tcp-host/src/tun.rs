//! The TUN device as a stack wants it: packets in, packets out, with what the kernel leaves to us or we to the kernel.
//!
//! With offloads the kernel hands over up to 64 KiB of a stream as one packet, whose checksum nobody has computed because
//! it never left the machine, and takes as much from us. Not copied: packets are read into their buffers, and text is
//! written from where it lies. Read first: `clickwork_device::offload`, the kernel's `Documentation/networking/tuntap.rst`.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};

use clickwork_device::offload::{TcpOffload, VIRTIO_HEADER, checksum_is_good};
use clickwork_device::{Fault, Result, Tunnel, TunnelKind, TunnelOptions};
use clickwork_packet::{JUMBO_CAPACITY, Packet, STANDARD_CAPACITY};
use clickwork_prolac_tcp::{Received, Transmit};

/// The longest IP packet that the kernel hands over.
pub const LONGEST: usize = 64 << 10;
/// What is read into a standard buffer, the header before a packet included; the rest of a longer packet lies behind, in
/// a jumbo one.
const SMALL: usize = STANDARD_CAPACITY - 64;
/// Room before what is read.
const HEADROOM: usize = JUMBO_CAPACITY - LONGEST - SMALL;

const _: () = assert!(JUMBO_CAPACITY >= LONGEST + SMALL && SMALL > VIRTIO_HEADER);

/// What was counted at the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunCounts {
    /// Packets read.
    pub received: u64,
    /// Of those, packets that the kernel had merged or not yet cut.
    pub merged: u64,
    /// Packets written.
    pub sent: u64,
    /// Packets that the kernel refused, or that came while the interface was down.
    pub refused: u64,
}

/// An open TUN device.
pub struct Tun {
    tunnel: Tunnel,
    offload: bool,
    /// Buffers to read into.
    small: Packet,
    large: Packet,
    counts: TunCounts,
}

impl Tun {
    /// Makes (or attaches to) the device that `options` describe; its kind and header are ours to choose. With `offload`,
    /// the kernel may leave checksums and segmentation of TCP to us.
    ///
    /// # Errors
    /// What [`Tunnel::open`] says.
    pub fn open(options: &TunnelOptions, offload: bool) -> Result<Tun> {
        let options = TunnelOptions { kind: TunnelKind::Tun, header: true, ..options.clone() };
        let tunnel = Tunnel::open(&options)?;
        tunnel.set_offload(offload)?;
        Ok(Tun { tunnel, offload, small: small(), large: large(), counts: TunCounts::default() })
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        self.tunnel.name()
    }

    /// Whether the kernel and we leave checksums and segmentation to each other.
    pub fn offload(&self) -> bool {
        self.offload
    }

    /// What was counted so far.
    pub fn counts(&self) -> TunCounts {
        self.counts
    }

    /// The next packet that the host has sent, if there is one.
    ///
    /// # Errors
    /// If the device is gone. One that is down is waited for.
    pub fn read(&mut self) -> Result<Option<(Packet, Received)>> {
        let (small, large) = (self.small.data_mut(), &mut self.large.data_mut()[SMALL..]);
        let mut buffers = [small, large].map(IoSliceMut::new);
        let length = match self.tunnel.read_vectored(&mut buffers) {
            Ok(Some(length)) if length > VIRTIO_HEADER => length,
            Ok(_) => return Ok(None),
            Err(error) if error.fault() == Fault::Down => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut packet = self.take(length);
        let received = match packet.data().first_chunk() {
            Some(header) => self.note(header),
            None => return Ok(None),
        };
        packet.pull(VIRTIO_HEADER);
        Ok(Some((packet, received)))
    }

    /// The `length` bytes that were read. Of many the first are moved to where the rest is.
    fn take(&mut self, length: usize) -> Packet {
        if length <= SMALL {
            let mut packet = std::mem::replace(&mut self.small, small());
            packet.truncate(length);
            return packet;
        }
        let mut packet = std::mem::replace(&mut self.large, large());
        packet.data_mut()[..SMALL].copy_from_slice(self.small.data());
        packet.truncate(length);
        packet
    }

    /// What the header says.
    fn note(&mut self, header: &[u8; VIRTIO_HEADER]) -> Received {
        let segment_size = if header[1] == 0 { 0 } else { u16::from_ne_bytes([header[4], header[5]]) };
        self.counts.received += 1;
        self.counts.merged += u64::from(segment_size != 0);
        Received { checksum_verified: checksum_is_good(header), segment_size }
    }

    /// Gives the host one packet. False if it has no room now: keep the packet.
    ///
    /// # Errors
    /// If the device is gone. A packet that the host refuses is dropped and counted.
    pub fn write(&mut self, transmit: &mut Transmit) -> Result<bool> {
        let header = if transmit.checksum_partial { offload_of(transmit) } else { [0; VIRTIO_HEADER] };
        match self.write_with(transmit, &header) {
            Ok(true) => self.counts.sent += 1,
            Ok(false) => return Ok(false),
            Err(error) if error.fault() == Fault::Vanished => return Err(error),
            Err(_) => self.counts.refused += 1,
        }
        Ok(true)
    }

    /// In as few pieces as it can be: the header has room before most packets.
    fn write_with(&self, transmit: &mut Transmit, header: &[u8; VIRTIO_HEADER]) -> Result<bool> {
        let text = transmit.text.as_ref().map_or(&[][..], Packet::data);
        let Some(room) = transmit.packet.unshared_push::<VIRTIO_HEADER>() else {
            let pieces = [&header[..], transmit.packet.data(), text].map(IoSlice::new);
            return self.tunnel.write_vectored(&pieces);
        };
        *room = *header;
        let written = match text {
            [] => self.tunnel.write(transmit.packet.data()),
            _ => self.tunnel.write_vectored(&[transmit.packet.data(), text].map(IoSlice::new)),
        };
        transmit.packet.pull(VIRTIO_HEADER);
        written
    }
}

impl AsFd for Tun {
    /// Readable when the host has sent packets, for `poll`.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tunnel.as_fd()
    }
}

/// The `virtio_net_hdr` of a packet that the kernel is to finish.
fn offload_of(transmit: &Transmit) -> [u8; VIRTIO_HEADER] {
    let (packet, tcp) = (transmit.packet.data(), usize::from(transmit.tcp_offset));
    let header_length = packet.get(tcp + 12).map_or(0, |offset| u16::from(offset >> 4) * 4);
    let flags = packet.get(tcp + 13).copied().unwrap_or_default();
    let offload = TcpOffload {
        header: transmit.tcp_offset,
        headers: transmit.tcp_offset + header_length,
        segment_size: transmit.segment_size,
        ipv6: packet.first().is_some_and(|first| first >> 4 == 6),
        congestion_window_reduced: flags & 0x80 != 0,
    };
    offload.to_virtio()
}

fn small() -> Packet {
    Packet::recycled(STANDARD_CAPACITY - SMALL, SMALL, 0)
}

fn large() -> Packet {
    Packet::recycled(HEADROOM, SMALL + LONGEST, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_device::offload::{Merged, Offload};

    /// A packet of headers only, with TCP flags, the rest of the text apart.
    fn transmit(version: u8, flags: u8, segment_size: u16) -> Transmit {
        let tcp = if version == 4 { 20 } else { 40 };
        let mut bytes = vec![0; tcp + 32];
        (bytes[0], bytes[tcp + 12], bytes[tcp + 13]) = (version << 4, 0x80, flags);
        Transmit {
            packet: Packet::new(&bytes),
            text: Some(Packet::new(&[0; 5000])),
            segment_size,
            checksum_partial: true,
            tcp_offset: tcp as u16,
        }
    }

    #[test]
    fn the_kernel_is_told_where_to_cut_and_what_to_sum() {
        for (version, flags, kind) in [(4, 0x10, 1), (4, 0x90, 0x81), (6, 0x10, 4), (6, 0x90, 0x84)] {
            let transmit = transmit(version, flags, 1400);
            let header = offload_of(&transmit);
            let offload = Offload::from_virtio(header).unwrap();
            assert_eq!(offload.merged, Some(Merged::Tcp { payload: 1400 }));
            assert_eq!(offload.partial_checksum, Some((usize::from(transmit.tcp_offset), 16)));
            assert_eq!(header[1], kind, "version {version}, flags {flags:x}");
            // All headers, which the kernel copies to every piece.
            assert_eq!(usize::from(u16::from_ne_bytes([header[2], header[3]])), transmit.packet.len());
        }
    }

    #[test]
    fn one_segment_is_not_cut() {
        let offload = Offload::from_virtio(offload_of(&transmit(4, 0x90, 0))).unwrap();
        assert_eq!(offload, Offload { partial_checksum: Some((20, 16)), merged: None });
    }
}
