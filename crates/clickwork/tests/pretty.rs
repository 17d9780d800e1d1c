//! `clickwork pretty` and `click-pretty`: the pages are well formed, their links lead somewhere, and they stay as they are.

mod common;

use common::Scratch;
use snapbox::{Data, assert_data_eq};
use std::path::Path;
use std::process::Command;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pretty");

fn path(name: &str) -> String {
    format!("{DIRECTORY}/{name}")
}

/// A directory with the router of these tests in it.
fn scratch(name: &str) -> Scratch {
    let dir = Scratch::new(name);
    dir.write("router.click", &std::fs::read_to_string(path("router.click")).expect("it is there"));
    dir
}

/// A page is well formed, says a parser of Python.
fn check(page: &Path) {
    let output = Command::new("python3").arg(path("check_page.py")).arg(page).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.ends_with(" links\n"), "{said}");
}

fn text_and_tables_are_as_before() {
    let dir = scratch("pretty");
    let arguments =
        ["-d", "mark=<~Inner>", "--define", "inner=(<~inner>)", "router.click", "-o", "page.html"];
    let template = path("template.html");
    dir.tool("click-pretty").args(["-t", &template]).args(arguments).assert().success().stderr_eq("");
    assert_data_eq!(dir.read("page.html"), Data::read_from(path("page.html").as_ref(), None).raw());
}

fn every_link_leads_somewhere() {
    clickwork_oracles::program("python3");
    let dir = scratch("pretty-links");
    dir.write_keys();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let examples = std::fs::read_dir(examples).expect("there are examples");
    let mut files: Vec<_> = examples.map(|f| f.expect("it can be listed").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "click"));
    files.push(dir.path("router.click"));
    for file in files {
        dir.clickwork().arg("pretty").arg(&file).args(["-o", "page.html"]).assert().success().stderr_eq("");
        check(&dir.path("page.html"));
        let page = dir.read("page.html");
        for part in
            ["<svg ", "<pre class=\"k-source\"", "<table>", "id=\"class-", "prefers-color-scheme: dark"]
        {
            assert!(page.contains(part), "{}: no {part}", file.display());
        }
    }
}

fn keys_are_not_shown() {
    let dir = scratch("pretty-keys");
    let config = "define($K 7a7b7c7d0e0f101112131415161718191a1b1c1d);\n\
                  Idle -> e :: IPsecESPEncrypt(0x1001, $K, SRC 1.0.0.1, DST 1.0.0.2) -> Discard;\n\
                  // comments are the author's own\n\
                  elementclass Old { $key | input -> WepEncap($key, ACTIVE true) -> output }\n\
                  Idle -> Old(\\<a1 b2 c3 d4 e5>) -> WepDecap(KEY \"hello\") -> Discard;\n";
    dir.write("keys.click", config);
    for (tool, file) in [("pretty", "page.html"), ("graph", "page.svg"), ("graph", "page.dot")] {
        dir.clickwork().args([tool, "keys.click", "-o", file]).assert().success();
        let page = dir.read(file);
        for key in ["7a7b7c7d", "a1 b2", "hello"] {
            assert!(!page.contains(key), "{file} shows {key}");
        }
        assert!(page.contains("\u{2022}\u{2022}\u{2022}"), "{file}");
    }
}

fn names_lead_to_what_they_mean_where_they_stand() {
    let dir = scratch("pretty-names");
    dir.clickwork().args(["pretty", "router.click", "-o", "page.html"]).assert().success();
    let page = dir.read("page.html");
    let line =
        |n: usize| page.split(&format!("id=\"L{n}\">")).nth(1).and_then(|s| s.split('\n').next()).unwrap();
    // The q of a class is another one than the q outside, and the q of another class.
    assert!(line(4).contains("href=\"#f-c/q\""), "{}", line(4));
    assert!(
        line(13).contains("id=\"e-q\" href=\"#f-q\"") && line(13).contains("href=\"#e-q\""),
        "{}",
        line(13)
    );
    assert!(line(11).contains("href=\"#x-@7/x\"") && line(11).contains("href=\"#f-@7/x/q\""), "{}", line(11));
    assert!(
        line(10).contains("href=\"#c-Chan\"") && line(10).contains("id=\"e-c\" href=\"#x-c\""),
        "{}",
        line(10)
    );
    assert!(line(14).contains("href=\"#e-a\" title=\"a :: Counter\">a</a>"), "{}", line(14));
    assert!(page.contains("<a href=\"#f-c/Shaper@2\">"), "the drawing has links");
}

