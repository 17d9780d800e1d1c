//! Whole scripts, run in simulated time.

use crate::testing::Harness;
use clickwork_packet::Packet;
use clickwork_router::Outcome;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// What a script prints; it must print no message.
fn output(config: &str) -> String {
    let mut t = Harness::new(config);
    t.run();
    assert_eq!(t.printed(), "", "{config}");
    t.output()
}

/// The message of a script, its output being ignored.
fn message(config: &str) -> String {
    let mut t = Harness::new(config);
    t.run();
    t.printed()
}

#[test]
fn arithmetic() {
    let numbers = "Script(print $(add 1 2 3), print $(sub 10 4), print $(mul 3 4), print $(div 7 2), \
                   print $(idiv 7 2), print $(mod 7 3), print $(rem 7.5 4), print $(neg 5), print $(abs -3), \
                   print $(min 4 2 9), print $(max 4 2 9), print $(add 1.5 2.25), print $(add), print $(mul 2 0x10), stop)";
    assert_eq!(output(numbers), "6\n6\n12\n3.5\n3\n1\n3.5\n-5\n3\n2\n9\n3.75\n0\n32\n");
    let comparisons = "Script(print $(eq 10 0xA), print $(le 9 8), print $(lt abc abd), print $(ge 1.5 1), \
                       print $(eq '10x' \"10x\"), print $(ne 1 1), stop)";
    assert_eq!(output(comparisons), "true\nfalse\ntrue\ntrue\ntrue\nfalse\n");
    let mut t = Harness::new("s :: Script(TYPE PASSIVE)");
    assert_eq!(t.read("s.mod 1 0"), "division by zero");
    assert_eq!(t.read("s.add 1 x"), "expected list of numbers");
    assert_eq!(t.read("s.eq 1"), "expected two numbers");
    assert_eq!(t.read("s.htons 1"), 1u16.to_be().to_string());
    // Numbers of more bits lose them; those of more than 32 become the nearest of 32, with sign.
    for (call, value) in [
        ("htons 65537", u32::from(1u16.to_be())),
        ("ntohs -2", u32::from(0xfffeu16.to_be())),
        ("htons 5000000000", 0xffff),
        ("htons -5000000000", 0),
        ("htonl -2", 0xffff_fffeu32.to_be()),
        ("ntohl 4294967295", 0x7fff_ffffu32.to_be()),
        ("htonl 99999999999999999999999", 0x7fff_ffffu32.to_be()),
        ("ntohl -99999999999999999999999", 0x8000_0000u32.to_be()),
        ("htonl 0x10", 16u32.to_be()),
    ] {
        assert_eq!(t.read(&format!("s.{call}")), value.to_string(), "{call}");
    }
    assert_eq!((t.read("s.htons"), t.read("s.htonl x")), ("syntax error".into(), "syntax error".into()));
    let random: u32 = t.read("s.random 5 6").parse().unwrap();
    assert!((5..=6).contains(&random));
    assert_eq!(
        (t.read("s.random 1"), t.read("s.random 0"), t.read("s.random 3 2")),
        ("0".into(), "bad N".into(), "bad N".into())
    );
}

#[test]
fn truth_and_words() {
    let mut t = Harness::new("s :: Script(TYPE PASSIVE)");
    for (call, value) in [
        ("not true", "false"),
        ("and true true false", "false"),
        ("and", "true"),
        ("or false 1", "true"),
        ("nand true false", "false"),
        ("idiv 7 0", "-9223372036854775808"),
        ("idiv -7 2", "-3"),
        ("div 1 0", "inf"),
        ("nor 0 0", "true"),
        ("if yes a b", "a"),
        ("if no a 'b c'", "'b c'"),
        ("in foo bar 'foo'", "true"),
        ("in foo bar", "false"),
        ("in '' ''", "false"),
        ("first 'a b' c", "'a b'"),
        ("length abcde", "5"),
        ("unquote \"a\\tb\"", "a\tb"),
        ("readable s.add name list", "true"),
        ("readable s.add nosuch", "false"),
        ("writable s.step s.run", "true"),
        ("writable s.add", "false"),
        ("not maybe", "syntax error"),
    ] {
        assert_eq!(t.read(&format!("s.{call}")), value, "{call}");
    }
}

