//! rustc, for programs made of what the crate writes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiled program in a folder of its own, which is removed at the end.
pub struct Compiled(PathBuf);

impl Drop for Compiled {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// A program of these modules, named `c0`, `c1` and so on, of a table `FAST` of their functions, and of `main`.
pub fn compile(name: &str, modules: &[String], main: &str, optimisation: &str) -> Compiled {
    let folder = clickwork_oracles::unused(&format!("clickwork-{name}"));
    let compiled = Compiled(folder);
    std::fs::create_dir_all(&compiled.0).expect("a folder for the program");
    std::fs::write(compiled.0.join("main.rs"), text(modules, main)).expect("written");
    let packet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packet/src/lib.rs");
    let run = |command: &mut Command| {
        let level = format!("opt-level={optimisation}");
        command.args(["--edition", "2024", "-C", &level, "--out-dir"]).arg(&compiled.0);
        let output = command.output().expect("rustc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(rustc().args(["--crate-type", "rlib", "--crate-name", "clickwork_packet"]).arg(packet));
    run(rustc()
        .arg("-L")
        .arg(&compiled.0)
        .args(["--extern", "clickwork_packet"])
        .arg(compiled.0.join("main.rs")));
    compiled
}

fn text(modules: &[String], main: &str) -> String {
    let mut text = format!("#![forbid(unsafe_code)]\n#![deny(warnings)]\n{main}\n");
    for (number, module) in modules.iter().enumerate() {
        let _ = writeln!(text, "mod c{number} {{\n{module}}}");
    }
    let entries: String = (0..modules.len())
        .map(|number| format!("    |p| c{number}::fast(&c{number}::Constants, p),\n"))
        .collect();
    text + &format!("const FAST: &[fn(&mut Packet) -> Option<u16>] = &[\n{entries}];\n")
}

impl Compiled {
    /// Runs the program on this input, as a file whose name is its argument; returns what it printed.
    pub fn run(&self, input: &str) -> String {
        std::fs::write(self.0.join("input"), input).expect("written");
        let output = Command::new(self.0.join("main")).arg(self.0.join("input")).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
