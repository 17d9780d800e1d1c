//! The language as a whole: what configurations mean, and what is said about wrong ones.

mod common;

use clickwork_lang::{Library, LoadError, Loader, Options, print};
use common::{Classes, graph, graph_with, messages, outline};

/// Asserts the printed form of a configuration's graph; blank lines do not count.
#[track_caller]
fn prints(text: &str, expected: &str) {
    assert_same(&print(&graph(text)), expected);
}

#[track_caller]
fn assert_same(actual: &str, expected: &str) {
    let lines =
        |text: &str| text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect::<Vec<_>>();
    assert_eq!(lines(actual), lines(expected));
}

#[test]
fn declarations_and_chains() {
    prints(
        "a, b :: Queue(5); Idle -> a -> u :: Unqueue -> b -> Unqueue -> Discard",
        "a :: Queue(5);
         b :: Queue(5);
         Idle@3 :: Idle;
         u :: Unqueue;
         Unqueue@5 :: Unqueue;
         Discard@6 :: Discard;
         Idle@3 -> a
             -> u
             -> b
             -> Unqueue@5
             -> Discard@6;",
    );
}

#[test]
fn port_lists_ranges_and_expandable_ports() {
    let text = "t :: Tee; Idle -> t [2,0-1] => [1-2, 0] x :: Null; x => Discard, Discard; t [3,] => y :: Null, z :: Null";
    let outline = outline(&graph(text));
    let wires = [
        "t[0] -> [2]x",
        "t[1] -> [0]x",
        "t[2] -> [1]x",
        "t[3] -> [0]y",
        "t[4] -> [0]z",
        "x[0] -> [0]Discard@4",
        "x[1] -> [0]Discard@5",
    ];
    for wire in wires {
        assert!(outline.contains(&wire.to_owned()), "{wire} is not in {outline:?}");
    }
    assert_eq!(outline.iter().filter(|l| l.contains(" -> ")).count(), wires.len() + 1);
}

#[test]
fn pseudo_elements_count_in_the_numbers_of_names() {
    prints(
        "Idle -> ( [0] -> Null -> [0] ) -> Null -> { input -> Null -> output } -> Discard;",
        "Idle@1 :: Idle;
         Null@5 :: Null;
         Null@6 :: Null;
         Discard@8 :: Discard;
         @7/Null@1 :: Null;
         Idle@1 -> Null@5 -> Null@6 -> @7/Null@1 -> Discard@8;"
            .replace(" -> ", "\n-> ")
            .replacen("\n-> ", " -> ", 1)
            .as_str(),
    );
}

#[test]
fn a_made_up_name_gives_way_to_a_declared_one() {
    let graph = graph("Idle@1 :: Idle -> Discard; Null@3 :: Null; Idle -> Null@3 -> Discard@2 :: Discard");
    let names: Vec<&str> = graph.elements.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["Idle@1", "Discard@3", "Null@3", "Idle@4", "Discard@2"]);
}

#[test]
fn compound_elements_keep_their_origin() {
    let graph = graph(
        "elementclass Out { input -> Queue -> Unqueue -> output }\nIdle -> a :: { input -> b :: Out -> output } -> Discard",
    );
    let queue = &graph.elements[graph.find("a/b/Queue@1").unwrap()];
    let origins: Vec<(&str, &str)> =
        queue.compounds.iter().map(|c| (c.name.as_str(), c.class.as_str())).collect();
    assert_eq!(origins, [("a", ""), ("a/b", "Out")]);
    assert_eq!((graph.input_count(0), graph.output_count(0)), (0, 1));
}

#[test]
fn class_names_are_lexically_scoped() {
    prints(
        "elementclass Null { input -> Null -> Paint(1) -> output }
         elementclass Other Null;
         o :: { elementclass Null Print; input -> Null -> Other -> output }
         Idle -> o -> Discard",
        "Idle@2 :: Idle;
         Discard@3 :: Discard;
         o/Null@1 :: Print;
         o/Other@2/Null@1 :: Null;
         o/Other@2/Paint@2 :: Paint(1);
         Idle@2 -> o/Null@1
             -> o/Other@2/Null@1
             -> o/Other@2/Paint@2
             -> Discard@3;",
    );
}

