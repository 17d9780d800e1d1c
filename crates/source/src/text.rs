//! Bytes as text and back: configurations, arguments and values of handlers are bytes that are mostly UTF-8.
//!
//! In memory they are `String`s, so that everything that reads them can take them as text. A byte that is not part of
//! valid UTF-8 becomes one private character, U+10F780 to U+10F7FF for the bytes 0x80 to 0xFF (the method of PEP 383
//! with other characters). Those characters themselves are taken apart into bytes when they come from outside, so that
//! every sequence of bytes has a text of its own, and [`encode`] gives exactly the bytes that [`decode`] was given.
//!
//! So: bytes that come in (files, sockets, command lines, packet data as text) are decoded; text that goes out, or whose bytes
//! matter, is encoded; what only people read is [`lossy`]. Encoding texts one by one or joined gives the same bytes.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The character that stands for byte 0; only those for 0x80 to 0xFF are used.
const BASE: u32 = 0x10_F700;
/// What the UTF-8 form of all those characters begins with.
const LEAD: [u8; 2] = [0xf4, 0x8f];
/// What some files begin with to say that they are UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of bytes.
///
/// ```
/// # use clickwork_source::text;
/// let name = text::decode(b"caf\xe9");
/// assert_eq!(name.chars().count(), 4);
/// assert_eq!(*text::encode(&name), *b"caf\xe9");
/// ```
pub fn decode(bytes: impl Into<Vec<u8>>) -> String {
    let text = match String::from_utf8(bytes.into()) {
        Ok(text) => text,
        Err(e) => return e.as_bytes().utf8_chunks().fold(String::new(), with_chunk),
    };
    if has_private(&text) { with_valid(String::new(), &text) } else { text }
}

/// As [`decode`], of a whole file: a byte order mark at its start is no part of the text.
pub fn decode_file(bytes: impl Into<Vec<u8>>) -> String {
    let mut bytes = bytes.into();
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    decode(bytes)
}

/// The bytes of a text.
pub fn encode(text: &str) -> Cow<'_, [u8]> {
    if !has_private(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// As [`encode`], of a text that is not needed any more.
pub fn into_bytes(text: String) -> Vec<u8> {
    match has_private(&text) {
        true => encode(&text).into_owned(),
        false => text.into_bytes(),
    }
}

/// For people: what is not UTF-8 is shown as U+FFFD.
pub fn lossy(text: &str) -> Cow<'_, str> {
    match has_private(text) {
        true => {
            text.chars().map(|c| if byte_of(c).is_some() { char::REPLACEMENT_CHARACTER } else { c }).collect()
        }
        false => Cow::Borrowed(text),
    }
}

/// The text of a file's name, or of a word of the command line.
pub fn from_os(name: impl AsRef<OsStr>) -> String {
    decode(name.as_ref().as_bytes())
}

/// The name of a file that a text means.
pub fn to_path(name: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(encode(name).into_owned()))
}

/// A file's name as messages show it.
pub fn shown(path: &Path) -> String {
    lossy(&from_os(path)).into_owned()
}

fn with_chunk(text: String, chunk: std::str::Utf8Chunk<'_>) -> String {
    let mut text = with_valid(text, chunk.valid());
    text.extend(chunk.invalid().iter().copied().map(char_of));
    text
}

/// Appends UTF-8 from outside.
fn with_valid(mut text: String, valid: &str) -> String {
    if !has_private(valid) {
        return text + valid;
    }
    for c in valid.chars() {
        match byte_of(c) {
            Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(char_of)),
            None => text.push(c),
        }
    }
    text
}

/// Whether a text may hold characters that stand for bytes.
fn has_private(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Very few texts hold the first byte, and looking for one byte is fast.
    bytes.contains(&LEAD[0]) && bytes.windows(2).any(|pair| pair == LEAD)
}

fn byte_of(c: char) -> Option<u8> {
    let offset = u32::from(c).checked_sub(BASE)?;
    (0x80..=0xff).contains(&offset).then_some(offset as u8)
}

/// The character for a byte from 0x80 on.
fn char_of(byte: u8) -> char {
    char::from_u32(BASE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_utf_8_stays_as_it_is() {
        for text in ["", "plain", "é\u{fffd}\0", "\u{10ffff}\u{10f77f}\u{10f800}"] {
            assert_eq!(decode(text), text);
            assert_eq!(*encode(text), *text.as_bytes());
            assert_eq!(lossy(text), text);
        }
    }

    #[test]
    fn other_bytes_are_one_character_each() {
        let text = decode(*b"a\xe9\xffb");
        assert_eq!(text, "a\u{10f7e9}\u{10f7ff}b");
        assert_eq!(*encode(&text), *b"a\xe9\xffb");
        assert_eq!(lossy(&text), "a\u{fffd}\u{fffd}b");
        assert_eq!(decode(&b"\xc3\xa9\xc3"[..]), "é\u{10f7c3}");
    }

    #[test]
    fn the_private_characters_themselves_survive() {
        let outside = "x\u{10f7e9}y";
        let text = decode(outside);
        assert_eq!(text.chars().count(), 6);
        assert_eq!(*encode(&text), *outside.as_bytes());
    }

    #[test]
    fn a_byte_order_mark_is_skipped_once_and_only_at_the_start() {
        assert_eq!(decode_file(*b"\xef\xbb\xbfa\xef\xbb\xbf"), "a\u{feff}");
        assert_eq!(decode_file(*b"\xef\xbba"), "\u{10f7ef}\u{10f7bb}a");
    }

    #[test]
    fn names_of_files_are_bytes() {
        let path = Path::new(OsStr::from_bytes(b"/tmp/\xe9.dump"));
        assert_eq!(to_path(&from_os(path)), path);
        assert_eq!(shown(path), "/tmp/\u{fffd}.dump");
    }

    /// Bytes among which the difficult ones are frequent.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let difficult =
            proptest::sample::select(&[0xf4u8, 0x8f, 0x9e, 0x9f, 0x80, 0xbf, 0xc3, 0xa9, b'a'][..]);
        proptest::collection::vec(prop_oneof![any::<u8>(), difficult], 0..40)
    }

    proptest! {
        #[test]
        fn all_bytes_come_back(bytes in bytes()) {
            let text = decode(bytes.clone());
            prop_assert_eq!(&*encode(&text), &*bytes);
            prop_assert_eq!(into_bytes(text), bytes);
        }

        #[test]
        fn joined_texts_give_joined_bytes(a in bytes(), b in bytes()) {
            let joined = decode(a.clone()) + &decode(b.clone());
            prop_assert_eq!(into_bytes(joined), [a, b].concat());
        }
    }
}
