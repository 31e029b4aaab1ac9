//! What the readers of sets make of small files in each shape.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;

use epitome::session::{Arguments, Content, MediaSource, Message};
use epitome_lab::sets::{read_set, sets_of};

/// Reads `fixture` and compares the set, and the sessions as lines, with `expect`.
#[track_caller]
fn check(fixture: &str, expect: &str) {
    let mut text = format!("{}\n", sets_of(fixture.as_bytes()).join(" + "));
    if let Some(file) = read_set(fixture.as_bytes()) {
        for loaded in &file.sessions {
            let tools = loaded.session.tools.as_deref().map_or(String::new(), |tools| format!(" tools {tools}"));
            writeln!(text, "= {}{tools}", loaded.name).unwrap();
            loaded.session.log().iter().for_each(|message| writeln!(text, "{}", line(message)).unwrap());
        }
        file.empty.iter().for_each(|name| writeln!(text, "empty: {name}").unwrap());
    }
    let lines = |text: &str| text.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(lines(&text), lines(expect));
}

/// `id role/origin (name) @time: block ⏐ block {marked call@start}`.
fn line(message: &Message) -> String {
    let origin = serde_json::to_value(message.origin).unwrap();
    let mut text = format!("{} {}/{}", message.id, message.role.as_str(), origin.as_str().unwrap());
    message.name.iter().for_each(|name| write!(text, " ({name})").unwrap());
    message.timestamp.iter().for_each(|time| write!(text, " @{time}").unwrap());
    let blocks: Vec<String> = message.blocks.iter().map(|block| shown(&block.content)).collect();
    write!(text, ": {}", blocks.join(" ⏐ ")).unwrap();
    for call in &message.text_calls {
        let block = message.blocks[call.block as usize].excerptable().unwrap();
        let range = call.start as usize..call.end as usize;
        write!(text, " {{{}@{}: {:?}}}", call.name, call.start, &block[range]).unwrap();
    }
    text.replace('\n', "↵")
}

fn shown(content: &Content) -> String {
    match content {
        Content::Text { text } => text.to_string(),
        Content::Thinking(thinking) => format!("(think {})", thinking.text),
        Content::ToolCall(call) => match &call.arguments {
            Arguments::Json(json) => format!("{}#{} {json}", call.name, call.id),
            Arguments::Text(text) => format!("{}#{} text {text:?}", call.name, call.id),
        },
        Content::ToolResult(result) => {
            let error = if result.is_error { " error" } else { "" };
            format!("{}#{}{error} → {}", result.name.as_deref().unwrap_or("?"), result.call_id, result.text)
        }
        Content::Media(media) => match &media.source {
            MediaSource::Url(url) => format!("<{} {url}>", media.mime),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    }
}

#[test]
fn locomo() {
    check(
        r#"[{"sample_id": "conv-1", "qa": [], "conversation": {"speaker_a": "Ann", "speaker_b": "Bo",
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "later"}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "hey", "blip_caption": "a dog", "img_url": ["http://i"]},
                          {"speaker": "Ann", "dia_id": "D2:2", "text": "", "img_url": ["http://j"]},
                          {"speaker": "Ann", "dia_id": "D2:3"}, 5]}},
            {"conversation": {"session_1": "none"}}]"#,
        "locomo
        = conv-1
        D2:1 assistant/model (Bo) @1683554160000: hey ⏐ [image: a dog]
        D2:2 user/typed (Ann) @1683554160000: < http://j>
        D10:1 user/typed (Ann): later
        empty: 1",
    );
}

#[test]
fn longmemeval() {
    check(
        r#"{"steps": [{"step_type": "create_session", "session_id": "s1"},
            {"step_type": "add_messages", "session_id": "s1", "messages": [{"peer_id": "user", "content": "a", "created_at": "1970-01-01T00:00:01"},
                {"peer_id": "assistant", "content": "b"}, {"peer_id": "carl", "content": "c"}, {"peer_id": "user", "content": 4}]},
            {"step_type": "wait"}, 3, {"step_type": "query", "input": "[date] q?"}]}"#,
        "longmemeval
        = 0
        s1:0 user/typed @1000: a
        s1:1 assistant/model: b
        s1:2 user/typed (carl): c
        m3 user/typed: [date] q?",
    );
    check(r#"{"steps": [{"step_type": "wait"}]}"#, "longmemeval");
}

