//! Packs the sources of the crates that the program consists of, so that the program can build others like it.
//!
//! Left out is what a build does not need: tests, benchmarks, and the dependencies for them. `src/sources.rs` unpacks.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The crate that all the others are needed for.
const TOP: &str = "clickwork";
/// What the workspace keeps outside its crates and sources include.
const INCLUDED: &[&str] = &["patterns", "examples/ip-router.click", "examples/ip-router-live.click"];
/// Tables of a manifest that only tests and benchmarks need.
const LEFT_OUT: &[&str] = &["[dev-dependencies]", "[[bench]]", "[[test]]", "[[example]]"];
/// What a crate may have besides `src`: its build script, and what that compiles.
const FOR_BUILDING: &[&str] = &["build.rs", "include", "tcp"];
/// How hard to compress: 6 of 10 takes a tenth of a second.
const LEVEL: u8 = 6;

fn main() -> io::Result<()> {
    let root = variable("CARGO_MANIFEST_DIR").join("../..");
    let mut packed = Files { root, files: BTreeMap::new() };
    packed.add_all()?;
    let bytes = packed.to_bytes();
    let hash: String = Sha256::digest(&bytes)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=SOURCES_HASH={hash}");
    fs::write(variable("OUT_DIR").join("sources"), miniz_oxide::deflate::compress_to_vec(&bytes, LEVEL))
}

fn variable(name: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or_default().into()
}

/// Files by their path in the workspace.
struct Files {
    root: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl Files {
    fn add_all(&mut self) -> io::Result<()> {
        self.add_file("Cargo.toml")?;
        self.add_file("Cargo.lock")?;
        for path in INCLUDED {
            self.add(path)?;
        }
        let workspace = fs::read_to_string(self.root.join("Cargo.toml"))?;
        let mut crates = vec![folder_of(TOP, &workspace)];
        let mut next = 0;
        while let Some(folder) = crates.get(next).cloned() {
            let manifest = self.add_crate(&folder)?;
            let uses = dependencies(&manifest).map(|name| folder_of(name, &workspace));
            let new: Vec<String> = uses.filter(|folder| !crates.contains(folder)).collect();
            crates.extend(new);
            next += 1;
        }
        Ok(())
    }

    /// Adds a crate and returns its manifest.
    fn add_crate(&mut self, folder: &str) -> io::Result<String> {
        let path = format!("{folder}/Cargo.toml");
        self.add_file(&path)?;
        let manifest = without_tests(&String::from_utf8_lossy(&self.files[&path]));
        self.files.insert(path, manifest.clone().into_bytes());
        self.add(&format!("{folder}/src"))?;
        for part in FOR_BUILDING {
            if self.root.join(folder).join(part).exists() {
                self.add(&format!("{folder}/{part}"))?;
            }
        }
        Ok(manifest)
    }

    fn add(&mut self, path: &str) -> io::Result<()> {
        println!("cargo::rerun-if-changed={}", self.root.join(path).display());
        if self.root.join(path).is_dir() { self.add_folder(path) } else { self.add_file(path) }
    }

    fn add_folder(&mut self, folder: &str) -> io::Result<()> {
        for entry in fs::read_dir(self.root.join(folder))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}/{name}");
            let is_test = name == "tests.rs" || name == "tests";
            match self.root.join(&path).is_dir() {
                _ if is_test => {}
                true => self.add_folder(&path)?,
                false => self.add_file(&path)?,
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &str) -> io::Result<()> {
        let file = self.root.join(path);
        println!("cargo::rerun-if-changed={}", file.display());
        let bytes =
            fs::read(&file).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", file.display())))?;
        self.files.insert(path.to_string(), bytes);
        Ok(())
    }

    /// For each file its path, its length, and its bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let head = |path: &str, bytes: &[u8]| format!("{path}\n{}\n", bytes.len()).into_bytes();
        self.files.iter().flat_map(|(path, bytes)| [head(path, bytes), bytes.clone()].concat()).collect()
    }
}

/// The folder of a crate of ours, from the workspace's table of dependencies.
fn folder_of(name: &str, workspace: &str) -> String {
    let line = workspace.lines().find(|l| l.split_once(" = ").is_some_and(|(key, _)| key == name));
    let path = line.and_then(|l| l.split('"').nth(1));
    path.map_or_else(|| format!("crates/{}", Path::new(name).display()), str::to_string)
}

/// The crates of ours that a manifest names.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let names = manifest.lines().filter_map(|line| line.split(['.', ' ']).next());
    names.filter(|name| name.starts_with("clickwork-") && !name.ends_with(']'))
}

fn without_tests(manifest: &str) -> String {
    let mut keep = true;
    let mut lines = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            keep = !LEFT_OUT.contains(&line);
        }
        if keep {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}
