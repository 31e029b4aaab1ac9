use crate::tests::check;

#[test]
fn turns_sub_agents_and_a_compaction() {
    check(
        r#"{"type":"session.start","data":{"sessionId":"s1"},"id":"e0","timestamp":"1970-01-01T00:00:00Z"}
{"type":"system.message","data":{"content":"You help."},"id":"e1"}
{"type":"user.message","data":{"content":"hi","transformedContent":"<now/>\nhi","attachments":[{"type":"blob","mimeType":"image/png","data":"AA"},{"type":"file","path":"a"}]},"id":"e2","timestamp":"1970-01-01T00:00:01Z"}
{"type":"user.message","data":{"content":"<skill>","source":"skill-x"},"id":"e3"}
{"type":"hook.start","data":{},"id":"e4"}
{"type":"assistant.message","data":{"messageId":"a1","content":"doing","reasoningText":"why","reasoningOpaque":"SIG","toolRequests":[{"toolCallId":"c1","name":"view","arguments":{"path":"a"}},{"toolCallId":"c2","name":"apply_patch","arguments":"*** Begin"}]},"id":"e5"}
{"type":"tool.execution_start","data":{"toolCallId":"c1"},"id":"e6"}
{"type":"user.message","data":{"content":"sub"},"id":"x1","agentId":"agent"}
{"type":"assistant.message","data":{"content":"sub","parentToolCallId":"c1"},"id":"x2"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"file","detailedContent":"diff"}},"id":"e7"}
{"type":"tool.execution_complete","data":{"toolCallId":"c2","success":false,"error":{"code":"x","message":"bad patch"}},"id":"e8"}
{"type":"system.message","data":{"content":"You help."},"id":"e9"}
{"type":"system.notification","data":{"content":"agent is idle"},"id":"e10"}
{"type":"assistant.message","data":{"content":"","toolRequests":[]},"id":"e11"}
{"type":"session.compaction_start","data":{},"id":"e12"}
{"type":"session.compaction_complete","data":{"success":false,"summaryContent":"no"},"id":"e13"}
{"type":"session.compaction_complete","data":{"success":true,"preCompactionTokens":99,"summaryContent":"so far"},"id":"e14"}
{"type":"system.message","data":{"content":"You help more."},"id":"e15"}"#,
        "copilot-cli
        = s1
        e1 system/instructions: You help.
        e2 user/typed @1000: <now/>↵hi ⏐ <image/png base64 AA>
        e3 user/injected: <skill>
        a1 assistant/model: (think why signed SIG) ⏐ doing ⏐ view#c1 {\"path\":\"a\"} ⏐ apply_patch#c2 text \"*** Begin\"
        e7 tool/tool: view#c1 → file
        e8 tool/tool: apply_patch#c2 error → bad patch
        e10 user/injected: agent is idle
        -- Recorded from 99 -e2 -e3 -a1 -e7 -e8 -e10 + e14 user/summary: so far
        -- Recorded -e1
        e15 system/instructions: You help more.
        view: e14 e15",
    );
}

#[test]
fn one_event_and_wrong_types() {
    check(
        r#"{"type":"user.message","data":{"content":"only"},"id":4,"timestamp":{}}"#,
        "copilot-cli
        = 0
        m0 user/typed: only",
    );
    check(
        r#"{"type":"session.start","data":{"sessionId":3}}
[1]
{"type":"assistant.message","data":{"content":[5],"toolRequests":[8,{"name":"t"}]}}
{"type":"tool.execution_complete","data":{"toolCallId":null,"error":"lost"}}
{"type":"tool.execution_complete","data":7}"#,
        "copilot-cli
        = 0
        m0 assistant/model: 5 ⏐ # {} ⏐ t# {}
        m1 tool/tool: # → lost
        m2 tool/tool: t# →",
    );
    check(
        "{\"type\":\"session.start\",\"data\":{}}\n{\"type\":\"hook.end\",\"data\":{}}",
        "copilot-cli
        error: not a valid copilot-cli session: no `user.message` or `assistant.message` event has content",
    );
}

