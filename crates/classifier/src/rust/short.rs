//! The steps as a table, for packets that are too short for some of them.

use super::Used;
use crate::diagram::{Node, Target};

/// The table and the functions that walk it.
pub fn table(steps: &[Node], used: &[Used]) -> String {
    let lines: String = steps.iter().map(|step| step_line(step, after_missing(steps, step), used)).collect();
    let sections = used.len();
    format!("{}{}{lines}];\n", SHORT.replace("SECTIONS", &sections.to_string()), walk(sections, steps.len()))
}

/// The walk through a table of so many steps, whose lines follow.
pub fn walk(sections: usize, steps: usize) -> String {
    WALK.replace("SECTIONS", &sections.to_string()).replace("STEPS_LEN", &steps.to_string())
}

/// A line of the table.
pub fn step_line(step: &Node, missing: Target, used: &[Used]) -> String {
    let test = &step.test;
    let section = used.iter().position(|used| used.base == test.base).unwrap_or_default();
    format!(
        "    ({section}, {}, {}, {:#010x}, {:#010x}, [{}, {}, {}]),\n",
        test.offset,
        test.need(),
        test.mask,
        test.value,
        encoded(step.yes),
        encoded(step.no),
        encoded(missing),
    )
}

/// Steps as they are, outputs from -1 down, drops far below.
pub fn encoded(target: Target) -> i32 {
    match target {
        Target::Step(step) => step as i32,
        Target::Output(port) => -1 - port as i32,
        Target::Drop => i32::MIN,
    }
}

/// Where a packet goes that lacks the bytes of a step: past the steps that lack theirs for the same reason.
fn after_missing(steps: &[Node], step: &Node) -> Target {
    let mut target = step.short();
    while let Target::Step(next) = target
        && let next = &steps[next as usize]
        && next.test.base == step.test.base
        && next.test.required_length() >= step.test.required_length()
    {
        target = next.short();
    }
    target
}

const SHORT: &str = "
/// The same for a packet that is too short for some step: each step checks that its bytes are there.
#[cold]
fn short(sections: [&[u8]; SECTIONS]) -> Option<u16> {
    walk(0, sections)
}
";

const WALK: &str = "
/// Goes through the table, from one of its steps to a decision.
fn walk(mut at: i32, sections: [&[u8]; SECTIONS]) -> Option<u16> {
    while let Some(&(section, offset, need, mask, value, [yes, no, missing])) = STEPS.get(at as usize) {
        at = match sections[section].get(offset..offset + need) {
            Some(bytes) => {
                let mut word = [0; 4];
                word[..need].copy_from_slice(bytes);
                if u32::from_be_bytes(word) & mask == value { yes } else { no }
            }
            None => missing,
        };
    }
    output(at)
}

fn output(at: i32) -> Option<u16> {
    u16::try_from(-1 - i64::from(at)).ok()
}

/// Section, offset, bytes needed, mask and value of each step, and where it leads: if the word has the value, if it has
/// not, and if it is missing. Outputs are -1, -2, ...
type Step = (usize, usize, usize, u32, u32, [i32; 3]);

static STEPS: [Step; STEPS_LEN] = [
";
