//! Comparisons of a field with numbers: `= 80`, `& 0xf0 != 0x40`, `> 1023`, `1-1024`.

use crate::expr::{Expr, Test};

/// A comparison operator. `!=`, `<=` and `>=` are negations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Greater,
    Less,
}

/// A condition on the bits `mask` of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relation {
    pub mask: u32,
    pub comparison: Comparison,
    /// The opposite is wanted, of packets that have the field.
    pub negated: bool,
}

/// All numbers lie within the mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Always,
    Equal(u32),
    Greater(u32),
    Within(u32, u32),
}

/// Numbers that do not fit the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelationError {
    Mask,
    Value,
    EmptyRange,
}

impl Relation {
    pub fn equal(mask: u32, value: u32) -> Self {
        Self { mask, comparison: Comparison::Equal(value), negated: false }
    }

    /// `field & mask OPERATOR value` for a field whose greatest value is `full`, and a warning if it is
    /// always true or false.
    ///
    /// As in Click, bits of the value outside the mask do not matter to an equality.
    pub fn new(
        operator: Operator,
        negated: bool,
        value: i64,
        mask: Option<u32>,
        full: u32,
    ) -> Result<(Self, Option<String>), RelationError> {
        let mask = within_field(mask, full)?;
        let value = u32::try_from(value).map_err(|_| RelationError::Value)?;
        let settled = match operator {
            Operator::Equal => None,
            Operator::Less if value == 0 => Some(false),
            Operator::Less => (value > mask).then_some(true),
            Operator::Greater => (value >= mask).then_some(false),
        };
        if let Some(truth) = settled {
            let truth = truth != negated;
            let sign = sign(operator, negated);
            let note = format!("relation '{sign} {value}' is always {truth} (range 0-{mask})");
            return Ok((Self { mask: 0, comparison: Comparison::Always, negated: !truth }, Some(note)));
        }
        if value > full {
            return Err(RelationError::Value);
        }
        let (comparison, negated) = match operator {
            Operator::Equal => (Comparison::Equal(value & mask), negated),
            Operator::Greater => (Comparison::Greater(at_most(value, mask)), negated),
            Operator::Less => (Comparison::Greater(at_most(value - 1, mask)), !negated),
        };
        Ok((Self { mask, comparison, negated }, None))
    }

    /// `low <= field & mask <= high`.
    pub fn within(
        negated: bool,
        low: u32,
        high: u32,
        mask: Option<u32>,
        full: u32,
    ) -> Result<(Self, Option<String>), RelationError> {
        let mask = within_field(mask, full)?;
        if low > high {
            return Err(RelationError::EmptyRange);
        }
        if high > full {
            return Err(RelationError::Value);
        }
        Ok((Self { mask, comparison: Comparison::Within(low, high), negated }, None))
    }

    /// The one value of the field that satisfies this, if it is a plain equality on all bits of `full`.
    pub fn exactly(&self, full: u32) -> Option<u32> {
        match self.comparison {
            Comparison::Equal(value) if self.mask == full && !self.negated => Some(value),
            _ => None,
        }
    }

    /// The comparison without its negation, for a field that lies in the word of `at` with `shift` bits after
    /// it. `at` gives the place.
    pub fn on(&self, at: &Test, shift: u32) -> Expr {
        let equal = |mask: u32, value: u32| Test::new(at.base, at.offset, mask << shift, value << shift);
        match self.comparison {
            Comparison::Always => Expr::Always(true),
            Comparison::Equal(value) => equal(self.mask, value).into(),
            Comparison::Greater(value) => greater(self.mask, value, &equal),
            Comparison::Within(low, high) => {
                let above = |bound: u32| greater(self.mask, at_most(bound, self.mask), &equal);
                let low = low.checked_sub(1).map_or(Expr::Always(true), above);
                Expr::And(vec![low, above(high).negated_if_present()])
            }
        }
    }
}

fn within_field(mask: Option<u32>, full: u32) -> Result<u32, RelationError> {
    let mask = mask.unwrap_or(full);
    if mask & !full == 0 { Ok(mask) } else { Err(RelationError::Mask) }
}

fn sign(operator: Operator, negated: bool) -> &'static str {
    match (operator, negated) {
        (Operator::Equal, false) => "=",
        (Operator::Equal, true) => "!=",
        (Operator::Greater, false) => ">",
        (Operator::Greater, true) => "<=",
        (Operator::Less, false) => "<",
        (Operator::Less, true) => ">=",
    }
}

/// The greatest number made of bits of `mask` that is not above `value`.
fn at_most(value: u32, mask: u32) -> u32 {
    let outside = value & !mask;
    let below = if outside == 0 { 0 } else { u32::MAX >> outside.leading_zeros() };
    (value | below) & mask
}

