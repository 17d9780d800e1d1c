//! Element maps: facts about element classes that a configuration brings with it, in the file `elementmap.xml` of its
//! archive.
//!
//! The format is Click's: `<entry>` tags in an `<elementmap>`, with the codes of [`Class`](clickwork_router::Class) as
//! attributes. Attributes that we have no use for are kept. An attribute of our own, `base`, names the class that a class is
//! a specialised form of: the elements of both behave the same.

use std::collections::HashMap;

use clickwork_lang::archive::{Archive, Member};
use clickwork_router::Registry;

/// The member of an archive that is an element map.
pub const FILE: &str = "elementmap.xml";
const HEAD: &str =
    "<?xml version=\"1.0\" standalone=\"yes\"?>\n<elementmap xmlns=\"http://www.lcdf.org/click/xml/\">\n";

/// The facts about one class: names of attributes and their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry(Vec<(String, String)>);

/// Facts about classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementMap {
    entries: Vec<Entry>,
    /// Which entry each class has.
    places: HashMap<String, usize>,
}

impl Entry {
    /// Facts, as pairs of attribute and value.
    pub fn new(attributes: &[(&str, &str)]) -> Entry {
        Entry(attributes.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
    }

    /// All attributes and their values.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of an attribute.
    pub fn get(&self, attribute: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == attribute).map(|(_, value)| value.as_str())
    }
}

impl ElementMap {
    /// The map among the files of an archive; empty if there is none.
    pub fn of(files: &Archive) -> ElementMap {
        let file = files.get(FILE).map(|m| clickwork_source::text::decode(&*m.data));
        ElementMap::parse(&file.unwrap_or_default())
    }

    /// Reads a map. What is no entry is passed over.
    pub fn parse(text: &str) -> ElementMap {
        let mut map = ElementMap::default();
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            rest = &rest[at + 1..];
            if let Some(comment) = rest.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, after)| after);
            } else if let Some(attributes) =
                rest.strip_prefix("entry").filter(|a| a.starts_with(char::is_whitespace))
            {
                let (entry, after) = entry(attributes);
                map.add(entry);
                rest = after;
            }
        }
        map
    }

    /// Adds facts, unless the class has some already or there is no name.
    pub fn add(&mut self, entry: Entry) {
        if let Some(name) = entry.get("name").filter(|name| self.get(name).is_none()) {
            self.places.insert(name.to_string(), self.entries.len());
            self.entries.push(entry);
        }
    }

    /// Adds all facts of another map.
    pub fn merge(&mut self, other: ElementMap) {
        other.entries.into_iter().for_each(|entry| self.add(entry));
    }

    /// The facts about a class.
    pub fn get(&self, class: &str) -> Option<&Entry> {
        self.places.get(class).map(|&place| &self.entries[place])
    }

    /// Puts the map among the files of an archive, in the place of the one that is there; an empty map is left out.
    pub fn attach(&self, files: &mut Archive) {
        if self.entries.is_empty() {
            files.remove(FILE);
            return;
        }
        files.set(Member {
            name: FILE.into(),
            modified: 0,
            mode: 0o600,
            data: clickwork_source::text::into_bytes(self.to_xml()),
        });
    }

    /// Takes the facts about a class out.
    pub fn remove(&mut self, class: &str) -> Option<Entry> {
        let place = *self.places.get(class)?;
        let entry = self.entries.remove(place);
        self.set_places();
        Some(entry)
    }

    /// Takes the facts about all classes out of which `keep` is not true.
    pub fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.entries.retain(keep);
        self.set_places();
    }

    fn set_places(&mut self) {
        let name = |e: &Entry| e.get("name").unwrap_or_default().to_string();
        self.places = self.entries.iter().map(name).zip(0..).collect();
    }

    /// All classes that facts are given about, with these.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().filter_map(|e| Some((e.get("name")?, e)))
    }

    /// A class, the class that it is a specialised form of, the class of which that is one, and so on. Of classes that are said
    /// to be forms of each other, some more than once.
    pub fn bases<'n>(&'n self, class: &'n str) -> impl Iterator<Item = &'n str> {
        let base = |name: &&str| self.get(name).and_then(|e| e.get("base"));
        std::iter::successors(Some(class), base).take(self.entries.len() + 1)
    }

    /// The last of [`ElementMap::bases`].
    pub fn base<'n>(&'n self, class: &'n str) -> &'n str {
        self.bases(class).last().unwrap_or(class)
    }

    /// Makes classes that are specialised forms of others known to `registry`, as other names of these.
    pub fn add_to(&self, registry: &mut Registry) {
        for (name, _) in self.entries() {
            if registry.get(name).is_none()
                && let Some(class) = registry.get(self.base(name))
            {
                registry.alias(name.to_string(), class);
            }
        }
    }

    /// Whether facts are given about no class.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The map as text.
    pub fn to_xml(&self) -> String {
        let attribute = |(name, value): &(String, String)| format!(" {name}=\"{}\"", escape(value));
        let entry = |e: &Entry| format!("  <entry{} />\n", e.0.iter().map(attribute).collect::<String>());
        format!("{HEAD}{}</elementmap>\n", self.entries.iter().map(entry).collect::<String>())
    }
}