#[test]
fn memorybank() {
    check(
        r#"{" Ann ": {"name": "Ann", "history": {"1970-01-02": [{"query": "hi", "response": "hello"}, {"query": 3}], "someday": [{"response": "x"}], "never": 4}},
            "Bo": {"history": {}}}"#,
        "memorybank
        = Ann
        m0 user/typed @86400000: hi
        m1 assistant/model @86400000: hello
        m2 assistant/model: x
        empty: Bo",
    );
}

#[test]
fn madial() {
    check(
        "{\"dialogue\": [\"<BOD>\\n\", \"<Bart>:\\\"hey\\\"\\n\", \" <Assistant>: \\\"unclosed\\n\", \"<EOD>\\n\", 3, \"no speaker\"], \"id\": 7}\n\
        {\"dialogue\": [\"<Lisa>：\\\"你好\\\"\"]}",
        "madial
        = 7
        m0 user/typed (Bart): hey
        m1 assistant/model (Assistant): unclosed
        = 1
        m0 user/typed (Lisa): 你好",
    );
    // Its memory items and MemoryBank's questions are not sessions.
    for side_file in
        ["{\"1\": {\"time\": \"t\", \"event\": \"e\"}}\n{\"2\": {}}", "{\"Ann\": [\"q?\"]}\n{\"Bo\": [\"q?\"]}"]
    {
        check(side_file, "");
    }
}

#[test]
fn crosswoz_and_kdconv() {
    check(
        r#"{"83": {"goal": [], "messages": [{"role": "usr", "content": "推荐"}, {"role": "sys", "content": "好"}, null]}, "84": []}"#,
        "crosswoz
        = 83
        m0 user/typed: 推荐
        m1 assistant/model: 好
        empty: 84",
    );
    check(
        r#"[{"name": "film", "messages": [{"message": "看过吗"}, {"message": "看过", "attrs": []}, {"message": 3}]}, {}]"#,
        "kdconv
        = 0
        m0 user/typed: 看过吗
        m1 assistant/model: 看过
        empty: 1",
    );
}

#[test]
fn tau_bench() {
    check(
        r#"[{"task_id": 3, "trial": 0, "traj": [
              {"role": "system", "content": "policy"},
              {"role": "user", "content": "hi"},
              {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "find", "arguments": "{\"id\":1}"}}]},
              {"role": "tool", "tool_call_id": "c", "name": "find", "content": "none"},
              {"role": "assistant", "content": "", "function_call": {"name": "find", "arguments": "{\"id\""}},
              {"role": "function", "name": "find", "content": "still none"},
              {"role": "assistant", "content": "sorry", "reasoning_content": "hm", "tool_calls": [{"id": "c", "function": {"name": "again", "arguments": "{}"}}]},
              {"role": "tool", "tool_call_id": "c", "content": "yes"},
              {"role": "critic", "content": "not read"}]},
            {"task_id": 4, "traj": []}]"#,
        "chat
        = task3_trial0
        m0 system/instructions: policy
        m1 user/typed: hi
        m2 assistant/model: find#c {\"id\":1}
        m3 tool/tool: find#c → none
        m4 assistant/model: find# text \"{\\\"id\\\"\"
        m5 tool/tool: find# → still none
        m6 assistant/model: (think hm) ⏐ sorry ⏐ again#c {}
        m7 tool/tool: ?#c → yes
        empty: task4_trial",
    );
    check(r#"{"task_id": 1, "traj": [{"role": "user", "content": []}, 3]}"#, "chat");
}

#[test]
fn spider2_has_no_ids() {
    check(
        r#"[{"instance_id": "sf_1", "conversation": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "two", "tool_calls": [{"name": "bash", "arguments": {"c": "ls"}}, {"name": "sql", "arguments": {}}]},
            {"role": "tool", "content": "a"}, {"role": "tool", "content": "b"}]}]"#,
        "chat
        = sf_1
        m0 user/typed: q
        m1 assistant/model: two ⏐ bash# {\"c\":\"ls\"} ⏐ sql# {}
        m2 tool/tool: ?# → a
        m3 tool/tool: ?# → b",
    );
}

