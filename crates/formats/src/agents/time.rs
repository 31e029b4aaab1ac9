//! Points in time, as recordings write them, in milliseconds since 1970-01-01 UTC.

use serde_json::Value;

const DAY: i64 = 86_400_000;
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A number of milliseconds, or an ISO-8601 text.
pub(crate) fn millis(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|float| float as i64)),
        Value::String(text) => parse_iso(text),
        _ => None,
    }
}

/// An ISO-8601 date with or without a time; a time without a zone is taken as UTC.
pub(crate) fn parse_iso(text: &str) -> Option<i64> {
    let mut rest = Cursor(text.trim().as_bytes());
    let year = rest.digits(4)?;
    rest.byte(b'-')?;
    let month = rest.digits(2)?;
    rest.byte(b'-')?;
    let day = rest.digits(2)?;
    let date = days(year, month, day)? * DAY;
    if rest.0.is_empty() {
        return Some(date);
    }
    rest.byte(b'T').or_else(|| rest.byte(b't')).or_else(|| rest.byte(b' '))?;
    let hour = rest.digits(2)?;
    rest.byte(b':')?;
    let minute = rest.digits(2)?;
    let (mut second, mut fraction) = (0, 0);
    if rest.byte(b':').is_some() {
        second = rest.digits(2)?;
        if rest.byte(b'.').or_else(|| rest.byte(b',')).is_some() {
            fraction = rest.fraction()?;
        }
    }
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let offset = rest.zone()?;
    Some(date + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction)
}

/// A point in time as people say it: `1:56 pm on 8 May, 2023`.
pub(crate) fn parse_spoken(text: &str) -> Option<i64> {
    let lower = text.to_lowercase();
    let (clock, date) = lower.split_once(" on ")?;
    let (clock, half) = clock.trim().split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let (hour, minute): (i64, i64) = (hour.parse().ok()?, minute.parse().ok()?);
    if !(1..=12).contains(&hour) || !(0..60).contains(&minute) {
        return None;
    }
    let hour = match half {
        "am" => hour % 12,
        "pm" => hour % 12 + 12,
        _ => return None,
    };
    let mut words = date.split([' ', ',']).filter(|word| !word.is_empty());
    let day: i64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| name.starts_with(month))? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    Some(days(year, month, day)? * DAY + (hour * 60 + minute) * 60_000)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; `None` where there is no such date.
///
/// The era arithmetic of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years start in March, so that
/// the leap day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if !(0..=9999).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn byte(&mut self, wanted: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[wanted])?;
        Some(())
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.0 = rest;
        Some(digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    }

    /// Digits behind the decimal point as milliseconds; what is finer is cut off.
    fn fraction(&mut self) -> Option<i64> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        let at = |index: usize| digits.get(index).map_or(0, |digit| i64::from(digit - b'0'));
        (length > 0).then(|| at(0) * 100 + at(1) * 10 + at(2))
    }

    /// The zone at the end as minutes east of UTC.
    fn zone(&mut self) -> Option<i64> {
        let sign = match self.0 {
            [] | [b'Z' | b'z'] => return Some(0),
            [b'+', rest @ ..] => {
                self.0 = rest;
                1
            }
            [b'-', rest @ ..] => {
                self.0 = rest;
                -1
            }
            _ => return None,
        };
        let hours = self.digits(2)?;
        let minutes = if self.0.is_empty() {
            0
        } else {
            let _ = self.byte(b':');
            self.digits(2)?
        };
        self.0.is_empty().then_some(sign * (hours * 60 + minutes))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn iso_texts() {
        let check = |text: &str, expect: Option<i64>| assert_eq!(parse_iso(text), expect, "{text}");
        check("1970-01-01", Some(0));
        check("1970-01-01T00:00:00.123456Z", Some(123));
        check("2026-05-04T15:00:19.086Z", Some(1_777_906_819_086));
        check("2026-05-04T12:00:19.086-03:00", Some(1_777_906_819_086));
        check("2026-05-04 15:00:19", Some(1_777_906_819_000));
        check("2026-05-04T20:30+0530", Some(1_777_906_800_000));
        check("2000-02-29", Some(951_782_400_000));
        check("1969-12-31T23:59:59Z", Some(-1000));
        check("1900-02-29", None);
        check("2023-13-01", None);
        check("2023-01-01T", None);
        check("2023-01-01T10:00Zx", None);
        check("20é3-01-01", None);
        check("", None);
    }

    #[test]
    fn spoken_texts() {
        let check = |text: &str, expect: Option<i64>| assert_eq!(parse_spoken(text), expect, "{text}");
        check("1:56 pm on 8 May, 2023", parse_iso("2023-05-08T13:56Z"));
        check("12:09 am on 13 September, 2023", parse_iso("2023-09-13T00:09Z"));
        check("13:00 pm on 8 May, 2023", None);
        check("1:56 pm on 8 Mayhem", None);
        check("yesterday", None);
    }

    #[test]
    fn json_values() {
        let check = |json: &str, expect: Option<i64>| {
            assert_eq!(millis(&serde_json::from_str(json).unwrap()), expect, "{json}");
        };
        check("1772901718436", Some(1_772_901_718_436));
        check("1.5e3", Some(1500));
        check("\"1970-01-02\"", Some(DAY));
        check("null", None);
        check("{}", None);
    }
}
