//! Steps as functions.
//!
//! A function holds the steps that are reached in one way only. A step that is reached in several ways begins a function
//! of its own, and so does one that would stand too deep in braces. Consecutive steps that compare the same bits of a
//! word with different values become one `match`.

use super::meaning::meaning;
use super::{Sections, Used, decided};
use crate::diagram::{Node, Target};
use crate::expr::Test;
use std::fmt::Write as _;

/// Steps on one word from which a `match` reads better.
const MATCH_MINIMUM: usize = 3;
/// Braces within braces.
const DEEPEST: usize = 4;

/// The functions for all steps, that of step 0 first.
pub fn functions(steps: &[Node], sections: Sections, used: &[Used]) -> String {
    let (ahead, is_function) = (bases_ahead(steps), entered_often(steps));
    let mut writer = Writer { steps, sections, used, ahead, is_function, text: String::new() };
    writer.is_function[0] = true;
    // A function can only ask for further functions of later steps.
    for step in 0..steps.len() {
        if writer.is_function[step] {
            writer.function(step);
        }
    }
    writer.text
}

/// For each step, which bases are looked at from there on.
fn bases_ahead(steps: &[Node]) -> Vec<[bool; 3]> {
    let mut ahead = vec![[false; 3]; steps.len()];
    for (number, step) in steps.iter().enumerate().rev() {
        ahead[number][step.test.base as usize] = true;
        for target in [step.yes, step.no] {
            if let Target::Step(next) = target {
                ahead[number] = std::array::from_fn(|base| ahead[number][base] || ahead[next as usize][base]);
            }
        }
    }
    ahead
}

fn entered_often(steps: &[Node]) -> Vec<bool> {
    let mut ways = vec![0u32; steps.len()];
    for target in steps.iter().flat_map(|step| [step.yes, step.no]) {
        if let Target::Step(next) = target {
            ways[next as usize] += 1;
        }
    }
    ways.iter().map(|&ways| ways > 1).collect()
}

struct Writer<'a> {
    steps: &'a [Node],
    sections: Sections,
    used: &'a [Used],
    ahead: Vec<[bool; 3]>,
    is_function: Vec<bool>,
    text: String,
}

impl Writer<'_> {
    fn function(&mut self, step: usize) {
        let parameters = self.each_section(step, |used| format!("{}: &[[u8; 4]; {}]", used.name, used.words));
        let _ = writeln!(self.text, "\nfn step_{step}({parameters}) -> Option<u16> {{");
        let rest = self.step(step, 1);
        let rest = self.sequence(rest, 1);
        let _ = writeln!(self.text, "    {rest}\n}}");
    }

    /// What `write` makes of each section that a step's function needs.
    fn each_section(&self, step: usize, write: impl Fn(&Used) -> String) -> String {
        let needed = self.used.iter().filter(|used| self.ahead[step][used.base as usize]);
        needed.map(write).collect::<Vec<_>>().join(", ")
    }

    /// The steps from `target` on, one after the other; what is left to do behind them, as an expression.
    fn sequence(&mut self, mut target: Target, depth: usize) -> String {
        loop {
            match self.expression(target) {
                Some(expression) => return expression,
                None => {
                    let Target::Step(step) = target else { unreachable!("decisions are expressions") };
                    target = self.step(step as usize, depth);
                }
            }
        }
    }

    /// What leads to `target`, unless its steps are to be written here.
    fn expression(&self, target: Target) -> Option<String> {
        match target {
            Target::Step(step) if self.is_function[step as usize] => {
                Some(format!("step_{step}({})", self.each_section(step as usize, |used| used.name.into())))
            }
            Target::Step(_) => None,
            decision => Some(decided(decision)),
        }
    }

    /// One step, or all steps that share its word; where to go on.
    fn step(&mut self, step: usize, depth: usize) -> Target {
        let run = self.run_from(step);
        if run.len() >= MATCH_MINIMUM {
            return self.cases(&run, depth);
        }
        let node = self.steps[step];
        let turned = self.expression(node.yes).is_none() && self.expression(node.no).is_some();
        let (inside, rest, sign, not) =
            if turned { (node.no, node.yes, "!=", "not ") } else { (node.yes, node.no, "==", "") };
        let (word, value) = (self.word(&node.test), hexadecimal(node.test.value));
        let comment = meaning(&node.test, self.sections);
        self.line(depth, &format!("if {word} {sign} {value} {{ // {not}{comment}"));
        self.inside(inside, depth + 1);
        self.line(depth, "}");
        rest
    }

    /// The word that a test looks at, under its mask.
    fn word(&self, test: &Test) -> String {
        let word = format!("u32::from_be_bytes({}[{}])", self.sections.name(test.base), test.offset / 4);
        if test.mask == !0 { word } else { format!("{word} & {}", hexadecimal(test.mask)) }
    }

    /// What happens in braces: it ends in a return.
    fn inside(&mut self, target: Target, depth: usize) {
        if let Target::Step(step) = target
            && depth > DEEPEST
        {
            self.is_function[step as usize] = true;
        }
        let result = self.sequence(target, depth);
        self.line(depth, &format!("return {result};"));
    }

    /// The steps of a run as one `match`; where packets go that have none of the values.
    fn cases(&mut self, run: &[usize], depth: usize) -> Target {
        let word = self.word(&self.steps[run[0]].test);
        self.line(depth, &format!("match {word} {{"));
        for &step in run {
            let node = self.steps[step];
            let comment = meaning(&node.test, self.sections);
            let value = hexadecimal(node.test.value);
            match self.expression(node.yes) {
                Some(result) => self.line(depth + 1, &format!("{value} => return {result}, // {comment}")),
                None => {
                    self.line(depth + 1, &format!("{value} => {{ // {comment}"));
                    self.inside(node.yes, depth + 2);
                    self.line(depth + 1, "}");
                }
            }
        }
        self.line(depth + 1, "_ => {}");
        self.line(depth, "}");
        self.steps[run[run.len() - 1]].no
    }

    /// The steps from `first` along the no branches that compare the same bits with different values.
    fn run_from(&self, first: usize) -> Vec<usize> {
        let key = |step: usize| {
            let test = &self.steps[step].test;
            (test.base, test.offset, test.mask)
        };
        let mut run = vec![first];
        let mut values = std::collections::HashSet::from([self.steps[first].test.value]);
        while let Target::Step(next) = self.steps[run[run.len() - 1]].no
            && let next = next as usize
            && !self.is_function[next]
            && key(next) == key(first)
            && values.insert(self.steps[next].test.value)
        {
            run.push(next);
        }
        run
    }

    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * depth);
    }
}

fn hexadecimal(word: u32) -> String {
    format!("0x{:04x}_{:04x}", word >> 16, word & 0xffff)
}
