//! A TUN device with a `virtio_net_hdr` before each packet, for peers that know nothing of it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes before a packet.
pub const HEADER: usize = 10;

/// The device.
pub struct Tun {
    file: OwnedFd,
    /// Packets are bare.
    pub plain: bool,
}

impl Tun {
    /// Opens the device of this name; without the header if `plain`, which then is only room before packets.
    pub fn open(name: &str, plain: bool) -> Tun {
        // SAFETY: the path is a C string, the request is zeroed and large enough, both live during the calls.
        unsafe {
            let fd = libc::open(c"/dev/net/tun".as_ptr(), libc::O_RDWR | libc::O_NONBLOCK);
            assert!(fd >= 0, "/dev/net/tun: {}", io::Error::last_os_error());
            let flags = libc::IFF_TUN | libc::IFF_NO_PI | if plain { 0 } else { libc::IFF_VNET_HDR };
            let mut request: libc::ifreq = std::mem::zeroed();
            for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
                *to = from as libc::c_char;
            }
            request.ifr_ifru.ifru_flags = flags as libc::c_short;
            let attached = libc::ioctl(fd, libc::TUNSETIFF as _, &raw mut request);
            assert_eq!(attached, 0, "{name}: {}", io::Error::last_os_error());
            let offloads = if plain { 0 } else { libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 };
            assert_eq!(libc::ioctl(fd, libc::TUNSETOFFLOAD as _, libc::c_ulong::from(offloads)), 0);
            Tun { file: OwnedFd::from_raw_fd(fd), plain }
        }
    }

    /// Reads a packet with its header, if there is one; gives the length of both.
    pub fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        let skip = if self.plain { HEADER } else { 0 };
        let buffer = &mut buffer[skip..];
        // SAFETY: the pointer and length are the buffer's.
        let length = unsafe { libc::read(self.file.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
        usize::try_from(length).ok().map(|length| length + skip).filter(|&length| length > HEADER)
    }

    /// Writes a TCP packet, with room for the header before it. The kernel completes its checksum.
    pub fn write(&self, packet: &mut [u8]) {
        let packet = if self.plain { &mut packet[HEADER..] } else { prepare(packet) };
        // SAFETY: the pointer and length are the packet's.
        unsafe { libc::write(self.file.as_raw_fd(), packet.as_ptr().cast(), packet.len()) };
    }

    /// Waits for a packet, at most so many microseconds.
    pub fn wait(&self, limit: Option<u64>) {
        let mut fd = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let time = libc::timespec {
            tv_sec: (limit.unwrap_or(0) / 1_000_000) as i64,
            tv_nsec: (limit.unwrap_or(0) % 1_000_000 * 1000) as i64,
        };
        let time = if limit.is_some() { &raw const time } else { std::ptr::null() };
        // SAFETY: one descriptor and a time that live during the call.
        unsafe { libc::ppoll(&raw mut fd, 1, time, std::ptr::null()) };
    }
}

/// Fills in the header, and the sum of the pseudo-header in the checksum field.
fn prepare(whole: &mut [u8]) -> &mut [u8] {
    let (header, packet) = whole.split_at_mut(HEADER);
    header.fill(0);
    let (tcp, addresses, protocol) = match packet[0] >> 4 {
        4 => (usize::from(packet[0] & 15) * 4, 12..20, packet[9]),
        _ => (40, 8..40, packet[6]),
    };
    if protocol != 6 {
        return whole;
    }
    let words = packet[addresses].as_chunks::<2>().0.iter().map(|&word| u32::from(u16::from_be_bytes(word)));
    let sum = words.sum::<u32>() + 6 + (packet.len() - tcp) as u32;
    let sum = (sum & 0xFFFF) + (sum >> 16);
    let sum = (sum & 0xFFFF) + (sum >> 16);
    packet[tcp + 16..tcp + 18].copy_from_slice(&(sum as u16).to_be_bytes());
    header[0] = 1;
    header[6..8].copy_from_slice(&(tcp as u16).to_ne_bytes());
    header[8] = 16;
    whole
}
