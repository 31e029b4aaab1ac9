//! Media within JSON of any form: base64 is no text to a model, whatever it stands in.

use std::borrow::Cow;

/// The least length of a text that is taken for base64, in bytes: no word, path or hash is so long, and the smallest picture is
/// longer.
const LEAST_BASE64: usize = 512;

/// Whether the text of the field `field` is the bytes of media, or of something that only the provider can read: a data URL,
/// base64, anything encrypted. Linear up to the first character that is none of base64's.
pub fn is_media(field: &str, text: &str) -> bool {
    // A part's own text, and what a program printed, are read as they stand.
    if matches!(field, "text" | "stdout" | "stderr" | "logs") {
        return false;
    }
    if let Some(data) = text.strip_prefix("data:") {
        return data.contains(";base64,");
    }
    // A line end, or a slash, may be escaped.
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_\r\n\\".contains(&byte);
    (text.len() >= LEAST_BASE64 || field.starts_with("encrypted_")) && text.bytes().all(is_base64)
}

/// Returns JSON without the media in it, and these in order, as the JSON has them. Works by the strings alone, so it takes JSON
/// of any form and depth. Linear.
pub fn split_media(json: &str) -> (Cow<'_, str>, Vec<&str>) {
    let (mut rest, mut media) = (String::new(), Vec::new());
    let (mut copied, mut at, mut field) = (0, 0, "");
    while let Some(start) = json[at..].find('"').map(|found| at + found) {
        let Some(end) = string_end(json, start) else { break };
        let text = &json[start + 1..end - 1];
        at = end;
        if json[end..].trim_start().starts_with(':') {
            field = text;
        } else if is_media(field, text) {
            rest.push_str(&json[copied..=start]);
            copied = end - 1;
            media.push(text);
        }
    }
    if media.is_empty() {
        return (Cow::Borrowed(json), media);
    }
    rest.push_str(&json[copied..]);
    (Cow::Owned(rest), media)
}

/// Returns where the string of JSON that starts with the quote at `start` ends, behind its closing quote; `None` where it does
/// not end. Linear.
pub fn string_end(json: &str, start: usize) -> Option<usize> {
    let bytes = json.as_bytes();
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_are_found_wherever_they_stand() {
        let check = |json: &str, rest: &str, found: &[&str]| {
            let [long, url] = ["A/".repeat(300), format!("data:image/png;base64,{}", "B")];
            let fill = |text: &str| text.replace("LONG", &long).replace("URL", &url);
            let (json, rest) = (fill(json), fill(rest));
            let split = split_media(&json);
            let found: Vec<String> = found.iter().map(|text| fill(text)).collect();
            assert_eq!((&*split.0, split.1), (&*rest, found.iter().map(String::as_str).collect()), "{json}");
        };
        check(r#"{"a":{"b":["x","LONG"]},"c":1}"#, r#"{"a":{"b":["x",""]},"c":1}"#, &["LONG"]);
        check(r#"{"url" : "URL", "data":"LONG"}"#, r#"{"url" : "", "data":""}"#, &["URL", "LONG"]);
        check(r#"{"text":"LONG","stdout":"URL"}"#, r#"{"text":"LONG","stdout":"URL"}"#, &[]);
        check(r#"{"encrypted_content":"gAAA","id":"gAAA"}"#, r#"{"encrypted_content":"","id":"gAAA"}"#, &["gAAA"]);
        check(r#"{"LONG":"x \" y LONG"}"#, r#"{"LONG":"x \" y LONG"}"#, &[]);
        check("LONG", "LONG", &[]);
        check(r#"["LONG"#, r#"["LONG"#, &[]);
    }
}
