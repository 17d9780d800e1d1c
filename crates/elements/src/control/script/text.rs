//! Handlers that compute with truth values, words and files.

use super::words::{parse, shift_word, unquote};
use crate::capture::error::system_message;
use clickwork_router::args::{Filename, FromArg, HandlerRef, Names, unparse_bool};
use clickwork_router::{ElementId, Router, Value};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

type Reply = Result<Value, String>;

fn truth(word: &str) -> Result<bool, String> {
    parse(word).ok_or_else(|| "syntax error".to_string())
}

/// The opposite of a truth value.
pub fn not(text: &str) -> Reply {
    Ok(unparse_bool(!truth(text.trim())?).into())
}

/// Joins truth values: whether none differs from `neutral`, as far as need be looked at. `negated` gives the opposite of
/// the conjunction (`neutral` true) or disjunction (false).
pub fn all(mut text: &str, neutral: bool, negated: bool) -> Reply {
    let mut joined = neutral;
    while joined == neutral && !text.is_empty() {
        let (word, rest) = shift_word(text);
        joined = truth(word)?;
        text = rest;
    }
    Ok(unparse_bool(joined != negated).into())
}

/// Click's `nand` joins its values, beginning with true, by "or", and so is never true. Scripts that were written for
/// Click may have been tried out with that; `$(not $(and ...))` says what is meant.
pub fn nand(mut text: &str) -> Reply {
    while !text.is_empty() {
        let (word, rest) = shift_word(text);
        truth(word)?;
        text = rest;
    }
    Ok(unparse_bool(false).into())
}

/// The second or the third word, as the first one says.
pub fn choose(text: &str) -> Reply {
    let (condition, rest) = shift_word(text);
    let (yes, rest) = shift_word(rest);
    Ok(if truth(condition)? { yes } else { shift_word(rest).0 }.into())
}

/// Whether the first word is one of the others.
pub fn is_in(text: &str) -> Reply {
    let (word, mut rest) = shift_word(text);
    let mut found = false;
    let word = unquote(word);
    while !found && !word.is_empty() && !rest.is_empty() {
        let (other, tail) = shift_word(rest);
        found = unquote(other) == word;
        rest = tail;
    }
    Ok(unparse_bool(found).into())
}

/// Whether all the handlers named can be read, or written.
pub fn accessible(router: &Router, me: ElementId, mut text: &str, write: bool) -> Reply {
    let mut all = true;
    while all && !text.is_empty() {
        let (name, rest) = shift_word(text);
        let target = HandlerRef::from_arg(name, &Names::default()).ok();
        let target = target.and_then(|name| router.resolve_ref(&name, me).ok());
        let access = target.and_then(|target| router.access(&target));
        all = access.is_some_and(|a| if write { a.write } else { a.read });
        text = rest;
    }
    Ok(unparse_bool(all).into())
}

/// The bytes of a file.
pub fn file(text: &str) -> Reply {
    let Filename(path) = parse(text.trim()).ok_or("bad FILE")?;
    let bytes = read_at_once(&path);
    bytes.map(Value).map_err(|e| format!("{}: {}", path.display(), system_message(&e)))
}

/// Reads a file; of a pipe what it holds now, which is not waited for.
fn read_at_once(path: &Path) -> io::Result<Vec<u8>> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    match file.read_to_end(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(bytes),
        read => read.map(|_| bytes),
    }
}
