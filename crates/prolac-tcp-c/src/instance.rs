//! The one host of the process: its start, its end, and the calls that run on it.

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::sync::{Mutex, PoisonError, RwLock};

use clickwork_prolac_tcp::sockets::linux::{POLLIN, POLLPRI, POLLRDNORM};
use clickwork_prolac_tcp::sockets::{Errno, Fd, Progress, Refusal, Sockets};
use clickwork_prolac_tcp_host::Settings;
use clickwork_prolac_tcp_host::engine::Direction;
use clickwork_prolac_tcp_host::shared::{Shared, Wait};

/// Above all descriptors of the kernel, whose table has at most 2^30 (`sysctl_nr_open_max`).
const FIRST_DESCRIPTOR: Fd = 1 << 30;

static HOST: RwLock<Option<Shared<Sockets>>> = RwLock::new(None);
static ERROR: Mutex<Option<CString>> = Mutex::new(None);

/// See the header.
///
/// # Safety
/// Both are strings of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_tcp_start(device: *const c_char, addresses: *const c_char) -> c_int {
    if device.is_null() || addresses.is_null() {
        return fail(Errno::FAULT);
    }
    // SAFETY: the caller's promise.
    let [device, addresses] =
        [device, addresses].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    match start(&device, &addresses) {
        Ok(()) => 0,
        Err((errno, reason)) => {
            *ERROR.lock().unwrap_or_else(PoisonError::into_inner) = CString::new(reason).ok();
            fail(errno)
        }
    }
}

fn start(device: &str, addresses: &str) -> Result<(), (Errno, String)> {
    let mut host = HOST.write().unwrap_or_else(PoisonError::into_inner);
    if host.is_some() {
        return Err((Errno(libc::EBUSY), "it works already".to_string()));
    }
    let invalid = |error: io::Error| (Errno::INVAL, error.to_string());
    let (first, others) = addresses.split_once(',').unwrap_or((addresses, ""));
    let mut settings = Settings::new(device, first).map_err(invalid)?;
    for address in others.split(',').filter(|address| !address.is_empty()) {
        settings = settings.and_address(address).map_err(invalid)?;
    }
    let failed = |error: io::Error| (Errno(number_of(&error)), error.to_string());
    let made = settings.open_with(|stack| Sockets::with_first_fd(stack, FIRST_DESCRIPTOR)).map_err(failed)?;
    *host = Some(Shared::start(made).map_err(failed)?);
    Ok(())
}

/// The `errno` that says most of an error of the device.
fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::NotFound => libc::ENODEV,
        io::ErrorKind::PermissionDenied => libc::EPERM,
        io::ErrorKind::NetworkDown => libc::ENETDOWN,
        io::ErrorKind::Unsupported => libc::EOPNOTSUPP,
        _ => libc::EIO,
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn prolac_tcp_stop() -> c_int {
    let Some(host) = HOST.write().unwrap_or_else(PoisonError::into_inner).take() else {
        return fail(Errno::NOTCONN);
    };
    let open = host.call(|sockets, now| {
        let open: Vec<Fd> = sockets.descriptors().collect();
        sockets.close_all(now);
        open
    });
    // Whoever waits for one of them learns that it is closed.
    open.into_iter().for_each(|fd| host.wake(fd));
    0
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn prolac_tcp_error() -> *const c_char {
    let error = ERROR.lock().unwrap_or_else(PoisonError::into_inner);
    error.as_ref().map_or(c"nothing failed".as_ptr(), |text| text.as_ptr())
}

/// Sets `errno`; gives what a failed call gives.
pub(crate) fn fail(errno: Errno) -> c_int {
    // SAFETY: the pointer is that of the thread's `errno`.
    unsafe { *libc::__errno_location() = errno.0 };
    -1
}

/// The host, if it was started. Calls that sleep hold no lock of the process.
fn host() -> Result<Shared<Sockets>, Errno> {
    let host = HOST.read().unwrap_or_else(PoisonError::into_inner);
    // No descriptor is open before.
    host.as_ref().cloned().ok_or(Errno::BADF)
}

/// A call that does not wait.
pub(crate) fn call<T>(step: impl FnOnce(&mut Sockets, u64) -> Result<T, Errno>) -> Result<T, Errno> {
    host()?.call(step)
}

/// A call that may have to wait: repeats `step` until it has an answer.
pub(crate) fn wait<T>(
    mut step: impl FnMut(&mut Sockets, u64, &mut Progress) -> Result<T, Refusal>,
) -> Result<T, Errno> {
    let mut progress = Progress::default();
    let result = host()?.drive(|sockets, now| match step(sockets, now, &mut progress) {
        Ok(value) => Ok(Ok(value)),
        Err(Refusal::Error(errno)) => Ok(Err(errno)),
        Err(Refusal::Wait(wait)) => {
            let reads = wait.events & (POLLIN | POLLPRI | POLLRDNORM) != 0;
            let direction = if reads { Direction::In } else { Direction::Out };
            Err(Wait { key: wait.fd, direction, until: wait.deadline })
        }
    });
    // Only the device's end is an error of `drive`.
    result.unwrap_or(Err(Errno(libc::ENETDOWN)))
}

/// Lets those look again who wait for a descriptor that is closed now.
pub(crate) fn closed(fd: Fd) {
    if let Ok(host) = host() {
        host.wake(fd);
    }
}