#[test]
fn what_was_taken_back_is_not_in_the_view() {
    let lines = |more: &str| {
        format!(
            r#"{{"type":"session.start","data":{{"sessionId":"s1"}},"id":"e0"}}
{{"type":"system.message","data":{{"role":"system","content":"You help."}},"id":"e1"}}
{{"type":"user.message","data":{{"content":"ask"}},"id":"e2"}}
{{"type":"assistant.message","data":{{"messageId":"a1","content":"yes"}},"id":"e3"}}
{{"type":"session.compaction_start","data":{{}},"id":"e4"}}
{{"type":"session.compaction_complete","data":{{"success":true,"summaryContent":"so far"}},"id":"e5"}}
{{"type":"user.message","data":{{"content":"sub"}},"id":"x1","agentId":"agent"}}
{{"type":"user.message","data":{{"content":"undo me"}},"id":"e6"}}
{more}
{{"type":"user.message","data":{{"content":"instead"}},"id":"e9"}}"#
        )
    };
    let said = "copilot-cli
        = s1
        e1 system/instructions: You help.
        e2 user/typed: ask
        a1 assistant/model: yes";
    let summary = "-- Recorded -e2 -a1 + e5 user/summary: so far";
    let rewind = |id: &str| {
        lines(&format!(
            r#"{{"type":"session.snapshot_rewind","data":{{"upToEventId":"{id}","eventsRemoved":1}},"id":"e7"}}"#
        ))
    };
    // the named event goes
    check(
        &rewind("e6"),
        &format!("{said}\n{summary}\ne6 user/typed: undo me\n-- TakenBack -e6\ne9 user/typed: instead\nview: e1 e5 e9"),
    );
    // a compaction that was taken back is undone
    check(
        &rewind("e4"),
        &format!(
            "{said}\n{summary}\ne6 user/typed: undo me\n-- TakenBack -e6\ne9 user/typed: instead\nview: e1 e2 a1 e9"
        ),
    );
    check(
        &rewind("gone"),
        &format!(
            "{said}\n{summary}\ne6 user/typed: undo me\ne9 user/typed: instead\nview: e1 e5 e6 e9\nwarning: line None: nothing was taken back: `session.snapshot_rewind` names the event `gone`, which is not in the file"
        ),
    );
}

#[test]
fn what_the_model_was_shown() {
    // what came while a summary was written stays, and so does the step that it belongs to
    check(
        r#"{"type":"system.message","data":{"role":"system","content":"You help."},"id":"e1"}
{"type":"system.message","data":{"role":"developer","content":"Be brief."},"id":"e2"}
{"type":"user.message","data":{"content":"ask"},"id":"e3"}
{"type":"system.notification","data":{"content":"found AGENTS.md","kind":{"type":"instruction_discovered"}},"id":"e4"}
{"type":"tool.execution_complete","data":{"toolCallId":"own","isUserRequested":true,"success":true,"result":{"content":"ls"}},"id":"e5"}
{"type":"assistant.message","data":{"messageId":"a1","content":"","toolRequests":[{"toolCallId":"c1","name":"view","arguments":{}}]},"id":"e6"}
{"type":"session.compaction_start","data":{},"id":"e7"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"file"}},"id":"e8"}
{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"so far"},"id":"e9"}
{"type":"system.message","data":{"role":"developer","content":"Be long."},"id":"e10"}"#,
        "copilot-cli
        = 0
        e1 system/instructions: You help.
        e2 system/developer: Be brief.
        e3 user/typed: ask
        a1 assistant/model: view#c1 {}
        e8 tool/tool: view#c1 → file
        -- Recorded -e3 + e9 user/summary: so far
        -- Recorded -e2
        e10 system/developer: Be long.
        view: e1 e9 a1 e8 e10",
    );
}

#[test]
fn what_newer_versions_write() {
    check(
        r#"{"type":"system.message","data":{"role":"system","content":"You help."},"id":"e1"}
{"type":"session.binary_asset","data":{"assetId":"sha256:1","data":"QUJD","mimeType":"image/png"},"id":"e2"}
{"type":"user.message","data":{"content":"see both","attachments":[{"type":"file","path":"/a.png","mimeType":"image/png","assetId":"sha256:1"},{"type":"file","path":"/b","taggedFilesEntry":"* /b (3 lines)"}]},"id":"e3"}
{"type":"assistant.message","data":{"messageId":"a1","content":"","toolRequests":[{"toolCallId":"c1","name":"shot","arguments":{}}]},"id":"e4"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"done","binaryResultsForLlm":[{"type":"image","mimeType":"image/png","data":"REVG"}]}},"id":"e5"}
{"type":"user.message","data":{"content":"go on","isAutopilotContinuation":true},"id":"e6"}
{"type":"session.mode_notice_delivered","data":{"mode":"plan","content":"plan mode"},"id":"e7"}
{"type":"session.context_cleared","data":{"messagesCleared":5,"initialMessage":"new task"},"id":"e8"}"#,
        "copilot-cli
        = 0
        e1 system/instructions: You help.
        e3 user/typed: see both ⏐ <tagged_files>↵* /b (3 lines)↵</tagged_files> ⏐ <image/png base64 QUJD>
        a1 assistant/model: shot#c1 {}
        e5 tool/tool: shot#c1 → done<image/png base64 REVG>
        e6 user/injected: go on
        e7 user/injected: plan mode
        -- Recorded -e3 -a1 -e5 -e6 -e7
        e8 user/injected: new task
        view: e1 e8",
    );
}
