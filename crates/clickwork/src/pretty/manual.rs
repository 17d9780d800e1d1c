//! Manuals in HTML.

use super::html::escape;
use super::listing::{Links, listing};
use super::names::{Name, names};
use super::subject::tree;
use crate::doc::manual::Block;

/// The sections of a manual; the family is left out, it is in the page around it or of no interest.
pub fn manual_sections(sections: &[(&str, Vec<Block>)], links: &dyn Links) -> String {
    sections.iter().map(|s| section(s, links)).collect()
}

fn section((title, blocks): &(&str, Vec<Block>), links: &dyn Links) -> String {
    let body: String = blocks.iter().map(|b| block(b, links)).collect();
    match *title {
        "NAME" => body,
        "FAMILY" => String::new(),
        title => format!("<h4>{}{}</h4>\n{body}", &title[..1], title[1..].to_lowercase()),
    }
}

fn block(block: &Block, links: &dyn Links) -> String {
    match block {
        Block::Synopsis(text) => format!("<p><code>{}</code></p>\n", escape(text)),
        Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
        Block::Terms(items) => {
            let item = |(term, text): &(String, String)| {
                format!("<dt>{}</dt><dd>{}</dd>\n", escape(term), escape(text))
            };
            format!("<dl>\n{}</dl>\n", items.iter().map(item).collect::<String>())
        }
        Block::Code(text) => {
            let tree = tree("example", text);
            let mut names = names(&tree, "");
            // Links in an example would lead into the configuration.
            names.at.retain(|_, name| matches!(name, Name::Outside { .. } | Name::Pseudo));
            names.unnamed.clear();
            names.around.clear();
            format!("<pre class=\"k-example\">{}</pre>\n", listing(&tree, &names, &Example(links), None))
        }
    }
}

/// The links of an example: manuals only.
struct Example<'a>(&'a dyn Links);

impl Links for Example<'_> {
    fn class(&self, name: &str) -> Option<(String, String)> {
        self.0.class(name)
    }

    fn became(&self, _start: u32) -> Option<(String, String)> {
        None
    }
    fn expanded(&self, _class: &str) -> Option<(String, String)> {
        None
    }
}
