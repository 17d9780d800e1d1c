//! Bytes in pieces, some of which others hold, too: what is long and seldom changes is not copied for each reader, since
//! packets wait meanwhile.

use crate::handler::Value;
use std::ops::Range;
use std::sync::Arc;

/// Shorter pieces are copied, so that there are not many.
const SHORT: usize = 4096;

/// A piece: bytes of its own, or a part of what is shared.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Bytes that nobody else has.
    Own(Vec<u8>),
    /// A part of a text.
    Shared(Arc<[u8]>, Range<usize>),
}

impl Piece {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Piece::Own(bytes) => bytes,
            Piece::Shared(text, range) => &text[range.clone()],
        }
    }

    /// The bytes of memory that it takes, or keeps from being freed.
    pub fn memory(&self) -> usize {
        match self {
            Piece::Own(bytes) => bytes.capacity(),
            Piece::Shared(_, range) => range.len(),
        }
    }
}

/// Bytes in pieces.
#[derive(Clone, Debug, Default)]
pub struct Pieces(Vec<Piece>);

impl Pieces {
    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|piece| piece.bytes().len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| piece.bytes().is_empty())
    }

    /// How many of them were made for these pieces alone.
    pub fn own(&self) -> usize {
        let own = |piece: &Piece| if let Piece::Own(bytes) = piece { bytes.len() } else { 0 };
        self.0.iter().map(own).sum()
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            Some(Piece::Own(last)) => last.extend_from_slice(bytes),
            _ => self.0.push(Piece::Own(bytes.to_vec())),
        }
    }

    /// Adds a part of a text.
    pub fn share(&mut self, text: &Arc<[u8]>, range: Range<usize>) {
        match range.len() {
            0..SHORT => self.push(&text[range]),
            _ => self.0.push(Piece::Shared(Arc::clone(text), range)),
        }
    }

    /// Adds other pieces.
    pub fn append(&mut self, other: Pieces) {
        other.0.into_iter().for_each(|piece| match piece {
            Piece::Own(bytes) if bytes.len() < SHORT => self.push(&bytes),
            long => self.0.push(long),
        });
    }

    /// All in one.
    pub fn to_vec(&self) -> Vec<u8> {
        let all: Vec<&[u8]> = self.0.iter().map(Piece::bytes).collect();
        all.concat()
    }
}

impl IntoIterator for Pieces {
    type Item = Piece;
    type IntoIter = std::vec::IntoIter<Piece>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<&Arc<[u8]>> for Pieces {
    fn from(text: &Arc<[u8]>) -> Pieces {
        let mut pieces = Pieces::default();
        pieces.share(text, 0..text.len());
        pieces
    }
}

impl From<Value> for Pieces {
    fn from(value: Value) -> Pieces {
        Pieces(vec![Piece::Own(value.0)])
    }
}

impl From<String> for Pieces {
    fn from(text: String) -> Pieces {
        Pieces::from(Value::from(text))
    }
}

impl From<&str> for Pieces {
    fn from(text: &str) -> Pieces {
        Pieces::from(Value::from(text))
    }
}

impl From<Pieces> for Value {
    fn from(pieces: Pieces) -> Value {
        let mut all = pieces.0;
        match (all.pop(), all.is_empty()) {
            (Some(Piece::Own(bytes)), true) => Value(bytes),
            (last, _) => {
                all.extend(last);
                Value(Pieces(all).to_vec())
            }
        }
    }
}
