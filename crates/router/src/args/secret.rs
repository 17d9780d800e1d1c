//! Keys: arguments that are not for everybody's eyes ([`ArgSpec::secret`]), and that can be kept in files.
//!
//! Wherever a key is wanted, `file:NAME` stands for the key in a file: in hexadecimal, with spaces and line ends as one
//! likes. The file must not be readable by others than its owner.

use super::matching::match_arguments;
use super::split::arguments;
use super::{ArgSpec, BadValue, FromArg, Names, unquote, unquote_bytes};
use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;

/// What is shown in place of a key.
pub const HIDDEN: &str = "•••";
/// What the name of a key's file begins with.
const FILE: &str = "file:";
/// The longest file of a key.
const LONGEST_FILE: u64 = 4096;

/// A key in hexadecimal: `0x` in front is allowed, as are Click's `\<...>`; or `file:NAME`. Messages do not repeat it.
pub struct HexKey(pub Vec<u8>);

impl FromArg for HexKey {
    fn from_arg(text: &str, _: &Names) -> Result<Self, BadValue> {
        if let Some(name) = file_name(text) {
            return read(&name).map(HexKey);
        } else if text.starts_with("\\<") {
            return Ok(HexKey(unquote_bytes(text)));
        } else if text == HIDDEN {
            return Err("the key was hidden from who read this configuration".into());
        }
        hex(text).map(HexKey).ok_or_else(|| "must be an even number of hexadecimal digits".into())
    }
}

/// A key as bytes in Click's notation, or `file:NAME`.
pub struct DataKey(pub Vec<u8>);

impl FromArg for DataKey {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        match file_name(text) {
            Some(name) => read(&name).map(DataKey),
            None => Vec::from_arg(text, names).map(DataKey),
        }
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    let byte = |pair: &[u8]| {
        let digit = |d: u8| char::from(d).to_digit(16);
        Some((digit(*pair.first()?)? * 16 + digit(*pair.get(1)?)?) as u8)
    };
    digits.chunks(2).map(byte).collect()
}

/// The name of the file that a key is in, if it is in one.
fn file_name(text: &str) -> Option<String> {
    unquote(text).strip_prefix(FILE).map(str::to_string)
}

fn read(name: &str) -> Result<Vec<u8>, BadValue> {
    let failure = |e: std::io::Error| {
        let text = e.to_string();
        let reason = text.split(" (os error").next().unwrap_or_default();
        BadValue::Because(format!("key file '{name}': {reason}"))
    };
    // To open a pipe would be to wait for its writer.
    if !fs::metadata(name).map_err(failure)?.is_file() {
        return Err(format!("key file '{name}' is not a file").into());
    }
    let file = File::open(name).map_err(failure)?;
    let facts = file.metadata().map_err(failure)?;
    if facts.permissions().mode() & 0o077 != 0 {
        return Err(format!("key file '{name}' is open to others than its owner: chmod 600 {name}").into());
    }
    let mut text = String::new();
    file.take(LONGEST_FILE).read_to_string(&mut text).map_err(failure)?;
    text.retain(|c| !c.is_ascii_whitespace());
    hex(&text)
        .filter(|key| !key.is_empty())
        .ok_or_else(|| format!("key file '{name}' must hold a key in hexadecimal digits").into())
}

/// Where the keys are in a configuration string, in order. Names of files are no keys.
fn places(specs: &[ArgSpec], config: &str) -> Vec<Range<usize>> {
    if specs.iter().all(|spec| spec.secret_from.is_none()) {
        return Vec::new();
    }
    let all = arguments(config);
    let mut places = Vec::new();
    // All that begin with the keyword of a key, even if only the last counts.
    for argument in &all {
        let word = argument.text.split_whitespace().next().unwrap_or_default();
        let is_word = |spec: &&ArgSpec| spec.name == word || spec.aliases.contains(&word);
        if specs.iter().filter(|spec| spec.secret_from == Some(0)).any(|spec| is_word(&spec)) {
            places.push(argument.range.start + word.len()..argument.range.end);
        }
    }
    let matched = match_arguments(specs, all);
    for (spec, given) in specs.iter().zip(matched.given) {
        if let (Some(word), Some(given)) = (spec.secret_from, given) {
            places.push(given.range.clone());
            places.extend(given.superseded);
            debug_assert_eq!(word, 0, "of one argument, all is a key");
        }
    }
    let rest = specs.iter().find_map(|spec| spec.secret_from.filter(|&word| word > 0));
    for argument in matched.rest.iter().filter(|_| rest.is_some()) {
        places.push(after_words(config, argument.range.clone(), rest.unwrap_or_default()));
    }
    places.iter_mut().for_each(|place| *place = trimmed(config, place.clone()));
    places.retain(|place| !place.is_empty() && file_name(&config[place.clone()]).is_none());
    places.sort_by_key(|place| (place.start, place.end));
    places.dedup_by(|next, place| next.start < place.end);
    places
}

