"""Runs of Google's ADK, with a scripted model and its own sessions in memory."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from work import ANSWER, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters._google_adk_messages import ContentShape
from epitome_context.adapters._parts import _row_after, rows_of
from epitome_context.adapters.google_adk import EpitomePlugin

BUDGET = 8_000  # a step of two results is a quarter of what the other tests have


def wires_of(contents: list[Any]) -> list[dict[str, Any]]:
    return [row.wire for row in rows_of(contents, ContentShape())]


class Scripted(BaseLlm):
    """Reads every part, two at a time, and answers. It keeps what it was sent."""

    model: str = "scripted"
    parts: int = 25
    sent: list[Any] = []
    ask: dict[int, tuple[str, dict[str, Any]]] = {}
    figures: list[int] | None = None

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        self.sent.append(copy.deepcopy(llm_request.contents))
        turn = len(self.sent)
        usage = None
        if self.figures is not None:
            self.figures.append(reported(wires_of(llm_request.contents)))
            usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=self.figures[-1])
        if turn % (self.parts + 1) == 0:
            parts = [types.Part(text=ANSWER)]
        else:
            calls = [("read_part", {"part": turn}), ("read_part", {"part": -turn})]
            parts = [types.Part(text="Hm.", thought=True), types.Part(text=f"Part {turn}, sheet S{turn:04}.")]
            for name, args in [self.ask[turn]] if turn in self.ask else calls:
                call = types.Part.from_function_call(name=name, args=args)
                call.thought_signature = b"signed"
                parts.append(call)
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=usage)


def read_part(part: int) -> str:
    """Reads a part of the ledger."""
    return read(part)


def run(model: Scripted, plugin: EpitomePlugin, *said: str, tools: list[Any] | None = None) -> list[Any]:
    """The events of a session in which this was said."""
    agent = LlmAgent(name="mender", model=model, instruction="You mend programs.", tools=[read_part, *(tools or [])])

    async def talk() -> list[Any]:
        runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[plugin]))
        session = await runner.session_service.create_session(app_name="app", user_id="ann")
        for text in said:
            message = types.UserContent(text)
            async for _ in runner.run_async(user_id="ann", session_id=session.id, new_message=message):
                pass
        kept = await runner.session_service.get_session(app_name="app", user_id="ann", session_id=session.id)
        return list(kept.events)

    return asyncio.run(talk())


def check_run(model: Scripted) -> int:
    """Every request fits, its roles alternate, and it goes on where the last one ended."""
    for contents in model.sent:
        check_sent(wires_of(contents), budget=BUDGET)
        roles = [content.role for content in contents]
        assert all(role == ("user", "model")[turn % 2] for turn, role in enumerate(roles)), roles
    return check_kept(model.sent)


def test_a_session_of_runs() -> None:
    model, fits = Scripted(), []
    events = run(model, EpitomePlugin(budget=BUDGET, on_fit=fits.append), TASK, "Do it again, please.")
    assert len(model.sent) == 52 and events[-1].content.parts[0].text == ANSWER
    assert check_run(model) == sum(fitted.status == "compacted" for fitted in fits)
    printed = [
        part.function_response.response["result"]
        for event in events
        for part in event.content.parts
        if part.function_response is not None
    ]
    turns = [turn for turn in range(1, 52) if turn != 26]
    assert printed == [read(part) for turn in turns for part in (turn, -turn)], "the session has everything"
    signed = [part for content in model.sent[-1] for part in content.parts if part.function_call is not None]
    assert signed and all(part.thought_signature == b"signed" for part in signed)


def test_the_budget_is_of_the_providers_tokens() -> None:
    model = Scripted(figures=[])
    run(model, EpitomePlugin(budget=BUDGET), TASK)
    check_reported(model.figures or [], budget=BUDGET)


def test_the_tools_are_counted() -> None:
    def budget_of(*tools: Any) -> int:
        fits: list[Any] = []
        run(Scripted(parts=1), EpitomePlugin(budget=BUDGET, on_fit=fits.append), TASK, tools=list(tools))
        return int(fits[0].budget)

    def write_part(part: int, text: str) -> str:
        """Writes a part of the ledger anew, all of it."""
        return ""

    assert budget_of(write_part) < budget_of() < BUDGET


def test_what_must_stay_is_too_large() -> None:
    with pytest.raises(RuntimeError, match="what must stay takes") as error:
        run(Scripted(), EpitomePlugin(budget=20), TASK)
    assert isinstance(error.value.__cause__, epitome.Infeasible)


def test_a_budget_is_needed() -> None:
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        EpitomePlugin()


def test_what_left_is_brought_back() -> None:
    ask = {20: ("search_history", {"words": "sheet S0003"}), 21: ("recall", {"handle": "00000000"})}
    model = Scripted(ask=ask)
    plugin = EpitomePlugin(budget=BUDGET, config={"marks": {"handles": True}})
    events = run(model, plugin, TASK, tools=plugin.tools)
    check_run(model)
    answers = {
        part.function_response.name: part.function_response.response["result"]
        for event in events
        for part in event.content.parts
        if part.function_response is not None
    }
    assert "sheet S0003" in answers["search_history"]
    assert "nothing under the handle '00000000'" in answers["recall"]


def check_edit(own: list[Any], change: Any, expect: list[Any]) -> None:
    """What becomes of the parts of a content whose rendering is changed."""
    before = copy.deepcopy(own)
    row = rows_of([types.Content(role="model", parts=own)], ContentShape())[0]
    wire = copy.deepcopy(row.wire)
    change(wire)
    assert [part for _, part in _row_after(row, wire, ContentShape()).parts] == expect
    assert own == before


def test_parts_are_edited() -> None:
    def say(wire: dict[str, Any]) -> None:
        wire["content"] = "short"

    def call_shorter(wire: dict[str, Any]) -> None:
        wire["tool_calls"][0]["function"]["arguments"] = '{"text": "l"}'

    def forget(wire: dict[str, Any]) -> None:
        del wire["reasoning_content"]

    def say_first(wire: dict[str, Any]) -> None:
        wire["content"][0]["text"] = "short"

    def part_of(response: dict[str, Any], **more: Any) -> Any:
        return types.Part(function_response=types.FunctionResponse(id="c", name="read", response=response, **more))

    text, short, thought = types.Part(text="long"), types.Part(text="short"), types.Part(text="Hm.", thought=True)
    call = types.Part.from_function_call(name="write", args={"text": "long"})
    signed = call.model_copy(update={"thought_signature": b"signed"})
    cut = types.Part.from_function_call(name="write", args={"text": "l"})
    image = types.Part.from_bytes(data=b"hi", mime_type="image/png")
    code = types.Part.from_executable_code(code="print(1)", language=types.Language.PYTHON)
    check_edit([text], say, [short])
    check_edit([thought, text, call], say, [thought, short, call])
    check_edit([thought, text, call], forget, [text, call])
    check_edit([call], call_shorter, [cut])
    check_edit(
        [signed], call_shorter, [cut.model_copy(update={"thought_signature": b"skip_thought_signature_validator"})]
    )
    check_edit([text, image], say_first, [short, image])
    check_edit([text, image], say, [short])
    check_edit([text, code], say_first, [short, code])
    check_edit([part_of({"result": "long"})], say, [part_of({"result": "short"})])
    check_edit([part_of({"output": "long"})], say, [part_of({"output": "short"})])
    check_edit([part_of({"rows": [1], "more": True})], say, [part_of({"result": "short"})])
    medium = [types.FunctionResponsePart.from_bytes(data=b"hi", mime_type="image/png")]
    check_edit([part_of({"result": "long"}, parts=medium)], say_first, [part_of({"result": "short"}, parts=medium)])
    check_edit([part_of({"result": "long"}, parts=medium)], say, [part_of({"result": "short"}, parts=[])])
