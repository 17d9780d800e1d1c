//! A program that `clickwork build` made: a copy of this one with a configuration and its code attached.

use crate::config::Input;
use clickwork_compile::{Library, attach};
use clickwork_lang::archive::Archive;
use clickwork_source::text::{decode, encode};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

/// What is attached.
pub struct Built {
    /// What messages call the configuration.
    name: String,
    /// The configuration, as text or archive.
    config: Vec<u8>,
    /// `VAR=value` that were given when the program was built.
    pub defines: Vec<String>,
    /// The libraries that the configuration requires.
    pub libraries: Archive,
    /// The code, if there is any.
    pub library: Option<Library>,
}

/// What is to be attached.
pub struct Parts<'a> {
    pub name: &'a str,
    pub config: &'a [u8],
    pub defines: &'a [String],
    pub libraries: &'a Archive,
    pub code: &'a [u8],
}

impl Parts<'_> {
    /// A copy of this program with these parts.
    ///
    /// # Errors
    /// If the program's file cannot be read.
    pub fn attach(&self) -> io::Result<Vec<u8>> {
        let defines: String = self.defines.iter().map(|word| format!("{word}\0")).collect();
        let libraries = self.libraries.to_bytes();
        let parts = [&*encode(self.name), self.config, &encode(&defines), &libraries, self.code];
        attach::attach(&mut program_file()?, &parts)
    }
}

/// The file of the running program, also if it was replaced or removed since. Under valgrind and other emulators the system's
/// program is the emulator, but the emulator says by the link's text what it runs.
fn program_file() -> io::Result<File> {
    const LINK: &str = "/proc/self/exe";
    let file = File::open(LINK)?;
    let (said, real) = (fs::read_link(LINK)?, fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?);
    if said == real { Ok(file) } else { File::open(said) }
}

static PROGRAM: OnceLock<Option<Built>> = OnceLock::new();

impl Built {
    /// The configuration.
    ///
    /// # Errors
    /// If it cannot be read any more.
    pub fn input(&self) -> Result<Input, String> {
        Input::new(self.name.clone(), self.config.clone())
    }

    fn from_parts(parts: Vec<Vec<u8>>) -> Result<Option<Built>, String> {
        let Ok([name, config, defines, libraries, code]) = <[Vec<u8>; 5]>::try_from(parts) else {
            return Ok(None);
        };
        let library = (!code.is_empty()).then(|| Library::from_bytes(&code)).transpose();
        let library = library.map_err(|e| e.to_string())?;
        let defines = decode(defines).split_terminator('\0').map(str::to_string).collect();
        let libraries = Archive::parse(&libraries).map_err(|e| e.to_string())?;
        Ok(Some(Built { name: decode(name), config, defines, libraries, library }))
    }
}

/// Looks whether something is attached to this program.
///
/// # Errors
/// If it is, but cannot be used.
pub fn find() -> Result<bool, String> {
    let parts = program_file().and_then(|mut file| attach::attached(&mut file)).unwrap_or_default();
    let built = Built::from_parts(parts)?;
    Ok(PROGRAM.get_or_init(|| built).is_some())
}

/// What is attached to this program.
pub fn program() -> Option<&'static Built> {
    PROGRAM.get().and_then(Option::as_ref)
}
