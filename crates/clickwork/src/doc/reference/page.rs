//! The text of the pages.

use super::Chapter;
use super::{Named, page_of};
use crate::config::{Input, Maker};
use crate::doc::manual::sections;
use crate::graph;
use crate::pretty::{Links, attribute, escape, manual_sections};
use clickwork_router::{Class, Log, Registry};

const SEARCH: &str = include_str!("search.js");

/// The style sheet of all pages.
pub fn style() -> String {
    format!("{}{}", crate::pretty::STYLE, include_str!("style.css"))
}

/// A whole page; `place` is where its links to others begin, `script` what runs at its end.
fn page(title: &str, body: &str, script: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n{body}{script}</body>\n</html>\n",
        escape(title)
    )
}

/// The index: all classes by family, with a field to search them.
pub fn index(chapters: &[Chapter<'_>]) -> String {
    let count: usize = chapters.iter().map(|c| c.classes.len()).sum();
    let contents: String = chapters
        .iter()
        .map(|c| format!("<li><a href=\"#{}\">{}</a></li>\n", c.name, escape(c.title)))
        .collect();
    let families: String = chapters.iter().map(index_section).collect();
    let body = format!(
        "<header>\n<h1>Element classes</h1>\n<p>The {count} element classes of Clickwork, made from the facts that the \
         program itself goes by. <code>clickwork doc NAME</code> prints the same.</p>\n\
         <p class=\"r-search\"><label for=\"search\">Search</label> <input id=\"search\" type=\"search\" \
         placeholder=\"name, argument, handler, word\" autocomplete=\"off\" autofocus> <span id=\"found\" \
         role=\"status\"></span></p>\n<nav aria-label=\"Families\">\n<ul>\n{contents}</ul>\n</nav>\n</header>\n\
         <main>\n{families}</main>\n"
    );
    page("Element classes of Clickwork", &body, &format!("<script>\n{SEARCH}</script>\n"))
}

fn index_section(chapter: &Chapter<'_>) -> String {
    let row = |(name, class): &Named<'_>| {
        format!(
            "<tr data-words=\"{}\"><th scope=\"row\"><a href=\"{}#{}\">{}</a></th><td>{}</td></tr>\n",
            attribute(&words(name, class)),
            page_of(chapter.name),
            attribute(name),
            escape(name),
            escape(&help(name, class))
        )
    };
    let rows: String = chapter.classes.iter().map(row).collect();
    format!(
        "<section id=\"{0}\">\n<h2><a href=\"{3}\">{1}</a></h2>\n<p>{2}</p>\n<table>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</section>\n",
        chapter.name,
        escape(chapter.title),
        escape(chapter.about),
        page_of(chapter.name)
    )
}

/// What the search looks at: names and help, of arguments and handlers too.
fn words(name: &str, class: &Class) -> String {
    let arguments = class.args.iter().flat_map(|a| [a.name].into_iter().chain(a.aliases.iter().copied()));
    let handlers = class.handlers.iter().map(|h| h.name);
    let all: Vec<&str> =
        [name, class.family, class.help].into_iter().chain(arguments).chain(handlers).collect();
    all.join(" ").to_lowercase()
}

fn help(name: &str, class: &Class) -> String {
    match name == class.name {
        true => class.help.to_string(),
        false => format!("the same as {}", class.name),
    }
}

/// The page of a family.
pub fn family(chapter: &Chapter<'_>, registry: &Registry) -> String {
    let links = Classes { registry };
    let contents: String = chapter
        .classes
        .iter()
        .map(|(name, _)| format!("<li><a href=\"#{0}\">{0}</a></li>\n", escape(name)))
        .collect();
    let manuals: String = chapter.classes.iter().map(|named| manual(named, chapter, &links)).collect();
    let title = escape(chapter.title);
    let body = format!(
        "<header>\n<p><a href=\"index.html\">All element classes</a></p>\n<h1>{title}</h1>\n<p>{}</p>\n\
         <nav aria-label=\"Classes\">\n<ul>\n{contents}</ul>\n</nav>\n</header>\n<main>\n{manuals}</main>\n",
        escape(chapter.about)
    );
    page(&format!("{} · element classes of Clickwork", chapter.title), &body, "")
}

fn manual((name, class): &Named<'_>, chapter: &Chapter<'_>, links: &Classes<'_>) -> String {
    if *name != class.name {
        let own = chapter.classes.iter().any(|(other, _)| *other == class.name);
        debug_assert!(own, "a class is of one family, whatever it is called");
        return format!(
            "<section class=\"k-manual\" id=\"{0}\">\n<h2>{0}</h2>\n<p>Another name of <a href=\"#{1}\">{1}</a>.</p>\n\
             </section>\n",
            escape(name),
            escape(class.name)
        );
    }
    format!(
        "<section class=\"k-manual\" id=\"{name}\">\n<h2>{name}</h2>\n{}<p class=\"k-used\">Codes: ports \
         <code>{}</code>, processing <code>{}</code>, flow <code>{}</code>.</p>\n{}</section>\n",
        manual_sections(&sections(name, class), links),
        escape(class.ports),
        escape(if class.processing.is_empty() { "by configuration" } else { class.processing }),
        escape(class.flow),
        drawing(class)
    )
}

/// The example drawn, if there is one and a router can be made of it.
fn drawing(class: &Class) -> String {
    let input = Input::expression(class.example).ok().filter(|_| !class.example.is_empty());
    let maker = Maker { log: Log::buffer(), ..Maker::new() };
    let router = input.and_then(|input| maker.check(&input).router);
    router.map_or_else(String::new, |router| {
        format!(
            "<div class=\"k-scroll k-drawing\" tabindex=\"0\" role=\"region\" aria-label=\"The example, drawn\">\n{}\
             </div>\n",
            graph::plain(&router, &format!("{} in use", class.name))
        )
    })
}

/// Links to the manuals of other classes.
struct Classes<'a> {
    registry: &'a Registry,
}

impl Links for Classes<'_> {
    fn class(&self, name: &str) -> Option<(String, String)> {
        let class = self.registry.get(name)?;
        Some((format!("{}#{name}", page_of(class.family)), format!("{name}: {}", class.help)))
    }

    fn became(&self, _: u32) -> Option<(String, String)> {
        None
    }

    fn expanded(&self, _: &str) -> Option<(String, String)> {
        None
    }
}
