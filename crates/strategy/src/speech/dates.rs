//! Dates and times that somebody names to be kept.

/// Months and days of the week. "may" and "march" are words too: they count next to a number.
const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
];
const DAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// What is said to be at a time, or has to be done by it.
const KEPT: &[&str] = &[
    "is",
    "are",
    "due",
    "by",
    "until",
    "before",
    "leaves",
    "leave",
    "starts",
    "ends",
    "closes",
    "expires",
    "appointment",
    "meeting",
    "flight",
    "deadline",
    "arrive",
    "back",
    "birthday",
    "on",
    "at",
    "from",
    "till",
    "away",
];

/// Bytes of a sentence that can be one about a date: longer ones tell a story.
const LONGEST: usize = 160;

/// Whether a sentence in lower case says when something is or has to be done: a day or a time of the clock with a word
/// that binds it, or a date in Chinese. Linear.
pub(super) fn names_a_date(lower: &str) -> bool {
    if lower.len() > LONGEST {
        return false;
    }
    if names_a_chinese_date(lower) {
        return true;
    }
    let words: Vec<&str> = lower
        .split(|char: char| !(char.is_alphanumeric() || char == ':' || char == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |at: Option<&&str>| {
        at.is_some_and(|word| word.starts_with(|char: char| char.is_ascii_digit()) && word.len() <= 4)
    };
    let names = words.iter().enumerate().any(|(at, word)| {
        DAYS.contains(word)
            || MONTHS.contains(word) && (is_number(words.get(at + 1)) || at > 0 && is_number(words.get(at - 1)))
            || is_clock(word)
            || matches!(*word, "am" | "pm") && at > 0 && is_number(words.get(at - 1))
    });
    names && words.iter().any(|word| KEPT.contains(word))
}

/// `周三`, `星期一`, `十月三号`, `6月4日`; not one that is over.
fn names_a_chinese_date(text: &str) -> bool {
    let is_number = |char: char| char.is_ascii_digit() || "一二三四五六七八九十".contains(char);
    let by_week = ["周", "星期"].iter().any(|week| {
        text.match_indices(week).any(|(at, _)| {
            let names = text[at + week.len()..].starts_with(|char| "一二三四五六日天".contains(char));
            names && !text[..at].ends_with(['上', '每'])
        })
    });
    let by_month = text.match_indices('月').any(|(at, _)| {
        let day = text[at + '月'.len_utf8()..].trim_start_matches(is_number);
        text[..at].ends_with(is_number)
            && day.len() < text.len() - at - '月'.len_utf8()
            && day.starts_with(['日', '号'])
    });
    by_week || by_month
}

/// `7:45`, `3pm`.
fn is_clock(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    match word.split_once(':') {
        Some((hours, minutes)) => digits(hours) && digits(minutes) && minutes.len() == 2,
        None => word.strip_suffix("pm").or_else(|| word.strip_suffix("am")).is_some_and(digits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_are_named() {
        let check = |text: &str, expect: bool| assert_eq!(names_a_date(text), expect, "{text}");
        check("the launch is on 12 october.", true);
        check("my flight leaves on march 3 at 7:45.", true);
        check("we ship by friday.", true);
        check("the meeting is at 3pm.", true);
        check("我下周三要去北京出差。", true);
        check("生日是六月4号", true);
        check("上周三去过", false);
        check("这个月很忙", false);
        check("that may be so", false);
        check("line 10:45 of the log", false);
        check("they march in may", false);
    }
}
