//! The TCP with any subset of the extensions, as a [`Program`]: composed, compiled to a shared object, loaded. What was
//! compiled once is kept, by its content.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::time::Duration;

use clickwork_prolac_tcp::Program;
use clickwork_prolac_tcp::abi::Entries;

use crate::compose::{Catalogue, Error};
use crate::random::mix;

/// How subsets are compiled.
#[derive(Clone, Debug)]
pub struct Build {
    /// Of the Prolac optimiser.
    pub level: u8,
    /// For the C compiler.
    pub flags: Vec<String>,
}

impl Default for Build {
    /// What is quickest to compile.
    fn default() -> Build {
        Build { level: 3, flags: vec!["-O0".to_string()] }
    }
}

/// The files of this crate's TCP.
pub fn catalogue() -> Catalogue {
    Catalogue::read(&root().join("tcp")).unwrap_or_else(|error| panic!("{error}"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where shared objects are kept.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("prolac-tcp")
}

/// What is older than a day goes: other texts have other names, and nobody would ask for it again.
fn prune() {
    let day = Duration::from_secs(24 * 3600);
    for entry in std::fs::read_dir(kept()).into_iter().flatten().flatten() {
        let age =
            entry.metadata().and_then(|data| data.modified()).map(|at| at.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age > day) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Compiles a subset, if that was not done yet, and loads it.
pub fn program(catalogue: &Catalogue, names: &[String], build: &Build) -> Result<Program, String> {
    let object = shared_object(catalogue, names, build)?;
    // SAFETY: the object was compiled from our own C, and runs nothing when it is loaded.
    let library = unsafe { libloading::Library::new(&object) };
    let library = library.map_err(|error| format!("{}: {error}", object.display()))?;
    // SAFETY: `include/entries.c` defines the function so. The library stays for ever, and so do its entries, which
    // were made from the same abi as this program; they are initialised here only.
    let program = unsafe {
        let entries = library.get::<unsafe extern "C" fn() -> *const Entries>(b"prolac_tcp_entries");
        let entries = entries.map_err(|error| error.to_string())?;
        Program::from_entries(entries())
    };
    // Not forgotten, which would be a leak to those who look for such.
    static LOADED: Mutex<Vec<libloading::Library>> = Mutex::new(Vec::new());
    LOADED.lock().unwrap_or_else(PoisonError::into_inner).push(library);
    Ok(program)
}

/// The file of a subset, compiled now or before.
pub fn shared_object(catalogue: &Catalogue, names: &[String], build: &Build) -> Result<PathBuf, String> {
    static PRUNED: Once = Once::new();
    PRUNED.call_once(prune);
    let output = with_large_stack(|| catalogue.compile(names, "tcp", build.level));
    let output = output.map_err(|error: Error| error.to_string())?;
    let environment = ["entries.c", "environment.h"]
        .map(|name| std::fs::read_to_string(root().join("include").join(name)).expect("part of the crate"));
    let texts = [&output.source, &output.header, &environment[0], &environment[1], &build.flags.join(" ")];
    let name = format!("{:016x}", texts.iter().fold(0, |hash, text| hash_on(hash, text.as_bytes())));
    let object = kept().join(format!("{name}.so"));
    if !object.exists() {
        let folder = kept().join(format!("{name}.{}.{:?}", std::process::id(), std::thread::current().id()));
        let made = compile(&folder, &output.source, &output.header, &build.flags);
        let moved = made.and_then(|made| std::fs::rename(made, &object).map_err(|error| error.to_string()));
        let _ = std::fs::remove_dir_all(&folder);
        moved?;
    }
    Ok(object)
}

fn hash_on(hash: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(mix(hash ^ bytes.len() as u64), |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash ^ u64::from_le_bytes(word)).wrapping_add(hash << 1)
    })
}

fn compile(folder: &Path, source: &str, header: &str, flags: &[String]) -> Result<PathBuf, String> {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text);
    std::fs::create_dir_all(folder)
        .and_then(|()| write("tcp.c", source))
        .and_then(|()| write("tcp.h", header))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let object = folder.join("tcp.so");
    let mut command = Command::new(compiler());
    command.args(flags).args([
        "-std=c11",
        "-w",
        "-shared",
        "-fPIC",
        "-fno-strict-aliasing",
        "-Wl,-Bsymbolic",
        "-pipe",
    ]);
    command.arg("-I").arg(root().join("include")).arg("-I").arg(folder).arg("-o").arg(&object);
    command.arg(folder.join("tcp.c")).arg(root().join("include/entries.c"));
    let output = command.output().map_err(|error| format!("{}: {error}", compiler()))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the C compiler: {}", messages.lines().take(20).collect::<Vec<_>>().join("\n")));
    }
    Ok(object)
}

/// clang takes half of gcc's time without optimisation.
fn compiler() -> &'static str {
    static COMPILER: OnceLock<String> = OnceLock::new();
    COMPILER.get_or_init(|| {
        let has_clang = || Command::new("clang").arg("--version").output().is_ok();
        let found = || if has_clang() { "clang" } else { "cc" }.to_string();
        std::env::var("CC").unwrap_or_else(|_| found())
    })
}

/// The Prolac compiler's passes are recursive, and tests run on small stacks.
pub fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(64 << 20);
        let thread = builder.spawn_scoped(scope, work).expect("a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
