//! The text of the character generator protocol, RFC 864: lines of 72 of the 95 printing characters of ASCII, each
//! beginning one character further. Any part of it can be made or checked, given how far it is from the beginning.

/// Printing characters, from the space on.
const CHARACTERS: usize = 95;
/// Characters of a line.
const WIDTH: usize = 72;
/// Bytes of a line, with its end.
const LINE: usize = WIDTH + 2;
/// After so many bytes all begins anew.
const PERIOD: usize = CHARACTERS * LINE;
/// The longest piece that [`piece`] gives.
pub const PIECE: usize = 16_384;

static TEXT: [u8; PERIOD + PIECE] = text();

const fn text() -> [u8; PERIOD + PIECE] {
    let mut text = [0; PERIOD + PIECE];
    let mut at = 0;
    while at < text.len() {
        text[at] = match at % LINE {
            WIDTH => b'\r',
            column if column > WIDTH => b'\n',
            column => b' ' + ((at / LINE + column) % CHARACTERS) as u8,
        };
        at += 1;
    }
    text
}

/// The text from `offset` on: `length` bytes, at most [`PIECE`].
pub fn piece(offset: u64, length: usize) -> &'static [u8] {
    let begin = (offset % PERIOD as u64) as usize;
    &TEXT[begin..][..length.min(PIECE)]
}

/// Whether `data` is the text from `offset` on.
pub fn is_at(offset: u64, data: &[u8]) -> bool {
    let mut offset = offset;
    data.chunks(PIECE).all(|chunk| {
        let is_right = chunk == piece(offset, chunk.len());
        offset += chunk.len() as u64;
        is_right
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_those_of_the_rfc() {
        let lines = piece(0, 2 * LINE);
        assert!(lines.starts_with(b" !\"#$%&'()*+,-./0123456789:;<=>?@ABC"));
        assert!(lines[..LINE].ends_with(b"_`abcdefg\r\n"));
        assert!(lines[LINE..].starts_with(b"!\"#$%") && lines.ends_with(b"abcdefgh\r\n"));
    }

    #[test]
    fn any_part_is_known_by_its_place() {
        let all: Vec<u8> = (0..10).flat_map(|n| piece(n * 10_000, 10_000).to_vec()).collect();
        assert!(is_at(0, &all) && is_at(7_030, &all[7_030..]) && is_at(12_345, &all[12_345..]));
        assert!(is_at(7_030 * 1_000_000_000, &all));
        let mut wrong = all;
        wrong[99_999] ^= 1;
        assert!(!is_at(0, &wrong) && is_at(0, &wrong[..99_999]));
    }
}
