//! The compiler as a whole, for programs that embed it and for `prolacc`.
//!
//! [`Compilation`] holds the texts, the messages and what each stage made; `input` reads files, `preprocess` runs the C
//! preprocessor. The command line of `prolacc` is in [`cli`].

pub mod cli;
mod compilation;
mod directives;
mod input;
mod messages;
mod output;
mod preprocess;
mod run;

pub use compilation::{Compilation, Options};
pub use preprocess::{Options as PreprocessorOptions, When};
