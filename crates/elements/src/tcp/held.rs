//! Text that was read and could not be written yet.

/// Bytes that wait, in order. Takes no memory while none do.
#[derive(Debug, Default)]
pub struct Held {
    bytes: Vec<u8>,
    at: usize,
}

impl Held {
    /// Whether none wait.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Those that wait.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Adds some at the end.
    pub fn keep(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Forgets the first `n`.
    pub fn took(&mut self, n: usize) {
        self.at += n;
        if self.at >= self.bytes.len() {
            *self = Held::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_keeps_its_order() {
        let mut held = Held::default();
        held.keep(b"abc");
        held.took(1);
        held.keep(b"d");
        assert_eq!(held.rest(), b"bcd");
        held.took(3);
        assert!(held.is_empty() && held.rest().is_empty());
    }
}
