//! Trimming the arguments of calls.

use epitome_session::{Arguments, Language};
use serde_json::Value;

use crate::wording;

/// The arguments with every string of more than `max_chars` characters cut to that many and a mark; `None` where there
/// is none. JSON stays valid JSON with the same keys. Linear in the arguments.
pub(crate) fn trim_arguments(
    arguments: &Arguments,
    max_chars: usize,
    language: Language,
    handle: &str,
) -> Option<String> {
    let cut = |text: &str| cut_string(text, max_chars, language, handle);
    match arguments {
        Arguments::Text(text) => cut(text),
        Arguments::Json(text) => {
            let mut value: Value = serde_json::from_str(text).ok()?;
            cut_leaves(&mut value, &cut).then(|| value.to_string())
        }
    }
}

fn cut_leaves(value: &mut Value, cut: &impl Fn(&str) -> Option<String>) -> bool {
    match value {
        Value::String(text) => match cut(text) {
            Some(shorter) => {
                *text = shorter;
                true
            }
            None => false,
        },
        Value::Array(items) => items.iter_mut().fold(false, |any, item| cut_leaves(item, cut) | any),
        Value::Object(fields) => fields.values_mut().fold(false, |any, field| cut_leaves(field, cut) | any),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn cut_string(text: &str, max_chars: usize, language: Language, handle: &str) -> Option<String> {
    let (end, _) = text.char_indices().nth(max_chars)?;
    let rest = text[end..].chars().count();
    Some(format!("{}{}", &text[..end], wording::trimmed(language, rest, handle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_are_cut_and_json_stays_json() {
        let check = |arguments: Arguments, expect: Option<&str>| {
            let trimmed = trim_arguments(&arguments, 3, Language::English, "h");
            assert_eq!(trimmed.as_deref(), expect);
        };
        let json = |text: &str| Arguments::Json(text.into());
        check(json(r#"{"a":"abc","b":[1,null]}"#), None);
        check(
            json(r#"{"b":"日本語テ","a":{"c":["abcdef"]}}"#),
            Some(
                r#"{"b":"日本語[… 1 characters elided · recall h]","a":{"c":["abc[… 3 characters elided · recall h]"]}}"#,
            ),
        );
        check(Arguments::Text("abcdef".into()), Some("abc[… 3 characters elided · recall h]"));
        check(json("not json at all"), None);
    }
}
