//! The calls, whoever implements them. All sockets are non-blocking.

use std::net::SocketAddr;

/// A result, or an `errno`.
pub type Outcome = Result<i64, i32>;

pub trait Api {
    fn socket(&mut self, domain: i32, kind: i32, protocol: i32) -> Outcome;
    fn bind(&mut self, fd: i32, address: SocketAddr) -> Outcome;
    fn listen(&mut self, fd: i32, backlog: i32) -> Outcome;
    fn accept(&mut self, fd: i32) -> Outcome;
    fn connect(&mut self, fd: i32, raw: &[u8]) -> Outcome;
    fn receive(&mut self, fd: i32, length: usize, flags: i32) -> Outcome;
    fn send(&mut self, fd: i32, length: usize, flags: i32) -> Outcome;
    fn shutdown(&mut self, fd: i32, how: i32) -> Outcome;
    fn close(&mut self, fd: i32) -> Outcome;
    fn poll(&mut self, fd: i32) -> Outcome;
    fn set(&mut self, fd: i32, level: i32, name: i32, value: &[u8]) -> Outcome;
    /// The bytes that there are, and they as an int.
    fn get(&mut self, fd: i32, level: i32, name: i32, length: usize) -> Result<Vec<u8>, i32>;
    fn ioctl(&mut self, fd: i32, request: u64) -> Outcome;
    fn fcntl(&mut self, fd: i32, command: i32, argument: i32) -> Outcome;
    fn local(&mut self, fd: i32) -> Result<SocketAddr, i32>;
    fn peer(&mut self, fd: i32) -> Outcome;
    /// Lets everything happen that is under way.
    fn settle(&mut self);
}