#[test]
fn jumps_variables_and_other_scripts() {
    let config = "s :: Script(set i 0, label again, set i $(add $i 1), goto out $(ge $i 5), goto again, label out, \
                  print $i, init once 9, export e 44, print \"e=$e\", write t.run 5, print \"ret $?\", end, print \"never\");
                  t :: Script(TYPE PASSIVE, print \"called $args\", return $(mul $args 2));
                  u :: Script(wait 0.5, print \"t=$(t.run 8)\", print s.e, stop);";
    assert_eq!(output(config), "5\ne=44\ncalled 5\nret 0\ncalled 8\nt=16\n44\n");
}

#[test]
fn arguments_of_run() {
    let mut t = Harness::new("s :: Script(TYPE PASSIVE, returnq \"$#:$1-$3-$9-$0-$write\")");
    assert_eq!(t.read("s.run a 'b c' d"), "3:a-d--run-false");
    let mut t = Harness::new("s :: Script(TYPE PASSIVE, set x $(shift), returnq \"$x|$args\")");
    assert_eq!(t.read("s.run a b c"), "a|b c");
    t.write("s.set y 'new one'").unwrap();
    assert_eq!((t.read("s.get y"), t.read("s.get args")), ("'new one'".into(), "b c".into()));
    assert_eq!(t.read("s.get z"), "undefined variable 'z'");
    let mut t = Harness::new("s :: Script(TYPE PASSIVE, return \"$1 $2 $3 $01 $1a\")");
    assert_eq!(t.read("s.run x y"), "\"x y  $01 $1a\"");
}

#[test]
fn quoting() {
    let config = "c :: Counter; Idle -> c -> Discard; Script(set x c.count, print $x, print $($x), set y \"$(c.count)\", \
                  print $y, setq z \"$(c.count)\", print $z, print 'c.$x', print \"${none-d}$none\", printn \"a\", \
                  print \"\\tb\\<21>\", stop)";
    assert_eq!(output(config), "c.count\n0\n\"0\"\n0\nc.$x\nd$none\na\tb!\n");
}

#[test]
fn files() {
    let path = clickwork_oracles::unused("clickwork-script");
    let file = path.display();
    let config = format!(
        "s :: Script(print >{file} \"one\", print >>{file} list, append list {file}, print \"$(cat {file})\", \
         print $(length $(catq {file})), save name {file}, stop)"
    );
    assert_eq!(output(&config.replace("name", "s.name")), "one\n1\ns\n1\ns\n19\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "s\n");
    std::fs::remove_file(&path).unwrap();
    let text = message(
        "s :: Script(print >/proc/nonexistent/file 5, print \"$(cat /proc/nonexistent/file)\", stop)",
    );
    assert_eq!(
        text,
        "While executing 's :: Script':\n  /proc/nonexistent/file: No such file or directory\n  \
         /proc/nonexistent/file: No such file or directory\n"
    );
}

/// As the driver steps a script: then `stop` stops nobody, since the driver is stopping already.
#[test]
fn a_step_of_the_router_is_that_of_the_driver() {
    for (step, stopped) in [("router", false), ("1", true)] {
        let mut t = Harness::new("s :: Script(TYPE PASSIVE, print \"a\", pause, print \"b\", stop)");
        t.write("s.run").unwrap();
        assert_eq!(t.output(), "a\n");
        t.write(&format!("s.step {step}")).unwrap();
        assert_eq!(t.output(), "b\n");
        assert_eq!(
            t.run_for(Duration::from_millis(1)) == clickwork_router::Outcome::Stopped,
            stopped,
            "{step}"
        );
    }
}

#[test]
fn waits_end_by_time_or_step() {
    let mut t = Harness::new(
        "s :: Script(wait 1s, print \"one\", pause 2, print \"two\", wait 10s, print \"three\")",
    );
    t.run_for(Duration::from_millis(900));
    assert_eq!(t.output(), "");
    t.run_for(Duration::from_millis(200));
    t.write("s.step").unwrap();
    assert_eq!(t.output(), "one\n");
    t.write("s.step").unwrap();
    assert_eq!(t.output(), "two\n");
    t.write("s.step 1").unwrap();
    assert_eq!(t.output(), "three\n");
    t.write("s.goto begin").unwrap();
    t.write("s.step 4").unwrap();
    assert_eq!(t.output(), "one\ntwo\nthree\n");
    assert_eq!(t.write("s.step x").unwrap_err(), "syntax error");
    assert_eq!(t.write("s.step -5"), Ok(()));
    assert_eq!(t.write("s.goto nowhere").unwrap_err(), "jump to nonexistent label");
}

#[test]
fn an_endless_loop_is_given_up() {
    let mut t = Harness::new("s :: Script(loop); r :: Script(write r.run); Script(wait 1s, stop)");
    assert_eq!(t.run(), Outcome::Stopped);
    assert_eq!(
        t.printed(),
        "s :: Script: too many jumps, giving up\nr :: Script: too many jumps, giving up\n"
    );
    let mut t = Harness::new("d :: DriverManager(label a, goto a)");
    t.run_for(Duration::from_secs(1));
    assert_eq!(t.printed(), "d :: DriverManager: too many jumps, giving up\n");
}

#[test]
fn errors_say_what_was_being_done() {
    let config =
        "s :: Script(write q.bad 5, print q.length 3, write q.capacity x, print $(nosuch.h), print \"$?\", \
                  goto begin maybe, error \"it is over\");
                  Idle -> q :: Queue -> Discard";
    let text = message(config);
    let expected = [
        "While executing 's :: Script':",
        "  no 'q.bad' write handler",
        "  read handler 'q.length' does not take parameters",
        "  While calling 'q.capacity x':",
    ];
    assert_eq!(text.lines().take(4).collect::<Vec<_>>(), expected);
    assert!(
        text.contains("\n  no element named 'nosuch'\n  bad condition 'maybe'\n  \"it is over\"\n"),
        "{text}"
    );
}

#[test]
fn status_of_calls() {
    let config = "p :: Script(TYPE PASSIVE, goto error $(eq 0$1 0e), return 5); \
                  Script(write p.run, print \"$?\", write p.run e, print \"$?\", pause)";
    assert_eq!(Harness::new(config).errors_and_output(), "0\n-1\n");
    let config = "Idle -> q :: Queue -> Discard; Script(write q.capacity x, print \"$?\", pause)";
    assert_eq!(Harness::new(config).errors_and_output(), "-22\n");
}

impl Harness {
    fn errors_and_output(&mut self) -> String {
        self.run();
        self.output()
    }
}

#[test]
fn packet_scripts_choose_the_output() {
    let config = "a, b :: Source; a -> s :: Script(set n $(add 0$n 1), return $(mod $n 3)); b -> [1] s; \
                  s => k :: Sink, l :: Sink";
    for mut t in [Harness::new(config), Harness::batched(config)] {
        t.push_batch("s", 0, (1..=6u8).map(|n| Packet::new(&[n])));
        assert_eq!(t.bytes("k"), [[3], [6]]);
        assert_eq!(t.bytes("l"), [[1], [4]]);
        assert_eq!(t.read("s.drop_reasons"), "2\tscript\n");
    }
    let ends = "a :: Source -> s :: Script(goto exit $(eq $(k.count) 2)) -> k :: Counter -> Discard";
    let mut t = Harness::new(ends);
    t.push("a", 0, (0..5).map(|_| Packet::new(b"x")));
    assert_eq!(t.read("k.count"), "2");
}

#[test]
fn packets_may_go_round_in_circles() {
    let config = "s :: Script(init n 0, set n $(add $n 1), goto exit $(ge $n 5000)) -> c :: Counter -> s";
    for mut t in [Harness::new(config), Harness::batched(config)] {
        t.push("s", 0, [Packet::new(b"x")]);
        assert_eq!(t.read("c.count"), "4999");
    }
}

#[test]
fn packet_scripts_work_in_pull() {
    let config = "Source -> q :: Queue -> s :: Script(TYPE PACKET, set n $(add 0$n 1), return $(mod $n 2)) \
                  -> k :: Sink; s [1] -> l :: Sink";
    let mut t = Harness::new(config);
    t.push("q", 0, (1..=5u8).map(|n| Packet::new(&[n])));
    assert_eq!((t.bytes("k"), t.bytes("l")), (vec![vec![2], vec![4]], vec![vec![1], vec![3], vec![5]]));
}

#[test]
fn proxies_answer_to_any_name() {
    let config = "s :: Script(TYPE PROXY, goto nota $(ne $0 a), returnq \"you called 'a' $args $write\", label nota, \
                  goto bad $(ne $0 x.y), return 7, label bad, error bad handler)";
    let mut t = Harness::new(config);
    assert_eq!(t.read("s.a 1 2"), "you called 'a' 1 2 false");
    assert_eq!(t.router.read_handler(t.router.find("s").unwrap(), "x.y", "").unwrap().text(), "7");
    assert_eq!((t.read("s.b"), t.read("s.class")), ("bad handler".into(), "Script".into()));
}

#[test]
fn mistakes_in_the_configuration() {
    let e = Harness::errors("s :: Script(prnt x, goto nowhere)");
    assert!(e.contains("syntax error at 'prnt'") && e.contains("no such label 'nowhere'"), "{e}");
    for (config, text) in [
        ("Script(TYPE ODD)", "bad TYPE"),
        ("Script(TYPE SIGNAL 99)", "bad signal number"),
        ("Script(TYPE PACKET)", "PACKET script must have inputs"),
        ("Idle -> Script(TYPE PASSIVE) -> Discard", "ports allowed only on PACKET scripts"),
    ] {
        let e = Harness::errors(config);
        assert!(e.contains(text), "{config}: {e}");
    }
}

#[test]
fn read_prints_a_message() {
    let text = message("c :: Counter; Idle -> c -> Discard; Script(read c.count, readq list, stop)");
    assert!(text.starts_with("c.count:\n0\nlist:\n4\n") && text.ends_with("Script@4\n\n"), "{text}");
}

#[test]
fn a_signal_starts_a_script_again_and_again_while_it_ends() {
    let config = "n :: Script(TYPE PASSIVE, init n 0); \
                  s :: Script(TYPE SIGNAL USR1, write n.set n $(n.add 1 $(n.get n)), goto stop $(eq 3 $(n.get n)), end); \
                  Script(label again, wait 1ms, print $(kill USR1 $$), goto again)";
    let mut t = Harness::new(config);
    run_until_stopped(&mut t);
    assert_eq!(t.read("n.get n"), "3");
    let mut t = Harness::new(
        "s :: Script(TYPE SIGNAL USR2, print \"got it\", stop); Script(write run.x, print $(kill USR2 $$))",
    );
    run_until_stopped(&mut t);
    assert!(t.output().contains("got it"));
}

/// Signals come to any thread of the process, as soon as that runs: what is simulated does not wait for them.
fn run_until_stopped(t: &mut Harness) {
    let give_up = Instant::now() + Duration::from_secs(300);
    while t.run() != Outcome::Stopped {
        assert!(Instant::now() < give_up, "no signal stops the router: {}", t.output());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Instructions that may meet in any order.
const PIECES: &[&str] = &[
    "label a",
    "goto a",
    "goto a $(lt $n 9)",
    "goto begin",
    "loop",
    "pause",
    "pause 2",
    "wait 0",
    "wait 1us",
    "wait x",
    "set n $(add 0$n 1)",
    "set n $n$n",
    "setq n \"$(s.get n)\"",
    "init n 4",
    "export m $n",
    "write s.run $n",
    "write s.step 2",
    "write s.goto a",
    "read s.run",
    "print $(run)",
    "print \"$n$(\"",
    "printq s.m",
    "error $n",
    "return $(run)",
    "stop",
    "end",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_script_panics_or_hangs(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..12)) {
        let mut t = Harness::new(&format!("s :: Script(label a, {})", pieces.join(", ")));
        t.run_for(Duration::from_micros(200));
        let _ = t.write("s.run");
        let _ = t.write("s.step 3");
    }
}
