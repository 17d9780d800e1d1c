//! Combining routers and taking them apart again: nothing is lost.

mod common;

use clickwork_lang::archive::{Archive, Member};
use clickwork_lang::{Graph, Options, elaborate, print};
use clickwork_passes::combine::{Component, combine, spec::LinkSpec, uncombine};
use clickwork_passes::element_map::ElementMap;
use clickwork_passes::undead::undead;
use clickwork_passes::{Facts, Network};
use clickwork_source::{Diagnostics, Sources, Span};
use common::Random;
use common::model::{Model, router_with_device};
use common::trial::run;

fn component(name: &str, text: &str) -> Component {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let (graph, messages) = elaborate(&mut sources, file, &Options::any_class());
    assert!(!messages.has_errors(), "{messages:?}\n{text}");
    Component { name: name.to_string(), graph, files: Archive::default() }
}

fn combined(components: &[Component], links: &[&str]) -> Result<(Network, Archive, Diagnostics), String> {
    let links = links.iter().map(|l| LinkSpec::parse(l)).collect::<Result<Vec<_>, _>>()?;
    combine(components, &links, Span::NONE).map_err(|d| messages(&d))
}

fn messages(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("\n")
}

/// A graph whatever the order of its elements and connections.
fn facts(graph: &Graph) -> Vec<String> {
    let elements = graph.elements.iter().map(|e| format!("{} :: {}({})", e.name, e.class, e.config));
    let name = |n: usize| &graph.elements[n].name;
    let connections = graph.connections.iter();
    let connections = connections.map(|c| {
        format!("{} [{}] -> [{}] {}", name(c.from.element), c.from.port, c.to.port, name(c.to.element))
    });
    let mut facts: Vec<String> = elements.chain(connections).collect();
    facts.sort();
    facts
}

fn taken_out(network: &Network, files: &Archive, name: &str) -> Result<(Network, Archive), String> {
    let (mut network, mut files) = (network.clone(), files.clone());
    uncombine(&mut network, &mut files, name, Span::NONE).map_err(|d| messages(&d))?;
    Ok((network, files))
}

const A: &str = "f :: FromDevice(eth0, SNIFFER false) -> c :: Counter -> q :: Queue -> td :: ToDevice(eth1, DEBUG true); \
                 Script(read c.count); g :: FromDevice(\"eth1\") -> Discard;";
const B: &str = "f :: FromDevice(DEVNAME eth7) -> Print(b) -> Queue(9) -> ToDevice(eth8);";

#[test]
fn a_link_replaces_both_devices() {
    let (network, files, _) =
        combined(&[component("ra", A), component("rb", B)], &["ra.eth1 -> rb.eth7"]).unwrap();
    let link = network.find("link1").and_then(|id| network.element(id)).unwrap();
    let config = "ra td ToDevice, \"eth1, DEBUG true\", rb f FromDevice, DEVNAME eth7";
    assert_eq!((link.class.as_str(), link.config.as_str()), ("RouterLink", config));
    assert!(network.find("ra/td").is_none() && network.find("rb/f").is_none());
    assert_eq!(files.get("componentmap").unwrap().data, b"ra\nrb\n");
    assert_eq!(ElementMap::of(&files).get("RouterLink").unwrap().get("processing"), Some("l/h"));
}

#[test]
fn many_can_share_a_link() {
    let routers = ["a", "b", "c"].map(|n| component(n, "FromDevice(e) -> Discard; Idle -> ToDevice(e)"));
    let links = ["a.e=b.e", "a.e = c.e", "b.e -> c.e"];
    let (network, ..) = combined(&routers, &links).unwrap();
    let link = network.find("link1").unwrap();
    assert_eq!((network.input_count(link), network.output_count(link)), (2, 2));
    assert!(network.find("link2").is_none());
}

#[test]
fn what_went_in_comes_out() {
    let routers = [component("ra", A), component("rb", B)];
    for links in [&["ra.eth1 = rb.eth7", "rb.eth8 = ra.g"][..], &[]] {
        let (network, files, warnings) = combined(&routers, links).unwrap();
        assert_eq!(messages(&warnings), if links.is_empty() { "no links between routers" } else { "" });
        for router in &routers {
            let (alone, files) = taken_out(&network, &files, &router.name).unwrap();
            assert_eq!(facts(&alone.into_graph()), facts(&router.graph));
            assert!(files.get("componentmap").is_none());
        }
    }
}

