//! Which elements share code: compared with the rules themselves, on random routers, and what must hold of any answer.

mod common;

use clickwork_lang::Options;
use clickwork_lang::archive::Archive;
use clickwork_passes::Unit;
use clickwork_router::{ElementId, Endpoint, Processing, Router};
use common::devirtualize::{configured, devirtualize};
use common::{Random, frames, model};
use std::collections::BTreeSet;
use std::fmt::Write;

fn read(text: &str) -> Unit {
    let (unit, messages) = Unit::new("t.click", text.to_string(), Archive::default(), &Options::any_class());
    assert!(!messages.has_errors(), "{messages:?}\n{text}");
    unit
}

/// The rules, asked again and again until no pair of elements breaks one: rule 0 and the four of the paper. Ports push and
/// pull as the router has resolved them.
struct Rules<'a> {
    router: &'a Router,
    left_out: BTreeSet<&'a str>,
    alike: Vec<Vec<bool>>,
}

impl Rules<'_> {
    fn groups(router: &Router, left_out: &str) -> BTreeSet<BTreeSet<String>> {
        let left_out = left_out.split_whitespace().collect();
        let alike = vec![vec![true; router.len()]; router.len()];
        let mut rules = Rules { router, left_out, alike };
        while rules.apply() {}
        let special = router.ids().filter(|&id| !rules.is_left_out(id));
        let group = |a: ElementId| {
            let alike = router.ids().filter(|b| rules.alike[a.0 as usize][b.0 as usize]);
            alike.map(|id| router.info(id).name.clone()).collect()
        };
        special.map(group).collect()
    }

    /// Separates the pairs that break a rule. Whether there were any.
    fn apply(&mut self) -> bool {
        let pairs = self.router.ids().flat_map(|a| self.router.ids().map(move |b| (a, b)));
        let broken: Vec<_> = pairs.filter(|&(a, b)| self.alike(a, b) && !self.can_share(a, b)).collect();
        broken.iter().for_each(|(a, b)| self.alike[a.0 as usize][b.0 as usize] = false);
        !broken.is_empty()
    }

    fn alike(&self, a: ElementId, b: ElementId) -> bool {
        self.alike[a.0 as usize][b.0 as usize]
    }

    fn is_left_out(&self, id: ElementId) -> bool {
        let info = self.router.info(id);
        let has_ports = !info.inputs.is_empty() || !info.outputs.is_empty();
        !has_ports || [info.name.as_str(), &info.class_name].iter().any(|name| self.left_out.contains(name))
    }

    fn can_share(&self, a: ElementId, b: ElementId) -> bool {
        if self.is_left_out(a) || self.is_left_out(b) {
            return self.is_left_out(a) && self.is_left_out(b);
        }
        let (x, y) = (self.router.info(a), self.router.info(b));
        x.class_name == y.class_name
            && (&x.inputs, &x.outputs) == (&y.inputs, &y.outputs)
            && self.router.fast_code(a) == self.router.fast_code(b)
            && (0..x.outputs.len()).all(|port| {
                let next = |element| self.router.targets(Endpoint { element, port: port as u16 })[0];
                x.outputs[port] == Processing::Pull || self.same(next(a), next(b))
            })
            && (0..x.inputs.len()).all(|port| {
                let next = |element| self.router.sources(Endpoint { element, port: port as u16 })[0];
                x.inputs[port] != Processing::Pull || self.same(next(a), next(b))
            })
    }

    fn same(&self, a: Endpoint, b: Endpoint) -> bool {
        a.port == b.port && self.alike(a.element, b.element)
    }
}

/// A router, some of it twice: elements of both have names that begin with `a` and `b`.
fn twice(seed: u64) -> String {
    let model = model::router(&mut Random::new(seed), true);
    let copy = |prefix: &str| {
        let mut model = model.clone();
        model.nodes.iter_mut().for_each(|node| node.name.insert_str(0, prefix));
        model.text(|n| model.nodes[n].name.clone()).replace("script ::", &format!("{prefix}script ::"))
    };
    copy("a") + &copy("b")
}

/// Some names of elements and classes.
fn some_names(unit: &Unit, random: &mut Random) -> String {
    let names = unit.network.elements().flat_map(|(_, e)| [e.name.clone(), e.class.clone()]);
    names.filter(|_| random.below(20) == 0).collect::<Vec<_>>().join(" ")
}

