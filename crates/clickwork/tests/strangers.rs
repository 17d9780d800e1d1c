//! What another user owns is neither read nor run: caches of compiled code, and files that name packages. Only root can give
//! files away, so these tests need it.

mod common;

use clickwork_compile::{Cache, Leash, Text, library_name};
use clickwork_driver_build::{MANIFEST, packages};
use clickwork_toolchain::Folder;
use common::Scratch;
use std::os::unix::fs::chown;
use std::path::Path;

/// A user that is not the one who runs the tests.
const STRANGER: u32 = 65534;

fn give_away(path: &Path) {
    clickwork_oracles::root();
    chown(path, Some(STRANGER), None).unwrap();
}

fn folders_and_files_of_a_stranger_are_refused() {
    clickwork_oracles::root();
    let dir = Scratch::new("strangers-folder");
    let folder = Folder::at(&dir.path("cache")).unwrap();
    folder.write("file", b"x", 0o600).unwrap();
    give_away(&folder.path().join("file"));
    assert!(folder.read("file").unwrap_err().to_string().contains("belongs to user 65534"));
    give_away(folder.path());
    assert!(Folder::at(folder.path()).unwrap_err().contains("belongs to user 65534"));
    let below = dir.path("theirs/cache");
    Folder::at(&below).unwrap();
    give_away(&dir.path("theirs"));
    assert!(Folder::at(&below).unwrap_err().contains("above it belongs to user 65534"));
}

fn compiled_code_of_a_stranger_is_made_anew() {
    clickwork_oracles::root();
    let dir = Scratch::new("strangers-cache");
    let cache = Cache::at(&dir.path("cache")).unwrap();
    let text = Text { source: String::new(), symbols: vec!["segment_x".to_string()] };
    let library = |made: &[u8]| cache.library(&text, &Leash::default(), |_| Ok(made.to_vec())).unwrap();
    assert_eq!(library(b"first"), b"first");
    assert_eq!(library(b"second"), b"first", "which is kept");
    give_away(&dir.path("cache").join(library_name(&text)));
    assert_eq!(library(b"third"), b"third");
}

fn a_stranger_names_no_packages_above_our_files() {
    clickwork_oracles::root();
    let dir = Scratch::new("strangers-packages");
    let (file, below) = (dir.path(MANIFEST), dir.path("configurations"));
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(&file, "[packages]\nx = \"1\"\n").unwrap();
    assert_eq!(packages(&below).unwrap().len(), 1);
    give_away(&file);
    assert!(packages(&below).is_err(), "planted above");
    give_away(&below);
    assert!(packages(&below).is_ok(), "theirs, as the configurations are");
}

clickwork_oracles::tests! {
    folders_and_files_of_a_stranger_are_refused,
    compiled_code_of_a_stranger_is_made_anew,
    a_stranger_names_no_packages_above_our_files,
}
