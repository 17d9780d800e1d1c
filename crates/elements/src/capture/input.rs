//! A stream of bytes to be parsed: a file, standard input or a test's bytes, uncompressed on the way.
//!
//! A pipe whose writer takes its time would stop all packets. So while a router runs, reading fails with
//! [`ErrorKind::WouldBlock`] instead; the bytes read so far stay, and parsers begin the record again when the descriptor
//! is readable ([`Input::waits_for`]).
//!
//! Parsers ask that some number of bytes be present ([`Input::require`]), look at them in place, and consume them.
//! One buffer is used again and again; it grows only to what a parser asks for, so the parser bounds memory.
//! This module knows nothing of capture formats.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// The pipe that bytes come from, if it is one.
    pipe: Option<Pipe>,
}

/// A pipe, terminal or the like.
struct Pipe {
    fd: OwnedFd,
    /// Whether reading fails if nothing is there.
    impatient: Arc<AtomicBool>,
}

/// The end of a pipe that bytes are read from.
struct PipeEnd {
    file: File,
    impatient: Arc<AtomicBool>,
}

impl Read for PipeEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.impatient.load(Ordering::Relaxed) && !is_readable(self.file.as_fd()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.file.read(buffer)
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
    /// Opens the file called [`name`](text), or standard input if it is `-`. Compressed data are recognised by their first bytes.
    pub fn open(name: &str) -> io::Result<Input> {
        if name == "-" {
            return Input::pipe(rustix::stdio::stdin().try_clone_to_owned()?.into())?.uncompressed();
        }
        let file = File::open(text::to_path(name))?;
        match file.metadata()?.is_file() {
            true => Input::new(Source::File(file)),
            false => Input::pipe(file)?,
        }
        .uncompressed()
    }

    fn pipe(file: File) -> io::Result<Input> {
        let impatient = Arc::new(AtomicBool::new(false));
        let fd = file.as_fd().try_clone_to_owned()?;
        let end = PipeEnd { file, impatient: Arc::clone(&impatient) };
        Ok(Input { pipe: Some(Pipe { fd, impatient }), ..Input::new(Source::Stream(Box::new(end))) })
    }

    /// Sets whether reading waits for bytes. It does at first.
    pub fn set_patient(&mut self, patient: bool) {
        if let Some(pipe) = &self.pipe {
            pipe.impatient.store(!patient, Ordering::Relaxed);
        }
    }

    /// What to wait for when reading would block.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(|pipe| pipe.fd.as_fd())
    }

    /// Reads from any stream, compressed or not.
    pub fn from_stream(stream: impl Read + Send + 'static) -> io::Result<Input> {
        Input::new(Source::Stream(Box::new(stream))).uncompressed()
    }

    fn new(source: Source) -> Input {
        Input { source, buffer: Vec::new(), start: 0, end: 0, offset: 0, ended: None, pipe: None }
    }

    /// Puts a decompressor before the source if its data are gzip.
    fn uncompressed(mut self) -> io::Result<Input> {
        self.require(4)?;
        let first = self.available();
        if first.starts_with(&GZIP_MAGIC) {
            let head = io::Cursor::new(first.to_vec());
            let decoder = MultiGzDecoder::new(head.chain(self.source));
            return Ok(Input { pipe: self.pipe, ..Input::new(Source::Stream(Box::new(decoder))) });
        }
        match other_compression(first) {
            Some(message) => Err(io::Error::new(ErrorKind::Unsupported, message)),
            None => Ok(self),
        }
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
