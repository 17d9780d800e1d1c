//! `clickwork graph`: whole routers, parts of them, and what another configuration has not.

mod common;

use common::Scratch;

#[test]
fn a_configuration_is_drawn_with_its_ports_and_compounds() {
    let dir = Scratch::new("graph");
    let config =
        "elementclass Buffer { input -> Queue(7) -> output } Idle -> b :: Buffer -> n :: Null -> Discard;";
    let graph = |output: &str| dir.clickwork().args(["graph", "-e", config, "-o", output]).assert();
    graph("a.svg").success();
    let svg = dir.read("a.svg");
    for part in [
        "<svg ",
        ">Queue</tspan>",
        ">7</text>",
        ">b :: Buffer</text>",
        "class=\"pull\"",
        "push output",
        "</svg>\n",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    graph("a.dot").success();
    let dot = dir.read("a.dot");
    assert!(dot.contains("subgraph cluster0") && dot.contains(":o0:s -> "), "{dot}");
    graph("a.png").code(1).stderr_eq("error: a.png: cannot write .png files; [..]\n");
}

/// Titles of the elements that are drawn so, without configurations.
fn titles(svg: &str, class: &str) -> Vec<String> {
    let boxes = svg
        .split("<g")
        .map(|b| b.split("</g>").next().unwrap())
        .filter(|b| b.contains("</title>") && b.contains(class));
    let title = |b: &str| b.split("<title>").nth(1).unwrap().split(['(', '<']).next().unwrap().to_string();
    boxes.map(title).collect()
}

const ROUTER: &str = "elementclass Way { $n | input -> c :: Counter -> p :: Paint($n) -> output }
    s :: InfiniteSource -> a :: Way(1) -> b :: Way(2) -> d :: Discard; s2 :: InfiniteSource -> e :: Discard;";

#[test]
fn a_part_is_drawn_with_what_it_is_connected_to() {
    let dir = Scratch::new("graph-only");
    let only = |names: &str| {
        let drawn = dir.clickwork().args(["graph", "-e", ROUTER, "--only", names, "-o", "a.svg"]).assert();
        drawn.success().stderr_eq("");
        let svg = dir.read("a.svg");
        (titles(&svg, "class=\"box\""), titles(&svg, "class=\"outside\""))
    };
    let list = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let (inside, outside) = (["b/c :: Counter", "b/p :: Paint"], ["d :: Discard", "a/p :: Paint"]);
    assert_eq!(only("b"), (list(&inside), list(&outside)));
    assert!(
        dir.read("a.svg").contains(">b :: Way</text>") && !dir.read("a.svg").contains(">a :: Way</text>")
    );
    assert_eq!(only("*/p,e").0, ["e :: Discard", "a/p :: Paint", "b/p :: Paint"]);
    let wrong = dir.clickwork().args(["graph", "-e", ROUTER, "--only", "b,a/q"]).assert().code(1);
    wrong.stderr_eq("error: no element 'a/q'; did you mean 'a/c'?\n");
}

#[test]
fn what_another_configuration_lacks_is_marked() {
    let dir = Scratch::new("graph-against");
    dir.write("a.click", ROUTER);
    let flat = ["flatten", "a.click", "--no-lines", "-o", "b.click"];
    dir.clickwork().args(flat).assert().success();
    let compare = |file: &str, other: &str, more: &str| {
        let args = ["graph", file, "--against", other, "-o", "a.svg"];
        dir.clickwork().args(args).args(more.split_whitespace()).assert().success().stderr_eq("");
        dir.read("a.svg")
    };
    for (file, other) in [("a.click", "b.click"), ("b.click", "a.click")] {
        let same = compare(file, other, "");
        assert!(!same.contains("\"halo") && !same.contains("wire missing\""));
    }
    let changed = dir.read("b.click").replace("Paint(2)", "Paint(3)").replace("-> d", "-> n :: Null -> d");
    dir.write("b.click", &changed);
    let marked = compare("b.click", "a.click", "--group");
    assert_eq!(titles(&marked, "halo different"), ["b/p :: Paint"]);
    assert_eq!(titles(&marked, "halo missing"), ["n :: Null"]);
    assert_eq!(
        marked.matches("class=\"wire missing\"").count(),
        5,
        "in b, through its edge, to n, to d; legend"
    );
    assert!(marked.contains(">connection not in a.click<") && marked.contains(">b</text>"));
    let gone = compare("a.click", "b.click", "--only b,d");
    assert!(gone.contains(">otherwise in b.click<") && !gone.contains(">not in b.click<"));
    dir.write("c.click", "s :: InfiniteSource -> d :: Discard");
    let dot = ["graph", "c.click", "--against", "a.click", "-o", "a.dot"];
    dir.clickwork().args(dot).assert().success();
    assert!(dir.read("a.dot").contains("e0:o0:s -> e1:i0:n [color"), "{}", dir.read("a.dot"));
    dir.clickwork()
        .args(["graph", "c.click", "--against", "none.click"])
        .assert()
        .code(1)
        .stderr_eq("error: none.click: No such file or directory\n");
}
