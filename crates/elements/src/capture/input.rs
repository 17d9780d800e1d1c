//! A stream of bytes to be parsed: a file, standard input or a test's bytes, uncompressed on the way.
//!
//! A pipe whose writer takes its time would stop all packets. So while a router runs ([`Patience::Never`]), a named pipe is
//! opened before it has a writer, and reading fails with [`ErrorKind::WouldBlock`] instead of waiting; the bytes read so far
//! stay, and parsers begin the record again when the descriptor is readable ([`Input::waits_for`]). Nothing is read of it
//! before the first is asked for, since bytes read from a pipe are lost to whoever reads it until then.
//!
//! Parsers ask that some number of bytes be present ([`Input::require`]), look at them in place, and consume them.
//! One buffer is used again and again; it grows only to what a parser asks for, so the parser bounds memory.
//! This module knows nothing of capture formats.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use clickwork_router::Cx;
use clickwork_router::outlet::is_readable;
use clickwork_source::text;
use flate2::read::MultiGzDecoder;

/// How much is asked of the file at once, at least.
const CHUNK: usize = 64 * 1024;

/// First bytes of gzip data (RFC 1952 §2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A buffered input.
pub struct Input {
    source: Source,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the (uncompressed) input of `buffer[start]`.
    offset: u64,
    /// Why no more bytes come, if so: the end, or a failure reported once the bytes before it are used up.
    ended: Option<End>,
    /// The pipe, terminal or the like that bytes come from without being waited for, if it is one.
    pipe: Option<OwnedFd>,
    /// Whether the first bytes have been looked at for compression.
    is_recognised: bool,
}

/// Whether bytes are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Opening waits for the writer, and reading for bytes: nobody is kept waiting.
    Always,
    /// Neither waits.
    Never,
}

impl Patience {
    /// That of an element: in simulated time nobody is kept waiting.
    pub fn of(cx: &Cx<'_>) -> Patience {
        if cx.router().clock().is_simulated() { Patience::Always } else { Patience::Never }
    }
}

/// The end of a pipe that bytes are read from.
struct PipeEnd(File);

impl Read for PipeEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !is_readable(self.0.as_fd()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.0.read(buffer)
    }
}

enum Source {
    File(File),
    Stream(Box<dyn Read + Send>),
}

enum End {
    Regular,
    Failed(io::Error),
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(buffer),
            Source::Stream(stream) => stream.read(buffer),
        }
    }
}

impl Input {
    /// Opens the file called [`name`](text), or standard input if it is `-`. Compressed data are recognised by their first
    /// bytes; of what may keep us waiting, when it is read.
    pub fn open(name: &str, patience: Patience) -> io::Result<Input> {
        let is_stdin = name == "-";
        let file = match (is_stdin, patience) {
            (true, _) => rustix::stdio::stdin().try_clone_to_owned()?.into(),
            (false, Patience::Always) => File::open(text::to_path(name))?,
            (false, Patience::Never) => open_at_once(name)?,
        };
        if !is_stdin && file.metadata()?.is_file() {
            return Input::new(Source::File(file)).recognised();
        }
        match patience {
            Patience::Always => Input::new(Source::Stream(Box::new(file))).recognised(),
            Patience::Never => {
                let pipe = Some(file.as_fd().try_clone_to_owned()?);
                Ok(Input { pipe, ..Input::new(Source::Stream(Box::new(PipeEnd(file)))) })
            }
        }
    }

    /// What to wait for when reading would block.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads from any stream, compressed or not.
    pub fn from_stream(stream: impl Read + Send + 'static) -> io::Result<Input> {
        Input::new(Source::Stream(Box::new(stream))).recognised()
    }

    fn new(source: Source) -> Input {
        Input {
            source,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            ended: None,
            pipe: None,
            is_recognised: false,
        }
    }

    fn recognised(mut self) -> io::Result<Input> {
        self.recognise()?;
        Ok(self)
    }

    /// Puts a decompressor before the source if its data are gzip.
    fn recognise(&mut self) -> io::Result<()> {
        self.fill(4)?;
        self.is_recognised = true;
        let first = self.available();
        if first.starts_with(&GZIP_MAGIC) {
            let head = io::Cursor::new(first.to_vec());
            let source = std::mem::replace(&mut self.source, Source::Stream(Box::new(io::empty())));
            self.source = Source::Stream(Box::new(MultiGzDecoder::new(head.chain(source))));
            (self.start, self.end, self.ended) = (0, 0, None);
        } else if let Some(message) = other_compression(first) {
            self.ended = Some(End::Failed(io::Error::new(ErrorKind::Unsupported, message.clone())));
            (self.start, self.end) = (0, 0);
            return Err(io::Error::new(ErrorKind::Unsupported, message));
        }
        Ok(())
    }

    /// Offset of the next byte in the uncompressed input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Size in bytes, if the input is a plain file.
    pub fn size(&self) -> Option<u64> {
        match &self.source {
            Source::File(file) => {
                file.metadata().ok().filter(|facts| facts.is_file()).map(|facts| facts.len())
            }
            Source::Stream(_) => None,
        }
    }

