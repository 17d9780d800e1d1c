//! `clickwork xml`, `click2xml` and `clickwork json`: what they write, and that others read the same graph from it.

mod common;

use common::Scratch;
use snapbox::{Data, assert_data_eq};
use std::path::Path;
use std::process::Command;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/export");

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(DIRECTORY).join(name)).expect("it is there")
}

fn stdout(command: snapbox::cmd::Command) -> String {
    let output = command.assert().success().stderr_eq("").get_output().stdout.clone();
    String::from_utf8(output).expect("output is text")
}

fn a_router_is_written_as_before() {
    let dir = Scratch::new("export");
    dir.write("router.click", &read("router.click"));
    let forms = [("nested.xml", &["xml"][..]), ("flat.xml", &["xml", "-F"]), ("router.json", &["json"])];
    for (file, command) in forms {
        let written = without_facts(&stdout(dir.clickwork().args(command).arg("router.click")));
        assert_data_eq!(written, Data::read_from(&Path::new(DIRECTORY).join(file), None).raw());
    }
    assert_eq!(stdout(dir.tool("click2xml").arg("router.click")), read("nested.xml"));
    let flat = dir.tool("click2xml").args(["--flatten", "--userlevel", "-f", "router.click", "-o", "x.xml"]);
    flat.assert().success().stdout_eq("");
    assert_eq!(dir.read("x.xml"), read("flat.xml"));
    let json = dir.tool("click2xml").args(["--json", "router.click"]);
    let json = stdout(json);
    assert_eq!(without_facts(&json), read("router.json"));
    let queue =
        json.lines().find(|l| l.contains("\"name\": \"Queue\", \"known\": true")).expect("Queue is there");
    assert!(queue.contains("\"ports\": \"1/1-2\", \"processing\": \"h/lh\""), "{queue}");
}

/// JSON without the facts about our own classes, which change more often than the form.
fn without_facts(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.contains("\"known\": true")).collect()
}

fn a_broken_router_is_not_written() {
    let dir = Scratch::new("export-broken");
    for command in ["xml", "json"] {
        let refused = dir.clickwork().args([command, "-e", "a :: B -> ", "-o", "x"]).assert().code(1);
        refused.stdout_eq("").stderr_eq("...\nerror: config: not a correct configuration\n");
        assert!(!dir.path("x").exists());
    }
    let twice = dir.tool("click2xml").args(["-e", "a :: B", "x.click"]).assert().code(1);
    twice.stderr_eq("router configuration specified twice\n");
}

/// The graph that Python's parsers find in a file.
fn read_back(dir: &Scratch, form: &str, file: &str) -> String {
    let script = Path::new(DIRECTORY).join("read_back.py");
    let mut command = Command::new("python3");
    let output = command.arg(script).arg(form).arg(dir.path(file)).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is text")
}

/// The graph that is in the file, found with the library.
fn graph(text: &str) -> String {
    let mut sources = clickwork_source::Sources::new();
    let file = sources.add("r.click", text);
    let (graph, _) = clickwork_lang::elaborate(&mut sources, file, &clickwork_lang::Options::any_class());
    let quote = |config: &str| match config.contains('\'') {
        true => format!("\"{config}\""),
        false => format!("'{config}'"),
    };
    let config = |text: &str| quote(&text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t"));
    let elements = graph.elements.iter();
    let mut elements: Vec<_> = elements.map(|e| (&e.name, &e.class, config(&e.config))).collect();
    elements.sort();
    let name = |port: clickwork_lang::Port| graph.elements[port.element].name.clone();
    let connections = graph.connections.iter();
    let mut connections: Vec<_> =
        connections.map(|c| (name(c.from), c.from.port, c.to.port, name(c.to))).collect();
    connections.sort();
    let elements = elements.iter().map(|(name, class, config)| format!("{name} :: {class}({config})\n"));
    elements.chain(connections.iter().map(|(a, p, q, b)| format!("{a} [{p}] -> [{q}] {b}\n"))).collect()
}

fn others_read_the_same_graph() {
    clickwork_oracles::program("python3");
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let examples = std::fs::read_dir(examples).expect("there are examples");
    let mut files: Vec<_> = examples.map(|f| f.expect("it can be listed").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "click"));
    files.push(Path::new(DIRECTORY).join("router.click"));
    let dir = Scratch::new("export-read-back");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        dir.write("r.click", &text);
        for (form, command) in [("json", &["json"][..]), ("xml", &["xml", "--flatten"]), ("nested", &["xml"])]
        {
            dir.clickwork().args(command).args(["r.click", "-o", form]).assert().success();
            let found = read_back(&dir, form, form);
            assert_eq!(found, graph(&text), "{} as {form}", file.display());
        }
    }
}

clickwork_oracles::tests! {
    a_router_is_written_as_before,
    a_broken_router_is_not_written,
    others_read_the_same_graph,
}
