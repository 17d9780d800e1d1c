//! A search as tables, for programs with so many rules that their steps would be slower.
//!
//! The functions are those of `crate::search`, with the fields' places as constants; trees and boxes are arrays. A packet
//! that the search cannot tell gets `None`, so that the element is asked. Not for people to read: their number makes
//! the arrays unreadable in any form.

use super::short::{encoded, step_line, walk};
use super::{Sections, Used, find_sections};
use crate::diagram::{Node, Target};
use crate::program::Program;
use crate::search::Search;
use std::fmt::Write as _;

/// What a check says that needs no step.
const HOLDS: Target = Target::Output(0);

/// The functions and tables of a search, whose sections these are.
pub fn tables(search: &Search, sections: Sections, used: &[Used]) -> String {
    let mut text = entry(search, sections, used);
    text += &FUNCTIONS.replace("SECTIONS", &used.len().to_string());
    write_trees(&mut text, search);
    write_boxes(&mut text, search);
    write_checks(&mut text, search, used);
    text
}

fn entry(search: &Search, sections: Sections, used: &[Used]) -> String {
    let mut text = find_sections(used, sections);
    text += "    let values = [\n";
    for field in search.fields() {
        let name = sections.name(field.base);
        let _ =
            writeln!(text, "        field({name}, {}, {}, {:#x})?,", field.offset, field.shift, field.bits);
    }
    for _ in search.fields().len()..crate::search::FIELDS {
        text += "        0,\n";
    }
    let names: Vec<&str> = used.iter().map(|used| used.name).collect();
    let _ = writeln!(text, "    ];\n    search(&values, [{}])\n}}", names.join(", "));
    text
}

fn write_trees(text: &mut String, search: &Search) {
    let _ = writeln!(text, "\nstatic TREES: [Tree; {}] = [", search.trees().len());
    for tree in search.trees() {
        let _ = writeln!(
            text,
            "    Tree {{\n        first: {},\n        nodes: &{:?},",
            tree.first,
            tree.words()
        );
        let _ = writeln!(text, "        leaves: &{:?},\n    }},", tree.leaves());
    }
    *text += "];\n";
}

fn write_boxes(text: &mut String, search: &Search) {
    let boxes: Vec<_> = search.boxes().collect();
    let _ = writeln!(text, "\nstatic BOXES: [Box; {}] = [", boxes.len());
    for (low, extent, ..) in &boxes {
        let _ = writeln!(text, "    Box({low:?}, {extent:?}),");
    }
    let mut start = 0;
    let decisions: Vec<(i32, i32)> = boxes
        .iter()
        .map(|(_, _, output, check)| {
            let target = output.map_or(Target::Drop, Target::Output);
            let begin = match check.map_or(HOLDS, Program::start) {
                Target::Step(_) => Target::Step(start),
                decision => decision,
            };
            start += check.map_or(0, |check| check.steps().len() as u32);
            (encoded(target), encoded(begin))
        })
        .collect();
    let _ = writeln!(text, "];\n\nstatic DECISIONS: [(i32, i32); {}] = {decisions:?};", boxes.len());
}

/// The steps of all checks, one check's behind the other's.
fn write_checks(text: &mut String, search: &Search, used: &[Used]) {
    let mut lines = String::new();
    let mut start = 0;
    for check in search.boxes().filter_map(|(.., check)| check) {
        let moved =
            |target| if let Target::Step(step) = target { Target::Step(start + step) } else { target };
        for step in check.steps() {
            let step = Node { yes: moved(step.yes), no: moved(step.no), ..*step };
            let missing = step.short();
            lines += &step_line(&step, missing, used);
        }
        start += check.steps().len() as u32;
    }
    *text += &walk(used.len(), start as usize);
    *text += &lines;
    *text += "];\n";
}

const FUNCTIONS: &str = "
/// A field's value, or one above all others if the field is missing. `None` if it is there in part.
#[inline]
fn field(section: &[u8], offset: usize, shift: u32, bits: u32) -> Option<u32> {
    match section.get(offset..offset + 4).and_then(<[u8]>::first_chunk) {
        Some(word) => Some(u32::from_be_bytes(*word) >> shift & bits),
        None => near_the_end(section.get(offset..).unwrap_or_default(), shift, bits),
    }
}

#[cold]
fn near_the_end(rest: &[u8], shift: u32, bits: u32) -> Option<u32> {
    let before = (bits << shift).leading_zeros() as usize / 8;
    if rest.len() <= before {
        return bits.checked_add(1);
    }
    let mut word = [0; 4];
    word[..rest.len()].copy_from_slice(rest);
    (rest.len() >= 4 - shift as usize / 8).then(|| u32::from_be_bytes(word) >> shift & bits)
}

/// The decision of the first box that the values lie in.
fn search(values: &[u32; 8], sections: [&[u8]; SECTIONS]) -> Option<u16> {
    let mut first = u32::MAX;
    for tree in &TREES {
        if tree.first >= first {
            break;
        }
        let mut candidates = tree.find(values).iter().copied().take_while(|&number| number < first);
        first = candidates.find(|&number| holds(number as usize, values, sections)).unwrap_or(first);
    }
    output(DECISIONS.get(first as usize)?.0)
}

#[inline]
fn holds(number: usize, values: &[u32; 8], sections: [&[u8]; SECTIONS]) -> bool {
    let Box(low, extent) = &BOXES[number];
    let outside = |field: usize| values[field].wrapping_sub(low[field]) > extent[field];
    !(0..8).fold(false, |found, field| found | outside(field)) && {
        let check = DECISIONS[number].1;
        check == -1 || walk(check, sections).is_some()
    }
}

/// A tree over boxes. A node has a child, a limit, and as bytes of a number a field, a shift, bits, and whether it is a
/// leaf, which has the first of its boxes instead of the child and their number instead of the limit.
struct Tree {
    first: u32,
    nodes: &'static [[u32; 3]],
    leaves: &'static [u32],
}

impl Tree {
    #[inline]
    fn find(&self, values: &[u32; 8]) -> &'static [u32] {
        let mut node = self.nodes[0];
        loop {
            let [child, limit, packed] = node;
            let [field, shift, bits, is_leaf] = packed.to_le_bytes();
            if is_leaf != 0 {
                return &self.leaves[child as usize..][..limit as usize];
            }
            let value = values[field as usize % 8];
            let next = (value >> (shift & 31) & u32::from(bits)) + u32::from(value > limit);
            node = self.nodes[(child + next) as usize];
        }
    }
}

/// Where a box begins in each field, and how far it goes.
#[repr(align(64))]
struct Box([u32; 8], [u32; 8]);
";
