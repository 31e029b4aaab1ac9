//! Calls and results whose ids are missing, repeated, somebody's own, or cut within a character: which belong together, in
//! each format, and how they are written.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use epitome_session::{Change, Content, EditKind, Epoch, Excerpt, KeptRanges, OpenCalls, Role, Trigger};
use serde_json::Value;

use crate::claude_code::tests as claude_code;
use crate::{Format, LoadedFile, ReadOptions, Wire, read, validate, write};

const MARK: &str = "[…]";

fn load(json: &str, format: Format) -> LoadedFile {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    read(json.as_bytes().to_vec(), options).unwrap()
}

/// Returns each result's text behind the arguments of its call; `-` for none.
fn pairs(loaded: &LoadedFile) -> String {
    let mut open = OpenCalls::default();
    let mut shown = String::new();
    for (number, entry) in loaded.sessions[0].session.view().iter().enumerate() {
        entry.message.calls().for_each(|(_, call)| open.open(number, call, call.arguments.text().to_string()));
        for result in entry.message.blocks.iter().filter_map(|block| block.as_result()) {
            let call = open.answer(result).map_or("-".to_owned(), |(_, arguments)| arguments);
            write!(shown, "{}={} ", call.trim_matches(|char: char| !char.is_ascii_digit()), result.text).unwrap();
        }
    }
    shown.trim_end().to_owned()
}

/// Writes the file with every result cut, which all of them survive, and the first call's arguments cut: no bytes of them
/// are left.
fn cut(loaded: &LoadedFile) -> String {
    let mut session = loaded.sessions[0].session.clone();
    let mut changes = Vec::new();
    for entry in session.view() {
        for (block, content) in entry.message.blocks.iter().enumerate() {
            let (entry, block) = (entry.key, block as u32);
            match &content.content {
                Content::ToolResult(result) => {
                    let kept = KeptRanges::new(&result.text, &[]).unwrap();
                    let excerpt = Excerpt { kept, marks: vec![MARK.into()], attachments: None };
                    changes.push(Change::Excerpt { entry, block, excerpt });
                }
                Content::ToolCall(_) => changes.push(Change::Trim { entry, block, arguments: "{}".into() }),
                _ => {}
            }
        }
    }
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, changes, Vec::new()));
    String::from_utf8(write(loaded, 0, &session, loaded.format).unwrap()).unwrap()
}

/// Checks which call each result answers; that every provider's form of it is valid; and that the results and calls which were
/// cut have the ids that `ids` are, call by call and then result by result (`-` for none).
fn check(format: Format, json: &str, expect: &str, ids: &str) {
    let loaded = load(json, format);
    assert_eq!(pairs(&loaded), expect, "{json}");
    for profile in Wire::ALL.into_iter().filter(|profile| Format::from(*profile) != format) {
        let written = write(&loaded, 0, &loaded.sessions[0].session, Format::from(profile)).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(validate(&written, profile), [], "{profile:?}: {json}\n{written}");
        assert_eq!(pairs(&load(&written, Format::from(profile))).matches('=').count(), expect.matches('=').count());
    }
    let own = write(&loaded, 0, &loaded.sessions[0].session, format).unwrap();
    if matches!(format, Format::OpenaiChat | Format::Gemini) {
        assert_eq!(String::from_utf8(own).unwrap(), json, "untouched");
    }
    let cut = cut(&loaded);
    assert_eq!(written_ids(&cut), ids, "{cut}");
}

/// Returns the ids of a request's calls, then those of its results; `-` for none.
fn written_ids(json: &str) -> String {
    let kept = crate::json::keep_halves(json).unwrap_or_else(|| json.to_owned());
    let request: Value = serde_json::from_str(&kept).unwrap();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    collect(&request, &mut calls, &mut results);
    format!("{} | {}", calls.join(" "), results.join(" "))
}

fn collect(value: &Value, calls: &mut Vec<String>, results: &mut Vec<String>) {
    let id = |value: &Value| match value.as_str() {
        Some(id) => crate::json::quote_id(id).trim_matches('"').to_owned(),
        None => "-".to_owned(),
    };
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, calls, results)),
        Value::Object(fields) => {
            match value["type"].as_str() {
                Some("tool_use" | "function") => calls.push(id(&value["id"])),
                Some("function_call") => calls.push(id(&value["call_id"])),
                Some("tool_result") => results.push(id(&value["tool_use_id"])),
                Some("function_call_output") => results.push(id(&value["call_id"])),
                _ if matches!(value["role"].as_str(), Some("tool" | "function")) && value["parts"].is_null() => {
                    results.push(id(&value["tool_call_id"]));
                }
                _ => {}
            }
            for (name, field) in fields {
                match name.as_str() {
                    "functionCall" => calls.push(id(&field["id"])),
                    "functionResponse" => results.push(id(&field["id"])),
                    "function_call" => calls.push("-".to_owned()),
                    _ => collect(field, calls, results),
                }
            }
        }
        _ => {}
    }
}