/// The attributes up to the end of a tag, and what is behind it.
fn entry(mut text: &str) -> (Entry, &str) {
    let mut entry = Entry::default();
    loop {
        text = text.trim_start();
        let Some((name, after)) = text.split_once('=').filter(|(name, _)| !name.contains(['>', '<'])) else {
            return (entry, text);
        };
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return (entry, after);
        };
        let Some((value, after)) = after[1..].split_once(quote) else { return (entry, "") };
        entry.0.push((name.trim().to_string(), unescape(value)));
        text = after;
    }
}

const ENTITIES: [(&str, &str); 5] =
    [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'")];

fn escape(text: &str) -> String {
    ENTITIES.iter().fold(text.to_string(), |text, (entity, plain)| text.replace(plain, entity))
}

fn unescape(text: &str) -> String {
    ENTITIES.iter().rev().fold(text.to_string(), |text, (entity, plain)| text.replace(entity, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "<?xml version='1.0'?>\n<!-- <entry name='No'/> -->\n<elementmap drivers=\"userlevel\">\n\
                       <entry name=\"A\" processing='l/h' flowcode=\"x/&quot;&lt;\"\n flags=\"S3\"/>\n\
                       <entry docname=\"nameless\"/><entry name=\"A\"/><entry name=\"B\" x=\"1\"></entry></elementmap>";

    #[test]
    fn a_map_is_read_and_written() {
        let map = ElementMap::parse(MAP);
        let a = map.get("A").unwrap();
        assert_eq!(
            (a.get("processing"), a.get("flowcode"), a.get("flags")),
            (Some("l/h"), Some("x/\"<"), Some("S3"))
        );
        assert_eq!((map.entries.len(), map.get("No")), (2, None));
        assert_eq!(ElementMap::parse(&map.to_xml()), map);
        assert!(map.to_xml().contains("flowcode=\"x/&quot;&lt;\""), "{}", map.to_xml());
    }

    #[test]
    fn specialised_classes_are_names_of_their_bases() {
        let mut registry = clickwork_elements::registry();
        let entry = |name: &str, base: &str| Entry::new(&[("name", name), ("base", base)]);
        let mut map = ElementMap::default();
        [entry("Q@@a@@b", "Q@@a"), entry("Q@@a", "Queue"), entry("Null", "Queue"), entry("X@@c", "X")]
            .into_iter()
            .for_each(|entry| map.add(entry));
        map.add_to(&mut registry);
        let name = |alias: &str| registry.get(alias).map(|class| class.name);
        assert_eq!([name("Q@@a"), name("Q@@a@@b")], [Some("Queue"); 2]);
        assert_eq!([name("Null"), name("X@@c"), name("X")], [Some("Null"), None, None]);
        map.retain(|e| e.get("base") != Some("Queue"));
        assert_eq!(map.get("Q@@a@@b"), Some(&entry("Q@@a@@b", "Q@@a")));
        assert_eq!(
            (map.remove("X@@c"), map.get("Q@@a"), map.entries.len()),
            (Some(entry("X@@c", "X")), None, 1)
        );
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        for end in 0..MAP.len() {
            ElementMap::parse(&MAP[..end]);
        }
        assert_eq!(ElementMap::parse("<entry name=A><entry =><entry name='é").entries, []);
    }
}
