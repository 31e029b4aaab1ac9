//! A reader of JSON that keeps every byte: shortened JSON is compared token by token with its original.

/// One token of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A bracket, a comma or a colon.
    Mark(char),
    /// A number, `true`, `false`, `null`, byte for byte.
    Scalar(&'a str),
    /// A key, decoded.
    Key(String),
    /// A string that is not a key, decoded.
    Text(String),
}

/// Returns the tokens of a JSON text; `None` where it is not JSON. Linear.
pub(super) fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    serde_json::from_str::<&serde_json::value::RawValue>(text).ok()?;
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '{' | '}' | '[' | ']' | ',' | ':' => {
                tokens.push(Token::Mark(first));
                1
            }
            '"' => {
                let length = string_length(rest)?;
                let decoded = serde_json::from_str::<String>(&rest[..length]).ok()?;
                let is_key = rest[length..].trim_start().starts_with(':');
                tokens.push(if is_key { Token::Key(decoded) } else { Token::Text(decoded) });
                length
            }
            _ => {
                let end = |char: char| char.is_whitespace() || matches!(char, ',' | '}' | ']');
                let length = rest.find(end).unwrap_or(rest.len());
                tokens.push(Token::Scalar(&rest[..length]));
                length
            }
        };
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

/// Returns the bytes of the string that `text` starts with, quotes included.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(index + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_byte_of_a_number_counts() {
        let check = |one: &str, other: &str, same: bool| {
            assert_eq!(tokens(one).unwrap() == tokens(other).unwrap(), same, "{one} {other}");
        };
        check(r#"{"a": [1.0, "x\"\u0041"]}"#, r#"{"a":[1.0,"x\"A"]}"#, true);
        check("[1.0]", "[1]", false);
        check(r#"{"a":1,"a":2}"#, r#"{"a":2}"#, false);
        check(r#"{"a":"b"}"#, r#"{"b":"b"}"#, false);
        assert_eq!(tokens("{"), None);
    }
}