#[test]
fn webdancer_calls_in_tags() {
    check(
        r#"{"type": "chatml", "functions": [{"name": "search"}], "messages": [
            {"role": "system", "content": "S"}, {"role": "user", "content": "q"},
            {"role": "assistant", "content": "<think>é</think>\n<tool_call>\n{\"name\": \"search\", \"arguments\": {}}\n</tool_call> <tool_call>broken</tool_call><tool_call>open"},
            {"role": "user", "content": "<tool_response>\nfound"},
            {"role": "user", "content": "<tool_response>more"},
            {"role": "assistant", "content": "<answer>a</answer>"}]}"#
            .replace('\n', " ")
            .as_str(),
        "chat
        = 0 tools [{\"name\":\"search\"}]
        m0 system/instructions: S
        m1 user/typed: q
        m2 assistant/model: <think>é</think>↵<tool_call>↵{\"name\": \"search\", \"arguments\": {}}↵</tool_call> <tool_call>broken</tool_call><tool_call>open {search@30: \"{\\\"name\\\": \\\"search\\\", \\\"arguments\\\": {}}\"} {tool_call@90: \"broken\"}
        m3 user/tool-output: <tool_response>↵found
        m4 user/tool-output: <tool_response>more
        m5 assistant/model: <answer>a</answer>",
    );
}

#[test]
fn intercode_queries_are_calls() {
    check(
        r#"{"11": {"query": "how many?", "turn_history": {"actions": ["SHOW \"x\"", 7, "late"], "observations": ["Error", [["a", 1]]], "valid_action": [false, true]}},
            "12": {"query": null, "turn_history": {"actions": {}, "observations": []}}, "13": 4}"#,
        "intercode
        = 11
        m0 user/typed: how many?
        m1 assistant/model: sql#sql-0 {\"query\":\"SHOW \\\"x\\\"\"}
        m2 tool/tool: sql#sql-0 error → Error
        m3 assistant/model: sql#sql-1 {\"query\":\"7\"}
        m4 tool/tool: sql#sql-1 → [[\"a\",1]]
        m5 assistant/model: sql#sql-2 {\"query\":\"late\"}
        empty: 12
        empty: 13",
    );
}

#[test]
fn who_and_when_delegations_are_calls() {
    check(
        r#"{"question": "q", "question_ID": "id-1", "ground_truth": "g", "mistake_agent": "WebSurfer", "history": [
            {"role": "human", "content": "q?"},
            {"role": "Orchestrator (thought)", "content": "plan"},
            {"role": "Orchestrator (thought)", "content": "ledger"},
            {"role": "Orchestrator (-> WebSurfer)", "content": "look it up"},
            {"role": "WebSurfer", "content": "found"},
            {"role": "Orchestrator (-> Assistant)", "content": "write"},
            {"role": "Orchestrator (-> Assistant)", "content": "write again"},
            {"role": "Assistant", "content": ""},
            {"role": "Orchestrator (termination condition)", "content": "done"}]}"#,
        "who-and-when
        = id-1
        0 user/typed: q?
        3 assistant/model (Orchestrator): plan ⏐ ledger ⏐ look it up {WebSurfer@0: \"look it up\"}
        4 user/tool-output (WebSurfer): found
        5 assistant/model (Orchestrator): write {Assistant@0: \"write\"}
        6 assistant/model (Orchestrator): write again {Assistant@0: \"write again\"}
        8 assistant/model (Orchestrator): done",
    );
}

#[test]
fn who_and_when_wrong_types_are_passed_over() {
    check(
        r#"{"question": "q", "ground_truth": 3, "history": [{"name": "human", "content": {"a": 1}}, null, {"role": 3, "content": "x"}]}"#,
        "who-and-when
        = 0
        0 user/typed: {\"a\":1}",
    );
    check(r#"{"question": "q", "ground_truth": 3, "history": [{"role": "human"}]}"#, "who-and-when");
}
