//! Numbers with units: lengths of time, points in time, bandwidths and packet rates.
//!
//! A unit may be preceded by a prefix (`ms`, `Mbps`) and by space. Times are exact nanoseconds.

use std::time::Duration;

use clickwork_packet::Timestamp;

use super::real::{Decimal, format_decimal, format_real10};
use super::{ArgParser, BadValue, FromArg, Names};

/// A unit: its name, its size as `factor` × 10^`power` of the base unit.
struct Unit(&'static str, u64, i64);

/// A prefix letter and its power of ten.
type Prefix = (char, i64);

const TIME_UNITS: [Unit; 8] = [
    Unit("s", 1, 0),
    Unit("sec", 1, 0),
    Unit("m", 60, 0),
    Unit("min", 60, 0),
    Unit("h", 3600, 0),
    Unit("hr", 3600, 0),
    Unit("d", 86400, 0),
    Unit("day", 86400, 0),
];
const TIME_PREFIXES: [Prefix; 3] = [('m', -3), ('u', -6), ('n', -9)];

// One bit is 125/1000 of a byte.
const BANDWIDTH_UNITS: [Unit; 5] =
    [Unit("baud", 125, -3), Unit("bps", 125, -3), Unit("b/s", 125, -3), Unit("Bps", 1, 0), Unit("B/s", 1, 0)];
const RATE_UNITS: [Unit; 2] = [Unit("pps", 1, 0), Unit("/s", 1, 0)];
const LARGE_PREFIXES: [Prefix; 4] = [('k', 3), ('K', 3), ('M', 6), ('G', 9)];

/// A number and the unit that followed it.
struct Quantity {
    number: Decimal,
    factor: u64,
    power: i64,
    has_unit: bool,
}

impl Quantity {
    fn parse(text: &str, units: &[Unit], prefixes: &[Prefix]) -> Option<Self> {
        let Some((unit, rest)) = units.iter().find_map(|unit| Some((unit, text.strip_suffix(unit.0)?)))
        else {
            return Some(Self { number: Decimal::parse(text)?, factor: 1, power: 0, has_unit: false });
        };
        let prefix = prefixes.iter().find_map(|(letter, power)| Some((rest.strip_suffix(*letter)?, *power)));
        let (rest, power) = prefix.unwrap_or((rest, 0));
        let number = Decimal::parse(rest.trim_end())?;
        Some(Self { number, factor: unit.1, power: unit.2 + power, has_unit: true })
    }

    /// The value in units of 10^-`digits` of the base unit, if it is at most `max`.
    fn in_units(&self, digits: u32, max: u64) -> Result<u64, BadValue> {
        let value = self.number.scaled(self.factor, self.power + i64::from(digits));
        let value = value.and_then(|value| u64::try_from(value).ok()).filter(|value| *value <= max);
        value.ok_or_else(|| "out of range".into())
    }

    fn require_unsigned(self) -> Result<Self, BadValue> {
        if self.number.negative { Err(BadValue::Mismatch) } else { Ok(self) }
    }
}

/// Lengths of time as `u32` in units of 10^-`.0` seconds: 0 reads seconds, 3 milliseconds, 6 microseconds.
pub struct SecondsIn(pub u32);

impl ArgParser for SecondsIn {
    type Value = u32;

    fn parse(&self, text: &str, _: &Names) -> Result<u32, BadValue> {
        let quantity = Quantity::parse(text, &TIME_UNITS, &TIME_PREFIXES).ok_or(BadValue::Mismatch)?;
        Ok(quantity.require_unsigned()?.in_units(self.0, u32::MAX.into())? as u32)
    }
}

/// A length of time: seconds unless a unit says otherwise, at most 584 years.
impl FromArg for Duration {
    fn from_arg(text: &str, _: &Names) -> Result<Self, BadValue> {
        let quantity = Quantity::parse(text, &TIME_UNITS, &TIME_PREFIXES).ok_or(BadValue::Mismatch)?;
        quantity.require_unsigned()?.in_units(9, u64::MAX).map(Duration::from_nanos)
    }
}

/// A point in time: seconds since the epoch, before it if negative. Units are allowed as for lengths of time.
impl FromArg for Timestamp {
    fn from_arg(text: &str, _: &Names) -> Result<Self, BadValue> {
        let quantity = Quantity::parse(text, &TIME_UNITS, &TIME_PREFIXES).ok_or(BadValue::Mismatch)?;
        let nanos = quantity.in_units(9, i64::MAX as u64)? as i64;
        Ok(Timestamp::from_nanos(if quantity.number.negative { -nanos } else { nanos }))
    }
}

/// A bandwidth. The base unit is the byte per second; `bps`, `b/s` and `baud` are bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bandwidth {
    /// Bytes per second.
    pub bytes_per_second: u64,
    /// Whether a unit was given. Without one, Click warns that it assumes bytes per second.
    pub has_unit: bool,
}

