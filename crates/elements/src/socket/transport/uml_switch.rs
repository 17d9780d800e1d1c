//! UMLSwitch: a port of uml_switch, the virtual Ethernet switch of User Mode Linux. Once the switch has been told of the
//! port by a control connection, frames go to and fro as datagrams, which a [`Socket`] does.

use super::super::name::Name;
use super::super::options::{Buffers, Form};
use super::{Settings, Socket};
use crate::capture::error::system_message;
use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename};
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, read_handler};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends and receives frames through a switch of User Mode Linux",
    manual: "Connects to the program uml_switch by its control socket PATH. Frames that enter go to the switch; those that it \
             sends to this port leave by the output. The switch must be there when the router starts.",
    example: "",
    ports: "0-1/0-1",
    processing: "l/h",
    flow: "x/y",
    packets: "ether/ether",
    args: &[ArgSpec::positional("PATH", ArgType::Filename, "/tmp/uml.ctl", "control socket of the switch")],
    handlers: &[read_handler!("count", "packets sent", |e: &mut UmlSwitch, _| e.socket.outbox.count)],
    task_handlers: true,
    ..Class::new("UMLSwitch", "socket", || Box::<UmlSwitch>::default())
};

const DEFAULT_PATH: &str = "/tmp/uml.ctl";
/// What a request begins with, and the version of the protocol that has the port's address in it.
const MAGIC: u32 = 0xfeed_face;
const VERSION: u32 = 3;
const NEW_PORT: u32 = 0;
/// Bytes of a name in `sockaddr_un` (unix(7)), and of the family before it.
const PATH: usize = 108;
const FAMILY: usize = 2;
/// `sockaddr_un` at the end of a structure that is aligned to 4 bytes.
const PADDING: usize = 2;
const AF_UNIX: u16 = 1;
/// How long the switch has for its answer.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct UmlSwitch {
    path: PathBuf,
    /// The port exists as long as this connection.
    control: Option<UnixStream>,
    socket: Socket,
}

/// The port's own name, in no file system: no other process and no other element has it.
fn own_name(cx: &mut Cx<'_>) -> [u8; PATH] {
    let mut name = [0; PATH];
    name[4..8].copy_from_slice(&std::process::id().to_ne_bytes());
    name[8..12].copy_from_slice(&cx.random().to_ne_bytes());
    name
}

fn request(own: &[u8; PATH]) -> Vec<u8> {
    let head = [MAGIC, VERSION, NEW_PORT].map(u32::to_ne_bytes).concat();
    [&head, &AF_UNIX.to_ne_bytes()[..], own, &[0; PADDING]].concat()
}

/// The address that bytes of `sun_path` mean.
fn name(path: &[u8]) -> Name {
    let end = path.iter().position(|&b| b == 0).filter(|&at| at > 0).unwrap_or(path.len());
    Name::Unix(PathBuf::from(OsStr::from_bytes(&path[..end])))
}

impl UmlSwitch {
    /// Opens a port; returns where its frames go.
    fn open_port(&mut self, own: &[u8; PATH]) -> Result<Name, String> {
        let path = self.path.display();
        let why = |e: &io::Error| system_message(e);
        let mut control = UnixStream::connect(&self.path)
            .map_err(|e| format!("could not connect to control socket {path}: {}", why(&e)))?;
        let mut answer = [0; FAMILY + PATH];
        control
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| control.write_all(&request(own)))
            .map_err(|e| format!("control setup request failed: {}", why(&e)))?;
        control.read_exact(&mut answer).map_err(|e| format!("read of data socket failed: {}", why(&e)))?;
        self.control = Some(control);
        Ok(name(&answer[FAMILY..]))
    }
}

impl Element for UmlSwitch {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.path = args.get("PATH").map_or(DEFAULT_PATH.into(), |Filename(path)| path);
        if Name::Unix(self.path.clone()).is_too_long() {
            args.error("path to uml_switch control socket too long");
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let own = own_name(cx);
        let remote = self.open_port(&own)?;
        self.socket.settings = Some(Settings {
            stream: false,
            client: true,
            remote,
            local: Some(name(&own)),
            verbose: false,
            no_delay: true,
            form: Form::default(),
            buffers: Buffers::default(),
            allow: None,
            deny: None,
        });
        self.socket.initialize(cx)
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.socket.push(port, batch, cx);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        self.socket.run_task(cx)
    }

    fn selected(&mut self, fd: RawFd, ready: Ready, cx: &mut Cx<'_>) {
        self.socket.selected(fd, ready, cx);
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        self.socket.run_timer(slot, cx);
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.socket.cleanup(cx);
        self.control = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TempPath, harness, push, until};
    use super::*;
    use crate::testing::Harness;
    use std::os::unix::net::{UnixDatagram, UnixListener};

    #[test]
    fn frames_go_through_the_switch() {
        let (control, data) = (TempPath::new("uml-control"), TempPath::new("uml-data"));
        let listener = UnixListener::bind(&control.0).unwrap();
        let switch = UnixDatagram::bind(&data.0).unwrap();
        let answer: Vec<u8> = {
            let path = data.0.as_os_str().as_bytes();
            [&AF_UNIX.to_ne_bytes()[..], path, &vec![0; PATH - path.len()]].concat()
        };
        let server = std::thread::spawn(move || {
            let (mut port, _) = listener.accept().unwrap();
            let mut asked = [0; 124];
            port.read_exact(&mut asked).unwrap();
            port.write_all(&answer).unwrap();
            (port, asked)
        });
        let mut t =
            harness(&format!("s :: Source -> Queue -> u :: UMLSwitch({}) -> k :: Sink", control.0.display()));
        let (mut port, asked) = server.join().unwrap();
        assert_eq!(
            asked[..14],
            [MAGIC, VERSION, NEW_PORT]
                .map(u32::to_ne_bytes)
                .concat()
                .into_iter()
                .chain([1, 0])
                .collect::<Vec<_>>()
        );
        push(&mut t, &[b"a frame"]);
        t.run_for(Duration::from_millis(5));
        let mut buffer = [0; 100];
        let n = switch.recv(&mut buffer).unwrap();
        assert_eq!((&buffer[..n], t.read("u.count").as_str()), (&b"a frame"[..], "1"));
        // The switch answers to the address that it was told.
        let own = rustix::net::SocketAddrUnix::new_abstract_name(&asked[15..14 + PATH]).unwrap();
        rustix::net::sendto(&switch, b"another", rustix::net::SendFlags::empty(), &own).unwrap();
        assert_eq!(until(&mut t, "a frame", |t| t.take("k").pop()).data(), b"another");
        t.router.cleanup();
        assert_eq!(port.read(&mut buffer).unwrap(), 0);
    }

    #[test]
    fn there_must_be_a_switch() {
        let e = Harness::errors("UMLSwitch(/proc/nonexistent/socket) -> Discard");
        assert!(
            e.contains(
                "could not connect to control socket /proc/nonexistent/socket: No such file or directory"
            ),
            "{e}"
        );
        let e = Harness::errors(&format!("UMLSwitch(/{}) -> Discard", "x".repeat(200)));
        assert!(e.contains("path to uml_switch control socket too long"), "{e}");
    }
}