fn broken_texts_give_a_page_that_says_so() {
    clickwork_oracles::program("python3");
    let dir = Scratch::new("pretty-broken");
    let texts = [
        "a :: ; -> ]] b :: \"<",
        "",
        "a :: Null; a :: Null; a -> a;",
        "x :: Quene(1) -> Discard",
        "elementclass A { A } A",
        "((((",
        "a -> { $x | ",
        "/* <b>",
        "Idle(<script>alert(1)</script>) -> Discard",
        "# 1 \"x\"\na :: Null(\n# 2 \"y\"\n)",
    ];
    for text in texts {
        dir.write("r.click", text);
        let output =
            dir.clickwork().args(["pretty", "r.click", "-o", "page.html"]).output().expect("it runs");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{text}");
        check(&dir.path("page.html"));
        assert!(!dir.read("page.html").contains("<script"), "{text}");
    }
    dir.clickwork()
        .args(["pretty", "-e", "a -> ->"])
        .assert()
        .code(1)
        .stderr_eq("...\nerror: config: not a correct configuration; the page shows what was understood\n");
}

fn classes_from_elsewhere_lead_to_their_documents() {
    let dir = Scratch::new("pretty-documents");
    let written = dir.tool("click-pretty").args([
        "-e",
        "Idle -> Gadget -> Discard",
        "-u",
        "https://e.org/%s.html",
        "-t",
    ]);
    dir.write("t.html", "<~config>");
    let page =
        String::from_utf8(written.arg("t.html").assert().success().get_output().stdout.clone()).unwrap();
    assert!(page.contains("href=\"https://e.org/Gadget.html\" title=\"Gadget\">Gadget</a>"), "{page}");
    let text = "require(package p); Idle -> Gadget -> Discard";
    let of_package =
        dir.tool("click-pretty").args(["-e", text, "-t", "t.html", "--package-docs", "p=P/%s"]).assert();
    let page = String::from_utf8(of_package.success().get_output().stdout.clone()).unwrap();
    assert!(page.contains("href=\"P/Gadget\"") && page.contains("href=\"#class-Discard\""), "{page}");
    let template = dir.tool("click-pretty").arg("--write-template").assert().success();
    let template = String::from_utf8(template.get_output().stdout.clone()).unwrap();
    assert!(template.starts_with("<!DOCTYPE html>") && template.contains("<~config>"));
    dir.clickwork()
        .args(["pretty", "-d", "x", "-e", "a :: Null"])
        .assert()
        .code(1)
        .stderr_eq("error: 'x' defines no tag: write NAME=TEXT\n");
}

fn libraries_are_shown_behind_the_text() {
    clickwork_oracles::program("python3");
    let dir = Scratch::new("pretty-libraries");
    dir.write("lib.click", "elementclass Chan { input -> q :: Queue -> output }\nl :: Null;\n");
    dir.write(
        "r.click",
        "require(library lib.click);\nIdle -> q :: Chan -> Discard; Idle -> l -> Discard;\n",
    );
    dir.clickwork().args(["pretty", "r.click", "-o", "page.html"]).assert().success().stderr_eq("");
    check(&dir.path("page.html"));
    let page = dir.read("page.html");
    for part in ["<h3>./lib.click</h3>", "href=\"#1.L1\"", "href=\"#c1.13-Chan\"", ">Chan</a> -", ">l</a> -"]
    {
        assert!(page.contains(part), "no {part}: {page}");
    }
}

fn templates_of_any_kind_come_to_an_end() {
    let dir = scratch("pretty-templates");
    let templates = [
        ("a <~ b <~< <~title", "a <~ b <~< <~title"),
        ("<~x a=\"> <~title>", "<~x a=\"> router.click"),
        ("<~elements typeentry='<~typerefs>' typeref='<~typerefs>.'>", ""),
        (
            "<~elements entry='<~inputs><~outputs><~configlink>' inputentry='<~inputs><~inputconnections>' configlink='<~configlink>' \
          inputconnection='<~outputconnections>' outputconnection='<~inputconnections>' outputentry='<~outputconnections>' \
          column='9/0'>",
            "",
        ),
    ];
    for (template, expected) in templates {
        dir.write("t.html", template);
        let page = dir.clickwork().args(["pretty", "-t", "t.html", "router.click"]).assert().success();
        let page = String::from_utf8(page.get_output().stdout.clone()).expect("output is text");
        if !expected.is_empty() {
            assert_eq!(page, expected, "{template}");
        }
    }
}

clickwork_oracles::tests! {
    text_and_tables_are_as_before,
    every_link_leads_somewhere,
    keys_are_not_shown,
    names_lead_to_what_they_mean_where_they_stand,
    broken_texts_give_a_page_that_says_so,
    classes_from_elsewhere_lead_to_their_documents,
    libraries_are_shown_behind_the_text,
    templates_of_any_kind_come_to_an_end,
}
