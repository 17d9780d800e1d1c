//! The protocol of control connections: what clients send, and how replies look.
//!
//! A client sends lines; some commands are followed by data, either of a length given or up to a line given. A reply is
//! one line or several, `CODE text`, with a dash behind the code of each but the last; a successful read is followed by
//! `DATA LENGTH` and the data. The protocol is that of Click's ControlSocket, version 1.3.

use super::input::{Body, MAX_DATA, too_big};
use clickwork_router::pieces::Pieces;
use clickwork_source::text;

/// What a server says first.
pub const GREETING: &[u8] = b"Click::ControlSocket/1.3\r\n";

/// The number that a reply begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// Done.
    Ok = 200,
    /// The client wrote nonsense.
    Syntax = 500,
    /// There is no such command, or it is not supported.
    Unimplemented = 501,
    /// There is no such element.
    NoSuchElement = 510,
    /// There is no such handler.
    NoSuchHandler = 511,
    /// A write handler refused.
    HandlerError = 520,
    /// More data than the server takes.
    DataTooBig = 521,
    /// A function called by number failed.
    LlrpcError = 522,
    /// Not allowed.
    Permission = 530,
    /// Anything else.
    Unspecified = 590,
}

/// What a client wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Read a handler, with a parameter.
    Read(String, String),
    /// Write a handler.
    Write(String, String),
    /// Say whether a handler can be read, or written.
    Check {
        /// The handler.
        handler: String,
        /// Which side.
        write: bool,
    },
    /// Call a function of an element by number, with data.
    Llrpc(String, Vec<u8>),
    /// Say what can be said.
    Help,
    /// Close; whether the line was right.
    Quit(bool),
    /// A command that cannot be understood.
    Bad(Code, String),
    /// One that cannot even be skipped: the connection has to be closed.
    Hopeless(Code, String),
}

/// A command that is followed by data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    verb: Verb,
    /// The handler, or the element and number of the function.
    name: String,
    /// How the end of the data is known.
    pub body: Body,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verb {
    Read,
    Write,
    Llrpc,
}

impl Call {
    /// The command, with the data that came.
    pub fn with(self, data: Vec<u8>) -> Command {
        match self.verb {
            Verb::Read => Command::Read(self.name, text::decode(data)),
            Verb::Write => Command::Write(self.name, text::decode(data)),
            Verb::Llrpc => Command::Llrpc(self.name, data),
        }
    }

    /// The bytes of memory that it takes.
    pub fn memory(&self) -> usize {
        let until = if let Body::Until(text) = &self.body { text.capacity() } else { 0 };
        self.name.capacity() + until
    }
}

/// What a line of a client says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    /// Nothing.
    Empty,
    /// A whole command.
    Complete(Command),
    /// One whose data follow.
    Wants(Call),
}

fn bad(text: &str) -> Line {
    Line::Complete(Command::Bad(Code::Syntax, text.to_string()))
}

fn wrong_number() -> Line {
    bad("Wrong number of arguments")
}

