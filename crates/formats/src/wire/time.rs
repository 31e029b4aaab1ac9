//! Times as recordings write them.

/// Milliseconds since 1970-01-01 UTC of an ISO 8601 time such as `2026-01-31T10:20:30.5Z`; `None` for anything else.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let shaped = bytes[4] == b'-' && bytes[7] == b'-' && matches!(bytes[10], b'T' | b' ') && bytes[13] == b':';
    if !shaped || !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut rest = text.get(19..)?;
    let mut milliseconds = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let mut scale = 100;
        for digit in fraction.bytes().take(digits.min(3)) {
            milliseconds += i64::from(digit - b'0') * scale;
            scale /= 10;
        }
        rest = fraction.get(digits..)?;
    }
    let offset = match rest.as_bytes() {
        [] | [b'Z'] => 0,
        [sign @ (b'+' | b'-'), a, b, b':', c, d] if [a, b, c, d].iter().all(|digit| digit.is_ascii_digit()) => {
            let digit = |byte: &u8| i64::from(byte - b'0');
            let minutes = (digit(a) * 10 + digit(b)) * 60 + digit(c) * 10 + digit(d);
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    let minutes = (days_since_epoch(year, month, day) * 24 + hour) * 60 + minute - offset;
    Some((minutes * 60 + second) * 1000 + milliseconds)
}

/// The time as `2026-01-31T10:20:30.500Z`.
pub(crate) fn format(milliseconds: i64) -> String {
    let (days, rest) = (milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", rest % 1000)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the leap day is the
/// last of its year (the algorithm of Howard Hinnant's "chrono-compatible low-level date algorithms").
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times() {
        let check = |text: &str, expect: Option<i64>| assert_eq!(parse(text), expect, "{text}");
        check("1970-01-01T00:00:00Z", Some(0));
        check("2026-04-24T06:07:34.531Z", Some(1_777_010_854_531));
        check("2026-04-24T08:07:34.531+02:00", Some(1_777_010_854_531));
        check("2024-02-29T23:59:59.9", Some(1_709_251_199_900));
        check("2026-04-24", None);
        check("2026-13-24T06:07:34Z", None);
        check("2026-04-24T06:07:34é", None);
        check("yesterday at some time", None);
        for text in ["1999-12-31T23:59:59.999Z", "2024-02-29T00:00:00.000Z", "2026-03-01T12:00:00.001Z"] {
            assert_eq!(format(parse(text).unwrap()), text);
        }
    }
}
