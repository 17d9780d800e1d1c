//! The tools that read a configuration and write one, as filters: archives, marks of lines, options they share.

mod common;

use common::Scratch;

/// An archive with a configuration and another file, as `ar` would write it.
fn archive(config: &str) -> Vec<u8> {
    archive_of(&[("extra.rs/", "fn x() {}"), ("config/", config)])
}

fn archive_of(members: &[(&str, &str)]) -> Vec<u8> {
    let member = |(name, data): &(&str, &str)| {
        let pad = if data.len() % 2 == 1 { "\n" } else { "" };
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{data}{pad}", 0, 0, 0, 644, data.len())
    };
    ("!<arch>\n".to_string() + &members.iter().map(member).collect::<String>()).into_bytes()
}

#[test]
fn an_element_map_makes_specialised_classes_known() {
    let dir = Scratch::new("bases");
    let config = "InfiniteSource(LIMIT 3, STOP true) -> c :: Counter@@c@@d -> Discard;";
    let map = "<elementmap><entry name='Counter@@c@@d' base='Counter@@c'/><entry name='Counter@@c' base='Counter'/></elementmap>";
    let write = |map| {
        std::fs::write(dir.path("a.click"), archive_of(&[("elementmap.xml/", map), ("config/", config)]))
            .unwrap();
    };
    write(map);
    let run = dir.tool("click").args(["--simtime", "a.click", "-h", "c.count", "-h", "c.class"]).assert();
    run.success().stdout_eq("c.count:\n3\n\nc.class:\nCounter@@c@@d\n\n");
    dir.clickwork().args(["check", "--types", "a.click"]).assert().success();
    write("<elementmap><entry name='Counter@@c@@d' base='Counter@@c'/></elementmap>");
    let unknown = dir.clickwork().args(["check", "a.click"]).assert().code(1);
    unknown.stderr_eq("error: unknown element class 'Counter@@c@@d'\n...");
}

#[test]
fn an_archive_is_read_wherever_a_configuration_is() {
    let dir = Scratch::new("archive");
    let config = "InfiniteSource(LIMIT 3, STOP true) -> c :: Counter -> Discard;";
    std::fs::write(dir.path("a.click"), archive(config)).unwrap();
    let run = dir.tool("click").args(["--simtime", "a.click", "-h", "c.count"]).assert().success();
    run.stdout_eq("3\n");
    dir.clickwork().args(["check", "a.click"]).assert().success();
    dir.clickwork().args(["graph", "a.click", "-o", "a.svg"]).assert().success();
    assert!(dir.read("a.svg").contains("InfiniteSource"));
    let refused = dir.clickwork().args(["fmt", "a.click"]).assert().code(1).stdout_eq("");
    refused.stderr_eq("error: a.click: this is an archive, which has no layout; take its configuration out with `clickwork flatten --config`\n");
    assert_eq!(dir.read("a.click").into_bytes(), archive(config));
}

#[test]
fn what_is_attached_goes_from_tool_to_tool() {
    let dir = Scratch::new("attached");
    std::fs::write(dir.path("a.click"), archive("c :: Counter; Idle -> c -> Discard")).unwrap();
    for tool in ["click-flatten", "click-check"] {
        dir.tool(tool).args(["-o", "b.click", "a.click"]).assert().success().stdout_eq("");
        let written = dir.read("b.click");
        assert!(written.starts_with("!<arch>\nconfig/") && written.contains("fn x() {}"), "{written}");
        dir.tool("click-check").arg("b.click").assert().success();
    }
    let alone = dir.tool("click-flatten").args(["--config", "--no-lines", "b.click"]).assert().success();
    alone.stdout_eq(
        "c :: Counter;
Idle@2 :: Idle;
Discard@3 :: Discard;

Idle@2 -> c
    -> Discard@3;
",
    );
}

