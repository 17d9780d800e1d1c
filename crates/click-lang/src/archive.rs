//! Archives: a configuration with the files that tools attached to it, in the format of `ar`.
//!
//! A configuration may be an archive instead of plain text. Its member `config` is the configuration; other members are
//! sources and compiled code of generated classes, and facts about them. Long names are read in both forms that are in
//! use (a table `//`, and names before the data), and written in the first.

use clickwork_source::text;
use std::fmt;

/// The member that is the configuration.
const CONFIG: &str = "config";
/// What an archive begins with.
const MAGIC: &[u8] = b"!<arch>\n";
/// Bytes of a member's head: name 16, time 12, owner 6, group 6, mode 8 (octal), size 10, and two that close it.
const HEAD: usize = 60;
/// How long a name in a head can be, with the slash that ends it.
const SHORT_NAME: usize = 15;

/// The files of an archive, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    /// The members. Names may repeat; the first counts.
    pub members: Vec<Member>,
}

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name.
    pub name: String,
    /// When it was changed last, in seconds since 1970.
    pub modified: u64,
    /// The permissions.
    pub mode: u32,
    /// The bytes.
    pub data: Vec<u8>,
}

/// Why something is no archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveError {
    /// Where in the archive, in bytes from its beginning.
    pub offset: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bad archive: {} (at byte {})", self.message, self.offset)
    }
}

impl std::error::Error for ArchiveError {}

impl Archive {
    /// Whether bytes are meant to be an archive.
    pub fn is_archive(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// The text of a configuration, and the files attached to it if `bytes` are an archive.
    ///
    /// # Errors
    /// If the archive is damaged or has no member `config`.
    pub fn open(bytes: Vec<u8>) -> Result<(String, Option<Archive>), ArchiveError> {
        if !Archive::is_archive(&bytes) {
            return Ok((text::decode_file(bytes), None));
        }
        let mut archive = Archive::parse(&bytes)?;
        let config = archive
            .remove(CONFIG)
            .ok_or_else(|| error(0, "it has no member `config`, which would be the configuration"))?;
        Ok((text::decode_file(config.data), Some(archive)))
    }

    /// These files with a configuration before them, as bytes.
    pub fn with_config(&self, config: String) -> Vec<u8> {
        let config = Member { name: CONFIG.into(), modified: 0, mode: 0o644, data: text::into_bytes(config) };
        let members = std::iter::once(config).chain(self.members.iter().cloned()).collect();
        Archive { members }.to_bytes()
    }

    /// Takes an archive apart.
    ///
    /// # Errors
    /// If it is cut off or a head is damaged.
    pub fn parse(bytes: &[u8]) -> Result<Archive, ArchiveError> {
        if !Archive::is_archive(bytes) {
            return Err(error(0, "it does not begin with `!<arch>`"));
        }
        let mut reader = Reader { bytes, at: MAGIC.len(), long_names: &[] };
        let mut members = Vec::new();
        while reader.at < bytes.len() {
            members.extend(reader.member()?);
        }
        Ok(Archive { members })
    }

    /// The member called `name`.
    pub fn get(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|m| m.name == name)
    }

    /// Puts a member in the place of the one with its name, or at the end.
    pub fn set(&mut self, member: Member) {
        match self.members.iter_mut().find(|m| m.name == member.name) {
            Some(old) => *old = member,
            None => self.members.push(member),
        }
    }

    /// Takes the member called `name` out.
    pub fn remove(&mut self, name: &str) -> Option<Member> {
        let at = self.members.iter().position(|m| m.name == name)?;
        Some(self.members.remove(at))
    }

    /// The archive as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let mut long_names = Vec::new();
        let names: Vec<String> = self.members.iter().map(|m| head_name(&m.name, &mut long_names)).collect();
        if !long_names.is_empty() {
            write_member(
                &mut out,
                "//",
                &Member { name: String::new(), modified: 0, mode: 0, data: long_names },
            );
        }
        for (name, member) in names.iter().zip(&self.members) {
            write_member(&mut out, name, member);
        }
        out
    }
}

/// What stands for a name in the head: the name with a slash, or its place in the table of long names.
fn head_name(name: &str, long_names: &mut Vec<u8>) -> String {
    if text::encode(name).len() <= SHORT_NAME && !name.contains('/') && !name.ends_with(' ') {
        return format!("{name}/");
    }
    let at = long_names.len();
    long_names.extend_from_slice(&text::encode(name));
    long_names.extend_from_slice(b"/\n");
    format!("/{at}")
}

fn write_member(out: &mut Vec<u8>, name: &str, member: &Member) {
    let Member { modified, mode, data, .. } = member;
    let head = format!("{modified:<12}{:<6}{:<6}{mode:<8o}{:<10}`\n", 0, 0, data.len());
    let mut name = text::encode(name).into_owned();
    name.resize(16, b' ');
    out.extend_from_slice(&name);
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(data);
    if data.len() % 2 == 1 {
        out.push(b'\n');
    }
}

