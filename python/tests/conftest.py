"""Made-up sessions."""

from __future__ import annotations

import json
from typing import Any


def call(number: int, name: str, arguments: dict[str, Any], printed: str) -> list[dict[str, Any]]:
    """A call of a tool and its result, as OpenAI's chat completions have them."""
    id = f"call_{number}"
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": printed},
    ]


def work(steps: int = 30) -> list[dict[str, Any]]:
    """An agent's work: a system prompt, a task, calls with long results, a question at the end."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You mend programs."},
        {
            "role": "user",
            "content": "The import of the ledger counts entries twice. Find out why. Keep the database as it is.",
        },
    ]
    for step in range(steps):
        printed = "".join(
            f"line {line} of part {step}: amount {line * 37 % 101} of entry {line}\n" for line in range(60)
        )
        messages += call(step, "bash", {"command": f"cat ledger/part_{step}.py"}, printed)
    messages.append({"role": "assistant", "content": "The fingerprint holds the row's position, so it differs."})
    messages.append({"role": "user", "content": "Good. What is the name of the column?"})
    return messages


def anthropic(steps: int = 20) -> dict[str, Any]:
    """The same kind of work as a request of Anthropic's messages."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find the slow query."}]
    for step in range(steps):
        printed = f"plan {step}: sequential scan of table_{step}\n" * 80
        use = {"type": "tool_use", "id": f"toolu_{step}", "name": "sql", "input": {"query": f"explain select {step}"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{step}", "content": printed}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    messages += [{"role": "assistant", "content": "Found."}, {"role": "user", "content": "Which one is it?"}]
    return {"model": "claude-x", "max_tokens": 100, "system": "You tune databases.", "messages": messages}
