//! Rules as boxes: for each field an interval outside which the rule cannot hold.
//!
//! A box may be too large but never too small: whatever tests stand in a rule, a packet that satisfies it lies in one of its
//! boxes. An *exact* box holds nothing else, as those of nearly all rules do in practice; packets in another are
//! asked the rule itself.

use super::fields::{FIELDS, Field, Values, each_test};
use crate::expr::{Expr, Test};

/// Boxes that a rule may have: `port 80` has one for each side.
const ALTERNATIVES: usize = 8;
/// Tests to evaluate in order to find an interval, or whether it is exact.
const PATIENCE: usize = 4000;

/// One rule, or one of its alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleBox {
    pub rule: u32,
    pub low: Values,
    pub high: Values,
    pub exact: bool,
}

impl RuleBox {
    /// Whether some packet lies in both.
    pub fn meets(&self, low: &Values, high: &Values) -> bool {
        (0..FIELDS).all(|field| self.low[field] <= high[field] && low[field] <= self.high[field])
    }

    /// Whether every packet in those bounds satisfies the rule.
    pub fn covers(&self, low: &Values, high: &Values) -> bool {
        self.exact
            && (0..FIELDS).all(|field| self.low[field] <= low[field] && high[field] <= self.high[field])
    }
}

/// The boxes of a rule; none if no packet satisfies it.
pub fn boxes(number: u32, rule: &Expr, fields: &[Field]) -> Vec<RuleBox> {
    let mut alternatives = vec![Vec::new()];
    distribute(rule, fields, &mut alternatives);
    alternatives.iter().filter_map(|parts| enclose(number, parts, fields)).collect()
}

/// Adds the parts of a condition to every alternative; an `Or` makes more of them. A condition that is about one interval
/// stays whole.
fn distribute<'a>(expr: &'a Expr, fields: &[Field], alternatives: &mut Vec<Vec<&'a Expr>>) {
    match expr {
        part if settled(part, &|_| None) == Some(true) => {}
        Expr::And(parts) if !is_interval(expr, fields) => {
            parts.iter().for_each(|part| distribute(part, fields, alternatives));
        }
        Expr::Or(parts) if parts.len() * alternatives.len() <= ALTERNATIVES && !is_interval(expr, fields) => {
            let before = std::mem::take(alternatives);
            for part in parts {
                let mut with_part = before.clone();
                distribute(part, fields, &mut with_part);
                alternatives.extend(with_part);
            }
        }
        part => alternatives.iter_mut().for_each(|alternative| alternative.push(part)),
    }
}

/// Whether the condition is that one field lies in an interval.
fn is_interval(expr: &Expr, fields: &[Field]) -> bool {
    let Asks::One(field) = asks(expr, fields) else { return false };
    let parts = Parts::new(vec![expr], &fields[field]);
    parts.interval().is_some_and(|(low, high)| parts.is_exactly(low, high))
}

/// The smallest box around an alternative.
fn enclose(rule: u32, parts: &[&Expr], fields: &[Field]) -> Option<RuleBox> {
    let mut found = RuleBox { rule, low: [0; FIELDS], high: [0; FIELDS], exact: true };
    let asked: Vec<Asks> = parts.iter().map(|part| asks(part, fields)).collect();
    found.exact = asked.iter().all(|asks| matches!(asks, Asks::One(_)));
    if parts.iter().any(|part| settled(part, &|_| None) == Some(false)) {
        return None;
    }
    for (number, field) in fields.iter().enumerate() {
        let about = |asks: &Asks| matches!(asks, Asks::One(one) if *one == number) || *asks == Asks::Several;
        let relevant =
            parts.iter().zip(&asked).filter(|(_, asks)| about(asks)).map(|(part, _)| *part).collect();
        let parts = Parts::new(relevant, field);
        let (low, high) = parts.interval()?;
        (found.low[number], found.high[number]) = (low, high);
        found.exact = found.exact && parts.is_exactly(low, high);
    }
    Some(found)
}

/// Which fields a condition asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// This one, by its number, and nothing else.
    One(usize),
    /// Others, or several.
    Several,
}

