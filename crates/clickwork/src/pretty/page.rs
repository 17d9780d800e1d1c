//! The parts of a page.

use super::html::escape;
use super::listing::{Links, listing};
use super::names::names;
use super::subject::{EXPANSION, ROW, Subject};
use super::tables::{Tables, manual_id, manuals};
use clickwork_passes::Facts;
use clickwork_passes::kinds::Kinds;
use clickwork_router::Registry;
use clickwork_source::{FileId, Span};
use std::collections::{BTreeSet, HashMap};

/// Where element classes are described.
pub struct Documents<'a> {
    /// The classes whose manuals are on the page, if they are used.
    pub registry: &'a Registry,
    /// An address for the others, with `%s` for the class.
    pub outside: Option<&'a str>,
}

/// What the parts of a page are made from.
pub struct Page<'a> {
    pub subject: &'a Subject,
    pub documents: &'a Documents<'a>,
    pub facts: &'a Facts<'a>,
    pub kinds: &'a Kinds,
    /// What the libraries declare, each with a link and words for it.
    pub libraries: HashMap<String, (String, String)>,
    /// The classes used.
    pub used: BTreeSet<&'a str>,
}

impl Page<'_> {
    /// The name of the configuration.
    pub fn title(&self) -> String {
        escape(&self.subject.name)
    }

    /// What is wrong with the configuration.
    pub fn messages(&self) -> String {
        match self.subject.messages.is_empty() {
            true => String::new(),
            false => {
                format!("<h2 id=\"messages\">Messages</h2>\n<pre>{}</pre>\n", escape(&self.subject.messages))
            }
        }
    }

    /// The text of the configuration and of the libraries that it takes elements from.
    pub fn config(&self) -> String {
        let files = self.subject.files.iter().enumerate();
        files.map(|(n, &file)| self.text(n, file)).collect()
    }

    fn text(&self, n: usize, file: FileId) -> String {
        let (tree, prefix) = (self.subject.tree(file), prefix(n));
        let links = InFile { page: self, file };
        let text = listing(&tree, &names(&tree, &prefix), &links, Some(&prefix));
        let name = escape(self.subject.sources.name(file));
        let heading = if n == 0 { String::new() } else { format!("<h3>{name}</h3>\n") };
        format!(
            "{heading}<pre class=\"k-source\" aria-label=\"{}\">{text}</pre>\n",
            name.replace('"', "&quot;")
        )
    }

    /// The drawing.
    pub fn drawing(&self) -> String {
        match &self.subject.drawing {
            Some(svg) => format!(
                "<div class=\"k-scroll k-drawing\" tabindex=\"0\" role=\"region\" aria-label=\"Drawing\">\n{svg}</div>\n"
            ),
            None => {
                "<p>There is no drawing: the configuration has mistakes, or classes that are not known.</p>\n"
                    .to_string()
            }
        }
    }

    /// The elements in tables.
    pub fn tables(&self) -> String {
        self.with_tables(|tables| tables.elements())
    }

    /// The manuals of the classes used.
    pub fn manuals(&self) -> String {
        let registry = self.documents.registry;
        self.with_tables(|tables| manuals(&tables.classes(), registry, tables.links))
    }

    fn with_tables(&self, write: impl FnOnce(&Tables<'_>) -> String) -> String {
        let line = |span: Span| {
            let n = self.subject.files.iter().position(|&file| file == span.file)?;
            (!span.is_none()).then(|| format!("{}L{}", prefix(n), self.subject.sources.line_col(span).0))
        };
        let links = Outside { page: self };
        write(&Tables {
            subject: self.subject,
            facts: self.facts,
            kinds: self.kinds,
            links: &links,
            line: &line,
        })
    }

    /// Where a class is described: on the page if it is used.
    pub fn class(&self, name: &str) -> Option<(String, String)> {
        let help = self.documents.registry.get(name).map(|class| format!("{name}: {}", class.help));
        let is_used = self.used.contains(name);
        match (help, self.documents.outside) {
            (Some(help), _) if is_used => Some((format!("#{}", manual_id(name)), help)),
            (help, Some(url)) => {
                Some((url.replacen("%s", name, 1), help.unwrap_or_else(|| name.to_string())))
            }
            (None, None) if is_used => Some((format!("#{}", manual_id(name)), name.to_string())),
            (_, None) => None,
        }
    }
}

/// What the libraries of a configuration declare, each with a link and words for it.
pub fn libraries(subject: &Subject) -> HashMap<String, (String, String)> {
    let files = subject.files.iter().enumerate().skip(1);
    let declared = files.flat_map(|(n, &file)| names(&subject.tree(file), &prefix(n)).top);
    declared.map(|(name, (id, text))| (name, (format!("#{id}"), text))).collect()
}

/// What makes the ids of a file differ from those of others.
fn prefix(n: usize) -> String {
    if n == 0 { String::new() } else { format!("{n}.") }
}

/// The links of what stands in no file.
struct Outside<'a> {
    page: &'a Page<'a>,
}

impl Links for Outside<'_> {
    fn class(&self, name: &str) -> Option<(String, String)> {
        self.page.class(name)
    }

    fn became(&self, _start: u32) -> Option<(String, String)> {
        None
    }

    fn expanded(&self, _class: &str) -> Option<(String, String)> {
        None
    }
}

/// The links of a file's text.
struct InFile<'a> {
    page: &'a Page<'a>,
    file: FileId,
}

impl Links for InFile<'_> {
    fn class(&self, name: &str) -> Option<(String, String)> {
        self.page.libraries.get(name).cloned().or_else(|| self.page.class(name))
    }

    fn became(&self, start: u32) -> Option<(String, String)> {
        let subject = self.page.subject;
        let more = |count: usize, first: &str, what: &str| match count {
            1 => format!("{what} {first}"),
            n => format!("{what} {first} and {} more", n - 1),
        };
        if let Some(names) = subject.compounds.get(&(self.file, start)) {
            return Some((format!("#{EXPANSION}{}", names[0]), more(names.len(), &names[0], "expansion of")));
        }
        let ids = subject.written.get(&(self.file, start))?;
        let name = &subject.network.element(ids[0])?.name;
        Some((format!("#{ROW}{name}"), more(ids.len(), name, "element")))
    }
    fn expanded(&self, class: &str) -> Option<(String, String)> {
        let mut elements = self.page.subject.network.elements();
        let compound = elements.find_map(|(_, e)| e.compounds.iter().find(|c| c.class == class))?;
        Some((format!("#{EXPANSION}{}", compound.name), format!("expansion of {}", compound.name)))
    }
}
