use crate::agents::testing::check;

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
        "tau-bench
        = task3_trial0
        m0 system/instructions: policy
        m1 user/typed: hi
        m2 assistant/model: find#c {\"id\":1}
        m3 tool/tool: find#c → none
        m4 assistant/model: find#call-0 text \"{\\\"id\\\"\"
        m5 tool/tool: find#call-0 → still none
        m6 assistant/model: (think hm) ⏐ sorry ⏐ again#c {}
        m7 tool/tool: again#c → yes
        warning: line None: session `task4_trial` holds no readable message",
    );
    check(
        r#"{"task_id": 1, "traj": [{"role": "user", "content": []}, 3]}"#,
        "tau-bench
        error: not a valid tau-bench session: no session in it holds a readable message
        warning: line None: session `task1_trial` holds no readable message",
    );
}

#[test]
fn spider2_has_no_ids() {
    check(
        r#"[{"instance_id": "sf_1", "conversation": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "two", "tool_calls": [{"name": "bash", "arguments": {"c": "ls"}}, {"name": "sql", "arguments": {}}]},
            {"role": "tool", "content": "a"}, {"role": "tool", "content": "b"}]}]"#,
        "openai-chat
        = sf_1
        m0 user/typed: q
        m1 assistant/model: two ⏐ bash#call-0 {\"c\":\"ls\"} ⏐ sql#call-1 {}
        m2 tool/tool: bash#call-0 → a
        m3 tool/tool: sql#call-1 → b",
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
        "openai-chat
        = 0 tools [{\"name\":\"search\"}]
        m0 system/instructions: S
        m1 user/typed: q
        m2 assistant/model: <think>é</think>↵<tool_call>↵{\"name\": \"search\", \"arguments\": {}}↵</tool_call> <tool_call>broken</tool_call><tool_call>open {search@30: \"{\\\"name\\\": \\\"search\\\", \\\"arguments\\\": {}}\"} {tool_call@90: \"broken\"}
        m3 user/tool-output (tool_call): <tool_response>↵found
        m4 user/tool-output: <tool_response>more
        m5 assistant/model: <answer>a</answer>",
    );
}
