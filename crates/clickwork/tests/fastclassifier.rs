//! `clickwork fastclassifier` and `click-fastclassifier`: options, the archive, and what other commands make of it.

mod common;

use common::Scratch;
use snapbox::cmd::OutputAssert;

const ROUTER: &str = "AddressInfo(me 10.0.0.1);
InfiniteSource(DATA \\<0800 01>, LIMIT 3, STOP true) -> a :: Classifier(0/0800, -);
a [0] -> b :: Classifier(2/01, -) -> c :: Counter -> MarkIPHeader -> f :: IPFilter(allow src me) -> d :: Discard;
a [1] -> d; b [1] -> g :: IPFilter(allow src 10.0.0.1) -> d;
";

/// What the router has become, in the order of its text.
const FAST: &str = "AddressInfo@1 :: AddressInfo(me 10.0.0.1);
InfiniteSource@2 :: InfiniteSource(DATA \\<0800 01>, LIMIT 3, STOP true);
a :: FastClassifier@@a(0/0800 2/01, 0/0800, -);
c :: Counter;
MarkIPHeader@6 :: MarkIPHeader;
f :: FastIPFilter@@f(allow src me);
d :: Discard;
g :: FastIPFilter@@f(allow src 10.0.0.1);

InfiniteSource@2 -> a
    -> c
    -> MarkIPHeader@6
    -> f
    -> d;
a [2] -> d;
a [1] -> g
    -> d;
";

/// Standard output of a command that did its work.
fn stdout(done: OutputAssert) -> String {
    String::from_utf8_lossy(&done.success().get_output().stdout).into_owned()
}

#[test]
fn an_archive_that_runs_like_the_router_and_has_a_way_back() {
    let dir = Scratch::new("fastclassifier");
    dir.write("a.click", ROUTER);
    dir.tool("click-fastclassifier")
        .args(["-u", "-q", "a.click", "-o", "b.click"])
        .assert()
        .success()
        .stderr_eq("");
    for member in ["config", "elementmap.xml"] {
        assert!(dir.read("b.click").contains(&format!("\n{member}/")), "{member}");
    }
    let flat = dir.clickwork().args(["flatten", "--config", "--no-lines", "b.click"]).assert();
    assert_eq!(stdout(flat), FAST);
    let handlers = ["-h", "c.count", "-h", "f.class", "-h", "f.drop_reasons"];
    let run = dir.tool("click").args(["--simtime", "b.click"]).args(handlers).assert().success();
    run.stdout_eq("c.count:\n3\n\nf.class:\nFastIPFilter@@f\n\nf.drop_reasons:\n3\tfiltered\n\n");
    let back = dir.tool("click-fastclassifier").args(["--reverse", "--no-lines", "b.click"]).assert();
    let classes = FAST.replace("FastIPFilter@@f", "IPFilter").replace("FastClassifier@@a", "Classifier");
    assert_eq!(stdout(back), classes);
    dir.tool("click-fastclassifier").args(["b.click", "-o", "c.click"]).assert().success();
    dir.tool("click-fastclassifier").args(["c.click", "-o", "d.click"]).assert().success();
    assert_eq!(dir.read("c.click"), dir.read("d.click"));
}

#[test]
fn only_what_was_asked_for() {
    let dir = Scratch::new("fastclassifier-asked");
    dir.write("a.click", ROUTER);
    let tool = |args: &[&str]| dir.tool("click-fastclassifier").args(args).arg("a.click").assert();
    assert_eq!(stdout(tool(&["-c", "--no-lines"])), FAST);
    let source = stdout(tool(&["-s"]));
    assert!(
        source.starts_with("// The classifiers") && source.contains("/// FastIPFilter@@f: f, g.\n"),
        "{source}"
    );
    let apart = stdout(tool(&["--no-combine", "--no-lines", "-c"]));
    assert!(apart.contains("b :: FastClassifier@@b(2/01, -);"), "{apart}");
    let merged = stdout(tool(&["--no-classes", "--no-lines"]));
    assert!(
        merged.contains("a :: Classifier(0/0800 2/01, 0/0800, -);") && !merged.contains("Fast"),
        "{merged}"
    );
    let told = tool(&["-V", "-o", "b.click"]).success();
    told.stderr_eq(
        "a.click:3: 'b :: Classifier(2/01, -)' merged into 'a :: Classifier(0/0800, -)': its packets come from there
a.click:4: 'g :: IPFilter(allow src 10.0.0.1)' has the same diagram as others: it shares FastIPFilter@@f\n",
    );
    tool(&["-v"]).success().stdout_eq("click-fastclassifier (Clickwork) [..]\n");
    let none = dir.clickwork().args(["fastclassifier", "-s", "-e", "Idle -> Discard"]).assert().success();
    none.stdout_eq("").stderr_eq("warning: no classifiers in the configuration\n");
    dir.clickwork().args(["fastclassifier", "-s", "-r", "a.click"]).assert().code(2).stdout_eq("");
}

