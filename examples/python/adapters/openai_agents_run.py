"""A run of the OpenAI Agents SDK whose model is sent what fits. The model is scripted: leave `model` away for OpenAI's.

python examples/python/adapters/openai_agents_run.py
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import epitome_context as epitome
from epitome_context.adapters.openai_agents import EpitomeFilter

BUDGET = 6_000


class Scripted(Model):
    """Calls the tool for every part of the ledger, and then answers. It refuses what is too long, as a provider does."""

    def __init__(self, parts: int = 40) -> None:
        self.parts = parts
        self.requests: list[int] = []

    async def get_response(self, system_instructions: Any, input: Any, *given: Any, **words: Any) -> ModelResponse:
        assert epitome.validate(input, format="openai-responses") == []
        self.requests.append(epitome.count_tokens(input, format="openai-responses"))
        assert self.requests[-1] <= BUDGET
        part = len(self.requests)
        output: Any
        if part > self.parts:
            answer = "Entries are counted twice because the fingerprint holds the row's position."
            text = ResponseOutputText(text=answer, type="output_text", annotations=[])
            output = ResponseOutputMessage(
                id=f"m{part}", role="assistant", status="completed", type="message", content=[text]
            )
        else:
            arguments = json.dumps({"part": part})
            output = ResponseFunctionToolCall(
                call_id=f"call_{part}", name="read", arguments=arguments, type="function_call"
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **words: Any) -> Any:
        raise NotImplementedError("this model does not stream")


@function_tool
def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


async def main() -> None:
    model, session = Scripted(), SQLiteSession("1")
    agent = Agent(name="mender", instructions="You mend programs.", model=model, tools=[read])
    config = RunConfig(call_model_input_filter=EpitomeFilter(budget=BUDGET), tracing_disabled=True)
    task = "The import of the ledger counts entries twice. Find out why, and keep the database as it is."
    result = await Runner.run(agent, task, session=session, run_config=config, max_turns=100)
    print(result.final_output)
    kept = epitome.count_tokens(await session.get_items(), format="openai-responses")
    print(f"the session {kept:,} tokens; the largest request {max(model.requests):,} of {BUDGET:,}")


if __name__ == "__main__":
    asyncio.run(main())
