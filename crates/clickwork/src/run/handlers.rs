//! What `-h` and `-x` do when the run is over: read handlers, print their values, make an exit status of one.

use crate::output;
use crate::report::Report;
use clickwork_router::args::{self, FromArg, Names};
use clickwork_router::{ElementId, HandlerError, Router, Target};
use clickwork_source::text::encode;

/// Prints the values of handlers, in Click's form: with their names if there are several.
///
/// # Errors
/// If one of them could not be read; that has been reported.
pub fn print(router: &mut Router, names: &[String], report: &Report) -> Result<(), ()> {
    let mut result = Ok(());
    for name in names {
        if let Err(e) = print_matching(router, name, names.len() > 1, report) {
            report.error(&e);
            result = Err(());
        }
    }
    result
}

/// `name` is `handler`, `element.handler`, `pattern.handler` or `class.handler`, perhaps with a parameter behind it.
fn print_matching(router: &mut Router, name: &str, named: bool, report: &Report) -> Result<(), String> {
    let (name, parameter) = name.split_once(' ').unwrap_or((name, ""));
    let Some((element, handler)) = name.split_once('.') else {
        return print_one(router, None, name, parameter, named);
    };
    if let Some(id) = router.find(element) {
        return print_one(router, Some(id), handler, parameter, named);
    }
    let mut failed = false;
    for id in matching(router, element)? {
        if router.has_read_handler(id, handler)
            && let Err(e) = print_one(router, Some(id), handler, parameter, true)
        {
            report.error(&e);
            failed = true;
        }
    }
    if failed { Err(format!("'{name}' could not be read from every element")) } else { Ok(()) }
}

/// The elements whose names match a pattern, or that are of a class.
fn matching(router: &Router, pattern: &str) -> Result<Vec<ElementId>, String> {
    let is_pattern = pattern.contains(['?', '*', '[']);
    let found: Vec<ElementId> = router
        .ids()
        .filter(|&id| match is_pattern {
            true => glob(pattern.as_bytes(), router.info(id).name.as_bytes()),
            false => [router.info(id).class.name, &router.info(id).class_name].contains(&pattern),
        })
        .collect();
    match (found.is_empty(), is_pattern) {
        (false, _) => Ok(found),
        (true, true) => Err(format!("no element matching '{pattern}'")),
        (true, false) => Err(format!("no element '{pattern}'")),
    }
}

/// Whether `text` matches a shell pattern with `*`, `?` and `[a-z]`.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|skip| glob(rest, &text[skip..])),
        ([b'?', rest @ ..], [_, tail @ ..]) => glob(rest, tail),
        ([b'[', class @ ..], [c, tail @ ..]) => match class.iter().skip(1).position(|&b| b == b']') {
            Some(end) => in_class(&class[..=end], *c) && glob(&class[end + 2..], tail),
            None => *c == b'[' && glob(class, tail),
        },
        ([p, rest @ ..], [c, tail @ ..]) => p == c && glob(rest, tail),
        _ => false,
    }
}

/// Whether `c` is among the characters and ranges of `class`, or not among them if it begins with `^`.
fn in_class(class: &[u8], c: u8) -> bool {
    let (negated, class) = match class {
        [b'^' | b'!', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let ranges = class.windows(3).any(|w| w[1] == b'-' && (w[0]..=w[2]).contains(&c));
    (ranges || class.contains(&c)) != negated
}

fn print_one(
    router: &mut Router,
    element: Option<ElementId>,
    handler: &str,
    parameter: &str,
    named: bool,
) -> Result<(), String> {
    let target = Target { element, handler: handler.to_string() };
    let full = match element {
        Some(id) => format!("{}.{handler}", router.info(id).name),
        None => handler.to_string(),
    };
    let value = router.read_target(&target, parameter).map_err(|e| match e {
        HandlerError::WrongKind(_) => format!("'{full}' is a write handler"),
        HandlerError::NoHandler(_) => format!("no '{full}' handler"),
        other => format!("{full}: {other}"),
    })?;
    let mut text = value.0;
    let raw = element.is_some_and(|id| router.is_raw(id, handler));
    if !raw && text.last().is_some_and(|&b| b != b'\n') {
        text.push(b'\n');
    }
    if named {
        text = [&*encode(&format!("{full}:\n")), &text, b"\n"].concat();
    }
    output::print_bytes(&text);
    Ok(())
}

/// The exit status that a handler's value stands for: an integer, or a truth value (true is success).
pub fn exit_status(router: &mut Router, name: &str, report: &Report) -> u8 {
    let failed = |message: &str| {
        report.error(message);
        u8::MAX
    };
    let value = match router.read(name, "") {
        Ok(value) => value.text(),
        Err(e) => return failed(&e.to_string()),
    };
    let (value, names) = (args::unquote(value.trim()), Names::default());
    match (i32::from_arg(&value, &names), bool::from_arg(&value, &names)) {
        (Ok(n), _) => n as u8,
        (_, Ok(b)) => u8::from(!b),
        _ => failed("exit handler value should be integer"),
    }
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn patterns_match_as_in_the_shell() {
        let matches = |p: &str, t: &str| glob(p.as_bytes(), t.as_bytes());
        assert!(matches("*", "") && matches("a*/q?", "a/b/q1") && matches("[a-c]x", "bx"));
        assert!(matches("[^a]", "b") && matches("c[0-9]", "c7") && matches("[]]", "]"));
        assert!(
            !matches("a?", "a") && !matches("[a-c]", "d") && !matches("[^a]", "a") && !matches("a", "ab")
        );
        assert!(matches("a[b", "a[b"));
    }
}
