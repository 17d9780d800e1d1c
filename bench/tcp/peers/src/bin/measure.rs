//! The Linux end of every measurement: a client that measures, and a server for what the kernel itself does.
//!
//! `measure echo ADDRESS COUNT`: microseconds of a round trip of 4 bytes. `measure discard ADDRESS SECONDS` and
//! `measure chargen ADDRESS SECONDS`: Gbit/s to and from the server. `measure connect ADDRESS SECONDS`: connections a second,
//! each opened, used for an echo of 4 bytes and closed. `measure serve [CONGESTION]`: the three services.
//! Each prints one number.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd};
use std::time::{Duration, Instant};

const CHUNK: usize = 256 << 10;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["echo", address, count] => echo(connect(address, 7)?, number(count)),
        ["discard", address, seconds] => discard(connect(address, 9)?, number(seconds)),
        ["chargen", address, seconds] => chargen(connect(address, 19)?, number(seconds)),
        ["connect", address, seconds] => connect_again_and_again(address, number(seconds)),
        ["serve", ref rest @ ..] => serve(rest.first().copied()),
        _ => {
            eprintln!("usage: measure echo|discard|chargen|connect ADDRESS NUMBER, measure serve [CONGESTION]");
            std::process::exit(2)
        }
    }
}

fn number(word: &str) -> u32 {
    word.parse().expect("a number")
}

/// The server may just have started.
fn connect(address: &str, port: u16) -> std::io::Result<TcpStream> {
    let address: SocketAddr = (address.parse::<std::net::IpAddr>().expect("an address"), port).into();
    let mut tries = 0;
    loop {
        match connect_with_cubic(address) {
            Ok(stream) => return stream.set_nodelay(true).map(|()| stream),
            Err(error) if tries == 50 => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
        tries += 1;
    }
}

/// The machine may prefer another congestion control, whose pacing would stay if it were replaced later.
fn connect_with_cubic(address: SocketAddr) -> std::io::Result<TcpStream> {
    let domain = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: the call takes numbers; the descriptor it gives is ours.
    let stream = unsafe {
        let fd = libc::socket(domain, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        assert!(fd >= 0, "socket: {}", std::io::Error::last_os_error());
        TcpStream::from_raw_fd(fd)
    };
    set_congestion(&stream, "cubic");
    // SAFETY: both structures are integers, for which zero is a value; the length is that of the one that is filled in.
    let result = unsafe {
        let (mut v4, mut v6): (libc::sockaddr_in, libc::sockaddr_in6) = std::mem::zeroed();
        let (pointer, length) = match address {
            SocketAddr::V4(address) => {
                (v4.sin_family, v4.sin_port) = (domain as u16, address.port().to_be());
                v4.sin_addr.s_addr = u32::from(*address.ip()).to_be();
                ((&raw const v4).cast(), size_of_val(&v4))
            }
            SocketAddr::V6(address) => {
                (v6.sin6_family, v6.sin6_port) = (domain as u16, address.port().to_be());
                v6.sin6_addr.s6_addr = address.ip().octets();
                ((&raw const v6).cast(), size_of_val(&v6))
            }
        };
        libc::connect(stream.as_raw_fd(), pointer, length as u32)
    };
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(stream) }
}

/// The median, after some rounds to warm up.
fn echo(mut stream: TcpStream, count: u32) -> std::io::Result<()> {
    let mut times = Vec::new();
    let mut answer = [0; 4];
    for round in 0..count + count / 10 {
        let begin = Instant::now();
        stream.write_all(&round.to_ne_bytes())?;
        stream.read_exact(&mut answer)?;
        assert_eq!(answer, round.to_ne_bytes());
        times.push(begin.elapsed());
    }
    let mut times = times.split_off(times.len() - count as usize);
    times.sort();
    println!("{:.2}", times[times.len() / 2].as_secs_f64() * 1e6);
    Ok(())
}

/// Until the server has read all of it, and said so by its FIN.
fn discard(mut stream: TcpStream, seconds: u32) -> std::io::Result<()> {
    let (text, begin, mut sent) = (vec![b'x'; CHUNK], Instant::now(), 0);
    while begin.elapsed() < Duration::from_secs(seconds.into()) {
        sent += stream.write(&text)?;
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    stream.read_to_end(&mut Vec::new())?;
    print_rate(sent, begin);
    Ok(())
}

fn chargen(mut stream: TcpStream, seconds: u32) -> std::io::Result<()> {
    let (mut text, begin, mut received) = (vec![0; CHUNK], Instant::now(), 0);
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    while begin.elapsed() < Duration::from_secs(seconds.into()) {
        match stream.read(&mut text) {
            Ok(0) => break,
            Ok(count) => received += count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    print_rate(received, begin);
    Ok(())
}

fn connect_again_and_again(address: &str, seconds: u32) -> std::io::Result<()> {
    connect(address, 7)?;
    let address: SocketAddr = (address.parse::<std::net::IpAddr>().expect("an address"), 7).into();
    let (begin, mut count) = (Instant::now(), 0);
    while begin.elapsed() < Duration::from_secs(seconds.into()) {
        let mut stream = connect_with_cubic(address)?;
        stream.write_all(b"text")?;
        stream.read_exact(&mut [0; 4])?;
        count += 1;
    }
    println!("{:.0}", f64::from(count) / begin.elapsed().as_secs_f64());
    Ok(())
}

fn print_rate(bytes: usize, begin: Instant) {
    println!("{:.4}", bytes as f64 * 8e-9 / begin.elapsed().as_secs_f64());
}

fn serve(congestion: Option<&str>) -> std::io::Result<()> {
    let services: [(u16, fn(TcpStream) -> std::io::Result<()>); 3] =
        [(7, serve_echo), (9, serve_discard), (19, serve_chargen)];
    let threads = services.map(|(port, service)| {
        let listener = TcpListener::bind(("::", port)).expect("to listen");
        if let Some(name) = congestion {
            set_congestion(&listener, name);
        }
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || service(stream));
            }
        })
    });
    threads.into_iter().for_each(|thread| drop(thread.join()));
    Ok(())
}

fn set_congestion(socket: &impl AsRawFd, name: &str) {
    // SAFETY: the pointer and length are those of a string that lives during the call.
    let result = unsafe {
        let (level, option) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
        libc::setsockopt(socket.as_raw_fd(), level, option, name.as_ptr().cast(), name.len() as u32)
    };
    assert_eq!(result, 0, "congestion control {name}");
}

fn serve_echo(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut text = vec![0; CHUNK];
    loop {
        match stream.read(&mut text)? {
            0 => return Ok(()),
            count => stream.write_all(&text[..count])?,
        }
    }
}

fn serve_discard(mut stream: TcpStream) -> std::io::Result<()> {
    let mut text = vec![0; CHUNK];
    while stream.read(&mut text)? > 0 {}
    Ok(())
}

fn serve_chargen(mut stream: TcpStream) -> std::io::Result<()> {
    let text = vec![b'x'; CHUNK];
    loop {
        stream.write_all(&text)?;
    }
}
