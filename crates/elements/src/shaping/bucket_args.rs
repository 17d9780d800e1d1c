//! The arguments RATE and burst size, which all token-bucket elements have in common, and the shapers' RATE.

use super::token_bucket::TokenBucket;
use crate::values::argument;
use clickwork_router::args::{ArgSpec, ArgType, Args, Bandwidth, Names, Rate, SecondsIn, unparse_bandwidth};

/// What a rate counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    /// Packets per second.
    Packets,
    /// Bytes per second.
    Bytes,
}

/// Tokens that must be there before a packet may go if bytes are counted: as many as the longest packet has bytes, so
/// that the bucket never runs short of what a packet costs.
pub(super) const BYTES_THRESHOLD: u32 = 131_072;
/// Burst duration unless told otherwise, in milliseconds.
const BURST_MS: u32 = 20;

/// Arguments of elements that count packets.
pub(super) const PACKET_ARGS: &[ArgSpec] = &[
    ArgSpec::required("RATE", ArgType::Rate, "packets per second"),
    ArgSpec::keyword("BURST_DURATION", ArgType::Seconds, "20ms", "burst size, as time at the rate"),
    ArgSpec::keyword("BURST_SIZE", ArgType::U32, "", "burst size in packets"),
];

/// Arguments of elements that count bytes.
pub(super) const BYTE_ARGS: &[ArgSpec] = &[
    ArgSpec::required("RATE", ArgType::Bandwidth, "bytes per second, or with a unit such as Mbps"),
    ArgSpec::keyword("BURST_DURATION", ArgType::Seconds, "20ms", "burst size, as time at the rate"),
    ArgSpec::keyword("BURST_BYTES", ArgType::U32, "", "burst size in bytes"),
];

impl Unit {
    /// Reads the argument RATE.
    pub fn rate_arg(self, args: &mut Args) -> Option<u32> {
        let rate = match self {
            Unit::Packets => args.get::<Rate>("RATE")?.0,
            Unit::Bytes => {
                let bandwidth: Bandwidth = args.get("RATE")?;
                if !bandwidth.has_unit {
                    args.warn("no units on bandwidth, assuming Bps");
                }
                bandwidth.bytes_per_second
            }
        };
        let rate = u32::try_from(rate);
        if rate.is_err() {
            args.error_in("RATE", TOO_FAST);
        }
        rate.ok()
    }

    /// Reads a rate written to a handler.
    pub fn parse(self, text: &str) -> Result<u32, String> {
        self.parse_with_unit(text).map(|(rate, _)| rate)
    }

    /// The same, with whether it has the unit that it ought to have.
    pub fn parse_with_unit(self, text: &str) -> Result<(u32, bool), String> {
        let names = Names::default();
        let (rate, has_unit) = match self {
            Unit::Packets => (argument::<Rate>("RATE", text, &names)?.0, true),
            Unit::Bytes => {
                let bandwidth: Bandwidth = argument("RATE", text, &names)?;
                (bandwidth.bytes_per_second, bandwidth.has_unit)
            }
        };
        Ok((u32::try_from(rate).map_err(|_| TOO_FAST.to_string())?, has_unit))
    }

    /// A rate as a handler gives it.
    pub fn show(self, rate: u32) -> String {
        match self {
            Unit::Packets => rate.to_string(),
            Unit::Bytes => unparse_bandwidth(rate.into()),
        }
    }

    /// Tokens that must be there before a packet may go.
    pub fn threshold(self) -> u32 {
        match self {
            Unit::Packets => 1,
            Unit::Bytes => BYTES_THRESHOLD,
        }
    }
}

const TOO_FAST: &str = "out of range, the greatest rate is 4294967295 per second";

/// A token bucket as its arguments describe it, which can be changed while running.
pub(super) struct ConfiguredBucket {
    /// The bucket.
    pub bucket: TokenBucket,
    /// What its tokens are.
    pub unit: Unit,
    /// The rate as it was given; that of the bucket may differ by fractions.
    rate: u32,
    /// The burst size, if it was given.
    burst: Option<Burst>,
}

#[derive(Clone, Copy)]
enum Burst {
    Milliseconds(u32),
    Tokens(u32),
}

impl ConfiguredBucket {
    /// One without tokens, before it is configured.
    pub fn new(unit: Unit) -> ConfiguredBucket {
        ConfiguredBucket { bucket: TokenBucket::new(0, 1), unit, rate: 0, burst: None }
    }

    /// Reads the arguments [`PACKET_ARGS`] or [`BYTE_ARGS`].
    pub fn configure(&mut self, args: &mut Args) {
        let rate = self.unit.rate_arg(args);
        let size_name = if self.unit == Unit::Bytes { "BURST_BYTES" } else { "BURST_SIZE" };
        let duration = args.get_with("BURST_DURATION", SecondsIn(3));
        let size = args.get::<u32>(size_name);
        if duration.is_some() && size.is_some() {
            args.error("cannot specify both BURST_DURATION and BURST_SIZE");
        }
        self.burst = size.map(Burst::Tokens).or(duration.map(Burst::Milliseconds));
        if let Some(rate) = rate {
            self.rate = rate;
            self.bucket = TokenBucket::new(rate, self.capacity(rate));
        }
    }

    fn capacity(&self, rate: u32) -> u32 {
        let tokens = match self.burst.unwrap_or(Burst::Milliseconds(BURST_MS)) {
            Burst::Tokens(n) => n,
            Burst::Milliseconds(ms) => {
                u32::try_from(u64::from(rate) * u64::from(ms) / 1000).unwrap_or(u32::MAX)
            }
        };
        match self.unit {
            Unit::Packets => tokens.max(1),
            Unit::Bytes => tokens.saturating_add(BYTES_THRESHOLD),
        }
    }

    /// Changes the rate while running.
    pub fn write_rate(&mut self, text: &str) -> Result<(), String> {
        let rate = self.unit.parse(text)?;
        self.bucket.set_rate(rate, self.capacity(rate));
        self.rate = rate;
        Ok(())
    }

    /// The rate as a handler gives it.
    pub fn rate(&self) -> String {
        self.unit.show(self.bucket.rate())
    }
}
