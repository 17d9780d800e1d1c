//! Templates: HTML with tags `<~name>` that stand for parts of the page.

use super::entries::Entries;
use super::page::Page;
use super::tag::{Tag, next_tag};
use std::cell::RefCell;

/// Fills in templates.
pub struct Template<'a> {
    pub page: &'a Page<'a>,
    /// Tags that the command line defines, in lower case.
    pub defines: Vec<(String, String)>,
}

impl Template<'_> {
    /// The template with its tags replaced. Tags that nobody knows vanish, as in Click.
    pub fn fill(&self, text: &str) -> String {
        let mut out = String::new();
        self.fill_in(text, &mut Vec::new(), &mut out);
        out
    }

    /// `inside` are the definitions that the text stands in.
    fn fill_in(&self, mut rest: &str, inside: &mut Vec<String>, out: &mut String) {
        while let Some((before, tag, after)) = next_tag(rest) {
            out.push_str(before);
            self.tag(&tag, inside, out);
            rest = after;
        }
        out.push_str(rest);
    }

    fn tag(&self, tag: &Tag, inside: &mut Vec<String>, out: &mut String) {
        let page = self.page;
        match tag.name.as_str() {
            "title" => out.push_str(&page.title()),
            "style" => out.push_str(super::STYLE),
            "messages" => out.push_str(&page.messages()),
            "config" => out.push_str(&page.config()),
            "drawing" => out.push_str(&page.drawing()),
            "tables" => out.push_str(&page.tables()),
            "elements" => out.push_str(&Entries { page, tag, inside: RefCell::default() }.write()),
            "manuals" => out.push_str(&page.manuals()),
            // A definition that mentions itself would never end.
            name if !inside.iter().any(|outer| outer == name) => {
                if let Some((_, text)) = self.defines.iter().find(|(known, _)| known == name) {
                    inside.push(name.to_string());
                    self.fill_in(text, inside, out);
                    inside.pop();
                }
            }
            _ => {}
        }
    }
}
