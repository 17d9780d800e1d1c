//! `prolacc` as its users meet it: files, messages, exit status.

use snapbox::cmd::Command;
use snapbox::str;
use std::path::{Path, PathBuf};

/// A fresh directory with files.
fn directory(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    let _ = std::fs::remove_dir_all(&path);
    for (file, text) in files {
        let file = path.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    path
}

/// `prolacc` with words, run in a directory.
fn prolacc(directory: &Path, words: &str) -> Command {
    Command::new(snapbox::cmd::cargo_bin!("prolacc"))
        .current_dir(directory)
        .env_remove("CPP")
        .env_remove("NO_COLOR")
        .args(words.split_whitespace())
}

#[test]
fn missing_files_and_directories_are_named() {
    let d = directory("missing", &[("main.pc", ""), ("sub/x", "")]);
    prolacc(&d, "mian.pc sub").assert().code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot read 'mian.pc': No such file or directory
 |
 = help: did you mean 'main.pc'?

error: cannot read 'sub': it is a directory

2 errors

"#]]);
}

#[test]
fn the_first_wrong_byte_is_shown() {
    let d = directory("utf8", &[]);
    std::fs::create_dir_all(&d).unwrap();
    std::fs::write(d.join("a.pc"), b"module A {\n  \xff }").unwrap();
    prolacc(&d, "a.pc").assert().code(1).stderr_eq(str![[r#"
error: 'a.pc' is not UTF-8: it has a byte 0xff here
 --> a.pc:2:3
...
"#]]);
}

#[test]
fn a_wrong_command_line_is_told_apart() {
    let d = directory("usage", &[("a.pc", "")]);
    prolacc(&d, "").assert().code(2);
    prolacc(&d, "a.pc --target=vax").assert().code(2).stderr_eq(str![[r#"
error: invalid value 'vax' for '--target <NAME>': the machines are x86_64, i386, [..]
...
"#]]);
}

#[test]
fn lists_name_files_relative_to_themselves() {
    let files = [
        ("sub/all.list", "# base first\nbase.pc\n\n// then\n@more/list\n"),
        ("sub/more/list", "../ext.pc\r\n"),
        ("sub/base.pc", "module A { }"),
        ("sub/ext.pc", "module B :> A { }"),
    ];
    let d = directory("list", &files);
    prolacc(&d, "@sub/all.list --emit=source").assert().code(0).stdout_eq("module A { }module B :> A { }");
    prolacc(&d, "@sub/all.list --deps=d -o o.c --emit=source").assert().code(0);
    let rule = std::fs::read_to_string(d.join("d")).unwrap();
    snapbox::assert_data_eq!(
        rule,
        str![[r#"
o.c: sub/all.list /
  sub/more/list /
  sub/base.pc /
  sub/more/../ext.pc

"#]]
    );
}

#[test]
fn lists_do_not_contain_themselves_and_files_come_once() {
    let d = directory("loop", &[("a", "@b\nx.pc\n"), ("b", "  @a\n"), ("x.pc", "")]);
    prolacc(&d, "@a x.pc").assert().code(1).stderr_eq(str![[r#"
error: the list 'a' contains itself
 --> b:1:3
  |
1 |   @a
  |   ^^

error: 'x.pc' is named twice

2 errors

"#]]);
}

#[test]
fn standard_input_is_a_file() {
    let d = directory("stdin", &[("b.pc", "module B :> A { }")]);
    let text = "module A { }\n";
    prolacc(&d, "- b.pc --emit=source")
        .stdin(text)
        .assert()
        .code(0)
        .stdout_eq("module A { }\nmodule B :> A { }");
    prolacc(&d, "-").stdin("module A {").assert().code(1).stderr_eq(str![[r#"
error: [..]
 --> <stdin>:1:10
...
"#]]);
}

#[test]
fn preprocessed_text_keeps_names_lines_and_columns() {
    let files = [
        (
            "main.pc",
            "%{\n#include <nowhere.h>\n%}\n#include \"sub/base.pc\"\n#define TWICE(x) (2 * (x))\nmodule A {\n  f :> int ::=    ) 1;\n}\n",
        ),
        ("sub/base.pc", "#include \"deep.pc\"\nmodule B {   2 }\n"),
        ("sub/deep.pc", "module C { f :> int ::= TWO :> ; }\n"),
    ];
    let d = directory("cpp", &files);
    prolacc(&d, "main.pc -DTWO=(1+1)").assert().code(1).stderr_eq(str![[r#"
error: [..]
 --> sub/deep.pc:1:[..]
...
error: [..]
 --> sub/base.pc:2:14
  |
2 | module B {   2 }
  |              ^

error: [..]
 --> main.pc:7:19
  |
7 |   f :> int ::=    ) 1;
  |                   ^

3 errors

"#]]);
}

#[test]
fn support_blocks_and_the_tokens_of_prolac_survive() {
    let text = "#define NAME Top\nmodule NAME has A  { a-b :> int ::= p->q  |||  x min= 3 ==> { NAME = '\"'; } max= 1; }\n%{ \"%}\"\n#define NAME 1 %} module B { }\n";
    let d = directory("tokens", &[("a.pc", text)]);
    prolacc(&d, "a.pc --emit=source").assert().code(0).stdout_eq(str![[r#"
# 1 "a.pc"

module Top has A { a-b :> int ::= p->q ||| x min= 3 ==> { Top = '"'; } max= 1; }
%{ "%}"
#define NAME 1 %}
# 4 "a.pc"
 module B { }

"#]]);
}

#[test]
fn plain_files_are_not_preprocessed_until_one_uses_it() {
    let files = [
        ("a.pc", "module   A { f ::= { linux = __LINE__;\n#if 0\n }; }\n"),
        ("b.pc", "#define X Y\n"),
        ("c.pc", "module X   { }\n"),
    ];
    let d = directory("plain", &files);
    let a = "module   A { f ::= { linux = __LINE__;\n#if 0\n }; }\n";
    prolacc(&d, "a.pc --emit=source").assert().code(0).stdout_eq(a);
    prolacc(&d, "c.pc --emit=source").assert().code(0).stdout_eq("module X   { }\n");
    prolacc(&d, "c.pc -D X=Z --emit=source").assert().code(0).stdout_eq("# 1 \"c.pc\"\nmodule Z { }\n");
    prolacc(&d, "c.pc -D XX=Z --emit=source").assert().code(0).stdout_eq("module X   { }\n");
    let expected = format!("{a}# 1 \"c.pc\"\nmodule Y {{ }}\n");
    prolacc(&d, "a.pc b.pc c.pc --emit=source").assert().code(0).stdout_eq(expected);
    prolacc(&d, "b.pc --cpp=never").assert().code(1);
}

#[test]
fn complaints_of_the_preprocessor_have_a_place() {
    let d = directory(
        "complaints",
        &[("a.pc", "module A { }\n#include \"no.pc\"\n"), ("b.pc", "\n#if 1\n#error \"stop\"\n")],
    );
    prolacc(&d, "a.pc").assert().code(1).stderr_eq(str![[r#"
error: [..]no.pc[..] (from the C preprocessor)
 --> a.pc:2:1
  |
2 | #include "no.pc"
  | ^^^^^^^^^^^^^^^^

1 error

"#]]);
    prolacc(&d, "b.pc").assert().code(1).stderr_eq(str![[r##"
...
error: #error "stop" (from the C preprocessor)
 --> b.pc:3:1
...
"##]]);
    let missing = prolacc(&d, "a.pc").env("CPP", "no-such-program -E").assert().code(1);
    missing.stderr_eq(str![[r#"
error: cannot run the C preprocessor 'no-such-program': No such file or directory
...
"#]]);
}

#[test]
fn circles_of_includes_are_shown() {
    let files = [
        ("a.pc", "#include \"b.pc\"\n"),
        ("b.pc", "module B { }\n#include \"a.pc\"\n#include \"a.pc\"\n"),
        ("once.pc", "#ifndef ONCE\n#define ONCE\n#include \"once.pc\"\nmodule O { }\n#endif\n"),
    ];
    let d = directory("circle", &files);
    prolacc(&d, "a.pc").assert().code(1).stderr_eq(str![[r#"
error: files include each other in a circle: a.pc -> b.pc -> a.pc
 --> b.pc:2:10
  |
2 | #include "a.pc"
  |          ^^^^^^
  |
 ::: a.pc:1:10
  |
1 | #include "b.pc"
  |          ------ included from here
  |
  = help: put '#ifndef NAME', '#define NAME' and '#endif' around a file that may be included twice

1 error

"#]]);
    prolacc(&d, "once.pc").assert().code(0);
}

const PROGRAM: &str =
    "module Main { static two :> int ::= one + 1; static one :> int ::= 1; }\nexport Main.two;\n";

#[test]
fn compiling_writes_two_files_and_nothing_else() {
    let d = directory("compile", &[("a.pc", PROGRAM)]);
    prolacc(&d, "a.pc -o out.c").assert().code(0).stdout_eq("").stderr_eq("");
    let mut names: Vec<_> =
        std::fs::read_dir(&d).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["a.pc", "out.c", "out.h"]);
    let c = std::fs::read_to_string(d.join("out.c")).unwrap();
    assert!(c.contains("#include \"out.h\"") && c.contains("int two__Main(void)"), "{c}");
    assert!(c.contains("#line 1 \"a.pc\""), "{c}");
    prolacc(&d, "a.pc --emit=c --no-line -o other.c").assert().code(0);
    let other = std::fs::read_to_string(d.join("other.c")).unwrap();
    assert!(other.contains("#include \"other.h\"") && !other.contains("#line"), "{other}");
}

#[test]
fn errors_leave_old_output_as_it_was() {
    let d = directory("undamaged", &[("a.pc", "module A { static f :> int ::= nope; }\n"), ("o.c", "old")]);
    prolacc(&d, "a.pc -o o.c --deps o.d").assert().code(1);
    assert_eq!(std::fs::read_to_string(d.join("o.c")).unwrap(), "old");
    assert_eq!(std::fs::read_dir(&d).unwrap().count(), 2);
    // The header cannot be written, so the C file is not.
    let d = directory("undamaged-both", &[("a.pc", PROGRAM), ("o.c", "old"), ("o.h/x", "")]);
    prolacc(&d, "a.pc -o o.c").assert().code(1).stderr_eq("error: cannot write 'o.h': it is a directory\n");
    assert_eq!(std::fs::read_to_string(d.join("o.c")).unwrap(), "old");
    assert_eq!(std::fs::read_dir(&d).unwrap().count(), 3);
}

#[test]
fn output_goes_only_where_it_does_no_harm() {
    let d = directory("harm", &[("a.pc", PROGRAM), ("b.c", PROGRAM)]);
    prolacc(&d, "a.pc -o a.pc").assert().code(2).stderr_eq(str![[r#"
error: the output 'a.pc' must end in '.c'; use '--emit=c' for standard output

"#]]);
    prolacc(&d, "b.c -o b.c").assert().code(2).stderr_eq(str![[r#"
error: 'b.c' would be overwritten by the output

"#]]);
    prolacc(&d, "a.pc -o no/where.c").assert().code(1).stderr_eq(str![[r#"
error: cannot write 'no/where.c': there is no directory 'no'

"#]]);
    prolacc(&d, "b.c -o ./b.c")
        .assert()
        .code(1)
        .stderr_eq("error: './b.c' would be overwritten by the output\n");
    prolacc(&d, "a.pc -o o.c --deps o.h").assert().code(1);
    assert_eq!(std::fs::read_to_string(d.join("b.c")).unwrap(), PROGRAM);
    let d = directory(
        "harm-included",
        &[("a.pc", "#include \"o.h\"\n"), ("o.h", PROGRAM), ("program.c", PROGRAM)],
    );
    prolacc(&d, "a.pc -o o.c")
        .assert()
        .code(1)
        .stderr_eq("error: 'o.h' would be overwritten by the output\n");
    assert_eq!(std::fs::read_to_string(d.join("o.h")).unwrap(), PROGRAM);
    assert!(!d.join("o.c").exists());
    prolacc(&d, "program.c").assert().code(0);
}

#[cfg(unix)]
#[test]
fn output_goes_through_links() {
    let d = directory("links", &[("a.pc", PROGRAM), ("sub/real.c", "old")]);
    std::os::unix::fs::symlink("sub/real.c", d.join("o.c")).unwrap();
    prolacc(&d, "a.pc -o o.c").assert().code(0);
    assert!(d.join("o.c").is_symlink());
    assert!(std::fs::read_to_string(d.join("sub/real.c")).unwrap().contains("two__Main"));
}

#[test]
fn warnings_are_shown_hidden_or_errors() {
    let text =
        "module A { f :> int ::= 1; }\nmodule M has A hide nope { static t :> int ::= 1; }\nexport M.t;\n";
    let d = directory("warnings", &[("a.pc", text)]);
    prolacc(&d, "a.pc").assert().code(0).stderr_eq(str![[r#"
warning: [..]
 --> a.pc:2:21
...

1 warning

"#]]);
    prolacc(&d, "a.pc -W none").assert().code(0).stderr_eq("");
    prolacc(&d, "a.pc -Werror -o a.c").assert().code(1).stderr_eq(str![[r#"
error: [..]
...

1 error

"#]]);
    assert!(!d.join("a.c").exists());
}

#[test]
fn colours_are_for_terminals() {
    let d = directory("colours", &[("a.pc", "module A {\n")]);
    let has_colour = |words: &str| {
        let output = prolacc(&d, words).output().unwrap();
        output.stderr.contains(&0x1b)
    };
    assert!(!has_colour("a.pc"));
    assert!(has_colour("a.pc --color=always"));
    assert!(!has_colour("a.pc --color=never"));
}

#[test]
fn levels_and_switches_reach_the_optimiser() {
    let d = directory("levels", &[("a.pc", PROGRAM)]);
    for words in ["-O0", "-O3 --no-inline --no-cha"] {
        let c = prolacc(&d, &format!("a.pc --emit=c {words}")).output().unwrap();
        let has_call = String::from_utf8_lossy(&c.stdout).contains("one__Main()");
        assert_eq!(has_call, words == "-O0", "{words}");
    }
    prolacc(&d, "a.pc -O4").assert().code(2);
    prolacc(&d, "a.pc --emit=header").assert().code(0).stdout_eq(str![[r#"
...
int two__Main(void);
...
"#]]);
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    for (open, close) in
        [("(", ")"), ("-", ""), ("*", ""), ("f(", ")"), ("if true then ", " end"), ("x.", "")]
    {
        let text = format!(
            "module M {{ static f(x :> int) :> int ::= {}1{}; }}\nexport M.f;\n",
            open.repeat(200_000),
            close.repeat(200_000)
        );
        let d = directory("deep", &[("a.pc", &text)]);
        let status = prolacc(&d, "a.pc -o a.c").output().unwrap().status.code();
        assert_eq!(status, Some(1), "{open}");
    }
    let chain: String =
        (1..3000).map(|n| format!("module M{n} :> M{} {{ f :> int ::= super.f + 1; }}\n", n - 1)).collect();
    let text = format!(
        "module M0 {{ f :> int ::= 1; }}\n{chain}module Main has M2999 {{ static t :> int ::= let m :> M2999 in m.f end; }}\nexport Main.t;\n"
    );
    let d = directory("long", &[("a.pc", &text)]);
    prolacc(&d, "a.pc -o a.c").assert().code(0);
}

#[test]
fn methods_run_in_the_interpreter() {
    let text = "module M {\n  exception gone;\n  field n :> int;\n  static fib(n :> int) :> int ::= n < 2 ? n : fib(n - 1) + fib(n - 2);\n  get :> bool ::= n == 0;\n  static len(s :> *char) :> int ::= *s == 0 ? 0 : 1 + len(s + 1);\n  static raise ::= gone;\n  static c ::= { f(); };\n  static by(n :> int) :> int ::= 1 / n;\n}\n";
    let d = directory("run", &[("m.pc", text)]);
    for (words, answer) in [
        ("M.fib 15", "610\n"),
        ("fib -1", "-1\n"),
        ("M.get", "true\n"),
        ("len abc", "3\n"),
        ("fib 0x10", "987\n"),
    ] {
        prolacc(&d, &format!("run m.pc {words}")).assert().code(0).stdout_eq(answer).stderr_eq("");
    }
    for (words, message) in [
        ("M.raise", "the exception M.gone leaves the method"),
        ("M.c", "the program stops here: C code cannot be interpreted"),
        ("M.by 0", "the program stops here: division by zero"),
        ("M.by", "M.by takes 1 argument, but 0 are given"),
        ("M.by x", "'x' is no int, which `n` is"),
        ("M.bye 1", "the module M has no method 'bye'; did you mean 'by'?"),
    ] {
        let output = prolacc(&d, &format!("run m.pc {words}")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(text.starts_with(&format!("error: {message}\n")), "{words}: {text}");
    }
    prolacc(&d, "run m.pc").assert().code(2);
}

#[test]
fn files_are_laid_out_in_place_or_checked() {
    let long = "module   A { f :> int ::=1;\n// why\n g ::=  true; }\n";
    let good = "module A {\n  f :> int ::= 1;\n  // why\n  g ::= true;\n}\n";
    let d = directory("fmt", &[("a.pc", long), ("b.pc", good), ("wrong.pc", "module {")]);
    prolacc(&d, "fmt a.pc").assert().code(0).stdout_eq(good);
    prolacc(&d, "fmt -").stdin(long).assert().code(0).stdout_eq(good);
    prolacc(&d, "fmt --check a.pc b.pc").assert().code(1).stdout_eq("a.pc\n");
    prolacc(&d, "fmt --write wrong.pc a.pc").assert().code(1);
    assert_eq!(std::fs::read_to_string(d.join("a.pc")).unwrap(), long);
    prolacc(&d, "fmt --write a.pc b.pc").assert().code(0).stdout_eq("");
    assert_eq!(std::fs::read_to_string(d.join("a.pc")).unwrap(), good);
    prolacc(&d, "fmt --check a.pc b.pc").assert().code(0).stdout_eq("");
    prolacc(&d, "fmt --check --write a.pc").assert().code(2);
}

/// The way in which old programs chain extensions: each file says what it derives from through a macro, and moves it on.
#[test]
fn chains_of_macros_work_in_lists_and_in_included_files() {
    let extension = |name: &str, amount: u32| {
        format!(
            "%{{\n#include <stddef.h>\n%}}\nmodule {name}.Parent ::= CUR_T;\nmodule {name}.T :> Parent {{ hook :> int ::= {amount} + super.hook; }}\n#undef CUR_T\n#define CUR_T {name}.T\n"
        )
    };
    let files = [
        ("base.pc", "module Base.T { hook :> int ::= 1; }\n#define CUR_T Base.T\n".to_string()),
        ("ext/ten.pc", extension("Ten", 10)),
        ("ext/hundred.pc", extension("Hundred", 100)),
        ("main.pc", "module T ::= CUR_T;\nmodule Main has .T { static t :> int ::= let t :> T in t.hook end; }\nexport Main.t;\n".into()),
        ("all.list", "base.pc\next/ten.pc\next/hundred.pc\nmain.pc\n".into()),
        ("all.pc", "#include \"base.pc\"\n#ifdef SMALL\n#else\n#include <ten.pc>\n#include <hundred.pc>\n#endif\n#include \"main.pc\"\n".into()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let d = directory("chain", &files);
    prolacc(&d, "run @all.list Main.t").assert().code(0).stdout_eq("111\n").stderr_eq("");
    prolacc(&d, "run all.pc -I ext Main.t").assert().code(0).stdout_eq("111\n").stderr_eq("");
    prolacc(&d, "run all.pc -Iext -DSMALL Main.t").assert().code(0).stdout_eq("1\n").stderr_eq("");
    prolacc(&d, "run base.pc ext/hundred.pc main.pc Main.t").assert().code(0).stdout_eq("101\n");
    prolacc(&d, "@all.list --emit=c").assert().code(0).stdout_eq(str![[r#"
...
#line 2 "ext/ten.pc"
...
"#]]);
}

#[test]
fn of_very_many_messages_the_first_are_shown() {
    let text: String = (0..500).map(|n| format!("module M{n} {{ static f :> int ::= x{n}; }}\n")).collect();
    let d = directory("many", &[("a.pc", &text)]);
    let output = prolacc(&d, "a.pc").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.ends_with("\n500 errors; the first 50 are shown\n"), "{text}");
    assert_eq!(text.matches("error: ").count(), 50);
}
