//! The shared object, loaded as packetdrill loads it, and its table in the hands of two threads.

use std::ffi::{CString, c_int};
use std::path::PathBuf;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// As packetdrill opens it.
const MODE: c_int = RTLD_NOW | RTLD_LOCAL | libc::RTLD_NODELETE | libc::RTLD_DEEPBIND;

use prolac_tcp_packetdrill::interface::{Init, PacketdrillInterface};

/// A stack behind its table.
pub struct Stack {
    table: PacketdrillInterface,
    /// The code that the table leads to.
    library: Option<Library>,
}

// SAFETY: packetdrill calls the table from two threads; that is what the library is for.
unsafe impl Send for Stack {}
// SAFETY: as above.
unsafe impl Sync for Stack {}

/// Where cargo puts the shared object: beside the tests, or a directory above.
pub fn path() -> PathBuf {
    let name = "libprolac_tcp_packetdrill.so";
    let here = std::env::current_exe().expect("the test has a path");
    let directories = here.ancestors().skip(1).take(2);
    let mut places: Vec<PathBuf> = directories.map(|directory| directory.join(name)).collect();
    places.retain(|place| place.exists());
    // Both may be there, and one may be old.
    places.sort_by_key(|place| place.metadata().and_then(|m| m.modified()).ok());
    places.pop().expect("cargo builds the shared object before its tests")
}

impl Stack {
    pub fn load(flags: &str) -> Stack {
        // SAFETY: our own library, whose start does nothing.
        let library = unsafe { Library::open(Some(path()), MODE) }.expect("it loads");
        let mut table = PacketdrillInterface::empty();
        let flags = CString::new(flags).expect("no zero byte");
        // SAFETY: the symbol has this type, and the arguments are what it wants.
        unsafe {
            let init = library.get::<Init>(b"packetdrill_interface_init\0").expect("the symbol");
            init(flags.as_ptr(), &raw mut table);
        }
        Stack { table, library: Some(library) }
    }

    /// The kernel's.
    pub fn kernel(mtu: u32) -> Result<Stack, String> {
        Ok(Stack { table: super::kernel::table(mtu)?, library: None })
    }

    pub fn table(&self) -> &PacketdrillInterface {
        &self.table
    }

    /// Whether its time is the real one.
    pub fn is_kernel(&self) -> bool {
        self.library.is_none()
    }

    /// Microseconds.
    pub fn now(&self) -> i64 {
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the table is filled in, the structure ours.
        let result =
            unsafe { self.table.gettimeofday.unwrap()(self.table.userdata, &mut time, std::ptr::null_mut()) };
        assert_eq!(result, 0);
        time.tv_sec * 1_000_000 + time.tv_usec
    }

    pub fn usleep(&self, microseconds: i64) {
        // SAFETY: the table is filled in.
        unsafe { self.table.usleep.unwrap()(self.table.userdata, microseconds as u32) };
    }

    pub fn send(&self, packet: &[u8]) {
        // SAFETY: the table is filled in, and the slice can be read.
        let result = unsafe {
            self.table.netdev_send.unwrap()(self.table.userdata, packet.as_ptr().cast(), packet.len())
        };
        assert_eq!(result, 0);
    }

    /// The next packet, with its time; `None`: there will be none.
    pub fn receive(&self) -> Option<(i64, Vec<u8>)> {
        let mut buffer = vec![0; 70_000];
        let (mut length, mut time) = (buffer.len(), 0);
        // SAFETY: the table is filled in, and the buffer as long as it says.
        let result: c_int = unsafe {
            let receive = self.table.netdev_receive.unwrap();
            receive(self.table.userdata, buffer.as_mut_ptr().cast(), &mut length, &mut time)
        };
        buffer.truncate(length);
        (result == 0 && length > 0).then_some((time, buffer))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: nothing is called afterwards.
        unsafe { self.table.free.unwrap()(self.table.userdata) };
    }
}
