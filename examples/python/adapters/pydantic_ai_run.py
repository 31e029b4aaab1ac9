"""An agent of Pydantic AI whose model is sent what fits. The model is scripted: put the name of yours in its place.

python examples/python/adapters/pydantic_ai_run.py
"""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import epitome_context as epitome
from epitome_context.adapters.pydantic_ai import EpitomeCapability

BUDGET = 6_000


class Scripted(FunctionModel):
    """Calls the tool for every part of the ledger, and then answers."""

    def __init__(self, parts: int = 40) -> None:
        super().__init__(self.answer)
        self.parts = parts
        self.requests: list[int] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        # More than its texts: names of fields, times and ids are counted here too.
        self.requests.append(epitome.count_tokens(ModelMessagesTypeAdapter.dump_json(messages).decode()))
        part = len(self.requests)
        if part > self.parts:
            return ModelResponse(
                [TextPart("Entries are counted twice because the fingerprint holds the row's position.")]
            )
        return ModelResponse([ToolCallPart("read", {"part": part}, f"call_{part}")])


def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


def main() -> None:
    model = Scripted()
    capability = EpitomeCapability(budget=BUDGET)  # the line that is ours
    agent = Agent(model, instructions="You mend programs.", tools=[read], capabilities=[capability])
    result = agent.run_sync(
        "The import of the ledger counts entries twice. Find out why, and keep the database as it is."
    )
    print(result.output)
    print(f"{len(result.all_messages())} messages in the history, as JSON {len(result.all_messages_json()):,} bytes")
    print(f"the largest request, as JSON with all of its fields: {max(model.requests):,} tokens")


if __name__ == "__main__":
    main()
