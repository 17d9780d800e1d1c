//! The tags of templates: `<~name attribute="value" flag>`.

/// A tag with its attributes; names are in lower case, the value of a flag is its name.
pub struct Tag {
    pub name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// The value of an attribute.
    pub fn get(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == attribute).map(|(_, value)| value.as_str())
    }
}

/// The text before the first tag, the tag, and the text behind it. What only begins like a tag is text.
pub fn next_tag(text: &str) -> Option<(&str, Tag, &str)> {
    let mut starts = text.match_indices("<~");
    starts.find_map(|(at, start)| {
        let (tag, after) = tag(&text[at + start.len()..])?;
        Some((&text[..at], tag, after))
    })
}

/// A tag without its beginning, and the text behind it.
fn tag(text: &str) -> Option<(Tag, &str)> {
    let (name, mut rest) = word(text);
    let mut tag = Tag { name: name.to_lowercase(), attributes: Vec::new() };
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/' || c == '-');
        if let Some(after) = rest.strip_prefix('>') {
            return Some((tag, after));
        }
        let (name, after) = word(rest);
        if name.is_empty() {
            return None;
        }
        let (value, after) = value(after).unwrap_or((name, after));
        tag.attributes.push((name.to_lowercase(), value.to_string()));
        rest = after;
    }
}

fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.split_at(end)
}

/// The value behind a name.
fn value(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix('=')?.trim_start();
    match text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => text[1..].split_once(quote),
        None => Some(text.split_at(text.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(text.len()))),
    }
}
