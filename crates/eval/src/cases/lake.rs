//! Sessions in tables: one in each row, as text or as lists of structures.

use serde_json::{Map, Value};

/// Returns the text of the session that a cell of a table holds; `None` where it holds none. A text is a session as it
/// is. A list of structures is a list of messages, a structure a request: in tables every structure has every field of
/// its column, so null fields are dropped, at any depth, and so are empty lists of calls, for no provider accepts those.
/// `arguments` of calls are JSON as text, whether the table holds text or a structure. Linear.
pub fn session_text(cell: Value) -> Option<String> {
    match cell {
        Value::Null => None,
        Value::String(text) => Some(text),
        cell => Some(without_nulls(cell, "").to_string()),
    }
}

/// The value of the field `name`, or an item of it, without null fields.
fn without_nulls(value: Value, name: &str) -> Value {
    match value {
        Value::Object(fields) => {
            // Not every `arguments` is a call's: a tool may have a parameter of that name.
            let is_call = ["function", "function_call"].contains(&name)
                || fields.get("type").is_some_and(|kind| kind == "function_call");
            Value::Object(fields.into_iter().filter_map(|it| field(it, is_call)).collect::<Map<String, Value>>())
        }
        Value::Array(items) => {
            let items = items.into_iter().filter(|item| !item.is_null());
            Value::Array(items.map(|item| without_nulls(item, name)).collect())
        }
        plain => plain,
    }
}

fn field((name, value): (String, Value), is_of_call: bool) -> Option<(String, Value)> {
    let value = match value {
        Value::Null => return None,
        Value::Array(calls) if name == "tool_calls" && calls.is_empty() => return None,
        value => without_nulls(value, &name),
    };
    let value = match value {
        Value::Object(_) | Value::Array(_) if is_of_call && name == "arguments" => Value::String(value.to_string()),
        value => value,
    };
    Some((name, value))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn check(cell: &str, expect: Option<&str>) {
        let text = session_text(serde_json::from_str(cell).unwrap());
        assert_eq!(text.as_deref(), expect, "{cell}");
    }

    #[test]
    fn cells() {
        check("null", None);
        check(r#""[{\"role\":\"user\"}]""#, Some(r#"[{"role":"user"}]"#));
        check(
            r#"[{"role":"user","content":"Go","tool_calls":null,"name":null},null]"#,
            Some(r#"[{"role":"user","content":"Go"}]"#),
        );
        check(
            r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"run","arguments":{"a":1,"b":null}}}]}]"#,
            Some(
                r#"[{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"run","arguments":"{\"a\":1}"}}]}]"#,
            ),
        );
        check(
            r#"[{"role":"assistant","content":"Done","tool_calls":[]}]"#,
            Some(r#"[{"role":"assistant","content":"Done"}]"#),
        );
        check(
            r#"[{"type":"function_call","name":"run","arguments":{"a":1}},{"type":"tool_use","name":"run","input":{"arguments":["a"]}}]"#,
            Some(
                r#"[{"type":"function_call","name":"run","arguments":"{\"a\":1}"},{"type":"tool_use","name":"run","input":{"arguments":["a"]}}]"#,
            ),
        );
        check(
            r#"{"tools":[{"type":"function","function":{"name":"run","parameters":{"properties":{"arguments":{"type":"array"}}}}}]}"#,
            Some(
                r#"{"tools":[{"type":"function","function":{"name":"run","parameters":{"properties":{"arguments":{"type":"array"}}}}}]}"#,
            ),
        );
        check(
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Go","id":null}]}],"tools":null}"#,
            Some(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Go"}]}]}"#),
        );
    }
}
