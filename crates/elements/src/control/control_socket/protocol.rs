//! The protocol of control connections: what clients send, and how replies look.
//!
//! A client sends lines; some commands are followed by data, either of a length given or up to a line given. A reply is
//! one line or several, `CODE text`, with a dash behind the code of each but the last; a successful read is followed by
//! `DATA LENGTH` and the data. The protocol is that of Click's ControlSocket, version 1.3.

use clickwork_source::text;

/// What a server says first.
pub const GREETING: &[u8] = b"Click::ControlSocket/1.3\r\n";
/// The longest command line.
pub const MAX_LINE: usize = 64 << 10;
/// The most data that may follow a command.
pub const MAX_DATA: usize = 64 << 20;

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
    /// Not allowed.
    Permission = 530,
    /// Anything else.
    Unspecified = 590,
}

/// What a client wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// An empty line.
    Nothing,
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
    /// Call a function of an element by number.
    Llrpc(String),
    /// Say what can be said.
    Help,
    /// Close; whether the line was right.
    Quit(bool),
    /// A command that cannot be understood.
    Bad(Code, String),
    /// One that cannot even be skipped: the connection has to be closed.
    Hopeless(Code, String),
}

/// What a client has sent and was not yet understood.
#[derive(Debug, Default)]
pub struct Input {
    bytes: Vec<u8>,
    /// Whether nothing more will come.
    closed: bool,
    /// Where to go on looking for the end of data.
    looked: usize,
}

/// More has to come before the command is complete.
struct Incomplete;

type Parsed = Result<Command, Incomplete>;

impl Input {
    /// Adds what was received.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Nothing more will come.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.bytes = Vec::new();
        self.looked = 0;
    }

    /// Whether nothing more will come.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether there is nothing left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes the next command off, if it is complete. Nothing comes after one that cannot be skipped.
    pub fn next(&mut self) -> Option<Command> {
        let command = self.take()?;
        if matches!(command, Command::Hopeless(..)) {
            self.clear();
            self.close();
        }
        Some(command)
    }

    fn take(&mut self) -> Option<Command> {
        let (line_end, next_line) = match line_end(&self.bytes) {
            Some(ends) => ends,
            None if self.bytes.len() > MAX_LINE => {
                return Some(Command::Hopeless(Code::Syntax, "Command line too long".to_string()));
            }
            None if self.closed && !self.bytes.is_empty() => (self.bytes.len(), self.bytes.len()),
            None => return None,
        };
        let line = text::decode(&self.bytes[..line_end]);
        let mut rest = Rest { input: self, start: next_line, end: next_line };
        let command = command(&line, &mut rest).ok()?;
        let end = rest.end;
        self.bytes.drain(..end);
        self.looked = 0;
        if self.bytes.is_empty() {
            self.bytes = Vec::new();
        }
        Some(command)
    }
}

/// Where the first line ends, and where the next one begins.
fn line_end(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.iter().position(|b| matches!(b, b'\r' | b'\n'))?;
    let is_pair = bytes[end..].starts_with(b"\r\n");
    Some((end, end + if is_pair { 2 } else { 1 }))
}

/// What follows the command line.
struct Rest<'a> {
    input: &'a mut Input,
    start: usize,
    /// What has been used.
    end: usize,
}

impl Rest<'_> {
    /// So many bytes.
    fn data(&mut self, length: usize) -> Result<String, Incomplete> {
        let bytes = self.input.bytes.get(self.start..self.start + length).ok_or(Incomplete)?;
        self.end = self.start + length;
        Ok(text::decode(bytes))
    }

    /// The lines before one that says `until`, apart from space at its end.
    fn lines_until(&mut self, until: &str) -> Result<String, Incomplete> {
        let mut at = self.start.max(self.input.looked);
        while let Some((end, next)) = line_end(&self.input.bytes[at..]) {
            if self.input.bytes[at..at + end].trim_ascii_end() == &*text::encode(until) {
                self.end = at + next;
                return Ok(text::decode(&self.input.bytes[self.start..at]));
            }
            at += next;
        }
        self.input.looked = at;
        Err(Incomplete)
    }

    /// What is to be said when data are missing: nothing yet, or that they will never come, or that they are too long.
    fn insufficient(&self, parsed: Parsed) -> Parsed {
        match parsed {
            Err(Incomplete) if self.input.closed => {
                Ok(Command::Hopeless(Code::Syntax, "Not enough data".to_string()))
            }
            Err(Incomplete) if self.input.bytes.len() > MAX_LINE + MAX_DATA => Ok(too_big()),
            other => other,
        }
    }
}

