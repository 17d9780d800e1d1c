//! AggregateFilter: sends packets to outputs by their aggregate.

use clickwork_packet::{Batch, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, Names, split_words};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element};
use std::collections::BTreeMap;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets to outputs by their aggregate",
    manual: "Each argument is an output and the aggregates that leave by it: '0 1 5-9' sends packets with aggregate \
             annotation 1 and 5 to 9 to output 0. 'allow' stands for output 0, 'drop' or 'deny' for none; 'all' or '-' \
             as the only aggregate stands for all that no earlier argument names. Packets that no argument names are \
             dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> AggregateLength -> AggregateFilter(allow 1-100, deny all) -> Discard",
    ports: "1/1-254",
    processing: "h/h",
    args: &[ArgSpec::rest("PATTERN", ArgType::Other("PORT AGGREGATE..."), "an output and its aggregates")],
    ..Class::new("AggregateFilter", "analysis", || Box::<AggregateFilter>::default())
};

/// Where packets go; `None`: nowhere.
type Port = Option<u16>;

/// Of the warnings about one argument so many are given.
const MAX_WARNINGS: u64 = 100;

#[derive(Default)]
struct AggregateFilter {
    /// Ranges that do not overlap, by their start: their end, and where they go.
    ranges: BTreeMap<u32, (u32, Port)>,
    /// Where the others go.
    rest: Port,
}

fn port(word: &str, outputs: usize) -> Option<Port> {
    match word {
        "allow" => Some(Some(0)),
        "drop" | "deny" => Some(None),
        _ => {
            let port = u32::from_arg(word, &Names::default()).ok()?;
            Some(u16::try_from(port).ok().filter(|&port| usize::from(port) < outputs))
        }
    }
}

/// One aggregate or, with a dash, several.
fn range(word: &str) -> Option<(u32, u32)> {
    let number = |text: &str| u32::from_arg(text, &Names::default()).ok();
    match (number(word), word.split_once('-')) {
        (Some(n), _) => Some((n, n)),
        (None, Some((from, to))) => Some((number(from)?, number(to)?)),
        (None, None) => None,
    }
}

impl AggregateFilter {
    /// Adds a range where no other is, and returns the parts that go elsewhere already.
    fn add(&mut self, from: u32, to: u32, port: Port) -> Vec<(u32, u32, Port)> {
        let mut taken = Vec::new();
        let mut next = u64::from(from);
        let mut free = Vec::new();
        let begin = self.ranges.range(..=from).next_back().map_or(from, |(start, _)| *start);
        for (&start, &(end, other)) in self.ranges.range(begin..=to.max(begin)) {
            let (start, end) = (start.max(from), end.min(to));
            if start > end {
                continue;
            }
            if u64::from(start) > next {
                free.push((next as u32, start - 1));
            }
            if other != port {
                taken.push((start, end, other));
            }
            next = u64::from(end) + 1;
        }
        if next <= u64::from(to) {
            free.push((next as u32, to));
        }
        self.ranges.extend(free.into_iter().map(|(from, to)| (from, (to, port))));
        taken
    }

    fn find(&self, aggregate: u32) -> Port {
        match self.ranges.range(..=aggregate).next_back() {
            Some((_, &(end, port))) if aggregate <= end => port,
            _ => self.rest,
        }
    }

    /// Reads argument number `n`; returns whether it names all aggregates.
    fn read(&mut self, n: usize, words: &[String], outputs: usize, args: &mut Args) -> bool {
        let Some(port) = port(&words[0], outputs) else {
            args.error_in_rest(n, format!("pattern {n}: expected a port number"));
            return false;
        };
        match &words[1..] {
            [] => args.error_in_rest(n, format!("pattern {n} has no aggregates")),
            [all] if all == "all" || all == "-" => {
                self.rest = port;
                return true;
            }
            words => words.iter().for_each(|word| self.read_range(n, word, port, outputs, args)),
        }
        false
    }

