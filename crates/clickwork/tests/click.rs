//! The program under Click's names: options, formats and exit statuses that scripts rely on.

mod common;

use common::{Scratch, text};

const COUNTING: &str = "InfiniteSource(LIMIT 5, STOP true) -> c :: Counter -> d :: Counter -> Discard;";

#[test]
fn handlers_are_printed_with_their_names_if_there_are_several() {
    let dir = Scratch::new("handlers");
    let click = |args: &[&str]| dir.tool("click").arg("--simtime").args(["-e", COUNTING]).args(args).assert();
    click(&["-h", "c.count"]).success().stdout_eq("5\n");
    click(&["-h", "c.count", "-h", "d.class"]).success().stdout_eq("c.count:\n5\n\nd.class:\nCounter\n\n");
    click(&["-h", "Counter.count"]).success().stdout_eq("c.count:\n5\n\nd.count:\n5\n\n");
    click(&["-h", "[d-f]*.count"]).success().stdout_eq("d.count:\n5\n\n");
    click(&["-h", "list"]).success().stdout_eq("4\nInfiniteSource@1\nc\nd\nDiscard@4\n");
}

#[test]
fn a_handler_that_cannot_be_read_is_an_error() {
    let dir = Scratch::new("bad-handlers");
    let click =
        |name: &str| dir.tool("click").args(["--simtime", "-e", COUNTING, "-h", name]).assert().code(1);
    click("c.nothing").stderr_eq("no 'c.nothing' handler\n");
    click("c.reset").stderr_eq("'c.reset' is a write handler\n");
    click("x.count").stderr_eq("no element 'x'\n");
    click("x*.count").stderr_eq("no element matching 'x*'\n");
}

#[test]
fn the_exit_handler_gives_the_status() {
    let dir = Scratch::new("exit");
    let click = |name: &str| dir.tool("click").args(["--simtime", "-e", COUNTING, "-x", name]).assert();
    click("c.count").code(5);
    click("c.name").code(255).stderr_eq("exit handler value should be integer\n");
    click("c.nothing").code(255);
}

#[test]
fn the_flat_configuration_is_written_without_running() {
    let dir = Scratch::new("output");
    let config = "elementclass Two { input -> Null -> Counter -> output } define($n 3); Idle -> Two -> x :: Queue($n) -> Discard;";
    let flat = "x :: Queue(3);\nIdle@1 :: Idle;\nDiscard@4 :: Discard;\nTwo@2/Null@1 :: Null;\nTwo@2/Counter@2 :: Counter;\n\n\
                Idle@1 -> Two@2/Null@1\n    -> Two@2/Counter@2\n    -> x\n    -> Discard@4;\n";
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    let printed = dir.tool("click").args(["-q", "-o-", "-e", config]).assert().success();
    let printed = String::from_utf8(printed.get_output().stdout.clone()).unwrap();
    assert_eq!(sorted(&printed), sorted(flat));
    dir.tool("click").args(["-q", "-o", "flat.click", "-e", config]).assert().success().stdout_eq("");
    assert_eq!(dir.read("flat.click"), printed);
    dir.tool("click").args(["-q", "-o", "no/such/dir", "-e", config]).assert().code(1);
}

#[test]
fn variables_come_from_the_command_line_and_libraries_from_the_path() {
    let dir = Scratch::new("variables");
    dir.write("lib.click", "elementclass Limited { $n | q :: Queue($n); input -> q -> output }");
    let config =
        dir.write("main.click", "require(library lib.click); Idle -> l :: Limited($SIZE) -> Discard;");
    dir.tool("click")
        .args([text(&config), "SIZE=17", "-qh", "l/q.capacity"])
        .assert()
        .success()
        .stdout_eq("17\n");
    std::fs::create_dir_all(dir.path("else/conf")).unwrap();
    std::fs::rename(dir.path("lib.click"), dir.path("else/conf/lib.click")).unwrap();
    let missing = dir.tool("click").args([text(&config), "SIZE=17", "-q"]).assert().code(1);
    let stderr = String::from_utf8(missing.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("library 'lib.click' not found in CLICKPATH/conf"), "{stderr}");
    let found = ["-C", "else", "-q", "-h", "l/q.capacity"];
    dir.tool("click").args([text(&config), "SIZE=17"]).args(found).assert().success().stdout_eq("17\n");
}

