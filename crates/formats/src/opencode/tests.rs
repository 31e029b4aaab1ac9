use crate::tests::check;

#[test]
fn turns_calls_and_results() {
    check(
        r#"{"info": {"id": "ses_1", "title": "t"}, "messages": [
            {"info": {"id": "u1", "role": "user", "time": {"created": 1000}},
             "parts": [{"type": "text", "text": "fix it"},
                       {"type": "text", "text": "<file>", "synthetic": true},
                       {"type": "text", "text": "never sent", "ignored": true},
                       {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"},
                       {"type": "file", "mime": "text/plain", "url": "file:///a.txt"}]},
            {"info": {"id": "a1", "role": "assistant", "time": {"created": 1001},
                      "tokens": {"total": 190, "input": 100, "output": 30, "reasoning": 10, "cache": {"read": 50, "write": 0}}},
             "parts": [{"type": "step-start"},
                       {"type": "reasoning", "text": "hm", "metadata": {"openai": {"reasoningEncryptedContent": "SIG"}}},
                       {"type": "reasoning", "text": ""},
                       {"type": "tool", "id": "p1", "tool": "read", "callID": "c1",
                        "state": {"status": "completed", "input": {"path": "a"}, "output": "one", "time": {"end": 1002}}},
                       {"type": "text", "text": "reading"},
                       {"type": "tool", "tool": "bash", "callID": "c2", "state": {"status": "error", "input": {}, "error": "no"}},
                       {"type": "tool", "tool": "bash", "callID": "c3", "state": {"status": "running", "input": {}}},
                       {"type": "step-start"}, {"type": "text", "text": "second request"},
                       {"type": "step-finish"}, {"type": "patch", "hash": "x"}]},
            {"info": {"id": "u2", "role": "user"}, "parts": [{"type": "subtask", "prompt": "review"}]},
            {"info": {"id": "u3", "role": "user"}, "parts": [{"type": "text", "text": "go on", "synthetic": true}]}]}"#,
        "opencode
        = ses_1
        u1 user/typed @1000: fix it ⏐ <image/png base64 AAAA>
        u1#2 user/injected @1000: <file>
        a1 assistant/model @1001: (think hm signed SIG) ⏐ reading ⏐ read#c1 {\"path\":\"a\"} ⏐ bash#c2 {} ⏐ bash#c3 {} [150/50/0→40]
        p1 tool/tool @1002: read#c1 → one
        m4 tool/tool: bash#c2 error → no
        a1#2 assistant/model @1001: second request [150/50/0→40]
        u2 user/injected: The following tool was executed by the user
        u3 user/injected: go on",
    );
}

#[test]
fn dropped_outputs_are_cleared_when_it_happened() {
    check(
        r#"{"info": {"id": "s"}, "messages": [
            {"info": {"id": "u1", "role": "user", "time": {"created": 1}}, "parts": [{"type": "text", "text": "x"}]},
            {"info": {"id": "a1", "role": "assistant", "time": {"created": 2}}, "parts": [
                {"type": "tool", "id": "p1", "tool": "t", "callID": "c1",
                 "state": {"status": "completed", "input": {}, "output": "long", "time": {"compacted": 9}}},
                {"type": "tool", "id": "p2", "tool": "t", "callID": "c2",
                 "state": {"status": "completed", "input": {}, "output": "", "time": {"compacted": 9}}},
                {"type": "tool", "id": "p3", "tool": "t", "callID": "c3",
                 "state": {"status": "completed", "input": {}, "output": "later", "time": {"compacted": 30}}}]},
            {"info": {"id": "u2", "role": "user", "time": {"created": 5}}, "parts": [{"type": "text", "text": "y"}]},
            {"info": {"id": "u3", "role": "user", "time": {"created": 20}}, "parts": [{"type": "text", "text": "z"}]}]}"#,
        "opencode
        = s
        u1 user/typed @1: x
        a1 assistant/model @2: t#c1 {} ⏐ t#c2 {} ⏐ t#c3 {}
        p1 tool/tool: t#c1 → long
        p2 tool/tool: t#c2 →
        p3 tool/tool: t#c3 → later
        u2 user/typed @5: y
        -- Recorded p1→[Old tool result content cleared]
        u3 user/typed @20: z
        -- Recorded p3→[Old tool result content cleared]
        view: u1 a1 p1 p2 p3 u2 u3",
    );
}

