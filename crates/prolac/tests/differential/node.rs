//! Source text as a tree, so that a program that fails can be made smaller.

use std::fmt::{self, Display};

/// A piece of source with pieces inside.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The text, with a `$` for each part.
    template: String,
    parts: Vec<Node>,
    /// A shorter text that can stand here instead; empty if there is none.
    simple: &'static str,
}

impl Node {
    /// Text without parts.
    pub fn text(text: impl Into<String>) -> Node {
        Node { template: text.into(), parts: Vec::new(), simple: "" }
    }

    /// Text with a part for each `$`.
    pub fn new(simple: &'static str, template: impl Into<String>, parts: Vec<Node>) -> Node {
        let template = template.into();
        debug_assert_eq!(template.matches('$').count(), parts.len(), "{template}");
        Node { template, parts, simple }
    }

    /// How many nodes there are, this one included.
    pub fn size(&self) -> usize {
        1 + self.parts.iter().map(Node::size).sum::<usize>()
    }

    /// Replaces the node with the number `at`, outer ones first, by its simple text; false if it is that already.
    pub fn simplify(&mut self, at: usize) -> bool {
        let mut at = at;
        self.find(&mut at).is_some_and(Node::replace)
    }

    fn replace(&mut self) -> bool {
        if self.simple.is_empty() || self.template == self.simple {
            return false;
        }
        *self = Node::text(self.simple);
        true
    }

    fn find(&mut self, at: &mut usize) -> Option<&mut Node> {
        if *at == 0 {
            return Some(self);
        }
        *at -= 1;
        self.parts.iter_mut().find_map(|part| part.find(at))
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.parts.iter();
        for (i, text) in self.template.split('$').enumerate() {
            if i > 0 {
                parts.next().map_or(Ok(()), |part| part.fmt(f))?;
            }
            f.write_str(text)?;
        }
        Ok(())
    }
}
