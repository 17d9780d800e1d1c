//! Names for what is generated: of modules and constants, which are numbered where several want one name, and lists of
//! elements in comments.

use clickwork_router::fast::FastCode;
use clickwork_toolchain::Hash;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// Elements that a comment names; of more, it gives the number.
const MOST_NAMED: usize = 6;

/// Texts, each with a name of its own.
#[derive(Default)]
pub struct Named {
    /// By name.
    texts: BTreeMap<String, String>,
    by_hash: HashMap<String, String>,
    /// By the name that was wished for: how often.
    wished: HashMap<String, usize>,
}

impl Named {
    /// The name of a text, `wish` or something like it.
    pub fn name(&mut self, wish: &str, text: &str) -> String {
        let hash = Hash::of([wish, text]).name();
        if let Some(name) = self.by_hash.get(&hash) {
            return name.clone();
        }
        let name = self.free(wish);
        self.texts.insert(name.clone(), text.to_string());
        self.by_hash.insert(hash, name.clone());
        name
    }

    fn free(&mut self, wish: &str) -> String {
        let count = self.wished.entry(wish.to_string()).or_default();
        loop {
            *count += 1;
            let name = if *count == 1 { wish.to_string() } else { format!("{wish}_{count}") };
            if !self.texts.contains_key(&name) {
                return name;
            }
        }
    }

    /// Names and texts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.texts.iter()
    }
}

/// The call of a fast path.
#[derive(Clone)]
pub struct Call {
    /// As it is written.
    pub text: String,
    /// What it does, whatever the names are.
    pub identity: String,
}

/// The modules and constants of fast paths.
#[derive(Default)]
pub struct FastPaths {
    modules: Named,
    /// By module.
    constants: HashMap<String, Named>,
}

impl FastPaths {
    /// Takes in a fast path; says how it is called.
    pub fn call(&mut self, code: &FastCode) -> Call {
        let module = self.modules.name(code.module, &code.source);
        let of_module = self.constants.entry(module.clone()).or_default();
        let constants = of_module.name("ELEMENT", &code.constants);
        let (source, value) = (Hash::of([&*code.source]).name(), Hash::of([code.constants.as_str()]).name());
        Call {
            text: format!("{module}::fast(&{module}::{constants}, p)"),
            identity: format!("{}#{source}#{value}", code.module),
        }
    }

    /// The modules as Rust. The constants stand in them, where they see everything that the fast path sees.
    pub fn modules(&self) -> impl Iterator<Item = String> {
        self.modules.iter().map(|(name, source)| {
            let constants = self.constants.get(name).into_iter().flat_map(Named::iter);
            let constants: String = constants
                .map(|(name, value)| format!("\npub const {name}: Constants = {value};\n"))
                .collect();
            format!("mod {name} {{\n{}{}}}\n", indented(source), indented(&constants))
        })
    }
}

/// Elements that share something, in a comment.
#[derive(Default)]
pub struct Elements(Vec<String>);

impl Elements {
    /// Adds one.
    pub fn add(&mut self, name: &str) {
        if !self.0.iter().any(|known| known == name) {
            self.0.push(name.to_string());
        }
    }

    /// The elements but the first `skipped`, or nothing if there are no others.
    pub fn list(&self, skipped: usize) -> Option<String> {
        let rest = self.0.get(skipped..).filter(|rest| !rest.is_empty())?;
        let mut list = rest[..rest.len().min(MOST_NAMED)].join(", ");
        if let Some(more) = rest.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
            let _ = write!(list, " and {more} more");
        }
        Some(list)
    }
}

fn indented(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_string() } else { format!("    {line}\n") };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &'static str, constants: &str) -> FastCode {
        FastCode { module: "strip", source: source.into(), constants: constants.to_string() }
    }

    #[test]
    fn different_code_never_shares_a_name() {
        let mut paths = FastPaths::default();
        let calls: Vec<Call> = [code("a", "1"), code("a", "2"), code("b", "1"), code("a", "1")]
            .iter()
            .map(|code| paths.call(code))
            .collect();
        let texts: Vec<&str> = calls.iter().map(|call| call.text.as_str()).collect();
        let all = [
            "strip::fast(&strip::ELEMENT, p)",
            "strip::fast(&strip::ELEMENT_2, p)",
            "strip_2::fast(&strip_2::ELEMENT, p)",
            texts[0],
        ];
        assert_eq!(texts, all);
        assert_ne!(calls[0].identity, calls[1].identity);
        assert_ne!(calls[0].identity, calls[2].identity);
        assert_eq!(paths.modules().collect::<String>().matches("pub const ").count(), 3);
    }

    #[test]
    fn what_a_call_does_has_the_same_identity_whatever_it_is_called() {
        let (mut one, mut other) = (FastPaths::default(), FastPaths::default());
        other.call(&code("a", "5"));
        let (one, other) = (one.call(&code("a", "1")), other.call(&code("a", "1")));
        assert_ne!(one.text, other.text);
        assert_eq!(one.identity, other.identity);
    }

    #[test]
    fn long_lists_are_cut() {
        let mut elements = Elements::default();
        (0..9).for_each(|n| elements.add(&format!("e{}", n % 8)));
        assert_eq!(elements.list(0).as_deref(), Some("e0, e1, e2, e3, e4, e5 and 2 more"));
        assert_eq!(elements.list(6).as_deref(), Some("e6, e7"));
        assert_eq!(elements.list(8), None);
    }
}
