//! What `prolacc` tells people about a program.

use snapbox::cmd::Command;
use snapbox::str;
use std::path::{Path, PathBuf};

const PROGRAM: &str = r#"// A base and two extensions.

/* The state of
 * a connection. */
module Base.Tcb {
  exception gone;
  field state :> int @ 4;
  // Called for each segment;
  // returns how many.
  hook(n :> uint) :> int ::= n + 1;
  idle :> bool ::= state == 0;
  constructor ::= state = 0;
}
module Tcb ::= Base.Tcb;
module Rtt.Tcb :> super.Tcb {
  hook(n :> uint) :> int ::= 10 + super.hook(n);
}
module Ack.Tcb :> super.Tcb {
  hook(n :> uint) :> int ::= idle ==> noinline super.hook(n) ||| 4;
} hide state;
module Input has .Tcb {
  field tcb :> *Tcb using all;
  constructor(t :> *Tcb) ::= tcb = t;
  run :> int ::= hook(3) + 1;
}
module Main has .Tcb, .Input inline all {
  static run :> int ::= let t :> Tcb in Input(&t).run end;
}
export Main.run;
"#;

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("tcp.pc"), PROGRAM).unwrap();
    path
}

fn prolacc(directory: &Path, words: &str) -> Command {
    let command = Command::new(snapbox::cmd::cargo_bin!("prolacc"));
    command.current_dir(directory).args(words.split_whitespace())
}

