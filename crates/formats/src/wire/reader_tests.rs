#![allow(clippy::unwrap_used)]

use epitome_session::{Arguments, Content, Entry, MediaSource, Message};

use crate::{Format, LoadedFile, Profile, ReadOptions, read, validate, write};

pub(crate) fn load(input: &str) -> LoadedFile {
    read(input.as_bytes().to_vec(), ReadOptions::default()).unwrap()
}

/// One line for a message: its role, its origin, and its blocks.
pub(crate) fn shown(message: &Message) -> String {
    let block = |content: &Content| match content {
        Content::Text { text } => text.to_string(),
        Content::Thinking(thinking) => {
            format!(
                "thinking({}{})",
                thinking.text,
                thinking.signature.as_deref().map_or(String::new(), |it| format!(";{it}"))
            )
        }
        Content::ToolCall(call) => match &call.arguments {
            Arguments::Json(json) => format!("call({} {} {json})", call.id, call.name),
            Arguments::Text(text) => format!("call({} {} text:{text})", call.id, call.name),
        },
        Content::ToolResult(result) => {
            let error = if result.is_error { "!" } else { "" };
            format!("result({} {}{error}{})", result.call_id, result.text, "+media".repeat(result.attachments.len()))
        }
        Content::Media(media) => match &media.source {
            MediaSource::Base64(data) => format!("media({} {data})", media.mime),
            MediaSource::Url(url) => format!("media({url})"),
            MediaSource::Missing => "media()".to_owned(),
        },
        Content::Opaque(opaque) => format!("opaque({})", opaque.kind),
        Content::Gone => "gone".to_owned(),
    };
    let blocks: Vec<String> = message.blocks.iter().map(|part| block(&part.content)).collect();
    format!("{}/{:?}: {}", message.role.as_str(), message.origin, blocks.join(" | "))
}

pub(crate) fn view(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| shown(&entry.message)).collect()
}

/// The format, the log, and the view where a compaction made it another.
#[track_caller]
fn check(format: Format, input: &str, log: &[&str], compacted: &[&str]) {
    let loaded = load(input);
    assert_eq!(loaded.format, format);
    assert_eq!(loaded.warnings, []);
    let session = &loaded.sessions[0].session;
    assert_eq!(session.log().iter().map(|message| shown(message)).collect::<Vec<_>>(), log);
    assert_eq!(view(session.view()), if compacted.is_empty() { log } else { compacted });
    for message in session.log() {
        assert!(
            !message.records.is_empty()
                && message.records.iter().all(|it| (*it as usize) < loaded.sessions[0].records.len())
        );
    }
}

