"""Pydantic AI's agents, with a scripted model."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits
from work import ANSWER, BUDGET, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters._pydantic_ai_messages import _edited, rows_of
from epitome_context.adapters.pydantic_ai import EpitomeCapability

LIMITS = UsageLimits(request_limit=None)


@pytest.fixture(autouse=True)
def no_made_up_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a function tells no usage, the framework's model makes one up."""
    monkeypatch.setattr("pydantic_ai.models.function._estimate_usage", lambda *given, **words: RequestUsage())


class Scripted:
    """Reads two parts with each request, and answers. It keeps what it was sent."""

    def __init__(
        self, requests: int = 20, ask: dict[int, tuple[str, dict[str, Any]]] | None = None, **words: Any
    ) -> None:
        self.requests = requests
        self.ask = ask or {}
        self.offered: list[list[str]] = []
        self.sent: list[list[ModelMessage]] = []
        self.figures: list[int] = []
        self.model = FunctionModel(self.answer, stream_function=self.stream, **words)

    def turn(self, messages: list[ModelMessage]) -> int:
        self.sent.append(copy.deepcopy(messages))
        self.figures.append(reported([row.wire for row in rows_of(messages)]))
        return len(self.sent)

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = self.turn(messages)
        self.offered.append([tool.name for tool in info.function_tools])
        if turn in self.ask:
            return ModelResponse([ToolCallPart(*self.ask[turn], f"call_{turn}")])
        if turn % (self.requests + 1) == 0:
            return ModelResponse([TextPart(ANSWER)])
        calls = [ToolCallPart("read_part", {"part": part}, f"call_{part}") for part in (2 * turn, 2 * turn + 1)]
        return ModelResponse([ThinkingPart("Hm."), TextPart(f"Step {turn}."), *calls], metadata={"turn": turn})

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> Any:
        turn = self.turn(messages)
        if turn > self.requests:
            yield ANSWER
        else:
            yield {0: DeltaToolCall("read_part", f'{{"part": {turn}}}', tool_call_id=f"call_{turn}")}


def read_part(part: int) -> str:
    """Reads a part of the ledger."""
    return read(part)


def agent_of(scripted: Scripted, **words: Any) -> Agent[None, str]:
    return Agent(
        scripted.model, instructions="You mend programs.", tools=[read_part], capabilities=[EpitomeCapability(**words)]
    )


def check_run(scripted: Scripted, history: list[ModelMessage], budget: int = BUDGET) -> None:
    for messages in scripted.sent:
        check_sent([row.wire for row in rows_of(messages)], budget=budget)
    check_kept([[row.wire for row in rows_of(messages)] for messages in scripted.sent])
    returns = [part for message in history for part in message.parts if isinstance(part, ToolReturnPart)]
    assert all(part.content == read(int(part.tool_call_id.split("_")[1])) for part in returns)
    calls = [part for message in history for part in message.parts if isinstance(part, ToolCallPart)]
    assert [part.tool_call_id for part in returns] == [part.tool_call_id for part in calls]


def test_an_agent_at_work() -> None:
    scripted, fits = Scripted(), []
    agent = agent_of(scripted, budget=2 * BUDGET, on_fit=fits.append)
    first = agent.run_sync(TASK, usage_limits=LIMITS)
    again = agent.run_sync("Do it again, please.", message_history=first.all_messages(), usage_limits=LIMITS)
    assert again.output == ANSWER and len(scripted.sent) == 42
    check_run(scripted, again.all_messages(), budget=2 * BUDGET)
    assert len(again.all_messages()) == 84, "the history is whole"
    assert sum(fitted.status == "compacted" for fitted in fits) >= 2


def test_the_budget_is_of_the_providers_tokens() -> None:
    class Reporting(Scripted):
        def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            answer = super().answer(messages, info)
            answer.usage = RequestUsage(input_tokens=self.figures[-1], output_tokens=1)
            return answer

    scripted = Reporting(requests=30)
    agent_of(scripted, budget=2 * BUDGET).run_sync(TASK, usage_limits=LIMITS)
    check_reported(scripted.figures, budget=2 * BUDGET)


