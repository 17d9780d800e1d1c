//! The text of a configuration as HTML: colours, numbered lines, names as links.

use super::html::{attribute, escape};
use super::names::{Name, Names, one_line, start};
use clickwork_lang::syntax::{SyntaxKind, SyntaxNode, SyntaxToken};

/// What the listing does not know by itself.
pub trait Links {
    /// Where a class that the configuration does not declare is described, and its line of help.
    fn class(&self, name: &str) -> Option<(String, String)>;
    /// What the element written at a place became: a link, and words for it.
    fn became(&self, start: u32) -> Option<(String, String)>;
    /// The same for the first element of a compound class.
    fn expanded(&self, class: &str) -> Option<(String, String)>;
}

/// Writes the text of a tree. Lines get the ids `L1`, `L2` and so on behind `prefix`, if there is one.
pub fn listing(root: &SyntaxNode, names: &Names, links: &dyn Links, prefix: Option<&str>) -> String {
    let mut out = Lines::new(prefix);
    let tokens = root.descendants_with_tokens().filter_map(|e| e.into_token());
    for token in tokens {
        match token.kind() {
            SyntaxKind::ConfigText => config(&mut out, &token, names),
            _ => plain(&mut out, &token, names, links),
        }
    }
    out.finish()
}

/// A listing being written: elements never reach over the end of a line.
struct Lines<'a> {
    prefix: Option<&'a str>,
    line: usize,
    out: String,
}

impl<'a> Lines<'a> {
    fn new(prefix: Option<&'a str>) -> Self {
        let mut lines = Lines { prefix, line: 0, out: String::new() };
        lines.begin();
        lines
    }

    fn begin(&mut self) {
        self.line += 1;
        self.out += &match self.prefix {
            Some(prefix) => format!("<span class=\"k-ln\" id=\"{prefix}L{}\">", self.line),
            None => "<span>".to_string(),
        };
    }

    /// Text in an HTML element: the start tag of its first line, the start tag of the others, and the end tag.
    fn put(&mut self, text: &str, [first, other, end]: [&str; 3]) {
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                self.out += "</span>\n";
                self.begin();
            }
            let line = line.strip_suffix('\r').unwrap_or(line);
            if !line.is_empty() {
                self.out += if n == 0 { first } else { other };
                self.out += &escape(line);
                self.out += end;
            }
        }
    }

    fn colored(&mut self, text: &str, class: &str) {
        let tag = format!("<span class=\"{class}\">");
        self.put(text, [&tag, &tag, "</span>"]);
    }

    fn bare(&mut self, text: &str) {
        self.put(text, ["", "", ""]);
    }

    fn finish(mut self) -> String {
        // A line break at the end begins no line.
        let empty = match self.prefix {
            Some(prefix) => format!("<span class=\"k-ln\" id=\"{prefix}L{}\">", self.line),
            None => "<span>".to_string(),
        };
        match self.out.strip_suffix(&empty) {
            Some(rest) => rest.to_string(),
            None => {
                self.out += "</span>\n";
                self.out
            }
        }
    }
}

fn plain(out: &mut Lines<'_>, token: &SyntaxToken, names: &Names, links: &dyn Links) {
    use SyntaxKind::*;
    if token.parent().is_some_and(|p| p.kind() == Error) && !token.kind().is_trivia() {
        out.put(
            token.text(),
            ["<span class=\"c-err\" title=\"not understood\">", "<span class=\"c-err\">", "</span>"],
        );
        return;
    }
    match token.kind() {
        Comment | LineDirective => out.colored(token.text(), "c-cmt"),
        ElementclassKw | RequireKw | ProvideKw | DefineKw => out.colored(token.text(), "c-kw"),
        Variable => out.colored(token.text(), "k-var"),
        Unknown => out.colored(token.text(), "c-err"),
        Ident => ident(out, token, names, links),
        LeftBrace => match names.unnamed.get(&start(token)) {
            Some(id) => {
                linked(out, token.text(), &format!("id=\"{}\"", attribute(id)), links.became(start(token)))
            }
            None => out.bare(token.text()),
        },
        _ => out.bare(token.text()),
    }
}

/// Text as a link if there is something to link to.
fn linked(out: &mut Lines<'_>, text: &str, attributes: &str, to: Option<(String, String)>) {
    let (tag, end) = match to {
        Some((href, title)) => (
            format!("<a {attributes} href=\"{}\" title=\"{}\">", attribute(&href), attribute(&title)),
            "</a>",
        ),
        None => (format!("<span {attributes}>"), "</span>"),
    };
    out.put(text, [&tag, &tag, end]);
}

