//! The interpreter.
//!
//! One instruction per step, same number. A run of steps that compare the same bits of the same word with
//! different values is looked up in one hash table, entered at the step where the packet arrives, so that a
//! thousand rules on one address cost one look-up. Every word is read through a checked slice; a failed check
//! means a packet that may be too short, and takes the slow way. (One check of the whole length beforehand,
//! or loading all words beforehand, measured slower: a step waits for the step before it, not for a
//! comparison that always succeeds.)

use crate::diagram::{Node, Target};
use crate::headers::{Headers, partial_word_at, word_at};

/// Steps on one word from which a table pays.
pub(crate) const TABLE_MINIMUM: usize = 5;
/// Encoded targets from here on are decisions: an output port, or [`DROP`].
const OUTPUT: u32 = 0x8000_0000;
const DROP: u32 = u32::MAX;

const SHORT_YES: u8 = 1;
const LOOK_UP: u8 = 2;

/// One step, compact.
#[derive(Debug, Clone, Copy)]
struct Instruction {
    mask: u32,
    /// The wanted value, or with `LOOK_UP` the table.
    value: u32,
    /// Encoded targets; with `LOOK_UP`, `yes` is the position in the table's run and `no` is where the run
    /// ends.
    yes: u32,
    no: u32,
    offset: u16,
    base: u8,
    flags: u8,
}

/// What runs.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    start: u32,
    instructions: Vec<Instruction>,
    tables: Vec<Table>,
}

impl Code {
    pub fn new(steps: &[Node], start: Target) -> Self {
        let instructions = steps.iter().map(Instruction::new).collect();
        let mut code = Self { start: encode(start), instructions, tables: Vec::new() };
        let mut taken = vec![false; steps.len()];
        for first in 0..steps.len() {
            let run = run_from(steps, first, &taken);
            if run.len() >= TABLE_MINIMUM {
                code.add_table(steps, &run);
                run.iter().for_each(|&step| taken[step] = true);
            }
        }
        code
    }

    /// The comparisons and look-ups on the longest way through the steps that this was made from.
    pub fn longest(&self, steps: &[Node]) -> usize {
        let mut longest = vec![0; steps.len() + 1];
        for (number, step) in steps.iter().enumerate().rev() {
            let from = |target| if let Target::Step(next) = target { longest[next as usize] } else { 0 };
            let same_table = matches!(step.no, Target::Step(next) if self.share_table(number, next as usize));
            longest[number] = (from(step.yes) + 1).max(from(step.no) + usize::from(!same_table));
        }
        longest[0]
    }

    /// Whether one look-up asks what both steps ask.
    fn share_table(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.instructions[first], &self.instructions[second]);
        first.flags & second.flags & LOOK_UP != 0 && first.value == second.value
    }

    fn add_table(&mut self, steps: &[Node], run: &[usize]) {
        let end = steps[run[run.len() - 1]].no;
        let entry = |(position, &step): (usize, &usize)| Slot {
            value: steps[step].test.value,
            position: position as u32,
            target: encode(steps[step].yes),
        };
        let entries: Vec<Slot> = run.iter().enumerate().map(entry).collect();
        for (position, &step) in run.iter().enumerate() {
            let instruction = &mut self.instructions[step];
            instruction.value = self.tables.len() as u32;
            instruction.yes = position as u32;
            instruction.no = encode(end);
            instruction.flags |= LOOK_UP;
        }
        self.tables.push(Table::new(&entries));
    }

    #[inline]
    pub fn classify(&self, headers: &Headers<'_>) -> Option<usize> {
        self.run(|base| headers.section_at(base))
    }

    /// For programs whose tests all have one base: `data` begins there.
    #[inline]
    pub fn classify_raw(&self, data: &[u8]) -> Option<usize> {
        self.run(|_| data)
    }

    #[inline]
    fn run<'a>(&self, section: impl Fn(u8) -> &'a [u8]) -> Option<usize> {
        let mut at = self.start;
        while let Some(instruction) = self.instructions.get(at as usize) {
            let section = section(instruction.base);
            at = match word_at(section, usize::from(instruction.offset)) {
                Some(word) if instruction.flags & LOOK_UP == 0 => instruction.compare(word),
                Some(word) => self.look_up(instruction, word),
                None => self.near_the_end(instruction, section),
            };
        }
        (at != DROP).then_some((at & !OUTPUT) as usize)
    }

    #[inline]
    fn look_up(&self, instruction: &Instruction, word: u32) -> u32 {
        let table = &self.tables[instruction.value as usize];
        match table.find(word & instruction.mask) {
            Some(slot) if slot.position >= instruction.yes => slot.target,
            _ => instruction.no,
        }
    }

    /// A step for which fewer than four bytes are left: they suffice if the mask covers no more.
    #[cold]
    fn near_the_end(&self, instruction: &Instruction, section: &[u8]) -> u32 {
        let need = 4 - instruction.mask.trailing_zeros() as usize / 8;
        match partial_word_at(section, usize::from(instruction.offset), need) {
            Some(word) if instruction.flags & LOOK_UP == 0 => instruction.compare(word),
            Some(word) => self.look_up(instruction, word),
            None if instruction.flags & SHORT_YES != 0 => instruction.yes,
            None => instruction.no,
        }
    }
}