#[test]
fn chains_show_layers_and_what_they_override() {
    prolacc(&directory("chain"), "tcp.pc --emit=chain").assert().code(0).stderr_eq("").stdout_eq(str![[r#"
Base.Tcb  tcp.pc:5
     adds hook, idle
  :> Rtt.Tcb  tcp.pc:15
       overrides hook (Base.Tcb)
  :> Ack.Tcb  tcp.pc:18 (the end of the chain)
       is also Tcb  tcp.pc:14
       overrides hook (Rtt.Tcb)
Input  tcp.pc:21
     adds run
Main  tcp.pc:26
     adds run

"#]]);
}

#[test]
fn namespaces_show_what_each_module_sees() {
    prolacc(&directory("namespaces"), "tcp.pc --emit=namespaces").assert().code(0).stdout_eq(str![[r#"
module Base.Tcb  tcp.pc:5
  Tcb          itself: module Base.Tcb               tcp.pc:5
  constructor  constructor in Base.Tcb               tcp.pc:12
  gone         exception                             tcp.pc:6
  hook         hook(n :> uint) :> int in Base.Tcb    tcp.pc:10
  idle         idle :> bool in Base.Tcb              tcp.pc:11
  state        field :> int @ 4                      tcp.pc:7

module Rtt.Tcb :> Base.Tcb  tcp.pc:15
  Tcb          itself: module Rtt.Tcb                            tcp.pc:15
  constructor  constructor in Rtt.Tcb                            tcp.pc:15
  gone         exception                          from Base.Tcb  tcp.pc:6
  hook         hook(n :> uint) :> int in Rtt.Tcb  from Base.Tcb  tcp.pc:16
  idle         idle :> bool in Base.Tcb           from Base.Tcb  tcp.pc:11
  state        field :> int @ 4                   from Base.Tcb  tcp.pc:7
  super        parent: module Base.Tcb                           tcp.pc:15

module Ack.Tcb :> Rtt.Tcb  tcp.pc:18
  Tcb          itself: module Ack.Tcb                            tcp.pc:18
  constructor  constructor in Ack.Tcb                            tcp.pc:18
  gone         exception                          from Base.Tcb  tcp.pc:6
  hook         hook(n :> uint) :> int in Ack.Tcb  from Base.Tcb  tcp.pc:19
  idle         idle :> bool in Base.Tcb           from Base.Tcb  tcp.pc:11
  state        field :> int @ 4                   from Base.Tcb  tcp.pc:7   hidden from others
  super        parent: module Rtt.Tcb                            tcp.pc:18

module Input  tcp.pc:21
  Input        itself: module Input                                  tcp.pc:21
  Tcb          import: module Ack.Tcb                                tcp.pc:21  hides state
  constructor  constructor(t :> *Ack.Tcb) in Input                   tcp.pc:23
  hook         implicit: Ack.Tcb.hook through the field Input.tcb    tcp.pc:24
  run          run :> int in Input                                   tcp.pc:24
  tcb          field :> *Ack.Tcb                                     tcp.pc:22

module Main  tcp.pc:26
  Input        import: module Input         tcp.pc:26  inline[2] all
  Main         itself: module Main          tcp.pc:26
  Tcb          import: module Ack.Tcb       tcp.pc:26  hides state
  constructor  constructor in Main          tcp.pc:26
  run          static run :> int in Main    tcp.pc:27

"#]]);
}

const LONG: &str = "module Base {
  static limit :> int ::= 4 * half;
  static half :> int ::= 2;
  hook(n :> int)
      :> int ::=
    n > limit ==> n - 1
      ||| outline (other(n), 2);
  other(n :> int) :> int ::= { n++; } n;
}
module Sub :> Base { constructor ::= true; hook(n :> int) :> int ::= super.hook(n) + limit; }
module U has Sub { static t :> int ::= let s :> Sub in s.hook(3) end; }
export U.t;
";

#[test]
fn whole_definitions_are_explained_without_constants() {
    let d = directory("explain-long");
    std::fs::write(d.join("long.pc"), LONG).unwrap();
    prolacc(&d, "long.pc --explain Base.hook").assert().code(0).stdout_eq(str![[r#"
hook: 2 definitions, in the order of overriding

  1  Base.hook  long.pc:4
       hook(n :> int)
           :> int ::=
         n > limit ==> n - 1
           ||| outline (other(n), 2);

  2  Sub.hook  long.pc:10  overrides 1
       hook(n :> int) :> int ::= super.hook(n) + limit;
...
Calls in its definitions:
  in 1: Base.other [..]
  in 2: Base.hook [..]

"#]]);
    prolacc(&d, "long.pc --stats").assert().code(0).stdout_eq(str![[r#"
...
nodes of trees                            36              10
  outlined                                 7               7
branches outlined                          1               1
...
"#]]);
    prolacc(&d, "long.pc --stats --no-outline").assert().code(0).stdout_eq(str![[r#"
...
  outlined                                 0               0
branches outlined                          0               0
...
"#]]);
}

#[test]
fn a_method_is_explained_with_all_its_definitions_and_calls() {
    let d = directory("explain");
    prolacc(&d, "tcp.pc --explain Tcb.hook").assert().code(0).stdout_eq(str![[r#"
hook: 3 definitions, in the order of overriding

  1  Base.Tcb.hook  tcp.pc:10
       hook(n :> uint) :> int ::= n + 1;

  2  Rtt.Tcb.hook  tcp.pc:16  overrides 1
       hook(n :> uint) :> int ::= 10 + super.hook(n);

  3  Ack.Tcb.hook  tcp.pc:19  overrides 2
       hook(n :> uint) :> int ::= idle ==> noinline super.hook(n) ||| 4;

An object of
  Base.Tcb  uses 1
  Rtt.Tcb   uses 2
  Ack.Tcb   uses 3  = Tcb

Calls of it, in methods that can run:
  Rtt.Tcb.hook           tcp.pc:16              reaches 1                      inlined
  Ack.Tcb.hook           tcp.pc:19              reaches 2                      not inlined: `noinline`
  Input.run              tcp.pc:24  on Input    reaches Input.hook (implicit)  inlined
  Input.hook (implicit)  tcp.pc:24  on Ack.Tcb  reaches 3                      not inlined: nobody asks for it, and it has 10 nodes

Calls in its definitions:
  in 2: Base.Tcb.hook  tcp.pc:16              reaches 1              inlined
  in 3: Base.Tcb.idle  tcp.pc:19  on Ack.Tcb  reaches Base.Tcb.idle  inlined
  in 3: Rtt.Tcb.hook   tcp.pc:19              reaches 2              not inlined: `noinline`

"#]]);
    for name in ["hook", "Base.Tcb.hook", "Rtt.Tcb.hook"] {
        let output = prolacc(&d, &format!("tcp.pc --explain {name}")).output().unwrap();
        assert!(output.stdout.starts_with(b"hook: 3 definitions"), "{name}");
    }
    prolacc(&d, "tcp.pc --explain Tcb.hok").assert().code(1).stdout_eq("").stderr_eq(str![[r#"
error: the module Ack.Tcb has no method 'hok'; did you mean 'hook'?

1 error

"#]]);
    prolacc(&d, "tcp.pc --explain Base.tcb.hook").assert().code(1).stderr_eq(str![[r#"
error: there is no method 'Base.tcb.hook': write MODULE.METHOD; did you mean 'Base.Tcb.hook'?

1 error

"#]]);
}

#[test]
fn the_call_graph_is_for_graphviz() {
    prolacc(&directory("callgraph"), "tcp.pc --emit=callgraph").assert().code(0).stdout_eq(str![[r#"
digraph calls {
  rankdir=LR;
  node [shape=box, fontname=monospace];
  subgraph cluster0 {
    label="Base.Tcb";
    m0 [label="hook"];
    m1 [label="idle"];
    m2 [label="constructor"];
  }
  subgraph cluster1 {
    label="Rtt.Tcb";
    m3 [label="hook"];
    m8 [label="constructor"];
  }
  subgraph cluster2 {
    label="Ack.Tcb";
    m4 [label="hook"];
    m9 [label="constructor"];
  }
  subgraph cluster3 {
    label="Input";
    m5 [label="constructor"];
    m6 [label="run"];
    m11 [label="hook"];
  }
  subgraph cluster4 {
    label="Main";
    m7 [label="run", peripheries=2];
  }
  m3 -> m0 [style=dotted];
  m4 -> m1 [style=dotted];
  m4 -> m3;
  m6 -> m11 [style=dotted];
  m7 -> m5 [style=dotted];
  m7 -> m6 [style=dotted];
  m7 -> m9 [style=dotted];
  m8 -> m2 [style=dotted];
  m9 -> m8 [style=dotted];
  m11 -> m4;
}

"#]]);
}

#[test]
fn statistics_count_dispatches_under_each_rule() {
    prolacc(&directory("stats"), "tcp.pc --stats").assert().code(0).stdout_eq(str![[r#"
modules [..]
...
dispatches, by rule
  naive [..]
  defined once [..]
  leaf [..]
  leaf with construction                   0               0
...
"#]]);
}

/// The tags of a page must nest, and each link must lead somewhere.
#[test]
fn the_reference_is_one_valid_page() {
    let d = directory("doc");
    prolacc(&d, "doc tcp.pc -o out.html --title A&B").assert().code(0).stderr_eq("").stdout_eq("");
    let page = std::fs::read_to_string(d.join("out.html")).unwrap();
    let (head, body) = page.split_once("<body>").unwrap();
    assert!(head.contains("<title>A&amp;B</title>") && head.contains("prefers-color-scheme: dark"));
    let body = body.split("<script>").next().unwrap();
    let mut open = Vec::new();
    let (mut anchors, mut links) = (Vec::new(), Vec::new());
    for tag in body.split('<').skip(1).map(|part| part.split('>').next().unwrap()) {
        let name = tag.split_whitespace().next().unwrap();
        match name.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if name == "input" => {}
            None => open.push(name),
        }
        let value = |key: &str| Some(tag.split_once(key)?.1.split('"').next().unwrap());
        anchors.extend(value(" id=\""));
        links.extend(value(" href=\"#"));
    }
    assert!(open.is_empty(), "{open:?}");
    let mut unique = anchors.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), anchors.len());
    for link in &links {
        assert!(anchors.contains(link), "{link} leads nowhere");
    }
    assert!(!page.contains("http"), "the page needs no network");
    for part in [
        "<p>Called for each segment;\nreturns how many.</p>",
        "<p>The state of\na connection.</p>",
        "<dt>Overridden by</dt><dd><a href=\"#Rtt.Tcb.hook\">Rtt.Tcb.hook</a></dd>",
        "<p>Implicit: stands for <a href=\"#Ack.Tcb.hook\">Ack.Tcb.hook</a>.</p>",
        "<span class=\"k\">super</span>.<a href=\"#Base.Tcb.hook\">hook</a>(n)",
        "<li class=\"this\"><a href=\"#Rtt.Tcb\">",
        "Base.<a href=\"#Base.Tcb\">Tcb</a>;",
        "<a href=\"#Main\">Main</a>.<a href=\"#Main.run\">run</a>;",
    ] {
        assert!(body.contains(part), "no {part}");
    }
}

#[test]
fn a_reference_can_go_into_a_directory() {
    let d = directory("doc-directory");
    std::fs::create_dir(d.join("html")).unwrap();
    prolacc(&d, "doc tcp.pc -o html").assert().code(0);
    assert!(std::fs::read_to_string(d.join("html/index.html")).unwrap().contains("<title>tcp</title>"));
    prolacc(&d, "doc tcp.pc -o no/where.html").assert().code(1).stderr_eq(str![[r#"
error: cannot write 'no/where.html': there is no directory 'no'

"#]]);
}

#[test]
fn the_reference_counts_lines_as_marks_say() {
    let d = directory("doc-included");
    std::fs::write(d.join("main.pc"), "\n\n#include \"tcp.pc\"\n// last\nmodule Last { }\n").unwrap();
    prolacc(&d, "doc main.pc -o out.html").assert().code(0);
    let page = std::fs::read_to_string(d.join("out.html")).unwrap();
    for part in [
        ">tcp.pc:21</a>",
        "data-n=\"21\"><span class=\"k\">module</span> <a class=\"d\" href=\"#Input\">",
        ">main.pc:5</a>",
        "<p>last</p>",
    ] {
        assert!(page.contains(part), "no {part}");
    }
}