#[test]
fn the_first_of_two_definitions_counts() {
    let dir = Scratch::new("twice");
    let run = dir
        .tool("click")
        .args(["-e", "Idle -> q :: Queue($n) -> Discard", "n=3", "n=4", "-qh", "q.capacity"])
        .assert();
    run.success().stdout_eq("3\n").stderr_eq("parameter 'n' multiply defined\n");
}

#[test]
fn errors_have_the_form_of_click() {
    let dir = Scratch::new("errors");
    dir.write("bad.click", "Idle -> Discard;\nIdle -> Queue(x) -> Discard;\n");
    dir.tool("click").args(["-q", "bad.click"]).assert().code(1).stdout_eq("").stderr_eq(
        "bad.click:2: While configuring 'Queue@4 :: Queue':\n  CAPACITY: parse error\nRouter could not be initialized!\n",
    );
    dir.tool("click").arg("none.click").assert().code(1).stderr_eq("none.click: No such file or directory\n");
    dir.tool("click").args(["a.click", "b.click"]).assert().code(1);
    dir.tool("click").arg("--no-such-option").assert().code(1).stdout_eq("");
}

#[test]
fn a_repeated_keyword_is_accepted_in_silence() {
    let dir = Scratch::new("repeated");
    let config = "InfiniteSource(LIMIT 9, LIMIT 3, STOP true) -> c :: Counter -> Discard";
    let run = dir.tool("click").args(["--simtime", "-e", config, "-h", "c.count"]).assert();
    run.success().stdout_eq("3\n").stderr_eq("");
}

#[test]
fn an_empty_configuration_runs_no_driver() {
    let dir = Scratch::new("empty");
    let warning = "warning: config: configuration has no elements, exiting\n";
    dir.tool("click").args(["-e", ""]).assert().success().stderr_eq(warning);
    dir.tool("click").args(["-w", "-e", ""]).assert().success().stderr_eq("");
}

#[test]
fn the_time_is_printed_in_the_form_of_the_shell() {
    let dir = Scratch::new("time");
    let run = dir.tool("click").args(["--simtime", "-t", "-e", COUNTING]).assert().success();
    run.stdout_eq("[..]u [..]s [..]:[..]\n");
}

#[test]
fn click_check_and_click_flatten_have_their_own_options() {
    let dir = Scratch::new("tools");
    dir.write("a.click", "elementclass A { input -> Null -> output } Idle -> A -> Discard;");
    dir.tool("click-check")
        .arg("a.click")
        .assert()
        .success()
        .stdout_eq("")
        .stderr_eq("a.click: configuration OK in userlevel driver\n");
    dir.tool("click-check").args(["-e", "Idle -> Nul -> Discard"]).assert().code(1).stdout_eq("");
    dir.tool("click-flatten").args(["-c", "a.click"]).assert().success().stdout_eq("Discard\nIdle\nNull\n");
    let names = dir.tool("click-flatten").args(["--names", "a.click"]).assert().success();
    names.stdout_eq("A@2/Null@1\nDiscard@3\nIdle@1\n");
    let unknown =
        dir.tool("click-flatten").args(["-d", "-e", "a :: Unheard(1) -> b :: Of"]).assert().success();
    unknown.stdout_eq("a :: Unheard\nb :: Of\n");
}

