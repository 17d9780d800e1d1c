//! AggregateCounter through configurations.

use crate::testing::Harness;
use clickwork_packet::{Packet, anno};
use clickwork_router::Outcome;

fn packet(aggregate: u32) -> Packet {
    let mut p = Packet::new(&[0; 40]);
    p.set_network_header(14, 20);
    p.set_anno_u32(anno::AGGREGATE, aggregate);
    p.set_anno_u32(anno::EXTRA_PACKETS, 1);
    p.set_anno_u32(anno::EXTRA_LENGTH, 100);
    p
}

/// A counter that has seen packets of these aggregates, with the sinks `k` and `un` behind it.
fn seen(args: &str, aggregates: impl IntoIterator<Item = u32>) -> Harness {
    let mut t = Harness::new(&format!(
        "s :: Source -> a :: AggregateCounter({args}) -> k :: Sink; a [1] -> un :: Sink"
    ));
    t.push("s", 0, aggregates.into_iter().map(packet));
    t
}

fn text(t: &mut Harness, format: &str) -> String {
    t.write(&format!("a.{format} -")).unwrap();
    t.output()
}

#[test]
fn counts_packets_and_bytes() {
    for (args, amount) in [
        ("", 2),
        ("MULTIPACKET false", 1),
        ("BYTES true", 140),
        ("BYTES true, IP_BYTES true", 126),
        ("BYTES true, EXTRA_LENGTH false", 40),
        ("IP_BYTES true", 2),
    ] {
        let mut t = seen(args, [7]);
        assert_eq!(t.read("a.count"), amount.to_string(), "{args}");
    }
}

#[test]
fn writes_text_files() {
    let mut t = seen("MULTIPACKET false, BANNER '# hello'", [5, 0x0a00_0001, 5, 0, 5, 4_294_967_295]);
    let head = "!IPAggregate 1.0\n# hello\n!num_nonzero 4\n";
    assert_eq!(text(&mut t, "write_text_file"), format!("{head}0 1\n5 3\n167772161 1\n4294967295 1\n"));
    assert_eq!(text(&mut t, "write_ascii_file"), format!("{head}0 1\n5 3\n167772161 1\n4294967295 1\n"));
    assert_eq!(
        text(&mut t, "write_ip_file"),
        format!("{head}!ip\n0.0.0.0 1\n0.0.0.5 3\n10.0.0.1 1\n255.255.255.255 1\n")
    );
    assert_eq!(
        text(&mut t, "write_pdf_file"),
        format!("{head}0 0.166666666667\n5 0.5\n167772161 0.166666666667\n4294967295 0.166666666667\n")
    );
    assert_eq!(t.read("a.nagg"), "4");
}

#[test]
fn writes_binary_files() {
    let mut t = seen("MULTIPACKET false", [258, 258]);
    let name = clickwork_oracles::unused("clickwork-aggregates");
    t.write(&format!("a.write_file {}", name.display())).unwrap();
    let file = std::fs::read(&name).unwrap();
    std::fs::remove_file(&name).unwrap();
    let order = if cfg!(target_endian = "little") { "le" } else { "be" };
    let mut expected = format!("!IPAggregate 1.0\n!num_nonzero 1\n!packed_{order}\n").into_bytes();
    expected.extend([258u32.to_ne_bytes(), 2u32.to_ne_bytes()].concat());
    assert_eq!(file, expected);
    let e = t.write("a.write_text_file /proc/nonexistent/x").unwrap_err();
    assert_eq!(e, "/proc/nonexistent/x: No such file or directory");
}

#[test]
fn a_frozen_counter_counts_what_it_knows() {
    let mut t = seen("AGGREGATE_FREEZE 2, MULTIPACKET false", [1, 2, 3, 1, 4, 2]);
    assert_eq!(
        (t.read("a.freeze"), t.read("a.nagg"), t.read("a.count")),
        ("true".into(), "2".into(), "4".into())
    );
    assert_eq!((t.take("k").len(), t.take("un").len()), (4, 2));
    assert_eq!(t.read("a.aggregate_call"), "");
    t.write("a.freeze false").unwrap();
    t.push("s", 0, [packet(3)]);
    assert_eq!(t.read("a.nagg"), "3");
    assert_eq!(t.write("a.freeze maybe").unwrap_err(), "type mismatch");
    let mut t = seen("COUNT_FREEZE 3, MULTIPACKET false", [1, 2, 3, 4, 1]);
    assert_eq!((t.read("a.nagg"), t.read("a.count")), ("3".into(), "4".into()));
}

#[test]
fn the_second_input_is_frozen() {
    let mut t = Harness::new("s :: Source -> a :: AggregateCounter; r :: Source -> [1] a -> k :: Sink");
    t.push("r", 0, [packet(1)]);
    t.push("s", 0, [packet(1)]);
    t.push("r", 0, [packet(1), packet(2)]);
    assert_eq!((t.read("a.nagg"), t.read("a.count")), ("1".into(), "4".into()));
    assert_eq!(t.take("k").len(), 4);
}

