//! How wide text is, and how configurations are cut down to what a box can show.
//!
//! The widths are those of the widest of the common sans-serif fonts, so that text fits whatever font the viewer has.

/// Advance widths of the characters from space to `~`, in hundredths of the font size.
const REGULAR: [u8; 95] = [
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 51, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    34, 34, 84, 84, 84, 54, 101, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64,
    62, 74, 69, 99, 69, 62, 69, 40, 34, 40, 84, 51, 51, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98,
    64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
];
const BOLD: [u8; 95] = [
    35, 46, 53, 84, 70, 101, 88, 31, 46, 46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70,
    40, 40, 84, 84, 84, 59, 101, 78, 77, 74, 84, 69, 69, 83, 84, 38, 38, 78, 64, 100, 84, 86, 74, 86, 78, 73,
    69, 82, 78, 111, 78, 73, 73, 46, 37, 46, 84, 51, 51, 68, 72, 60, 72, 68, 44, 72, 72, 35, 35, 67, 35, 105,
    72, 69, 72, 72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72, 37, 72, 84,
];

/// Width of a text in a font of `size`, rounded up.
pub fn width(text: &str, size: i64, bold: bool) -> i64 {
    let table = if bold { &BOLD } else { &REGULAR };
    let one = |c: char| match c as usize {
        code @ 32..=126 => i64::from(table[code - 32]),
        _ => 105,
    };
    (text.chars().map(one).sum::<i64>() * size + 99) / 100
}

/// A configuration string in lines of about `columns` characters, at most `most` of them: broken after commas, or
/// else at spaces, where possible. What is left out is shown by an ellipsis.
pub fn abbreviate(config: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in pieces(config, columns) {
        let room = columns.saturating_sub(lines.last().map_or(0, |l| l.chars().count()));
        if word.trim_end().chars().count() <= room {
            lines.last_mut().expect("there is always a line").push_str(&word);
            continue;
        }
        match lines.last_mut() {
            Some(last) if last.is_empty() => *last = shorten(&word, columns),
            _ => lines.push(shorten(&word, columns)),
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{} …", last.trim_end());
        }
    }
    lines.iter().map(|l| l.trim_end().to_string()).filter(|l| !l.is_empty()).collect()
}

/// The pieces to break at, with the space behind them: arguments that fit a line, and words of those that do not.
fn pieces(config: &str, columns: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    for arg in config.split_inclusive(',') {
        let arg = arg.split_whitespace().collect::<Vec<_>>().join(" ");
        match arg.chars().count() <= columns {
            true => pieces.push(arg + " "),
            false => pieces.extend(arg.split(' ').map(|w| format!("{w} "))),
        }
    }
    pieces
}

fn shorten(word: &str, columns: usize) -> String {
    match word.trim_end().chars().count() > columns {
        true => format!("{}… ", word.chars().take(columns - 1).collect::<String>()),
        false => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_width_of_its_letters() {
        assert!(width("iiii", 10, false) < width("MMMM", 10, false));
        assert!(width("word", 10, false) < width("word", 10, true));
        assert_eq!(width("", 10, false), 0);
    }

    #[test]
    fn configurations_are_broken_at_spaces_and_cut_at_the_last_line() {
        let config = "12/0806 20/0001,\n12/0806 20/0002, 12/0800, -";
        assert_eq!(abbreviate(config, 18, 3), ["12/0806 20/0001,", "12/0806 20/0002,", "12/0800, -"]);
        assert_eq!(abbreviate(config, 18, 2), ["12/0806 20/0001,", "12/0806 20/0002, …"]);
        assert_eq!(abbreviate("a b c, long words here", 9, 3), ["a b c,", "long", "words …"]);
        assert_eq!(abbreviate("abcdefghij", 5, 2), ["abcd…"]);
        assert!(abbreviate("  ", 5, 2).is_empty());
    }
}
