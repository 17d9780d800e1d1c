//! How packets move: order, batches, cycles, commands.
#![allow(missing_docs)]

mod common;
use clickwork_router::{Driver, Outcome};
use common::{batched, push, router, try_build};

#[test]
fn a_copy_is_delivered_before_the_packet_it_was_made_of() {
    let mut r = router(
        "g :: Gen -> c :: Copy -> a :: Say -> b :: Say -> Store -> End; c[1] -> d :: Say -> Store -> End",
    );
    push(&mut r, "c", [1, 2]);
    assert_eq!(r.log().taken(), "d 1\na 1\nb 1\nd 2\na 2\nb 2\n");
}

#[test]
fn the_graph_is_walked_depth_first() {
    let config = "s :: Split(); Gen -> s; s[0] -> c :: Copy -> a :: Say -> Store -> End;
                  c[1] -> x :: Copy -> y :: Say -> Store -> End; x[1] -> z :: Say -> Store -> End; s[1] -> Say -> Store -> End";
    let mut r = router(config);
    push(&mut r, "s", [0]);
    assert_eq!(r.log().taken(), "z 0\ny 0\na 0\n");
}

#[test]
fn packets_on_one_path_keep_their_order_in_batches() {
    let config = "s :: Split; Gen -> s; s[0] -> a :: Say -> Store -> End; s[1] -> b :: Say -> Store -> End";
    let mut r = batched(config);
    push(&mut r, "s", (0..50).map(|n| if n % 7 == 0 { 200 + n } else { n }));
    let kept: Vec<u8> = (0..50).filter(|n| n % 7 != 0).collect();
    let of = |parity| format!("{:?}", kept.iter().filter(|&n| n % 2 == parity).collect::<Vec<_>>());
    assert_eq!(r.read("a.seen", "").unwrap().text(), of(0));
    assert_eq!(r.read("b.seen", "").unwrap().text(), of(1));
    assert_eq!(r.read("s.drop_reasons", "").unwrap().text(), "8\ttoo big\n");
    assert_eq!(r.total_drops(), 8);
}

#[test]
fn a_batch_that_goes_elsewhere_as_a_whole_arrives_whole() {
    let mut r =
        batched("s :: Split; Gen -> s; s[0] -> a :: Say -> Store -> End; s[1] -> b :: Say -> Store -> End");
    push(&mut r, "s", [1, 3, 5]);
    assert_eq!(
        (r.read("a.seen", "").unwrap().text(), r.read("b.seen", "").unwrap().text()),
        ("[]".into(), "[1, 3, 5]".into())
    );
}

#[test]
fn cycles_in_the_graph_are_harmless() {
    for mode in [router, batched] {
        let mut r = mode("l :: Loop -> n :: Say -> l; l[1] -> out :: Say -> Store -> End; Gen -> l");
        push(&mut r, "l", [3, 1, 2]);
        r.log().taken();
        assert_eq!(r.read("out.seen", "").unwrap().text().len(), "[0, 0, 0]".len());
        assert_eq!(r.info(r.find("l").unwrap()).packets, 3 + 2 + 1);
    }
}

#[test]
fn a_circle_without_end_ends() {
    for mode in [router, batched] {
        let mut r = mode("g :: Gen -> s :: Split -> s; s[1] -> Store -> End");
        push(&mut r, "s", [0, 2]);
        assert!(r.read("s.drop_reasons", "").unwrap().text().contains("endless loop"));
        let told = "s: packets go round in a circle without end (s -> s); they are dropped\n";
        assert_eq!(r.log().taken(), told);
        push(&mut r, "s", [1]);
        assert_eq!(r.info(r.find("Store@3").unwrap()).packets, 1);
    }
}

#[test]
fn a_circle_without_end_ends_though_other_elements_are_called_on_the_way() {
    for mode in [router, batched] {
        let mut r = mode("g :: Gen -> c :: Caller -> d :: Caller -> c");
        push(&mut r, "c", [1, 2]);
        assert_eq!(r.total_drops(), 2);
        assert!(r.log().taken().ends_with("without end (c -> d -> c); they are dropped\n"));
    }
}

