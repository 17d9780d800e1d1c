//! Compiles the TCP: all files of `tcp/all.list` to C, and that to a library that is linked in.

use std::path::{Path, PathBuf};

#[path = "src/compose.rs"]
#[allow(dead_code)]
mod compose;

fn main() {
    println!("cargo::rerun-if-changed=tcp");
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=src/compose.rs");
    println!("cargo::rustc-check-cfg=cfg(prolac_linked)");
    if !Path::new("tcp/all.list").exists() {
        return;
    }
    println!("cargo::rustc-cfg=prolac_linked");
    let folder = match generate() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let mut build = cc::Build::new();
    build.files([folder.join("tcp.c"), PathBuf::from("include/entries.c")]);
    build.includes([Path::new("include"), &folder]).std("c11").flag_if_supported("-fno-strict-aliasing");
    build.compile("prolac_tcp_protocol");
}

/// Writes the C, and says into which folder.
fn generate() -> Result<PathBuf, compose::Error> {
    let catalogue = compose::Catalogue::read(Path::new("tcp"))?;
    let output = catalogue.compile(&catalogue.names(), "tcp", 3)?;
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (name, text) in [("tcp.c", &output.source), ("tcp.h", &output.header)] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| compose::Error::Read { path: path.clone(), error })?;
    }
    Ok(folder)
}
