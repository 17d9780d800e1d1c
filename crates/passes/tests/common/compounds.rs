//! Routers written with compound elements: random parts of a graph become compounds, parts of which become compounds, with
//! parameters in the place of configurations. What flattening should make of that is known without doing it.

use super::Random;
use super::model::{End, Model};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A router, written twice.
pub struct Written {
    pub nested: String,
    pub flat: String,
}

/// Writes a router with compounds around random parts, and without, with the names that elements have then.
pub fn write(model: &Model, random: &mut Random) -> Written {
    let mut tree =
        Tree { model, groups: Vec::new(), items: (0..model.nodes.len()).map(Item::Leaf).collect() };
    for _ in 0..random.below(5) {
        tree.group(random);
    }
    let names = tree.names();
    let (body, _) = tree.body(&tree.items, None, random);
    let script = model.script(|n| names[n].clone());
    Written { nested: body + &script, flat: model.text(|n| names[n].clone()) }
}

#[derive(Clone)]
enum Item {
    Leaf(usize),
    Group(usize),
}

struct Group {
    items: Vec<Item>,
    /// Anonymous compounds are written where they stand.
    is_anonymous: bool,
}

struct Tree<'a> {
    model: &'a Model,
    groups: Vec<Group>,
    /// What is in no group.
    items: Vec<Item>,
}