/// The field of an id, which is written as it stands between quotes; `-` for none.
fn field(name: &str, id: &str) -> String {
    if id == "-" { String::new() } else { format!(r#""{name}":"{id}","#) }
}

/// One step: calls as `id:tool`, results as `id:tool`, `-` for no id and an empty tool for none. The first call has the argument
/// 1, and so on; the results say what they are.
fn step(
    call: &dyn Fn(&str, &str, usize) -> String,
    result: &dyn Fn(&str, &str, usize) -> String,
    line: &str,
) -> [String; 2] {
    let (calls, results) = line.split_once('|').unwrap();
    let parts = |text: &str, write: &dyn Fn(&str, &str, usize) -> String| {
        let words = text.split_whitespace().enumerate();
        let one = |(at, word): (usize, &str)| {
            let (id, tool) = word.split_once(':').unwrap_or((word, ""));
            write(id, tool, at + 1)
        };
        words.map(one).collect::<Vec<_>>().join(",")
    };
    [parts(calls, call), parts(results, result)]
}

#[test]
fn gemini() {
    let check = |line: &str, expect: &str, ids: &str| {
        let call = |id: &str, tool: &str, at: usize| {
            format!(r#"{{"functionCall":{{{}"name":"{tool}","args":{{"p":{at}}}}}}}"#, field("id", id))
        };
        let result = |id: &str, tool: &str, at: usize| {
            let id = field("id", id);
            format!(r#"{{"functionResponse":{{{id}"name":"{tool}","response":{{"output":"r{at}"}}}}}}"#)
        };
        let [calls, results] = step(&call, &result, line);
        let json = format!(
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{calls}]}},{{"role":"user","parts":[{results}]}}]}}"#
        );
        super::pairs::check(Format::Gemini, &json, expect, ids);
    };
    // What google-genai makes of a response of Gemini's newer models.
    check("c1:read c2:read | -:read -:read", "1=r1 2=r2", "c1 c2 | - -");
    check("c1:read c2:list | -:list -:read", "2=r1 1=r2", "c1 c2 | - -");
    check("-:read -:read | -:read -:read", "1=r1 2=r2", "- - | - -");
    check("-:read -:list | -:list -:read", "2=r1 1=r2", "- - | - -");
    check("-:read -:read | x:read y:read", "1=r1 2=r2", "- - | x y");
    check("c1:read c2:read | c2:read -:read", "2=r1 1=r2", "c1 c2 | c2 -");
    check("read:read | read:read", "1=r1", "read | read");
    check(r"a\ud83d:read a\ud83e:read | a\ud83e:read a\ud83d:read", "2=r1 1=r2", r"a\ud83d a\ud83e | a\ud83e a\ud83d");
}

