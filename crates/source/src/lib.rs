//! Source files, places in them, and what is wrong there.
//!
//! Both languages of Clickwork report through this crate: a [`Span`] says where, a [`Diagnostic`] says what and how to
//! mend it, and the two renderers print it, [`render_human`] with an excerpt of the source and [`render_click`] in the
//! one-line style of the Click program. [`text`] is the border between bytes outside and text inside. The crate knows
//! neither language and opens no files.
//!
//! Read first: [`Sources`], then [`Diagnostic`].
#![forbid(unsafe_code)]

mod diagnostic;
mod render;
mod sources;
mod span;
mod suggest;
pub mod text;

pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use render::{render_click, render_human};
pub use sources::Sources;
pub use span::{FileId, Span};
pub use suggest::suggest;
