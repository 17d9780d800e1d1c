//! The demonstration, as a person sees it: without arguments, without privileges, and never wrong.

mod common;

use common::Scratch;

#[test]
fn without_arguments_the_demonstration_runs() {
    let dir = Scratch::new("demo-default");
    let done = dir.clickwork().assert().success();
    let printed = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(
        printed.contains("✓ udp") && printed.contains("40 forwarded") && !printed.contains('✗'),
        "{printed}"
    );
    let names =
        ["in0.pcap", "in1.pcap", "out0.pcap", "out1.pcap", "host.pcap", "ip-router.click", "ip-router.svg"];
    for name in names {
        assert!(printed.contains(name) && dir.path("clickwork-demo").join(name).exists(), "{name}");
    }
    assert_eq!(done.get_output().stderr, b"");
}

#[test]
fn what_it_says_to_try_next_works_and_comes_to_the_same() {
    let dir = Scratch::new("demo-next");
    dir.clickwork().args(["demo", "--out", "d"]).assert().success();
    let picture = dir.read("d/ip-router.svg");
    assert!(picture.contains("<svg") && picture.contains("eth0 :: Interface"), "{picture}");
    let size = |name: &str| std::fs::metadata(dir.path(name)).unwrap().len();
    for way in [&["--simtime"][..], &["--simtime", "--ordered"], &[]] {
        let again = ["d/ip-router.click", "IN0=d/in0.pcap", "IN1=d/in1.pcap"];
        dir.clickwork().arg("run").args(way).args(again).assert().success();
        for name in ["out0.pcap", "out1.pcap", "host.pcap"] {
            assert_eq!(size(name), size(&format!("d/{name}")), "{name} {way:?}");
            std::fs::remove_file(dir.path(name)).unwrap();
        }
    }
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let dir = Scratch::new("demo-fails");
    dir.write("file", "");
    let failed = dir.clickwork().args(["demo", "--out", "file/d"]).assert().failure();
    let said = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
    assert_eq!(said, "error: file/d: Not a directory\n");
}