#[test]
fn parameters_positional_keyword_and_rest() {
    let text = "elementclass A { $x, K $k, __REST__ $rest | define($y <$x>); input -> Print($y, $k, $rest) -> output }
                Idle -> A(1, L 2, K \"3 4\", 5) -> Discard";
    assert!(outline(&graph(text)).contains(&"A@2/Print@1 :: Print(<1>, \"3 4\", L 2, 5)".to_owned()));
}

#[test]
fn overloads_are_chosen_by_arguments_and_ports() {
    let text = "elementclass Q { input -> Queue -> Unqueue -> output || $n | input -> Queue($n) -> Unqueue -> output }
                elementclass Q { input -> Tee => output, [1] output || ... }
                elementclass Null { $a, $b | input -> Paint($a) -> Paint($b) -> output || ... }
                Idle -> Q -> Q(7) -> t :: Q; t -> Null -> Null(1, 2) -> Discard; t [1] -> Discard";
    let graph = graph(text);
    let names: Vec<String> = graph.elements.iter().map(|e| format!("{}({})", e.name, e.config)).collect();
    assert_eq!(names[0..5], ["Idle@1()", "Null@5()", "Discard@7()", "Discard@8()", "Q@2/Queue@1()"]);
    assert_eq!(
        names[6..],
        ["Q@3/Queue@1(7)", "Q@3/Unqueue@2()", "t/Tee@1()", "Null@6/Paint@1(1)", "Null@6/Paint@2(2)"]
    );
}

#[test]
fn variables_of_the_command_line_go_before_defined_ones() {
    let options = Options {
        defines: vec![("x".into(), "1".into()), ("z".into(), "$x".into())],
        ..Options::new(&Classes)
    };
    let text = "define($x 2, $y <$x>); Idle -> Print($x, $y, ${z}, '$x', $none, ${none-d}) -> Discard";
    let graph = graph_with(text, &options);
    assert_eq!(graph.elements[1].config, "1, <1>, 1, '$x', $none, d");
    let kept = graph_with(text, &Options { expand_defines: false, ..options });
    assert_eq!(kept.elements[1].config, "$x, $y, ${z}, '$x', $none, ${none-d}");
    assert_eq!(outline(&kept).split_off(5), ["$x 1", "$y <$x>", "$z $x"]);
    let comma =
        Options { defines: vec![("x".into(), "1, 2".into())], expand_defines: false, ..Options::any_class() };
    assert_same(&print(&graph_with("", &comma)), "define($x \"1, 2\");");
}

#[test]
fn pass_through_compounds_and_circles() {
    prints(
        "box :: { input [0] -> [1] output; input [1] -> [0] output };
         a :: Idle -> box -> d :: Discard; b :: Idle -> [1] box [1] -> e :: Discard;
         l :: { input -> output }; l -> l;",
        "a :: Idle; d :: Discard; b :: Idle; e :: Discard; b -> d; a -> e;".replace("; ", ";\n").as_str(),
    );
}

#[test]
fn requirements() {
    let graph = graph("require(package \"a b\", c, compact_config); provide(d)");
    assert_eq!(outline(&graph), ["package a b", "package c", "compact_config ", "provide d"]);
}

struct Shelf;

impl Loader for Shelf {
    fn load(&self, library: &str, from: &str) -> Result<Library, LoadError> {
        match library {
            "one" => Ok(("/lib/one", "require(library two); elementclass One { input -> Null -> output }")),
            "two" => Ok(("/lib/two", "require(library one, library two); $")),
            "bad" => Err(LoadError::Failed(format!("{from} may not"))),
            _ => Err(LoadError::NotFound),
        }
        .map(|(name, text)| Library { name: name.into(), text: text.into() })
    }
}

#[test]
fn libraries_are_read_once_and_may_require_each_other() {
    let options = Options { loader: &Shelf, ..Options::new(&Classes) };
    let text = "require(library one, library \"one\", library bad, library none);\nIdle -> One -> Discard";
    let (graph, diagnostics, sources) = common::run(text, &options);
    let messages: Vec<String> =
        diagnostics.iter().map(|d| clickwork_source::render_click(&sources, d)).collect();
    assert_eq!(
        messages,
        [
            "config.click:1: library 'bad' cannot be read: config.click may not\n",
            "config.click:1: library 'none' not found in CLICKPATH/conf\n",
            "/lib/two:1: syntax error near '$'\n",
        ]
    );
    assert_eq!(graph.elements[2].name, "One@2/Null@1");
}

#[test]
fn messages_name_every_fault_in_clicks_words() {
    let text = "a :: Idle;\na -> b;\na :: Discard;\nIdle -> -> Discard;\nc :: ;\nd :: Quee(\n);\nPrint(1) :: Idle;\nd(4) [0];\n";
    assert_eq!(
        messages(text),
        "config.click:2: undeclared element 'b'
config.click:3: redeclaration of element 'a'
config.click:1: element 'a' previously declared here
config.click:4: syntax error near '->'
config.click:5: missing element type in declaration
config.click:6: unknown element class 'Quee'
config.click:8: syntax error near '::'
config.click:9: configuration string ignored on element reference
config.click:9: output ports ignored at end of chain
"
    );
}

#[test]
fn one_slip_gets_one_message() {
    for (text, message) in [
        ("a :: Idle -> [0 -> d :: Discard; Idle -> d", "syntax error: expected ','"),
        ("a :: Idle -> [0]; d :: Discard", "stranded port ignored"),
        ("a :: Idle -> -> d :: Discard", "syntax error near '->'"),
        ("a :: Idle -> ; d :: Discard", "syntax error near ';'"),
        ("a :: Idle -> d :: Discard; }", "syntax error near '}'"),
        ("a :: Idle; $x; d :: Discard", "syntax error near '$x'"),
        ("elementclass; d :: Discard", "expected element type name"),
        ("define\nd :: Discard", "expected '('"),
        ("define $x 3; d :: Discard", "expected '('"),
        ("elementclass X { $a $b | input -> output }; d :: Discard", "expected ',' or '|'"),
        ("elementclass X -> ; d :: Discard", "syntax error near '->'"),
    ] {
        let line = 1 + text.matches('\n').count();
        assert_eq!(messages(text), format!("config.click:{line}: {message}\n"), "{text}");
        let found = common::run(text, &Options::new(&Classes)).0.find("d").is_some();
        assert!(found, "{text} does not go on after the error");
    }
}

#[test]
fn tools_that_know_no_classes_still_keep_names_of_classes_and_elements_apart() {
    let messages = |text: &str| {
        let (_, diagnostics, sources) = common::run(text, &Options::any_class());
        diagnostics.iter().map(|d| clickwork_source::render_click(&sources, d)).collect::<String>()
    };
    for (text, expected) in [
        ("Foo :: Foo;", "class 'Foo' used as element name"),
        ("a :: Foo; Foo :: Bar;", "class 'Foo' used as element name"),
        ("x :: a; a :: Foo;", "class 'a' used as element name"),
        ("a :: Foo; b :: a;", "'a' was previously used as an element name"),
        ("a :: Foo; elementclass b a;", "'a' was previously used as an element name"),
        ("a :: Foo; elementclass a { input -> output };", "'a' already used as an element name"),
    ] {
        assert_eq!(messages(text), format!("config.click:1: {expected}\n"), "{text}");
    }
    // What a compound calls its elements is its own affair.
    assert_eq!(
        messages(
            "a :: Foo; elementclass b { a :: Bar; input -> a -> output }; c :: b; Bar -> c -> d :: Bar;"
        ),
        ""
    );
    // The router knows its classes, and lets an element hide none of them.
    assert_eq!(common::messages("a :: Idle; elementclass a { input -> output };"), "");
}

#[test]
fn messages_about_compound_elements() {
    assert_eq!(
        messages("elementclass A { $a, $b | input -> Print($a, $b) -> output }\nIdle -> A(1) -> Discard;"),
        "config.click:2: no match for 'A[1 argument, 1 input, 1 output]'
config.click:1: candidates are:
config.click:1:   A(<arg>, <arg>)[1 input, 1 output]
"
    );
    assert_eq!(
        messages("c :: { input [1] -> output };\nIdle -> c [1] -> Discard;\nIdle -> [1] c;\nIdle -> [2] c"),
        "config.click:1: '<anonymous>' input 0 missing
config.click:1: 'c' has no input 0
config.click:1: 'c' has no output 1
config.click:1: 'c' has no input 2
config.click:1: 'c' output 0 unused
"
    );
    assert_eq!(
        messages("c :: { Idle -> input; input -> output };\nIdle -> c -> Discard;\n"),
        "config.click:1: '<anonymous>' pseudoelement 'input' may only be used as output
config.click:3: 'c/input' used as input
"
    );
    assert_eq!(
        messages("elementclass A { K $k, $p, $k | input -> output; -> Discard }"),
        "config.click:1: compound element parameters out of order
config.click:1: (The correct order is '[positional], [keywords], [__REST__]'.)
config.click:1: parameter '$k' multiply defined
"
    );
}

#[test]
fn messages_about_connections() {
    for (text, message) in [
        ("Idle, Idle -> Discard, Discard", "syntax error: many-to-many connections require '=>'"),
        ("Tee [0,1] => Discard, Discard, Discard", "connection mismatch: 2 outputs connected to 3 inputs"),
        ("Tee [] => [] Null", "at most one expandable port allowed per connection"),
        ("Tee [0,1,2,] => Null, Null", "connection mismatch: 3 or more outputs connected to 2 inputs"),
        ("Idle -> [x] Discard", "syntax error: port number should be integer"),
        ("[1] Idle -> Discard", "input ports ignored at start of chain"),
        ("( [0] -> Null )", "input ports ignored at start of chain"),
        (
            "Idle -> ( -> Null -> [0], Null -> output ) -> Discard",
            "implicit ports used in the middle of a chain",
        ),
        (
            "Idle -> ( Idle -> Discard; -> [0] ) -> Discard",
            "warning: suggest 'input ->' or '[0] ->' to start connection",
        ),
        ("{ input -> output", "expected '}'"),
        ("( -> Null", "expected ')'"),
        ("Idle -> Print(\"a", "expected ')'"),
        ("1 :: Idle", "element name '1' has all-digit component"),
        ("#include <x>", "unknown preprocessor directive"),
        ("x :: { define($a 1, $a 2) }", "parameter '$a' multiply defined"),
    ] {
        let all = messages(text);
        let first = format!("config.click:1: {message}\n");
        assert!(all.contains(&first), "{text} says\n{all}");
    }
}

#[test]
fn places_follow_line_directives() {
    assert_eq!(
        messages(
            "# 100 \"zebra.x\"\na ->\n#line 7 \"other.y\"\n b;\n# 3 \"\"\n c -> Print(\n#line 20\n); d [0]"
        ),
        "zebra.x:100: undeclared element 'a'\nother.y:7: undeclared element 'b'\nconfig.click:3: undeclared element 'c'\nconfig.click:20: undeclared element 'd'\nconfig.click:20: output ports ignored at end of chain\n"
    );
}

#[test]
fn hostile_configurations_end_with_a_message() {
    let deep = format!("{}{}", "{".repeat(100_000), "(".repeat(100_000));
    assert!(messages(&deep).contains("maximum compound element nesting depth exceeded"));
    let doubling: String = (1..20)
        .map(|i| format!("elementclass C{i} {{ input -> C{0} -> C{0} -> output }}\n", i - 1))
        .collect();
    let text = format!("elementclass C0 {{ input -> Null -> output }}\n{doubling}Idle -> C19 -> Discard");
    assert!(messages(&text).contains("configuration expands to more than"));
    let chain: String =
        (1..1000).map(|i| format!("elementclass C{i} {{ input -> C{} -> output }}\n", i - 1)).collect();
    let text = format!("elementclass C0 {{ input -> Null -> output }}\n{chain}Idle -> C999 -> Discard");
    assert!(messages(&text).contains("nested more than 200 deep"));
    assert!(messages("x :: Tee [0-65535] => [0-65535] x;".repeat(17).as_str()).contains("connections"));
    let through = format!("Idle -> {} Discard", "{ input -> output } -> ".repeat(5_000));
    assert_eq!(graph(&through).connections.len(), 1);
}