#[test]
fn a_running_configuration_is_replaced_and_counters_go_on() {
    let dir = Scratch::new("hotconfig");
    let config = |new: &str| {
        format!(
            "InfiniteSource(LIMIT 3) -> c :: Counter -> q :: Queue -> Idle; Script(wait 1s, write hotconfig {new});"
        )
    };
    let run = |new: &str| {
        let handlers = ["-h", "c.count", "-h", "q.length"];
        dir.tool("click").args(["-R", "--simtime", "-e", &config(new)]).args(handlers).assert().success()
    };
    let same = "c.count:\n3\n\nq.length:\n3\n\n";
    run("Idle -> c :: Counter -> q :: Queue -> Idle").stdout_eq(same).stderr_eq("");
    run("Idle -> c :: Counter -> q :: Queue -> Unqueue -> Discard")
        .stdout_eq("c.count:\n3\n\nq.length:\n0\n\n");
    let refused = run("Idle -> c :: Counter -> q :: Quene -> Idle").stdout_eq(same);
    let stderr = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(stderr.contains("config:1: unknown element class 'Quene'"), "{stderr}");
    let forbidden = dir.tool("click").args(["--simtime", "-e", &config("Idle -> Idle")]).assert();
    forbidden.stderr_eq("...\n[..]no 'hotconfig' write handler\n");
}

#[test]
fn batches_do_not_change_how_a_configuration_is_replaced() {
    let dir = Scratch::new("hotconfig-batches");
    let config = "InfiniteSource(LIMIT 300) -> c :: Counter -> Discard; \
                  Script(wait 1s, write hotconfig Idle -> c :: Counter -> Discard);";
    let run = dir
        .clickwork()
        .args(["run", "-R", "--simtime", "-e", config, "-h", "c.count", "-h", "list"])
        .assert();
    run.success().stdout_eq("c.count:\n300\n\nlist:\n3\nIdle@1\nc\nDiscard@3\n\n");
}

#[test]
fn errors_are_those_of_the_first_stage_that_fails_at_clicks_places() {
    let dir = Scratch::new("stages");
    let click = |config: &str| {
        dir.write("a.click", config);
        let run = dir.tool("click").args(["-q", "a.click"]).assert().code(1);
        String::from_utf8(run.get_output().stderr.clone()).unwrap()
    };
    let end = "Router could not be initialized!\n";
    let twice = "FromDump(no1) -> Discard;\nFromDump(no2) -> Discard;\n";
    let first = "a.click:1: While initializing 'FromDump@1 :: FromDump':\n  no1: No such file or directory\n";
    assert_eq!(click(twice), format!("{first}{end}"));
    let extra = click("n :: Null;\nIdle -> n -> Discard;\nn [1] -> Strip(x);\n");
    assert_eq!(extra, format!("a.click:1: 'n :: Null' has no output 1\n{end}"));
    let mixed = click("Idle -> Queue -> Queue -> Discard;\nIdle -> Strip(x);\n");
    assert!(!mixed.contains("a.click:"), "{mixed}");
    let unused = click("Idle -> Strip(x) -> Discard;\nIdle -> Null;\n");
    assert!(unused.starts_with("a.click:2: ") && !unused.contains("a.click:1"), "{unused}");
    assert_eq!(click("Idle -> Discard;\nError(a, b);\n"), end);
    let wrong = click("Idle -> Print(MAXLENGTH x, NO 1) -> Discard;\n");
    let both = "  MAXLENGTH: parse error\n  NO: unknown argument\n";
    assert_eq!(wrong, format!("a.click:1: While configuring 'Print@2 :: Print':\n{both}{end}"));
}

#[test]
fn data_is_printed_as_it_is_and_tickets_are_kept_in_range() {
    let dir = Scratch::new("raw");
    let config = "s :: InfiniteSource(DATA abc, LIMIT 1) -> Queue -> u :: Unqueue -> Discard; \
                  Script(write u.tickets 0, print u.tickets, write u.tickets 99999, print u.tickets, stop)";
    let click = |args: &[&str]| dir.tool("click").args(["--simtime", "-e", config]).args(args).assert();
    click(&["-q", "-h", "s.data"]).success().stdout_eq("abc");
    click(&["-q", "-h", "driver", "-h", "timewarp"])
        .stdout_eq("driver:\nuserlevel\n\ntimewarp:\nsimulation\n\n");
    click(&[])
        .stdout_eq("1\n32768\n")
        .stderr_eq("warning: tickets pinned at 1\nwarning: tickets pinned at 32768\n");
}