def test_a_run_that_is_streamed() -> None:
    scripted = Scripted(requests=30)

    async def run() -> list[ModelMessage]:
        async with agent_of(scripted, budget=BUDGET).run_stream(TASK, usage_limits=LIMITS) as result:
            assert await result.get_output() == ANSWER
            return result.all_messages()

    check_run(scripted, asyncio.run(run()))


def test_the_models_profile_settles_the_budget() -> None:
    scripted = Scripted(requests=40, profile={"context_window": 16_000})
    check_run(scripted, agent_of(scripted).run_sync(TASK, usage_limits=LIMITS).all_messages(), budget=16_000)
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        agent_of(Scripted()).run_sync(TASK)


def test_what_must_stay_is_too_large() -> None:
    with pytest.raises(epitome.Infeasible, match="what must stay takes"):
        agent_of(Scripted(), budget=20).run_sync(TASK)


def check_edit(own: Any, change: Any, expect: Any) -> None:
    message = own if isinstance(own, ModelResponse) else ModelRequest([own])
    row = rows_of([message])[0]
    wire = copy.deepcopy(row.wire)
    change(wire)
    before = copy.deepcopy(own)
    assert _edited(row, wire, None).own == expect
    assert own == before, "the message itself stays"


def test_messages_are_edited() -> None:
    def say(wire: dict[str, Any]) -> None:
        wire["content"] = "short"

    def say_in_parts(wire: dict[str, Any]) -> None:
        wire["content"][0]["text"] = "short"

    def call_shorter(wire: dict[str, Any]) -> None:
        wire["tool_calls"][0]["function"]["arguments"] = '{"text":"l"}'

    def forget(wire: dict[str, Any]) -> None:
        del wire["reasoning_content"]

    def response(*parts: Any) -> ModelResponse:
        return ModelResponse(list(parts), timestamp=at, model_name="m")

    at = ModelResponse([]).timestamp
    image = ImageUrl("https://example.org/a.png")
    prompt = UserPromptPart("long", timestamp=at)
    check_edit(prompt, say, UserPromptPart("short", timestamp=at))
    check_edit(
        UserPromptPart(["long", image], timestamp=at), say_in_parts, UserPromptPart(["short", image], timestamp=at)
    )
    returned = ToolReturnPart("write", "long", "c", metadata=1, timestamp=at)
    check_edit(returned, say, ToolReturnPart("write", "short", "c", metadata=1, timestamp=at))
    thought, text, call = (
        ThinkingPart("Hm."),
        TextPart("long", id="t", provider_name="p"),
        ToolCallPart("w", {"text": "long"}, "c"),
    )
    whole = response(thought, text, call)
    check_edit(whole, say, response(thought, TextPart("short"), call))
    check_edit(whole, forget, response(text, call))
    check_edit(whole, call_shorter, response(thought, text, ToolCallPart("w", {"text": "l"}, "c")))
    as_text = ToolCallPart("w", '{"text": "long"}', "c")
    check_edit(response(as_text), call_shorter, response(ToolCallPart("w", '{"text":"l"}', "c")))


def test_what_left_is_brought_back() -> None:
    wish = {"reason": "Parts are read.", "next_step": "Read on."}
    ask = {
        15: ("search_history", {"words": "part 3, row 7"}),
        16: ("recall", {"handle": "00000000"}),
        17: ("compact_context", wish),
    }
    scripted, fits = Scripted(ask=ask), []
    capability = EpitomeCapability(budget=BUDGET, on_fit=fits.append, config={"marks": {"handles": True}})
    agent = Agent(scripted.model, tools=[read_part, *capability.recall_tools], capabilities=[capability])
    result = asyncio.run(agent.run(TASK, usage_limits=LIMITS))
    parts = [part for message in result.all_messages() for part in message.parts]
    results = {part.tool_name: str(part.content) for part in parts if isinstance(part, ToolReturnPart)}
    assert ", row 7: amount" in results["search_history"] and "nothing under the handle '00000000'" in results["recall"]
    assert results["compact_context"].startswith("Noted.")
    assert [fitted.asked is None for fitted in fits].index(False) == 17, "the call that comes next"
    ours = ["recall", "search_history", "compact_context"]
    assert scripted.offered[0] == ["read_part"] and scripted.offered[-1] == ["read_part", *ours]
