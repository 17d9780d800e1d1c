//! Configurations, values of handlers, scripts and names of files are bytes, whether they are UTF-8 or not.

mod common;

use common::Scratch;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Two bytes that are not UTF-8, between two that are.
const RAW: &[u8] = b"a\xe9\xffb";

fn os(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_os_string()
}

/// The text with `RAW` for each `RAW` in it.
fn raw(text: &str) -> Vec<u8> {
    let pieces: Vec<&[u8]> = text.split("RAW").map(str::as_bytes).collect();
    pieces.join(RAW)
}

fn clickwork(dir: &Scratch, args: &[&[u8]]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clickwork"));
    command.current_dir(dir.path("")).env_remove("CLICKPATH").env("NO_COLOR", "1").stdin(Stdio::null());
    command.args(args.iter().map(|arg| os(arg))).output().expect("the program starts")
}

/// What a successful run prints to standard output and to standard error.
fn printed(dir: &Scratch, args: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
    let output = clickwork(dir, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.stdout, output.stderr)
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn write(dir: &Scratch, name: &[u8], bytes: &[u8]) {
    std::fs::write(dir.path("").join(OsStr::from_bytes(name)), bytes).expect("a file can be written");
}

fn read(dir: &Scratch, name: &[u8]) -> Vec<u8> {
    std::fs::read(dir.path("").join(OsStr::from_bytes(name))).expect("the file was written")
}

#[test]
fn data_in_a_configuration_are_its_bytes() {
    let dir = Scratch::new("bytes-data");
    let config =
        raw("InfiniteSource(DATA \"RAW\", LIMIT 1, STOP true) -> Print(RAW, CONTENTS HEX) -> Discard;");
    write(&dir, b"r.click", &config);
    let (_, said) = printed(&dir, &[b"run", b"r.click"]);
    assert_eq!(said, raw("RAW:    4 | 61e9ff62\n"));
    let (_, said) = printed(&dir, &[b"run", b"-e", &config]);
    assert_eq!(said, raw("RAW:    4 | 61e9ff62\n"));
    let config = b"InfiniteSource(DATA \"$x\", LIMIT 1, STOP true) -> Print(CONTENTS HEX) -> Discard;";
    let (_, said) = printed(&dir, &[b"run", b"-e", config, &raw("x=RAW")]);
    assert_eq!(said, b"   4 | 61e9ff62\n");
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let dir = Scratch::new("bytes-mark");
    write(&dir, b"r.click", b"\xef\xbb\xbfrequire(library lib.click); x :: Y -> Discard;");
    write(&dir, b"lib.click", b"\xef\xbb\xbfelementclass Y { Idle -> output; }");
    printed(&dir, &[b"check", b"r.click"]);
}

#[test]
fn every_tool_keeps_the_bytes() {
    let dir = Scratch::new("bytes-tools");
    let config = raw(
        "// RAW\ns :: InfiniteSource(DATA \"RAW\")\n\t-> IPFilter(allow all)\n\t-> Print(RAW)\n\t-> Discard;\n",
    );
    write(&dir, b"r.click", &config);
    for tool in
        [&b"flatten"[..], b"undead", b"align", b"fastclassifier", b"devirtualize", b"mkmindriver", b"pretty"]
    {
        let args: &[&[u8]] = match tool {
            b"mkmindriver" => continue,
            b"devirtualize" => &[tool, b"--config", b"r.click"],
            _ => &[tool, b"r.click"],
        };
        let (out, _) = printed(&dir, args);
        assert!(holds(&out, RAW), "{}: {}", String::from_utf8_lossy(tool), String::from_utf8_lossy(&out));
    }
    let pattern = raw("elementclass X { input -> Print(RAW) -> output; }
                       elementclass X_Replacement { input -> PrintOld(RAW) -> output; }");
    write(&dir, b"x.clickpat", &pattern);
    for args in
        [&[&b"xform"[..], b"-p", b"x.clickpat", b"r.click"][..], &[b"xform", b"-x", &pattern, b"r.click"]]
    {
        let (out, _) = printed(&dir, args);
        assert!(holds(&out, &raw("PrintOld(RAW)")), "{}", String::from_utf8_lossy(&out));
    }
    let (out, _) = printed(&dir, &[b"combine", b"a=r.click", b"b=r.click"]);
    write(&dir, b"both.click", &out);
    let (out, _) = printed(&dir, &[b"uncombine", b"both.click", b"a"]);
    assert!(holds(&out, &raw("Print(RAW)")));
    let (formatted, _) = printed(&dir, &[b"fmt", b"r.click"]);
    assert!(formatted.is_empty());
    assert!(
        holds(&read(&dir, b"r.click"), &raw("// RAW"))
            && holds(&read(&dir, b"r.click"), &raw("DATA \"RAW\""))
    );
}

/// JSON and XML must be UTF-8 themselves.
#[test]
fn forms_that_must_be_utf_8_have_characters_for_the_bytes() {
    let dir = Scratch::new("bytes-forms");
    write(&dir, b"r.click", &raw("InfiniteSource(DATA RAW) -> Discard;"));
    for form in [&b"json"[..], b"xml"] {
        let (out, _) = printed(&dir, &[form, b"r.click"]);
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(holds(&clickwork_source::text::encode(&text), &raw("DATA RAW")), "{text}");
    }
    printed(&dir, &[b"graph", b"r.click", b"-o", b"r.svg"]);
    String::from_utf8(read(&dir, b"r.svg")).expect("UTF-8");
}

#[test]
fn names_of_files_are_bytes() {
    let dir = Scratch::new("bytes-names");
    let config = raw("InfiniteSource(DATA 0123456789abcdef, LIMIT 3, STOP true) -> ToDump(RAW.pcap);");
    write(&dir, &raw("RAW.click"), &config);
    printed(&dir, &[b"run", &raw("RAW.click")]);
    let again =
        raw("d :: FromDump(RAW.pcap, STOP true) -> c :: Counter -> ToIPSummaryDump(RAW.txt, FIELDS len);");
    write(&dir, b"again.click", &again);
    let (out, _) = printed(&dir, &[b"run", b"-h", b"c.count", b"-h", b"d.filename", b"again.click"]);
    assert_eq!(out, raw("c.count:\n3\n\nd.filename:\nRAW.pcap\n\n"));
    assert!(holds(&read(&dir, &raw("RAW.txt")), b"\n16\n16\n16\n"));
    let quoted = b"FromDump(\"\\141\\351\\377b.pcap\", STOP true) -> c :: Counter -> Discard;";
    assert_eq!(printed(&dir, &[b"run", b"-h", b"c.count", b"-e", quoted]).0, b"3\n");
    write(&dir, b"user.click", &raw("require(library RAW.click);"));
    printed(&dir, &[b"flatten", b"user.click", b"-o", &raw("out-RAW")]);
    assert!(holds(&read(&dir, &raw("out-RAW")), &raw("ToDump(RAW.pcap)")));
    let missing = clickwork(&dir, &[b"run", b"-e", &raw("FromDump(no-RAW) -> Discard")]);
    assert!(holds(&missing.stderr, b"No such file"));
}

#[test]
fn places_point_into_files_whose_names_are_bytes() {
    let dir = Scratch::new("bytes-places");
    write(&dir, &raw("RAW.click"), b"\n\nIdle -> Discard(NOSUCH 1);");
    let (flat, _) = printed(&dir, &[b"flatten", &raw("RAW.click")]);
    write(&dir, b"flat.click", &flat);
    std::fs::create_dir(dir.path("bin")).unwrap();
    let link = dir.path("bin/click");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_clickwork"), &link).unwrap();
    let run = Command::new(&link).arg("flat.click").current_dir(dir.path("")).output().unwrap();
    assert!(run.stderr.starts_with(&raw("RAW.click:3: ")), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn scripts_count_and_print_bytes() {
    let dir = Scratch::new("bytes-scripts");
    let config = raw(
        "s :: Script(set x \"RAW\", print \"$x|RAW\", print $(length RAW), print $(sprintf '%6s.%.2s' RAW RAW),
         print $(eq RAW \"\\141\\351\\377b\"), print >RAW.txt \"RAW\", print $(length $(cat RAW.txt)), print $(catq RAW.txt),
         return RAW, stop); Script(print $(s.run), print $(s.get x), stop)",
    );
    write(&dir, b"s.click", &config);
    let (out, said) = printed(&dir, &[b"run", b"s.click"]);
    assert_eq!(String::from_utf8_lossy(&said), "");
    let first = raw("\"RAW\"|RAW\n4\n  RAW.");
    assert_eq!(&out[..first.len()], first);
    assert_eq!(&out[first.len()..][..3], b"a\xe9\n");
    for line in ["true\n", "5\n", "\"a\\351\\377b\\n\"\n", "RAW\n\"RAW\"\n"] {
        assert!(holds(&out, &raw(line)), "{line}: {}", String::from_utf8_lossy(&out));
    }
    assert_eq!(read(&dir, &raw("RAW.txt")), raw("RAW\n"));
}

/// A router with a control socket that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(dir: &Scratch, config: &[u8]) -> (Running, BufReader<UnixStream>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_clickwork"))
        .args(["run", "-R", "-u", "control.sock", "-e"])
        .arg(os(config))
        .current_dir(dir.path(""))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut ready = String::new();
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    stderr.read_line(&mut ready).expect("it prints");
    let socket = UnixStream::connect(dir.path("control.sock")).expect("it listens");
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut socket = BufReader::new(socket);
    assert!(line(&mut socket).starts_with(b"Click::ControlSocket"));
    (Running(child), socket)
}

fn line(socket: &mut BufReader<UnixStream>) -> Vec<u8> {
    let mut line = Vec::new();
    socket.read_until(b'\n', &mut line).expect("an answer");
    line
}

/// The value that a command is answered with.
fn value(socket: &mut BufReader<UnixStream>, command: &[u8]) -> Vec<u8> {
    socket.get_mut().write_all(command).unwrap();
    assert!(line(socket).starts_with(b"200 "));
    let header = String::from_utf8(line(socket)).unwrap();
    let length: usize = header.trim_end().strip_prefix("DATA ").unwrap().parse().unwrap();
    let mut value = vec![0; length];
    socket.read_exact(&mut value).expect("the value");
    value
}

#[test]
fn control_connections_carry_bytes() {
    let dir = Scratch::new("bytes-control");
    let config =
        raw("s :: InfiniteSource(DATA x, ACTIVE false) -> Discard; p :: Script(TYPE PASSIVE, return $args);
                      Script(wait 0, read s.data)");
    let (_router, mut socket) = start(&dir, &config);
    let all: Vec<u8> = (0..=255).chain([0xf4, 0x8f, 0x9f, 0xa9]).collect();
    socket.get_mut().write_all(&[b"WRITEDATA s.data 260\r\n", &all[..]].concat()).unwrap();
    assert!(line(&mut socket).starts_with(b"200 "));
    assert_eq!(value(&mut socket, b"READ s.data\r\n"), all);
    assert_eq!(value(&mut socket, &raw("READ p.run RAW\r\n")), RAW);
    assert_eq!(value(&mut socket, &[b"READDATA p.length 260\r\n", &all[..]].concat()), b"260");
    assert_eq!(value(&mut socket, &raw("READUNTIL p.run RAW\r\nxRAW\nRAW\n")), raw("xRAW\n"));
    assert_eq!(value(&mut socket, b"READ config\r\n"), config);
    let (out, _) = printed(&dir, &[b"ctl", b"control.sock", b"read", b"p.run", RAW]);
    assert_eq!(out, raw("RAW\n"));
    printed(&dir, &[b"ctl", b"control.sock", b"write", b"s.data", RAW]);
    assert_eq!(value(&mut socket, b"READ s.data\r\n"), RAW);
    let next = raw("// RAW\nn :: InfiniteSource(DATA RAW, ACTIVE false) -> Discard");
    write(&dir, b"next.click", &next);
    printed(&dir, &[b"ctl", b"control.sock", b"write", b"hotconfig", b"--file", b"next.click"]);
    // A new configuration has a new socket.
    let mut socket = BufReader::new(UnixStream::connect(dir.path("control.sock")).expect("it listens"));
    line(&mut socket);
    assert_eq!(value(&mut socket, b"READ n.data\r\n"), RAW);
    assert_eq!(value(&mut socket, b"READ config\r\n"), next);
}
