//! Two streams joined: what one end sends the other gets, in both directions. An end of one direction is carried over when
//! all before it is; an error of one end breaks the other off. Nothing is read that the other end cannot take.

use super::super::held::Held;
use super::super::seat::Seat;
use super::ends::End;
use clickwork_prolac_tcp::Error;
use clickwork_router::Ready;

/// Bytes in each direction before others have their turn.
const BUDGET: usize = 65_536;

/// The seats of the two sides in their stacks; none for a side of the host.
pub type Seats = [Option<Seat>; 2];

/// What a pair wants next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// A turn when something happens.
    Wait,
    /// Another turn soon.
    Again,
    /// The end: both directions have ended.
    Done,
}

/// Two ends joined. The first was accepted, the second is connected for it.
#[derive(Debug)]
pub struct Pair {
    /// The ends.
    pub ends: [End; 2],
    /// The second end is there.
    pub connected: bool,
    /// Which connections are no more: what they have brought can still be read.
    pub closed: [bool; 2],
    /// It waits for its turn.
    pub queued: bool,
    ways: [Way; 2],
}

/// One direction.
#[derive(Debug, Default)]
struct Way {
    held: Held,
    /// All has been read.
    ended: bool,
    /// And that was passed on.
    shut: bool,
}

impl Pair {
    /// A pair whose second end is being connected.
    pub fn new(first: End, second: End) -> Pair {
        Pair {
            ends: [first, second],
            connected: false,
            closed: [false; 2],
            queued: false,
            ways: Default::default(),
        }
    }

    /// Moves what can be moved, and counts it in `moved`, for each direction.
    ///
    /// # Errors
    /// Why one end is of no use any more.
    pub fn turn(
        &mut self,
        seats: &Seats,
        now: u64,
        buffer: &mut [u8],
        moved: &mut [u64; 2],
    ) -> Result<Next, Error> {
        if !self.connected {
            self.connected = self.ends[1].is_connected()?;
        }
        let mut more = false;
        if self.connected {
            for (from, moved) in moved.iter_mut().enumerate() {
                more |= self.carry(from, seats, now, buffer, moved)?;
            }
        }
        match (self.ways.iter().all(|way| way.shut), more) {
            (true, _) => Ok(Next::Done),
            (false, true) => Ok(Next::Again),
            (false, false) => match (0..2).find(|end| self.is_broken(*end)) {
                Some(end) => Err(self.ends[end].failure(seats[end].as_ref())),
                None => Ok(Next::Wait),
            },
        }
    }

    /// Whether an end is no more, though something was still to come from there or to go there.
    fn is_broken(&self, end: usize) -> bool {
        self.closed[end] && !(self.ways[end].ended && self.ways[1 - end].shut)
    }

    /// Moves what can be moved from one end to the other. Whether there may be more.
    fn carry(
        &mut self,
        from: usize,
        seats: &Seats,
        now: u64,
        buffer: &mut [u8],
        moved: &mut u64,
    ) -> Result<bool, Error> {
        let (way, to) = (&mut self.ways[from], 1 - from);
        let write = |data: &[u8], ends: &[End; 2]| ends[to].write(seats[to].as_ref(), now, data);
        let mut budget = BUDGET;
        loop {
            if !way.held.is_empty() {
                let n = write(way.held.rest(), &self.ends)?;
                *moved += n as u64;
                way.held.took(n);
            }
            if !way.held.is_empty() || way.shut {
                return Ok(false);
            }
            if way.ended {
                way.shut = true;
                self.ends[to].shutdown(seats[to].as_ref(), now)?;
                return Ok(false);
            }
            if budget == 0 {
                return Ok(true);
            }
            match self.ends[from].read(seats[from].as_ref(), now, buffer)? {
                None => return Ok(false),
                Some(0) => way.ended = true,
                Some(n) => {
                    budget = budget.saturating_sub(n);
                    let taken = write(&buffer[..n], &self.ends)?;
                    *moved += taken as u64;
                    way.held.keep(&buffer[taken..n]);
                }
            }
        }
    }

    /// What an end of the host is to be watched for.
    pub fn interest(&self, end: usize) -> Ready {
        let (out, back) = (&self.ways[end], &self.ways[1 - end]);
        if end == 1 && !self.connected {
            return Ready { read: false, write: true };
        }
        let read = self.connected && !out.ended && out.held.is_empty();
        Ready { read, write: !back.held.is_empty() }
    }
}
