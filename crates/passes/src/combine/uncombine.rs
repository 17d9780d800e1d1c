//! Taking a router out of a combination.

use std::collections::BTreeSet;

use clickwork_lang::Port;
use clickwork_lang::archive::Archive;
use clickwork_lang::config::{split_args, split_words};
use clickwork_source::{Diagnostic, Diagnostics, Span};

use super::link::Words;
use super::{COMPONENTS, LINK, set_components};
use crate::{ElementId, Network};

/// The names of the routers in a combination, if there is a list of them.
pub fn components(files: &Archive) -> Option<Vec<String>> {
    let text = clickwork_source::text::decode(&*files.get(COMPONENTS)?.data);
    Some(text.split_whitespace().map(str::to_string).collect())
}

/// Leaves of a combination the router `component`, which may be one of a combination in it (`c/a`). What links stood for gets
/// `place`.
///
/// # Errors
/// If there is no such router, or a link does not say what it stands for.
pub fn uncombine(
    network: &mut Network,
    files: &mut Archive,
    component: &str,
    place: Span,
) -> Result<(), Diagnostics> {
    let mut rest = component;
    while !rest.is_empty() {
        let names = components(files).unwrap_or_default();
        let ends = rest.match_indices('/').map(|(at, _)| at).chain([rest.len()]);
        let Some(end) = ends.into_iter().find(|&end| names.iter().any(|n| *n == rest[..end])) else {
            let error = Diagnostic::error(Span::NONE, format!("no '{component}' component"));
            return Err(error.hint(format!("the components are {}", names.join(", "))).into());
        };
        let one = Extraction { network, component: &rest[..end], names: &names, place };
        one.run()?;
        let prefix = format!("{}/", &rest[..end]);
        set_components(files, names.iter().filter_map(|n| n.strip_prefix(&prefix)).map(str::to_string));
        rest = rest[end..].trim_start_matches('/');
    }
    Ok(())
}

/// Whether a word is the name of something in a component.
fn is_of(word: &str, component: &str) -> bool {
    word.strip_prefix(component).is_some_and(|rest| rest.starts_with('/'))
}

struct Extraction<'a> {
    network: &'a mut Network,
    component: &'a str,
    /// All components.
    names: &'a [String],
    place: Span,
}

