//! A part of a router: some of its elements, and where their connections lead.
//!
//! An element at the other end of a connection is drawn as a faint box, above if packets come from it and below if they go
//! to it; if both, there are two. So the part is not pulled out of shape by what is around it.

use super::model::{Model, Part, Wire};
use clickwork_source::suggest;
use std::collections::{HashMap, HashSet};

/// The elements that `names` name: elements, or compound elements with all that is in them; `*` stands for any letters.
///
/// # Errors
/// If a name fits nothing.
pub fn only(model: &Model, names: &[String]) -> Result<Model, String> {
    let mut chosen = HashSet::new();
    for name in names {
        let found = model.parts.iter().enumerate().filter(|(_, p)| fits(name, &p.full_name));
        let before = chosen.len();
        let count = found.map(|(n, _)| chosen.insert(n)).count();
        if count == 0 && chosen.len() == before {
            return Err(unknown(model, name));
        }
    }
    Ok(Cut::new(model, &chosen).cut())
}

fn unknown(model: &Model, name: &str) -> String {
    let compounds = model.compounds.iter().map(|c| &*c.name);
    let names = model.parts.iter().map(|p| &*p.full_name).chain(compounds);
    match suggest(name, names) {
        Some(near) => format!("no element '{name}'; did you mean '{near}'?"),
        None => format!("no element '{name}'; `clickwork flatten --names` lists them"),
    }
}

/// Whether a name means an element, or something that it stands in.
fn fits(name: &str, element: &str) -> bool {
    let ends = element.match_indices('/').map(|(at, _)| at).chain([element.len()]);
    ends.into_iter().any(|end| is_like(name.as_bytes(), &element.as_bytes()[..end]))
}

/// Whether `text` is what `pattern` says, in which `*` stands for anything.
fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|at| is_like(rest, &text[at..])),
        [first, rest @ ..] => text.first() == Some(first) && is_like(rest, &text[1..]),
    }
}

struct Cut<'a> {
    model: &'a Model,
    chosen: &'a HashSet<usize>,
    /// The compound elements around the chosen elements, with their new numbers.
    compounds: HashMap<usize, usize>,
    result: Model,
    /// Elements at the other end, by number and whether packets come from them, with their new numbers.
    outside: HashMap<(usize, bool), usize>,
}

impl<'a> Cut<'a> {
    fn new(model: &'a Model, chosen: &'a HashSet<usize>) -> Self {
        let result = Model { parts: vec![], compounds: vec![], wires: vec![], other: model.other.clone() };
        Cut { model, chosen, compounds: HashMap::new(), result, outside: HashMap::new() }
    }

    fn cut(mut self) -> Model {
        self.keep_compounds();
        let mut numbers = HashMap::new();
        for (n, part) in self.model.parts.iter().enumerate().filter(|(n, _)| self.chosen.contains(n)) {
            numbers.insert(n, self.result.parts.len());
            let compound = self.compound_of(part);
            self.result.parts.push(Part { compound, ..part.clone() });
        }
        for wire in &self.model.wires {
            let (from, to) = (numbers.get(&wire.from.0).copied(), numbers.get(&wire.to.0).copied());
            if from.is_some() || to.is_some() {
                let from = (from.unwrap_or_else(|| self.outside(wire.from.0, true)), wire.from.1);
                let to = (to.unwrap_or_else(|| self.outside(wire.to.0, false)), wire.to.1);
                self.result.wires.push(Wire { from, to, ..*wire });
            }
        }
        self.result
    }

    fn keep_compounds(&mut self) {
        let mut needed = HashSet::new();
        for &n in self.chosen {
            let mut around = self.model.parts[n].compound;
            while let Some(c) = around.filter(|&c| needed.insert(c)) {
                around = self.model.compounds[c].parent;
            }
        }
        for (n, compound) in self.model.compounds.iter().enumerate().filter(|(n, _)| needed.contains(n)) {
            self.compounds.insert(n, self.result.compounds.len());
            let parent = compound.parent.map(|p| self.compounds[&p]);
            self.result.compounds.push(super::model::Compound { parent, ..compound.clone() });
        }
    }

    /// The new number of the innermost compound element around a part that is in the drawing.
    fn compound_of(&self, part: &Part) -> Option<usize> {
        let mut around = part.compound;
        while let Some(c) = around {
            if let Some(&number) = self.compounds.get(&c) {
                return Some(number);
            }
            around = self.model.compounds[c].parent;
        }
        None
    }

    /// The faint box of an element at the other end.
    fn outside(&mut self, n: usize, above: bool) -> usize {
        let known = self.outside.get(&(n, above));
        if let Some(&number) = known {
            return number;
        }
        let mut part = Part { lines: Vec::new(), outside: true, ..self.model.parts[n].clone() };
        part.compound = self.compound_of(&part);
        if above {
            part.inputs.clear();
        } else {
            part.outputs.clear();
        }
        self.result.parts.push(part);
        self.outside.insert((n, above), self.result.parts.len() - 1);
        self.result.parts.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_elements_and_what_is_in_compound_elements() {
        for (name, element) in
            [("a", "a"), ("a", "a/b"), ("a/b", "a/b/c"), ("eth*", "eth0/x"), ("*/x", "eth0/x")]
        {
            assert!(fits(name, element), "{name} {element}");
        }
        for (name, element) in [("a", "ab"), ("b", "a/b"), ("", "a"), ("a/*", "a"), ("a/b", "a")] {
            assert!(!fits(name, element), "{name} {element}");
        }
    }
}
