//! Files that belong to somebody else are not run. Only root can give files away, so these tests need it.

use clickwork_driver_build::{MANIFEST, packages};
use clickwork_toolchain::Folder;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

clickwork_oracles::tests! {
    planted_files_and_folders_are_refused,
    a_folder_of_somebody_elses_is_no_safe_place,
    a_planted_manifest_names_no_packages,
}

/// A folder that vanishes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        clickwork_oracles::root();
        let path = clickwork_oracles::unused(&format!("clickwork-owners-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Gives a file to nobody.
fn give_away(path: &Path) {
    chown(path, Some(65534), None).unwrap();
}

fn planted_files_and_folders_are_refused() {
    let dir = Scratch::new("folder");
    let folder = Folder::at(&dir.0.join("cache")).unwrap();
    folder.write("file", b"x", 0o600).unwrap();
    give_away(&folder.path().join("file"));
    assert!(folder.read("file").unwrap_err().to_string().contains("belongs to user 65534"));
    folder.write("file", b"y", 0o600).unwrap();
    assert_eq!(folder.read("file").unwrap(), b"y", "it was replaced");
    give_away(folder.inside("inside").unwrap().path());
    assert!(folder.inside("inside").unwrap_err().contains("belongs to user 65534"));
    give_away(folder.path());
    assert!(Folder::at(folder.path()).unwrap_err().contains("belongs to user 65534"));
}

fn a_folder_of_somebody_elses_is_no_safe_place() {
    let dir = Scratch::new("above");
    let below = dir.0.join("theirs/cache");
    Folder::in_safe_place(&below).unwrap();
    give_away(&dir.0.join("theirs"));
    assert!(Folder::in_safe_place(&below).unwrap_err().contains("above it belongs to user 65534"));
    assert!(Folder::at(&below).is_ok(), "if root names it");
}

fn a_planted_manifest_names_no_packages() {
    let dir = Scratch::new("manifest");
    let (file, below) = (dir.0.join(MANIFEST), dir.0.join("configurations"));
    fs::create_dir_all(&below).unwrap();
    fs::write(&file, "[packages]\nx = \"1\"\n").unwrap();
    assert_eq!(packages(&below).unwrap().len(), 1);
    give_away(&file);
    assert!(packages(&below).unwrap_err().contains("others could write this file"));
    give_away(&below);
    assert!(packages(&below).is_ok(), "theirs, as the configurations are");
}