#[test]
fn elements_share_code_as_the_rules_say() {
    let registry = frames::registry();
    let (mut elements, mut groups) = (0, 0);
    for seed in 0..40 {
        let text = twice(seed);
        let unit = read(&text);
        let left_out = some_names(&unit, &mut Random::new(seed));
        let router = configured(&unit, &registry).unwrap();
        let expected = Rules::groups(&router, &left_out);
        let found = devirtualize(unit, &registry, &left_out);
        assert_eq!(found.groups(), expected, "seed {seed}, without {left_out}\n{text}");
        found.check(&read(&text), &registry);
        elements += router.len();
        groups += expected.len();
    }
    println!("{elements} elements, {groups} groups");
    assert!(groups < elements * 3 / 4 && groups > elements / 4);
}

#[test]
fn a_copy_shares_everything_with_what_it_is_a_copy_of() {
    let registry = frames::registry();
    for seed in 0..40 {
        for group in devirtualize(read(&twice(seed)), &registry, "").groups() {
            let stems = |first| {
                let with = group.iter().filter_map(|name| name.strip_prefix(first));
                with.map(str::to_string).collect::<BTreeSet<_>>()
            };
            assert_eq!(stems('a'), stems('b'), "seed {seed}");
        }
    }
}

#[test]
fn names_do_not_matter() {
    let registry = frames::registry();
    for seed in 0..40 {
        let model = model::router(&mut Random::new(seed), true);
        let mut order: Vec<usize> = (0..model.nodes.len()).collect();
        let mut random = Random::new(seed ^ 7);
        (1..order.len()).rev().for_each(|n| order.swap(n, random.below(n + 1)));
        let other = |n: usize| format!("y{}", order[n]);
        let renamed = |group: BTreeSet<String>| -> BTreeSet<String> {
            group.iter().map(|name| name[1..].parse().map_or(name.clone(), other)).collect()
        };
        let groups = |text: &str| devirtualize(read(text), &registry, "").groups();
        let plain = groups(&model.text(|n| format!("x{n}")));
        let plain: BTreeSet<_> = plain.into_iter().map(renamed).collect();
        assert_eq!(plain, groups(&model.text(other)), "seed {seed}");
    }
}

#[test]
fn a_second_run_does_it_anew() {
    let registry = frames::registry();
    for seed in 0..12 {
        let once = devirtualize(read(&twice(seed)), &registry, "");
        let (again, _) = Unit::read("t.click", once.unit.to_bytes(), &Options::any_class());
        let again = devirtualize(again, &registry, "");
        assert_eq!(again.unit.to_text(), once.unit.to_text(), "seed {seed}");
        assert_eq!(again.unit.files, once.unit.files, "seed {seed}");
        let other = |unit| devirtualize(unit, &registry, "Queue Counter").unit;
        assert_eq!(other(again.unit).files, other(read(&twice(seed))).files, "seed {seed}");
    }
}

/// A router of `lanes` ways in parallel, each through `length` Nulls, of which one is another class in the last lane.
fn lanes(lanes: usize, length: usize) -> String {
    let mut text = "d :: Discard;\n".to_string();
    for lane in 0..lanes {
        write!(text, "Idle -> ").unwrap();
        for n in 0..length {
            let is_last = (lane, n) == (lanes - 1, length - 1);
            write!(text, "{} -> ", if is_last { "PushNull" } else { "Null" }).unwrap();
        }
        text.push_str("d;\n");
    }
    text
}

#[test]
fn thousands_of_elements_take_few_looks() {
    let registry = frames::registry();
    for (count, length) in [(1, 5000), (50, 100), (1250, 3)] {
        let found = devirtualize(read(&lanes(count, length)), &registry, "");
        let elements = count * (length + 1) + 1;
        let log = elements.ilog2() as usize + 1;
        assert!(found.sharing.looks <= elements * (log + 1), "{} for {elements}", found.sharing.looks);
        // Nulls at the same distance from the end share, with their lanes' sources, but for those of the last lane.
        let expected = if count == 1 { length + 2 } else { 2 * (length + 1) + 1 };
        assert_eq!(found.sharing.groups.len(), expected);
    }
}

/// The reasons in a chain of thousands are too far to be looked for.
#[test]
fn reasons_are_sought_nearby() {
    let registry = frames::registry();
    let listing = devirtualize(read(&lanes(1, 2000)), &registry, "").listing();
    assert!(listing.contains("\n    Null@4 is not as Null@3: something is different far behind them\n"));
    assert!(listing.contains("\n    Null@1990 -> Null@1991 -> Null@1992 -> Null@1993 ... -> "));
    assert!(listing.len() < 500_000, "{}", listing.len());
}
