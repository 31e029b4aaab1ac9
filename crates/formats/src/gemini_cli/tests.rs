use crate::tests::check;

#[test]
fn turns_calls_and_results() {
    check(
        r#"{"sessionId": "s1", "projectHash": "h", "messages": [
            {"id": "1", "timestamp": "1970-01-01T00:00:01Z", "type": "user", "content": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}]},
            {"id": "2", "type": "info", "content": "cancelled"},
            {"id": "3", "type": "gemini", "content": "I look.", "thoughts": [{"subject": "A", "description": "b"}, {"description": "c"}],
             "tokens": {"input": 10, "output": 2, "cached": 4, "thoughts": 3},
             "toolCalls": [
               {"id": "c1", "name": "read_file", "args": {"p": "x"}, "status": "success", "timestamp": "1970-01-01T00:00:02Z",
                "result": [{"functionResponse": {"response": {"output": "one"}}}]},
               {"id": "c2", "name": "write", "args": {}, "status": "cancelled",
                "result": [{"functionResponse": {"response": {"error": "denied"}}}]},
               {"id": "c3", "name": "web", "args": {}, "status": "success", "result": [{"functionResponse": {"response": {"a": 1}}}, {"text": "t"}]},
               {"id": "c5", "name": "web", "status": "success", "result": [{"functionResponse": {"response": {"error": "late"}}}]},
               {"id": "c4", "name": "never", "args": {}, "status": "executing"}]},
            {"id": "4", "type": "user", "content": "<session_context>\ntoday"}]}"#,
        "gemini-cli
        = s1
        1 user/typed @1000: look ⏐ <image/png base64 AA>
        3 assistant/model: (think A: b) ⏐ (think c) ⏐ I look. ⏐ read_file#c1 {\"p\":\"x\"} ⏐ write#c2 {} ⏐ web#c3 {} ⏐ web#c5 {} ⏐ never#c4 {} [10/4/0→5]
        m2 tool/tool @2000: read_file#c1 → one
        m3 tool/tool: write#c2 error → denied
        m4 tool/tool: web#c3 → {\"a\":1}↵t
        m5 tool/tool: web#c5 error → late
        4 user/injected: <session_context>↵today",
    );
}

#[test]
fn lines_with_a_rewind_and_a_new_history() {
    check(
        r#"{"sessionId": "s1", "projectHash": "h", "kind": "main"}
{"id": "1", "type": "user", "content": "a"}
{"id": "2", "type": "gemini", "content": "b"}
{"$rewindTo": "2"}
{"id": "3", "type": "gemini", "content": "c"}
{"$set": {"messages": [{"type": "user", "content": "<state_snapshot>x</state_snapshot>"}]}}
{"id": "4", "type": "user", "content": "d"}"#,
        "gemini-cli
        = s1
        1 user/typed: a
        2 assistant/model: b
        -- TakenBack -2
        3 assistant/model: c
        -- Recorded -1 -3 + m0 user/summary: <state_snapshot>x</state_snapshot>
        4 user/typed: d
        view: m0 4",
    );
}

