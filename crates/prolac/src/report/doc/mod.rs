//! `prolacc doc`: an HTML reference of a program in one file that needs nothing else.
//!
//! The page has a part for each module (`modules`) and the whole source (`source`), in which names are links (`links`).
//! Definitions have their full name as their anchor, lines of source `FILE-LINE`.

mod links;
mod modules;
mod source;

use clickwork_source::{FileId, Sources};

use crate::program::Program;
use crate::syntax::ast;
use links::Links;
use modules::Modules;
use source::Source;

/// What a reference is made of.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The title of the page.
    pub title: &'a str,
    /// The program as written.
    pub syntax: &'a ast::Program,
    /// The program after checking.
    pub program: &'a Program,
    /// The files that were parsed, in order.
    pub files: &'a [FileId],
    /// Their texts.
    pub sources: &'a Sources,
}

/// The page.
pub fn html(input: Input<'_>) -> String {
    let links = Links::new(&input);
    let files: Vec<Source<'_>> = input.files.iter().map(|&file| Source::new(&input, &links, file)).collect();
    let modules = Modules::new(&input, &files);
    let title = escape(input.title);
    let style = include_str!("style.css");
    let script = include_str!("script.js");
    let listing: String = files.iter().map(Source::listing).collect();
    format!(
        "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<nav>
<h1>{title}</h1>
<input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\">
<ul id=\"found\"></ul>
{}
</nav>
<main>
{}
<h2 id=\"source\">Source</h2>
{listing}</main>
<script>
{script}</script>
</body>
</html>
",
        modules.contents(),
        modules.all(),
    )
}

/// Text as HTML, also within quotes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A link to the definition with this full name.
fn link(target: &str, text: &str) -> String {
    format!("<a href=\"#{}\">{}</a>", escape(target), escape(text))
}
