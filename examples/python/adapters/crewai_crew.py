"""A crew of CrewAI whose model is sent what fits. The model is scripted: put the name of a real one in its place.

python examples/python/adapters/crewai_crew.py
"""

from __future__ import annotations

import json
from typing import Any

from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks import register_before_llm_call_hook
from crewai.tools import tool

import epitome_context as epitome
from epitome_context.adapters.crewai import EpitomeHook

BUDGET = 6_000


class Scripted(BaseLLM):
    """Calls the tool for every part of the ledger, and then answers."""

    parts: int = 40
    requests: int = 0

    def supports_function_calling(self) -> bool:
        return True

    def get_input_tokens_count(self, messages: Any, *given: Any, **words: Any) -> int:
        return epitome.count_tokens(str(messages))

    def call(self, messages: Any, *given: Any, **words: Any) -> Any:
        self.requests += 1
        part = self.requests
        if part > self.parts:
            return "Entries are counted twice because the fingerprint holds the row's position."
        function = {"name": "read", "arguments": json.dumps({"part": part})}
        return [{"id": f"call_{part}", "type": "function", "function": function}]


@tool("read")
def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


def main() -> None:
    fits: list[Any] = []
    register_before_llm_call_hook(EpitomeHook(budget=BUDGET, on_fit=fits.append))  # the line that is ours
    mender = Agent(
        role="mender",
        goal="Mend programs.",
        backstory="You mend programs.",
        llm=Scripted(model="scripted"),
        tools=[read],
        max_iter=100,
    )
    task = Task(
        description="The import of the ledger counts entries twice. Find out why, and keep the database as it is.",
        expected_output="The reason.",
        agent=mender,
    )
    print(Crew(agents=[mender], tasks=[task]).kickoff())
    came, largest = fits[-1].tokens_before, max(fitted.tokens_after for fitted in fits)
    print(f"the conversation {came:,} tokens; the largest request {largest:,} of {BUDGET:,}")


if __name__ == "__main__":
    main()