fn asks(expr: &Expr, fields: &[Field]) -> Asks {
    let mut found = None;
    each_test(expr, &mut |test| {
        let field = fields.iter().position(|field| field.has(test));
        let this = field.map_or(Asks::Several, Asks::One);
        found = Some(if found.is_none_or(|found| found == this) { this } else { Asks::Several });
    });
    found.unwrap_or(Asks::Several)
}

/// Conditions that must all hold, seen from one field.
struct Parts<'a> {
    parts: Vec<&'a Expr>,
    field: &'a Field,
    /// How often they may be evaluated for one answer.
    patience: usize,
}

/// The values that begin with some bits: the upper ones of `value`, which `known` names.
#[derive(Clone, Copy)]
struct Block {
    value: u32,
    known: u32,
}

impl<'a> Parts<'a> {
    fn new(parts: Vec<&'a Expr>, field: &'a Field) -> Parts<'a> {
        let mut tests = 1;
        parts.iter().for_each(|part| each_test(part, &mut |_| tests += 1));
        Parts { parts, field, patience: PATIENCE / tests }
    }

    /// The interval of values for which the conditions may hold; `None` if there is no such value.
    fn interval(&self) -> Option<(u32, u32)> {
        if self.parts.is_empty() {
            return Some((0, self.field.last()));
        }
        let missing = self.field.missing().filter(|_| self.outcome(None) != Some(false));
        let mut patience = self.patience;
        let low = self.first(Block { value: 0, known: 0 }, false, &mut patience).or(missing)?;
        let high = missing.or_else(|| self.first(Block { value: 0, known: 0 }, true, &mut patience))?;
        Some((low, high))
    }

    /// The first value of the block for which the conditions may hold, or the last.
    fn first(&self, block: Block, from_above: bool, patience: &mut usize) -> Option<u32> {
        *patience = patience.saturating_sub(1);
        let outcome = self.outcome(Some(block));
        let halves = self.halves(block).filter(|_| outcome.is_none() && *patience > 0);
        match halves {
            _ if outcome == Some(false) => None,
            None => Some(if from_above { self.last(block) } else { block.value }),
            Some(mut halves) => {
                if from_above {
                    halves.reverse();
                }
                halves.into_iter().find_map(|half| self.first(half, from_above, patience))
            }
        }
    }

    /// Whether the conditions hold for all values of their interval. Absence, at its end, is in it only if they hold then.
    fn is_exactly(&self, low: u32, high: u32) -> bool {
        self.parts.is_empty() || self.agrees(Block { value: 0, known: 0 }, low, high, &mut { self.patience })
    }

    fn agrees(&self, block: Block, low: u32, high: u32, patience: &mut usize) -> bool {
        *patience = patience.saturating_sub(1);
        let (first, last) = (block.value, self.last(block));
        let wanted = if low <= first && last <= high {
            Some(true)
        } else if last < low || high < first {
            Some(false)
        } else {
            None
        };
        match (wanted, self.outcome(Some(block))) {
            (Some(wanted), Some(outcome)) => wanted == outcome,
            _ if *patience == 0 => false,
            _ => self
                .halves(block)
                .is_some_and(|halves| halves.iter().all(|half| self.agrees(*half, low, high, patience))),
        }
    }

    /// Whether all conditions hold, if that is known: for the values of a block, or for packets without the field.
    fn outcome(&self, block: Option<Block>) -> Option<bool> {
        let answer = |test: &Test| match block {
            _ if !self.field.has(test) => None,
            None => Some(test.short),
            Some(Block { value, known }) => {
                let (mask, wanted) = (test.mask >> self.field.shift, test.value >> self.field.shift);
                if (value ^ wanted) & known & mask != 0 {
                    Some(false)
                } else {
                    (mask & !known == 0).then_some(true)
                }
            }
        };
        all(self.parts.iter().map(|part| settled(part, &answer)))
    }

    fn halves(&self, block: Block) -> Option<[Block; 2]> {
        let bit = (self.field.width - block.known.count_ones()).checked_sub(1)?;
        let known = block.known | 1 << bit;
        Some([Block { known, ..block }, Block { value: block.value | 1 << bit, known }])
    }

    /// The last value of a block.
    fn last(&self, block: Block) -> u32 {
        block.value | self.field.bits & !block.known
    }
}