/// `field & mask > value` as equality tests, from the top bits down; `value` lies within `mask`.
///
/// Where the top bit of `value` is 0, look at all bits down to its first 1: if one of them is set the field
/// is greater, else the rest decides. Where it is 1, look at the leading ones of the next number: unless all
/// are set the field is not greater, else the rest decides. When the rest of `value` is all ones, nothing can
/// be greater than it.
fn greater(mut mask: u32, mut value: u32, equal: &impl Fn(u32, u32) -> Test) -> Expr {
    let mut groups = Vec::new();
    while value < mask {
        let top = 1 << (31 - mask.leading_zeros());
        let high = value & top != 0;
        let alike = if high { (value | !mask).wrapping_add(1) } else { !value };
        let group = leading_bits(mask, alike);
        groups.push((group, high));
        mask &= !group;
        value &= mask;
    }
    let mut rest: Option<Expr> = None;
    for (group, high) in groups.into_iter().rev() {
        let (here, join): (Expr, fn(Vec<Expr>) -> Expr) = if high {
            (equal(group, group).into(), Expr::And)
        } else {
            (Expr::from(equal(group, 0)).negated_if_present(), Expr::Or)
        };
        rest = Some(match rest {
            None => here,
            Some(rest) => join(vec![here, rest]),
        });
    }
    rest.unwrap_or(Expr::Always(false))
}

/// The bits of `mask` above its first bit that is not in `wanted`.
fn leading_bits(mask: u32, wanted: u32) -> u32 {
    let other = mask & !wanted;
    if other == 0 { mask } else { mask & !(u32::MAX >> other.leading_zeros()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::{Base, Headers};

    fn holds(relation: &Relation, byte: u8) -> bool {
        let place = Test::new(Base::Ether, 0, 0, 0);
        let expr = relation.on(&place, 24);
        let expr = if relation.negated { expr.negated_if_present() } else { expr };
        expr.holds(&Headers::raw(&[byte]))
    }

    #[test]
    fn every_relation_of_every_byte_under_many_masks() {
        for mask in [0xff, 0xf0, 0x0f, 0x55, 0xaa, 0x80, 0x01, 0x3c, 0xc3] {
            for value in 0..=255u8 {
                for (operator, negated) in
                    [Operator::Greater, Operator::Less].into_iter().flat_map(|o| [(o, false), (o, true)])
                {
                    let (relation, _) =
                        Relation::new(operator, negated, i64::from(value), Some(mask), 0xff).unwrap();
                    for byte in 0..=255u8 {
                        let field = u32::from(byte) & mask;
                        let plain = if operator == Operator::Greater {
                            field > u32::from(value)
                        } else {
                            field < u32::from(value)
                        };
                        assert_eq!(
                            holds(&relation, byte),
                            plain != negated,
                            "{byte} {operator:?} {value} & {mask:x}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn ranges_include_both_bounds() {
        let (relation, _) = Relation::within(false, 7, 80, None, 0xff).unwrap();
        let inside: Vec<u8> = (0..=255).filter(|&byte| holds(&relation, byte)).collect();
        assert_eq!(inside, (7..=80).collect::<Vec<u8>>());
        let (outside, _) = Relation::within(true, 0, 80, None, 0xff).unwrap();
        assert!(holds(&outside, 81) && !holds(&outside, 0));
        assert_eq!(Relation::within(false, 5, 4, None, 0xff).unwrap_err(), RelationError::EmptyRange);
    }

    #[test]
    fn settled_relations_are_noticed() {
        let (relation, note) = Relation::new(Operator::Less, true, 0, None, 0xffff).unwrap();
        assert!(holds(&relation, 3));
        assert_eq!(note.unwrap(), "relation '>= 0' is always true (range 0-65535)");
        let (relation, note) = Relation::new(Operator::Greater, false, 70_000, None, 0xffff).unwrap();
        assert!(!holds(&relation, 3) && note.is_some());
        assert_eq!(Relation::new(Operator::Equal, false, 256, None, 0xff).unwrap_err(), RelationError::Value);
        assert_eq!(
            Relation::new(Operator::Equal, false, 1, Some(256), 0xff).unwrap_err(),
            RelationError::Mask
        );
    }

    #[test]
    fn a_power_of_two_bound_is_one_test() {
        let (relation, _) = Relation::new(Operator::Greater, false, 1023, None, 0xffff).unwrap();
        let place = Test::new(Base::Transport, 0, 0, 0);
        assert!(
            matches!(relation.on(&place, 16), Expr::Not(inner) if matches!(*inner, Expr::Test(test) if test.mask == 0xfc00_0000))
        );
    }
}
