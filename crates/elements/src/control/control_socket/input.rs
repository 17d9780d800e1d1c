//! What a client has sent: lines, and the data that follow some of them, understood as they arrive.
//!
//! Each byte is looked at once, however small the pieces are in which they come. What is kept is bounded: a line of
//! [`MAX_LINE`] bytes, or data of [`MAX_DATA`].

use super::protocol::{Call, Code, Command, Line, parse_line};
use clickwork_source::text;

/// The longest command line.
pub const MAX_LINE: usize = 64 << 10;
/// The most data that may follow a command.
pub const MAX_DATA: usize = 8 << 20;
/// Room that is kept though nothing is in it.
const SPARE: usize = 4 << 10;

/// What follows a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// So many bytes.
    Length(usize),
    /// The lines before one that says this, apart from space at its end.
    Until(String),
}

/// What a client has sent and was not yet understood.
#[derive(Debug, Default)]
pub struct Input {
    bytes: Vec<u8>,
    /// How many of them have been used.
    start: usize,
    /// Where the present line begins, behind `start`, and where to go on looking for its end.
    line: usize,
    looked: usize,
    /// The last line ended with a carriage return that came last: a line feed that follows belongs to it.
    after_return: bool,
    /// Whether nothing more will come.
    closed: bool,
    /// A command whose data are still to come.
    waiting: Option<Call>,
}

impl Input {
    /// Adds what was received.
    pub fn extend(&mut self, bytes: &[u8]) {
        let is_rest_of_end = self.after_return && bytes.first() == Some(&b'\n');
        self.after_return &= bytes.is_empty();
        let bytes = &bytes[usize::from(is_rest_of_end)..];
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.capacity() - self.bytes.len() < bytes.len() {
            // Not twice as much, as a vector would: memory is counted.
            self.bytes.reserve_exact(bytes.len() + self.bytes.len() / 8);
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Nothing more will come.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Input { closed: self.closed, ..Input::default() };
    }

    /// Whether nothing more will come.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether there is nothing left.
    pub fn is_empty(&self) -> bool {
        self.start == self.bytes.len() && self.waiting.is_none()
    }

    /// The bytes of memory that it takes.
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.waiting.as_ref().map_or(0, Call::memory)
    }

    /// Takes the next command off, if it is complete. Nothing comes after one that cannot be skipped.
    #[allow(clippy::should_implement_trait, reason = "more can come after nothing")]
    pub fn next(&mut self) -> Option<Command> {
        let command = self.take();
        if matches!(command, Some(Command::Hopeless(..))) {
            self.clear();
            self.close();
        }
        self.give_room_back();
        command
    }

    fn take(&mut self) -> Option<Command> {
        loop {
            if let Some(call) = self.waiting.take() {
                return self.with_body(call);
            }
            self.skip_line_ends();
            let line = match self.line() {
                Ok(line) => line?,
                Err(hopeless) => return Some(hopeless),
            };
            match parse_line(&line) {
                Line::Empty => {}
                Line::Complete(command) => return Some(command),
                Line::Wants(call) => self.waiting = Some(call),
            }
        }
    }

    /// Uses up empty lines, of which there can be very many.
    fn skip_line_ends(&mut self) {
        let pending = &self.bytes[self.start..];
        let ends = pending.iter().position(|b| !matches!(b, b'\r' | b'\n')).unwrap_or(pending.len());
        if ends > 0 {
            self.use_up(ends);
        }
    }

    /// Takes the next line off, without its end; none if the end has not come.
    fn line(&mut self) -> Result<Option<String>, Command> {
        let pending = self.bytes.len() - self.start;
        let (end, next) = match self.next_line_end() {
            Some(ends) => ends,
            None if pending > MAX_LINE => return Err(too_long()),
            None if self.closed && pending > 0 => (pending, pending),
            None => return Ok(None),
        };
        if end > MAX_LINE {
            return Err(too_long());
        }
        let line = text::decode(&self.bytes[self.start..self.start + end]);
        self.use_up(next);
        Ok(Some(line))
    }

    /// Where the first line not yet looked at ends and where the next begins, behind `start`.
    fn next_line_end(&mut self) -> Option<(usize, usize)> {
        let pending = &self.bytes[self.start..];
        let Some((end, next)) = line_end(&pending[self.looked..]) else {
            self.looked = pending.len();
            return None;
        };
        Some((self.looked + end, self.looked + next))
    }

    fn use_up(&mut self, length: usize) {
        self.after_return = self.ends_with_return(length);
        self.start += length;
        (self.line, self.looked) = (0, 0);
    }

    /// Whether a line that ends there, behind `start`, ends with a carriage return behind which nothing has come yet.
    fn ends_with_return(&self, end: usize) -> bool {
        self.start + end == self.bytes.len() && self.bytes.last() == Some(&b'\r')
    }

    /// The command with its data; if they have not come, it waits for them.
    fn with_body(&mut self, call: Call) -> Option<Command> {
        let data = match &call.body {
            Body::Length(length) => self.data(*length),
            Body::Until(until) => self.lines_until(until),
        };
        if let Some(data) = data {
            return Some(call.with(data));
        }
        if self.closed {
            let missing =
                if matches!(call.body, Body::Until(_)) { "Connection closed" } else { "Not enough data" };
            return Some(Command::Hopeless(Code::Syntax, missing.to_string()));
        }
        if self.bytes.len() - self.start > MAX_DATA {
            return Some(too_big());
        }
        self.waiting = Some(call);
        None
    }