    /// The bytes present; at least as many as the last successful [`Input::require`] asked for, less those consumed.
    pub fn available(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Makes at least `count` bytes available. `Ok(false)`: the input ends before.
    pub fn require(&mut self, count: usize) -> io::Result<bool> {
        if !self.is_recognised {
            self.recognise()?;
        }
        self.fill(count)
    }

    fn fill(&mut self, count: usize) -> io::Result<bool> {
        while self.end - self.start < count {
            match &mut self.ended {
                None => self.read_more(count)?,
                Some(End::Regular) => return Ok(false),
                Some(End::Failed(error)) => return Err(io::Error::new(error.kind(), error.to_string())),
            }
        }
        Ok(true)
    }

    /// Length of the next line with its end (LF, CR or both), which is then present; 0 at the end of the input.
    ///
    /// # Errors
    /// If it cannot be read, or there is no end of line in more than `max` bytes.
    pub fn line_length(&mut self, max: usize) -> io::Result<usize> {
        let mut searched = 0;
        loop {
            let more = self.require(searched + 1)?;
            let present = self.available();
            let end = present[searched..]
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'))
                .map(|at| searched + at);
            searched = present.len();
            match end {
                Some(end) if present[end] == b'\n' => return Ok(end + 1),
                Some(end) => {
                    let is_pair = self.require(end + 2)? && self.available()[end + 1] == b'\n';
                    return Ok(end + if is_pair { 2 } else { 1 });
                }
                None if !more => return Ok(searched),
                None if searched > max => {
                    return Err(io::Error::new(
                        ErrorKind::InvalidData,
                        format!("a line of more than {max} bytes"),
                    ));
                }
                None => {}
            }
        }
    }

    /// Drops the next `count` bytes, which must be available.
    pub fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Drops the next `count` bytes without holding them; `count` becomes 0, or what is left if this fails. `Ok(false)`: the
    /// input ends before.
    pub fn skip(&mut self, count: &mut u64) -> io::Result<bool> {
        loop {
            let now = (*count).min((self.end - self.start) as u64);
            self.consume(now as usize);
            *count -= now;
            if *count == 0 {
                return Ok(true);
            }
            if !self.require(1)? {
                return Ok(false);
            }
        }
    }

    /// Continues at `offset`. Compressed data and pipes can only go forward.
    pub fn seek(&mut self, offset: u64) -> io::Result<()> {
        if offset >= self.offset && offset - self.offset <= (self.end - self.start) as u64 {
            self.consume((offset - self.offset) as usize);
            return Ok(());
        }
        if let Some(size) = self.size().filter(|size| offset > *size) {
            let message = format!("offset {offset} is behind the end of the file, which has {size} bytes");
            return Err(io::Error::new(ErrorKind::InvalidInput, message));
        }
        if let Source::File(file) = &mut self.source
            && file.seek(SeekFrom::Start(offset)).is_ok()
        {
            (self.start, self.end, self.offset, self.ended) = (0, 0, offset, None);
            return Ok(());
        }
        self.seek_forward(offset)
    }

    fn seek_forward(&mut self, offset: u64) -> io::Result<()> {
        if offset < self.offset {
            let message = "a pipe or compressed file cannot be read backwards";
            return Err(io::Error::new(ErrorKind::Unsupported, message));
        }
        self.skip(&mut (offset - self.offset)).map(|_| ())
    }

    /// One read of at least [`CHUNK`] bytes, with room made for `count` bytes in a row.
    fn read_more(&mut self, count: usize) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let room = count.max(self.end + CHUNK);
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        match self.source.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.ended = Some(End::Regular),
            Ok(got) => self.end += got,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(error),
            Err(error) => self.ended = Some(End::Failed(error)),
        }
        Ok(())
    }
}

/// Opens a file to be read. A named pipe need not have a writer yet.
fn open_at_once(name: &str) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    OpenOptions::new().read(true).custom_flags(flags).open(text::to_path(name))
}

/// What to say about compressed data that we do not uncompress.
fn other_compression(first: &[u8]) -> Option<String> {
    let (name, program) = match first {
        [b'B', b'Z', b'h', ..] => ("bzip2", "bzcat"),
        [0xfd, b'7', b'z', b'X', ..] => ("xz", "xzcat"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ("zstd", "zstdcat"),
        _ => return None,
    };
    Some(format!(
        "{name}-compressed: uncompress it first, for instance with `{program} FILE |` and the file name '-'"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn sample() -> Vec<u8> {
        (0..300_000u32).map(|i| (i / 7) as u8).collect()
    }

    fn read_all(mut input: Input) -> (Vec<u8>, io::Result<bool>) {
        let mut data = Vec::new();
        loop {
            match input.require(1) {
                Ok(true) => {
                    data.extend_from_slice(input.available());
                    input.consume(input.available().len());
                }
                end => return (data, end),
            }
        }
    }

    #[test]
    fn plain_and_gzip_streams_read_alike() {
        let data = sample();
        for stored in [data.clone(), gzip(&data), [gzip(&data[..1000]), gzip(&data[1000..])].concat()] {
            let (got, end) = read_all(Input::from_stream(io::Cursor::new(stored)).unwrap());
            assert!(got == data);
            assert!(matches!(end, Ok(false)));
        }
    }

    #[test]
    fn damaged_gzip_delivers_what_came_before() {
        let data = sample();
        let stored = gzip(&data);
        let (got, end) =
            read_all(Input::from_stream(io::Cursor::new(stored[..stored.len() / 2].to_vec())).unwrap());
        assert!(!got.is_empty() && data.starts_with(&got));
        assert!(end.is_err());
    }

    #[test]
    fn other_compressions_are_named() {
        let error = Input::from_stream(&b"BZh91AY"[..]).err().unwrap();
        assert!(error.to_string().contains("bzcat"), "{error}");
    }

    #[test]
    fn skips_more_than_it_holds_and_never_goes_back_in_a_pipe() {
        let mut input = Input::from_stream(io::Cursor::new(sample())).unwrap();
        assert!(input.skip(&mut 200_000).unwrap());
        assert_eq!(input.offset(), 200_000);
        assert!(input.require(1).unwrap());
        assert_eq!(input.available()[0], (200_000u32 / 7) as u8);
        assert!(input.seek(10).is_err());
        assert!(!input.skip(&mut 200_000).unwrap());
    }
}
