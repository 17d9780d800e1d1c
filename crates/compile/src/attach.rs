//! Things fastened to the end of a program's file: `clickwork build` makes a router by attaching its configuration and
//! its code to a copy of the program.
//!
//! The file ends with a table: for each part its length, then the number of parts and a mark. The system does not mind
//! what follows a program in its file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// What the file of a program with attached parts ends with.
const MARK: [u8; 16] = *b"clickwork-parts\n";
/// The most parts there can be: a damaged file is found out early.
const MOST_PARTS: u64 = 16;

/// A program with parts attached; those that it has already are left out.
///
/// # Errors
/// If the program cannot be read.
pub fn attach(program: &mut File, parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    let (length, _) = end_and_parts(program)?;
    let mut bytes = vec![0; length as usize];
    program.seek(SeekFrom::Start(0))?;
    program.read_exact(&mut bytes)?;
    parts.iter().for_each(|part| bytes.extend(*part));
    parts.iter().for_each(|part| bytes.extend((part.len() as u64).to_le_bytes()));
    bytes.extend((parts.len() as u64).to_le_bytes());
    bytes.extend(MARK);
    Ok(bytes)
}

/// The parts attached to a program; none if nothing is attached.
///
/// # Errors
/// If it cannot be read.
pub fn attached(program: &mut File) -> io::Result<Vec<Vec<u8>>> {
    let (mut at, lengths) = end_and_parts(program)?;
    let mut parts = Vec::new();
    for length in lengths {
        let mut part = vec![0; length as usize];
        program.seek(SeekFrom::Start(at))?;
        program.read_exact(&mut part)?;
        parts.push(part);
        at += length;
    }
    Ok(parts)
}

/// Where the program itself ends, and how long the parts are.
fn end_and_parts(program: &mut File) -> io::Result<(u64, Vec<u64>)> {
    let size = program.seek(SeekFrom::End(0))?;
    let none = (size, Vec::new());
    let Some(tail) = size.checked_sub(24) else { return Ok(none) };
    let mut end = [0; 24];
    program.seek(SeekFrom::Start(tail))?;
    program.read_exact(&mut end)?;
    let count = u64::from_le_bytes(*end.first_chunk().unwrap_or(&[0; 8]));
    if end[8..] != MARK || count > MOST_PARTS {
        return Ok(none);
    }
    let Some(table) = tail.checked_sub(8 * count) else { return Ok(none) };
    program.seek(SeekFrom::Start(table))?;
    let mut lengths = Vec::new();
    for _ in 0..count {
        let mut length = [0; 8];
        program.read_exact(&mut length)?;
        lengths.push(u64::from_le_bytes(length));
    }
    let total = lengths.iter().try_fold(0u64, |sum, &length| sum.checked_add(length));
    let start = total.and_then(|total| table.checked_sub(total));
    Ok(start.map_or(none, |start| (start, lengths)))
}