#[test]
fn a_circle_that_multiplies_packets_ends_long_before_memory_does() {
    for mode in [router, batched] {
        let mut r = mode("g :: Gen -> c :: Copy -> c; c[1] -> d :: Copy -> c; d[1] -> q :: Store -> End");
        push(&mut r, "c", [1]);
        let count = |name| r.info(r.find(name).unwrap()).packets;
        let (copied, kept) = (count("c") + count("d"), count("q"));
        assert!((1000..1_000_000).contains(&copied), "{copied} copies");
        // Those that leave the circle get where they go, and the others are counted.
        assert_eq!(1 + copied, r.total_drops() + kept);
        let told = r.log().taken();
        assert!(
            told.contains("c: packets go round in a circle without end (c -> c); they are dropped\n"),
            "{told}"
        );
    }
}

#[test]
fn a_command_sees_its_own_element_at_rest() {
    let mut r = router("Gen -> s :: Say -> Store -> End");
    push(&mut r, "s", [7]);
    r.log().taken();
    r.write("s.call_self", "").unwrap();
    assert_eq!(r.log().taken(), "[7]\n");
}

#[test]
fn an_idle_task_sleeps_and_wakes_for_packets() {
    let mut r = router("g :: Gen -> Say -> q :: Store -> Say -> m :: Move -> Say -> Store -> e :: End");
    let mut driver = Driver::default();
    assert_eq!(driver.run(&mut r), Outcome::Exhausted);
    assert_eq!(r.read("e.scheduled", "").unwrap().text(), "false");
    push(&mut r, "q", [1, 2, 3]);
    assert_eq!(driver.run(&mut r), Outcome::Exhausted);
    assert_eq!(r.read("e.got", "").unwrap().text(), "[1, 2, 3]");
    let turns: u32 = r.read("e.turns", "").unwrap().text().parse().unwrap();
    assert!(turns < 12, "{turns} turns for three packets");
}

#[test]
fn tasks_that_ask_in_vain_do_not_keep_the_router_awake() {
    for ordered in [false, true] {
        // If asking counted as work, simulated time would stand still and the timer would never expire.
        let mut r = try_build("a :: Asker -> Say -> Store -> End", ordered).unwrap();
        assert_eq!(Driver::default().run(&mut r), Outcome::Exhausted);
        assert_eq!(r.read("a.expired", "").unwrap().text(), "true");
    }
}

#[test]
fn hot_swap_keeps_what_elements_of_the_same_name_and_class_know() {
    let mut old = router("Gen -> s :: Say -> t :: Say -> Store -> End");
    push(&mut old, "s", [1, 2]);
    let mut new = router("Gen -> s :: Say -> u :: Say -> Store -> End");
    assert_eq!(new.take_over(old).iter().filter(|n| ["s", "t", "u"].contains(&n.as_str())).count(), 1);
    assert_eq!(new.read("s.seen", "").unwrap().text(), "[1, 2]");
    assert_eq!(new.read("u.seen", "").unwrap().text(), "[]");
    assert_eq!(new.read("s.packets", "").unwrap().text(), "2");
}

#[test]
fn an_element_can_be_given_new_arguments() {
    let mut r = router("Gen -> s :: Say -> Store -> End");
    push(&mut r, "s", [7]);
    r.write("s.config", "").unwrap();
    assert_eq!(r.read("s.seen", "").unwrap().text(), "[7]", "it keeps what it knows");
    let refused = r.write("s.config", "NOSUCH 1").unwrap_err().to_string();
    assert_eq!(refused, "NOSUCH: unknown argument");
    assert_eq!(r.read("s.config", "").unwrap().text(), "");
    // Others hold on to a queue's notifier.
    assert!(r.write("Store@3.config", "").unwrap_err().to_string().contains("not a write handler"));
}

#[test]
fn handlers_are_found_or_the_error_says_which_is_missing() {
    let mut r = router("Gen -> s :: Say -> Store -> End");
    assert_eq!(r.read("s.class", "").unwrap().text(), "Say");
    assert_eq!(r.read("list", "").unwrap().text(), "4\nGen@1\ns\nStore@3\nEnd@4\n");
    assert_eq!(r.read("nosuch.count", "").unwrap_err().to_string(), "no element named 'nosuch'");
    assert_eq!(r.read("s.nosuch", "").unwrap_err().to_string(), "no 's.nosuch' handler");
    assert_eq!(r.write("s.class", "x").unwrap_err().to_string(), "'s.class' is not a write handler");
    assert!(r.read("s.ports", "").unwrap().text().contains("push~\t-\tGen@1 [0]"));
}
