//! Points in time as recordings write them, in milliseconds since 1970-01-01 UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;
use serde_json::Value;

/// The time of an ISO 8601 text such as `2026-01-31T10:20:30.5Z`. One without a zone is taken as UTC, a date alone as
/// its midnight; digits beyond milliseconds are cut off. `None` for other texts, such as one that names a zone without an
/// offset.
pub(crate) fn parse(text: &str) -> Option<i64> {
    const PARSER: DateTimeParser = DateTimeParser::new();
    let text = text.trim();
    if let Ok(time) = PARSER.parse_timestamp(text) {
        return Some(milliseconds(time));
    }
    let pieces = PARSER.parse_pieces(text).ok()?;
    // A name of a zone says too little without an offset, and it does not make the clock one of UTC.
    let has_zone = pieces.offset().is_some() || pieces.time_zone_annotation().is_some();
    if has_zone { None } else { in_utc(pieces.date().to_datetime(pieces.time().unwrap_or_default())) }
}

/// The time that a JSON value is: a number of milliseconds, or an ISO 8601 text.
pub(crate) fn of_value(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|float| float as i64)),
        Value::String(text) => parse(text),
        _ => None,
    }
}

/// The time of a clock and a date in UTC; `None` beyond the years that a [`Timestamp`] holds.
pub(crate) fn in_utc(time: DateTime) -> Option<i64> {
    TimeZone::UTC.to_timestamp(time).ok().map(milliseconds)
}

/// The time as `2026-01-31T10:20:30.500Z`; the nearest that can be written where its year has more than four digits.
pub(crate) fn format(milliseconds: i64) -> String {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
    let nearest = if milliseconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    PRINTER.timestamp_to_string(&Timestamp::from_millisecond(milliseconds).unwrap_or(nearest))
}

/// Milliseconds, rounded down: [`Timestamp::as_millisecond`] rounds towards 1970.
fn milliseconds(time: Timestamp) -> i64 {
    time.as_millisecond() - i64::from(time.subsec_nanosecond() % 1_000_000 < 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn iso_texts() {
        let check = |text: &str, expect: Option<i64>| assert_eq!(parse(text), expect, "{text}");
        check("1970-01-01T00:00:00Z", Some(0));
        check("1970-01-01", Some(0));
        check("1970-01-01T00:00:00.123456Z", Some(123));
        check("1969-12-31T23:59:59.9999Z", Some(-1));
        check("1969-12-31T23:59:59Z", Some(-1000));
        check("2026-05-04T15:00:19.086Z", Some(1_777_906_819_086));
        check("2026-05-04T12:00:19.086-03:00", Some(1_777_906_819_086));
        check("2026-05-04t20:30:19,086+0530", Some(1_777_906_819_086));
        check(" 2026-05-04 15:00:19", Some(1_777_906_819_000));
        check("2024-02-29T23:59:59.9", Some(1_709_251_199_900));
        check("2000-02-29", Some(951_782_400_000));
        check("1900-02-29", None);
        check("2026-05-04T15:00:19+02:00[Europe/Paris]", Some(1_777_899_619_000));
        check("2026-05-04T15:00:19[Europe/Paris]", None);
        check("2026-05-04T15:00:19+26:00", None);
        check("2026-05-04T15:00:19+99:99", None);
        check("2026-05-04[UTC]", None);
        check("2026-13-24T06:07:34Z", None);
        check("2023-01-01T", None);
        check("2023-01-01T10:00Zx", None);
        check("2026-04-24T06:07:34é", None);
        check("20é3-01-01", None);
        check("", None);
    }

    #[test]
    fn json_values() {
        let check = |json: &str, expect: Option<i64>| {
            assert_eq!(of_value(&serde_json::from_str(json).unwrap()), expect, "{json}");
        };
        check("1772901718436", Some(1_772_901_718_436));
        check("1.5e3", Some(1500));
        check("\"1970-01-02\"", Some(86_400_000));
        check("null", None);
        check("{}", None);
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        let check = |text: &str| assert_eq!(format(parse(text).unwrap()), text);
        check("1970-01-01T00:00:00.000Z");
        check("2024-02-29T23:59:59.900Z");
        check("1969-12-31T23:59:59.001Z");
        assert_eq!(format(i64::MAX), "9999-12-30T22:00:00.999Z");
    }
}
