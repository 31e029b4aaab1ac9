"""An agent of Strands whose model is sent what fits. The model is scripted: put a real one in its place.

python examples/python/adapters/strands_agent.py
"""

from __future__ import annotations

import json
from typing import Any

from strands import Agent, tool
from strands.models import Model

from epitome_context.adapters.strands import EpitomeConversationManager

BUDGET = 6_000


class Scripted(Model):
    """Calls the tool for every part of the ledger, and then answers. It refuses roles that do not alternate, as Bedrock does."""

    def __init__(self, parts: int = 40) -> None:
        self.parts = parts
        self.requests = 0

    def update_config(self, **words: Any) -> None:
        """There is nothing to configure."""

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *given: Any, **words: Any) -> Any:
        raise NotImplementedError("this model calls tools and answers")

    async def stream(self, messages: Any, *given: Any, **words: Any) -> Any:
        roles = [message["role"] for message in messages]
        assert all(role == ("user", "assistant")[turn % 2] for turn, role in enumerate(roles))
        self.requests += 1
        part = self.requests
        yield {"messageStart": {"role": "assistant"}}
        if part > self.parts:
            answer = "Entries are counted twice because the fingerprint holds the row's position."
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": answer}}}
        else:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "read", "toolUseId": f"call_{part}"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps({"part": part})}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if part > self.parts else "tool_use"}}


@tool
def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


def main() -> None:
    model, fits = Scripted(), []
    agent = Agent(
        model,
        tools=[read],
        system_prompt="You mend programs.",
        conversation_manager=EpitomeConversationManager(budget=BUDGET, on_fit=fits.append),  # the line that is ours
        callback_handler=None,
    )
    result = agent("The import of the ledger counts entries twice. Find out why, and keep the database as it is.")
    print(str(result).strip())
    came, largest = fits[-1].tokens_before, max(fitted.tokens_after for fitted in fits)
    print(f"the conversation {came:,} tokens; the largest request {largest:,} of {BUDGET:,}")


if __name__ == "__main__":
    main()