#[test]
fn what_newer_versions_write_twice_is_read_once() {
    let response = |text: &str| {
        format!(r#"{{"functionResponse": {{"id": "c1", "name": "sh", "response": {{"output": "{text}"}}}}}}"#)
    };
    let (one, hidden) = (response("one"), response("<tool_output_masked>o</tool_output_masked>"));
    let lines = format!(
        r#"{{"sessionId": "s1", "projectHash": "h", "kind": "main"}}
{{"$set": {{"messages": [{{"id": "0", "type": "user", "content": [{{"text": "<session_context>\ntoday"}}]}}]}}}}
{{"id": "1", "type": "user", "content": [{{"text": "look"}}]}}
{{"id": "2", "type": "gemini", "content": "", "thoughts": [{{"description": "hm"}}]}}
{{"$set": {{"lastUpdated": "x"}}}}
{{"id": "2", "type": "gemini", "content": "", "thoughts": [{{"description": "hm"}}], "toolCalls": [{{"id": "c1", "name": "sh", "args": {{}}, "status": "success", "result": [{one}]}}]}}
{{"id": "3", "type": "user", "content": [{one}]}}
{{"id": "4", "type": "gemini", "content": "done"}}"#
    );
    let read = "gemini-cli
        = s1
        0 user/injected: <session_context>↵today
        1 user/typed: look
        2 assistant/model: (think hm) ⏐ sh#c1 {}
        m3 tool/tool: sh#c1 → one
        4 assistant/model: done";
    check(&lines, read);
    // A session that is resumed begins anew, and writes all that it holds: nothing has left.
    let history = |result: &str| {
        format!(
            r#"{{"$set": {{"messages": [{{"id": "0", "type": "user", "content": [{{"text": "<session_context>\ntoday"}}]}},
            {{"id": "1", "type": "user", "content": [{{"text": "look"}}]}},
            {{"id": "2", "type": "gemini", "content": [{{"text": "hm", "thought": true}}, {{"functionCall": {{"id": "c1", "name": "sh", "args": {{}}}}}}]}},
            {{"id": "2_response", "type": "user", "content": [{result}]}}, {{"id": "3", "type": "user", "content": [{result}]}},
            {{"id": "4", "type": "gemini", "content": [{{"text": "done"}}]}}]}}}}"#
        )
        .replace('\n', " ")
    };
    let begins =
        r#"{"$set": {"messages": [{"id": "0", "type": "user", "content": [{"text": "<session_context>\ntoday"}]}]}}"#;
    let more = r#"{"id": "5", "type": "user", "content": "go on"}"#;
    let resumed = format!("{lines}\n{begins}\n{}\n{more}", history(&one));
    check(&resumed, &format!("{read}\n        5 user/typed: go on"));
    // Old results that are hidden from the model.
    check(
        &format!("{lines}\n{}", history(&hidden)),
        &format!("{read}\n        -- Recorded m3→<tool_output_masked>o</tool_output_masked>\n        view: 0 1 2 m3 4"),
    );
    // While the session continues, they are hidden in a history whose messages are all written again, with other ids.
    let again = [
        r#"{"id": "a", "type": "user", "content": [{"text": "<session_context>\ntoday"}, {"text": "look"}]}"#
            .to_owned(),
        r#"{"id": "b", "type": "gemini", "content": [{"functionCall": {"id": "c1", "name": "sh", "args": {}}}]}"#
            .to_owned(),
        format!(r#"{{"id": "c", "type": "user", "content": [{hidden}]}}"#),
        r#"{"id": "4", "type": "gemini", "content": [{"text": "done"}]}"#.to_owned(),
    ];
    check(
        &format!("{lines}\n{}\n{{\"$set\": {{\"messages\": [{}]}}}}", again[..3].join("\n"), again.join(",")),
        &format!("{read}\n        -- Recorded m3→<tool_output_masked>o</tool_output_masked>\n        view: 0 1 2 m3 4"),
    );
    // A compression keeps the end by its ids.
    let compressed =
        r#"{"$set": {"messages": [{"id": "9", "type": "user", "content": "<state_snapshot>x</state_snapshot>"},
        {"id": "4", "type": "gemini", "content": "done"}]}}"#
            .replace('\n', " ");
    check(
        &format!("{lines}\n{compressed}"),
        &format!(
            "{read}\n        -- Recorded -0 -1 -2 -m3 + m0 user/summary: <state_snapshot>x</state_snapshot>\n        view: m0 4"
        ),
    );
}

#[test]
fn wrong_types_are_passed_over() {
    check(
        r#"{"sessionId": "s", "projectHash": "h", "messages": [3, {"type": "user", "content": 5}, {"type": "gemini", "thoughts": [1],
            "toolCalls": [null, {"name": 4, "args": [], "result": "plain", "tokens": 1}]}]}"#,
        "gemini-cli
        = s
        m0 user/typed: 5
        m1 assistant/model: # {} ⏐ # []
        m2 tool/tool: # → plain",
    );
    check(
        r#"{"sessionId": "s", "projectHash": "h", "messages": {}}"#,
        "gemini-cli
        error: not a valid gemini-cli session: no element of `messages` is a `user` or `gemini` message with content",
    );
}

