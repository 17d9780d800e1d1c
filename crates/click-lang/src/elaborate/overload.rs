//! Which alternative of a compound class an element gets, and which argument which parameter.

use std::collections::VecDeque;
use std::rc::Rc;

use clickwork_source::{Diagnostic, Diagnostics};

use super::body::{Body, Item};
use super::class::{Class, CompoundClass};

/// What an element of a compound class turns out to be.
pub(super) enum Resolved {
    /// The body and the values of its parameters.
    Body(Rc<Body>, Vec<String>),
    /// A primitive class that `...` extends.
    Class(Class),
    Nothing,
}

/// Chooses by numbers of ports and by arguments. If no alternative fits in both, one that takes the arguments is good
/// enough when it is the only one: the ports will be complained about in detail.
pub(super) fn resolve(
    class: &Rc<CompoundClass>,
    item: &Item,
    args: &[String],
    diagnostics: &mut Diagnostics,
) -> Resolved {
    let mut candidates: Vec<Rc<Body>> = Vec::new();
    let mut closest = None;
    let mut classes = VecDeque::from([Rc::clone(class)]);
    while let Some(class) = classes.pop_front() {
        for body in &class.overloads {
            if let Some(values) = assign(&body.keywords(), args) {
                if body.ports == item.ports {
                    return Resolved::Body(Rc::clone(body), values);
                }
                closest = Some((Rc::clone(body), values));
            }
            candidates.push(Rc::clone(body));
        }
        match &class.extension {
            Some(Class::Compound(older)) => classes.push_back(Rc::clone(older)),
            Some(primitive) => return Resolved::Class(primitive.clone()),
            None => {}
        }
    }
    if candidates.len() != 1 || closest.is_none() {
        diagnostics.push(no_match(class, item, args.len(), &candidates));
    }
    closest.map_or(Resolved::Nothing, |(body, values)| Resolved::Body(body, values))
}

fn no_match(class: &CompoundClass, item: &Item, args: usize, candidates: &[Rc<Body>]) -> Diagnostic {
    let name = if class.name.is_empty() { "<anonymous>" } else { &class.name };
    let given = match args {
        0 => String::new(),
        _ => format!("{}, ", counted(args, "argument")),
    };
    let message = format!("no match for '{name}[{given}{}]'", port_counts(item.ports));
    let mut error = Diagnostic::error(item.span, message);
    if let Some(first) = candidates.first() {
        error = error.label(first.span, "candidates are:");
    }
    for body in candidates {
        error = error.label(body.span, format!("  {}", signature(body)));
    }
    error
}

/// `Name(<arg>, KEYWORD, ...)[1 input, 2 outputs]`.
fn signature(body: &Body) -> String {
    let parameter = |keyword| match keyword {
        "" => "<arg>",
        "__REST__" => "...",
        keyword => keyword,
    };
    let parameters: Vec<&str> = body.keywords().into_iter().map(parameter).collect();
    let parameters =
        if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
    format!("{}{parameters}[{}]", body.printable_name(), port_counts(body.ports))
}

fn port_counts([inputs, outputs]: [usize; 2]) -> String {
    format!("{}, {}", counted(inputs, "input"), counted(outputs, "output"))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Gives arguments to parameters, whose keywords are `""` for positional ones, a word, or, last, `__REST__` for all
/// arguments left over. All parameters need a value. `None` if arguments and parameters do not fit.
fn assign(keywords: &[&str], args: &[String]) -> Option<Vec<String>> {
    if keywords.last().is_none_or(|last| last.is_empty()) {
        return (keywords.len() == args.len()).then(|| args.to_vec());
    }
    let takes_rest = keywords.last() == Some(&"__REST__");
    let named = &keywords[..keywords.len() - usize::from(takes_rest)];
    let positional = named.iter().take_while(|k| k.is_empty()).count();
    if args.len() < positional {
        return None;
    }
    let mut values: Vec<Option<String>> = args[..positional].iter().cloned().map(Some).collect();
    values.resize(named.len(), None);
    let mut rest = Vec::new();
    for arg in &args[positional..] {
        let (keyword, value) = split_keyword(arg);
        match named.iter().position(|&k| !k.is_empty() && k == keyword) {
            Some(index) if values[index].is_none() => values[index] = Some(value.to_owned()),
            Some(_) => return None,
            None if takes_rest => rest.push(arg.as_str()),
            None => return None,
        }
    }
    let mut values: Vec<String> = values.into_iter().collect::<Option<_>>()?;
    values.extend(takes_rest.then(|| rest.join(", ")));
    Some(values)
}

/// `KEYWORD value`; the keyword is empty if the argument does not begin with a word.
fn split_keyword(arg: &str) -> (&str, &str) {
    let (word, value) = crate::config::split_word(arg);
    let is_word = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'?' | b':'));
    if is_word { (word, value) } else { ("", arg) }
}

#[cfg(test)]
mod tests {
    use super::assign;

    fn assigned(keywords: &[&str], args: &[&str]) -> Option<String> {
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        assign(keywords, &args).map(|values| values.join("|"))
    }

    #[test]
    fn positional_keyword_and_rest() {
        assert_eq!(assigned(&[], &[]).as_deref(), Some(""));
        assert_eq!(assigned(&[], &["1"]), None);
        assert_eq!(assigned(&["", ""], &["1", "2"]).as_deref(), Some("1|2"));
        assert_eq!(assigned(&["", "K"], &["1", "K 2"]).as_deref(), Some("1|2"));
        assert_eq!(assigned(&["", "K"], &["K 2", "1"]), None);
        assert_eq!(assigned(&["", "K"], &["1"]), None);
        assert_eq!(assigned(&["", "K"], &["1", "K 2", "K 3"]), None);
        assert_eq!(
            assigned(&["", "K", "__REST__"], &["1", "2", "K 3", "L 4"]).as_deref(),
            Some("1|3|2, L 4")
        );
        assert_eq!(assigned(&["__REST__"], &[]).as_deref(), Some(""));
        assert_eq!(assigned(&["K", ""], &["1", "2"]).as_deref(), Some("1|2"));
    }
}