impl Extraction<'_> {
    fn run(mut self) -> Result<(), Diagnostics> {
        let inner = self.unlink()?;
        self.keep(&inner);
        self.network.of_class("Idle").into_iter().for_each(|id| self.network.close_gaps(id));
        for id in self.ids() {
            self.rename(id);
        }
        Ok(())
    }

    fn ids(&self) -> Vec<ElementId> {
        self.network.elements().map(|(id, _)| id).collect()
    }

    /// Whether a name begins with that of the component.
    fn inside<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(self.component)?.strip_prefix('/')
    }

    /// Replaces the links of this component by the elements that they stand for. Gives the links between its parts.
    fn unlink(&mut self) -> Result<Vec<ElementId>, Diagnostics> {
        let mut inner = Vec::new();
        let mut errors = Diagnostics::new();
        // All are read before the first is replaced: a link may lead straight to another.
        let links = self.network.of_class(LINK).into_iter();
        let links: Vec<_> =
            links.map(|link| (link, self.network.input_count(link), self.words(link))).collect();
        for (link, inputs, words) in links {
            match words {
                Err(e) => errors.push(e),
                Ok(words) if words.0.iter().any(|s| s.component == self.component) => {
                    errors.extend(self.replace(link, inputs, &words));
                }
                Ok(words) if words.0.iter().any(|s| self.inside(&s.component).is_some()) => inner.push(link),
                Ok(_) => {}
            }
        }
        if errors.is_empty() { Ok(inner) } else { Err(errors) }
    }

    /// What a link stands for. It must have as many ports as it says.
    fn words(&self, link: ElementId) -> Result<Words, Diagnostic> {
        let (inputs, outputs) = (self.network.input_count(link), self.network.output_count(link));
        let element = self.network.element(link);
        let words = element.and_then(|e| Words::parse(&e.config));
        words.filter(|w| w.0.len() == inputs + outputs && inputs > 0 && outputs > 0).ok_or_else(|| {
            let name = element.map_or("", |e| e.name.as_str());
            let span = element.map_or(Span::NONE, |e| e.span);
            Diagnostic::error(span, format!("RouterLink '{name}' has strange configuration")).hint(format!(
                "it has {inputs} inputs and {outputs} outputs, and two arguments must describe each"
            ))
        })
    }

    /// Replaces a link, which had so many inputs, by the elements of this component that it stands for.
    fn replace(&mut self, link: ElementId, inputs: usize, words: &Words) -> Diagnostics {
        let mut errors = Diagnostics::new();
        for (n, stand) in words.0.iter().enumerate().filter(|(_, s)| s.component == self.component) {
            let name = format!("{}/{}", stand.component, stand.element);
            if let Some(there) = self.network.find(&name).and_then(|id| self.network.element(id)) {
                let link = self.network.element(link).map_or("", |e| e.name.as_str());
                let message = format!("RouterLink '{link}' element '{name}' already exists");
                errors.push(Diagnostic::error(there.span, message));
                continue;
            }
            let id = self.network.add_new(&name, &stand.class, &stand.config, self.place);
            let end = Port { element: id, port: 0 };
            let port = |port| Port { element: link, port };
            match n.checked_sub(inputs) {
                None => self.network.redirect_inputs(port(n), end),
                Some(output) => self.network.redirect_outputs(port(output), end),
            }
        }
        self.network.remove(link);
        errors
    }

    /// Removes all but the elements of the component, the links in it, and what tools connected to them.
    fn keep(&mut self, inner: &[ElementId]) {
        let own = self.network.elements().filter(|(_, e)| self.inside(&e.name).is_some()).map(|(id, _)| id);
        let mut kept: BTreeSet<ElementId> = own.chain(inner.iter().copied()).collect();
        let mut queue: Vec<ElementId> = kept.iter().copied().collect();
        while let Some(id) = queue.pop() {
            let around = self.network.outputs(id).into_iter().chain(self.network.inputs(id));
            for next in around.flat_map(|c| [c.from.element, c.to.element]) {
                if !self.is_foreign(next) && kept.insert(next) {
                    queue.push(next);
                }
            }
        }
        let mut others = self.ids();
        others.retain(|&id| !kept.contains(&id) && !self.keep_common(id));
        others.into_iter().for_each(|id| drop(self.network.remove(id)));
    }

    /// Whether an element belongs to another component, though a tool has connected it to something in this one.
    fn is_foreign(&self, id: ElementId) -> bool {
        let name = self.network.element(id).map_or("", |e| e.name.as_str());
        self.inside(name).is_none() && self.names.iter().any(|n| is_of(name, n))
    }

    /// Whether an element belongs to all components: information that a tool added, such as an AlignmentInfo. What it says
    /// about the elements of others is removed.
    fn keep_common(&mut self, id: ElementId) -> bool {
        let is_apart = self.network.inputs(id).is_empty() && self.network.outputs(id).is_empty();
        let (component, names) = (self.component, self.names);
        let Some(element) = self.network.element_mut(id).filter(|_| is_apart) else { return false };
        if names.iter().any(|name| is_of(&element.name, name)) {
            return false;
        }
        let args = split_args(&element.config);
        let is_ours = |arg: &String| {
            let word = split_words(arg).into_iter().next().unwrap_or_default();
            is_of(&word, component) || !names.iter().any(|name| is_of(&word, name))
        };
        let prefix = format!("{component}/");
        let ours: Vec<&str> =
            args.iter().filter(|a| is_ours(a)).map(|a| a.strip_prefix(&prefix).unwrap_or(a)).collect();
        element.config = ours.join(", ");
        args.is_empty() || !ours.is_empty()
    }

    /// Takes the name of the component from an element, and from what it says if it is a link.
    fn rename(&mut self, id: ElementId) {
        let Some(element) = self.network.element(id) else { return };
        let link = Words::parse(&element.config).filter(|_| element.class == LINK);
        let plain =
            self.inside(&element.name).filter(|name| self.network.find(name).is_none()).map(str::to_string);
        if let Some(name) = plain {
            self.network.rename(id, &name);
        }
        let Some(mut words) = link else { return };
        for stand in &mut words.0 {
            if let Some(name) = self.inside(&stand.component).map(str::to_string) {
                stand.component = name;
            }
        }
        if let Some(element) = self.network.element_mut(id) {
            element.config = words.to_config();
        }
    }
}