    fn read_range(&mut self, n: usize, word: &str, port: Port, outputs: usize, args: &mut Args) {
        let Some((from, to)) = range(word) else {
            return args.error_in_rest(n, format!("pattern {n}: bad aggregate number '{word}'"));
        };
        if from > to {
            return;
        }
        for (from, to, other) in self.add(from, to, port) {
            let other = other.map_or(outputs, usize::from);
            for aggregate in (u64::from(from)..=u64::from(to)).take(MAX_WARNINGS as usize) {
                args.warn(format!("pattern {n}: aggregate {aggregate} already filtered to output {other}"));
            }
        }
    }
}

impl Element for AggregateFilter {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let mut names_all = false;
        for (n, pattern) in args.rest().to_vec().iter().enumerate() {
            let words = split_words(pattern);
            if words.is_empty() {
                args.error_in_rest(n, format!("empty pattern {n}"));
            } else if names_all {
                args.warn(format!("pattern {n} matches no packets"));
            } else {
                names_all = self.read(n, &words, cx.outputs(), args);
            }
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        split_batch(batch, cx, "filtered", |p| self.find(p.anno_u32(anno::AGGREGATE)));
    }
}

#[cfg(test)]
mod tests {
    use super::AggregateFilter;
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};
    use proptest::prelude::*;

    fn aggregates(t: &mut Harness, sink: &str) -> Vec<u32> {
        t.take(sink).iter().map(|p| p.anno_u32(anno::AGGREGATE)).collect()
    }

    fn filtered(patterns: &str) -> (Vec<u32>, Vec<u32>) {
        let config =
            format!("s :: Source -> f :: AggregateFilter({patterns}) -> a :: Sink; f [1] -> b :: Sink");
        let mut t = Harness::new(&config);
        t.push_batch(
            "s",
            0,
            (0..12).map(|n| {
                let mut p = Packet::new(b"x");
                p.set_anno_u32(anno::AGGREGATE, n);
                p
            }),
        );
        (aggregates(&mut t, "a"), aggregates(&mut t, "b"))
    }

    #[test]
    fn patterns_choose_outputs() {
        for (patterns, a, b) in [
            ("0 1 5-7, 1 2", vec![1, 5, 6, 7], vec![2]),
            ("allow 3, 1 all", vec![3], vec![0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]),
            ("deny 3-4294967295, allow -", vec![0, 1, 2], vec![]),
            ("drop 1, 7 2, 0 1-3", vec![3], vec![]),
            ("1 4, 0 2-6", vec![2, 3, 5, 6], vec![4]),
            ("", vec![], vec![]),
            ("0 9-3", vec![], vec![]),
        ] {
            assert_eq!(filtered(patterns), (a, b), "{patterns}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (pattern, error) in [
            ("x 1", "pattern 0: expected a port number"),
            ("0", "pattern 0 has no aggregates"),
            ("0 1, 0 2 a-b", "pattern 1: bad aggregate number 'a-b'"),
            ("0 -5", "pattern 0: bad aggregate number '-5'"),
        ] {
            let e = Harness::errors(&format!("Idle -> AggregateFilter({pattern}) -> Idle"));
            assert!(e.contains(error), "{e}");
        }
    }

    proptest! {
        /// The first range that names an aggregate decides.
        #[test]
        fn ranges_are_as_a_table(ranges in prop::collection::vec((0u32..40, 0u32..40, 0u16..4), 0..12)) {
            let mut filter = AggregateFilter::default();
            let mut table = [None; 40];
            for (from, to, port) in ranges {
                if from <= to {
                    filter.add(from, to, Some(port));
                }
                (from..=to).for_each(|n| { table[n as usize].get_or_insert(port); });
            }
            for n in 0..40 {
                prop_assert_eq!(filter.find(n), table[n as usize]);
            }
        }
    }
}
