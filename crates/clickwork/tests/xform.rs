//! `clickwork xform` and `click-xform`: options, pattern files, and what messages say about what was replaced.

mod common;

use common::{Scratch, text};

const PATTERNS: &str = "elementclass Both { input -> Null -> c :: Counter -> output }\n\
    elementclass Both_Replacement {\n  input -> c :: Counter\n  -> CheckLength(wrong) -> output }\n";
const CONFIG: &str = "Idle\n -> Null\n -> counted :: Counter -> Discard;";

fn output(assert: &snapbox::cmd::OutputAssert) -> (String, String) {
    let output = assert.get_output();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn files_after_the_first_are_patterns() {
    let dir = Scratch::new("xform-files");
    let config = dir.write("config.click", CONFIG);
    let patterns = dir.write("both.clickpat", PATTERNS);
    let expected = "Idle@1 :: Idle;\nDiscard@4 :: Discard;\ncounted :: Counter;\n\
                    Both@1/CheckLength@2 :: CheckLength(wrong);\n\nIdle@1 -> counted\n    -> Both@1/CheckLength@2\n    \
                    -> Discard@4;\n";
    for args in [
        vec![text(&config), text(&patterns)],
        vec!["-p", text(&patterns), text(&config)],
        vec!["X=1", text(&config), "Y=2", "--patterns", text(&patterns)],
        vec!["-e", CONFIG, "-p", text(&patterns)],
        vec!["-f", text(&config), "-x", PATTERNS],
    ] {
        let made = dir.tool("click-xform").arg("--no-lines").args(&args).assert().success();
        let (stdout, stderr) = output(&made);
        assert!(stdout.ends_with(expected) && stderr.is_empty(), "{args:?}: {stdout}{stderr}");
    }
    let twice = ["-e", CONFIG, text(&config), "-p", text(&patterns)];
    dir.tool("click-xform").args(twice).assert().code(1).stderr_eq("router configuration specified twice\n");
    dir.tool("click-xform").args(["-e", "Idle;"]).assert().success().stderr_eq("warning: no patterns read\n");
}

#[test]
fn messages_about_what_was_replaced_say_where_it_came_from() {
    let dir = Scratch::new("xform-places");
    dir.write("config.click", CONFIG);
    dir.write("both.clickpat", PATTERNS);
    dir.tool("click-xform").args(["-o", "new.click", "config.click", "both.clickpat"]).assert().success();
    let (_, click) = output(&dir.tool("click-check").arg("new.click").assert().code(1));
    let place = "config.click:2: 'Null@2' and 1 more replaced by both.clickpat:4";
    assert!(click.starts_with(&format!("{place}: While configuring 'Both@1/CheckLength@2")), "{click}");
    let (_, human) = output(&dir.clickwork().args(["check", "new.click"]).assert().code(1));
    assert!(human.contains(place), "{human}");
}

#[test]
fn patterns_that_come_with_the_program_are_found_by_name() {
    let dir = Scratch::new("xform-shipped");
    let (list, _) = output(&dir.clickwork().args(["xform", "--list"]).assert().success());
    assert!(list.contains("ip.clickpat") && list.contains("arp.clickpat"), "{list}");
    let config = "Idle -> Paint(1) -> Strip(14) -> CheckIPHeader(BADSRC 1.2.3.255 1.2.4.255) -> GetIPAddress(16) -> Discard";
    for name in ["ip", "ip.clickpat"] {
        let made = dir.clickwork().args(["xform", "-v", "-p", name, "-e", config]).assert().success();
        let (stdout, stderr) = output(&made);
        assert!(stdout.contains("IPInputCombo(1, BADSRC 1.2.3.255 1.2.4.255);"), "{stdout}");
        let note = "note: IPInput@1 takes the place of Paint@2, Strip@3, CheckIPHeader@4, GetIPAddress@5\n --> config:1:9\n";
        assert!(stderr.starts_with(note), "{stderr}");
    }
    let missing = dir.tool("click-xform").args(["-p", "ipp", "-e", config]).assert().code(1);
    let (stdout, stderr) = output(&missing);
    assert_eq!(stdout, "");
    assert!(stderr.starts_with("ipp: No such file") && stderr.contains("ip.clickpat"), "{stderr}");
}

#[test]
fn what_went_there_comes_back() {
    let dir = Scratch::new("xform-reverse");
    dir.write("both.clickpat", &PATTERNS.replace("wrong", "5"));
    let there = dir.tool("click-xform").args(["-e", CONFIG, "-p", "both.clickpat"]).assert().success();
    dir.write("there.click", &output(&there).0);
    let back = ["--no-lines", "--reverse", "there.click", "both.clickpat"];
    let (back, _) = output(&dir.tool("click-xform").args(back).assert().success());
    assert!(back.contains("Idle@1 -> Both@2/Null@1\n    -> counted\n    -> Discard@4;"), "{back}");
}

#[test]
fn mistakes_in_patterns_are_errors_and_nothing_is_written() {
    let dir = Scratch::new("xform-mistakes");
    let swap = |name: &str, from: &str, to: &str| {
        format!(
            "elementclass {name} {{ input -> {from} -> output }}\nelementclass {name}_Replacement {{ input -> {to} -> output }}\n"
        )
    };
    let evil = swap("To", "A", "B") + &swap("Back", "B", "A");
    for (patterns, said) in [
        (evil.as_str(), "pattern 1>:1: pattern 'To' would match forever\n<pattern 1>:3: by way of 'Back'\n"),
        ("elementclass P { input -> -> output }", "syntax error"),
        ("Idle -> Discard", "warning: no patterns in <pattern 1>\n"),
        ("\u{1}{{{", "<pattern 1>:1: "),
    ] {
        let made = dir.tool("click-xform").args(["-e", "Idle -> A -> Discard", "-x", patterns]).assert();
        let warning = said.starts_with("warning");
        let (stdout, stderr) = output(&if warning { made.success() } else { made.code(1) });
        assert!(stderr.contains(said), "{stderr}");
        assert_eq!(stdout.is_empty(), !warning, "{stdout}");
    }
}

#[test]
fn calls_to_what_is_gone_are_warned_of() {
    let dir = Scratch::new("xform-calls");
    let config = "Idle -> n :: Null -> c :: Counter -> Discard;\nScript(read c.count, read n.class);";
    let made = dir
        .tool("click-xform")
        .args(["-e", config, "-x", &PATTERNS.replace("wrong", "9")])
        .assert()
        .success();
    let (_, stderr) = output(&made);
    assert_eq!(stderr, "config:2: warning: 'Script@5' calls 'n', which pattern 'Both' has replaced\n");
}

#[test]
fn a_network_is_combined_freed_of_arp_and_taken_apart() {
    let dir = Scratch::new("xform-network");
    let router = "FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> GetIPAddress(16)
            -> arpq :: ARPQuerier(ADDRESS) -> q :: Queue -> ToDevice(eth1);
        FromDevice(eth1) -> c :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
        c [0] -> ARPResponder(ADDRESS) -> q; c [1] -> [1] arpq; c [2] -> Discard; c [3] -> Discard;";
    for (name, ip) in [("a", "10.0.0.1"), ("b", "10.0.0.2")] {
        let querier = router.replacen("ADDRESS", &format!("{ip}, 0:0:0:0:0:{name}"), 1);
        dir.write(
            &format!("{name}.click"),
            &querier.replacen("ADDRESS", &format!("{ip} 0:0:0:0:0:{name}"), 1),
        );
    }
    let links = ["A=a.click", "B=b.click", "A.eth1=B.eth1", "B.eth1=A.eth1", "-o", "network.click"];
    dir.tool("click-combine").args(links).assert().success();
    dir.tool("click-xform").args(["-p", "arp", "network.click", "-o", "freed.click"]).assert().success();
    for (name, own, other) in [("A", "a", "b"), ("B", "b", "a")] {
        let taken = dir.tool("click-uncombine").args(["-n", name, "freed.click", "-o", "one.click"]).assert();
        taken.success().stderr_eq("");
        let text = dir.read("one.click");
        assert!(text.contains(&format!("EtherEncap(0x0800, 0:0:0:0:0:{own}, 0:0:0:0:0:{other});")), "{text}");
        assert!(!text.contains("ARPQuerier") && text.contains("ARPResponder"), "{text}");
        dir.tool("click-check").arg("one.click").assert().success();
    }
}
