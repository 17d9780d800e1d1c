//! Routers compiled: the paths of packets through elements with fast paths, as Rust, then as machine code in the running
//! program.
//!
//! Elements, handlers, scheduling and hot swap stay what they are; compiled code replaces the dispatch from element to
//! element along *path segments* ([`clickwork_router::segment`]). So a router can begin to use it at any moment and lose
//! nothing, and falls back on the elements wherever a fast path has no answer.
//!
//! The stages: [`plan`] says which elements make segments; [`text`] writes their code, one Rust function a path;
//! [`rustc`] has the Rust compiler make a shared object of it, once for each text ([`cache`]); [`load`] brings that into the
//! program; [`attach`] fastens it to a copy of the program. [`compile()`] is all of them.
//!
//! Nothing but a Rust compiler is needed: what is generated is compiled with the sources of `clickwork-packet`, which the
//! program carries, and with no other crate.
#![deny(unsafe_code)]

pub mod attach;
pub mod cache;
pub mod load;
mod names;
pub mod plan;
pub mod rustc;
pub mod text;

pub use cache::{Cache, library_name};
pub use clickwork_toolchain::Leash;
pub use load::Library;
pub use plan::{Scope, plan, plan_lasting};
pub use rustc::CompileError;
pub use text::{Text, Writer, write};

use clickwork_router::Router;
use clickwork_router::segment::Segment;
use std::collections::BTreeSet;

/// The library with the code of these segments, and its bytes: from the cache, or compiled now, which takes a second or two.
/// Cutting the leash ends the compiler.
///
/// # Errors
/// If there is no compiler, or it fails, or the cache cannot be written or be trusted.
pub fn compile(text: &Text, leash: &Leash) -> Result<(Library, Vec<u8>), CompileError> {
    let cache = Cache::of_user()?;
    if let Some(kept) = cache.get(text) {
        match Library::from_bytes(&kept) {
            Ok(library) => return Ok((library, kept)),
            // What cannot be loaded is made anew.
            Err(_) => cache.forget(text),
        }
    }
    let code = cache.library(text, leash, |folder| rustc::compile(text, folder, leash))?;
    Ok((Library::from_bytes(&code)?, code))
}

/// The library with the code of these segments, if it is in the cache.
pub fn kept(text: &Text) -> Option<Library> {
    Library::from_bytes(&Cache::of_user().ok()?.get(text)?).ok()
}

/// Puts the code of `library` into segments. Those that it does not have are left out.
pub fn link(segments: Vec<Segment>, text: &Text, library: &Library) -> Vec<Segment> {
    let with_code = |(segment, symbol): (Segment, &String)| {
        library.function(symbol).map(|code| Segment { code, ..segment })
    };
    segments.into_iter().zip(&text.symbols).filter_map(with_code).collect()
}

/// The text of a router: of its segments, and of those that are left when elements have changed that are likely to. None if it
/// has no segments.
pub fn text_of(router: &Router, scope: Scope) -> Option<Text> {
    let segments = plan(router, scope);
    if segments.is_empty() {
        return None;
    }
    let mut writer = Writer::default();
    let mut symbols = writer.add(router, &segments);
    symbols.extend(writer.add(router, &plan_lasting(router, scope)));
    Some(Text { source: writer.finish(), symbols })
}

/// The segments of a router as it is now for which `library` has code: all of them if it can be, else those without elements
/// that are likely to have changed.
pub fn linked(router: &Router, scope: Scope, library: &Library) -> Vec<Segment> {
    let segments = plan(router, scope);
    let (all, text) = (segments.len(), write(router, &segments));
    let linked = link(segments, &text, library);
    if linked.len() == all {
        return linked;
    }
    let lasting = plan_lasting(router, scope);
    let text = write(router, &lasting);
    let lasting = link(lasting, &text, library);
    if elements(&lasting) > elements(&linked) { lasting } else { linked }
}

/// How many elements of a router `library` has code for.
pub fn coverage(router: &Router, scope: Scope, library: &Library) -> usize {
    elements(&linked(router, scope, library))
}

fn elements(segments: &[Segment]) -> usize {
    let all: BTreeSet<_> = segments.iter().flat_map(|s| s.nodes.iter().map(|node| node.element)).collect();
    all.len()
}