#[test]
fn a_later_tool_names_the_lines_of_the_first_file() {
    let dir = Scratch::new("lines");
    dir.write("a.click", "// a comment\n\nIdle -> q :: Quene(5)\n -> Discard;");
    dir.tool("click-flatten").args(["a.click", "-o", "b.click"]).assert().success();
    dir.tool("click-flatten").args(["b.click", "-o", "c.click"]).assert().success();
    let checked = dir.tool("click-check").arg("c.click").assert().code(1);
    checked.stderr_eq("a.click:3: unknown element class 'Quene'\n...");
    let told = dir.clickwork().args(["check", "c.click"]).assert().code(1);
    told.stderr_eq(
        "error: unknown element class 'Quene'
 --> a.click:3:6
  |
3 | q :: Quene(5);
  |      ^^^^^
  |
  = help: did you mean 'Queue'?
  = help: line 3 of a.click is: Idle -> q :: Quene(5)
",
    );
    std::fs::remove_file(dir.path("a.click")).unwrap();
    let gone = dir.clickwork().args(["check", "c.click"]).assert().code(1);
    gone.stderr_eq("[..]\n --> a.click:3:6\n...\n  = help: did you mean 'Queue'?\n");
    dir.tool("click-flatten").args(["b.click", "--no-lines", "-o", "d.click"]).assert().success();
    assert!(!dir.read("d.click").contains('#'));
}

#[test]
fn damaged_archives_are_refused_with_the_place() {
    let dir = Scratch::new("damaged");
    let whole = archive("Idle -> Discard");
    std::fs::write(dir.path("a.click"), &whole[..100]).unwrap();
    for command in ["check", "flatten", "run", "graph"] {
        let refused = dir.clickwork().args([command, "a.click"]).assert().code(1).stdout_eq("");
        refused.stderr_eq("error: a.click: bad archive: the head of a member is cut off (at byte 78)\n");
    }
    std::fs::write(dir.path("a.click"), "!<arch>\n").unwrap();
    let empty = dir.tool("click-flatten").arg("a.click").assert().code(1);
    empty.stderr_eq(
        "a.click: bad archive: it has no member `config`, which would be the configuration (at byte 0)\n",
    );
}

#[test]
fn undead_explains_what_it_removes_in_both_forms() {
    let dir = Scratch::new("undead");
    dir.write(
        "a.click",
        "InfiniteSource(LIMIT 1)\n -> s :: StaticSwitch($TO)\n => Discard, ToDump(x.pcap);\n",
    );
    let expected = "InfiniteSource@1 :: InfiniteSource(LIMIT 1);
Discard@3 :: Discard;

InfiniteSource@1 -> Discard@3;
";
    let quiet =
        dir.tool("click-undead").args(["a.click", "TO=0", "-c", "-u"]).assert().success().stderr_eq("");
    let stdout = String::from_utf8(quiet.get_output().stdout.clone()).unwrap();
    assert!(stdout.contains("# 3 \"a.click\"\nDiscard@3 :: Discard;"), "{stdout}");
    let told = dir.tool("click-undead").args(["-V", "a.click", "TO=0", "--no-lines"]).assert().success();
    told.stderr_eq(
        "a.click:2: removed 's :: StaticSwitch($TO)': all packets take output 0
a.click:3: removed 'ToDump@4 :: ToDump(x.pcap)': no packet reaches it
",
    );
    let explained = dir.clickwork().args(["undead", "--explain", "a.click", "TO=0", "--no-lines"]).assert();
    explained.success().stderr_eq(
        "note: removed 's :: StaticSwitch($TO)': all packets take output 0\n --> a.click:2:5\n...",
    );
    let unknown = dir.clickwork().args(["undead", "a.click", "--no-lines"]).assert().success();
    unknown.stderr_eq("warning: 's :: StaticSwitch($TO)' left alone: its configuration does not say which port packets take\n...");
    let version = dir.tool("click-undead").arg("-v").assert().success();
    version.stdout_eq("click-undead (Clickwork) [..]\n");
    let defined = dir.tool("click-undead").args([
        "-e",
        "define($TO 0); InfiniteSource(LIMIT 1) -> StaticSwitch($TO) -> Discard",
        "--no-lines",
    ]);
    defined.assert().success().stdout_eq(format!("define($TO 0);\n\n{expected}"));
}

