//! Memory: blocks of bytes with addresses.
//!
//! Every variable, static field, string and temporary object is a block of its own, and between two blocks there is a gap,
//! so that a pointer that leaves its block is noticed. Static fields, strings and what the caller allocates stay for
//! ever; variables and temporaries lie on a stack.

use super::TrapKind;

/// Where what stays begins.
const PERMANENT: u64 = 0x1000_0000;
/// Where the stack begins.
const STACK: u64 = 0x4000_0000;
/// Both parts fit below 2^31, whatever the limits say.
const LARGEST: u64 = STACK - PERMANENT;
/// Blocks start at multiples of this, and the gap between two is at least as large.
const GRAIN: u64 = 16;
/// Addresses below are a null pointer plus the offset of a field.
const NULL_END: u64 = 0x1_0000;

/// All memory of a machine.
#[derive(Debug)]
pub struct Memory {
    permanent: Region,
    stack: Region,
    /// Bytes that both parts can have together.
    limit: u64,
}

/// Consecutive addresses with blocks in them.
#[derive(Debug)]
struct Region {
    base: u64,
    bytes: Vec<u8>,
    /// By offset.
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    start: u64,
    size: u64,
    writable: bool,
}

/// A height of the stack to return to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(usize);

impl Memory {
    pub(super) fn new(limit: u64) -> Self {
        Memory { permanent: Region::at(PERMANENT), stack: Region::at(STACK), limit: limit.min(LARGEST) }
    }

    /// A new block of zeros that stays; its address.
    pub fn allocate(&mut self, size: u64) -> Result<u64, TrapKind> {
        self.check_room(size)?;
        Ok(self.permanent.push(size))
    }

    /// A new block that cannot be written to.
    pub(super) fn constant(&mut self, bytes: &[u8]) -> Result<u64, TrapKind> {
        let address = self.allocate(bytes.len() as u64)?;
        self.write(address, bytes)?;
        self.permanent.blocks.iter_mut().last().into_iter().for_each(|block| block.writable = false);
        Ok(address)
    }

    /// A new block of zeros on the stack.
    pub(super) fn push(&mut self, size: u64) -> Result<u64, TrapKind> {
        self.check_room(size)?;
        Ok(self.stack.push(size))
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.stack.blocks.len())
    }

    /// Removes all blocks of the stack that are newer than the mark.
    pub(super) fn release(&mut self, mark: Mark) {
        self.stack.truncate(mark.0);
    }

    /// The bytes at an address.
    pub fn read(&self, address: u64, size: u64) -> Result<&[u8], TrapKind> {
        let region = if address >= STACK { &self.stack } else { &self.permanent };
        let (start, _) = region.find(address, size)?;
        Ok(&region.bytes[start..start + size as usize])
    }

    /// The bytes at an address, to change them.
    pub fn bytes_mut(&mut self, address: u64, size: u64) -> Result<&mut [u8], TrapKind> {
        let region = if address >= STACK { &mut self.stack } else { &mut self.permanent };
        let (start, writable) = region.find(address, size)?;
        if !writable {
            return Err(TrapKind::ReadOnly(address));
        }
        Ok(&mut region.bytes[start..start + size as usize])
    }

    /// Stores bytes at an address.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), TrapKind> {
        self.bytes_mut(address, bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    fn check_room(&self, size: u64) -> Result<(), TrapKind> {
        let used = self.permanent.end() + self.stack.end();
        let room = self.limit.checked_sub(used + 3 * GRAIN);
        if room.is_some_and(|room| size <= room) { Ok(()) } else { Err(TrapKind::OutOfMemory) }
    }
}

impl Region {
    fn at(base: u64) -> Self {
        Region { base, bytes: Vec::new(), blocks: Vec::new() }
    }

    /// Where the next block could start.
    fn end(&self) -> u64 {
        self.blocks.last().map_or(0, |last| (last.start + last.size + GRAIN).next_multiple_of(GRAIN))
    }

    fn push(&mut self, size: u64) -> u64 {
        let start = self.end();
        self.bytes.resize((start + size) as usize, 0);
        self.blocks.push(Block { start, size, writable: true });
        self.base + start
    }

    fn truncate(&mut self, count: usize) {
        self.blocks.truncate(count);
        self.bytes.truncate(self.end() as usize);
    }

    /// Where in `bytes` an address is, and whether it can be written to.
    fn find(&self, address: u64, size: u64) -> Result<(usize, bool), TrapKind> {
        if address < NULL_END {
            return Err(TrapKind::NullPointer);
        }
        let wild = TrapKind::WildPointer(address);
        let offset = address.checked_sub(self.base).ok_or(wild.clone())?;
        let after = self.blocks.partition_point(|block| block.start <= offset);
        let block = after.checked_sub(1).and_then(|i| self.blocks.get(i)).ok_or(wild.clone())?;
        let end = offset.checked_add(size).filter(|&end| end <= block.start + block.size);
        end.map(|_| (offset as usize, block.writable)).ok_or(wild)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_that_leaves_its_block_is_wild() {
        let mut memory = Memory::new(1 << 16);
        let [a, b] = [memory.push(4).unwrap(), memory.push(4).unwrap()];
        memory.write(b, &[1, 2, 3, 4]).unwrap();
        assert_eq!(memory.read(b + 1, 3), Ok(&[2, 3, 4][..]));
        assert_eq!(memory.read(a + 1, 4), Err(TrapKind::WildPointer(a + 1)));
        assert_eq!(memory.read(b, u64::MAX), Err(TrapKind::WildPointer(b)));
        assert_eq!(memory.read(u64::MAX, 1), Err(TrapKind::WildPointer(u64::MAX)));
        assert_eq!(memory.read(8, 1), Err(TrapKind::NullPointer));
    }

    #[test]
    fn released_blocks_are_gone_and_new_ones_are_zero() {
        let mut memory = Memory::new(1 << 16);
        let mark = memory.mark();
        let a = memory.push(4).unwrap();
        memory.write(a, &[7; 4]).unwrap();
        memory.release(mark);
        assert_eq!(memory.read(a, 1), Err(TrapKind::WildPointer(a)));
        assert_eq!(memory.push(4), Ok(a));
        assert_eq!(memory.read(a, 4), Ok(&[0; 4][..]));
    }

    #[test]
    fn there_is_a_limit_and_strings_are_constant() {
        let mut memory = Memory::new(1 << 10);
        assert_eq!(memory.allocate(1 << 10), Err(TrapKind::OutOfMemory));
        assert_eq!(memory.push(u64::MAX), Err(TrapKind::OutOfMemory));
        let text = memory.constant(b"ab\0").unwrap();
        assert_eq!(memory.write(text, b"x"), Err(TrapKind::ReadOnly(text)));
        let after = memory.allocate(1).unwrap();
        assert_eq!(memory.write(after, b"x"), Ok(()));
    }
}