    fn data(&mut self, length: usize) -> Option<Vec<u8>> {
        if self.bytes.len() - self.start < length {
            return None;
        }
        let rest = self.bytes.split_off(self.start + length);
        let mut data = std::mem::replace(&mut self.bytes, rest);
        data.drain(..self.start);
        (self.start, self.line, self.looked) = (0, 0, 0);
        Some(data)
    }

    fn lines_until(&mut self, until: &str) -> Option<Vec<u8>> {
        loop {
            let (end, next) = self.next_line_end()?;
            let (begin, ends_with_return) = (self.line, self.ends_with_return(next));
            let line = &self.bytes[self.start + begin..self.start + end];
            if line.trim_ascii_end() == &*text::encode(until) {
                let mut data = self.data(next)?;
                self.after_return = ends_with_return;
                data.truncate(begin);
                return Some(data);
            }
            if ends_with_return && !self.closed {
                self.looked = end;
                return None;
            }
            (self.line, self.looked) = (next, next);
        }
    }

    fn give_room_back(&mut self) {
        if self.bytes.capacity() - (self.bytes.len() - self.start) > SPARE && self.waiting.is_none() {
            self.bytes = self.bytes[self.start..].to_vec();
            self.start = 0;
        }
    }
}

/// Where the first line ends, and where the next one begins.
fn line_end(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.iter().position(|b| matches!(b, b'\r' | b'\n'))?;
    let is_pair = bytes[end..].starts_with(b"\r\n");
    Some((end, end + if is_pair { 2 } else { 1 }))
}

fn too_long() -> Command {
    Command::Hopeless(Code::Syntax, "Command line too long".to_string())
}

/// The answer to data that are longer than [`MAX_DATA`].
pub fn too_big() -> Command {
    Command::Hopeless(Code::DataTooBig, format!("Data too large, at most {MAX_DATA} bytes"))
}

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
        let sent = b"read c.count\r\nget  x.y  a  b \nWRITE a.b\rset a.b 1\n\nreaddata a 3\r\nx\nywritedata b 0\n\
                     readuntil c  the end \r\n1\n2\r\nthe end  \r\nwriteuntil d\n3\n\r\nCHECKREAD e\ncheckwrite f\n\
                     llrpc a#7 2\nzzllrpc b#8\nhelp\nquit";
        let expected = [
            read("c.count", ""),
            read("x.y", "a  b"),
            write("a.b", ""),
            write("a.b", "1"),
            read("a", "x\ny"),
            write("b", ""),
            read("c", "1\n2\r\n"),
            write("d", "3\n"),
            Command::Check { handler: "e".into(), write: false },
            Command::Check { handler: "f".into(), write: true },
            Command::Llrpc("a#7".into(), b"zz".to_vec()),
            Command::Llrpc("b#8".into(), Vec::new()),
            Command::Help,
            Command::Quit(true),
        ];
        for size in [1000, 7, 1] {
            assert_eq!(commands(sent, size), expected, "{size}");
        }
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
        let never = |text: &str| [Command::Hopeless(Code::Syntax, text.into())];
        assert_eq!(commands(b"writedata x 5\nabc", 2), never("Not enough data"));
        assert_eq!(commands(b"readuntil x end\nabc\nen", 2), never("Connection closed"));
    }

    #[test]
    fn buffers_are_bounded() {
        let is_hopeless = |bytes: &[u8], code| matches!(&commands(bytes, 1 << 16)[..], [.., Command::Hopeless(c, _)] if *c == code);
        assert!(is_hopeless(b"writedata x 99999999999\n", Code::DataTooBig));
        assert!(is_hopeless(&vec![b'x'; MAX_LINE + 1], Code::Syntax));
        assert!(is_hopeless(
            &[b"readuntil x\n", &b"y\n".repeat(MAX_DATA / 2 + 1)[..]].concat(),
            Code::DataTooBig
        ));
    }

    #[test]
    fn memory_is_what_was_sent_and_no_more() {
        let mut input = Input::default();
        input.extend(b"writedata x 8000000\n");
        assert_eq!((input.next(), input.memory() < 100), (None, true));
        for n in 1..=500 {
            input.extend(&[0; 16_000]);
            let most = n * 16_000;
            assert!(input.memory() <= most + most / 7 + 20_000, "{} for {most}", input.memory());
            assert_eq!(input.next().is_some(), n == 500);
        }
        assert!(input.memory() <= SPARE);
    }

    #[test]
    fn empty_lines_are_used_up_at_once() {
        let mut input = Input::default();
        for _ in 0..1000 {
            input.extend(&[b'\n'; 16_384]);
            assert_eq!((input.next(), input.memory() <= SPARE), (None, true));
        }
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
            text in "((read|writedata|readuntil|llrpc|quit|x) ?[a.]{0,2} ?[0-9]{0,2}(\n|\r|\r\n)){0,9}",
            size in 1usize..50,
        ) {
            prop_assert_eq!(commands(text.as_bytes(), size), commands(text.as_bytes(), 1 << 20));
        }
    }
}