impl Tree<'_> {
    /// Makes a group of some items, which are best connected.
    fn group(&mut self, random: &mut Random) {
        let mut taken = vec![random.below(self.items.len())];
        for _ in 0..random.below(6) {
            let leaves: Vec<usize> = taken.iter().flat_map(|&i| self.leaves(&self.items[i])).collect();
            let near = (0..self.items.len()).filter(|i| !taken.contains(i)).filter(|&i| {
                let own = self.leaves(&self.items[i]);
                let joins = |[(a, _), (b, _)]: &[End; 2]| {
                    leaves.contains(a) && own.contains(b) || leaves.contains(b) && own.contains(a)
                };
                self.model.wires.iter().any(joins)
            });
            let near: Vec<usize> = near.collect();
            if let Some(&next) = near.get(random.below(near.len())) {
                taken.push(next);
            }
        }
        taken.sort_unstable();
        let items = taken.iter().rev().map(|&i| self.items.remove(i)).collect();
        self.items.push(Item::Group(self.groups.len()));
        self.groups.push(Group { items, is_anonymous: random.below(3) == 0 });
    }

    fn leaves(&self, item: &Item) -> Vec<usize> {
        match item {
            Item::Leaf(n) => vec![*n],
            Item::Group(g) => self.groups[*g].items.iter().flat_map(|i| self.leaves(i)).collect(),
        }
    }

    /// What each node is called in the end.
    fn names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.model.nodes.len()];
        for item in &self.items {
            self.name(item, "", &mut names);
        }
        names
    }

    fn name(&self, item: &Item, prefix: &str, names: &mut [String]) {
        match item {
            Item::Leaf(n) => names[*n] = format!("{prefix}{}", self.model.nodes[*n].name),
            Item::Group(g) => {
                self.groups[*g].items.iter().for_each(|i| self.name(i, &format!("{prefix}g{g}/"), names));
            }
        }
    }

    /// Declarations and connections of a compound, or of the whole; and its parameters, with what they stand for.
    fn body(
        &self,
        items: &[Item],
        own: Option<usize>,
        random: &mut Random,
    ) -> (String, Vec<(String, String)>) {
        let mut text = String::new();
        let mut parameters = Vec::new();
        let can_have_parameters = own.is_some_and(|g| !self.groups[g].is_anonymous);
        for item in items {
            match item {
                Item::Leaf(n) => {
                    let node = &self.model.nodes[*n];
                    let is_one = !node.config.is_empty() && !node.config.contains([',', '"']);
                    if can_have_parameters && is_one && random.below(2) == 0 {
                        writeln!(text, "{} :: {}($p{n});", node.name, node.class).unwrap();
                        parameters.push((format!("$p{n}"), node.config.clone()));
                    } else {
                        writeln!(text, "{} :: {};", node.name, node.declaration()).unwrap();
                    }
                }
                Item::Group(g) => self.declare(*g, can_have_parameters, random, &mut text, &mut parameters),
            }
        }
        self.connect(items, own, &mut text);
        (text, parameters)
    }

    /// Declares a compound element, with its class before it. Its parameters may become those of the compound around it.
    fn declare(
        &self,
        g: usize,
        pass_on: bool,
        random: &mut Random,
        text: &mut String,
        outer: &mut Vec<(String, String)>,
    ) {
        let (body, parameters) = self.body(&self.groups[g].items, Some(g), random);
        if self.groups[g].is_anonymous {
            writeln!(text, "g{g} :: {{\n{body}}};").unwrap();
            return;
        }
        let formals: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
        let formals = if formals.is_empty() { String::new() } else { format!("{} |\n", formals.join(", ")) };
        // An alternative that does not fit.
        let decoy = match random.below(3) {
            0 => "$a, $b, $c, $d, $e, $f, $g, $h, $i | input -> Null -> output ||\n",
            _ => "",
        };
        let mut values = Vec::new();
        for (name, value) in parameters {
            let is_passed = pass_on && random.below(2) == 0;
            values.push(if is_passed { name.clone() } else { value.clone() });
            if is_passed {
                outer.push((name, value));
            }
        }
        writeln!(text, "elementclass K{g} {{ {decoy}{formals}{body}}}\ng{g} :: K{g}({});", values.join(", "))
            .unwrap();
    }

    /// The connections of which this is the innermost compound around both ends, and those to its own ports.
    fn connect(&self, items: &[Item], own: Option<usize>, text: &mut String) {
        let ports: Vec<[Ports; 2]> = items.iter().map(|item| self.ports(item)).collect();
        // The item in which a node is, its name, and the number of the port there.
        let place = |end: End, side: usize| {
            let at = items.iter().position(|item| self.leaves(item).contains(&end.0))?;
            Some(match &items[at] {
                Item::Leaf(n) => (at, self.model.nodes[*n].name.clone(), end.1),
                Item::Group(g) => {
                    (at, format!("g{g}"), ports[at][side].get(&end).copied().unwrap_or(usize::MAX))
                }
            })
        };
        for &[from, to] in &self.model.wires {
            if let (Some((i, a, p)), Some((j, b, q))) = (place(from, 1), place(to, 0))
                && (i != j || matches!(items[i], Item::Leaf(_)))
            {
                writeln!(text, "{a} [{p}] -> [{q}] {b};").unwrap();
            }
        }
        let Some(own) = own else { return };
        let [inputs, outputs] = self.ports(&Item::Group(own));
        for (end, n) in inputs {
            let Some((_, name, port)) = place(end, 0) else { continue };
            writeln!(text, "input [{n}] -> [{port}] {name};").unwrap();
        }
        for (end, n) in outputs {
            let Some((_, name, port)) = place(end, 1) else { continue };
            writeln!(text, "{name} [{port}] -> [{n}] output;").unwrap();
        }
    }

    /// The inputs and outputs that a group needs, by the port inside that each stands for.
    fn ports(&self, item: &Item) -> [Ports; 2] {
        let leaves = self.leaves(item);
        let mut ports = [Ports::new(), Ports::new()];
        for &[from, to] in &self.model.wires {
            let inside = [from, to].map(|(node, _)| leaves.contains(&node));
            let (side, end) = match inside {
                [false, true] => (0, to),
                [true, false] => (1, from),
                _ => continue,
            };
            let next = ports[side].len();
            ports[side].entry(end).or_insert(next);
        }
        ports
    }
}

type Ports = BTreeMap<End, usize>;
