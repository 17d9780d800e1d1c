//! Links as users name them: `a.eth0 -> b.eth1`, or with `=` as in Click.

use clickwork_lang::config::split_args;
use clickwork_source::{Diagnostic, Diagnostics, Span};

use super::{Component, End};

/// A link as the user named it: from an element or device of a router to one of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    from: (String, String),
    to: (String, String),
}

impl LinkSpec {
    /// Reads `ROUTER.ELEMENT -> ROUTER.ELEMENT`, also with `=` for the arrow. Devices may be named instead of elements.
    ///
    /// # Errors
    /// If that is not the form.
    pub fn parse(text: &str) -> Result<LinkSpec, String> {
        let end = |text: &str| {
            let (router, element) = text.split_once('.')?;
            let [router, element] = [router.trim(), element.trim()];
            let is_word = |t: &str| !t.is_empty() && !t.contains(char::is_whitespace);
            (is_word(router) && is_word(element)).then(|| (router.to_string(), element.to_string()))
        };
        let halves = text.split_once("->").or_else(|| text.split_once('='));
        let ends = halves.and_then(|(from, to)| Some(LinkSpec { from: end(from)?, to: end(to)? }));
        ends.ok_or_else(|| format!("bad link definition '{text}'"))
    }
}

/// Finds both ends of a link, and reports what is wrong with them.
pub(super) fn find(
    spec: &LinkSpec,
    components: &[Component],
    messages: &mut Diagnostics,
) -> Option<(End, End)> {
    let router = |(name, _): &(String, String)| components.iter().position(|c| c.name == *name);
    let (from, to) = (router(&spec.from), router(&spec.to));
    for ((name, _), _) in [(&spec.from, from), (&spec.to, to)].iter().filter(|(_, found)| found.is_none()) {
        let known = components.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        let error = Diagnostic::error(Span::NONE, format!("no router named '{name}'"));
        messages.push(error.hint(format!("the routers are {known}")));
    }
    let (from, to) = (from?, to?);
    let sender = element(&components[from], &spec.from.1, &["ToDevice"], messages);
    let receiver = element(&components[to], &spec.to.1, &["FromDevice", "PollDevice"], messages);
    Some(((from, sender?), (to, receiver?)))
}

/// The element of a component that has a name, or a device of one of the classes.
fn element(
    component: &Component,
    name: &str,
    classes: &[&str],
    messages: &mut Diagnostics,
) -> Option<String> {
    let elements = &component.graph.elements;
    let mut error = |message: String| messages.push(Diagnostic::error(Span::NONE, message));
    let router = &component.name;
    if let Some(e) = elements.iter().find(|e| e.name == name) {
        if !classes.contains(&e.class.as_str()) {
            let expected = classes.join(" or ");
            let message = format!(
                "router '{router}' element '{name}' has unexpected class\n  expected {expected}, got {}",
                e.class
            );
            messages.push(Diagnostic::warning(Span::NONE, message));
        }
        return Some(e.name.clone());
    }
    let mut devices = elements
        .iter()
        .filter(|e| classes.contains(&e.class.as_str()) && device(&e.config).as_deref() == Some(name));
    match (devices.next(), devices.next()) {
        (Some(device), None) => return Some(device.name.clone()),
        (None, _) => error(format!("router '{router}' has no element or device named '{name}'")),
        (Some(_), Some(_)) => {
            let either: Vec<_> = classes.iter().map(|class| format!("'{class}({name})'")).collect();
            error(format!("more than one {} element in router '{router}'", either.join(" or ")));
        }
    }
    None
}

/// The device that a configuration names first.
fn device(config: &str) -> Option<String> {
    let first = split_args(config).into_iter().next()?;
    Some(first.strip_prefix("DEVNAME ").map_or(first.clone(), |d| d.trim().to_string()))
}
