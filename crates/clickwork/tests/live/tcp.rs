//! `tcp-echo.click` and `tcp-gateway.click` with the kernel's TCP at the other end, in network namespaces.

use crate::example;
use crate::namespaces::{Namespace, Running};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Bytes whose places can be told from them.
fn text(length: usize) -> Vec<u8> {
    (0..length as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// A thread's work in a namespace.
fn inside<T: Send + 'static>(
    namespace: &Namespace,
    job: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
    let file = std::fs::File::open(format!("/run/netns/{}", namespace.0)).unwrap();
    std::thread::spawn(move || {
        move_into_link_name_space(std::os::fd::AsFd::as_fd(&file), Some(LinkNameSpaceType::Network)).unwrap();
        job()
    })
}

/// A connection, as soon as the other side is there.
fn connected(to: &str) -> TcpStream {
    let address: SocketAddr = to.parse().unwrap();
    let give_up = Instant::now() + Duration::from_secs(300);
    loop {
        match TcpStream::connect_timeout(&address, Duration::from_secs(1)) {
            Ok(stream) => {
                stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
                return stream;
            }
            Err(e) => assert!(Instant::now() < give_up, "{to}: {e}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn start(namespace: &Namespace, name: &str) -> Running {
    let mut command = namespace.command(env!("CARGO_BIN_EXE_clickwork"));
    command.args(["run", &example(name)]);
    Running(command.stdin(Stdio::null()).spawn().unwrap())
}

/// Namespaces in which TUN interfaces can be made.
fn namespaces<const N: usize>(test: &str, names: [&str; N]) -> [Namespace; N] {
    clickwork_oracles::root();
    if !Path::new("/dev/net/tun").exists() {
        clickwork_oracles::lacking("there is no /dev/net/tun");
    }
    names.map(|name| Namespace::new(test, name))
}

pub fn the_kernels_tcp_is_served_by_the_old_servers() {
    clickwork_oracles::program("ping");
    let [host] = namespaces("tcp-echo", ["host"]);
    host.run("ip", "link set lo up");
    let _router = start(&host, "tcp-echo.click");
    let echo = inside(&host, || {
        let mut stream = connected("10.9.0.2:7");
        let sent = text(2_000_000);
        let (mut writer, copy) = (stream.try_clone().unwrap(), sent.clone());
        let writing = std::thread::spawn(move || {
            writer.write_all(&copy).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut echo = Vec::new();
        stream.read_to_end(&mut echo).unwrap();
        writing.join().unwrap();
        assert!(echo == sent, "{} of {} bytes", echo.len(), sent.len());
    });
    echo.join().unwrap();
    let others = inside(&host, || {
        let mut discard = connected("10.9.0.2:9");
        discard.write_all(&text(1_000_000)).unwrap();
        discard.shutdown(Shutdown::Write).unwrap();
        assert_eq!(discard.read(&mut [0; 10]).unwrap(), 0, "it has read all, and closes");
        let mut line = [0; 74];
        connected("10.9.0.2:19").read_exact(&mut line).unwrap();
        assert!(line.starts_with(b" !\"#$%&'()*+,-./0123") && line.ends_with(b"abcdefg\r\n"));
        let refused = TcpStream::connect("10.9.0.2:8").unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    });
    others.join().unwrap();
    host.run("ping", "-c 1 -W 60 10.9.0.2");
}

/// A server that takes one request a connection, as HTTP/1.0 has it, and answers with `body`.
fn serve(listener: &TcpListener, body: &[u8], connections: usize) {
    for stream in listener.incoming().take(connections) {
        let mut stream = stream.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        assert!(request.starts_with(b"GET / HTTP/1.0\r\n"));
        write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
        stream.write_all(body).unwrap();
    }
}

/// `client -- veth -- host`: on the host run the gateway and a server that listens on its loopback interface alone.
pub fn a_local_server_is_reached_from_another_host_through_the_gateway() {
    let [host, client] = namespaces("tcp-gateway", ["host", "client"]);
    host.run("ip", "link set lo up");
    host.run("sysctl", "-qw net.ipv4.ip_forward=1");
    host.run("ip", &format!("link add lan type veth peer name eth0 netns {}", client.0));
    host.run("ip", "addr add 192.0.2.1/24 dev lan");
    host.run("ip", "link set lan up");
    client.run("ip", "addr add 192.0.2.2/24 dev eth0");
    client.run("ip", "link set eth0 up");
    client.run("ip", "route add 10.9.0.0/24 via 192.0.2.1");
    let body = text(3_000_000);
    let served = body.clone();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let server = inside(&host, move || {
        let listener = TcpListener::bind("127.0.0.1:8080").unwrap();
        ready.send(()).unwrap();
        serve(&listener, &served, 3);
    });
    is_ready.recv().unwrap();
    let _router = start(&host, "tcp-gateway.click");
    for _ in 0..3 {
        let getting = inside(&client, || {
            let mut stream = connected("10.9.0.2:80");
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            answer
        });
        let answer = getting.join().unwrap();
        let at = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("a header") + 4;
        assert!(answer.starts_with(b"HTTP/1.0 200 OK\r\n"));
        assert!(answer[at..] == body[..], "{} of {} bytes", answer.len() - at, body.len());
    }
    server.join().unwrap();
}
