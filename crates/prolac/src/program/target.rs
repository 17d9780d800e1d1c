//! The machines a program can be compiled for, as far as layouts depend on them.

/// Sizes and alignments of one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// What `--target` calls it.
    pub name: &'static str,
    /// Bytes of a pointer.
    pub pointer: u64,
    /// Alignment of 64-bit integers in structures, in bytes.
    pub long_align: u64,
    /// Whether the first byte of an integer is its lowest.
    pub little_endian: bool,
}

/// All machines known.
const TARGETS: [Target; 6] = [
    Target { name: "x86_64", pointer: 8, long_align: 8, little_endian: true },
    Target { name: "i386", pointer: 4, long_align: 4, little_endian: true },
    Target { name: "aarch64", pointer: 8, long_align: 8, little_endian: true },
    Target { name: "arm", pointer: 4, long_align: 8, little_endian: true },
    Target { name: "riscv64", pointer: 8, long_align: 8, little_endian: true },
    Target { name: "powerpc64", pointer: 8, long_align: 8, little_endian: false },
];

impl Target {
    /// The machine called `name`.
    pub fn named(name: &str) -> Option<Target> {
        TARGETS.into_iter().find(|t| t.name == name)
    }

    /// The names of all machines.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TARGETS.into_iter().map(|t| t.name)
    }

    /// The machine this compiler runs on, or x86_64 if that is none of those known.
    pub fn host() -> Target {
        let arch = std::env::consts::ARCH;
        Target::named(if arch == "x86" { "i386" } else { arch }).unwrap_or(TARGETS[0])
    }
}

impl Default for Target {
    fn default() -> Self {
        Target::host()
    }
}
