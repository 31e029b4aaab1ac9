//! Counts the parts of a request: messages, blocks, calls. Each takes hundreds of bytes in memory, however short it is.

/// The nesting level of blocks and calls in a request: the request, its messages, their blocks.
const LEVEL: usize = 3;

/// Whether a request, or a file of JSON lines, has more than `most` parts: objects down to the level of blocks and
/// calls, and those of the same level beside the messages. Text that is not JSON is counted as far as it looks like
/// JSON. Linear.
pub(crate) fn are_too_many(json: &[u8], most: usize) -> bool {
    // A bare list of messages has one level less.
    let is_list = json.trim_ascii_start().first() == Some(&b'[');
    let lowest = LEVEL - usize::from(is_list);
    let (mut level, mut parts, mut at) = (0_usize, 0_usize, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = end_of_string(json, at + 1),
            b'{' => {
                level += 1;
                parts += usize::from(level <= lowest);
                if parts > most {
                    return true;
                }
            }
            b'}' => level = level.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    false
}

/// Where the string ends that begins at `at`; the end where it does not.
fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_request() {
        let check = |json: &str, parts: usize| {
            assert!(!are_too_many(json.as_bytes(), parts), "{json}");
            assert!(are_too_many(json.as_bytes(), parts - 1), "{json}");
        };
        check(r#"{"messages": [{"role": "user", "content": "{{{{"}, {"role": "user", "content": "a \" { b \\"}]}"#, 3);
        check(r#"[{"role": "user", "content": "x"}, {"content": [{"type": "text", "text": "x"}]}]"#, 3);
        let call = r#"{"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}"#;
        check(&format!(r#"{{"messages": [{call}, {call}]}}"#), 5);
        check(r#"{"content": [{"type": "tool_use", "input": {"a": {"b": {}}}}]}"#, 3);
        check(
            "{\"type\":\"user\",\"message\":{\"content\":[]}}\n{\"type\":\"user\",\"message\":{\"content\":[{}]}}",
            5,
        );
    }

    #[test]
    fn what_is_no_json() {
        for text in ["", "\"", "\"\\", "}}}}", "[[[[", "{\"a", "no"] {
            assert!(!are_too_many(text.as_bytes(), 1), "{text}");
        }
    }
}
