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
