//! 802.11 frames for tests, as scapy builds them: `samples/frames.txt`, made by `samples/frames.py`.

/// The frame of that name.
pub fn frame(name: &str) -> Vec<u8> {
    let mut lines = include_str!("samples/frames.txt").lines().filter_map(|line| line.split_once(": "));
    let (_, digits) = lines.find(|(known, _)| *known == name).expect("a frame of frames.txt");
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}
