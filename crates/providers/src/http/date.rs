//! Dates as headers write them.

/// Seconds since 1970 of an HTTP date (RFC 9110, section 5.6.7): the form that is written today, and the two older ones that
/// must be understood.
pub(crate) fn seconds_of(date: &str) -> Option<i64> {
    let words: Vec<&str> = date.split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, time) = match words[..] {
        // `Sun, 06 Nov 1994 08:49:37 GMT` and `Sunday, 06-Nov-94 08:49:37 GMT`
        [_, day, month, year, time, "GMT" | "UTC"] => (day, month, year, time),
        // `Sun Nov  6 08:49:37 1994`
        [_, month, day, time, year] => (day, month, year, time),
        _ => return None,
    };
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = 1 + i64::try_from(months.iter().position(|known| *known == month)?).ok()?;
    let day = number(day, 31)?;
    let year = match (year.len(), number(year, 9999)?) {
        // Two digits are of this century, as no service of this kind is older.
        (2, year) => 2000 + year,
        (4, year) => year,
        _ => return None,
    };
    let mut parts = time.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    let seconds = number(hour, 23)? * 3600 + number(minute, 59)? * 60 + number(second, 60)?;
    parts.next().is_none().then_some(days(year, month, day) * 86_400 + seconds)
}

fn number(digits: &str, most: i64) -> Option<i64> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| all_digits && *number <= most)
}

/// Days from 1970-01-01 in the Gregorian calendar, for years after 0. Years begin in March here, so that the day that only
/// some have comes last (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let check = |date: &str, expect: Option<i64>| assert_eq!(seconds_of(date), expect, "{date}");
        check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777));
        check("Sun Nov  6 08:49:37 1994", Some(784_111_777));
        check("Wednesday, 21-Oct-15 07:28:00 GMT", Some(1_445_412_480));
        check("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199));
        check("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200));
        for date in [
            "",
            "120",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 08:49:37:00 GMT",
            "Sun, 06 Nov 99999 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
        ] {
            check(date, None);
        }
    }
}
