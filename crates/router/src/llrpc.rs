//! Low-level calls (Click's LLRPC): functions of an element that take and give a few bytes and are known by number.
//!
//! A number says what the call moves, in the form that Click gives it on the network: two bits of direction, the size in
//! bits 16 to 27, a bit for calls whose data hold no pointers, and the function itself. Programs outside make such calls
//! through a ControlSocket. What a handler can do should be a handler.

use crate::cx::Cx;
use crate::element::Element;
use crate::router::{ElementId, Router};

const GIVES: u32 = 0x4000_0000;
const TAKES: u32 = 0x8000_0000;
const CHANGES_NOTHING: u32 = 0x8000;
const FLAT: u32 = 0x4000;

/// A number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number(pub u32);

impl Number {
    /// A rate, by its index.
    pub const GET_RATE: Number = Number::flat(TAKES | GIVES | CHANGES_NOTHING, 1, 4);
    /// A count, by its index.
    pub const GET_COUNT: Number = Number::flat(TAKES | GIVES | CHANGES_NOTHING, 3, 4);
    /// The port that a switch is set to.
    pub const GET_SWITCH: Number = Number::flat(GIVES | CHANGES_NOTHING, 5, 4);
    /// Sets a switch.
    pub const SET_SWITCH: Number = Number::flat(TAKES, 6, 4);
    /// What became of an IP address.
    pub const MAP_IPADDRESS: Number = Number::flat(TAKES | GIVES, 7, 4);
    /// What a flow of TCP becomes: addresses and ports.
    pub const MAP_TCP: Number = Number::flat(TAKES | GIVES | CHANGES_NOTHING, 8, 12);
    /// The same for UDP.
    pub const MAP_UDP: Number = Number::flat(TAKES | GIVES | CHANGES_NOTHING, 9, 12);

    const fn flat(direction: u32, function: u32, size: u32) -> Number {
        Number(direction | FLAT | size << 16 | function)
    }

    /// How many bytes it moves.
    pub fn size(self) -> usize {
        (self.0 >> 16 & 0xfff) as usize
    }

    /// Whether it wants data.
    pub fn takes_data(self) -> bool {
        self.0 & TAKES != 0
    }

    /// Whether it returns data.
    pub fn gives_data(self) -> bool {
        self.0 & GIVES != 0
    }

    /// Whether it can be called from outside the program: what it moves is known, and holds no pointers.
    pub fn is_remote(self) -> bool {
        self.size() > 0 && (self.takes_data() || self.gives_data()) && self.0 & FLAT != 0
    }
}

/// Why a call failed, in the system's words for errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LlrpcError {
    /// The element has no such call, or the data make no sense to it.
    Invalid,
    /// There is nothing of the kind at present.
    TryAgain,
}

impl std::fmt::Display for LlrpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LlrpcError::Invalid => "Invalid argument",
            LlrpcError::TryAgain => "Resource temporarily unavailable",
        })
    }
}

/// A call that a class offers.
#[derive(Clone, Copy, Debug)]
pub struct Llrpc {
    /// Its number.
    pub number: Number,
    /// Carries it out. The bytes, as many as the number says, hold first what is taken, then what is given: numbers in the
    /// machine's order, addresses and ports in the network's.
    pub run: fn(&mut dyn Element, &mut [u8], &mut Cx<'_>) -> Result<(), LlrpcError>,
}

/// `llrpc!(Number::GET_COUNT, |e: &mut Counter, data, cx| ...)`: a call that a class offers.
#[macro_export]
macro_rules! llrpc {
    ($number:expr, |$e:tt : &mut $t:ty, $data:pat_param, $cx:pat_param| $body:expr) => {
        $crate::llrpc::Llrpc {
            number: $number,
            run: |element, $data, $cx| {
                let $e: &mut $t = $crate::element::downcast(element);
                $body
            },
        }
    };
}

/// A number of 32 bits among the data of a call.
pub fn word(data: &[u8]) -> Result<u32, LlrpcError> {
    data.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes)).ok_or(LlrpcError::Invalid)
}

/// Gives a number of 32 bits back.
pub fn set_word(data: &mut [u8], value: u32) -> Result<(), LlrpcError> {
    *data.first_chunk_mut().ok_or(LlrpcError::Invalid)? = value.to_ne_bytes();
    Ok(())
}

impl Router {
    /// Calls a function of an element by number. `data` must have the size that the number says.
    ///
    /// # Errors
    /// If the element has no such function, is busy, or refuses.
    pub fn llrpc(&mut self, id: ElementId, number: Number, data: &mut [u8]) -> Result<(), LlrpcError> {
        let offered = self.info(id).class.llrpcs.iter().find(|call| call.number == number);
        let run = offered.filter(|_| data.len() == number.size()).ok_or(LlrpcError::Invalid)?.run;
        let result = self.call(id, |element, cx| run(element, data, cx));
        self.recheck_segments(id);
        self.deliver();
        result.unwrap_or(Err(LlrpcError::TryAgain))
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn numbers_are_those_of_the_protocol() {
        let hex = |n: Number| format!("{:x}", n.0);
        assert_eq!(hex(Number::GET_RATE), "c004c001");
        assert_eq!(hex(Number::GET_SWITCH), "4004c005");
        assert_eq!(hex(Number::SET_SWITCH), "80044006");
        assert_eq!(hex(Number::MAP_UDP), "c00cc009");
        assert!(Number::GET_COUNT.is_remote() && !Number(0x2000_8002).is_remote() && !Number(7).is_remote());
    }
}