fn too_big() -> Command {
    Command::Hopeless(Code::DataTooBig, format!("Data too large, at most {MAX_DATA} bytes"))
}

fn wrong_number() -> Parsed {
    Ok(Command::Bad(Code::Syntax, "Wrong number of arguments".to_string()))
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

fn command(line: &str, rest: &mut Rest<'_>) -> Parsed {
    let words: Vec<&str> = line.split(is_space).filter(|w| !w.is_empty()).collect();
    let Some(first) = words.first() else { return Ok(Command::Nothing) };
    let name = first.to_uppercase();
    let reads = name.starts_with("READ") || name == "GET";
    match name.as_str() {
        "READ" | "GET" | "WRITE" | "SET" => match words.get(1) {
            Some(handler) => Ok(call(reads, handler, after_two_words(line).to_string())),
            None => wrong_number(),
        },
        "READDATA" | "WRITEDATA" | "SETDATA" => match words[1..] {
            [handler, length] => with_data(&name, handler, length, rest, |h, data| call(reads, h, data)),
            _ => wrong_number(),
        },
        "READUNTIL" | "WRITEUNTIL" => match words.get(1) {
            Some(handler) => {
                let data = rest.lines_until(after_two_words(line));
                rest.insufficient(data.map(|data| call(reads, handler, data)))
            }
            None => wrong_number(),
        },
        "CHECKREAD" | "CHECKWRITE" => match words[1..] {
            [handler] => Ok(Command::Check { handler: handler.to_string(), write: name == "CHECKWRITE" }),
            _ => wrong_number(),
        },
        "LLRPC" => match words[1..] {
            [function] => Ok(Command::Llrpc(function.to_string())),
            [function, length] => {
                with_data("llrpc", function, length, rest, |f, _| Command::Llrpc(f.to_string()))
            }
            _ => wrong_number(),
        },
        "CLOSE" | "QUIT" => Ok(Command::Quit(words.len() == 1)),
        "HELP" => Ok(Command::Help),
        _ => Ok(Command::Bad(Code::Unimplemented, format!("Command '{name}' unimplemented"))),
    }
}

fn call(reads: bool, handler: &str, text: String) -> Command {
    if reads { Command::Read(handler.to_string(), text) } else { Command::Write(handler.to_string(), text) }
}

fn with_data(
    name: &str,
    handler: &str,
    length: &str,
    rest: &mut Rest<'_>,
    make: impl FnOnce(&str, String) -> Command,
) -> Parsed {
    match length.parse::<u64>() {
        Err(_) => Ok(Command::Bad(Code::Syntax, format!("Syntax error in '{name}'"))),
        Ok(n) if n > MAX_DATA as u64 => Ok(too_big()),
        Ok(n) => {
            let data = rest.data(n as usize);
            rest.insufficient(data.map(|data| make(handler, data)))
        }
    }
}

/// The answer to a command.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reply(pub Vec<u8>);

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
        Reply(text::into_bytes(reply))
    }

    /// The same reply, with data behind it.
    pub fn with_data(mut self, data: &[u8]) -> Reply {
        self.0.extend_from_slice(format!("DATA {}\r\n", data.len()).as_bytes());
        self.0.extend_from_slice(data);
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
    use proptest::prelude::*;

    /// All commands of what a client sends, in pieces of `size` bytes, before it closes.
    fn commands(bytes: &[u8], size: usize) -> Vec<Command> {
        let mut input = Input::default();
        let mut found = Vec::new();
        for piece in bytes.chunks(size) {
            input.extend(piece);
            found.extend(std::iter::from_fn(|| input.next()));
        }
        input.close();
        found.extend(std::iter::from_fn(|| input.next()));
        found
    }

    fn read(handler: &str, text: &str) -> Command {
        Command::Read(handler.to_string(), text.to_string())
    }

    fn write(handler: &str, text: &str) -> Command {
        Command::Write(handler.to_string(), text.to_string())
    }

    #[test]
    fn commands_come_in_lines_with_or_without_data() {
        let sent = b"read c.count\r\nget  x.y  a  b \nWRITE a.b\rset a.b 1\n\nreaddata a 3\nx\nywritedata b 0\n\
                     readuntil c  the end \r\n1\n2\r\nthe end  \r\nwriteuntil d\n3\n\nCHECKREAD e\ncheckwrite f\n\
                     llrpc a#7 2\nzzhelp\nquit";
        let expected = [
            read("c.count", ""),
            read("x.y", "a  b"),
            write("a.b", ""),
            write("a.b", "1"),
            Command::Nothing,
            read("a", "x\ny"),
            write("b", ""),
            read("c", "1\n2\r\n"),
            write("d", "3\n"),
            Command::Check { handler: "e".into(), write: false },
            Command::Check { handler: "f".into(), write: true },
            Command::Llrpc("a#7".into()),
            Command::Help,
            Command::Quit(true),
        ];
        assert_eq!(commands(sent, 1000), expected);
        // A carriage return that comes alone is a line end, and the line feed that follows later an empty line.
        let rejoined = |size| commands(sent, size).into_iter().filter(|c| *c != Command::Nothing);
        let expected = expected.iter().filter(|c| **c != Command::Nothing);
        assert!(rejoined(1).eq(expected.clone().cloned()) && rejoined(7).eq(expected.cloned()));
    }

    #[test]
    fn nonsense_is_answered() {
        let bad = |text: &str| Command::Bad(Code::Syntax, text.to_string());
        assert_eq!(
            commands(b"READ\nreaddata x\n", 99),
            [bad("Wrong number of arguments"), bad("Wrong number of arguments")]
        );
        assert_eq!(commands(b"WriteData x -1\n", 99), [bad("Syntax error in 'WRITEDATA'")]);
        let unknown = Command::Bad(Code::Unimplemented, "Command 'FROB' unimplemented".into());
        assert_eq!(commands(b"frob 1\n", 99), [unknown]);
        let never = Command::Hopeless(Code::Syntax, "Not enough data".into());
        assert_eq!(commands(b"writedata x 5\nabc", 2), std::slice::from_ref(&never));
        assert_eq!(commands(b"readuntil x end\nabc\nen", 2), [never]);
    }

    #[test]
    fn buffers_are_bounded() {
        let is_hopeless = |bytes: &[u8], code| matches!(&commands(bytes, 1 << 16)[..], [.., Command::Hopeless(c, _)] if *c == code);
        assert!(is_hopeless(b"writedata x 99999999999\n", Code::DataTooBig));
        assert!(is_hopeless(&vec![b'x'; MAX_LINE + 1], Code::Syntax));
    }

    #[test]
    fn replies_have_a_code_on_each_line() {
        let text = |r: Reply| String::from_utf8(r.0).unwrap();
        assert_eq!(text(Reply::line(Code::Ok, "fine")), "200 fine\r\n");
        assert_eq!(
            text(Reply::lines(Code::HandlerError, ["a:", "b\nc\x07"])),
            "520-a:\r\n520-b\r\n520 c.\r\n"
        );
        assert_eq!(text(Reply::line(Code::Ok, "x").with_data(b"12\n")), "200 x\r\nDATA 3\r\n12\n");
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_all_are_used(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            size in 1usize..50,
        ) {
            commands(&bytes, size);
        }

        #[test]
        fn pieces_do_not_matter(
            text in "((read|writedata|readuntil|llrpc|quit|x) ?[a.]{0,2} ?[0-9]{0,2}\n){0,9}",
            size in 1usize..50,
        ) {
            prop_assert_eq!(commands(text.as_bytes(), size), commands(text.as_bytes(), 1 << 20));
        }
    }
}