impl FromArg for Bandwidth {
    fn from_arg(text: &str, _: &Names) -> Result<Self, BadValue> {
        let quantity = Quantity::parse(text, &BANDWIDTH_UNITS, &LARGE_PREFIXES).ok_or(BadValue::Mismatch)?;
        let quantity = quantity.require_unsigned()?;
        let bytes_per_second = quantity.in_units(0, u64::MAX)?;
        Ok(Self { bytes_per_second, has_unit: quantity.has_unit || bytes_per_second == 0 })
    }
}

/// A rate in packets per second: an integer as in Click, or with `pps` or `/s` and a prefix (`1.5Mpps`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

impl FromArg for Rate {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        match Quantity::parse(text, &RATE_UNITS, &LARGE_PREFIXES) {
            Some(quantity) if quantity.has_unit => {
                quantity.require_unsigned()?.in_units(0, u64::MAX).map(Rate)
            }
            _ => u64::from_arg(text, names).map(Rate),
        }
    }
}

/// A length of time as Click prints it: `1.5s`, and below a second `20ms`, `7us` or `1ns` if that is a whole number.
pub fn format_seconds(time: Duration) -> String {
    let nanos = time.as_nanos();
    let small = [(1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let whole_small = |(size, _): &&(u128, &str)| nanos < size * 1000 && nanos.is_multiple_of(*size);
    match small.iter().find(whole_small) {
        Some((size, unit)) if nanos > 0 => format!("{}{unit}", nanos / size),
        _ => format!("{}s", format_decimal(false, nanos, 9)),
    }
}

/// A bandwidth in bytes per second as Click prints it: in `kbps`, `Mbps`, `Gbps`, or from 4.3 Gbps on in `MBps`.
pub fn unparse_bandwidth(bytes_per_second: u64) -> String {
    let value = i64::try_from(bytes_per_second).unwrap_or(i64::MAX);
    match bytes_per_second {
        0x2000_0000.. => format!("{}MBps", format_real10(value, 6)),
        125_000_000.. => format!("{}Gbps", format_real10(value * 8, 9)),
        125_000.. => format!("{}Mbps", format_real10(value * 8, 6)),
        _ => format!("{}kbps", format_real10(value * 8, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read<T: FromArg>(text: &str) -> Result<T, BadValue> {
        T::from_arg(text, &Names::default())
    }

    #[test]
    fn times_are_exact_nanoseconds() {
        for (text, nanos) in [
            ("1", 1_000_000_000),
            ("1.5s", 1_500_000_000),
            ("10ms", 10_000_000),
            ("10 msec", 10_000_000),
            ("2min", 120_000_000_000),
            ("2m", 120_000_000_000),
            ("1 h", 3_600_000_000_000),
            ("1.5hr", 5_400_000_000_000),
            ("1day", 86_400_000_000_000),
            ("3us", 3_000),
            ("1ns", 1),
            ("0.4ns", 0),
            ("0.123456789", 123_456_789),
        ] {
            assert_eq!(read(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn bad_times() {
        for text in ["", "s", "ms", "1x", "1ks", "-1", "1 s ", "1e"] {
            assert_eq!(read::<Duration>(text), Err(BadValue::Mismatch), "{text}");
        }
        assert_eq!(read::<Duration>("1e20"), Err("out of range".into()));
        let parse = |digits, text: &str| SecondsIn(digits).parse(text, &Names::default());
        assert_eq!(parse(0, "1.5"), Ok(2));
        assert_eq!(parse(3, "1.9ms"), Ok(2));
        assert_eq!(parse(6, "1.9ms"), Ok(1900));
        assert_eq!(parse(3, "50d"), Err("out of range".into()));
    }

    #[test]
    fn timestamps_have_either_sign() {
        assert_eq!(read("1000000000.5"), Ok(Timestamp::from_nanos(1_000_000_000_500_000_000)));
        assert_eq!(read("-1ms"), Ok(Timestamp::from_nanos(-1_000_000)));
        assert_eq!(read::<Timestamp>("1e10"), Err("out of range".into()));
        assert_eq!(read::<Timestamp>("now"), Err(BadValue::Mismatch));
    }

    #[test]
    fn bandwidths_count_bytes() {
        for (text, expected) in [
            ("10Mbps", 1_250_000),
            ("1.5GBps", 1_500_000_000),
            ("8 kb/s", 1000),
            ("8Kbps", 1000),
            ("9600baud", 1200),
            ("100GBps", 100_000_000_000),
            ("3B/s", 3),
        ] {
            assert_eq!(read(text), Ok(Bandwidth { bytes_per_second: expected, has_unit: true }), "{text}");
        }
        assert_eq!(read("100"), Ok(Bandwidth { bytes_per_second: 100, has_unit: false }));
        for text in ["", "10M", "Mbps", "10mbps", "-1bps", "10 M bps"] {
            assert_eq!(read::<Bandwidth>(text), Err(BadValue::Mismatch), "{text}");
        }
    }

    #[test]
    fn rates_are_integers_or_have_units() {
        assert_eq!(read("1000"), Ok(Rate(1000)));
        assert_eq!(read("0x10"), Ok(Rate(16)));
        assert_eq!(read("1.5Mpps"), Ok(Rate(1_500_000)));
        assert_eq!(read("20k/s"), Ok(Rate(20_000)));
        for text in ["1.5", "pps", "-1", "10Mbps"] {
            assert_eq!(read::<Rate>(text), Err(BadValue::Mismatch), "{text}");
        }
    }

    #[test]
    fn printing_picks_a_unit() {
        for (nanos, expected) in [
            (0, "0s"),
            (1, "1ns"),
            (7_000, "7us"),
            (20_000_000, "20ms"),
            (1_500_000_000, "1.5s"),
            (1_000_001, "0.001000001s"),
        ] {
            assert_eq!(format_seconds(Duration::from_nanos(nanos)), expected);
        }
        for (bytes, expected) in [
            (0, "0kbps"),
            (1, "0.008kbps"),
            (1_250_000, "10Mbps"),
            (125_000_000, "1Gbps"),
            (1_250_000_000, "1250MBps"),
        ] {
            assert_eq!(unparse_bandwidth(bytes), expected);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(nanos: u64, bytes in 0..i64::MAX as u64) {
            let time = Duration::from_nanos(nanos);
            prop_assert_eq!(read(&format_seconds(time)), Ok(time));
            prop_assert_eq!(read::<Bandwidth>(&unparse_bandwidth(bytes)).unwrap().bytes_per_second, bytes);
        }

        #[test]
        fn no_text_panics(text in any::<String>(), tricky in "[-0-9.eé]{0,9}[numskMbBp/ é]{0,5}") {
            let _ = (read::<Duration>(&text), read::<Duration>(&tricky), read::<Bandwidth>(&tricky), read::<Rate>(&tricky));
        }
    }
}