impl Instruction {
    fn new(step: &Node) -> Self {
        let test = &step.test;
        Self {
            mask: test.mask,
            value: test.value,
            yes: encode(step.yes),
            no: encode(step.no),
            offset: test.offset,
            base: test.base as u8,
            flags: if test.short { SHORT_YES } else { 0 },
        }
    }

    #[inline]
    fn compare(&self, word: u32) -> u32 {
        if word & self.mask == self.value { self.yes } else { self.no }
    }
}

fn encode(target: Target) -> u32 {
    match target {
        Target::Step(number) => number,
        Target::Output(port) => OUTPUT | port,
        Target::Drop => DROP,
    }
}

/// The steps from `first` along the no branches that compare the same bits with different values.
fn run_from(steps: &[Node], first: usize, taken: &[bool]) -> Vec<usize> {
    let key = |step: usize| {
        let test = &steps[step].test;
        (test.base, test.offset, test.mask, test.short)
    };
    let mut run = Vec::new();
    let mut values = std::collections::HashSet::new();
    let mut next = Target::Step(first as u32);
    while let Target::Step(step) = next {
        let step = step as usize;
        let joins = !taken[step] && !steps[step].test.short && key(step) == key(first);
        if !joins || !values.insert(steps[step].test.value) {
            break;
        }
        run.push(step);
        next = steps[step].no;
    }
    run
}

/// A hash table from masked words to targets: open addressing, at most half full.
#[derive(Debug, Clone)]
struct Table {
    multiplier: u32,
    shift: u32,
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    value: u32,
    /// Place in the run, or [`EMPTY`].
    position: u32,
    target: u32,
}

const EMPTY: u32 = u32::MAX;

impl Table {
    /// Tries several multipliers and keeps the one with the shortest longest probe.
    fn new(entries: &[Slot]) -> Self {
        const MULTIPLIERS: [u32; 6] =
            [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1, 0xcc9e_2d51];
        let candidates = MULTIPLIERS.map(|multiplier| Self::filled(entries, multiplier));
        let best = candidates.into_iter().min_by_key(|(_, probe)| *probe);
        best.expect("there are multipliers").0
    }

    /// The table and its longest probe.
    fn filled(entries: &[Slot], multiplier: u32) -> (Self, usize) {
        let size = (entries.len() * 2).next_power_of_two().max(2);
        let empty = Slot { value: 0, position: EMPTY, target: DROP };
        let mut table = Self { multiplier, shift: 32 - size.trailing_zeros(), slots: vec![empty; size] };
        let mut longest = 0;
        for entry in entries {
            let mut probe = 0;
            while table.slot(entry.value, probe).position != EMPTY {
                probe += 1;
            }
            let index = table.index(entry.value, probe);
            table.slots[index] = *entry;
            longest = longest.max(probe);
        }
        (table, longest)
    }

    #[inline]
    fn index(&self, value: u32, probe: usize) -> usize {
        let home = value.wrapping_mul(self.multiplier) >> self.shift;
        (home as usize + probe) & (self.slots.len() - 1)
    }

    #[inline]
    fn slot(&self, value: u32, probe: usize) -> &Slot {
        &self.slots[self.index(value, probe)]
    }

    #[inline]
    fn find(&self, value: u32) -> Option<&Slot> {
        let mut probe = 0;
        loop {
            let slot = self.slot(value, probe);
            if slot.position == EMPTY {
                return None;
            }
            if slot.value == value {
                return Some(slot);
            }
            probe += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Expr, Test};
    use crate::headers::Base;
    use crate::program::Program;

    fn port_rules(ports: impl Iterator<Item = u32>) -> Vec<(Expr, Target)> {
        ports
            .map(|port| (Test::new(Base::Transport, 0, 0xffff, port).into(), Target::Output(port % 7)))
            .collect()
    }

    #[test]
    fn many_values_of_one_word_share_a_table() {
        let program = Program::from_rules(&port_rules((0..1000).map(|i| i * 64)));
        assert_eq!(program.classify(&Headers::ip(&[0, 0, 0, 64], 0, 0)), Some(64 % 7));
        assert_eq!(program.classify(&Headers::ip(&[0, 0, 0, 65], 0, 0)), None);
        assert_eq!(program.classify(&Headers::ip(&[0, 0, 0], 0, 0)), None);
        let code = Code::new(program.steps(), program.start());
        assert_eq!(code.tables.len(), 1);
    }

    #[test]
    fn a_table_entered_late_ignores_the_steps_before() {
        let first = |port: u32| Expr::from(Test::new(Base::Transport, 0, 0xffff, port));
        let gate = Expr::from(Test::new(Base::Transport, 4, 0xff00_0000, 0));
        let mut rules = vec![(Expr::And(vec![gate, first(1)]), Target::Output(0))];
        rules.extend((1..9).map(|port| (first(port), Target::Output(port))));
        let program = Program::from_rules(&rules);
        assert_eq!(program.classify(&Headers::ip(&[0, 0, 0, 1, 0], 0, 0)), Some(0));
        assert_eq!(program.classify(&Headers::ip(&[0, 0, 0, 1, 9], 0, 0)), Some(1));
        assert_eq!(program.classify(&Headers::ip(&[0, 0, 0, 1], 0, 0)), Some(1));
        assert_eq!(program.classify(&Headers::ip(&[0, 0, 0, 8], 0, 0)), Some(8));
    }
}
