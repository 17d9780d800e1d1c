//! A point in time as people write it, in UTC.

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Seconds since 1970 in the form `Tue Jul 24 17:53:30 2001`.
pub fn calendar(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let weekday = DAYS[days.rem_euclid(7) as usize];
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{weekday} {} {day:>2} {hour:02}:{minute:02}:{second:02} {year}", MONTHS[month])
}

/// Year, month from 0 and day from 1, of days since 1970.
///
/// Counts in years that start in March, so that the leap day is the last of its year, and in cycles of 400 years, which
/// all have the same number of days.
fn date(days: i64) -> (i64, usize, i64) {
    let days = days + 719_468;
    let (cycle, day_of_cycle) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12;
    let year = cycle * 400 + year_of_cycle + i64::from(month < 2);
    (year, month as usize, day)
}

#[cfg(test)]
mod tests {
    use super::calendar;

    #[test]
    fn days_around_the_leap_years() {
        let cases = [
            (0, "Thu Jan  1 00:00:00 1970"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (996_022_410, "Wed Jul 25 00:53:30 2001"),
            (4_107_542_400, "Mon Mar  1 00:00:00 2100"),
            (-1, "Wed Dec 31 23:59:59 1969"),
        ];
        for (seconds, text) in cases {
            assert_eq!(calendar(seconds), text);
        }
    }
}
