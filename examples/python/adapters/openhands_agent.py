"""An agent of OpenHands whose conversation is condensed. The model is scripted: put `LLM(model=…)` in its place.

python examples/python/adapters/openhands_agent.py
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Sequence
from typing import Any

from openhands.sdk import Action, Agent, Conversation, Observation, TextContent, Tool, ToolDefinition, register_tool
from openhands.sdk.event import Condensation, MessageEvent
from openhands.sdk.llm import LLMResponse, Message, MessageToolCall
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool import ToolExecutor

from epitome_context.adapters.openhands import EpitomeCondenser

BUDGET = 12_000


class Scripted(TestLLM):
    """Calls the tool for every part of the ledger, and then answers."""

    parts: int = 40
    requests: int = 0

    def completion(self, messages: list[Message], *given: Any, **words: Any) -> LLMResponse:
        self.requests += 1
        if self.requests > self.parts:
            answer = "Entries are counted twice because the fingerprint holds the row's position."
            self._scripted_responses.append(Message(role="assistant", content=[TextContent(text=answer)]))
        else:
            arguments = json.dumps({"part": self.requests})
            call = MessageToolCall(id=f"call_{self.requests}", name="read", arguments=arguments, origin="completion")
            self._scripted_responses.append(Message(role="assistant", content=[], tool_calls=[call]))
        return super().completion(messages, *given, **words)


class ReadAction(Action):
    part: int


class ReadObservation(Observation):
    pass


class Read(ToolExecutor):
    def __call__(self, action: ReadAction, conversation: Any = None) -> ReadObservation:
        rows = (f"part {action.part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))
        return ReadObservation.from_text("".join(rows))


class ReadTool(ToolDefinition[ReadAction, ReadObservation]):
    name = "read"

    @classmethod
    def create(cls, *given: Any, **words: Any) -> Sequence[ReadTool]:
        about = "Reads a part of the ledger."
        return [cls(action_type=ReadAction, observation_type=ReadObservation, description=about, executor=Read())]


register_tool("read", ReadTool)


def main() -> None:
    logging.disable(logging.WARNING)  # OpenHands tells what it does
    fits: list[Any] = []
    model = Scripted(model="scripted")
    condenser = EpitomeCondenser(budget=BUDGET, on_fit=fits.append)  # the line that is ours
    agent = Agent(llm=model, tools=[Tool(name="read")], condenser=condenser)
    with tempfile.TemporaryDirectory() as workspace:
        conversation = Conversation(agent=agent, workspace=workspace, visualizer=None)
        conversation.send_message(
            "The import of the ledger counts entries twice. Find out why, and keep the database as it is."
        )
        conversation.run()
        events = list(conversation.state.events)
        conversation.close()
    answer = [event for event in events if isinstance(event, MessageEvent) and event.source == "agent"][-1]
    print(answer.llm_message.content[0].text)
    condensations = sum(isinstance(event, Condensation) for event in events)
    came, largest = fits[-1].tokens_before, max(fitted.tokens_after for fitted in fits)
    print(f"{condensations} condensations: {came:,} tokens came; the largest request {largest:,} of {BUDGET:,}")


if __name__ == "__main__":
    main()
