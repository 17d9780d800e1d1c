//! What ICMPPingSource knows about its requests and their replies.

use clickwork_packet::Timestamp;
use clickwork_router::args::format_real10;

/// The steady time at which a request with a certain sequence number was sent, and whether it was answered.
#[derive(Clone, Copy, Default)]
struct Request {
    sent: Timestamp,
    answered: bool,
}

/// Requests by sequence number, and the times of replies in microseconds.
pub(super) struct Replies {
    requests: Vec<Request>,
    /// Replies in all, and those to requests that had been answered before.
    received: i64,
    duplicates: i64,
    min: u32,
    max: u32,
    sum: u64,
    square_sum: u64,
}

impl Default for Replies {
    fn default() -> Replies {
        let requests = vec![Request::default(); 1 << 16];
        Replies { requests, received: 0, duplicates: 0, min: 0, max: 0, sum: 0, square_sum: 0 }
    }
}

impl Replies {
    pub fn note_request(&mut self, sequence: u16, sent: Timestamp) {
        self.requests[usize::from(sequence)] = Request { sent, answered: false };
    }

    /// Counts a reply that came at the steady time `received`, if that is known. Returns the microseconds it took, 0 if that is
    /// not known; nothing if there was no such request.
    pub fn note_reply(&mut self, sequence: u16, received: Option<Timestamp>) -> Option<u32> {
        let request = &mut self.requests[usize::from(sequence)];
        if request.sent.is_zero() {
            return None;
        }
        self.duplicates += i64::from(request.answered);
        request.answered = true;
        let sent = request.sent;
        let micros = received.map_or(0, |at| {
            let micros = at.since(sent).as_micros();
            self.note_time(u32::try_from(micros).unwrap_or(u32::MAX))
        });
        self.received += 1;
        Some(micros)
    }

    fn note_time(&mut self, micros: u32) -> u32 {
        let first = self.received == 0;
        self.min = if first { micros } else { self.min.min(micros) };
        self.max = if first { micros } else { self.max.max(micros) };
        self.sum = self.sum.wrapping_add(micros.into());
        self.square_sum = self.square_sum.wrapping_add(u64::from(micros) * u64::from(micros));
        micros
    }

    fn mean(&self) -> u64 {
        self.sum / self.received.max(1) as u64
    }

    pub fn shortest(&self) -> String {
        seconds(self.min)
    }

    pub fn average(&self) -> String {
        seconds(self.mean() as u32)
    }

    pub fn longest(&self) -> String {
        seconds(self.max)
    }

    /// The report in Click's form, after `sent` requests. Its loss rate counts duplicates as Click does: twice.
    pub fn summary(&self, sent: i32) -> String {
        let answered = self.received - self.duplicates;
        let mut text = format!("{sent} packets transmitted, {answered} received");
        if self.duplicates > 0 {
            text += &format!(", +{} duplicates", self.duplicates);
        }
        if sent > 0 {
            let lost = (i64::from(sent) - self.received - self.duplicates) * 100 / i64::from(sent);
            text += &format!(", {lost}% packet loss\n");
        }
        if self.received > 0 {
            let mean = self.mean();
            let variance = (self.square_sum / self.received as u64).saturating_sub(mean.wrapping_mul(mean));
            let [min, mean, max, deviation] = [self.min.into(), mean, self.max.into(), variance.isqrt()]
                .map(|us| format!("{}.{:03}", us / 1000, us % 1000));
            text += &format!("rtt min/avg/max/mdev = {min}/{mean}/{max}/{deviation}\n");
        }
        text
    }
}

/// Microseconds as Click prints them: `7us`, from a millisecond on `0.001s`.
fn seconds(micros: u32) -> String {
    match micros {
        1..1000 => format!("{micros}us"),
        _ => format!("{}s", format_real10(micros.into(), 6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_summed_up() {
        let mut replies = Replies::default();
        let at = |us: i64| Timestamp::from_nanos(1_000_000_000 + us * 1000);
        for (sequence, micros) in [(1, 500), (2, 1500), (3, 1000)] {
            replies.note_request(sequence, at(0));
            assert_eq!(replies.note_reply(sequence, Some(at(micros))), Some(micros as u32));
        }
        assert_eq!(replies.note_reply(4, Some(at(1))), None);
        assert_eq!(
            [replies.shortest(), replies.average(), replies.longest()],
            ["500us", "0.001s", "0.0015s"]
        );
        // The deviation is the root of 500000 / 3.
        assert_eq!(
            replies.summary(4),
            "4 packets transmitted, 3 received, 25% packet loss\nrtt min/avg/max/mdev = 0.500/1.000/1.500/0.408\n"
        );
    }
}
