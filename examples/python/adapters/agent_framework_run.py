"""A run of Microsoft's Agent Framework whose model is sent what fits. The client is scripted: put a real one in its place.

python examples/python/adapters/agent_framework_run.py
"""

from __future__ import annotations

import asyncio
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

from epitome_context.adapters.agent_framework import EpitomeStrategy

BUDGET = 6_000


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Calls the tool for every part of the ledger, and then answers."""

    def __init__(self, parts: int = 40) -> None:
        super().__init__(function_invocation_configuration={"max_iterations": 100})
        self.parts = parts
        self.requests = 0

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **words: Any) -> Any:
        async def respond() -> ChatResponse:
            self.requests += 1
            part = self.requests
            if part > self.parts:
                said = Content.from_text("Entries are counted twice because the fingerprint holds the row's position.")
            else:
                said = Content.from_function_call(f"call_{part}", "read", arguments={"part": part})
            return ChatResponse(messages=Message("assistant", [said]))

        return respond()


def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


async def main() -> None:
    fits: list[Any] = []
    agent = Agent(
        Scripted(),
        instructions="You mend programs.",
        tools=[read],
        compaction_strategy=EpitomeStrategy(budget=BUDGET, on_fit=fits.append),  # the line that is ours
    )
    result = await agent.run(
        "The import of the ledger counts entries twice. Find out why, and keep the database as it is.",
        session=agent.create_session(),
    )
    print(result.text)
    came, largest = fits[-1].tokens_before, max(fitted.tokens_after for fitted in fits)
    print(f"the session {came:,} tokens; the largest request {largest:,} of {BUDGET:,}")


if __name__ == "__main__":
    asyncio.run(main())
