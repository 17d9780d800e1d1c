//! Places: a file and a range of bytes in it.

/// One source file of a [`Sources`](crate::Sources).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) u32);

/// A range of bytes in one file: `start` inclusive, `end` exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file that holds the bytes.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// For things that stand in no file, such as a definition on the command line.
    pub const NONE: Span = Span { file: FileId(u32::MAX), start: 0, end: 0 };

    /// Bytes `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end: end.max(start) }
    }

    /// Whether this span stands in no file.
    pub fn is_none(self) -> bool {
        self.file == Span::NONE.file
    }

    /// The smallest span that covers both; `self` if the two are in different files.
    pub fn join(self, other: Span) -> Span {
        if self.is_none() {
            return other;
        }
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span at the start of this one.
    pub fn at_start(self) -> Span {
        Span { end: self.start, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_covers_both_and_ignores_nowhere() {
        let a = Span::new(FileId(0), 3, 5);
        let b = Span::new(FileId(0), 9, 12);
        assert_eq!(a.join(b), Span::new(FileId(0), 3, 12));
        assert_eq!(b.join(a), a.join(b));
        assert_eq!(Span::NONE.join(a), a);
        assert_eq!(a.join(Span::NONE), a);
    }
}
