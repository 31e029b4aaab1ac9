//! Halves of characters: agents that cut texts by UTF-16 units leave them behind, which are valid in JSON and in no string.

use std::borrow::Cow;

use super::{quote, string};

/// Where halves of characters are in an id that was read: U+D800 is U+10D800, a character for private use.
const HALVES: u32 = 0x10_0000;

/// The id that `json` is, where it is a string. Ids are compared, and written back beside others that are not: one that was
/// cut within a character keeps which half it has, where a text has U+FFFD. [`quote_id`] writes it as it came.
pub fn id(json: &str) -> Option<Cow<'_, str>> {
    let text = string(json)?;
    // Only a text that was cut has this, or one that had it before.
    if !text.contains('\u{fffd}') {
        return Some(text);
    }
    Some(keep_halves(json).and_then(|json| serde_json::from_str(&json).ok()).map_or(text, Cow::Owned))
}

/// JSON with a character for private use in place of each half of a character; `None` where it has none.
/// [`restore_halves`] gives the halves back.
pub fn keep_halves(json: &str) -> Option<String> {
    mend_with(json, |out, unit| out.push(char::from_u32(HALVES + unit).unwrap_or(char::REPLACEMENT_CHARACTER)))
}

/// JSON with the halves of characters that [`keep_halves`] took out.
pub fn restore_halves(json: String) -> String {
    if !has_half(&json) {
        return json;
    }
    let mut written = String::with_capacity(json.len() + 8);
    for char in json.chars() {
        match half(char) {
            Some(unit) => written.push_str(&format!("\\u{unit:04x}")),
            None => written.push(char),
        }
    }
    written
}

/// The half of a character that `char` stands for.
fn half(char: char) -> Option<u32> {
    u32::from(char).checked_sub(HALVES).filter(|unit| (0xd800..=0xdfff).contains(unit))
}

/// Whether an id has half of a character, which is in its own format alone.
pub fn has_half(id: &str) -> bool {
    id.chars().any(|char| half(char).is_some())
}

/// A text whose halves of characters were kept, as texts are read.
pub fn without_halves(text: &str) -> Cow<'_, str> {
    if !has_half(text) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|char| if half(char).is_some() { char::REPLACEMENT_CHARACTER } else { char }).collect()
}

/// An id as a JSON string, as it came.
pub fn quote_id(id: &str) -> String {
    restore_halves(quote(id))
}

/// `json` with `\ufffd` for every half of a character: agents that cut texts by UTF-16 units leave halves behind, which
/// are valid in JSON and in no string. `None` where it has no such half.
pub fn mend(json: &str) -> Option<String> {
    mend_with(json, |mended, _| mended.push_str("\\ufffd"))
}

/// `json` with what `write` adds for every half of a character, which is given as its number. `None` where it has none.
fn mend_with(json: &str, write: impl Fn(&mut String, u32)) -> Option<String> {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let unit =
            |escape: &str| escape.strip_prefix("\\u")?.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let length = match unit(escape) {
            Some(0xd800..=0xdbff) if matches!(escape.get(6..).and_then(unit), Some(0xdc00..=0xdfff)) => 12,
            Some(half @ 0xd800..=0xdfff) => {
                found = true;
                write(&mut mended, half);
                rest = &escape[6..];
                continue;
            }
            Some(_) => 6,
            // An escape of one character, whatever it is.
            None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    found.then_some(mended)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ids_keep_the_half_of_a_character() {
        let check = |json: &str, has: bool| {
            let id = id(json).unwrap();
            assert_eq!((quote_id(&id), has_half(&id)), (json.to_owned(), has), "{json}");
        };
        check(r#""call_1""#, false);
        check(r#""\ud83d""#, true);
        check(r#""a\udd80b""#, true);
        check("\"\u{fffd}\"", false);
        check("\"🦀\"", false);
        check(r#""\\ud83d""#, false);
        assert_ne!(id(r#""\ud83d""#), id(r#""\ud83e""#), "which half");
        assert_eq!(id(r#""\uD83D""#), id(r#""\ud83d""#), "however it is written");
        assert_eq!(id("3"), None);
    }
}
