//! The sources that the program carries: those of the crates it consists of, packed by the build script.

use std::path::{Component, Path};

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sources"));
/// Tells these sources from those of other programs.
pub const HASH: &str = env!("SOURCES_HASH");
/// More than the sources will ever be.
const LIMIT: usize = 1 << 28;

/// A file of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File<'a> {
    /// Where in the workspace.
    pub path: &'a str,
    /// What is in it.
    pub bytes: &'a [u8],
}

/// All files, unpacked one after another.
///
/// # Errors
/// If the program is damaged.
pub fn unpack() -> Result<Vec<u8>, String> {
    miniz_oxide::inflate::decompress_to_vec_with_limit(PACKED, LIMIT)
        .map_err(|e| format!("the sources in this program are damaged: {e}"))
}

/// The files in what [`unpack`] gave.
pub fn files(mut bytes: &[u8]) -> impl Iterator<Item = File<'_>> {
    std::iter::from_fn(move || {
        let path = line(&mut bytes)?;
        let length = line(&mut bytes)?.parse().ok()?;
        let (data, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        is_inside(path).then_some(File { path, bytes: data })
    })
}

fn line<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let end = bytes.iter().position(|&b| b == b'\n')?;
    let line = std::str::from_utf8(&bytes[..end]).ok()?;
    *bytes = &bytes[end + 1..];
    Some(line)
}

/// Whether a path leads nowhere but down.
fn is_inside(path: &str) -> bool {
    Path::new(path).components().all(|c| matches!(c, Component::Normal(_)))
}
