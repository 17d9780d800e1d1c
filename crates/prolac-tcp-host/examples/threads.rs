//! Echo (RFC 862), discard (RFC 863) and chargen (RFC 864) as one would write them with std: a thread for each connection.
//!
//! `threads DEVICE ADDRESS/PREFIX...`. Compare with `serve.rs`, which does the same with one thread, and is faster.

use std::io::{self, Read, Write};
use std::thread;

use clickwork_prolac_tcp_host::{Settings, TcpListener, TcpStream};

const CHUNK: usize = 64 << 10;

fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut text = vec![0; CHUNK];
    loop {
        match stream.read(&mut text)? {
            0 => return Ok(()),
            count => stream.write_all(&text[..count])?,
        }
    }
}

fn discard(stream: TcpStream) -> io::Result<()> {
    while stream.read_packet()?.is_some() {}
    Ok(())
}

fn chargen(mut stream: TcpStream) -> io::Result<()> {
    let text: Vec<u8> = (b' '..=b'~').cycle().take(CHUNK).collect();
    loop {
        stream.write_all(&text)?;
    }
}

/// What is done with a connection.
type Service = fn(TcpStream) -> io::Result<()>;

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [device, first, others @ ..] = &words[..] else {
        return Err(io::Error::other("usage: threads DEVICE ADDRESS/PREFIX..."));
    };
    let settings = others.iter().try_fold(Settings::new(device, first)?, |s, word| s.and_address(word))?;
    let host = settings.start()?;
    let services: [(u16, Service); 3] = [(7, echo), (9, discard), (19, chargen)];
    let listeners = services.map(|(port, service)| {
        let listener = TcpListener::bind(&host, ("::", port));
        thread::spawn(move || -> io::Result<()> {
            for stream in listener?.incoming() {
                let stream = stream?;
                // A connection that ends with an error ends for itself.
                thread::spawn(move || service(stream));
            }
            Ok(())
        })
    });
    listeners.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
}