#[test]
fn a_summary_replaces_what_came_before() {
    let session = |tail: &str, answer: &str, more: &str| {
        format!(
            r#"{{"info": {{"id": "s"}}, "messages": [
            {{"info": {{"id": "u1", "role": "user"}}, "parts": [{{"type": "text", "text": "x"}}]}},
            {{"info": {{"id": "a1", "role": "assistant"}}, "parts": [{{"type": "text", "text": "y"}}]}},
            {{"info": {{"id": "u2", "role": "user"}}, "parts": [{{"type": "compaction", "auto": true{tail}}}]}},
            {{"info": {{"id": "a2", "role": "assistant", "parentID": "u2", "summary": true{answer}, "tokens": {{"input": 7, "output": 1}}}},
              "parts": [{{"type": "text", "text": "Goal: x"}}]}},
            {{"info": {{"id": "a0", "role": "assistant", "summary": true}}, "parts": []}},
            {{"info": {{"id": "u3", "role": "user"}}, "parts": [{{"type": "text", "text": "z"}}]}}{more}]}}"#
        )
    };
    let said = "opencode
        = s
        u1 user/typed: x
        a1 assistant/model: y";
    check(
        &session("", r#", "finish": "stop""#, ""),
        &format!(
            "{said}\n-- Recorded from 7 -u1 -a1 + u2 user/injected: What did we do so far? + a2 user/summary: Goal: x\nu3 user/typed: z\nview: u2 a2 u3"
        ),
    );
    // what the request for the summary keeps is sent behind the summary
    let kept = "-- Recorded from 7 -u1 + u2 user/injected: What did we do so far? + a2 user/summary: Goal: x\nu3 user/typed: z";
    check(&session(r#", "tail_start_id": "a1""#, "", ""), &format!("{said}\n{kept}\nview: u2 a2 a1 u3"));
    // the summary in front of a newer one leaves, whatever is kept
    check(
        &session(
            r#", "tail_start_id": "a1""#,
            "",
            r#", {"info": {"id": "u4", "role": "user"}, "parts": [{"type": "compaction", "tail_start_id": "u3"}]},
            {"info": {"id": "a4", "role": "assistant", "parentID": "u4", "summary": true}, "parts": [{"type": "text", "text": "Goal: z"}]}"#,
        ),
        &format!(
            "{said}\n{kept}\n-- Recorded -u2 -a2 -a1 + u4 user/injected: What did we do so far? + a4 user/summary: Goal: z\nview: u4 a4 u3"
        ),
    );
    // an attempt that failed leaves everything, and the request is sent
    check(
        &session("", r#", "error": {"name": "APIError"}"#, ""),
        &format!("{said}\nu2 user/injected: What did we do so far?\nu3 user/typed: z"),
    );
}

#[test]
fn what_a_person_took_back_is_not_in_the_view() {
    let session = |revert: &str| {
        format!(
            r#"{{"info": {{"id": "s", "revert": {revert}}}, "messages": [
            {{"info": {{"id": "u1", "role": "user"}}, "parts": [{{"id": "p0", "type": "text", "text": "x"}}]}},
            {{"info": {{"id": "a1", "role": "assistant"}}, "parts": [{{"id": "p1", "type": "text", "text": "y"}},
              {{"id": "p2", "type": "tool", "tool": "edit", "callID": "c1", "state": {{"status": "completed", "input": {{}}, "output": "done"}}}}]}},
            {{"info": {{"id": "u2", "role": "user"}}, "parts": [{{"id": "p3", "type": "compaction", "auto": false}}]}},
            {{"info": {{"id": "a2", "role": "assistant", "parentID": "u2", "summary": true}}, "parts": [{{"type": "text", "text": "Goal"}}]}},
            {{"info": {{"id": "u3", "role": "user"}}, "parts": [{{"id": "p5", "type": "text", "text": "z"}}]}}]}}"#
        )
    };
    let said = "opencode
        = s
        u1 user/typed: x";
    let whole = format!("{said}\na1 assistant/model: y ⏐ edit#c1 {{}}\np2 tool/tool: edit#c1 → done");
    let summary = "-- Recorded -u1 -a1 -p2 + u2 user/injected: What did we do so far? + a2 user/summary: Goal";
    check(
        &session(r#"{"messageID": "u3", "snapshot": "f00"}"#),
        &format!("{whole}\n{summary}\nu3 user/typed: z\n-- TakenBack -u3\nview: u2 a2"),
    );
    // a compaction in what was taken back is undone with it
    check(
        &session(r#"{"messageID": "u2"}"#),
        &format!("{whole}\n{summary}\nu3 user/typed: z\n-- TakenBack -u3\nview: u1 a1 p2"),
    );
    // from a part of an answer on
    check(
        &session(r#"{"messageID": "a1", "partID": "p2"}"#),
        &format!(
            "{said}\na1 assistant/model: y\na1#2 assistant/model: edit#c1 {{}}\np2 tool/tool: edit#c1 → done\n-- Recorded -u1 -a1 -a1#2 -p2 + u2 user/injected: What did we do so far? + a2 user/summary: Goal\nu3 user/typed: z\n-- TakenBack -a1#2 -p2 -u3\nview: u1 a1"
        ),
    );
    check(
        &session(r#"{"messageID": "u3", "partID": "p9"}"#),
        &format!("{whole}\n{summary}\nu3 user/typed: z\nview: u2 a2 u3"),
    );
    check(
        &session(r#"{"messageID": "u9"}"#),
        &format!(
            "{whole}\n{summary}\nu3 user/typed: z\nview: u2 a2 u3\nwarning: line None: nothing was taken back: `info.revert` names the message `u9`, which is not in the file"
        ),
    );
}

#[test]
fn answers_that_failed_are_not_sent() {
    let answer = |error: &str, parts: &str| {
        format!(
            r#"{{"info": {{"id": "s"}}, "messages": [
            {{"info": {{"id": "u1", "role": "user"}}, "parts": [{{"type": "text", "text": "x"}}]}},
            {{"info": {{"id": "a1", "role": "assistant", "error": {{"name": "{error}"}}}}, "parts": [{{"type": "step-start"}}{parts}]}}]}}"#
        )
    };
    let text = r#", {"type": "text", "text": "y"}"#;
    let asked = "opencode\n= s\nu1 user/typed: x";
    check(&answer("APIError", text), asked);
    check(&answer("MessageAbortedError", ""), asked);
    check(&answer("MessageAbortedError", text), &format!("{asked}\na1 assistant/model: y"));
    // what a stopped tool had printed
    let stopped = r#", {"type": "tool", "id": "p", "tool": "bash", "callID": "c", "state": {"status": "error", "input": {}, "error": "Tool execution aborted",
        "metadata": {"interrupted": true, "output": "half"}}}"#;
    check(
        &answer("MessageAbortedError", stopped),
        &format!("{asked}\na1 assistant/model: bash#c {{}}\np tool/tool: bash#c → half"),
    );
}

#[test]
fn wrong_types_are_passed_over() {
    check(
        r#"{"info": {"id": 5}, "messages": [{"info": {"role": "user"}, "parts": []}, null, 7, {"info": []},
            {"info": {"role": "user", "id": 8, "time": "?"}, "parts": {"a": 1}},
            {"info": {"role": "assistant", "tokens": []}, "parts": [null, {"type": 3}, {"type": "tool"}, {"type": "text", "text": 4}]},
            {"info": {"role": "assistant"}, "parts": [{"type": "tool", "callID": 4, "tool": "t",
              "state": {"status": "completed", "input": "{\"a\"", "output": {"k": [1]}}}]}]}"#,
        "opencode
        = 0
        m0 assistant/model: # {}
        m1 assistant/model: t# text \"{\\\"a\\\"\"
        m2 tool/tool: t# → {\"k\":[1]}",
    );
    check(
        r#"{"info": {}, "messages": [{"info": {}, "parts": []}]}"#,
        "opencode
        error: not a valid opencode session: no element of `messages` has readable `parts`",
    );
}
