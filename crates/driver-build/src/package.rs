//! Packages: crates of other people that have element classes.

use crate::cache::error;
use crate::manifest;
use clickwork_toolchain::Hash;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of a crate whose files do not become part of a program.
const NOT_BUILT: &[&str] = &["target", "tests", "benches", "examples"];

/// A crate, and the name by which configurations require it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// What `require(package NAME)` says, with `-` for `_`.
    pub name: String,
    /// Where cargo finds it, in cargo's words.
    keys: Vec<(String, String)>,
}

impl Package {
    /// A package where `keys` say, which are those of a dependency in `Cargo.toml`.
    pub fn new(name: &str, mut keys: Vec<(String, String)>) -> Package {
        if !keys.iter().any(|(key, _)| key == "package") {
            keys.push(("package".to_string(), name.to_string()));
        }
        Package { name: name.replace('_', "-"), keys }
    }

    /// The package called `name` whose crate is in a folder.
    ///
    /// # Errors
    /// If there is no crate in it.
    pub fn at(name: &str, folder: &Path) -> Result<Package, String> {
        let crate_name = manifest::crate_name(folder)?;
        let folder = fs::canonicalize(folder).map_err(|e| error(folder, &e))?;
        let path = folder.to_str().ok_or_else(|| format!("{}: not a name in UTF-8", folder.display()))?;
        let keys = [("path", path), ("package", &crate_name)];
        Ok(Package::new(name, keys.map(|(key, value)| (key.to_string(), value.to_string())).to_vec()))
    }

    /// The package in a folder, under the name of its crate.
    ///
    /// # Errors
    /// If there is no crate in it.
    pub fn in_folder(folder: &Path) -> Result<Package, String> {
        Package::at(&manifest::crate_name(folder)?, folder)
    }

    /// The folder of the crate, if it has one on this machine.
    pub fn folder(&self) -> Option<&Path> {
        self.key("path").map(Path::new)
    }

    /// The name of the crate.
    pub fn crate_name(&self) -> &str {
        self.key("package").unwrap_or(&self.name)
    }

    /// Whether this is the package that a configuration requires: `-` and `_` are the same.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name.replace('_', "-")
    }

    fn key(&self, wanted: &str) -> Option<&str> {
        self.keys.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str())
    }

    /// What the crate is called in the driver.
    pub(crate) fn identifier(&self) -> String {
        format!("package_{}", self.name.replace('-', "_"))
    }

    /// The line for the driver's `Cargo.toml`.
    pub(crate) fn dependency(&self) -> String {
        let keys: Vec<String> =
            self.keys.iter().map(|(key, value)| format!("{key} = {}", quoted(value))).collect();
        format!("{} = {{ {} }}\n", self.identifier(), keys.join(", "))
    }

    /// Adds all that the package is built from, as far as it is on this machine.
    pub(crate) fn add_to(&self, mut hash: Hash) -> Hash {
        let mut folders: Vec<PathBuf> = self.folder().map(Path::to_path_buf).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            if seen.insert(folder.clone()) {
                hash = add_folder(&folder, true, hash);
                folders.extend(manifest::paths(&folder));
                hash = hash.and(&workspace_manifest(&folder));
            }
        }
        hash
    }
}

/// Whether packages can have this name: that of a crate.
pub fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    starts && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// The `Cargo.toml` of the workspace that a crate may be in.
fn workspace_manifest(folder: &Path) -> Vec<u8> {
    let texts = folder.ancestors().skip(1).filter_map(|f| fs::read_to_string(f.join("Cargo.toml")).ok());
    texts.filter(|text| text.contains("[workspace")).map(String::into_bytes).next().unwrap_or_default()
}

/// Adds the files of a crate: of the outermost folder those that are built from, of `src` all.
fn add_folder(folder: &Path, outermost: bool, mut hash: Hash) -> Hash {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_used = !outermost
            || !(NOT_BUILT.contains(&&*name) || name.ends_with(".click") || name == manifest::FILE);
        if name.starts_with('.') || !is_used {
            continue;
        }
        hash = match path.is_dir() {
            true => add_folder(&path, false, hash.and(name.as_bytes())),
            false => hash.and(name.as_bytes()).and(&fs::read(&path).unwrap_or_default()),
        };
    }
    hash
}

/// Text in the quotes of TOML.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", c as u32),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that vanishes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = clickwork_oracles::unused(&format!("clickwork-package-{name}"));
            let _ = fs::remove_dir_all(&path);
            Folder(path)
        }

        fn write(&self, file: &str, text: &str) {
            crate::cache::write(&self.0.join(file), text.as_bytes()).unwrap();
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_driver_depends_on_what_its_packages_are_built_from() {
        let dir = Folder::new("hash");
        dir.write("a/Cargo.toml", "[package]\nname = \"a_b\"\n[dependencies]\nc = { path = \"../c\" }\n");
        dir.write("a/src/lib.rs", "mod x;");
        dir.write("c/Cargo.toml", "[package]\nname = \"c\"\n");
        dir.write("c/src/lib.rs", "");
        let package = Package::in_folder(&dir.0.join("a")).unwrap();
        let key = || package.add_to(Hash::default()).name();
        let mut last = key();
        let mut changes = |file: &str, text: &str| {
            dir.write(file, text);
            std::mem::replace(&mut last, key()) != key()
        };
        for file in ["a/src/x.rs", "a/src/tests/y.click", "c/src/lib.rs", "Cargo.toml", "a/build.rs"] {
            assert!(changes(file, "[workspace] # fn f() {}"), "{file}");
        }
        for file in
            ["a/example.click", "a/clickwork.toml", "a/tests/t.rs", "a/target/x", "a/.git/x", "d/src/lib.rs"]
        {
            assert!(!changes(file, "fn f() {}"), "{file}");
        }
    }

    #[test]
    fn a_package_is_a_dependency_under_a_name_of_its_own() {
        let dir = Folder::new("names");
        dir.write("Cargo.toml", "[package]\nname = \"a_b\"\n");
        let package = Package::in_folder(&dir.0).unwrap();
        assert!(package.is_called("a-b") && package.is_called("a_b") && !package.is_called("ab"));
        let line = package.dependency();
        assert!(
            line.starts_with("package_a_b = { path = \"/") && line.ends_with("package = \"a_b\" }\n"),
            "{line}"
        );
        let versions = Package::new("c_d", vec![("version".into(), "1\"\\".into())]);
        assert_eq!(versions.dependency(), "package_c_d = { version = \"1\\\"\\\\\", package = \"c_d\" }\n");
    }
}
