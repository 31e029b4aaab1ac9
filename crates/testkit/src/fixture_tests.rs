#![allow(clippy::unwrap_used)]
use super::*;

/// Every message as one line: role, origin, blocks.
fn check(fixture: &str, expect: &[&str]) {
    let shown: Vec<String> = session(fixture).log().iter().map(|message| shown(message)).collect();
    assert_eq!(shown, expect, "{fixture}");
}

fn shown(message: &Message) -> String {
    let mut line = format!("{} {:?}", message.role.as_str(), message.origin);
    if message.pinned {
        line.push_str(" pinned");
    }
    for block in &message.blocks {
        let block = match &block.content {
            Content::Text { text } => format!("{text:?}"),
            Content::Thinking(thinking) if thinking.signature.is_some() => format!("signed {:?}", thinking.text),
            Content::Thinking(thinking) => format!("thinking {:?}", thinking.text),
            Content::ToolCall(call) => format!("{}#{} {:?}", call.name, call.id, call.arguments),
            Content::ToolResult(result) if result.is_error => format!("error#{} {:?}", result.call_id, result.text),
            Content::ToolResult(result) => format!("#{} {:?}", result.call_id, result.text),
            Content::Media(_) => "media".to_owned(),
            other => format!("{other:?}"),
        };
        line.push_str(" | ");
        line.push_str(&block);
    }
    line
}

#[test]
fn speech() {
    check(
        "system: S\nuser: hello\nassistant: hi",
        &["system Instructions | \"S\"", "user Typed | \"hello\"", "assistant Model | \"hi\""],
    );
    check(
        "user(injected): r\nuser(summary, pinned): s\nuser(output): o",
        &["user Injected | \"r\"", "user Summary pinned | \"s\"", "user ToolOutput | \"o\""],
    );
    check(
        "# a comment\nuser: a: b\nassistant: one\nassistant: two\ntext: more\nimage",
        &["user Typed | \"a: b\"", "assistant Model | \"one\"", "assistant Model | \"two\" | \"more\" | media"],
    );
}

#[test]
fn steps_collect_reasoning_text_and_calls() {
    check(
        "thinking signed: t\nassistant: a\ncall Read c1 {\"x\":1}\ncall run c2 *** Begin Patch\nresult c1: x",
        &[
            "assistant Model | signed \"t\" | \"a\" | Read#c1 Json(\"{\\\"x\\\":1}\") | run#c2 Text(\"*** Begin Patch\")",
            "tool Tool | #c1 \"x\"",
        ],
    );
    check(
        "assistant: a\nthinking: t\nresult c9 error: no",
        &["assistant Model | \"a\"", "assistant Model | thinking \"t\"", "tool Tool | error#c9 \"no\""],
    );
}

#[test]
fn texts_go_on_and_repeat() {
    check("result c1:\n  a\n\n    b\n\nuser: x", &["tool Tool | #c1 \"a\\n\\n  b\"", "user Typed | \"x\""]);
    check("user: ab … x3\n  line {n} … x2 lines", &["user Typed | \"ab ab ab\\nline 1\\nline 2\""]);
    check("user: what is … x for", &["user Typed | \"what is … x for\""]);
}

#[test]
fn calls_in_plain_text_are_marked() {
    let session = session("assistant: I look.\ntextcall bash: ls -la");
    let message = &session.log()[0];
    let call = &message.text_calls[0];
    let Content::Text { text } = &message.blocks[call.block as usize].content else { unreachable!() };
    assert_eq!((call.name.as_ref(), &text[call.start as usize..call.end as usize]), ("bash", "ls -la"));
}

#[test]
fn wrong_lines_are_named() {
    let check = |fixture: &str, line: usize, problem: &str| {
        let error = parse(fixture).unwrap_err();
        assert_eq!((error.line, error.problem), (line, problem), "{fixture}");
    };
    check("user: a\nusher: b", 2, "starts with no known word");
    check("  a", 1, "continues nothing");
    check("user", 1, "has no colon");
    check("user(pined): x", 1, "an unknown word in brackets");
}

#[test]
fn four_bytes_are_a_token() {
    assert_eq!(["", "a", "abcd", "abcde"].map(|text| FakeCounter.count(text)), [0, 1, 1, 2]);
}
