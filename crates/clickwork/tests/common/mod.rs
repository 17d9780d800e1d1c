//! What the tests of the program share: calling it, as itself and under Click's names, in a directory of their own.
#![allow(dead_code)] // no test uses everything

use snapbox::cmd::Command;
use std::path::{Path, PathBuf};

/// A directory that vanishes with the test.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A fresh directory; `name` must differ between tests.
    pub fn new(name: &str) -> Scratch {
        let path = clickwork_oracles::unused(&format!("clickwork-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the temporary directory can be written");
        Scratch(path)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).expect("a file can be written");
        self.path(name)
    }

    /// Writes the two keys of `vpn-gateway.click`, which nobody else can read.
    pub fn write_keys(&self) {
        let hex = |from: u8| (from..from + 36).map(|byte| format!("{byte:02x}")).collect::<String>();
        for (name, from) in [("one.key", 0), ("two.key", 0x40)] {
            let path = self.write(name, &hex(from));
            let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(path, owner_only).expect("the file is ours");
        }
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file was written")
    }

    /// `clickwork`, run here.
    pub fn clickwork(&self) -> Command {
        Command::new(env!("CARGO_BIN_EXE_clickwork"))
            .current_dir(&self.0)
            .env_remove("CLICKPATH")
            .env("NO_COLOR", "1")
    }

    /// One of Click's programs, by a link made by `clickwork links`.
    pub fn tool(&self, name: &str) -> Command {
        if !self.path("bin").exists() {
            self.clickwork().args(["links", "bin"]).assert().success();
        }
        Command::new(self.path("bin").join(name)).current_dir(&self.0).env_remove("CLICKPATH")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("temporary paths are plain")
}
