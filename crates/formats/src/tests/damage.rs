//! Damaged and odd files: what is read of them is written in every format, and valid there.

#![allow(clippy::unwrap_used)]

use crate::claude_code::tests as claude_code;
use crate::codex::tests as codex;
use crate::pi::tests as pi;
use crate::{Format, ReadOptions, read, validate, write};

#[test]
fn odd_content_is_kept_and_never_fails() {
    for input in [
        r#"[{"role":"user","content":5},{"role":"assistant"},{"role":"assistant","content":[7,"x",{"type":"new"}],"tool_calls":[3]}]"#,
        r#"{"system":5,"messages":[{"role":"user","content":{"type":"text"}},{"role":"assistant","content":[{"type":"tool_use"},[],{}]}]}"#,
        r#"{"input":[5,"x",{"type":"reasoning"},{"type":"function_call"},{"type":"message","role":"user"}]}"#,
        "{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null}\n{\"type\":\"assistant\",\"uuid\":\"2\",\"message\":{\"content\":[{}]}}\n{\"type\":\"system\",\"subtype\":\"compact_boundary\"}\n[]\n",
        "{\"type\":\"session_meta\",\"payload\":{}}\n{\"type\":\"response_item\",\"payload\":{}}\n{\"type\":\"compacted\",\"payload\":{\"replacement_history\":[5]}}\n",
        "{\"type\":\"session\",\"version\":3}\n{\"type\":\"message\",\"message\":{}}\n{\"type\":\"compaction\"}\n{\"type\":\"message\",\"id\":\"a\",\"parentId\":\"a\",\"message\":{\"role\":\"user\"}}\n",
    ] {
        for format in [
            None,
            Some(Format::OpenaiChat),
            Some(Format::OpenaiResponses),
            Some(Format::Anthropic),
            Some(Format::Gemini),
            Some(Format::ClaudeCode),
            Some(Format::Codex),
            Some(Format::Pi),
        ] {
            if let Ok(loaded) =
                read(input.as_bytes().to_vec(), ReadOptions { format, strict: false, ..ReadOptions::default() })
            {
                assert!(!loaded.sessions.is_empty());
            }
        }
    }
}

#[test]
fn damage_anywhere_never_fails_and_what_is_read_is_rendered() {
    let samples = [
        claude_code::start(),
        codex::record("session_meta", r#"{"id":"C"}"#)
            + &codex::record("response_item", r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}"#)
            + &codex::record("compacted", r#"{"message":"x","replacement_history":[{"type":"message","role":"user","content":"y"}]}"#),
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n".to_owned()
            + &pi::record("1", "null", r#"{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{}}]}"#)
            + "{\"type\":\"compaction\",\"id\":\"2\",\"parentId\":\"1\",\"summary\":\"s\",\"firstKeptEntryId\":\"1\"}\n",
        r#"{"system":"s","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}]}]}]}"#.to_owned(),
        r#"{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"parts":[{"functionResponse":{"name":"f","response":{"output":"x"}}}]}]}"#.to_owned(),
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}]}"#.to_owned(),
    ];
    let mut state = 1u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    let mut read_back = 0;
    for sample in &samples {
        for _ in 0..400 {
            let mut bytes = sample.clone().into_bytes();
            for _ in 0..1 + below(3) {
                let at = below(bytes.len().max(2)).min(bytes.len() - 1);
                match below(4) {
                    0 => bytes[at] = b"\"{}[],:\\n\xff0"[below(11)],
                    1 if bytes.len() > 1 => drop(bytes.remove(at)),
                    2 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, b'"'),
                }
            }
            let Ok(loaded) = read(bytes, ReadOptions::default()) else { continue };
            for (index, of_file) in loaded.sessions.iter().enumerate() {
                for (format, ..) in Format::ALL.iter().filter(|(format, ..)| format.is_writable()) {
                    let written = write(&loaded, index, &of_file.session, *format).unwrap();
                    let Some(profile) = format.wire().filter(|_| *format != loaded.format) else {
                        continue;
                    };
                    let json = String::from_utf8(written).unwrap();
                    assert_eq!(validate(&json, profile), [], "{json}");
                    read_back += 1;
                }
            }
        }
    }
    assert!(read_back > 1000, "most damage leaves something to read: {read_back}");
}
