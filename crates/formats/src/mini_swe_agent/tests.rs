use crate::tests::check;

#[test]
fn one_block_is_a_call() {
    check(
        r#"{"trajectory_format": "mini-swe-agent-1", "instance_id": "i-1", "info": {}, "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "task with ```bash\nexample\n```"},
            {"role": "assistant", "content": "THOUGHT: é\n\n```bash\nls -la\n```", "extra": {"response": {"usage":
                {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}}}},
            {"role": "user", "content": "<returncode>0</returncode>"},
            {"role": "assistant", "content": "```python\nx\n``` and ```bash\na\n```, ```bash\nb\n```"},
            {"role": "user", "content": "Please always provide EXACTLY ONE action"},
            {"role": "assistant", "content": "```bash\nnever closed"},
            {"role": "user", "content": "again"},
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
            {"role": "exit", "content": "done"}]}"#,
        "mini-swe-agent
        = i-1
        m0 system/instructions: S
        m1 user/typed: task with ```bash↵example↵```
        m2 assistant/model: THOUGHT: é↵↵```bash↵ls -la↵``` {bash@21: \"ls -la\"} [9/3/0→2]
        m3 user/tool-output (bash): <returncode>0</returncode>
        m4 assistant/model: ```python↵x↵``` and ```bash↵a↵```, ```bash↵b↵```
        m5 user/injected: Please always provide EXACTLY ONE action
        m6 assistant/model: ```bash↵never closed
        m7 user/injected: again
        m8 assistant/model: bash#c {}
        m9 tool/tool: bash#c → ok",
    );
}

#[test]
fn nothing_readable() {
    check(
        r#"{"trajectory_format": "mini-swe-agent-1", "messages": [{"role": 3}]}"#,
        "mini-swe-agent
        error: not a valid mini-swe-agent session: no element of `messages` has a role and content",
    );
}
