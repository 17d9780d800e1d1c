//! The front of the compiler on the programs in `tests/syntax`: beside each `.pc` file stands the tree expected and the
//! messages. `SNAPSHOTS=overwrite` writes them anew.

use std::path::Path;

use clickwork_prolac::syntax::{dump, parse};
use clickwork_source::{Diagnostics, FileId, Sources, Span, render_human};
use snapbox::{Data, assert_data_eq};

fn parsed(name: &str, text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let mut diagnostics = Diagnostics::new();
    let program = parse(&mut sources, file, &mut diagnostics);
    let messages: Vec<String> = diagnostics.iter().map(|d| render_human(&sources, d, false)).collect();
    format!("{}\n{}", dump(&program, &sources), messages.join("\n"))
}

#[test]
fn programs_have_the_trees_and_messages_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/syntax");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<_> = files.filter(|p| p.extension().is_some_and(|e| e == "pc")).collect();
    programs.sort();
    assert!(programs.len() > 10);
    for program in programs {
        let name = program.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&program).unwrap();
        assert_data_eq!(parsed(&name, &text), Data::read_from(&program.with_extension("tree"), None).raw());
    }
}

#[test]
fn places_follow_the_line_marks() {
    let text = "module M {\n# 10 \"a.pc\"\n  f ::= {\n#line 20\n x();\n};\n#line 30 \"b\\\"c\"\n}\n";
    let mut sources = Sources::new();
    let file: FileId = sources.add("m.pc", text);
    parse(&mut sources, file, &mut Diagnostics::new());
    let mark = |part: &str| {
        let at = text.find(part).unwrap() as u32;
        sources.landmark(Span::new(file, at, at))
    };
    assert_eq!(mark("module"), "m.pc:1");
    assert_eq!(mark("f ::="), "a.pc:10");
    assert_eq!(mark("x();"), "a.pc:20");
    assert_eq!(mark("};"), "a.pc:21");
    assert_eq!(sources.landmark(Span::new(file, text.len() as u32 - 2, 0)), "b\"c:30");
}