#[test]
fn stops_the_driver() {
    for (args, count) in [("AGGREGATE_STOP 2", "2"), ("COUNT_STOP 4", "4")] {
        let mut t = Harness::new(&format!(
            "a :: AggregateCounter({args}) -> Discard; l :: AggregateLength -> a; \
             TimedSource(0.1, 1) -> l; TimedSource(0.1, 22) -> l; TimedSource(0.1, 333) -> l"
        ));
        assert_eq!(t.run(), Outcome::Stopped, "{args}");
        assert_eq!((t.read("a.active"), t.read("a.count")), ("false".into(), count.into()), "{args}");
    }
}

#[test]
fn handlers_are_called_before_the_packet_is_counted() {
    let mut t = seen("MULTIPACKET false, AGGREGATE_CALL 2 a.write_text_file -", [1, 2, 3]);
    assert_eq!(t.output(), "!IPAggregate 1.0\n!num_nonzero 2\n1 1\n2 1\n");
    let mut t = seen("MULTIPACKET false, AGGREGATE_CALL 2 a.clear", [1, 2, 3]);
    assert_eq!(text(&mut t, "write_text_file"), "!IPAggregate 1.0\n!num_nonzero 1\n3 1\n");
    t.write("a.count_call 2 a.active false").unwrap();
    assert_eq!(t.read("a.count_call"), "2 a.active false");
    t.push("s", 0, [packet(1), packet(2)]);
    assert_eq!((t.read("a.count_call"), t.read("a.count")), (String::new(), "2".into()));
}

#[test]
fn a_script_may_look_at_the_counter_that_calls_it() {
    let mut t = Harness::new(
        "s :: Source -> a :: AggregateCounter(MULTIPACKET false, AGGREGATE_CALL 2 i.run, COUNT_CALL 4 j.run) -> k :: Sink; \
         i :: Script(TYPE PASSIVE, print \"$(a.nagg) $(a.count)\", write a.freeze true); \
         j :: Script(TYPE PASSIVE, print \"$(a.nagg) $(a.count)\")",
    );
    t.push("s", 0, [1, 2, 2, 3, 1, 4].map(packet));
    assert_eq!(t.output(), "2 3\n2 4\n", "{}", t.printed());
    assert_eq!(t.take("k").len(), 6);
}

#[test]
fn counts_become_aggregates() {
    let mut t = seen("MULTIPACKET false", [1, 2, 2, 5, 5]);
    t.write("a.counts_pdf").unwrap();
    let all = text(&mut t, "write_text_file");
    // The inner nodes of the tree count for nothing, and are counted as such.
    let zeros: u32 = all.lines().find_map(|l| l.strip_prefix("0 ")).unwrap().parse().unwrap();
    assert_eq!(all, format!("!IPAggregate 1.0\n!num_nonzero 3\n0 {zeros}\n1 1\n2 2\n"));
    assert_eq!(t.read("a.count"), (zeros + 3).to_string());
}

#[test]
fn the_capacity_bounds_the_aggregates() {
    let mut t = seen("CAPACITY 10, MULTIPACKET false", 0..1000);
    let known: u64 = t.read("a.nagg").parse().unwrap();
    assert!((9..=11).contains(&known));
    assert_eq!(t.read("a.refused"), (1000 - known).to_string());
}

#[test]
fn contradictions_are_told() {
    for (args, error) in [
        (
            "AGGREGATE_STOP 1, AGGREGATE_FREEZE 2",
            "'AGGREGATE_FREEZE', 'AGGREGATE_STOP', and 'AGGREGATE_CALL' are mutually exclusive",
        ),
        (
            "COUNT_STOP 1, COUNT_CALL 2 stop",
            "'COUNT_FREEZE', 'COUNT_STOP', and 'COUNT_CALL' are mutually exclusive",
        ),
        ("AGGREGATE_CALL x stop", "AGGREGATE_CALL first word should be unsigned (number of aggregates)"),
        ("COUNT_CALL stop", "COUNT_CALL first word should be unsigned (count)"),
        ("COUNT_CALL 1 b.x", "no element named 'b'"),
    ] {
        let e = Harness::errors(&format!("Idle -> AggregateCounter({args}) -> Idle"));
        assert!(e.contains(error), "{e}");
    }
    let mut t = seen("", []);
    assert_eq!(
        t.write("a.count_call x").unwrap_err(),
        "argument to 'count_call' should be 'N HANDLER [VALUE]'"
    );
    t.write("a.banner # b").unwrap();
    assert_eq!(t.read("a.banner"), "# b\n");
}
