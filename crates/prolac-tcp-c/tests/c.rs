//! C programs that use the header and the libraries, compiled here and run in a namespace with the kernel as their peer.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Where cargo has put the libraries: beside this program.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

/// Compiles a C program.
fn compile(source: &str, name: &str, link: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new("cc")
        .args(["-Wall", "-Werror", "-O1", "-I"])
        .arg(root.join("include"))
        .arg(root.join(source))
        .args(link)
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Links with the shared object, found where it is.
fn with_shared(source: &str, name: &str) -> PathBuf {
    let folder = libraries();
    let folder = folder.to_str().unwrap();
    compile(source, name, &["-L", folder, "-lprolac_tcp", &format!("-Wl,-rpath,{folder}")])
}

/// A command in a network namespace of its own.
fn in_namespace() -> Command {
    clickwork_oracles::root();
    clickwork_oracles::program("unshare");
    let permitted = Command::new("unshare").args(["-n", "true"]).stderr(Stdio::null()).status();
    if !permitted.is_ok_and(|status| status.success()) {
        clickwork_oracles::lacking("no network namespaces here");
    }
    let mut command = Command::new("timeout");
    command.args(["300", "unshare", "-n"]);
    command
}

fn calls_have_the_kernels_results() {
    let program = with_shared("tests/calls.c", "calls");
    let output = in_namespace().arg(program).args(["tcp0", "10.9.0.2/24"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text == "the same\n",
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// An echo server in a namespace, with this test's clients beside it.
struct Echo {
    server: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
}

impl Echo {
    fn start(mut command: Command, program: &Path) -> Echo {
        command.arg(program).args(["tcp0", "10.9.0.2/24,fd00:9::2/64"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, mut stdout) = (server.stdin.take(), server.stdout.take().unwrap());
        let mut line = [0; 10];
        stdout.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"listening\n");
        Echo { server, stdin, stdout }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let mut rest = Vec::new();
        let _ = self.stdout.read_to_end(&mut rest);
        let _ = self.server.wait();
    }
}

/// Runs `client` on a thread that has gone into the server's namespace.
fn beside(server: u32, client: impl FnOnce() + Send) {
    let child = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap();
    let child = child.split_whitespace().next().expect("timeout has started the server").to_string();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let namespace = std::fs::File::open(format!("/proc/{child}/ns/net")).unwrap();
            // SAFETY: the descriptor is open; only this thread changes its namespace.
            let entered = unsafe {
                use std::os::fd::AsRawFd;
                libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET)
            };
            assert_eq!(entered, 0, "{}", std::io::Error::last_os_error());
            client();
        });
    });
}

fn echo_works(program: &Path) {
    let mut echo = Echo::start(in_namespace(), program);
    beside(echo.server.id(), || {
        let clients = ["10.9.0.2:7", "[fd00:9::2]:7", "10.9.0.2:7"]
            .map(|address| std::net::TcpStream::connect(address).unwrap());
        for (number, mut client) in clients.iter().enumerate() {
            client.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
            let text = vec![number as u8; 100_000];
            client.write_all(&text).unwrap();
            let mut answer = vec![9; text.len()];
            client.read_exact(&mut answer).unwrap();
            assert!(answer == text);
        }
        for client in &clients {
            client.shutdown(std::net::Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            let mut client = client;
            client.read_to_end(&mut rest).unwrap();
            assert!(rest.is_empty());
        }
    });
    drop(echo.stdin.take());
    assert!(echo.server.wait().unwrap().success());
}

fn the_example_echoes() {
    echo_works(&with_shared("examples/echo.c", "echo"));
}

fn the_example_echoes_with_the_static_library() {
    let library = libraries().join("libprolac_tcp.a");
    let program =
        compile("examples/echo.c", "echo-static", &[library.to_str().unwrap(), "-lpthread", "-ldl", "-lm"]);
    echo_works(&program);
}

fn the_program_of_the_manual_can_be_compiled() {
    let manual = include_str!("../../../docs/tcp-programs.md");
    let program = manual.split("```c\n").nth(1).unwrap().split("```").next().unwrap();
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual.c");
    std::fs::write(&source, program).unwrap();
    with_shared(source.to_str().unwrap(), "manual");
}

fn every_call_of_the_header_is_there() {
    let header = include_str!("../include/prolac_tcp.h");
    let names = header.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| w.starts_with("prolac_"));
    let text = std::fs::read(libraries().join("libprolac_tcp.so")).unwrap();
    for name in names.filter(|name| !name.ends_with("_tcp") && *name != "prolac_") {
        let there = text.windows(name.len()).any(|window| window == name.as_bytes());
        assert!(there, "{name}");
    }
}

clickwork_oracles::tests! {
    calls_have_the_kernels_results,
    the_example_echoes,
    the_example_echoes_with_the_static_library,
    the_program_of_the_manual_can_be_compiled,
    every_call_of_the_header_is_there,
}
