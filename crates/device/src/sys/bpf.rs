//! Hides an interface's packets from the host's own protocols.
//!
//! A packet socket gets copies: the host also handles the packet, so a router next to it would answer and
//! forward everything twice. A two-instruction program at the interface's ingress hook (tcx), which runs
//! after packet sockets took their copies, drops what the host would get. It is tied to a descriptor: when
//! the process ends, however it ends, the interface is back to normal. Read first: bpf(2); the hook is there
//! since Linux 6.6.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const PROG_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
const PROG_TYPE_SCHED_CLS: u32 = 3;
const TCX_INGRESS: u32 = 46;
const TC_ACT_SHOT: i32 = 2;

/// `struct bpf_insn`.
#[repr(C)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// `r0 = TC_ACT_SHOT; exit`.
static DROP_ALL: [Instruction; 2] = [
    Instruction { code: 0xb7, registers: 0, offset: 0, immediate: TC_ACT_SHOT },
    Instruction { code: 0x95, registers: 0, offset: 0, immediate: 0 },
];

/// The leading members of `union bpf_attr` for `BPF_PROG_LOAD`.
#[repr(C)]
#[derive(Default)]
struct LoadRequest {
    program_type: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log: [u64; 2],
    kernel_and_flags: [u32; 2],
    name: [u8; 16],
}

/// The leading members of `union bpf_attr` for `BPF_LINK_CREATE`.
#[repr(C)]
#[derive(Default)]
struct LinkRequest {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
    options: [u64; 3],
}

/// Hides what arrives at the interface from the host until the returned descriptor is closed.
pub(crate) fn hide_from_host(index: u32) -> io::Result<OwnedFd> {
    let program = load_drop_program()?;
    let link = LinkRequest {
        program: program.as_raw_fd() as u32,
        interface: index,
        attach_type: TCX_INGRESS,
        ..LinkRequest::default()
    };
    // SAFETY: a LinkRequest is what BPF_LINK_CREATE reads; it holds no pointers.
    unsafe { bpf(LINK_CREATE, &link) }
}

fn load_drop_program() -> io::Result<OwnedFd> {
    let license = c"Dual MIT/GPL";
    let mut name = [0; 16];
    name[..9].copy_from_slice(b"clickwork");
    let load = LoadRequest {
        program_type: PROG_TYPE_SCHED_CLS,
        instruction_count: DROP_ALL.len() as u32,
        instructions: DROP_ALL.as_ptr() as u64,
        license: license.as_ptr() as u64,
        name,
        ..LoadRequest::default()
    };
    // SAFETY: a LoadRequest is what BPF_PROG_LOAD reads; its two pointers refer to constants of the stated
    // length.
    unsafe { bpf(PROG_LOAD, &load) }
}

/// # Safety
/// `request` is laid out as `command` expects, and pointers in it are valid.
unsafe fn bpf<T>(command: libc::c_long, request: &T) -> io::Result<OwnedFd> {
    // SAFETY: as promised by the caller; the kernel reads `size_of::<T>()` bytes.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, command, &raw const *request, mem::size_of::<T>()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both commands return a new descriptor, which nobody else owns. BPF sets close-on-exec itself.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}
