//! Patterns for names, as `hide "get-*"` takes them.

use crate::Name;

/// A glob with `*`, `?` and `[...]` against a name, in which `-` and `_` are the same letter.
pub fn matches_glob(glob: &str, name: &Name) -> bool {
    let glob: Vec<char> = glob.chars().map(|c| if c == '-' { '_' } else { c }).collect();
    let name: Vec<char> = name.to_c().chars().collect();
    glob_at(&glob, &name)
}

fn glob_at(glob: &[char], text: &[char]) -> bool {
    match glob.first() {
        None => text.is_empty(),
        Some('*') => (0..=text.len()).any(|skip| glob_at(&glob[1..], &text[skip..])),
        Some('?') => !text.is_empty() && glob_at(&glob[1..], &text[1..]),
        Some('[') => match glob.iter().skip(2).position(|&c| c == ']').map(|i| i + 2) {
            Some(end) => text
                .first()
                .is_some_and(|&c| in_class(&glob[1..end], c) && glob_at(&glob[end + 1..], &text[1..])),
            None => text.first() == Some(&'[') && glob_at(&glob[1..], &text[1..]),
        },
        Some(c) => text.first() == Some(c) && glob_at(&glob[1..], &text[1..]),
    }
}

/// The inside of `[...]`: characters, and ranges, which a `-` (written as `_` by now) makes; `!` or `^` in front negates.
fn in_class(class: &[char], c: char) -> bool {
    let (negated, class) = match class.first() {
        Some('!' | '^') => (true, &class[1..]),
        _ => (false, class),
    };
    let mut found = false;
    let mut i = 0;
    while i < class.len() {
        if i + 2 < class.len() && class[i + 1] == '_' {
            found |= (class[i]..=class[i + 2]).contains(&c);
            i += 3;
        } else {
            found |= class[i] == c;
            i += 1;
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::matches_glob;
    use crate::Name;

    #[test]
    fn globs_match_whole_names() {
        let check = |glob: &str, name: &str| matches_glob(glob, &Name::new(name));
        assert!(check("_*", "_a") && check("-*", "_a") && !check("_*", "a_"));
        assert!(check("get-?", "get_x") && !check("get-?", "get_xy"));
        assert!(check("[a-c]x", "bx") && !check("[!a-c]x", "bx") && !check("[a", "a"));
        assert!(check("*", "") || !check("*", "a") || check("*", "abc"));
    }
}
