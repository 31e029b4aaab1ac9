//! Messages of a client, looked at before the server reads them.

use std::borrow::Cow;

use epitome::formats::mend;
use serde_json::{Map, Value, json};

/// The codes of JSON-RPC 2.0 (<https://www.jsonrpc.org/specification#error_object>).
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// The text of a message that the server can read, with U+FFFD for each half of a character; `None` for a blank one.
///
/// # Errors
///
/// The answer for the client: the text is no JSON, or no message of JSON-RPC 2.0.
pub(crate) fn read_message(bytes: &[u8]) -> Result<Option<Cow<'_, str>>, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let no_json = |problem: &str| refusal(PARSE_ERROR, &format!("Parse error: {problem}"), &Value::Null);
    let text = std::str::from_utf8(bytes).map_err(|error| no_json(&error.to_string()))?;
    let text = mend(text).map_or(Cow::Borrowed(text), Cow::Owned);
    let value: Value = serde_json::from_str(&text).map_err(|error| no_json(&error.to_string()))?;
    let id = match value.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        _ => Value::Null,
    };
    match value.as_object().map_or(Err("it is not an object"), check) {
        Ok(()) => Ok(Some(text)),
        Err(problem) => Err(refusal(INVALID_REQUEST, &format!("Invalid request: {problem}"), &id)),
    }
}

/// The answer to a message that is longer than `most` bytes.
pub(crate) fn too_long(most: usize) -> String {
    refusal(INVALID_REQUEST, &format!("Invalid request: the message is longer than {most} bytes"), &Value::Null)
}

/// Whether an object is a request, a notification or an answer. An error is what is wrong with it.
fn check(message: &Map<String, Value>) -> Result<(), &'static str> {
    if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return Err("`jsonrpc` is not \"2.0\"");
    }
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    match message.get("method") {
        Some(method) if !method.is_string() => Err("`method` is not a text"),
        Some(_) if !message.get("id").is_none_or(is_id) => Err("`id` is neither a text nor a whole number"),
        Some(_) if !message.get("params").is_none_or(Value::is_object) => Err("`params` is not an object"),
        Some(_) => Ok(()),
        None if message.contains_key("result") != message.contains_key("error") => Ok(()),
        None => Err("there is no `method`"),
    }
}

fn refusal(code: i32, message: &str, id: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_a_server_can_read() {
        let check = |text: &str, expect: Result<Option<&str>, (i32, Value)>| {
            let read = read_message(text.as_bytes());
            let read = read.as_ref().map(Option::as_deref).map_err(|answer| {
                let answer: Value = serde_json::from_str(answer).unwrap();
                assert_eq!(answer["jsonrpc"], "2.0");
                (answer["error"]["code"].as_i64().unwrap() as i32, answer["id"].clone())
            });
            assert_eq!(read, expect, "{text}");
        };
        let request = r#"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{}}"#;
        check(request, Ok(Some(request)));
        check(&format!("\u{feff}{request}\r"), Ok(Some(&format!("{request}\r"))));
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            Ok(Some(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)),
        );
        check(r#"{"jsonrpc":"2.0","id":"a","result":{}}"#, Ok(Some(r#"{"jsonrpc":"2.0","id":"a","result":{}}"#)));
        check(
            r#"{"jsonrpc":"2.0","id":8,"method":"a","params":{"q":"\ud800 \ud83d\ude00"}}"#,
            Ok(Some(r#"{"jsonrpc":"2.0","id":8,"method":"a","params":{"q":"\ufffd \ud83d\ude00"}}"#)),
        );
        for blank in ["", " \t", "\r"] {
            check(blank, Ok(None));
        }
        for broken in ["{", "nonsense", "{\"jsonrpc\":\"2.0\",", "{\"a\":\"\\x\"}", &"[".repeat(100_000)] {
            check(broken, Err((-32_700, Value::Null)));
        }
        assert!(read_message(b"{\"a\":\"\xff\"}").unwrap_err().contains("-32700"));
        for (wrong, id) in [
            ("[]", json!(null)),
            ("7", json!(null)),
            ("{}", json!(null)),
            (r#"{"id":8,"method":"a"}"#, json!(8)),
            (r#"{"jsonrpc":"1.0","id":"b","method":"a"}"#, json!("b")),
            (r#"{"jsonrpc":"2.0","id":8}"#, json!(8)),
            (r#"{"jsonrpc":"2.0","id":8,"method":7}"#, json!(8)),
            (r#"{"jsonrpc":"2.0","id":8,"method":"a","params":[1]}"#, json!(8)),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, json!(1.5)),
            (r#"{"jsonrpc":"2.0","id":8,"result":{},"error":{}}"#, json!(8)),
        ] {
            check(wrong, Err((-32_600, id)));
        }
    }
}
