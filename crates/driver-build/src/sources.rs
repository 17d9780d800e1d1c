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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_are_those_of_a_program_without_its_tests() {
        let bytes = unpack().unwrap();
        let paths: Vec<&str> = files(&bytes).map(|f| f.path).collect();
        for path in [
            "Cargo.lock",
            "crates/clickwork/src/main.rs",
            "crates/driver-build/build.rs",
            "crates/prolac-tcp/include/entries.c",
            "crates/prolac-tcp/tcp/all.list",
            "patterns/ip.clickpat",
        ] {
            assert!(paths.contains(&path), "{path}");
        }
        assert!(!paths.iter().any(|p| p.contains("/tests") || p.contains("/benches")));
        let end = files(&bytes).last().unwrap();
        assert_eq!(end.bytes.as_ptr_range().end, bytes.as_ptr_range().end, "nothing is left over");
        let manifests = files(&bytes).filter(|f| f.path.ends_with("Cargo.toml"));
        assert!(
            manifests
                .map(|f| String::from_utf8_lossy(f.bytes))
                .all(|text| !text.contains("[dev-dependencies]"))
        );
    }

    #[test]
    fn no_file_can_be_written_outside() {
        let packed = b"a/b\n1\nx../c\n1\ny";
        assert_eq!(files(packed).map(|f| f.path).collect::<Vec<_>>(), ["a/b"]);
        assert!(!is_inside("/etc/x") && !is_inside("a/../../b") && is_inside("a/b"));
        assert_eq!(files(b"a\n5\nx").count(), 0);
    }
}
