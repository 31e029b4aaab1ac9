"""A run of Google's ADK whose model is sent what fits. The model is scripted: put the name of one of Gemini's in its place.

python examples/python/adapters/google_adk_run.py
"""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from epitome_context import count_tokens
from epitome_context.adapters.google_adk import EpitomePlugin

BUDGET = 6_000


class Scripted(BaseLlm):
    """Calls the tool for every part of the ledger, and then answers."""

    model: str = "scripted"
    parts: int = 40
    requests: int = 0

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        self.requests += 1
        part = self.requests
        if part > self.parts:
            said = types.Part(text="Entries are counted twice because the fingerprint holds the row's position.")
        else:
            said = types.Part.from_function_call(name="read", args={"part": part})
        # A model of Gemini's reports what it counted; budgets are kept in that.
        counted = sum(count_tokens(content.model_dump_json(exclude_none=True)) for content in llm_request.contents)
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=counted)
        yield LlmResponse(content=types.Content(role="model", parts=[said]), usage_metadata=usage)


def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


async def main() -> None:
    fits: list[Any] = []
    agent = LlmAgent(name="mender", model=Scripted(), instruction="You mend programs.", tools=[read])
    plugin = EpitomePlugin(budget=BUDGET, on_fit=fits.append)  # the line that is ours
    runner = InMemoryRunner(app=App(name="ledger", root_agent=agent, plugins=[plugin]))
    session = await runner.session_service.create_session(app_name="ledger", user_id="ann")
    task = types.UserContent(
        "The import of the ledger counts entries twice. Find out why, and keep the database as it is."
    )
    async for event in runner.run_async(user_id="ann", session_id=session.id, new_message=task):
        if event.is_final_response():
            print(event.content.parts[0].text)
    came, largest = fits[-1].tokens_before, max(fitted.tokens_after for fitted in fits)
    print(f"the session {came:,} tokens; the largest request {largest:,} of {BUDGET:,}")


if __name__ == "__main__":
    asyncio.run(main())
