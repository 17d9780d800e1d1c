//! TCP options between bytes and the words of a script: `mss 1460`, `ws 7`, `sackOK`, `sack 1-101 201-301`, `ts 10 0`,
//! `cookie 0123`, `nop`, `eol`, and `raw 1e04ffff` for bytes as they are.

/// What the numbers in options count from.
#[derive(Clone, Copy, Default)]
pub struct Base {
    /// Blocks of selective acknowledgments: the initial sequence number of the data's sender.
    pub sack: u32,
    /// What `@` stands for.
    pub echo: u32,
}

/// The bytes of options, not padded.
pub fn encode(options: &[String], base: Base) -> Vec<u8> {
    options.iter().flat_map(|option| encode_one(option, base)).collect()
}

fn encode_one(option: &str, base: Base) -> Vec<u8> {
    let (name, rest) = option.split_once(' ').unwrap_or((option, ""));
    let content: Vec<u8> = match name {
        "nop" => return vec![1],
        "eol" => return vec![0],
        "raw" => return hex(rest),
        "mss" => rest.parse::<u16>().expect("mss").to_be_bytes().to_vec(),
        "ws" => vec![rest.parse().expect("ws")],
        "sackOK" => vec![],
        "sack" => rest.split_whitespace().flat_map(|block| sack_block(block, base.sack)).collect(),
        "ts" => rest.split_whitespace().flat_map(|value| timestamp(value, base.echo).to_be_bytes()).collect(),
        "cookie" => hex(rest),
        _ => panic!("option `{option}`"),
    };
    let kind = match name {
        "mss" => 2,
        "ws" => 3,
        "sackOK" => 4,
        "sack" => 5,
        "ts" => 8,
        _ => 34,
    };
    [vec![kind, content.len() as u8 + 2], content].concat()
}

/// Options in the words of scripts, without padding. What follows a length that cannot be is `garbage`.
pub fn decode(mut bytes: &[u8], base: Base) -> Vec<String> {
    let mut options = Vec::new();
    while let [kind, rest @ ..] = bytes {
        match kind {
            0 => break,
            1 => bytes = rest,
            _ => match rest.first().map(|&length| usize::from(length)) {
                Some(length) if length >= 2 && length <= bytes.len() => {
                    options.push(decode_one(*kind, &bytes[2..length], base));
                    bytes = &bytes[length..];
                }
                _ => {
                    options.push("garbage".into());
                    break;
                }
            },
        }
    }
    options
}

fn decode_one(kind: u8, content: &[u8], base: Base) -> String {
    let word = |at: usize| u32::from_be_bytes(content[at..at + 4].try_into().expect("four bytes"));
    match (kind, content.len()) {
        (2, 2) => format!("mss {}", u16::from_be_bytes([content[0], content[1]])),
        (3, 1) => format!("ws {}", content[0]),
        (4, 0) => "sackOK".into(),
        (5, length) if length > 0 && length % 8 == 0 => {
            let edge = |at| word(at).wrapping_sub(base.sack);
            let blocks = (0..content.len()).step_by(8).map(|at| format!(" {}-{}", edge(at), edge(at + 4)));
            format!("sack{}", blocks.collect::<String>())
        }
        (8, 8) => format!("ts {} {}", word(0), word(4)),
        (34, _) => format!("cookie {}", content.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            .trim_end()
            .into(),
        _ => format!("kind {kind}"),
    }
}

fn sack_block(block: &str, base: u32) -> Vec<u8> {
    let (left, right) = block.split_once('-').expect("LEFT-RIGHT");
    let edge = |text: &str| base.wrapping_add(text.parse::<u32>().expect("an edge")).to_be_bytes();
    [edge(left), edge(right)].concat()
}

fn timestamp(value: &str, echo: u32) -> u32 {
    if value == "@" { echo } else { value.parse().expect("a timestamp") }
}

fn hex(text: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("hex"), 16).expect("hex");
    text.as_bytes().chunks(2).map(byte).collect()
}
