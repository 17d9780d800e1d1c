//! The traits of tokio, in a runtime of one thread.

mod support;

use clickwork_prolac_tcp_host::tokio_io::{AsyncTcpListener, AsyncTcpStream};
use support::{LINUX, OURS, Opener, Stream, Text, at, connection, exchange, expect_end, host, in_namespace};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const BYTES: usize = 1 << 20;

fn run<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(task)
}

fn tasks_accept_echo_and_end() {
    in_namespace(|| {
        let host = host(true);
        let listener = AsyncTcpListener::bind(&host, at(OURS[0], 7)).unwrap();
        let linux = std::net::TcpStream::connect(at(OURS[0], 7)).unwrap();
        let client = std::thread::spawn(move || {
            linux.be_impatient();
            let text = Text::new(3);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    text.send(&linux, BYTES as u64);
                    linux.end(std::net::Shutdown::Write).unwrap();
                });
                text.receive(&linux, BYTES as u64);
            });
            expect_end(&linux);
        });
        run(async {
            let (stream, peer) = listener.accept().await.unwrap();
            assert_eq!(peer, stream.get_ref().peer_addr().unwrap());
            let (mut read, mut write) = tokio::io::split(stream);
            assert_eq!(tokio::io::copy(&mut read, &mut write).await.unwrap(), BYTES as u64);
            write.shutdown().await.unwrap();
        });
        client.join().unwrap();
    });
}

fn tasks_connect_or_learn_why_not() {
    in_namespace(|| {
        let host = host(true);
        let linux = std::net::TcpListener::bind(at(LINUX[1], 0)).unwrap();
        let address = linux.local_addr().unwrap();
        run(async {
            let mut stream = AsyncTcpStream::connect(&host, address).await.unwrap();
            let peer = linux.accept().unwrap().0;
            peer.send(b"text").unwrap();
            let mut text = [0; 4];
            stream.read_exact(&mut text).await.unwrap();
            assert_eq!(&text, b"text");
            let refused = AsyncTcpStream::connect(&host, at(LINUX[0], 9)).await;
            assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
        });
    });
}

fn a_stream_of_a_task_can_be_one_of_a_thread() {
    in_namespace(|| {
        let host = host(true);
        let (linux, ours) = connection(&host, Opener::Linux, 0);
        exchange(linux, AsyncTcpStream::from(ours).into_inner(), 1000, 1000);
    });
}

clickwork_oracles::tests! {
    tasks_accept_echo_and_end,
    tasks_connect_or_learn_why_not,
    a_stream_of_a_task_can_be_one_of_a_thread,
}
