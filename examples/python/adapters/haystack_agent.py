"""An agent of Haystack whose conversation is compacted. The generator is scripted: put `OpenAIChatGenerator()` in its place.

python examples/python/adapters/haystack_agent.py
"""

from __future__ import annotations

import warnings
from typing import Any

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks.compaction import CompactionHook
from haystack.token_counters import ApproximateTokenCounter
from haystack.tools import tool

from epitome_context.adapters.haystack import EpitomeCompactor

WINDOW = 8_000


@component
class Scripted:
    """Calls the tool for every part of the ledger, and then answers. It refuses what is too long, as a provider does."""

    def __init__(self, parts: int = 40) -> None:
        self.parts = parts
        self.requests: list[int] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **words: Any) -> dict[str, Any]:
        self.requests.append(ApproximateTokenCounter().count(messages))
        assert self.requests[-1] <= WINDOW
        part = len(self.requests)
        if part > self.parts:
            answer = "Entries are counted twice because the fingerprint holds the row's position."
            return {"replies": [ChatMessage.from_assistant(answer)]}
        call = ToolCall(tool_name="read", arguments={"part": part}, id=f"call_{part}")
        return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}


@tool
def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


def main() -> None:
    warnings.simplefilter("ignore")  # Haystack calls its hook experimental
    generator = Scripted()
    hook = CompactionHook(compactor=EpitomeCompactor(), context_window=WINDOW)  # the compactor is ours
    agent = Agent(
        chat_generator=generator,
        tools=[read],
        system_prompt="You mend programs.",
        hooks={"before_llm": [hook]},
        max_agent_steps=100,
    )
    task = "The import of the ledger counts entries twice. Find out why, and keep the database as it is."
    result = agent.run(messages=[ChatMessage.from_user(task)])
    print(result["last_message"].text)
    print(f"{len(generator.requests)} requests; the largest {max(generator.requests):,} of {WINDOW:,} tokens")


if __name__ == "__main__":
    main()