#[test]
fn openai_chat() {
    let call = r#"{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"1","type":"function","function":{"name":"run","arguments":"{\"a\": 1}"}},{"id":"2","type":"function","function":{"name":"patch","arguments":"*** Begin"}}]}"#;
    let messages = format!(
        r#"[{{"role":"system","content":"s"}}, {{"role":"user","content":[{{"type":"text","text":"see"}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,AAAA"}}}}]}},
        {call}, {{"role":"tool","tool_call_id":"2","content":"two"}}, {{"role":"tool","tool_call_id":"1","content":[{{"type":"text","text":"one"}}]}}, {{"role":"assistant","content":"done"}}]"#
    );
    let log = [
        "system/Instructions: s",
        "user/Typed: see | media(image/png AAAA)",
        r#"assistant/Model: thinking(hm) | call(1 run {"a": 1}) | call(2 patch text:*** Begin)"#,
        "tool/Tool: result(2 two)",
        "tool/Tool: result(1 one)",
        "assistant/Model: done",
    ];
    check(Format::OpenaiChat, &messages, &log, &[]);
    check(Format::OpenaiChat, &format!(r#"{{"model":"m","messages":{messages},"tools":[]}}"#), &log, &[]);
    let lines = "{\"role\":\"user\",\"content\":\"a\"}\n\n{\"role\":\"assistant\",\"content\":\"b\"}\r\n";
    check(Format::OpenaiChat, lines, &["user/Typed: a", "assistant/Model: b"], &[]);
    let legacy = r#"[{"role":"user","content":"a"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"x"}]"#;
    let log = ["user/Typed: a", "assistant/Model: call(function_call_1 f {})", "tool/Tool: result(function_call_1 x)"];
    check(Format::OpenaiChat, legacy, &log, &[]);
    let sessions = load(
        "{\"id\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}\n",
    );
    let names: Vec<&str> = sessions.sessions.iter().map(|session| session.name.as_str()).collect();
    assert_eq!(names, ["x", "1"]);
    let protocol = r#"[{"role":"user","content":"q"},{"role":"assistant","content":"so <tool_call>{\"name\":\"search\",\"arguments\":{}}</tool_call>"},{"role":"user","content":"<tool_response>r</tool_response>"}]"#;
    let loaded = load(protocol);
    let log = loaded.sessions[0].session.log();
    assert_eq!((&*log[1].text_calls[0].name, log[1].text_calls[0].start), ("search", 14));
    assert_eq!(shown(&log[2]), "user/ToolOutput: <tool_response>r</tool_response>");
}

#[test]
fn openai_responses() {
    let items = r#"[{"role":"developer","content":"d"},{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"https://x/y.png"}]},
      {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"ENC"},
      {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look","annotations":[]}]},
      {"type":"function_call","call_id":"c1","name":"run","arguments":"{}"},
      {"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin"},
      {"type":"web_search_call","status":"completed"},
      {"type":"function_call_output","call_id":"c1","output":"out"},
      {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"ok"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]},
      {"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}]"#;
    let log = [
        "system/Instructions: d",
        "user/Typed: hi | media(https://x/y.png)",
        "assistant/Model: thinking(hm;ENC) | I look | call(c1 run {}) | call(c2 apply_patch text:*** Begin) | opaque(web_search_call)",
        "tool/Tool: result(c1 out)",
        "tool/Tool: result(c2 ok+media)",
        "assistant/Model: done",
    ];
    check(Format::OpenaiResponses, items, &log, &[]);
    let mut with_instructions = vec!["system/Instructions: be brief"];
    with_instructions.extend(log);
    check(
        Format::OpenaiResponses,
        &format!(r#"{{"model":"m","instructions":"be brief","input":{items}}}"#),
        &with_instructions,
        &[],
    );
    check(Format::OpenaiResponses, r#"{"model":"m","input":"hello"}"#, &["user/Typed: hello"], &[]);
}

#[test]
fn anthropic() {
    let request = r#"{"model":"claude","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[
      {"role":"user","content":"hi"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SIG"},{"type":"redacted_thinking","data":"RED"},{"type":"text","text":"look"},{"type":"tool_use","id":"t1","name":"run","input":{"a": 1}},{"type":"tool_use","id":"t2","name":"run","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"},{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"x"},{"type":"text","text":"y"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}]},{"type":"text","text":"go on"}]},
      {"role":"user","content":[{"type":"text","text":"<system-reminder>r</system-reminder>"}]},
      {"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}]}]}"#;
    let log = [
        "system/Instructions: s",
        "user/Typed: hi",
        r#"assistant/Model: thinking(hm;SIG) | thinking(;RED) | look | call(t1 run {"a": 1}) | call(t2 run {})"#,
        "tool/Tool: result(t1 one)",
        "tool/Tool: result(t2 x\ny!+media)",
        "user/Typed: go on",
        "user/Injected: <system-reminder>r</system-reminder>",
        "assistant/Model: opaque(server_tool_use)",
    ];
    check(Format::Anthropic, request, &log, &[]);
    let list = r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":null}]}]"#;
    check(Format::Anthropic, list, &["tool/Tool: result(t1 )"], &[]);
}

/// A Claude Code record from a uuid, the fields behind it, and its message.
fn claude(kind: &str, uuid: &str, fields: &str, message: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"S","type":"{kind}","uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z"{fields},"message":{message}}}"#
    ) + "\n"
}

fn said(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

fn block(id: &str, block: &str) -> String {
    format!(
        r#"{{"id":"{id}","role":"assistant","content":[{block}],"usage":{{"input_tokens":1,"cache_read_input_tokens":5,"output_tokens":{}}}}}"#,
        block.len()
    )
}

fn answer(id: &str, text: &str) -> String {
    format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]}}"#)
}

fn claude_start() -> String {
    [
        r#"{"type":"file-history-snapshot","messageId":"x"}"#.to_owned() + "\n",
        claude("user", "u1", "", &said("fix it")),
        claude("user", "u2", r#","isMeta":true"#, &said("a hint")),
        claude("assistant", "a1", "", &block("m1", r#"{"type":"text","text":"I look"}"#)),
        claude("assistant", "a2", "", &block("m1", r#"{"type":"tool_use","id":"t1","name":"Read","input":{"p":1}}"#)),
        claude("user", "r1", "", &answer("t1", "one")),
        r#"{"type":"progress","uuid":"p","data":{"type":"agent_progress"}}"#.to_owned() + "\n",
        claude("assistant", "a3", "", &block("m1", r#"{"type":"tool_use","id":"t2","name":"Read","input":{}}"#)),
        claude("user", "r2", "", &answer("t2", "two")),
        claude("assistant", "side", r#","isSidechain":true"#, &block("m9", r#"{"type":"text","text":"aside"}"#))
            .replacen(r#""isSidechain":false,"#, "", 1),
        claude("user", "u1", r#","copied":true"#, &said("fix it")),
    ]
    .concat()
}

const CLAUDE_LOG: [&str; 5] = [
    "user/Typed: fix it",
    "user/Injected: a hint",
    r#"assistant/Model: I look | call(t1 Read {"p":1}) | call(t2 Read {})"#,
    "tool/Tool: result(t1 one)",
    "tool/Tool: result(t2 two)",
];

#[test]
fn claude_code() {
    check(Format::ClaudeCode, &claude_start(), &CLAUDE_LOG, &[]);
    let loaded = load(&claude_start());
    let usage = loaded.sessions[0].session.log()[2].usage.unwrap();
    let newest = r#"{"type":"tool_use","id":"t2","name":"Read","input":{}}"#.len() as u64;
    assert_eq!((usage.input, usage.cache_read, usage.output), (6, 5, newest), "counted once, the last report of it");
    assert_eq!((loaded.sessions[0].name.as_str(), loaded.sessions[0].session.log()[2].records.len()), ("S", 3));
}

#[test]
fn claude_code_says_who_wrote_a_message() {
    let input = [
        claude("user", "u1", r#","origin":{"kind":"human"}"#, &said("fix it")),
        claude("user", "u2", r#","origin":{"kind":"task-notification"}"#, &said("a task has ended")),
        claude("user", "u3", "", &said("<command-name>/review</command-name><command-args></command-args>")),
        claude(
            "user",
            "u4",
            "",
            &said("<command-name>/review</command-name>\\n<command-args>the parser</command-args>"),
        ),
    ];
    let log = [
        "user/Typed: fix it",
        "user/Injected: a task has ended",
        "user/Injected: <command-name>/review</command-name><command-args></command-args>",
        "user/Typed: <command-name>/review</command-name>\n<command-args>the parser</command-args>",
    ];
    check(Format::ClaudeCode, &input.concat(), &log, &log);
}

#[test]
fn claude_code_compactions() {
    let boundary = |data: &str| {
        format!(
            r#"{{"type":"system","subtype":"compact_boundary","uuid":"b{}","parentUuid":null,"sessionId":"S","compactMetadata":{{"trigger":"auto","preTokens":9{data}}}}}"#,
            data.len()
        ) + "\n"
    };
    let summary = claude("user", "s1", r#","isCompactSummary":true"#, &said("what was"));
    let after = claude("user", "u9", "", &said("next"));
    let mut log = CLAUDE_LOG.to_vec();
    log.push("user/Typed: next");
    let input = [claude_start(), boundary(""), summary.clone(), after.clone()].concat();
    check(Format::ClaudeCode, &input, &log, &["user/Summary: what was", "user/Typed: next"]);
    let epoch = &load(&input).sessions[0].session.journal()[0].clone();
    assert_eq!((epoch.tokens_before, epoch.log_length), (Some(9), 5));

    let kept = boundary(r#","preservedMessages":{"allUuids":["r2","a2"]}"#);
    let input = [claude_start(), kept, summary.clone(), after.clone()].concat();
    let compacted = ["user/Summary: what was", CLAUDE_LOG[2], CLAUDE_LOG[4], "user/Typed: next"];
    check(Format::ClaudeCode, &input, &log, &compacted);

    let segment = boundary(r#","preservedSegment":{"headUuid":"a3","tailUuid":"r2"}"#);
    let input = [claude_start(), segment, summary, after.clone()].concat();
    check(Format::ClaudeCode, &input, &log, &compacted);

    let input = [claude_start(), boundary(""), after.clone()].concat();
    check(Format::ClaudeCode, &input, &log, &["user/Typed: next"]); // the summary was lost

    let cleared = r#"{"type":"system","subtype":"microcompact_boundary","uuid":"mc","parentUuid":"r2","microcompactMetadata":{"compactedToolIds":["t1"]}}"#;
    let input = [claude_start(), cleared.to_owned() + "\n", after].concat();
    let mut compacted = log.clone();
    compacted[3] = "tool/Tool: result(t1 [Old tool result content cleared])";
    check(Format::ClaudeCode, &input, &log, &compacted);
}

fn codex(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:00.000Z","type":"{kind}","payload":{payload}}}"#) + "\n"
}

#[test]
fn codex_rollouts() {
    let user = |text: &str| {
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
    };
    let start = [
        codex("session_meta", r#"{"id":"C","base_instructions":{"text":"be good"}}"#),
        codex("response_item", r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}"#),
        codex("response_item", &user("<environment_context>x</environment_context>")),
        codex("response_item", &user("do it")),
        codex("event_msg", r#"{"type":"user_message","message":"do it"}"#),
        codex("response_item", r#"{"type":"reasoning","summary":[],"encrypted_content":"E"}"#),
        codex("response_item", r#"{"type":"function_call","name":"shell","arguments":"{\"c\":1}","call_id":"c1"}"#),
        codex("response_item", r#"{"type":"local_shell_call","call_id":"c3","action":{"command":["ls"]}}"#),
        codex("response_item", r#"{"type":"local_shell_call","call_id":"never","action":{}}"#),
        codex("response_item", r#"{"type":"function_call_output","call_id":"c1","output":"out"}"#),
        codex("response_item", r#"{"type":"function_call_output","call_id":"c3","output":null}"#),
        codex("event_msg", r#"{"type":"token_count","info":{"last_token_usage":{"input_tokens":7,"cached_input_tokens":3,"output_tokens":2}}}"#),
    ]
    .concat();
    let log = [
        "system/Instructions: be good",
        "system/Instructions: rules",
        "user/Injected: <environment_context>x</environment_context>",
        "user/Typed: do it",
        r#"assistant/Model: thinking(;E) | call(c1 shell {"c":1}) | call(c3 local_shell {"command":["ls"]}) | opaque(local_shell_call)"#,
        "tool/Tool: result(c1 out)",
        "tool/Tool: result(c3 )",
    ];
    check(Format::Codex, &start, &log, &[]);
    assert_eq!(load(&start).sessions[0].session.log()[4].usage.unwrap().input, 7);

    let history = format!(
        r#"{{"message":"","replacement_history":[{},{{"type":"message","role":"developer","content":[{{"type":"input_text","text":"rules"}}]}},{{"type":"compaction","encrypted_content":"X"}}]}}"#,
        user("do it")
    );
    let input = [start.clone(), codex("compacted", &history), codex("response_item", &user("more"))].concat();
    let mut longer = log.to_vec();
    longer.push("user/Typed: more");
    let compacted = [log[0], "user/Typed: do it", log[1], "user/Summary: opaque(compaction)", "user/Typed: more"];
    check(Format::Codex, &input, &longer, &compacted);
    // What an earlier compaction added stands where the newer one puts it.
    let again = history.replace(
        r#"{"type":"message","role":"developer""#,
        &format!(r#"{},{{"type":"message","role":"developer""#, user("new")),
    );
    let twice = [input, codex("compacted", &again)].concat();
    let compacted = [log[0], "user/Typed: do it", "user/Typed: new", log[1], "user/Summary: opaque(compaction)"];
    check(Format::Codex, &twice, &longer, &compacted);
    // Early versions: a summary, and no history.
    let input = [start, codex("compacted", r#"{"message":"so far"}"#)].concat();
    check(Format::Codex, &input, &log, &[log[0], log[2], log[3], "user/Summary: so far"]);
}

/// Small files of the agents, with a compaction each.
pub(crate) fn samples() -> Vec<(&'static str, String)> {
    let long = "a result that is long enough to be worth an excerpt";
    let claude = [
        claude_start(),
        r#"{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"compactMetadata":{"trigger":"auto","preservedMessages":{"allUuids":["r2","a2"]}}}"#.to_owned() + "\n",
        claude("user", "s1", r#","isCompactSummary":true"#, &said("what was")),
        claude("user", "u9", "", &said("next")),
        claude("assistant", "a9", "", &block("m9", r#"{"type":"tool_use","id":"t9","name":"Read","input":{"p":"x"}}"#)),
        claude("user", "r9", "", &answer("t9", long)),
    ];
    let item = |json: &str| codex("response_item", json);
    let codex = [
        codex("session_meta", r#"{"id":"C","base_instructions":{"text":"be good"}}"#),
        item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]}"#),
        item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"now"}]}"#),
        codex(
            "compacted",
            r#"{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]},{"type":"compaction","encrypted_content":"X"}]}"#,
        ),
        item(r#"{"type":"reasoning","summary":[],"id":"rs"}"#),
        item(
            r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"c1","status":"completed"}"#,
        ),
        item(&format!(r#"{{"type":"custom_tool_call_output","call_id":"c1","output":"{long}"}}"#)),
        item(
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}],"phase":"final"}"#,
        ),
    ];
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let pi = [
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n".to_owned(),
        pi("1", "null", &user("do it")),
        pi("2", "\"1\"", &user("more")),
        r#"{"type":"compaction","id":"3","parentId":"2","summary":"so far","firstKeptEntryId":"2","tokensBefore":9}"#.to_owned() + "\n",
        pi("4", "\"3\"", r#"{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{"path":"a"}}]}"#),
        pi("5", "\"4\"", &format!(r#"{{"role":"toolResult","toolCallId":"t","toolName":"read","content":[{{"type":"text","text":"{long}"}}],"isError":false}}"#)),
        pi("6", "\"5\"", &user("thanks")),
    ]
    .concat();
    let first_version = pi
        .lines()
        .map(|line| {
            let mut entry: serde_json::Value = serde_json::from_str(line).unwrap();
            let fields = entry.as_object_mut().unwrap();
            ["parentId", "version"].iter().for_each(|name| drop(fields.remove(*name)));
            if fields["type"] != "session" {
                fields.remove("id");
            }
            if fields.remove("firstKeptEntryId").is_some() {
                fields.insert("firstKeptEntryIndex".to_owned(), 2.into());
            }
            entry.to_string() + "\n"
        })
        .collect();
    vec![("claude", claude.concat()), ("codex", codex.concat()), ("pi", pi), ("pi, first version", first_version)]
}

fn pi(id: &str, parent: &str, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z","message":{message}}}"#
    ) + "\n"
}

#[test]
fn pi_sessions() {
    let head = "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n";
    let user = |text: &str| format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
    let start = [
        head.to_owned(),
        pi("1", "null", &user("do it")),
        pi("2", "\"1\"", r#"{"role":"assistant","api":"anthropic-messages","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"SIG"},{"type":"toolCall","id":"t","name":"read","arguments":{"path":"a"}}],"usage":{"input":1,"cacheRead":2,"cacheWrite":3,"output":4}}"#),
        pi("3", "\"2\"", r#"{"role":"toolResult","toolCallId":"t","toolName":"read","content":[{"type":"text","text":"out"}],"isError":true}"#),
        pi("4", "\"3\"", r#"{"role":"bashExecution","command":"ls","output":"a"}"#),
        pi("5", "\"4\"", &user("more")),
    ]
    .concat();
    let log = [
        "user/Typed: do it",
        r#"assistant/Model: thinking(hm;SIG) | call(t read {"path":"a"})"#,
        "tool/Tool: result(t out!)",
        "user/Injected: Ran `ls`\n```\na\n```",
        "user/Typed: more",
    ];
    check(Format::Pi, &start, &log, &[]);
    let usage = load(&start).sessions[0].session.log()[1].usage.unwrap();
    assert_eq!((usage.input, usage.cache_write), (6, 3));
    let compaction =
        r#"{"type":"compaction","id":"6","parentId":"5","summary":"so far","firstKeptEntryId":"4","tokensBefore":9}"#;
    let input = [&start, compaction, "\n"].concat();
    check(Format::Pi, &input, &log, &["user/Summary: so far", log[3], log[4]]);
    // The first version: no ids, and the kept entry by its line.
    let old = input.replace(r#""firstKeptEntryId":"4""#, r#""firstKeptEntryIndex":4"#);
    check(Format::Pi, &old, &log, &["user/Summary: so far", log[3], log[4]]);
    // A branch from an earlier entry, with a summary of what was left.
    let branch = "{\"type\":\"branch_summary\",\"id\":\"7\",\"parentId\":\"1\",\"summary\":\"tried\"}\n";
    let input = [start.clone(), branch.to_owned(), pi("8", "\"7\"", &user("again"))].concat();
    let mut longer = log.to_vec();
    longer.push("user/Typed: again");
    check(Format::Pi, &input, &longer, &[log[0], "user/Summary: tried", "user/Typed: again"]);
    let input = [start, pi("8", "\"1\"", &user("again"))].concat();
    check(Format::Pi, &input, &longer, &[log[0], "user/Typed: again"]);
}

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
        claude_start(),
        codex("session_meta", r#"{"id":"C"}"#)
            + &codex("response_item", r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}"#)
            + &codex("compacted", r#"{"message":"x","replacement_history":[{"type":"message","role":"user","content":"y"}]}"#),
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n".to_owned()
            + &pi("1", "null", r#"{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{}}]}"#)
            + "{\"type\":\"compaction\",\"id\":\"2\",\"parentId\":\"1\",\"summary\":\"s\",\"firstKeptEntryId\":\"1\"}\n",
        r#"{"system":"s","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}]}]}]}"#.to_owned(),
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
                    let Some(profile) = Profile::of(*format).filter(|_| *format != loaded.format) else { continue };
                    let json = String::from_utf8(written).unwrap();
                    assert_eq!(validate(&json, profile), [], "{json}");
                    read_back += 1;
                }
            }
        }
    }
    assert!(read_back > 1000, "most damage leaves something to read: {read_back}");
}