/// Whether an expression holds, if that follows from what is known about its tests.
fn settled(expr: &Expr, answer: &dyn Fn(&Test) -> Option<bool>) -> Option<bool> {
    match expr {
        Expr::Always(truth) => Some(*truth),
        Expr::Test(test) if test.mask == 0 => Some(true),
        Expr::Test(test) => answer(test),
        Expr::Not(inner) => settled(inner, answer).map(|truth| !truth),
        Expr::And(parts) => all(parts.iter().map(|part| settled(part, answer))),
        Expr::Or(parts) => {
            all(parts.iter().map(|part| settled(part, answer).map(|truth| !truth))).map(|none| !none)
        }
        Expr::Choice(cases, otherwise) => {
            let open = cases.iter().find(|(condition, _)| settled(condition, answer) != Some(false));
            match open {
                None => settled(otherwise, answer),
                Some((condition, result)) => settled(condition, answer).and_then(|_| settled(result, answer)),
            }
        }
    }
}

/// Whether all hold: not if one does not, and unknown if one is.
fn all(outcomes: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut found = Some(true);
    for outcome in outcomes {
        match outcome {
            Some(false) => return Some(false),
            None => found = None,
            Some(true) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::Base;

    fn test(offset: u16, mask: u32, value: u32) -> Expr {
        Test::new(Base::Network, offset, mask, value).into()
    }

    /// Interval and exactness of the only field, in the upper half of word 0.
    fn intervals(rule: &Expr) -> Vec<(u32, u32, bool)> {
        let all = [test(0, 0xffff_0000, 0)];
        let fields = super::super::fields::fields(all.iter());
        boxes(0, rule, &fields).iter().map(|found| (found.low[0], found.high[0], found.exact)).collect()
    }

    fn port(value: u32) -> Expr {
        test(0, 0xffff_0000, value << 16)
    }

    #[test]
    fn conditions_on_one_field_become_intervals() {
        const MISSING: u32 = 0x1_0000;
        let above_1023 = test(0, 0xfc00_0000, 0).negated_if_present();
        assert_eq!(intervals(&port(80)), [(80, 80, true)]);
        assert_eq!(intervals(&test(0, 0xff00_0000, 0x1200_0000)), [(0x1200, 0x12ff, true)]);
        assert_eq!(intervals(&above_1023), [(1024, 0xffff, true)]);
        assert_eq!(intervals(&Expr::Not(Box::new(test(0, 0xfc00_0000, 0)))), [(1024, MISSING, true)]);
        assert_eq!(intervals(&Expr::And(vec![above_1023, test(0, 0x8000_0000, 0)])), [(1024, 0x7fff, true)]);
        assert_eq!(intervals(&Expr::Always(true)), [(0, MISSING, true)]);
        assert_eq!(intervals(&Expr::And(vec![port(80), port(81)])), []);
    }

    #[test]
    fn what_is_no_interval_is_in_larger_boxes_or_several() {
        assert_eq!(intervals(&test(0, 0x0001_0000, 0x0001_0000)), [(1, 0xffff, false)]);
        assert_eq!(intervals(&Expr::Or(vec![port(5), port(9)])), [(5, 5, true), (9, 9, true)]);
        assert_eq!(intervals(&Expr::Or(vec![port(4), port(5)])), [(4, 5, true)]);
        let not_all_ones = Expr::Or(vec![test(0, 0x8000_0000, 0), test(0, 0x0001_0000, 0)]);
        let narrow = Expr::And(vec![test(0, 0xfffe_0000, 0xfffe_0000), not_all_ones]);
        assert_eq!(intervals(&narrow), [(0xfffe, 0xfffe, true)], "its parts are no intervals");
        assert_eq!(intervals(&Expr::And(vec![port(5), test(8, 1, 1)])), [(5, 5, false)], "another field");
        let either = Expr::Or(vec![port(5), test(8, 1, 1)]);
        assert_eq!(intervals(&either), [(5, 5, true), (0, 0x1_0000, false)]);
    }
}
