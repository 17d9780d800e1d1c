//! Large rule sets: a search instead of a long chain of tests.
//!
//! A diagram asks one rule after the other where rules have nothing in common, so that its time grows with their number. Here
//! each rule is one or a few boxes ([`boxes`]) over the [`fields`] that the rules ask about, and a packet is a point. The
//! boxes are divided by size, because large ones would be in many leaves of a tree of small ones; a [`tree`] over each part
//! leads to the few that a packet may lie in, and the first box that it lies in decides.
//!
//! Nothing is decided here that the rules do not say: boxes that are larger than their rule ask the rule itself, and a
//! packet whose fields are there in part goes to the diagram. Read first: Vamanan, Voskuilen, Vijaykumar,
//! "EffiCuts: optimizing packet classification for memory and throughput" (SIGCOMM 2010), for the division by size.

mod boxes;
mod fields;
mod tree;

use crate::diagram::Target;
use crate::expr::Expr;
use crate::headers::Headers;
use crate::program::Program;
use boxes::{RuleBox, boxes};
pub(crate) use fields::FIELDS;
use fields::{Field, Values, fields, read};
use tree::Tree;

/// Rules whose boxes are searched.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    fields: Vec<Field>,
    trees: Vec<Tree>,
    bounds: Vec<Bounds>,
    decisions: Vec<Decision>,
    checks: Vec<Program>,
    /// The output for packets without any header.
    for_nothing: Option<usize>,
}

/// Where a box lies, in one cache line.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Bounds {
    low: Values,
    /// How far it goes from there.
    extent: Values,
}

/// What becomes of a packet in a box.
#[derive(Debug, Clone, Copy)]
struct Decision {
    output: Option<u32>,
    /// Which check says whether it satisfies the rule, if lying in the box does not.
    check: Option<u32>,
}

/// A diagram whose longest way is shorter than this is not worth a search.
const LONG: usize = 48;
/// What finding the values and the leaves costs, and comparing a packet with a box, where a step of a diagram costs one.
const FIND: usize = 30;
const COMPARE: usize = 4;

impl Search {
    /// A search for the first of these rules, if it is to be faster than a diagram with a way of `longest` steps.
    pub fn if_faster(rules: &[(Expr, Target)], longest: usize) -> Option<Search> {
        let search = (longest >= LONG).then(|| Search::new(rules))?;
        (search.cost() < longest).then_some(search)
    }

    /// The cost of an ordinary packet, in steps of a diagram.
    pub fn cost(&self) -> usize {
        let compared: usize = self.trees.iter().map(Tree::expected).sum();
        let checks: usize = self.checks.iter().map(|check| check.steps().len()).sum();
        FIND + compared * (COMPARE + checks.div_ceil(self.bounds.len().max(1)))
    }

    fn new(rules: &[(Expr, Target)]) -> Search {
        let fields = fields(rules.iter().map(|(condition, _)| condition));
        let numbered = rules.iter().enumerate();
        let all: Vec<RuleBox> =
            numbered.flat_map(|(number, (condition, _))| boxes(number as u32, condition, &fields)).collect();
        let mut trees: Vec<Tree> =
            by_size(&all, &fields).iter().map(|part| Tree::new(&all, part, &fields)).collect();
        trees.sort_by_key(|tree| tree.first);
        let mut checks = Vec::new();
        let decisions = all.iter().map(|found| Decision::new(found, rules, &mut checks)).collect();
        let bounds = all.iter().map(Bounds::new).collect();
        Search { fields, trees, bounds, decisions, checks, for_nothing: for_nothing(rules) }
    }

    /// The output for a packet, or that it is dropped; `None` if the search cannot tell.
    #[inline]
    pub fn classify(&self, headers: &Headers<'_>) -> Option<Option<usize>> {
        let mut values = [0; FIELDS];
        if read(&self.fields, headers, &mut values).is_none() {
            return headers.are_empty().then_some(self.for_nothing);
        }
        let mut first = u32::MAX;
        for tree in &self.trees {
            if tree.first >= first {
                break;
            }
            let mut candidates = tree.find(&values).iter().copied().take_while(|&number| number < first);
            first = candidates.find(|&number| self.holds(number, &values, headers)).unwrap_or(first);
        }
        Some(
            self.decisions
                .get(first as usize)
                .and_then(|decision| decision.output)
                .map(|output| output as usize),
        )
    }

    /// The fields that packets are asked for.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The trees, in the order in which they are asked.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Where each box begins, how far it goes, the output, and what else must hold.
    pub fn boxes(&self) -> impl ExactSizeIterator<Item = (Values, Values, Option<u32>, Option<&Program>)> {
        self.bounds.iter().zip(&self.decisions).map(|(bounds, decision)| {
            let check = decision.check.map(|check| &self.checks[check as usize]);
            (bounds.low, bounds.extent, decision.output, check)
        })
    }

    #[inline]
    fn holds(&self, number: u32, values: &Values, headers: &Headers<'_>) -> bool {
        self.bounds[number as usize].contain(values)
            && match self.decisions[number as usize].check {
                None => true,
                Some(check) => self.checks[check as usize].follow(headers).is_some(),
            }
    }
}

impl Bounds {
    fn new(found: &RuleBox) -> Bounds {
        Bounds { low: found.low, extent: std::array::from_fn(|field| found.high[field] - found.low[field]) }
    }

    #[inline]
    fn contain(&self, values: &Values) -> bool {
        let outside = |field: usize| values[field].wrapping_sub(self.low[field]) > self.extent[field];
        !(0..FIELDS).fold(false, |found, field| found | outside(field))
    }
}