#[test]
fn combinations_can_be_combined() {
    let (inner, files, _) =
        combined(&[component("ra", A), component("rb", B)], &["ra.eth1 = rb.eth7"]).unwrap();
    let inner = Component { name: "in".into(), graph: inner.into_graph(), files };
    let rc = component("rc", "FromDevice(eth9) -> Discard;");
    let (outer, files, _) = combined(&[inner.clone(), rc], &["in.rb/ToDevice@4 -> rc.eth9"]).unwrap();
    assert_eq!(files.get("componentmap").unwrap().data, b"in\nin/ra\nin/rb\nrc\n");
    let link = outer.find("in/link1").and_then(|id| outer.element(id)).unwrap();
    assert!(
        link.config.starts_with("in/ra td ToDevice") && link.config.contains("in/rb f FromDevice"),
        "{}",
        link.config
    );
    let (again, again_files) = taken_out(&outer, &files, "in").unwrap();
    assert_eq!(facts(&again.into_graph()), facts(&inner.graph));
    assert_eq!(again_files.get("componentmap").unwrap().data, b"ra\nrb\n");
    let (ra, _) = taken_out(&outer, &files, "in/ra").unwrap();
    assert_eq!(facts(&ra.into_graph()), facts(&component("ra", A).graph));
}

#[test]
fn what_tools_add_is_shared_out() {
    let routers = [
        component(
            "ra",
            "FromDevice(e) -> s :: StaticSwitch(0) => q :: Queue, Discard; q -> t :: ToDevice(e)",
        ),
        component(
            "rb",
            "f :: FromDevice(e) -> c :: Classifier(0/01, -) -> Discard; c [1] -> StaticSwitch(-1) -> Discard",
        ),
    ];
    let (mut network, files, _) = combined(&routers, &["ra.t -> rb.f"]).unwrap();
    let registry = clickwork_elements::registry();
    undead(&mut network, &Facts::new(&registry, &files), Span::NONE);
    network.add_new("AlignmentInfo@1", "AlignmentInfo", "ra/q  4 2, rb/c 4 0", Span::NONE);
    let (ra, _) = taken_out(&network, &files, "ra").unwrap();
    let expected = component(
        "",
        "FromDevice@1 :: FromDevice(e) -> q :: Queue -> t :: ToDevice(e); AlignmentInfo@1 :: AlignmentInfo(q  4 2)",
    );
    assert_eq!(facts(&ra.into_graph()), facts(&expected.graph));
    let (rb, _) = taken_out(&network, &files, "rb").unwrap();
    let expected = "f :: FromDevice(e) -> c :: Classifier(0/01, -) -> Discard@3 :: Discard; c [1] -> Idle@undead :: Idle; \
                    AlignmentInfo@1 :: AlignmentInfo(c 4 0)";
    assert_eq!(facts(&rb.into_graph()), facts(&component("", expected).graph));
}

#[test]
fn attached_files_stay_and_must_not_collide() {
    let file =
        |name: &str, data: &str| Member { name: name.into(), modified: 0, mode: 0o644, data: data.into() };
    let map = "<elementmap><entry name=\"Fast\" processing=\"h/h\" portcount=\"1/2\"/></elementmap>";
    let with = |members: Vec<Member>, c: Component| Component { files: Archive { members }, ..c };
    let a = with(vec![file("x.rs", "one"), file("elementmap.xml", map)], component("ra", A));
    let b = with(vec![file("x.rs", "one"), file("y.rs", "two")], component("rb", B));
    let (network, files, _) = combined(&[a.clone(), b], &["ra.eth1 = rb.eth7"]).unwrap();
    let (_, files) = taken_out(&network, &files, "rb").unwrap();
    assert_eq!(
        (&files.get("x.rs").unwrap().data[..], &files.get("y.rs").unwrap().data[..]),
        (&b"one"[..], &b"two"[..])
    );
    assert_eq!(ElementMap::of(&files).get("Fast").unwrap().get("portcount"), Some("1/2"));
    let other = with(vec![file("x.rs", "other")], component("rb", B));
    let error = combined(&[a, other], &[]).unwrap_err();
    assert!(error.contains("router 'rb' brings another file 'x.rs' than a router before it"), "{error}");
}

#[test]
fn mistakes_are_named() {
    let routers = [
        component("ra", A),
        component("rb", B),
        component("rb", "Idle -> ToDevice(e); Idle -> ToDevice(e); ToDevice(f)"),
    ];
    let error = |n: usize, links: &[&str]| combined(&routers[..n], links).unwrap_err();
    assert_eq!(error(2, &["ra.eth1"]), "bad link definition 'ra.eth1'");
    assert_eq!(error(2, &["ra eth1 = rb.eth7"]), "bad link definition 'ra eth1 = rb.eth7'");
    assert_eq!(error(2, &["ra.eth1 = rx.eth7"]), "no router named 'rx'");
    assert_eq!(error(2, &["ra.eth1 = rb.eth5"]), "router 'rb' has no element or device named 'eth5'");
    assert_eq!(error(3, &["ra.eth1 = rb.eth7"]), "two routers named 'rb'");
    assert!(
        error(2, &["ra.q = rb.f"])
            .ends_with("it has connections besides those of input 0, which a link would lose")
    );
    let last = |links: &[&str]| combined(&[routers[0].clone(), routers[2].clone()], links).unwrap_err();
    assert_eq!(last(&["rb.e = ra.f"]), "more than one 'ToDevice(e)' element in router 'rb'");
    assert!(last(&["rb.f = ra.f"]).contains("nothing is connected to its input"));
    let both = combined(&routers[..2], &["ra.td = rb.f", "rb.ToDevice@4 = ra.td"]).unwrap_err();
    assert!(both.contains("router 'ra' element 'td' used as both source and destination"), "{both}");
    let named = combined(&[component("r-a", A)], &[]).unwrap_err();
    assert_eq!(named, "router name 'r-a' is not a legal Click identifier\nno links between routers");
    assert!(combined(&[component("a/7", A)], &[]).unwrap_err().contains("'a/7' is not a legal"));
}

