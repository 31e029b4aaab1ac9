"""An agent of smolagents whose model is sent what fits. The model is scripted: put a real one in its place.

python examples/python/adapters/smolagents_agent.py
"""

from __future__ import annotations

from typing import Any

from smolagents import CodeAgent, LogLevel, tool
from smolagents.models import ChatMessage, MessageRole, Model

from epitome_context.adapters.smolagents import FittedModel

BUDGET = 6_000


class Scripted(Model):
    """Writes code that reads every part of the ledger, and then answers."""

    def __init__(self, parts: int = 40) -> None:
        super().__init__(model_id="scripted")
        self.parts = parts
        self.requests = 0

    def generate(self, messages: Any, *given: Any, **words: Any) -> ChatMessage:
        self.requests += 1
        part = self.requests
        code = f"print(read(part={part}))"
        if part > self.parts:
            code = 'final_answer("Entries are counted twice because the fingerprint holds the row\'s position.")'
        return ChatMessage(MessageRole.ASSISTANT, f"Thought: part {part}.\n<code>\n{code}\n</code>")


@tool
def read(part: int) -> str:
    """Reads a part of the ledger.

    Args:
        part: The part's number.
    """
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


def main() -> None:
    fits: list[Any] = []
    model = FittedModel(Scripted(), budget=BUDGET, on_fit=fits.append)  # the line that is ours
    agent = CodeAgent([read], model, max_steps=100, verbosity_level=LogLevel.OFF)
    print(agent.run("The import of the ledger counts entries twice. Find out why, and keep the database as it is."))
    came, largest = fits[-1].tokens_before, max(fitted.tokens_after for fitted in fits)
    print(f"the conversation {came:,} tokens; the largest request {largest:,} of {BUDGET:,}")


if __name__ == "__main__":
    main()
