//! A small stand-in for packetdrill: reads scripts and runs them on the shared object, through the same table and in the
//! same manner. Read `script.rs` for the language, then `run.rs`.

pub mod calls;
pub mod kernel;
pub mod library;
pub mod parse;
pub mod run;
pub mod script;
pub mod symbols;
pub mod thread;
pub mod wire;
