//! A TCP stream from host to host, with threads of ours that enter the namespaces of the hosts.

use super::lab::{Lab, Side};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

const PORT: u16 = 5001;
/// Bytes handed over at a time.
const CHUNK: usize = 128 << 10;
/// How long nothing may happen before the transfer is given up.
const STALLED: Duration = Duration::from_secs(10);
/// The stream repeats itself after so many bytes: a prime, so that a lost segment shows.
const PERIOD: usize = 251;

/// What arrived.
pub struct Report {
    /// Bytes.
    pub bytes: u64,
    /// Of these, not what was sent.
    pub wrong: u64,
    /// From the connection to the end.
    pub time: Duration,
}

/// Waits until a TCP connection from the left host is answered: then the router runs.
///
/// # Errors
/// If that takes longer than `patience`.
pub fn wait_for_way(
    lab: &Lab,
    host: &str,
    patience: Duration,
    interrupted: &AtomicBool,
) -> Result<(), String> {
    let (address, start) = (address(host)?, Instant::now());
    while start.elapsed() < patience && !interrupted.load(Ordering::Relaxed) {
        let attempt = on_host(lab.open(Side::Left)?, move || {
            let outcome = TcpStream::connect_timeout(&address, Duration::from_millis(200));
            outcome.map(drop).or_else(|e| match e.kind() {
                // Nobody listens there yet, and the right host says so: all the way and back.
                ErrorKind::ConnectionRefused => Ok(()),
                _ => Err(e.to_string()),
            })
        });
        if received(&attempt, interrupted).is_ok_and(|outcome| outcome.is_ok()) {
            return Ok(());
        }
    }
    Err("the router does not forward".to_string())
}

/// Sends `bytes` bytes from the left host to the right one.
///
/// # Errors
/// If the connection fails, or nothing arrives for a while.
pub fn run(lab: &Lab, host: &str, bytes: u64, interrupted: &AtomicBool) -> Result<Report, String> {
    let address = address(host)?;
    let listener =
        on_host(lab.open(Side::Right)?, move || TcpListener::bind(address).map_err(|e| e.to_string()));
    let listener = received(&listener, interrupted)??;
    let arrived = on_host(lab.open(Side::Right)?, move || receive(&listener));
    let sent = on_host(lab.open(Side::Left)?, move || send(address, bytes));
    received(&sent, interrupted)?.map_err(|e| format!("the sender: {e}"))?;
    received(&arrived, interrupted)?.map_err(|e| format!("the receiver: {e}"))
}

fn address(host: &str) -> Result<SocketAddr, String> {
    format!("{host}:{PORT}").parse().map_err(|e| format!("{host}: {e}"))
}

/// Starts a thread on a host.
fn on_host<T: Send + 'static>(
    host: File,
    job: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Receiver<Result<T, String>> {
    let (result, receiver) = mpsc::channel();
    thread::spawn(move || {
        let entered = move_into_link_name_space(host.as_fd(), Some(LinkNameSpaceType::Network));
        let outcome = entered.map_err(|e| format!("cannot enter the namespace: {e}")).and_then(|()| job());
        // Nobody waits for it after an interrupt.
        let _ = result.send(outcome);
    });
    receiver
}

/// Waits for a thread's result, but not after an interrupt.
fn received<T>(result: &Receiver<T>, interrupted: &AtomicBool) -> Result<T, String> {
    loop {
        match result.recv_timeout(Duration::from_millis(50)) {
            Ok(value) => return Ok(value),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err("a thread has failed".to_string()),
            Err(mpsc::RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                return Err("while packets were on their way".to_string());
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The stream: a chunk that begins at any multiple of the period.
fn pattern() -> Vec<u8> {
    (0..CHUNK + PERIOD).map(|i| (i % PERIOD) as u8).collect()
}

fn send(to: SocketAddr, bytes: u64) -> Result<(), String> {
    let fail = |e: std::io::Error| e.to_string();
    let mut stream = TcpStream::connect_timeout(&to, STALLED).map_err(fail)?;
    stream.set_write_timeout(Some(STALLED)).map_err(fail)?;
    let pattern = pattern();
    let mut sent = 0;
    while sent < bytes {
        let length = (bytes - sent).min(CHUNK as u64);
        let start = (sent % PERIOD as u64) as usize;
        stream.write_all(&pattern[start..start + length as usize]).map_err(fail)?;
        sent += length;
    }
    Ok(())
}

fn receive(listener: &TcpListener) -> Result<Report, String> {
    let fail = |e: std::io::Error| e.to_string();
    let (mut stream, _) = listener.accept().map_err(fail)?;
    let start = Instant::now();
    stream.set_read_timeout(Some(STALLED)).map_err(fail)?;
    let (pattern, mut buffer) = (pattern(), vec![0; CHUNK]);
    let (mut bytes, mut wrong) = (0, 0);
    loop {
        let length = stream.read(&mut buffer).map_err(fail)?;
        if length == 0 {
            return Ok(Report { bytes, wrong, time: start.elapsed() });
        }
        let expected = &pattern[(bytes % PERIOD as u64) as usize..][..length];
        if buffer[..length] != *expected {
            wrong += buffer.iter().zip(expected).filter(|(a, b)| a != b).count() as u64;
        }
        bytes += length as u64;
    }
}
