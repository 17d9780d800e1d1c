//! The text of fast paths, compiled as the router compiler does it: by rustc, with the packet crate's own text and nothing
//! else. There are no warnings, and it does to packets what the functions in the library do.

use super::cases::subjects;
use super::packets::{Random, look, recipe};
use clickwork_packet::SOURCES;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packets for each element.
const PACKETS: usize = 100;

#[test]
fn texts_compile_and_do_the_same() {
    let folder = Folder::new();
    let (mut program, mut expected) = (PROGRAM.to_string(), String::new());
    let mut calls = String::new();
    for (number, mut subject) in subjects().into_iter().enumerate() {
        let Some(code) = subject.code() else { continue };
        let _ = writeln!(
            program,
            "pub mod m{number} {{\n{}\npub const ELEMENT: Constants = {};\n}}",
            code.source, code.constants
        );
        let _ = writeln!(calls, "report({:?}, |p| m{number}::fast(&m{number}::ELEMENT, p));", subject.name);
        let mut random = Random::new(2);
        for _ in 0..PACKETS {
            let (mut p, _other) = recipe(&mut random).make();
            let output = subject.fast(&mut p);
            let _ = writeln!(expected, "{}: {output:?} {}", subject.name, look(&p));
        }
    }
    let _ = writeln!(program, "fn main() {{\n{calls}}}");
    let printed = folder.run(&program);
    let difference = printed.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert_eq!(difference, None, "text on the left, library on the right");
    assert_eq!(printed.lines().count(), expected.lines().count());
}

/// The program that runs the texts, to be followed by them and its main function.
const PROGRAM: &str = concat!(
    "#![deny(warnings)]\n#![allow(dead_code)]\n",
    "mod packets {\n",
    include_str!("packets.rs"),
    "}\n",
    "fn report(name: &str, fast: impl Fn(&mut clickwork_packet::Packet) -> Option<u16>) {
        let mut random = packets::Random::new(2);
        for _ in 0..100 {
            let (mut p, _other) = packets::recipe(&mut random).make();
            let output = fast(&mut p);
            println!(\"{name}: {output:?} {}\", packets::look(&p));
        }
    }\n"
);

/// A folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = clickwork_oracles::unused("clickwork-fast");
        Folder(path)
    }

    /// What the program prints.
    fn run(&self, program: &str) -> String {
        for (path, text) in
            SOURCES.iter().map(|&(p, t)| (format!("packet/{p}"), t)).chain([("main.rs".to_string(), program)])
        {
            let path = self.0.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.rustc(&["--crate-type", "rlib", "--crate-name", "clickwork_packet"], "packet/lib.rs");
        let library = format!("clickwork_packet={}", self.0.join("libclickwork_packet.rlib").display());
        self.rustc(&["--extern", &library], "main.rs");
        let output = Command::new(self.0.join("main")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn rustc(&self, options: &[&str], file: &str) {
        let mut command = Command::new("rustc");
        command.args(["--edition", "2024", "-C", "debug-assertions=on", "--out-dir"]).arg(&self.0);
        let output = command.args(options).arg(self.0.join(Path::new(file))).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{file}:\n{said}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
