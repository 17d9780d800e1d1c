//! `#line 3 "file"` and `# 3 "file"`: places that a preprocessor copied text from.

use clickwork_source::{Diagnostic, Diagnostics, Sources};

use super::{SyntaxKind, SyntaxTree, span};
use crate::config;

/// Registers every directive of the tree; complains about those that are none.
pub(super) fn register(sources: &mut Sources, tree: &SyntaxTree, diagnostics: &mut Diagnostics) {
    let file = tree.file();
    let original = sources.name(file).to_owned();
    let mut current = original.clone();
    for token in tree.root().descendants_with_tokens().filter_map(|e| e.into_token()) {
        if token.kind() != SyntaxKind::LineDirective {
            continue;
        }
        let place = span(file, token.text_range());
        let Some((line, name)) = read(token.text()) else {
            let hint = "lines that start with '#' say where a text came from: '#line 3 \"file\"'; comments start with '//'";
            diagnostics.push(Diagnostic::error(place, "unknown preprocessor directive").hint(hint));
            continue;
        };
        match name {
            Some(name) if name.is_empty() => current.clone_from(&original),
            Some(name) => current = name,
            None => {}
        }
        let next_line = place.end + line_end(&sources.text(file)[place.end as usize..]);
        sources.line_mark(file, next_line, current.clone(), line);
    }
}

fn line_end(text: &str) -> u32 {
    if text.starts_with("\r\n") { 2 } else { u32::from(!text.is_empty()) }
}

/// The line number and the file name of a directive.
fn read(text: &str) -> Option<(u32, Option<String>)> {
    let blank = [' ', '\t'];
    let mut rest = text.strip_prefix('#')?.trim_start_matches(blank);
    if let Some(after) = rest.strip_prefix("line") {
        rest = after.strip_prefix(blank)?.trim_start_matches(blank);
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let line = rest[..digits].parse().ok()?;
    let quoted = rest[digits..].trim_start_matches(blank);
    let name = quoted.starts_with('"').then(|| file_name(quoted));
    Some((line, name))
}

fn file_name(quoted: &str) -> String {
    let end = super::lexer::protected(quoted.as_bytes());
    config::unquote_text(&quoted[..end])
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn both_forms_with_and_without_name() {
        assert_eq!(read("#line 7 \"other.y\""), Some((7, Some("other.y".into()))));
        assert_eq!(read("# 100 \"a\\\"b\" 2"), Some((100, Some("a\"b".into()))));
        assert_eq!(read("#12"), Some((12, None)));
        assert_eq!(read("# 28 \"\""), Some((28, Some(String::new()))));
        assert_eq!(read("#include <x>"), None);
        assert_eq!(read("#line x"), None);
        assert_eq!(read("#99999999999"), None);
    }
}