#[test]
fn routers_are_combined_changed_and_taken_apart() {
    let dir = Scratch::new("combine");
    dir.write("a.click", "FromDevice(eth0) -> n :: Null -> q :: Queue\n -> td :: ToDevice(eth1);");
    dir.write("b.click", "// b\nFromDevice(eth7) -> Queue -> ToDevice(eth8);");
    let both = ["ra=a.click", "-n", "rb", "-f", "b.click", "-e", "Idle -> Discard", "-o", "all.click"];
    dir.tool("click-combine")
        .args(both)
        .args(["ra.eth1 = rb.eth7"])
        .assert()
        .success()
        .stdout_eq("")
        .stderr_eq("");
    let all = dir.read("all.click");
    for part in [
        "link1 :: RouterLink(ra td ToDevice, eth1, rb FromDevice@1 FromDevice, eth7);",
        "ra\nrb\nrouter3\n",
        "router3/Idle@1",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    dir.tool("click-undead").args(["all.click", "-o", "less.click"]).assert().success();
    let ra = dir.tool("click-uncombine").args(["less.click", "ra", "-c", "--no-lines"]).assert().success();
    ra.stdout_eq(
        "FromDevice@1 :: FromDevice(eth0);
q :: Queue;
td :: ToDevice(eth1);

FromDevice@1 -> q
    -> td;
",
    );
    let rb = dir.tool("click-uncombine").args(["-n", "rb", "-f", "less.click"]).assert().success();
    let rb = String::from_utf8(rb.get_output().stdout.clone()).unwrap();
    assert!(rb.contains("# 2 \"b.click\"\nQueue@2 :: Queue;"), "{rb}");
}

#[test]
fn mistakes_in_combining_are_explained() {
    let dir = Scratch::new("combine-wrong");
    dir.write("a.click", "FromDevice(eth0) -> Queue -> ToDevice(eth1);");
    let wrong = |args: &[&str]| dir.clickwork().arg("combine").args(args).assert().code(1).stdout_eq("");
    wrong(&["a=a.click", "-l", "a.eth1 -> b.eth0"]).stderr_eq(
        "error: no router named 'b'\n |\n = help: the routers are a\nerror: the routers were not combined\n",
    );
    wrong(&[]).stderr_eq("error: no routers specified: name files, as in 'a=a.click b=b.click'\n");
    wrong(&["a=a.click", "a.eth1 -> "]).stderr_eq("error: bad link definition 'a.eth1 -> '\n");
    let plain = dir.tool("click-uncombine").args(["a.click", "a"]).assert().code(1);
    plain.stderr_eq("a.click: not created by 'click-combine' (no 'componentmap')\n");
    dir.tool("click-combine")
        .args(["a=a.click", "-o", "c.click"])
        .assert()
        .success()
        .stderr_eq("warning: no links between routers\n");
    let unnamed = dir.tool("click-uncombine").arg("c.click").assert().code(1);
    unnamed.stderr_eq("no component specified; there are a\n");
    dir.clickwork().args(["uncombine", "c.click", "x"]).assert().code(1).stderr_eq(
        "error: no 'x' component\n |\n = help: the components are a\nerror: c.click: 'x' was not taken out\n",
    );
}

#[test]
fn align_says_where_it_put_something_in_both_forms() {
    let dir = Scratch::new("align");
    dir.write("a.click", "FromDump(x.pcap)\n -> c :: CheckIPHeader($AT)\n -> Discard;\n");
    let expected = "define($AT 14);

FromDump@1 :: FromDump(x.pcap);
c :: CheckIPHeader($AT);
Discard@3 :: Discard;
Align@click_align :: Align(4, 2);
AlignmentInfo@click_align :: AlignmentInfo(c  4 2);

FromDump@1 -> Align@click_align
    -> c
    -> Discard@3;
";
    let quiet = dir.tool("click-align").args(["-u", "a.click", "AT=14", "--no-lines"]).assert().success();
    quiet.stdout_eq(expected).stderr_eq("warning: added 1 Align element\n");
    let told = dir.tool("click-align").args(["-V", "a.click", "AT=14", "-o", "b.click"]).assert().success();
    told.stderr_eq(
        "a.click:2: added 'Align@click_align :: Align(4, 2)' before input 0 of 'c :: CheckIPHeader($AT)': packets lie there in any way
warning: added 1 Align element
",
    );
    assert!(dir.read("b.click").contains("# 1 \"<click-align>\"\nAlign@click_align"));
    let again = dir.clickwork().args(["align", "-v", "--no-lines", "b.click", "AT=14"]).assert().success();
    again.stdout_eq(expected).stderr_eq("");
    dir.clickwork().args(["align", "-e", "Idle ->"]).assert().code(1).stdout_eq("");
}

const TWO_WAYS: &str = "a :: InfiniteSource(LIMIT 3) -> p :: Paint(1) -> c :: Counter -> d :: Discard;\n\
                        b :: InfiniteSource(LIMIT 4) -> q :: Paint(1) -> e :: Counter -> d;\n";

#[test]
fn devirtualized_routers_run_and_have_a_way_back() {
    let dir = Scratch::new("devirtualize");
    dir.write("a.click", &format!("{TWO_WAYS}DriverManager(wait 1s);"));
    dir.tool("click-devirtualize").args(["-u", "a.click", "-o", "b.click"]).assert().success().stderr_eq("");
    for member in ["config", "elementmap.xml", "devirtualize.rs"] {
        assert!(dir.read("b.click").contains(&format!("\n{member}/")), "{member}");
    }
    dir.clickwork().args(["check", "--types", "b.click"]).assert().success();
    let handlers = ["-h", "c.count", "-h", "e.count", "-h", "e.class"];
    let run = dir.tool("click").args(["--simtime", "b.click"]).args(handlers).assert().success();
    run.stdout_eq("c.count:\n3\n\ne.count:\n4\n\ne.class:\nCounter@@c\n\n");
    dir.tool("click-flatten").args(["--no-lines", "a.click", "-o", "flat.click"]).assert().success();
    let back = dir.tool("click-devirtualize").args(["--reverse", "--no-lines", "b.click"]).assert().success();
    back.stdout_eq(dir.read("flat.click"));
    dir.tool("click-devirtualize").args(["b.click", "-o", "c.click"]).assert().success();
    assert_eq!(dir.read("c.click"), dir.read("b.click"));
}

#[test]
fn devirtualize_says_what_it_was_asked_for() {
    let dir = Scratch::new("devirtualize-asked");
    dir.write("a.click", TWO_WAYS);
    let tool = |args: &[&str]| dir.tool("click-devirtualize").args(args).arg("a.click").assert();
    tool(&["--classes", "-n", "b", "--no-devirtualize=Counter"]).success().stdout_eq(
        "InfiniteSource@@a: a
    output 0 pushes to input 0 of Paint@@p
Paint@@p: p, q
    output 0 pushes to input 0 of Counter
Discard@@d: d
Counter: c (not specialised)
InfiniteSource: b (not specialised)
Counter: e (not specialised)
",
    );
    dir.write("i", "# comment\nnoclass Discard Paint\n");
    let config = tool(&["-c", "-i", "i", "--devirtualize", "Paint", "--no-lines"]).success();
    let config = String::from_utf8(config.get_output().stdout.clone()).unwrap();
    assert!(config.contains("q :: Paint@@p(1);") && config.contains("d :: Discard;"), "{config}");
    let source = tool(&["-s"]).success();
    let source = String::from_utf8(source.get_output().stdout.clone()).unwrap();
    assert!(source.contains("//   Paint@@p: p, q\n") && source.contains("mod paint {"), "{source}");
    tool(&["-s", "-n", "Paint"]).code(1).stdout_eq("").stderr_eq("there is no code: [..]\n");
    tool(&["-n", "Queue"]).success().stderr_eq("warning: nothing to leave alone: [..]'Queue'\n");
    dir.write("i", "\nnothing at all\n");
    tool(&["-i", "i"]).code(1).stderr_eq("i:2: unknown instruction 'nothing'[..]\n");
    dir.write("a.click", "Idle -> Paint(a) -> x :: Discard; Idle -> Paint(b) -> x; Idle -> Paint(a) -> x;");
    let wrong = tool(&["--classes"]).success().stderr_eq("warning: the configuration is not correct[..]\n");
    wrong.stdout_eq("...\nPaint@@Paint@2: Paint@2, Paint@7\n...");
}

#[test]
fn what_is_no_text_is_refused_and_nobody_gets_a_thousand_messages() {
    let dir = Scratch::new("no-text");
    std::fs::write(dir.path("a.pcap"), [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]).unwrap();
    for command in ["check", "undead", "run", "pretty", "uncombine"] {
        let refused = dir.clickwork().args([command, "a.pcap"]).assert().code(1).stdout_eq("");
        refused.stderr_eq(
            "error: a.pcap: a binary file; a configuration is text, or an archive (ar) with text in it\n",
        );
    }
    dir.write("a.click", &"~\n".repeat(1000));
    dir.clickwork().args(["flatten", "a.click"]).assert().code(1).stderr_eq(
        "error: syntax error near '~'\n --> a.click:1:1\n...\n... and 900 more messages\nerror: a.click: not a correct configuration\n",
    );
    let all = dir.tool("click-flatten").arg("a.click").assert().code(1);
    assert!(String::from_utf8_lossy(&all.get_output().stderr).lines().count() >= 1000, "as in Click");
}

#[test]
fn a_definition_that_changes_nothing_is_told_to_people() {
    let dir = Scratch::new("unused");
    dir.write("a.click", "define($DEV0 eth0);\nFromDevice(${DEV0}) -> Discard;");
    for command in ["flatten", "check", "xml", "graph", "pretty"] {
        let told = dir.clickwork().args([command, "a.click", "DEVO=eth1"]).assert().success();
        told.stderr_eq("warning: the configuration has no variable $DEVO; did you mean $DEV0?\n...");
    }
    let right = ["flatten", "a.click", "DEV0=eth1", "--no-lines"];
    dir.clickwork().args(right).assert().success().stderr_eq("");
    dir.tool("click-flatten").args(["a.click", "DEVO=eth1"]).assert().success().stderr_eq("");
    dir.write("b.click", "require(library a.click);");
    dir.clickwork().args(["flatten", "b.click", "DEV0=eth1"]).assert().success().stderr_eq("");
}

#[test]
fn a_full_disk_is_an_error_and_a_reader_that_goes_away_is_none() {
    let dir = Scratch::new("full");
    let text = "Idle -> Discard;".repeat(10_000);
    dir.write("a.click", &text);
    let run = |line: &str| {
        let program = env!("CARGO_BIN_EXE_clickwork");
        let line = line.replace("clickwork", program);
        let output =
            std::process::Command::new("sh").args(["-c", &line]).current_dir(dir.path(".")).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    assert_eq!(
        run("clickwork flatten a.click > /dev/full; echo $?"),
        "1\nerror: <stdout>: No space left on device\n"
    );
    assert_eq!(run("(clickwork flatten a.click --no-lines; echo $? >&2) | head -1"), "Idle@1 :: Idle;\n0\n");
}

/// Errors that no tool can see, only the router, after five tools in a pipe of the shell.
#[test]
fn an_error_after_five_tools_is_at_the_line_of_the_user() {
    let dir = Scratch::new("pipe");
    dir.write(
        "a.click",
        "// comments\n\n// and\nelementclass Slow { $rate | // lines\n  input -> Null -> q :: Queue -> u :: RatedUnqueue($rate)\n  -> output }\n\
         InfiniteSource(LIMIT 1) -> s :: StaticSwitch(1)\n  => Discard, i :: Paint(1); i\n  -> Strip(14) -> CheckIPHeader\n  \
         -> GetIPAddress(16) -> slow :: Slow(fast) -> r :: StaticIPLookup(0/0\n 0, x\n) -> Discard;\n",
    );
    dir.clickwork().args(["links", "bin"]).assert().success();
    let pipe = "bin/click-flatten a.click | bin/click-undead | bin/click-xform - -p ip | bin/click-align | bin/click-fastclassifier";
    for (last, status) in
        [("bin/click-check", 1), ("bin/click -q", 1), ("bin/click-align | bin/click-check", 1)]
    {
        let run = snapbox::cmd::Command::new("sh")
            .args(["-c", &format!("{pipe} | {last}")])
            .current_dir(dir.path("."))
            .env_remove("CLICKPATH");
        let output = run.assert().code(status);
        let said = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(said.contains("a.click:5: While configuring 'slow/u :: RatedUnqueue':\n"), "{last}: {said}");
        assert!(said.contains("a.click:10: While configuring 'r :: StaticIPLookup':\n"), "{last}: {said}");
        assert!(!said.contains("stdin"), "{last}: {said}");
    }
}
