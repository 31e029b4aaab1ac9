"""An agent's loop that is written by hand, with two lines of `epitome_context`. The client is scripted, with the shape of
OpenAI's: put `openai.OpenAI()` in its place.

    python examples/python/loop.py
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import epitome_context as epitome

BUDGET = 6_000


class ScriptedClient:
    """Calls the tool for every part of the ledger, and then answers. It refuses what is too long, as a provider does."""

    def __init__(self, parts: int) -> None:
        self.parts = parts
        self.calls = 0
        self.largest = 0

    def create(self, *, messages: list[Any]) -> SimpleNamespace:
        tokens = epitome.count_tokens(messages)
        assert tokens <= BUDGET and epitome.validate(messages, format="openai-chat") == []
        self.largest = max(self.largest, tokens)
        self.calls += 1
        if self.calls > self.parts:
            return SimpleNamespace(
                content="Entries are counted twice because the fingerprint holds the row's position.", tool_calls=None
            )
        function = SimpleNamespace(name="read", arguments=json.dumps({"part": self.calls}))
        return SimpleNamespace(content=None, tool_calls=[SimpleNamespace(id=f"call_{self.calls}", function=function)])


def read(part: int) -> str:
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


def main() -> None:
    client = ScriptedClient(parts=40)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You mend programs."},
        {
            "role": "user",
            "content": "The import of the ledger counts entries twice. Find out why, and keep the database as it is.",
        },
    ]
    fitter = epitome.Fitter(budget=BUDGET)  # the first of the two lines
    while True:
        to_send = fitter.fit(messages).messages  # the second
        answer = client.create(messages=to_send)
        if not answer.tool_calls:
            break
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in answer.tool_calls
        ]
        messages.append({"role": "assistant", "content": answer.content, "tool_calls": calls})
        for call in answer.tool_calls:
            printed = read(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": printed})
    print(answer.content)
    print(f"history {epitome.count_tokens(messages):,} tokens; the largest request {client.largest:,} of {BUDGET:,}")
    print(fitter.fit(messages).report)


if __name__ == "__main__":
    main()