fn ident(out: &mut Lines<'_>, token: &SyntaxToken, names: &Names, links: &dyn Links) {
    let (text, at) = (token.text(), start(token));
    let id = names.unnamed.get(&at).map_or(String::new(), |id| format!(" id=\"{}\"", attribute(id)));
    match names.at.get(&at) {
        Some(Name::Element(d)) => {
            let attributes = format!("class=\"c-ed\" id=\"{}\"", attribute(&d.id));
            let to = links.became(at).map(|(href, what)| (href, format!("{}: {what}", d.text)));
            linked(out, text, &attributes, to);
        }
        Some(Name::Class { id }) => {
            linked(out, text, &format!("class=\"c-cd\" id=\"{}\"", attribute(id)), links.expanded(text));
        }
        Some(Name::ElementUse(d)) => {
            linked(out, text, "class=\"k-use\"", Some((format!("#{}", d.id), d.text.clone())));
        }
        Some(Name::ClassUse { class, id: declared }) => {
            let to = (format!("#{declared}"), format!("compound class {class}"));
            linked(out, text, &format!("class=\"k-class\"{id}"), Some(to));
        }
        Some(Name::Outside { class }) => {
            linked(out, text, &format!("class=\"k-class\"{id}"), links.class(class));
        }
        Some(Name::Pseudo) => out.colored(text, "c-kw"),
        None => {
            let is_keyword = token.parent().is_some_and(|p| p.kind() == SyntaxKind::Formals);
            out.colored(text, if is_keyword { "k-key" } else { "k-num" });
        }
    }
}

/// The inside of a configuration string.
fn config(out: &mut Lines<'_>, token: &SyntaxToken, names: &Names) {
    let around = token.parent().and_then(|config| names.around.get(&u32::from(config.text_range().start())));
    let mut rest = token.text();
    let mut begins = true;
    // Pieces of one colour are written together.
    let mut waiting = ("", 0);
    while !rest.is_empty() {
        let (kind, length) = piece(rest, begins);
        let (text, after) = rest.split_at(length);
        let ends = after.trim_start().is_empty() || after.trim_start().starts_with(',');
        let is_name = (begins && ends) || after.starts_with('.');
        let element = around.and_then(|names| names.get(text)).filter(|_| is_name);
        if waiting.1 > 0 && (element.is_some() || waiting.0 != kind) {
            let end = token.text().len() - rest.len();
            out.colored(&token.text()[end - waiting.1..end], waiting.0);
            waiting.1 = 0;
        }
        match element {
            Some(d) => {
                linked(out, text, "class=\"k-use\"", Some((format!("#{}", d.id), one_line(&d.text))));
            }
            None => waiting = (kind, waiting.1 + length),
        }
        begins = text.trim_end().ends_with(',') || (begins && (text.trim().is_empty() || kind == "c-cmt"));
        rest = after;
    }
    let whole = token.text();
    out.colored(&whole[whole.len() - waiting.1..], waiting.0);
}

/// The colour of the piece that a configuration string begins with, and its length.
fn piece(text: &str, begins: bool) -> (&'static str, usize) {
    let until =
        |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    let first = text.chars().next().unwrap_or(' ');
    let word = text.find(|c: char| !(c.is_alphanumeric() || "_@/".contains(c))).unwrap_or(text.len());
    if text.starts_with("//") {
        ("c-cmt", text.find('\n').unwrap_or(text.len()))
    } else if text.starts_with("/*") {
        ("c-cmt", until("*/", 2))
    } else if first == '"' {
        ("k-str", end_of_string(text))
    } else if first == '\'' {
        ("k-str", until("'", 1))
    } else if text.starts_with("${") {
        ("k-var", until("}", 2))
    } else if first == '$' {
        let name =
            text[1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(text.len(), |n| n + 1);
        ("k-var", name)
    } else if first.is_ascii_digit() {
        ("k-num", text.find(|c: char| !(c.is_alphanumeric() || ".:/%-".contains(c))).unwrap_or(text.len()))
    } else if word > 0 {
        let is_keyword =
            text[..word].bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit());
        (if begins && is_keyword && word > 1 { "k-key" } else { "c-cfg" }, word)
    } else {
        ("c-cfg", first.len_utf8())
    }
}

fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
