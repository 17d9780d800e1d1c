//! Fenced blocks of a Markdown text.

use std::collections::BTreeMap;
use std::ops::Range;

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    /// The first word of the info string.
    pub language: String,
    /// The other words.
    pub marks: Vec<String>,
    /// What stands inside.
    pub text: String,
    /// Where it stands in the document, without the fences.
    pub range: Range<usize>,
    /// The line of the opening fence.
    pub line: usize,
}

impl Block {
    pub fn has(&self, mark: &str) -> bool {
        self.marks.iter().any(|m| m == mark)
    }

    /// The name in `file=NAME`.
    pub fn file(&self) -> Option<&str> {
        self.marks.iter().find_map(|m| m.strip_prefix("file="))
    }
}

/// All blocks in order.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Vec<String>, usize, usize)> = None;
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let fence = line.trim_end().strip_prefix("```");
        match (fence, open.take()) {
            (Some(info), None) => {
                let words = info.split(',').map(|w| w.trim().to_string()).collect();
                open = Some((words, at + line.len(), index + 1));
            }
            (Some(_), Some((mut words, start, first))) => {
                let language = words.remove(0);
                let range = start..at;
                blocks.push(Block {
                    language,
                    marks: words,
                    text: text[start..at].into(),
                    range,
                    line: first,
                });
            }
            (None, still) => open = still,
        }
        at += line.len();
    }
    blocks
}

/// The document with new texts in some blocks, named by their numbers.
pub fn replace(text: &str, blocks: &[Block], texts: &BTreeMap<usize, String>) -> String {
    let mut result = String::new();
    let mut at = 0;
    for (index, new) in texts {
        let range = &blocks[*index].range;
        result.push_str(&text[at..range.start]);
        result.push_str(new.trim_end());
        result.push('\n');
        at = range.end;
    }
    result.push_str(&text[at..]);
    result
}
