//! What a progress bar looks like at a moment.

use std::fmt::Write;

/// Longest bar.
const LONGEST: usize = 240;
/// Columns beside the bar.
const BESIDE: usize = 25;
/// Columns that are free if the position is not shown.
const POSITION: usize = 8;
const PREFIXES: &[u8] = b" KMGTP";

/// The state of things.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Text before the bar.
    pub banner: String,
    /// How far it has come, if that is known.
    pub position: Option<f64>,
    /// How far it is to go, if that is known.
    pub size: Option<f64>,
    /// Whether the size was given as a number: then the position says nothing by itself.
    pub fixed: bool,
    /// Whether it has come to its end.
    pub done: bool,
    /// Seconds so far, but for those in which nothing happened.
    pub elapsed: f64,
    /// Whether nothing has happened for a while.
    pub stalled: bool,
}

impl View {
    /// The bar for a terminal of so many columns, from its start of line on.
    pub fn line(&self, columns: usize) -> String {
        let mut line = "\r".to_string();
        if !self.banner.is_empty() {
            let _ = write!(line, "{} ", self.banner);
        }
        match (self.position, self.size) {
            (Some(_), Some(_)) => {
                let _ = write!(line, "{:3}% ", self.percent() as i64);
            }
            (None, Some(_)) => line.push_str("  -% "),
            (_, None) => {}
        }
        self.bar(columns, &mut line);
        self.position(&mut line);
        self.time(&mut line);
        if self.done {
            line.push('\n');
        }
        line
    }

    fn hides_position(&self) -> bool {
        self.size.is_some() && self.fixed
    }

    /// Where on the bar it is, of 100. Without a size, it goes to and fro.
    fn percent(&self) -> f64 {
        match (self.position.unwrap_or_default(), self.size) {
            (position, None) => {
                let place = (position / 100_000.0).trunc() % 200.0;
                if place > 100.0 { 200.0 - place } else { place }
            }
            (position, Some(size)) if size > 0.0 => (100.0 * position / size).trunc().clamp(0.0, 100.0),
            (_, Some(_)) => 100.0,
        }
    }

    fn bar(&self, columns: usize, line: &mut String) {
        let used = line.len() + BESIDE - if self.hides_position() { POSITION } else { 0 };
        let length = columns.saturating_sub(used).min(LONGEST);
        if length == 0 {
            return;
        }
        let part = |of: usize| (of as f64 * self.percent() / 100.0) as usize;
        let (before, stars) = match self.size {
            _ if self.position.is_none() || self.size.is_none() && self.done => {
                let _ = write!(line, "|{}|", "-".repeat(length));
                return;
            }
            Some(_) => (0, part(length)),
            None if length > 3 => (part(length - 3), 3),
            None => (part(length - 1), 1),
        };
        let after = length - before - stars;
        let _ = write!(line, "|{:before$}{:*<stars$}{:after$}|", "", "", "");
    }

    fn position(&self, line: &mut String) {
        let _ = match self.position {
            _ if self.hides_position() => write!(line, " "),
            Some(position) => {
                let mut shown = position.max(0.0);
                let mut prefix = 0;
                while shown >= 100_000.0 && prefix + 1 < PREFIXES.len() {
                    prefix += 1;
                    shown /= 1024.0;
                }
                let unit = if prefix == 0 { ' ' } else { 'B' };
                write!(line, " {:5}{}{unit} ", shown as u64, PREFIXES[prefix] as char)
            }
            None => write!(line, " -----   "),
        };
    }

    fn time(&self, line: &mut String) {
        let position = self.position.unwrap_or_default();
        let size = self.size.unwrap_or_default();
        let unknown = self.position.is_none() || self.size.is_none();
        if !self.done && (unknown || self.elapsed <= 0.0 || position > size) {
            return line.push_str("   --:-- ETA");
        }
        if self.stalled {
            return line.push_str(" - stalled -");
        }
        let (seconds, unit) = match self.done || self.position.is_none() || position < 1e-6 {
            true => (self.elapsed, "    "),
            false => (size / (position / self.elapsed) - self.elapsed, " ETA"),
        };
        let seconds = seconds.max(0.0) as u64;
        let _ = match seconds / 3600 {
            0 => write!(line, "   "),
            hours => write!(line, "{hours:2}:"),
        };
        let _ = write!(line, "{:02}:{:02}{unit}", seconds % 3600 / 60, seconds % 60);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(position: f64, size: Option<f64>) -> View {
        View { position: Some(position), size, elapsed: 10.0, ..View::default() }
    }

    #[test]
    fn with_a_size_the_bar_fills() {
        let v = view(25_000.0, Some(100_000.0));
        assert_eq!(v.line(51), "\r 25% |*****               | 25000      00:30 ETA");
        let v = View { banner: "file".into(), ..view(7.5e6, Some(1e7)) };
        assert_eq!(v.line(56), "\rfile  75% |***************     |  7324KB    00:03 ETA");
        let v = View { done: true, ..view(2e5, Some(2e5)) };
        assert_eq!(v.line(41), "\r100% |**********|   195KB    00:10    \n");
        let v = View { fixed: true, elapsed: 4000.0, ..view(1.0, Some(4.0)) };
        assert_eq!(v.line(43), "\r 25% |*****               |  3:20:00 ETA");
    }

    #[test]
    fn without_a_size_it_goes_to_and_fro() {
        assert_eq!(view(0.0, None).line(36), "\r|***       |     0      --:-- ETA");
        assert_eq!(view(1e7, None).line(36), "\r|       ***|  9765KB    --:-- ETA");
        assert_eq!(view(1.5e7, None).line(36), "\r|   ***    | 14648KB    --:-- ETA");
        assert_eq!(view(1e7, None).line(29), "\r|  *|  9765KB    --:-- ETA");
        assert_eq!(View { done: true, ..view(1.0, None) }.line(36), "\r|----------|     1      00:10    \n");
    }

    #[test]
    fn what_is_not_known_is_shown_as_such() {
        let v = View { position: None, ..view(0.0, Some(5.0)) };
        assert_eq!(v.line(41), "\r  -% |----------| -----      --:-- ETA");
        let v = View { stalled: true, ..view(1.0, Some(2.0)) };
        assert_eq!(v.line(41), "\r 50% |*****     |     1    - stalled -");
        assert_eq!(view(1.0, Some(2.0)).line(10), "\r 50%      1      00:10 ETA");
        assert_eq!(view(f64::NAN, Some(f64::NAN)).line(10), "\r100%      0      00:00 ETA");
    }
}