impl Decision {
    fn new(found: &RuleBox, rules: &[(Expr, Target)], checks: &mut Vec<Program>) -> Decision {
        let (condition, decision) = &rules[found.rule as usize];
        let output = if let Target::Output(port) = decision { Some(*port) } else { None };
        let check = (!found.exact).then(|| {
            checks.push(Program::of_condition(condition));
            checks.len() as u32 - 1
        });
        Decision { output, check }
    }
}

/// The output for packets of which all tests find nothing.
fn for_nothing(rules: &[(Expr, Target)]) -> Option<usize> {
    match rules.iter().find(|(condition, _)| condition.holds(&Headers::raw(&[])))?.1 {
        Target::Output(port) => Some(port as usize),
        Target::Step(_) | Target::Drop => None,
    }
}

/// The numbers of the boxes, divided by whether they are small in the two fields that tell most boxes apart.
fn by_size(all: &[RuleBox], fields: &[Field]) -> Vec<Vec<u32>> {
    let mut distinct: Vec<(usize, usize)> = (0..fields.len())
        .map(|field| {
            let intervals: std::collections::HashSet<_> =
                all.iter().map(|found| (found.low[field], found.high[field])).collect();
            (intervals.len(), field)
        })
        .collect();
    distinct.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let mut parts: [Vec<u32>; 4] = Default::default();
    for (number, found) in all.iter().enumerate() {
        let large =
            |(_, field): &(usize, usize)| found.high[*field] - found.low[*field] > fields[*field].last() >> 6;
        let part = distinct.iter().take(2).map(large).fold(0, |part, large| part << 1 | usize::from(large));
        parts[part].push(number as u32);
    }
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Test;
    use crate::headers::Base;
    use proptest::prelude::*;

    fn test() -> impl Strategy<Value = Test> {
        let masks = prop_oneof![
            Just(!0),
            Just(0xffff_0000),
            Just(0xffff),
            Just(0xf000_0000),
            Just(0xff00_0000),
            Just(0x00ff_0000),
            Just(0x0010_0000),
            (0..32u32).prop_map(|bit| 1 << bit),
            Just(0),
        ];
        let values = prop_oneof![
            Just(0),
            Just(0x0100_0001),
            Just(!0),
            (0..8u32).prop_map(|digit| digit * 0x1111_1111)
        ];
        let base = prop_oneof![2 => Just(Base::Network), 3 => Just(Base::Transport)];
        (base, 0..2u16, masks, values, prop::bool::weighted(0.2)).prop_map(
            |(base, word, mask, value, short)| Test { short, ..Test::new(base, word * 4, mask, value) },
        )
    }

    fn expr() -> impl Strategy<Value = Expr> {
        let leaf = prop_oneof![1 => any::<bool>().prop_map(Expr::Always), 12 => test().prop_map(Expr::Test)];
        leaf.prop_recursive(4, 16, 4, |inner| {
            let several = || prop::collection::vec(inner.clone(), 0..4);
            prop_oneof![
                1 => inner.clone().prop_map(|inner| Expr::Not(Box::new(inner))),
                4 => several().prop_map(Expr::And),
                2 => several().prop_map(Expr::Or),
                1 => (prop::collection::vec((inner.clone(), inner.clone()), 1..3), inner)
                    .prop_map(|(cases, otherwise)| Expr::Choice(cases, Box::new(otherwise))),
            ]
        })
    }

    fn packet() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![4 => (0..8u8).prop_map(|digit| digit * 0x11), 1 => Just(0xff), 1 => Just(1), 1 => any::<u8>()];
        prop::collection::vec(byte, 0..18)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn the_first_rule_that_holds_decides(
            conditions in prop::collection::vec(expr(), 0..40),
            packets in prop::collection::vec(packet(), 16),
        ) {
            let number = |(number, condition): (usize, Expr)| (condition, Target::Output(number as u32));
            let rules: Vec<(Expr, Target)> = conditions.into_iter().enumerate().map(number).collect();
            let search = Search::new(&rules);
            for (packet, length) in packets.iter().flat_map(|packet| (0..=packet.len()).map(move |length| (packet, length))) {
                let headers = Headers::ip(&packet[..length], 0, 8);
                let wanted = rules.iter().position(|(condition, _)| condition.holds(&headers));
                if let Some(found) = search.classify(&headers) {
                    prop_assert_eq!(found, wanted, "{} bytes of {:?}", length, packet);
                } else {
                    prop_assert!(length < packet.len() || length < 16);
                }
            }
        }
    }

    #[test]
    fn it_is_used_where_a_diagram_is_long_and_rules_can_be_told_apart() {
        let rule = |number: u32| {
            let source = Test::new(Base::Network, 12, 0xffff_ff00, number << 8);
            let port = Test::new(Base::Transport, 0, 0xffff, 1000 + number);
            (Expr::And(vec![source.into(), port.into()]), Target::Output(number))
        };
        let apart: Vec<_> = (0..200).map(rule).collect();
        assert!(Search::if_faster(&apart, 200).is_some());
        assert!(Search::if_faster(&apart, 20).is_none(), "a short diagram is faster");
        let alike: Vec<_> = (0..200)
            .map(|number| (Test::new(Base::Network, 0, 1 << (number % 32), 0).into(), Target::Drop))
            .collect();
        assert!(Search::if_faster(&alike, 200).is_none(), "every packet lies in most boxes");
    }
}