/// The text from the third word on, without outer space.
fn after_two_words(line: &str) -> &str {
    let rest = line.trim_start();
    let rest = rest.find(is_space).map_or("", |at| rest[at..].trim_start());
    rest.find(is_space).map_or("", |at| rest[at..].trim())
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// Understands a line.
pub fn parse_line(line: &str) -> Line {
    let words: Vec<&str> = line.split(is_space).filter(|w| !w.is_empty()).collect();
    let Some(first) = words.first() else { return Line::Empty };
    let name = first.to_uppercase();
    let verb = if name.starts_with("READ") || name == "GET" { Verb::Read } else { Verb::Write };
    let call = |verb, name: &str, body| Line::Wants(Call { verb, name: name.to_string(), body });
    match (name.as_str(), &words[1..]) {
        ("READ" | "GET" | "WRITE" | "SET", [handler, ..]) => {
            let text = after_two_words(line).to_string();
            Line::Complete(match verb {
                Verb::Read => Command::Read(handler.to_string(), text),
                _ => Command::Write(handler.to_string(), text),
            })
        }
        ("READDATA" | "WRITEDATA" | "SETDATA", [handler, length]) => {
            with_length(&name, verb, handler, length)
        }
        ("READUNTIL" | "WRITEUNTIL", [handler, ..]) => {
            call(verb, handler, Body::Until(after_two_words(line).to_string()))
        }
        ("CHECKREAD" | "CHECKWRITE", [handler]) => {
            Line::Complete(Command::Check { handler: handler.to_string(), write: name == "CHECKWRITE" })
        }
        ("LLRPC", [function]) => call(Verb::Llrpc, function, Body::Length(0)),
        ("LLRPC", [function, length]) => with_length("llrpc", Verb::Llrpc, function, length),
        ("CLOSE" | "QUIT", rest) => Line::Complete(Command::Quit(rest.is_empty())),
        ("HELP", _) => Line::Complete(Command::Help),
        (known, _) if WITH_ARGUMENTS.contains(&known) => wrong_number(),
        _ => Line::Complete(Command::Bad(Code::Unimplemented, format!("Command '{name}' unimplemented"))),
    }
}

/// The commands that need arguments.
const WITH_ARGUMENTS: &[&str] = &[
    "READ",
    "GET",
    "WRITE",
    "SET",
    "READDATA",
    "WRITEDATA",
    "SETDATA",
    "READUNTIL",
    "WRITEUNTIL",
    "CHECKREAD",
    "CHECKWRITE",
    "LLRPC",
];

fn with_length(command: &str, verb: Verb, name: &str, length: &str) -> Line {
    match length.parse::<u64>() {
        Err(_) => bad(&format!("Syntax error in '{command}'")),
        Ok(n) if n > MAX_DATA as u64 => Line::Complete(too_big()),
        Ok(n) => Line::Wants(Call { verb, name: name.to_string(), body: Body::Length(n as usize) }),
    }
}

/// The answer to a command.
#[derive(Clone, Debug, Default)]
pub struct Reply(pub Pieces);

impl Reply {
    /// A reply of one line.
    pub fn line(code: Code, text: &str) -> Reply {
        Reply::lines(code, [text])
    }

    /// A reply of several lines. Line ends inside begin a new line.
    pub fn lines<'a>(code: Code, texts: impl IntoIterator<Item = &'a str>) -> Reply {
        let lines: Vec<String> = texts.into_iter().flat_map(|t| t.split('\n')).map(printable).collect();
        let last = lines.len().saturating_sub(1);
        let mut reply = String::new();
        for (i, line) in lines.iter().enumerate() {
            let mark = if i < last { '-' } else { ' ' };
            reply.push_str(&format!("{}{mark}{line}\r\n", code as u16));
        }
        Reply(reply.into())
    }

    /// The same reply, with data behind it.
    pub fn with_data(mut self, data: Pieces) -> Reply {
        self.0.push(format!("DATA {}\r\n", data.len()).as_bytes());
        self.0.append(data);
        self
    }
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '.' } else { c }).collect()
}

/// The reply to `HELP`.
pub const HELP: &[&str] = &[
    "Commands supported:",
    "READ handler [arg...]   call read handler, return DATA",
    "READDATA handler len    call read handler with len data bytes, return DATA",
    "READUNTIL handler term  call read handler, take data until term, return DATA",
    "WRITE handler [arg...]  call write handler",
    "WRITEDATA handler len   call write handler, pass len data bytes",
    "WRITEUNTIL handler term call write handler, take data until term",
    "CHECKREAD handler       check if read handler is valid",
    "CHECKWRITE handler      check if write handler is valid",
    "LLRPC elt#number [len]  call LLRPC, pass len data bytes, return DATA",
    "QUIT                    close connection",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_have_a_code_on_each_line() {
        let text = |r: Reply| String::from_utf8(r.0.to_vec()).unwrap();
        assert_eq!(text(Reply::line(Code::Ok, "fine")), "200 fine\r\n");
        assert_eq!(
            text(Reply::lines(Code::HandlerError, ["a:", "b\nc\x07"])),
            "520-a:\r\n520-b\r\n520 c.\r\n"
        );
        assert_eq!(text(Reply::line(Code::Ok, "x").with_data("12\n".into())), "200 x\r\nDATA 3\r\n12\n");
    }
}
