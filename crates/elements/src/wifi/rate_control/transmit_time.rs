//! How long it takes to send a frame of 802.11a or b with its acknowledgement and the back-off before each try
//! (IEEE 802.11-1999 §9.2, 802.11a and b), as Click estimates it.

/// Whether it is a rate of 802.11b, in units of 500 kbit/s.
fn is_b(rate: i32) -> bool {
    matches!(rate, 2 | 4 | 11 | 22)
}

/// Lengths in microseconds.
struct Timing {
    slot: u64,
    sifs: u64,
    acknowledgement: u64,
    preamble: u64,
}

const A: Timing = Timing { slot: 9, sifs: 9, acknowledgement: 30, preamble: 20 };
const B: Timing = Timing { slot: 20, sifs: 10, acknowledgement: 304, preamble: 192 };

/// Slots of the contention window.
const FEWEST_SLOTS: u64 = 31;
const MOST_SLOTS: u64 = 1023;

/// Microseconds for a frame of `length` bytes that is sent again `retries` times.
pub fn transmit_time(length: u64, rate: i32, retries: u8) -> u64 {
    if rate <= 0 || length == 0 {
        return 99_999;
    }
    let timing = if is_b(rate) { B } else { A };
    let frame = 2 * length * 8 / u64::from(rate.unsigned_abs()) + timing.preamble;
    let mut window = FEWEST_SLOTS;
    let mut total = 0;
    for _ in 0..=retries {
        total += timing.slot * window / 2 + frame + timing.sifs + timing.acknowledgement;
        window = ((window + 1) * 2).min(MOST_SLOTS);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::transmit_time;

    #[test]
    fn times_grow_with_tries_and_shrink_with_rates() {
        // 24000 / 22 + 192 for the frame, 310 for back-off, 10 and 304 for the acknowledgement.
        assert_eq!(transmit_time(1500, 22, 0), 1090 + 192 + 310 + 10 + 304);
        assert_eq!(transmit_time(1500, 108, 0), 222 + 20 + 139 + 9 + 30);
        assert_eq!(transmit_time(1500, 108, 1), 2 * (222 + 20 + 9 + 30) + 139 + 288);
        assert_eq!(transmit_time(1500, 0, 0), 99_999);
        assert!(transmit_time(1500, 2, 255) > transmit_time(1500, 2, 254));
    }
}
