//! Trimming the arguments of calls.

use epitome_session::{Arguments, Language, string_end};
use serde::de::IgnoredAny;

use crate::wording;

/// The key of the mark that replaces arguments which were taken out whole.
const ELIDED: &str = "_elided";

/// Returns the arguments with every string of more than `max_chars` characters cut to that length and a mark, where
/// that shortens them; `None` where there is no such string. Everything else stays byte for byte: keys, numbers, white
/// space. With a `max_chars` of 0 the arguments are taken out whole. Linear in the arguments.
pub(crate) fn trim_arguments(
    arguments: &Arguments,
    max_chars: usize,
    language: Language,
    handle: Option<&str>,
) -> Option<String> {
    let cut = |text: &str| cut_string(text, max_chars, language, handle);
    match (arguments, max_chars) {
        (Arguments::Text(text), 0) => Some(wording::trim_mark(language, text.chars().count(), handle)),
        (Arguments::Json(text), 0) => {
            let mark = wording::trim_mark(language, text.chars().count(), handle);
            Some(serde_json::json!({ ELIDED: mark }).to_string())
        }
        (Arguments::Text(text), _) => cut(text),
        (Arguments::Json(text), _) => {
            serde_json::from_str::<IgnoredAny>(text).ok()?;
            cut_values(text, cut)
        }
    }
}

/// Returns valid JSON with `cut` applied to its strings that are not keys; `None` where nothing was cut.
fn cut_values(json: &str, cut: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut trimmed = String::with_capacity(json.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(start) = json[at..].find('"').map(|found| at + found) {
        let end = string_end(json, start)?;
        at = end;
        let is_key = json[end..].trim_start().starts_with(':');
        if is_key {
            continue;
        }
        // A string with half a surrogate pair cannot be decoded: it stays.
        let shorter = serde_json::from_str::<String>(&json[start..end]).ok().and_then(|text| cut(&text));
        if let Some(shorter) = shorter {
            trimmed.push_str(&json[copied..start]);
            trimmed.push_str(&serde_json::Value::from(shorter).to_string());
            copied = end;
        }
    }
    trimmed.push_str(&json[copied..]);
    (copied > 0).then_some(trimmed)
}

fn cut_string(text: &str, max_chars: usize, language: Language, handle: Option<&str>) -> Option<String> {
    let (end, _) = text.char_indices().nth(max_chars)?;
    let rest = &text[end..];
    let mark = wording::trim_mark(language, rest.chars().count(), handle);
    (rest.len() > mark.len()).then(|| format!("{}{mark}", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_are_cut_and_all_else_stays() {
        let long = "0123456789".repeat(5);
        let mark = "[… 47 characters elided · recall h]";
        let check = |arguments: Arguments, expect: Option<&str>| {
            let trimmed = trim_arguments(&arguments, 3, Language::English, Some("h"));
            assert_eq!(trimmed.as_deref(), expect);
        };
        let json = |text: &str| Arguments::Json(text.into());
        check(json(r#"{"a":"abc","b":[1,null],"c":"a little longer"}"#), None);
        check(
            json(&format!(r#"{{ "b": 123456789012345678901234567890, "{long}":"\"{long}", "b":{{"c":["{long}"]}} }}"#)),
            Some(&format!(
                r#"{{ "b": 123456789012345678901234567890, "{long}":"\"01[… 48 characters elided · recall h]", "b":{{"c":["012{mark}"]}} }}"#
            )),
        );
        check(
            json(&format!(r#"{{"a":"日本語{long}"}}"#)),
            Some(r#"{"a":"日本語[… 50 characters elided · recall h]"}"#),
        );
        check(Arguments::Text(long.as_str().into()), Some(&format!("012{mark}")));
        check(json(&format!("not json at all {long}")), None);
    }

    #[test]
    fn arguments_leave_whole() {
        let check = |arguments: Arguments, expect: &str| {
            assert_eq!(trim_arguments(&arguments, 0, Language::English, Some("h")).as_deref(), Some(expect));
        };
        check(Arguments::Json("[1,2]".into()), r#"{"_elided":"[… 5 characters elided · recall h]"}"#);
        check(Arguments::Text("patch".into()), "[… 5 characters elided · recall h]");
        let without = trim_arguments(&Arguments::Text("patch".into()), 0, Language::English, None);
        assert_eq!(without.as_deref(), Some("[… 5 characters elided]"));
    }
}
