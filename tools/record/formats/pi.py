"""A session file of Pi 1.5.2, in the form of `tests/agents/recorded/pi` and of its tools' own results."""

from steps import Call, Recording, Step, hunks, lines, time

NOTHING_USED = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}}


def records(recording: Recording) -> list[dict]:
    """The file's entries. How many tokens were used was not recorded, and Pi's files need the fields: all are 0."""
    provider, api = recording.provider()
    start = time(recording.start)
    made = [{"type": "session", "version": 3, "id": recording.uuid_at(recording.start), "timestamp": start,
             "cwd": str(recording.cwd)}]
    parent = None

    def entry(kind: str, at: int, fields: dict) -> None:
        nonlocal parent
        id = recording.hex(8)
        made.append({"type": kind, "id": id, "parentId": parent, "timestamp": time(at)} | fields)
        parent = id

    def message(at: int, fields: dict) -> None:
        entry("message", at, {"message": fields | {"timestamp": at}})

    entry("model_change", recording.start, {"provider": provider, "modelId": recording.model})
    for step in recording.steps:
        if step.user is not None:
            message(step.at, {"role": "user", "content": [text(step.user)]})
            continue
        ids = {call.id: "call_" + recording.text(24) for call in step.calls}
        message(step.at, {"role": "assistant", "content": blocks(step, ids), "api": api, "provider": provider,
                          "model": recording.model, "usage": NOTHING_USED, "stopReason": "toolUse" if step.calls else "stop"})
        for call in step.calls:
            details = {"details": {"diff": numbered(call.diff)}} if call.tool == "edit" and not call.failed else {}
            message(call.at, {"role": "toolResult", "toolCallId": ids[call.id], "toolName": call.tool,
                              "content": [text(told(call))]} | details | {"isError": call.failed})
    return made


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def blocks(step: Step, ids: dict[str, str]) -> list[dict]:
    """The contents of a message of the agent's."""
    made = [{"type": "thinking", "thinking": step.think}] if step.think else []
    made += [text(step.say)] if step.say else []
    return made + [{"type": "toolCall", "id": ids[call.id], "name": call.tool, "arguments": arguments(call)}
                   for call in step.calls]


def arguments(call: Call) -> dict:
    given = call.input
    if call.tool == "read":
        names = {"path": "path", "from": "offset", "lines": "limit"}
        return {names[key]: value for key, value in given.items()}
    if call.tool == "edit":
        return {"path": given["path"], "edits": [{"oldText": given["old"], "newText": given["new"]}]}
    return given


def told(call: Call) -> str:
    """What the model is told."""
    given = call.input
    if call.tool == "bash":
        output = call.output or "(no output)"
        return f"{output}\n\nCommand exited with code {call.exit}" if call.exit else output + ("\n" if call.output else "")
    if call.failed:
        return call.told()
    if call.tool == "read":
        read = lines(call)
        if read.rest:
            read.lines += ["", f"[{read.rest} more lines in file. Use offset={read.last() + 1} to continue.]"]
        return "\n".join(read.lines + (["", read.note] if read.note else []))
    if call.tool == "write":
        return f"Successfully wrote to {given['path']}"
    if call.tool == "edit":
        return f"Successfully replaced 1 block(s) in {given['path']}."
    return call.output


def numbered(diff: str) -> str:
    """A diff as Pi shows it: a sign and a number in front of each line."""
    found = hunks(diff)
    width = len(str(max((hunk.new_start + hunk.new_lines for hunk in found), default=1)))
    made = []
    for hunk in found:
        old, new = hunk.old_start, hunk.new_start
        made += [f" {'':>{width}} ..."] if old > 1 else []
        for line in hunk.lines:
            sign, words = line[:1], line[1:]
            made.append(f"{sign}{new if sign == '+' else old:>{width}} {words}")
            old, new = old + (sign != "+"), new + (sign != "-")
    return "\n".join(made)