#[test]
fn mistakes_leave_an_element_as_it_is() {
    let dir = Scratch::new("fastclassifier-mistakes");
    let config = "Idle -> a :: Classifier($WHAT, -) => Discard, Discard;";
    let unknown = dir.clickwork().args(["fastclassifier", "--no-lines", "-e", config]).assert().success();
    unknown
        .stdout_eq("...\na :: Classifier($WHAT, -);\n...")
        .stderr_eq("warning: 'a :: Classifier($WHAT, -)' left alone: pattern 0: expected a digit\n...");
    let known =
        dir.clickwork().args(["fastclassifier", "-c", "--no-lines", "-e", config, "WHAT=0/01"]).assert();
    known
        .success()
        .stdout_eq("define($WHAT 0/01);\n...\na :: FastClassifier@@a($WHAT, -);\n...")
        .stderr_eq("");
    dir.clickwork().args(["fastclassifier", "-e", "Idle ->"]).assert().code(1).stdout_eq("");
    dir.write("a.click", "Idle -> c :: FastClassifier@@c(0/01) -> Discard;");
    let alone = dir.clickwork().args(["check", "a.click"]).assert().code(1);
    alone.stderr_eq(
        "error: unknown element class 'FastClassifier@@c'\n...\n  = help: a tool made this class, [..]\n",
    );
}

#[test]
fn all_tools_know_what_the_new_classes_are() {
    let dir = Scratch::new("fastclassifier-tools");
    dir.write(
        "a.click",
        "FromDevice(eth0) -> c :: Classifier(12/0800, -) -> Strip(14) -> CheckIPHeader -> i :: IPClassifier(tcp, -) \
         -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> q :: Queue -> ToDevice(eth1); c [1] -> n :: Null -> d :: Discard; i [1] -> d;",
    );
    dir.clickwork().args(["fastclassifier", "a.click", "-o", "b.click"]).assert().success();
    dir.clickwork().args(["check", "--types", "b.click"]).assert().success();
    let tools: [&[&str]; 6] = [
        &["flatten"],
        &["align"],
        &["undead"],
        &["xform", "-p", "ip"],
        &["devirtualize"],
        &["fastclassifier"],
    ];
    for tool in tools {
        dir.clickwork().args(tool).args(["b.click", "-o", "b.click"]).assert().success();
        dir.clickwork().args(["check", "--types", "b.click"]).assert().success();
    }
    let fast = dir.read("b.click");
    for part in [
        "c :: FastClassifier@@c@@c(12/0800, -);",
        "AlignmentInfo(c ",
        "base=\"FastClassifier@@c\"",
        "FastIPClassifier_a_ai",
    ] {
        assert!(fast.contains(part), "{part}: {fast}");
    }
    assert!(!fast.contains("Null"), "{fast}");
    let page = stdout(dir.clickwork().args(["pretty", "b.click"]).assert());
    assert!(page.contains("FastClassifier@@c@@c: classifies packets by their bytes"), "{page}");
    let json = stdout(dir.clickwork().args(["json", "b.click"]).assert());
    assert!(
        json.contains("{\"name\": \"FastClassifier@@c@@c\", \"known\": true, \"ports\": \"1/-\""),
        "{json}"
    );
    dir.clickwork().args(["xml", "b.click"]).assert().success();
    let stays = dir.clickwork().args(["fastclassifier", "-r", "b.click"]).assert().success();
    stays.stderr_eq("...\nwarning: 'c :: FastClassifier@@c@@c(12/0800, -)' left alone: another tool has specialised it further\n...");
    dir.clickwork().args(["devirtualize", "-r", "b.click", "-o", "b.click"]).assert().success();
    let back = stdout(dir.clickwork().args(["fastclassifier", "-r", "--no-lines", "b.click"]).assert());
    assert!(back.contains("c :: Classifier(12/0800, -);") && !back.contains("@@"), "{back}");
}
