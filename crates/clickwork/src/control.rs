//! A client of Click's ControlSocket protocol, over TCP or a Unix socket.
//!
//! The server greets with `Click::ControlSocket/1.3`. A command is a line; an answer is one or more lines that begin with
//! a code, `200-` if more follow and `200 ` if not. After the answer to a successful read stands `DATA n` and n bytes.
//! Codes from 200 to 299 mean success, perhaps with warnings.

use crate::output::reason;
use clickwork_source::text::{decode, encode, to_path};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long a running router may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest value that is accepted, so that a mistaken server cannot exhaust the memory.
const LONGEST_VALUE: u64 = 1 << 30;
/// The longest line of an answer.
const LONGEST_LINE: u64 = 1 << 16;

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection to a running router.
pub struct Client {
    stream: BufReader<Box<dyn Stream>>,
}

impl Client {
    /// Connects to `HOST:PORT`, `:PORT` or `PORT` on this machine, or the path of a Unix socket.
    ///
    /// # Errors
    /// If nobody listens there, or it is no control socket.
    pub fn connect(address: &str) -> Result<Client, String> {
        let stream = open(address).map_err(|e| format!("{address}: {}", reason(&e)))?;
        let mut client = Client { stream: BufReader::new(stream) };
        match client.line() {
            Ok(greeting) if greeting.starts_with("Click::ControlSocket/") => Ok(client),
            Ok(other) => {
                Err(format!("{address}: this is no control socket of Click: it says {:?}", brief(&other)))
            }
            Err(e) => Err(format!("{address}: {e}")),
        }
    }

    /// Reads a handler, with a parameter if it is not empty.
    ///
    /// # Errors
    /// What the router says against it.
    pub fn read(&mut self, handler: &str, parameter: &str) -> Result<Vec<u8>, String> {
        let space = if parameter.is_empty() { "" } else { " " };
        match parameter.contains('\n') {
            false => self.send(&format!("READ {handler}{space}{parameter}\r\n"))?,
            true => self.send(&format!("READDATA {handler} {}\r\n{parameter}", encode(parameter).len()))?,
        }
        self.answer()?;
        let header = self.line()?;
        let length = header.strip_prefix("DATA ").and_then(|n| n.trim().parse::<u64>().ok());
        let length = length.filter(|&n| n <= LONGEST_VALUE);
        let length = length.ok_or_else(|| format!("unexpected answer {:?}", brief(&header)))?;
        let mut data = Vec::new();
        self.stream.by_ref().take(length).read_to_end(&mut data).map_err(|e| reason(&e))?;
        if data.len() as u64 == length {
            Ok(data)
        } else {
            Err("the router closed the connection".to_string())
        }
    }

    /// Writes a handler. Returns what the router says about it beyond that all is well.
    ///
    /// # Errors
    /// What the router says against it.
    pub fn write(&mut self, handler: &str, value: &str) -> Result<String, String> {
        self.send(&format!("WRITEDATA {handler} {}\r\n{value}", encode(value).len()))?;
        self.answer().map(|lines| lines.get(1..).unwrap_or_default().join("\n"))
    }

    fn send(&mut self, text: &str) -> Result<(), String> {
        let stream = self.stream.get_mut();
        stream.write_all(&encode(text)).and_then(|()| stream.flush()).map_err(|e| reason(&e))
    }

    /// The texts of an answer's lines.
    fn answer(&mut self) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line()?;
            let code = line.get(..3).and_then(|c| c.parse::<u16>().ok());
            let code = code.ok_or_else(|| format!("unexpected answer {:?}", brief(&line)))?;
            lines.push(line.get(4..).unwrap_or_default().to_string());
            if line.as_bytes().get(3) != Some(&b'-') {
                let ok = (200..300).contains(&code);
                return if ok { Ok(lines) } else { Err(lines.join("\n")) };
            }
        }
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = Vec::new();
        let read = self.stream.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        match read {
            Ok(0) => Err("the router closed the connection".to_string()),
            Ok(_) => Ok(decode(line).trim_end_matches(['\r', '\n']).to_string()),
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(format!("no answer for {} seconds", PATIENCE.as_secs()))
            }
            Err(e) => Err(reason(&e)),
        }
    }
}

fn open(address: &str) -> io::Result<Box<dyn Stream>> {
    if let Some((host, port)) = tcp(address) {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
        for place in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&place, PATIENCE) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(PATIENCE))?;
                    stream.set_nodelay(true)?;
                    return Ok(Box::new(stream));
                }
                Err(e) => last = e,
            }
        }
        return Err(last);
    }
    let stream = UnixStream::connect(to_path(address))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(Box::new(stream))
}

/// Host and port, if the address is not a path.
fn tcp(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':').unwrap_or(("", address));
    let port = port.parse().ok().filter(|_| !host.contains('/'))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some((if host.is_empty() { "localhost" } else { host }, port))
}

fn brief(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn addresses_are_ports_or_paths() {
        assert_eq!(tcp("7777"), Some(("localhost", 7777)));
        assert_eq!(tcp("[::1]:80"), Some(("::1", 80)));
        assert_eq!(tcp("h:80"), Some(("h", 80)));
        assert_eq!(tcp("/tmp/x:80"), None);
        assert_eq!(tcp("router.sock"), None);
    }

    /// What a server that sends `script` and closes makes of a call.
    fn against<T>(name: &str, script: &'static [u8], call: impl FnOnce(Client) -> T) -> Result<T, String> {
        let path = clickwork_oracles::unused(&format!("clickwork-{name}"));
        let listener = UnixListener::bind(&path).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(script).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut sent = String::new();
            let _ = stream.read_to_string(&mut sent);
        });
        let result = Client::connect(path.to_str().unwrap()).map(call);
        server.join().unwrap();
        std::fs::remove_file(path).unwrap();
        result
    }

    #[test]
    fn values_and_errors_come_back() {
        let script = b"Click::ControlSocket/1.3\r\n200 Read handler 'c.count' OK\r\nDATA 3\r\n1\n2\
                       200-Write OK with warnings\r\n200 careful\r\n511-No\r\n511 really\r\n";
        let calls = |mut c: Client| {
            (c.read("c.count", "").unwrap(), c.write("a.b", "x").unwrap(), c.read("x", "").unwrap_err())
        };
        let (value, remark, error) = against("ok", script, calls).unwrap();
        assert_eq!((value.as_slice(), remark.as_str()), (&b"1\n2"[..], "careful"));
        assert_eq!(error, "No\nreally");
    }

    #[test]
    fn a_server_that_talks_nonsense_or_goes_away_is_an_error() {
        assert!(against("http", b"HTTP/1.0 400\r\n", drop).unwrap_err().contains("no control socket"));
        let short = b"Click::ControlSocket/1.3\r\n200 OK\r\nDATA 30\r\nabc";
        let error = against("short", short, |mut c| c.read("a", "").unwrap_err()).unwrap();
        assert_eq!(error, "the router closed the connection");
        let odd = b"Click::ControlSocket/1.3\r\n200 OK\r\nDATA many\r\n";
        let error = against("odd", odd, |mut c| c.read("a", "").unwrap_err()).unwrap();
        assert!(error.contains("DATA many"));
    }
}
