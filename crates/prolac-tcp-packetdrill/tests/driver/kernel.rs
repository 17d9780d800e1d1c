//! The kernel's TCP behind packetdrill's table, on a TUN device in a network namespace of its own: what scripts are held
//! against. Its time is real, so it is slow, and has to be allowed a few milliseconds.

use std::ffi::{c_int, c_long, c_longlong, c_uint, c_ulong, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use libc::{epoll_event, iovec, loff_t, msghdr, nfds_t, pollfd, sockaddr, socklen_t, timeval};

use prolac_tcp_packetdrill::interface::{PacketdrillInterface, Userdata};

/// A packet, and when it came out of the device.
type Stamped = (i64, Vec<u8>);

struct Kernel {
    tun: OwnedFd,
    packets: Mutex<Receiver<Stamped>>,
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

/// Moves this thread, and those that it starts, into a new network with a TUN device; the table of its TCP.
pub fn table(mtu: u32) -> Result<PacketdrillInterface, String> {
    // SAFETY: no pointers.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return Err("no network namespace without root".into());
    }
    let tun = open_tun()?;
    for command in [
        &["link", "set", "lo", "up"][..],
        &["link", "set", "tun0", "mtu", &mtu.to_string(), "up"],
        &["address", "add", "192.168.0.1/16", "dev", "tun0"],
        &["address", "add", "fd3d:fa7b:d17d::1/48", "dev", "tun0", "nodad"],
        &["route", "add", "192.0.2.0/24", "dev", "tun0"],
        &["route", "add", "2001:db8::/32", "dev", "tun0"],
    ] {
        let done = Command::new("ip").args(command).status().map_err(|error| error.to_string())?;
        if !done.success() {
            return Err(format!("ip {command:?} failed"));
        }
    }
    // As our own parameters.
    for (name, value) in [("tcp_rmem", "4096 131072 6291456"), ("tcp_wmem", "4096 16384 4194304")] {
        std::fs::write(format!("/proc/sys/net/ipv4/{name}"), value)
            .map_err(|error| format!("{name}: {error}"))?;
    }
    let (sender, packets) = channel();
    let copy = tun.try_clone().map_err(|error| error.to_string())?;
    std::thread::spawn(move || {
        loop {
            let mut buffer = vec![0; 70_000];
            // SAFETY: the buffer is as long as it says.
            let length = unsafe { libc::read(copy.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
            let stamp = now();
            let Ok(length @ 1..) = usize::try_from(length) else { return };
            buffer.truncate(length);
            // Neighbours and multicast of IPv6 are not TCP.
            let protocol = if buffer[0] >> 4 == 4 { buffer[9] } else { buffer[6] };
            if protocol == 6 && sender.send((stamp, buffer)).is_err() {
                return;
            }
        }
    });
    let kernel = Box::new(Kernel { tun, packets: Mutex::new(packets) });
    Ok(filled(Box::into_raw(kernel).cast()))
}

fn open_tun() -> Result<OwnedFd, String> {
    // SAFETY: a string with its end.
    let fd = unsafe { libc::open(c"/dev/net/tun".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err("no /dev/net/tun".into());
    }
    // SAFETY: just opened.
    let tun = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: all zero is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"tun0") {
        *to = *from as _;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as _;
    const TUNSETIFF: c_ulong = 0x4004_54ca;
    // SAFETY: the request is what it takes.
    if unsafe { libc::ioctl(fd, TUNSETIFF as _, &raw mut request) } < 0 {
        return Err("no TUN device".into());
    }
    Ok(tun)
}

/// # Safety
/// `userdata` is that of a table of `table`, not freed.
unsafe fn kernel<'a>(userdata: Userdata) -> &'a Kernel {
    // SAFETY: the caller's.
    unsafe { &*userdata.cast::<Kernel>() }
}

unsafe extern "C" fn free(userdata: Userdata) {
    // SAFETY: it was a box, and is freed once.
    drop(unsafe { Box::from_raw(userdata.cast::<Kernel>()) });
}

unsafe extern "C" fn netdev_send(userdata: Userdata, packet: *const c_void, length: usize) -> c_int {
    // SAFETY: the caller's.
    let written = unsafe { libc::write(kernel(userdata).tun.as_raw_fd(), packet, length) };
    if written == length as isize { 0 } else { -1 }
}

unsafe extern "C" fn netdev_receive(
    userdata: Userdata,
    buffer: *mut c_void,
    length: *mut usize,
    time: *mut c_longlong,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let packets = kernel(userdata).packets.lock().unwrap();
        let Ok((stamp, packet)) = packets.recv_timeout(Duration::from_secs(10)) else {
            *length = 0;
            return 0;
        };
        std::ptr::copy_nonoverlapping(packet.as_ptr(), buffer.cast(), packet.len());
        *length = packet.len();
        *time = stamp;
    }
    0
}

unsafe extern "C" fn usleep(_: Userdata, microseconds: c_uint) -> c_int {
    std::thread::sleep(Duration::from_micros(microseconds.into()));
    0
}

unsafe extern "C" fn gettimeofday(_: Userdata, time: *mut timeval, _zone: *mut c_void) -> c_int {
    let now = now();
    // SAFETY: the caller's.
    unsafe { time.write(timeval { tv_sec: now / 1_000_000, tv_usec: now % 1_000_000 }) };
    0
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        mod forwarded {
            use super::*;
            $(pub unsafe extern "C" fn $name(_: Userdata $(, $argument: $type)*) -> $result {
                // SAFETY: the caller's: the same as the C library wants.
                unsafe { libc::$name($($argument),*) }
            })*
        }

        fn filled(userdata: Userdata) -> PacketdrillInterface {
            PacketdrillInterface {
                userdata,
                free: Some(free),
                $($name: Some(forwarded::$name),)*
                socket: Some(socket),
                fcntl: Some(fcntl),
                ioctl: Some(ioctl),
                netdev_send: Some(netdev_send),
                netdev_receive: Some(netdev_receive),
                usleep: Some(usleep),
                gettimeofday: Some(gettimeofday),
                pipe: Some(pipe),
            }
        }
    };
}

forward! {
    bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    listen(fd: c_int, backlog: c_int) -> c_int;
    accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
    connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    read(fd: c_int, buffer: *mut c_void, count: usize) -> isize;
    readv(fd: c_int, vector: *const iovec, count: c_int) -> isize;
    recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> isize;
    recvfrom(fd: c_int, b: *mut c_void, l: usize, f: c_int, a: *mut sockaddr, al: *mut socklen_t) -> isize;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize;
    write(fd: c_int, data: *const c_void, count: usize) -> isize;
    writev(fd: c_int, vector: *const iovec, count: c_int) -> isize;
    send(fd: c_int, data: *const c_void, length: usize, flags: c_int) -> isize;
    sendto(fd: c_int, d: *const c_void, l: usize, f: c_int, a: *const sockaddr, al: socklen_t) -> isize;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize;
    close(fd: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int;
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t) -> c_int;
    poll(entries: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    epoll_create(size: c_int) -> c_int;
    epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int;
    splice(from: c_int, fo: *mut loff_t, to: c_int, to_o: *mut loff_t, length: usize, flags: c_uint) -> isize;
}

/// With CUBIC, whatever the machine prefers.
unsafe extern "C" fn socket(_: Userdata, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: no pointers but that to a constant.
    unsafe {
        let fd = libc::socket(domain, kind, protocol);
        if fd >= 0 {
            libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, c"cubic".as_ptr().cast(), 5);
        }
        fd
    }
}

unsafe extern "C" fn fcntl(_: Userdata, fd: c_int, command: c_int, argument: c_long) -> c_int {
    // SAFETY: commands of scripts take no pointers.
    unsafe { libc::fcntl(fd, command, argument) }
}

unsafe extern "C" fn ioctl(_: Userdata, fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    unsafe { libc::ioctl(fd, request as _, argument) }
}

unsafe extern "C" fn pipe(_: Userdata, ends: *mut c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe { libc::pipe(ends) }
}
