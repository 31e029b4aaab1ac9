"""Runs of the OpenAI Agents SDK, with a scripted model."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from work import ANSWER, BUDGET, TASK, check_kept, check_sent, read

import epitome_context as epitome
from epitome_context.adapters.openai_agents import EpitomeFilter


class Scripted(Model):
    """Reads every part, and answers. It keeps what it was sent."""

    def __init__(self, parts: int = 25, ask: dict[int, tuple[str, dict[str, Any]]] | None = None) -> None:
        self.parts = parts
        self.ask = ask or {}
        self.offered: list[list[str]] = []
        self.sent: list[list[Any]] = []
        self.instructions: list[str | None] = []

    async def get_response(self, system_instructions: Any, input: Any, *given: Any, **words: Any) -> ModelResponse:
        tools = words["tools"] if "tools" in words else given[1] if len(given) > 1 else []
        self.offered.append([tool.name for tool in tools])
        self.sent.append(copy.deepcopy(input))
        self.instructions.append(system_instructions)
        turn = len(self.sent)
        if turn % (self.parts + 1) == 0:
            text = ResponseOutputText(text=ANSWER, type="output_text", annotations=[])
            output: list[Any] = [
                ResponseOutputMessage(
                    id=f"m{turn}", role="assistant", status="completed", type="message", content=[text]
                )
            ]
        else:
            name, asked = self.ask.get(turn, ("read_part", {"part": turn}))
            arguments = json.dumps(asked)
            output = [
                ResponseReasoningItem(id=f"r{turn}", type="reasoning", summary=[], encrypted_content="c2ln"),
                ResponseFunctionToolCall(
                    id=f"f{turn}", call_id=f"call_{turn}", name=name, arguments=arguments, type="function_call"
                ),
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions: Any, input: Any, *given: Any, **words: Any) -> Any:
        response = await self.get_response(system_instructions, input)
        whole = Response.model_construct(
            id="x", created_at=0, model="m", object="response", output=response.output, usage=None, tools=[]
        )
        yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=0)


@function_tool
def read_part(part: int) -> str:
    """Reads a part of the ledger."""
    return read(part)


def agent_of(model: Scripted) -> Agent[Any]:
    return Agent(name="mender", instructions="You mend programs.", model=model, tools=[read_part])


def config_of(filter: EpitomeFilter) -> RunConfig:
    return RunConfig(call_model_input_filter=filter, tracing_disabled=True)


def check_run(model: Scripted) -> int:
    for items in model.sent:
        check_sent(items, format="openai-responses")
    assert set(model.instructions) == {"You mend programs."}
    return check_kept(model.sent)


def test_a_session_of_runs() -> None:
    model, session, fits = Scripted(), SQLiteSession("1"), []
    config = config_of(EpitomeFilter(budget=BUDGET, on_fit=fits.append))

    async def talk() -> list[Any]:
        for said in (TASK, "Do it again, please."):
            result = await Runner.run(agent_of(model), said, session=session, run_config=config, max_turns=100)
            assert result.final_output == ANSWER
        return await session.get_items()

    kept = asyncio.run(talk())
    assert check_run(model) == [fitted.status for fitted in fits].count("compacted")
    assert len(model.sent) == 52
    printed = [item["output"] for item in kept if item.get("type") == "function_call_output"]
    parts = [turn for turn in range(1, 52) if turn != 26]
    assert printed == [read(part) for part in parts], "the session has everything that was said"
    assert sum(item.get("type") == "reasoning" for item in kept) == 50


def test_a_run_that_is_streamed() -> None:
    model = Scripted()

    async def run() -> Any:
        config = config_of(EpitomeFilter(budget=BUDGET))
        result = Runner.run_streamed(agent_of(model), TASK, run_config=config, max_turns=100)
        async for _ in result.stream_events():
            pass
        return result

    result = asyncio.run(run())
    assert result.final_output == ANSWER
    check_run(model)
    assert epitome.count_tokens(result.to_input_list(), format="openai-responses") > 4 * BUDGET


def test_a_run_in_a_thread_without_a_loop() -> None:
    model = Scripted()
    config = config_of(EpitomeFilter(fitter=epitome.Fitter(budget=BUDGET, format="openai-responses")))
    assert Runner.run_sync(agent_of(model), TASK, run_config=config, max_turns=100).final_output == ANSWER
    check_run(model)


def test_the_tools_are_counted() -> None:
    def after(**words: Any) -> int:
        model, fits = Scripted(parts=1), []
        config = config_of(EpitomeFilter(budget=BUDGET, on_fit=fits.append, **words))
        Runner.run_sync(agent_of(model), TASK, run_config=config)
        return int(fits[0].budget)

    assert after() < after(tools=0)
    assert after(tools=0) - after(tools=500) == 500


def test_what_must_stay_is_too_large() -> None:
    with pytest.raises(epitome.Infeasible, match="what must stay takes"):
        Runner.run_sync(agent_of(Scripted()), TASK, run_config=config_of(EpitomeFilter(budget=20)))


def test_a_budget_is_needed() -> None:
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        EpitomeFilter()


def test_what_left_is_brought_back() -> None:
    wish = {"reason": "Parts are read.", "next_step": "Read on.", "keep": None}
    ask = {
        20: ("search_history", {"words": "part 3, row 7"}),
        21: ("recall", {"handle": "00000000"}),
        22: ("compact_context", wish),
    }
    model, fits = Scripted(ask=ask), []
    filter = EpitomeFilter(budget=BUDGET, on_fit=fits.append, config={"marks": {"handles": True}})
    agent: Agent[Any] = Agent(name="mender", model=model, tools=[read_part, *filter.recall_tools])
    result = asyncio.run(Runner.run(agent, TASK, run_config=config_of(filter), max_turns=100))
    items: Any = result.to_input_list()
    results = {item["call_id"]: str(item["output"]) for item in items if item.get("type") == "function_call_output"}
    assert "part 3, row 7" in results["call_20"] and "nothing under the handle '00000000'" in results["call_21"]
    assert results["call_22"].startswith("Noted.")
    assert [fitted.asked is None for fitted in fits].index(False) == 22, "the call that comes next"
    ours = ["recall", "search_history", "compact_context"]
    assert model.offered[0] == ["read_part"] and model.offered[-1] == ["read_part", *ours]
    handle = next(fitted for fitted in fits if fitted.removals).removals[0]["handle"]
    brought = filter._fitters.remember().recall(handle)
    assert "[function_call] read_part" in brought and "[function_call_output] part 2, row 0: amount 0" in brought, (
        brought
    )
