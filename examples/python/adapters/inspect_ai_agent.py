"""An agent of Inspect AI whose model is sent what fits. The model is scripted: put a real one in its place.

python examples/python/adapters/inspect_ai_agent.py
"""

from __future__ import annotations

import tempfile
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, Model, ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.tool import Tool, ToolCall, tool

import epitome_context as epitome
from epitome_context.adapters.inspect_ai import EpitomeCompaction

THRESHOLD = 6_000
PARTS = 40


class Ledger(ModelAPI):
    """Calls the tool for every part of the ledger, and then answers."""

    requests = 0

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        self.requests += 1
        part = self.requests
        if part > PARTS:
            answer = "Entries are counted twice because the fingerprint holds the row's position."
            return ModelOutput.from_content(self.model_name, answer)
        call = ToolCall(id=f"call_{part}", function="read", arguments={"part": part})
        return ModelOutput.from_message(ChatMessageAssistant(content="", tool_calls=[call]), stop_reason="tool_calls")

    async def count_text_tokens(self, text: str) -> int:
        return epitome.count_tokens(text)


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    return Ledger


def Scripted() -> Model:
    """The model, with a script that begins anew."""
    return get_model("scripted/ledger", memoize=False)


@tool
def read() -> Tool:
    async def execute(part: int) -> str:
        """Reads a part of the ledger.

        Args:
            part: The part's number.
        """
        return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))

    return execute


def main() -> None:
    fits: list[Any] = []
    agent = react(
        prompt="You mend programs.",
        tools=[read()],
        submit=False,
        compaction=EpitomeCompaction(threshold=THRESHOLD, on_fit=fits.append),  # the line that is ours
    )
    task = Task(dataset=[Sample("The import of the ledger counts entries twice. Find out why.")], solver=agent)
    with tempfile.TemporaryDirectory() as logs:
        (log,) = eval(task, model=Scripted(), display="none", log_dir=logs)
        (sample,) = log.samples or []
    print(sample.output.completion)
    largest = max(fitted.tokens_after for fitted in fits)
    print(f"{len(fits)} compactions, to {largest:,} tokens at most; the sample has {len(sample.messages)} messages")


if __name__ == "__main__":
    main()