#[test]
fn openai_chat() {
    let check = |line: &str, expect: &str, ids: &str| {
        let call = |id: &str, tool: &str, at: usize| {
            let id = field("id", id);
            format!(r#"{{{id}"type":"function","function":{{"name":"{tool}","arguments":"{{\"p\":{at}}}"}}}}"#)
        };
        let result = |id: &str, tool: &str, at: usize| {
            let tool = if tool.is_empty() { String::new() } else { field("name", tool) };
            format!(r#"{{"role":"tool",{}{tool}"content":"r{at}"}}"#, field("tool_call_id", id))
        };
        let [calls, results] = step(&call, &result, line);
        let json = format!(
            r#"{{"messages":[{{"role":"user","content":"go"}},{{"role":"assistant","content":null,"tool_calls":[{calls}]}},{results}]}}"#
        );
        super::pairs::check(Format::OpenaiChat, &json, expect, ids);
    };
    check("c1:a c2:b | - -", "1=r1 2=r2", "c1 c2 | - -");
    check("c1:a c2:b | -:b -:a", "2=r1 1=r2", "c1 c2 | - -");
    check("-:a -:b | - -", "1=r1 2=r2", "- - | - -");
    check("-:a -:b | -:b -:a", "2=r1 1=r2", "- - | - -");
    check("c1:a c2:b | x y", "1=r1 2=r2", "c1 c2 | x y");
    check("c1:a c2:b | c2 x", "2=r1 1=r2", "c1 c2 | c2 x");
    // Two calls with one id are refused by all services that go by ids.
    check("Read:a Read:a | Read Read", "1=r1 2=r2", "Read Read_2 | Read Read_2");
    check("Read:a Read:b | Read:b Read:a", "2=r1 1=r2", "Read Read_2 | Read_2 Read");
    check(r"\ud83d:a \ud83e:a | \ud83e \ud83d", "2=r1 1=r2", r"\ud83d \ud83e | \ud83e \ud83d");
}

#[test]
fn functions_of_old() {
    let json = r#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"p\":1}"}},{"role":"function","name":"f","content":"r1"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"p\":2}"}},{"role":"function","name":"f","content":"r2"}]}"#;
    check(Format::OpenaiChat, json, "1=r1 2=r2", "- - | - -");
}

#[test]
fn openai_responses() {
    let check = |line: &str, expect: &str, ids: &str| {
        let call = |id: &str, tool: &str, at: usize| {
            let id = field("call_id", id);
            format!(r#"{{"type":"function_call",{id}"name":"{tool}","arguments":"{{\"p\":{at}}}"}}"#)
        };
        let result = |id: &str, _: &str, at: usize| {
            format!(r#"{{"type":"function_call_output",{}"output":"r{at}"}}"#, field("call_id", id))
        };
        let [calls, results] = step(&call, &result, line);
        let json = format!(r#"{{"input":[{{"type":"message","role":"user","content":"go"}},{calls},{results}]}}"#);
        super::pairs::check(Format::OpenaiResponses, &json, expect, ids);
    };
    check("c1:a c2:b | - -", "1=r1 2=r2", "c1 c2 | c1 c2");
    check("c1:a c2:b | x y", "1=r1 2=r2", "c1 c2 | c1 c2");
    check("Read:a Read:b | Read Read", "1=r1 2=r2", "Read Read_2 | Read Read_2");
    check(r"\ud83d:a \ud83e:a | \ud83e \ud83d", "2=r1 1=r2", r"\ud83d \ud83e | \ud83e \ud83d");
}

#[test]
fn anthropic() {
    let check = |line: &str, expect: &str, ids: &str| {
        let call = |id: &str, tool: &str, at: usize| {
            format!(r#"{{"type":"tool_use",{}"name":"{tool}","input":{{"p":{at}}}}}"#, field("id", id))
        };
        let result = |id: &str, _: &str, at: usize| {
            format!(r#"{{"type":"tool_result",{}"content":"r{at}"}}"#, field("tool_use_id", id))
        };
        let [calls, results] = step(&call, &result, line);
        let json = format!(
            r#"{{"messages":[{{"role":"user","content":"go"}},{{"role":"assistant","content":[{calls}]}},{{"role":"user","content":[{results}]}}]}}"#
        );
        super::pairs::check(Format::Anthropic, &json, expect, ids);
    };
    check("c1:a c2:b | - -", "1=r1 2=r2", "c1 c2 | c1 c2");
    check("c1:a c2:b | x y", "1=r1 2=r2", "c1 c2 | c1 c2");
    check("Read:a Read:b | Read Read", "1=r1 2=r2", "Read Read_2 | Read Read_2");
    check(r"\ud83d:a \ud83e:a | \ud83e \ud83d", "2=r1 1=r2", "_ __2 | __2 _");
}

/// The copies behind a compaction are what Claude Code sends next: Anthropic refuses two calls with one id.
#[test]
fn an_agents_file_has_one_call_for_each_id() {
    let json = claude_code::start();
    let repeated = json.replace(r#""t2""#, r#""t1""#);
    assert_ne!(repeated, json);
    let loaded = load(&repeated, Format::ClaudeCode);
    let mut session = loaded.sessions[0].session.clone();
    let first = session.view()[0].key;
    session.commit(Epoch::recorded(Trigger::Manual, [first], Vec::new()));
    let written = String::from_utf8(write(&loaded, 0, &session, Format::ClaudeCode).unwrap()).unwrap();
    let behind = &written[repeated.len()..];
    let list: Vec<Value> = behind.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    collect(&Value::from(list), &mut calls, &mut results);
    calls.sort_unstable();
    results.sort_unstable();
    assert_eq!((calls.join(" "), results.join(" ")), ("t1 t1_2".to_owned(), "t1 t1_2".to_owned()), "{behind}");
    let again = load(&written, Format::ClaudeCode);
    assert!(again.sessions[0].session.log().iter().any(|message| message.role == Role::Tool));
}