/// If time did not pass faster, these would take days.
#[test]
fn timewarp_makes_time_pass_faster() {
    let dir = Scratch::new("timewarp");
    let script = |text: &str| dir.tool("click").args(["-e", &format!("Script({text}, stop)")]).assert();
    let fast = "print $(timewarp), write timewarp 1000000, print $(timewarp), set a $(now), wait 100000s, \
                print $(ge $(sub $(now) $a) 99999), write timewarp 0.5, print $(timewarp)";
    script(fast).success().stdout_eq("1\n1000000\ntrue\n0.5\n").stderr_eq("");
    let jumping = "write timewarp nowait, print $(timewarp), set a $(now), wait 1000000s, print $(ge $(sub $(now) $a) 999999)";
    script(jumping).success().stdout_eq("nowait\ntrue\n").stderr_eq("");
    for (text, error) in
        [("0", "timefactor must be > 0"), ("-1", "timefactor must be > 0"), ("x", "expected double")]
    {
        let stderr = format!(
            "While executing 'Script@1 :: Script':\n  While calling 'timewarp {text}':\n    {error}\n"
        );
        script(&format!("write timewarp {text}, print $?")).success().stdout_eq("-22\n").stderr_eq(stderr);
    }
    let config = "Script(print $(timewarp), write timewarp 2, stop)";
    let simulated = dir.tool("click").args(["--simtime", "-e", config]).assert();
    let refused = "While executing 'Script@1 :: Script':\n  no 'timewarp' write handler\n";
    simulated.success().stdout_eq("simulation\n").stderr_eq(refused);
}

#[test]
fn a_compact_configuration_is_shown_flat() {
    let dir = Scratch::new("compact");
    let config = |text: &str, handler: &str| {
        let output = dir.tool("click").args(["-q", "-h", handler, "-e", text]).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).expect("text")
    };
    let text = "require(compact_config);  // a comment\nelementclass X { Idle -> Discard } x :: X;";
    assert_eq!(config(text, "config"), config(text, "flatconfig"));
    assert!(config(text, "config").starts_with("require(compact_config);\n\nx/Idle@1 :: Idle;\n"));
    assert!(config(&text.replace("require", "// require"), "config").contains("elementclass"));
}

/// The letters that programs with buttons and boxes to tick read.
#[test]
fn lists_of_handlers_have_clicks_flags() {
    let dir = Scratch::new("flags");
    let config = "s :: InfiniteSource -> q :: Queue -> u :: Unqueue -> c :: Counter -> p :: Print -> Discard; t :: Script";
    for (element, lines) in [
        (
            "s",
            &[
                "class\tr.",
                "config\tr.",
                "data\trw%.",
                "limit\trw.",
                "active\trwc",
                "reset\twb",
                "burstsize\trw.D",
            ][..],
        ),
        ("q", &["length\tr", "capacity\trw.", "reset_counts\twb", "ports\tr."]),
        ("u", &["active\trwc", "reset_counts\twUb", "tickets\trw"]),
        ("c", &["count\tr", "reset\twb", "handlers\tr."]),
        ("p", &["active\trw.c", "name\tr."]),
        ("t", &["run\trw+", "add\tr+", "step\tw"]),
    ] {
        let handler = format!("{element}.handlers");
        let output = dir.tool("click").args(["-q", "-h", &handler, "-e", config]).assert().success();
        let said = String::from_utf8(output.get_output().stdout.clone()).expect("text");
        for line in lines {
            assert!(said.lines().any(|l| l == *line), "{element}: no {line:?} in\n{said}");
        }
    }
}