#[test]
fn a_message_that_is_written_again_stands_where_it_stood_first() {
    let start = r#"{"sessionId": "s1", "projectHash": "h", "kind": "main"}"#;
    let check_lines = |lines: &[&str], expect: &str| {
        let text = [&[start], lines].concat().join("\n");
        check(&text, &format!("gemini-cli\n= s1\n{expect}"));
    };
    let (ask, more) =
        (r#"{"id": "1", "type": "user", "content": "a"}"#, r#"{"id": "3", "type": "user", "content": "b"}"#);
    let answer = r#"{"id": "2", "type": "gemini", "content": "hm"}"#;
    let called = r#"{"id": "2", "type": "gemini", "content": "hm", "toolCalls": [{"id": "c1", "name": "sh", "args": {}, "status": "success", "result": [{"functionResponse": {"id": "c1", "response": {"output": "one"}}}]}]}"#;
    let written = "1 user/typed: a\n2 assistant/model: hm ⏐ sh#c1 {}\nm2 tool/tool: sh#c1 → one";
    // another message, a notice, or figures are between the two
    check_lines(&[ask, answer, more, called], &format!("{written}\n3 user/typed: b"));
    let notice = r#"{"id": "9", "type": "info", "content": "x"}"#;
    check_lines(&[ask, answer, notice, more, called, more], &format!("{written}\n3 user/typed: b"));
    check_lines(&[ask, answer, r#"{"$set": {"summary": "s"}}"#, called, more], &format!("{written}\n3 user/typed: b"));
    // the document has the same rule
    check(
        &format!(r#"{{"sessionId": "s1", "projectHash": "h", "messages": [{ask}, {answer}, {more}, {called}]}}"#),
        &format!("gemini-cli\n= s1\n{written}\n3 user/typed: b"),
    );
    // what the user went back behind, or a history has not, is gone: it comes anew
    check_lines(
        &[ask, answer, r#"{"$rewindTo": "2"}"#, called],
        "1 user/typed: a\n2 assistant/model: hm\n-- TakenBack -2\n2#2 assistant/model: hm ⏐ sh#c1 {}\nm3 tool/tool: sh#c1 → one\nview: 1 2#2 m3",
    );
    let history = |messages: &[&str]| format!(r#"{{"$set": {{"messages": [{}]}}}}"#, messages.join(","));
    let summary = r#"{"id": "s", "type": "user", "content": "<state_snapshot>x</state_snapshot>"}"#;
    check_lines(
        &[ask, answer, &history(&[summary, answer]), more, called],
        "1 user/typed: a\n2 assistant/model: hm ⏐ sh#c1 {}\nm2 tool/tool: sh#c1 → one\n-- Recorded -1 + m0 user/summary: <state_snapshot>x</state_snapshot>\n3 user/typed: b\nview: m0 2 m2 3",
    );
    let other = summary.replace(">x<", ">y<");
    check_lines(
        &[ask, answer, &history(&[summary]), more, &other],
        "1 user/typed: a\n2 assistant/model: hm\n-- Recorded -1 -2 + m0 user/summary: <state_snapshot>y</state_snapshot>\n3 user/typed: b\nview: m0 3",
    );
}

#[test]
fn a_way_back_leaves_what_stands_in_front_of_the_message() {
    let check_lines = |lines: &[&str], expect: &str| {
        let text = [&[r#"{"sessionId": "s1", "projectHash": "h", "kind": "main"}"#], lines].concat().join("\n");
        check(&text, &format!("gemini-cli\n= s1\n{expect}"));
    };
    let (a, b) = (r#"{"id": "1", "type": "user", "content": "a"}"#, r#"{"id": "2", "type": "gemini", "content": "b"}"#);
    let (c, d) = (r#"{"id": "3", "type": "user", "content": "c"}"#, r#"{"id": "4", "type": "gemini", "content": "d"}"#);
    let said = "1 user/typed: a\n2 assistant/model: b";
    let notice = r#"{"id": "n", "type": "info", "content": "x"}"#;
    // a notice stands for the message behind it; an id that the client has not, for the beginning
    check_lines(
        &[a, b, notice, c, r#"{"$rewindTo": "n"}"#, d],
        &format!("{said}\n3 user/typed: c\n-- TakenBack -3\n4 assistant/model: d\nview: 1 2 4"),
    );
    check_lines(&[a, b, r#"{"$rewindTo": "x"}"#, c], &format!("{said}\n-- TakenBack -1 -2\n3 user/typed: c\nview: 3"));
    // a compression stays in force where the way back leads behind it, and not where it leads in front of it
    let history =
        r#"{"$set": {"messages": [{"id": "s", "type": "user", "content": "<state_snapshot>x</state_snapshot>"},
        {"id": "2", "type": "gemini", "content": "b"}, {"id": "3", "type": "user", "content": "c"}]}}"#
            .replace('\n', " ");
    let compressed =
        format!("{said}\n3 user/typed: c\n-- Recorded -1 + m0 user/summary: <state_snapshot>x</state_snapshot>");
    check_lines(
        &[a, b, c, &history, r#"{"$rewindTo": "3"}"#, d],
        &format!("{compressed}\n-- TakenBack -3\n4 assistant/model: d\nview: m0 2 4"),
    );
    check_lines(
        &[a, b, c, &history, r#"{"$rewindTo": "s"}"#, d],
        &format!(
            "{said}\n3 user/typed: c\n-- Recorded -1 + m0 user/summary: <state_snapshot>x</state_snapshot>\n-- TakenBack -1 -2 -3\n4 assistant/model: d\nview: 4"
        ),
    );
}

#[test]
fn saved_chats() {
    let chat = r#"[{"role": "user", "parts": [{"text": "<session_context>\nToday is Monday.\n</session_context>"}]},
        {"role": "user", "parts": [{"text": "name the ports"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "grep", "args": {"q": "port"}}, "thoughtSignature": "SIG"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "grep", "response": {"output": "8080"}}}]}]"#;
    let read = "gemini-cli
        = 0
        m0 user/injected: <session_context>↵Today is Monday.↵</session_context>
        m1 user/typed: name the ports
        m2 assistant/model: grep# {\"q\":\"port\"}
        m3 tool/tool: grep# → 8080";
    check(&format!(r#"{{"history": {chat}, "authType": "gemini-api-key"}}"#), read);
    // the checkpoint in front of a tool that changes a file has the screen's history beside the model's
    check(
        &format!(r#"{{"history": [{{"type": "user", "text": "x"}}], "clientHistory": {chat}, "toolCall": {{}}}}"#),
        read,
    );
    check(
        r#"{"history": [{"role": "user", "parts": []}], "authType": "x"}"#,
        "gemini-cli
        error: not a valid gemini-cli session: no content of `history` has readable `parts`",
    );
}

#[test]
fn what_a_compression_keeps_is_known_under_its_new_id() {
    let (call, response) = (
        r#"{"functionCall": {"id": "c1", "name": "sh", "args": {}}}"#,
        r#"{"functionResponse": {"id": "c1", "name": "sh", "response": {"output": "one"}}}"#,
    );
    let turns = format!(
        r#"{{"sessionId": "s1", "projectHash": "h", "kind": "main"}}
{{"id": "1", "type": "user", "content": [{{"text": "a"}}]}}
{{"id": "2", "type": "gemini", "content": "done"}}
{{"id": "3", "type": "user", "content": [{{"text": "b"}}]}}
{{"id": "4", "type": "gemini", "content": "", "toolCalls": [{{"id": "c1", "name": "sh", "args": {{}}, "status": "success", "result": [{response}]}}]}}
{{"id": "5", "type": "gemini", "content": "done"}}"#
    );
    let said = |id: &str, kind: &str, part: &str| format!(r#"{{"id": "{id}", "type": "{kind}", "content": [{part}]}}"#);
    let text = |id: &str, kind: &str, text: &str| said(id, kind, &format!(r#"{{"text": "{text}"}}"#));
    let history = [
        text("6", "user", "so far"),
        text("7", "gemini", "Got it."),
        text("8", "user", "b"),
        said("9", "gemini", call),
        said("10", "user", response),
        text("11", "gemini", "done"),
    ];
    check(
        &format!("{turns}\n{{\"$set\": {{\"messages\": [{}]}}}}", history.join(", ")),
        "gemini-cli
        = s1
        1 user/typed: a
        2 assistant/model: done
        3 user/typed: b
        4 assistant/model: sh#c1 {}
        m4 tool/tool: sh#c1 → one
        5 assistant/model: done
        -- Recorded -1 -2 + m0 user/summary: so far + m1 assistant/model: Got it.
        view: m0 m1 3 4 m4 5",
    );
}
