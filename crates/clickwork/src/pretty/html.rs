//! Text in HTML.

/// Text between tags. Control characters, which HTML has no place for, are replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Text in a quoted attribute.
pub fn attribute(text: &str) -> String {
    escape(text).replace('"', "&quot;")
}

/// A link.
pub fn link(href: &str, text: &str) -> String {
    format!("<a href=\"{}\">{}</a>", attribute(href), escape(text))
}
