//! What can go wrong with a device, told so that the user knows what to do about it.

use std::{fmt, io};

/// The kind of a failure: what a caller acts on. The text is for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No interface has this name, or the name cannot be one.
    NoSuchDevice,
    /// The process lacks a capability (root, `CAP_NET_RAW`, `CAP_NET_ADMIN`).
    NoPermission,
    /// The interface exists but is down. It may come back: keep the device open and go on.
    Down,
    /// The interface was removed while in use. It will not come back: close the device.
    Vanished,
    /// This kernel lacks what was asked for.
    Unsupported,
    /// Anything else the system reported.
    Other,
}

/// A failed device operation: `DEVICE: cannot ACTION: REASON (REMEDY)`.
#[derive(Debug)]
pub struct DeviceError {
    device: String,
    action: &'static str,
    fault: Fault,
    reason: String,
}

/// What the functions of this crate return.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;

impl DeviceError {
    /// An error of `fault`, while doing `action` ("open a packet socket") on `device`.
    pub(crate) fn new(device: &str, action: &'static str, fault: Fault, reason: impl Into<String>) -> Self {
        DeviceError { device: device.to_string(), action, fault, reason: reason.into() }
    }

    /// An error that the system reported while doing `action` on `device`.
    pub(crate) fn system(device: &str, action: &'static str, error: &io::Error) -> Self {
        DeviceError::new(device, action, fault_of(error), plain_reason(error))
    }

    /// What kind of failure this is.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The device that failed.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// What the user can do about it.
    pub fn remedy(&self) -> Option<String> {
        match self.fault {
            Fault::NoSuchDevice => Some("`ip link` lists the interfaces".into()),
            Fault::NoPermission => {
                Some("run as root, or `sudo setcap cap_net_raw,cap_net_admin+ep PROGRAM`".into())
            }
            Fault::Down => Some(format!("`ip link set {} up` brings it up", self.device)),
            Fault::Vanished => Some("it was removed; it can be created again".into()),
            Fault::Unsupported | Fault::Other => None,
        }
    }
}

/// Classifies an error number of a device operation.
fn fault_of(error: &io::Error) -> Fault {
    match error.raw_os_error() {
        Some(libc::ENODEV | libc::ENXIO) => Fault::NoSuchDevice,
        Some(libc::EPERM | libc::EACCES) => Fault::NoPermission,
        Some(libc::ENETDOWN) => Fault::Down,
        Some(libc::EOPNOTSUPP | libc::ENOPROTOOPT | libc::ENOSYS | libc::EAFNOSUPPORT) => Fault::Unsupported,
        _ => Fault::Other,
    }
}

/// The system's message without the `(os error N)` that Rust appends.
fn plain_reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: cannot {}: {}", self.device, self.action, self.reason)?;
        match self.remedy() {
            Some(remedy) => write!(f, " ({remedy})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for DeviceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_permission_names_the_remedy() {
        let error =
            DeviceError::system("eth0", "open a packet socket", &io::Error::from_raw_os_error(libc::EPERM));
        assert_eq!(error.fault(), Fault::NoPermission);
        assert_eq!(
            error.to_string(),
            "eth0: cannot open a packet socket: Operation not permitted \
             (run as root, or `sudo setcap cap_net_raw,cap_net_admin+ep PROGRAM`)"
        );
    }

    #[test]
    fn a_device_that_is_down_can_be_brought_up() {
        let error = DeviceError::system("eth0", "send", &io::Error::from_raw_os_error(libc::ENETDOWN));
        assert_eq!(error.fault(), Fault::Down);
        assert!(error.to_string().ends_with("(`ip link set eth0 up` brings it up)"), "{error}");
    }
}
