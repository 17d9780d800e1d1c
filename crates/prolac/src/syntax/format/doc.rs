//! Text with places where lines may be broken, and its printer.
//!
//! A group is printed on one line if it fits; otherwise all of its own line breaks are taken, and the groups in it are
//! tried anew. This is the well-known algorithm of Oppen and Wadler.

/// The longest line, where that is possible.
const WIDTH: usize = 100;

/// Spaces for each level of indentation.
const INDENT: usize = 2;

/// A piece of text, or a way to put pieces together. `forced` says that a line break is certain.
pub(super) enum Doc {
    Text(String),
    /// A space, unless a line begins or ends here.
    Space,
    /// A space or a line break.
    Line,
    /// Nothing or a line break.
    Soft,
    /// A line break.
    Hard,
    /// A line of its own that is not indented.
    Margin(String),
    Indent {
        forced: bool,
        docs: Vec<Doc>,
    },
    Group {
        forced: bool,
        docs: Vec<Doc>,
    },
}

impl Doc {
    pub(super) fn indent(docs: Vec<Doc>) -> Doc {
        Doc::Indent { forced: docs.iter().any(Doc::forced), docs }
    }

    pub(super) fn group(docs: Vec<Doc>) -> Doc {
        Doc::Group { forced: docs.iter().any(Doc::forced), docs }
    }

    fn forced(&self) -> bool {
        match self {
            Doc::Text(text) => text.contains('\n'),
            Doc::Hard | Doc::Margin(_) => true,
            Doc::Space | Doc::Line | Doc::Soft => false,
            Doc::Indent { forced, .. } | Doc::Group { forced, .. } => *forced,
        }
    }
}

/// A piece still to be printed: how far it is indented, and whether its own line breaks are not taken.
#[derive(Clone, Copy)]
struct Item<'a> {
    doc: &'a Doc,
    indent: usize,
    flat: bool,
}

pub(super) struct Printer {
    pub(super) out: String,
    column: usize,
    /// The indentation to print before the next text; `None` inside a line.
    margin: Option<usize>,
    /// Whether a space comes before the next text of the line.
    space: bool,
}

impl Printer {
    pub(super) fn new() -> Self {
        Printer { out: String::new(), column: 0, margin: Some(0), space: false }
    }

    /// Prints pieces from a new line on, `level` levels deep.
    pub(super) fn print(&mut self, docs: &[Doc], level: usize) {
        let indent = level * INDENT;
        self.newline(indent);
        let mut rest: Vec<Item<'_>> =
            docs.iter().rev().map(|doc| Item { doc, indent, flat: false }).collect();
        while let Some(item) = rest.pop() {
            self.item(item, &mut rest);
        }
    }

    fn item<'a>(&mut self, Item { doc, indent, flat }: Item<'a>, rest: &mut Vec<Item<'a>>) {
        let mut push = |docs: &'a [Doc], indent, flat| {
            rest.extend(docs.iter().rev().map(|doc| Item { doc, indent, flat }));
        };
        match doc {
            Doc::Text(text) => self.text(text),
            Doc::Space => self.space = true,
            Doc::Line if flat => self.space = true,
            Doc::Soft if flat => {}
            Doc::Line | Doc::Soft | Doc::Hard => self.newline(indent),
            Doc::Margin(text) => self.margin(text, indent),
            Doc::Indent { docs, .. } => push(docs, indent + INDENT, flat),
            Doc::Group { forced, docs } => {
                let whole = !*forced && (flat || self.fits(docs, rest));
                rest.extend(docs.iter().rev().map(|doc| Item { doc, indent, flat: whole }));
            }
        }
    }

    /// Whether `docs` on one line, and what follows up to the next possible break, fit in this line.
    fn fits(&self, docs: &[Doc], rest: &[Item<'_>]) -> bool {
        let mut left = WIDTH.saturating_sub(self.margin.unwrap_or(self.column + usize::from(self.space)));
        let mut ahead: Vec<(&Doc, bool)> = docs.iter().rev().map(|doc| (doc, true)).collect();
        let mut following = rest.iter().rev();
        loop {
            let (doc, flat) = match ahead.pop() {
                Some(next) => next,
                None => match following.next() {
                    Some(item) => (item.doc, item.flat),
                    None => return true,
                },
            };
            let width = match doc {
                Doc::Text(text) => text.split('\n').next().unwrap_or("").chars().count(),
                Doc::Space => 1,
                Doc::Line if flat => 1,
                Doc::Soft if flat => 0,
                Doc::Line | Doc::Soft | Doc::Hard | Doc::Margin(_) => return true,
                Doc::Indent { docs, .. } | Doc::Group { docs, .. } => {
                    ahead.extend(docs.iter().rev().map(|d| (d, flat)));
                    0
                }
            };
            if width > left {
                return false;
            }
            left -= width;
            if matches!(doc, Doc::Text(text) if text.contains('\n')) {
                return true;
            }
        }
    }

    /// Ends the line, unless nothing stands in it, and indents the next text.
    pub(super) fn newline(&mut self, indent: usize) {
        if self.margin.is_none() {
            self.out.push('\n');
        }
        (self.margin, self.space, self.column) = (Some(indent), false, 0);
    }

    /// Adds an empty line.
    pub(super) fn blank(&mut self) {
        self.newline(0);
        self.out.push('\n');
    }

    pub(super) fn margin(&mut self, text: &str, indent: usize) {
        self.newline(0);
        self.text(text);
        self.newline(indent);
    }

    pub(super) fn space(&mut self) {
        self.space = true;
    }

    pub(super) fn text(&mut self, text: &str) {
        match self.margin.take() {
            Some(indent) => {
                self.out.push_str(&" ".repeat(indent));
                self.column = indent;
            }
            None if self.space => {
                self.out.push(' ');
                self.column += 1;
            }
            None => {}
        }
        self.space = false;
        self.out.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + text.chars().count(),
        };
    }
}
