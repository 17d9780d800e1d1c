//! Fields by position: `ip[9]`, `tcp[4:4]`, `transp[0,1]`.

use super::Report;
use super::lexer::{Word, integer};
use super::primitive::Field;

/// The last byte position that an offset can reach.
const LAST_BYTE: i64 = 0xfffb;

/// Reads `POS]`, `POS:LEN]` or `FIRST,LAST]` at `at`, behind the opening bracket.
pub(super) fn brackets(
    words: &[Word<'_>],
    at: &mut usize,
    protocol: Option<u32>,
    report: &mut Report<'_>,
) -> Option<Field> {
    let open = words[*at - 1];
    let Some(length) = words[*at..].iter().position(|word| word.text == "]") else {
        report.error(&open, "missing ']'", "close this bracket");
        *at = words.len();
        return None;
    };
    let inside: String = words[*at..*at + length].iter().map(|word| word.text).collect();
    *at += length + 1;
    let close = words[*at - 1];
    let Some((position, length)) = span(&inside) else {
        let message = "syntax error after '[', expected '[POS]' or '[POS:LEN]'";
        report.error_over(&open, &close, message, "for example ip[9] or tcp[4:4], in bytes");
        return None;
    };
    match field(position, length, protocol) {
        Ok(field) => Some(field),
        Err((message, hint)) => {
            report.error_over(&open, &close, message, hint);
            None
        }
    }
}

/// Position and length in bytes.
fn span(text: &str) -> Option<(i64, i64)> {
    if let Some((position, length)) = text.split_once(':') {
        return Some((integer(position)?, integer(length)?));
    }
    if let Some((first, last)) = text.split_once(',') {
        let first = integer(first)?;
        return Some((first, integer(last)? - first + 1));
    }
    Some((integer(text)?, 1))
}

fn field(position: i64, length: i64, protocol: Option<u32>) -> Result<Field, (String, &'static str)> {
    if !(1..=4).contains(&length) {
        let message = "LEN in '[POS:LEN]' out of range, should be between 1 and 4".to_owned();
        return Err((message, "compare longer fields in parts"));
    }
    if !(0..=LAST_BYTE).contains(&position) {
        return Err((
            format!("POS in '[POS:LEN]' out of range, should be between 0 and {LAST_BYTE}"),
            "count from the start of the header",
        ));
    }
    if position / 4 != (position + length - 1) / 4 {
        let message = format!("field [{position}:{length}] does not fit in a single word");
        return Err((message, "a field must not cross a multiple of 4: compare it in two parts"));
    }
    Ok(Field { protocol, bit: position as u32 * 8, bits: length as u32 * 8 })
}