fn error(offset: usize, message: impl Into<String>) -> ArchiveError {
    ArchiveError { offset, message: message.into() }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The data of the member `//`.
    long_names: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The next member, unless it serves the format itself.
    fn member(&mut self) -> Result<Option<Member>, ArchiveError> {
        let start = self.at;
        let head = self
            .bytes
            .get(start..start + HEAD)
            .ok_or_else(|| error(start, "the head of a member is cut off"))?;
        if &head[58..] != b"`\n" {
            return Err(error(start + 58, "a head does not end as it must"));
        }
        let number = |range: std::ops::Range<usize>, radix, what| number(head, range, radix, start, what);
        let modified = number(16..28, 10, "time")?;
        let mode = number(40..48, 8, "mode")?;
        let size = number(48..58, 10, "size")?;
        let data = self.data(start + HEAD, size)?;
        self.at = (start + HEAD + data.len()).next_multiple_of(2);
        let name = text::decode(&head[..16]).trim_end_matches(' ').to_string();
        if name == "//" {
            self.long_names = data;
            return Ok(None);
        }
        if name == "/" || name == "__.SYMDEF" {
            return Ok(None);
        }
        let (name, data) = self.long_name(name, data, start)?;
        Ok(Some(Member { name, modified, mode: mode as u32, data: data.to_vec() }))
    }

    fn data(&self, start: usize, size: u64) -> Result<&'a [u8], ArchiveError> {
        let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size));
        let data = end.and_then(|end| self.bytes.get(start..end));
        data.ok_or_else(|| error(start, format!("a member of {size} bytes is cut off")))
    }

    /// The name that a head means, and the data without it.
    fn long_name(
        &self,
        name: String,
        data: &'a [u8],
        start: usize,
    ) -> Result<(String, &'a [u8]), ArchiveError> {
        if let Some(length) = name.strip_prefix("#1/") {
            let length: usize = length.parse().map_err(|_| error(start, "a long name has no length"))?;
            let (name, rest) =
                data.split_at_checked(length).ok_or_else(|| error(start, "a long name is cut off"))?;
            let name = text::decode(name).trim_end_matches('\0').to_string();
            return Ok((name, rest));
        }
        if let Some(place) = name.strip_prefix('/') {
            let place: usize = place.parse().map_err(|_| error(start, "a long name has no place"))?;
            let rest = self.long_names.get(place..).ok_or_else(|| error(start, "a long name is missing"))?;
            let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            let name = text::decode(&rest[..end]).trim_end_matches('/').to_string();
            return Ok((name, data));
        }
        Ok((name.trim_end_matches('/').to_string(), data))
    }
}

fn number(
    head: &[u8],
    range: std::ops::Range<usize>,
    radix: u32,
    start: usize,
    what: &str,
) -> Result<u64, ArchiveError> {
    let at = start + range.start;
    let text = std::str::from_utf8(&head[range]).unwrap_or("?").trim();
    match text {
        "" => Ok(0),
        _ => u64::from_str_radix(text, radix)
            .map_err(|_| error(at, format!("the {what} of a member is no number"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, data: &str) -> Member {
        Member { name: name.into(), modified: 1_700_000_000, mode: 0o644, data: data.into() }
    }

    #[test]
    fn a_configuration_is_opened_with_what_is_attached() {
        let (opened, _) = Archive::open(b"\xef\xbb\xbfIdle;\xff".to_vec()).unwrap();
        assert_eq!(text::into_bytes(opened), b"Idle;\xff");
        let files = Archive { members: vec![member("x.rs", "fn")] };
        let opened = Archive::open(files.with_config("Idle;".into())).unwrap();
        assert_eq!(opened, ("Idle;".into(), Some(files.clone())));
        assert!(Archive::open(files.to_bytes()).unwrap_err().message.contains("no member `config`"));
    }

    fn example() -> Archive {
        let long = "a/very/long/name/of/a/source.rs";
        Archive {
            members: vec![
                member("config", "Idle;"),
                member(&text::decode(*b"\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9"), "z"),
                member(long, "x"),
                member("exactly-fifteen", ""),
                member(long, "y2"),
            ],
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let archive = example();
        let bytes = archive.to_bytes();
        assert_eq!(bytes.len() % 2, 0);
        assert_eq!(Archive::parse(&bytes).unwrap(), archive);
        assert_eq!(archive.get("config").unwrap().data, b"Idle;");
        assert_eq!(Archive::parse(MAGIC).unwrap(), Archive::default());
        assert_eq!(archive.get("a/very/long/name/of/a/source.rs").unwrap().data, b"x", "the first of two");
    }

    #[test]
    fn members_are_replaced_and_removed_by_name() {
        let mut archive = example();
        archive.set(member("config", "new"));
        archive.set(member("further", "1"));
        assert_eq!(archive.members.len(), 6);
        assert_eq!(archive.remove("config").unwrap().data, b"new");
        assert!(archive.get("config").is_none() && archive.remove("config").is_none());
    }

    #[test]
    fn names_before_the_data_are_read() {
        let head = format!("{:<16}{:<12}{:<6}{:<6}{:<8o}{:<10}`\n", "#1/8", 0, 0, 0, 0o600, 11);
        let bytes = [MAGIC, head.as_bytes(), b"name\0\0\0\0abc\n"].concat();
        let archive = Archive::parse(&bytes).unwrap();
        assert_eq!((archive.members[0].name.as_str(), &*archive.members[0].data), ("name", &b"abc"[..]));
    }

    #[test]
    fn damaged_archives_are_refused_with_the_place() {
        let bytes = example().to_bytes();
        for end in MAGIC.len() + 1..bytes.len() {
            match Archive::parse(&bytes[..end]) {
                // Cut between members, what is left is an archive.
                Ok(rest) => assert_eq!(rest.members, example().members[..rest.members.len()], "{end}"),
                Err(e) => assert!(e.offset <= end, "{e}"),
            }
        }
        assert!(Archive::parse(b"config").unwrap_err().message.contains("!<arch>"));
        let mut wrong = bytes.clone();
        wrong[MAGIC.len() + 48] = b'z';
        assert_eq!(Archive::parse(&wrong).unwrap_err().message, "the size of a member is no number");
    }
}
