//! How lengths of time are printed by handlers.

use clickwork_packet::Timestamp;

/// A length of time as Click prints it: whole milli-, micro- or nanoseconds below a second, else seconds with their
/// fraction.
pub fn interval_text(time: Timestamp) -> String {
    if time.seconds() != 0 {
        return format!("{time}s");
    }
    let nanos = time.subsec_nanos();
    match nanos {
        n if n % 1_000_000 == 0 => format!("{}ms", n / 1_000_000),
        n if n % 1_000 == 0 => format!("{}us", n / 1_000),
        n => format!("{n}ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_the_greatest_that_gives_a_whole_number() {
        let cases = [
            (0, "0ms"),
            (20_000_000, "20ms"),
            (20_001_000, "20001us"),
            (7, "7ns"),
            (1_500_000_000, "1.500000s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(interval_text(Timestamp::from_nanos(nanos)), text);
        }
        assert_eq!(interval_text(Timestamp::from_nanos(-500_000_000)), "-0.500000s");
    }
}
