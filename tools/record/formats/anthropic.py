"""A request in Anthropic's form: the recorder's own tools by their own names."""

from steps import Recording

# What the tools of every project take, as a client would tell a model.
TOOLS = {
    "bash": ("Runs a command in the project's folder and returns what it prints.", {"command": "string"}, {}),
    "read": ("Returns lines of a file with their numbers.", {"path": "string"}, {"from": "integer", "lines": "integer"}),
    "write": ("Writes a file.", {"path": "string", "content": "string"}, {}),
    "edit": ("Replaces a text that stands once in a file.", {"path": "string", "old": "string", "new": "string"},
             {"all": "boolean"}),
}


def document(recording: Recording) -> dict:
    """The request. What the agent thought is left out: a provider takes no thinking that it did not sign."""
    called = {call.tool for step in recording.steps for call in step.calls}
    tools = [{"name": name, "description": description, "input_schema": {
        "type": "object", "properties": {key: {"type": kind} for key, kind in (must | may).items()}, "required": list(must)}}
        for name, (description, must, may) in TOOLS.items() if name in called]
    tools += [{key: tool[key] for key in ("name", "description", "input_schema")} for tool in recording.tools.values()]
    messages: list[dict] = []
    for step in recording.steps:
        if step.user is not None:
            words = {"type": "text", "text": step.user}
            if messages and messages[-1]["role"] == "user":
                messages[-1]["content"].append(words)
            else:
                messages.append({"role": "user", "content": [words]})
            continue
        ids = {call.id: "toolu_01" + recording.text(22) for call in step.calls}
        blocks = [{"type": "text", "text": step.say}] if step.say else []
        blocks += [{"type": "tool_use", "id": ids[call.id], "name": call.tool, "input": call.input} for call in step.calls]
        messages.append({"role": "assistant", "content": blocks})
        if step.calls:
            messages.append({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": ids[call.id], "content": call.told()}
                | ({"is_error": True} if call.failed else {}) for call in step.calls]})
    return {"model": recording.model, "max_tokens": 32_000} | ({"tools": tools} if tools else {}) | {"messages": messages}