#[test]
fn damaged_combinations_are_refused() {
    let (network, files, _) =
        combined(&[component("ra", A), component("rb", B)], &["ra.eth1 = rb.eth7"]).unwrap();
    assert_eq!(taken_out(&network, &files, "rc").unwrap_err(), "no 'rc' component");
    assert_eq!(taken_out(&network, &files, "ra/x").unwrap_err(), "no 'ra/x' component");
    for config in ["", "ra td ToDevice", "ra td, eth1, rb f FromDevice, e", "a b C, d, e f G, h, i j K, l"] {
        let mut damaged = network.clone();
        let link = damaged.find("link1").unwrap();
        damaged.element_mut(link).unwrap().config = config.to_string();
        assert_eq!(
            taken_out(&damaged, &files, "ra").unwrap_err(),
            "RouterLink 'link1' has strange configuration"
        );
    }
}

#[test]
fn random_networks_come_apart_as_they_were() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let routers: Vec<Component> = (0..2 + random.below(4)).map(|n| router(n, &mut random)).collect();
        let mut links: Vec<String> = Vec::new();
        for _ in 0..random.below(6) {
            let (from, to) = (random.below(routers.len()), random.below(routers.len()));
            links.push(format!("r{from}.t{} = r{to}.f{}", random.below(3), random.below(3)));
        }
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let (network, files, _) = combined(&routers, &links).unwrap();
        for router in &routers {
            let (alone, _) = taken_out(&network, &files, &router.name).unwrap();
            assert_eq!(facts(&alone.into_graph()), facts(&router.graph), "seed {seed} {links:?}");
        }
    }
}

/// A router with three devices for each direction, connected at random.
fn router(n: usize, random: &mut Random) -> Component {
    let mut text = String::new();
    for device in 0..3 {
        let config = random.pick(&["", ", X 1", ", \"a, b\"", " /* c */"]);
        text.push_str(&format!(
            "f{device} :: FromDevice(e{device}{config}); t{device} :: ToDevice(e{device});\n"
        ));
        text.push_str(&format!("q{device} :: Queue({n}); q{device} -> Null -> t{device};\n"));
    }
    for device in 0..3 {
        text.push_str(&format!("f{device} -> Counter -> q{};\n", random.below(3)));
    }
    component(&format!("r{n}"), &text)
}

/// A combination runs as the routers do that somebody has put together by hand.
#[test]
fn a_combination_does_what_its_routers_do_together() {
    let seeds = common::seeds(40);
    let (count, mut seen) = (seeds.clone().count(), 0);
    for seed in seeds {
        let mut random = Random::new(seed);
        let models = ["a", "b", "c"].map(|name| (name, router_with_device(&mut random, name == "a")));
        let routers: Vec<Component> = models
            .iter()
            .map(|(name, model)| component(name, &model.text(|n| model.nodes[n].name.clone())))
            .collect();
        let (network, ..) = combined(&routers, &["a.e0 -> b.e0", "a.e0 -> c.e0"]).unwrap();
        let together = print(&network.into_graph());
        let by_hand = by_hand(&models);
        for ordered in [true, false] {
            let [was, is] = [&by_hand, &together].map(|text| run(text, ordered, &[]));
            seen += was.seen();
            assert_eq!(
                was.difference(&is),
                None,
                "seed {seed}, ordered {ordered}\n{by_hand}\n---\n{together}"
            );
        }
    }
    println!("combine: {count} times three routers, {seen} packets");
    assert!(seen > count * 20, "only {seen} packets");
}

/// Routers in one configuration, with an Unqueue and a Tee in the place of the link.
fn by_hand(models: &[(&str, Model)]) -> String {
    let (mut declarations, mut connections) = (String::new(), String::new());
    for (name, model) in models {
        let place = |n: usize| match model.nodes[n].class.as_str() {
            "FromDevice" => format!("to_{name}"),
            "ToDevice" => "link".to_string(),
            _ => format!("{name}/{}", model.nodes[n].name),
        };
        for (n, node) in model.nodes.iter().enumerate().filter(|(_, node)| !node.class.ends_with("Device")) {
            declarations += &format!("{} :: {};\n", place(n), node.declaration());
        }
        for [(a, p), (b, q)] in &model.wires {
            connections += &format!("{} [{p}] -> [{q}] {};\n", place(*a), place(*b));
        }
        declarations += &model.script(place).replace("script ::", &format!("{name}/script ::"));
    }
    let link = "link :: Unqueue -> Arrive => Tee => to_b :: Null, to_c :: Null;";
    format!("{declarations}{link}\n{connections}")
}
