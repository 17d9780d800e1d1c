//! A manual on a terminal.

use super::manual::{Block, sections};
use clickwork_router::Class;

/// Columns of the terminal, within what is good to read.
pub fn width() -> usize {
    let columns =
        rustix::termios::tcgetwinsize(std::io::stdout()).map_or(80, |size| usize::from(size.ws_col));
    columns.clamp(60, 100)
}

/// How the manual is laid out.
pub struct Page {
    /// Columns.
    pub width: usize,
    /// Whether headings are bold.
    pub color: bool,
}

const INDENT: usize = 4;

impl Page {
    fn section(&self, title: &str, body: &str) -> String {
        match (body.is_empty(), self.color) {
            (true, _) => String::new(),
            (false, true) => format!("\x1b[1m{title}\x1b[0m\n{body}"),
            (false, false) => format!("{title}\n{body}"),
        }
    }

    /// Words filled into lines, the first indented by `first` columns, the others by `rest`.
    fn fill(&self, text: &str, first: &str, rest: usize) -> String {
        let mut out = first.to_string();
        let mut column = first.chars().count();
        let mut fresh = true;
        for word in text.split_whitespace() {
            let length = word.chars().count();
            if !fresh && column + 1 + length > self.width {
                out.push('\n');
                out.push_str(&" ".repeat(rest));
                column = rest;
            } else if !fresh {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length;
            fresh = false;
        }
        out.push('\n');
        out
    }

    fn paragraph(&self, text: &str) -> String {
        self.fill(text, &" ".repeat(INDENT), INDENT)
    }

    /// A list of terms with explanations; the terms stand in a column of their own.
    fn terms(&self, items: &[(String, String)]) -> String {
        let column = items.iter().map(|(term, _)| term.chars().count()).max().unwrap_or(0).min(24);
        let margin = INDENT + column + 2;
        let item = |(term, text): &(String, String)| {
            if term.chars().count() > column {
                format!("{:INDENT$}{term}\n{}", "", self.fill(text, &" ".repeat(margin), margin))
            } else {
                self.fill(text, &format!("{:INDENT$}{term:column$}  ", ""), margin)
            }
        };
        items.iter().map(item).collect()
    }
}

/// The manual of a class that is called `name`.
pub fn manual(name: &str, class: &Class, page: &Page) -> String {
    let margin = " ".repeat(INDENT);
    let block = |block: &Block| match block {
        Block::Synopsis(text) => page.fill(text, &margin, INDENT + name.len() + 1),
        Block::Text(text) => page.paragraph(text),
        Block::Terms(items) => page.terms(items),
        Block::Code(text) => text.lines().map(|line| format!("{margin}{line}\n")).collect(),
    };
    let section = |(title, blocks): &(&str, Vec<Block>)| {
        page.section(title, &blocks.iter().map(block).collect::<Vec<_>>().join("\n"))
    };
    let sections: Vec<String> = sections(name, class).iter().map(section).collect();
    format!("{}\n", sections.join("\n").trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_manual_within_the_width() {
        let page = Page { width: 80, color: false };
        for (name, class) in crate::classes::registry().iter() {
            let text = manual(name, class, &page);
            let before_example = text.split("EXAMPLE").next().unwrap();
            for line in before_example.lines().filter(|l| l.trim().contains(' ')) {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
            assert!(text.contains("PORTS"), "{name}");
        }
    }
}