fn trimmed(config: &str, place: Range<usize>) -> Range<usize> {
    let text = &config[place.clone()];
    let start = place.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

/// What stands behind the first words of a part of a text.
fn after_words(config: &str, place: Range<usize>, words: usize) -> Range<usize> {
    let mut place = trimmed(config, place);
    for _ in 0..words {
        let text = &config[place.clone()];
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        place = trimmed(config, place.start + end..place.end);
    }
    place
}

/// A configuration string with its keys hidden.
pub fn hide_keys(specs: &[ArgSpec], config: &str) -> String {
    let mut shown = config.to_string();
    for place in places(specs, config).into_iter().rev() {
        shown.replace_range(place, HIDDEN);
    }
    shown
}

/// The keys in a configuration string, as they are written.
pub fn keys_in<'a>(specs: &[ArgSpec], config: &'a str) -> Vec<&'a str> {
    places(specs, config).into_iter().map(|place| &config[place]).collect()
}

/// The texts by which the keys in a configuration string can be known elsewhere: as they are written, without comments, and
/// without the notation around their digits.
pub fn texts_of_keys(specs: &[ArgSpec], config: &str) -> Vec<String> {
    let mut texts: Vec<String> = keys_in(specs, config).into_iter().map(str::to_string).collect();
    if !texts.is_empty() {
        let plain = without_comments(config);
        let plain = keys_in(specs, &plain);
        texts.extend(plain.iter().flat_map(|key| [key.to_string(), digits(key).to_string()]));
    }
    texts
}

/// What a key is without the notation around it.
fn digits(key: &str) -> &str {
    let inner = key.trim_matches(['"', '\'']);
    let inner = inner.strip_prefix("\\<").map_or(inner, |data| data.strip_suffix('>').unwrap_or(data));
    inner.strip_prefix("0x").unwrap_or(inner).trim()
}

/// A configuration string whose comments, if there may be some, are left out.
pub fn without_comments(config: &str) -> String {
    if !config.contains("//") && !config.contains("/*") {
        return config.to_string();
    }
    let arguments: Vec<String> = arguments(config).into_iter().map(|argument| argument.text).collect();
    arguments.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::{ArgType, Args};
    use super::*;

    const SPECS: &[ArgSpec] = &[
        ArgSpec::required("SPI", ArgType::U32, ""),
        ArgSpec::required("KEY", ArgType::Data, "").secret(),
        ArgSpec::keyword("MODE", ArgType::Word, "", ""),
    ];
    const ROUTES: &[ArgSpec] = &[ArgSpec::rest("ROUTE", ArgType::String, "").secret_from_word(3)];

    #[test]
    fn keys_are_hidden_wherever_they_stand() {
        for (config, shown) in [
            ("7, 0011, MODE x", "7, •••, MODE x"),
            ("7, MODE x, KEY \\<00 11>", "7, MODE x, KEY •••"),
            ("7, KEY 0011, KEY \"2 2\"", "7, KEY •••, KEY •••"),
            ("7, 0011, KEY 22", "7, •••, KEY •••"),
            ("7, file:out.key", "7, file:out.key"),
            ("7", "7"),
        ] {
            assert_eq!(hide_keys(SPECS, config), shown);
        }
        let routes = "0/0 1, 1.2.3.0/24 1 7 \\<00> \\<11> 1 32";
        assert_eq!(hide_keys(ROUTES, routes), "0/0 1, 1.2.3.0/24 1 7 •••");
        assert_eq!(keys_in(SPECS, "7, 0011"), ["0011"]);
    }

    #[test]
    fn keys_come_from_files_that_nobody_else_can_read() {
        let name = clickwork_oracles::unused("clickwork-key");
        let key = || HexKey::from_arg(&format!("file:{}", name.display()), &Names::default()).map(|k| k.0);
        let refused = |text: &str| {
            let error = key().unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        };
        refused("No such file or directory");
        fs::write(&name, "0001 ff\n\nFE\n").unwrap();
        fs::set_permissions(&name, fs::Permissions::from_mode(0o640)).unwrap();
        refused("is open to others than its owner: chmod 600");
        fs::set_permissions(&name, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(key(), Ok(vec![0, 1, 0xff, 0xfe]));
        fs::write(&name, "no key").unwrap();
        refused("must hold a key in hexadecimal digits");
        fs::remove_file(&name).unwrap();
    }

    #[test]
    fn messages_do_not_repeat_keys() {
        let mut args = Args::new(SPECS, "7, ABCDEF 0011", &Names::default());
        args.get::<u32>("KEY");
        let errors = args.finish().unwrap_err();
        let said = format!("{errors:?}");
        assert!(!said.contains("ABCDEF") && !said.contains("0011"), "{said}");
    }
}
