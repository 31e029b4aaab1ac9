"""Strands' agents, with a scripted model and the SDK's own sessions."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from strands import Agent, tool
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import ContextWindowOverflowException
from work import ANSWER, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters._parts import messages_of, rows_of
from epitome_context.adapters._strands_messages import StrandsShape
from epitome_context.adapters.strands import EpitomeConversationManager


BUDGET = 8_000  # a step of two results is a quarter of what the other tests have


def wires_of(messages: list[Any]) -> list[dict[str, Any]]:
    return [row.wire for row in rows_of(messages, StrandsShape())]


class Scripted(Model):
    """Reads every part, two at a time, and answers. It keeps what it was sent."""

    def __init__(self, parts: int = 25, refuse_above: int | None = None, ask: dict[int, dict[str, Any]] | None = None):
        self.parts = parts
        self.refuse_above = refuse_above
        self.ask = ask or {}
        self.sent: list[list[Any]] = []
        self.refused = 0
        self.window: int | None = None
        self.figures: list[int] = []

    def update_config(self, **words: Any) -> None:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        return {"context_window_limit": self.window}

    def structured_output(self, *given: Any, **words: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *given: Any, **words: Any) -> Any:
        tokens = epitome.count_tokens(wires_of(messages))
        if self.refuse_above is not None and tokens > self.refuse_above:
            self.refused += 1
            raise ContextWindowOverflowException(f"prompt is too long: {tokens} tokens > {self.refuse_above} maximum")
        self.sent.append(copy.deepcopy(messages))
        self.figures.append(reported(wires_of(messages)))
        turn = len(self.sent)
        yield {"messageStart": {"role": "assistant"}}
        if turn % (self.parts + 1) == 0:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": ANSWER}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": f"Part {turn}, sheet S{turn:04}."}}}
        yield {"contentBlockStop": {}}
        calls = [("read_part", {"part": turn}), ("read_part", {"part": -turn})]
        if turn in self.ask:
            calls = [(self.ask[turn]["name"], self.ask[turn]["input"])]
        for number, (name, given_input) in enumerate(calls):
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": f"call_{turn}_{number}"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(given_input)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


@tool
def read_part(part: int) -> str:
    """Reads a part of the ledger."""
    return read(part)


def agent_of(
    model: Scripted, *tools: Any, session: Any = None, has_recall: bool = True, **words: Any
) -> tuple[Agent, Any]:
    manager = EpitomeConversationManager(**words)
    agent = Agent(
        model,
        tools=[read_part, *tools, *(manager.tools if has_recall else [])],
        system_prompt="You mend programs.",
        conversation_manager=manager,
        callback_handler=None,
        session_manager=session,
        agent_id="mender",
    )
    return (agent, manager)


def check_run(model: Scripted, budget: int = BUDGET) -> int:
    """Every request fits and goes on where the last one ended, and its roles alternate, as Bedrock wants them."""
    for messages in model.sent:
        check_sent(wires_of(messages), budget=budget)
        roles = [message["role"] for message in messages]
        assert all(role == ("user", "assistant")[turn % 2] for turn, role in enumerate(roles))
    return check_kept([[message["content"] for message in messages] for messages in model.sent])


def test_an_agent_at_work() -> None:
    model, fits = Scripted(), []
    agent, _ = agent_of(model, budget=BUDGET, on_fit=fits.append)
    agent(TASK)
    assert str(agent("Do it again, please.")).strip() == ANSWER
    assert len(model.sent) == 52
    assert check_run(model) == sum(fitted.status == "compacted" for fitted in fits)
    assert max(fitted.tokens_before for fitted in fits) > 4 * BUDGET, "each decision is made on all that came"


def test_the_budget_is_of_the_providers_tokens() -> None:
    class Reporting(Scripted):
        async def stream(self, messages: Any, *given: Any, **words: Any) -> Any:
            async for event in super().stream(messages, *given, **words):
                yield event
            cached = self.figures[-1] // 2
            usage = {"inputTokens": self.figures[-1] - cached, "outputTokens": 1, "cacheReadInputTokens": cached}
            yield {"metadata": {"usage": {**usage, "totalTokens": self.figures[-1] + 1}, "metrics": {"latencyMs": 1}}}

    model = Reporting()
    # The figures are of the messages alone.
    agent_of(model, has_recall=False, budget=BUDGET)[0](TASK)
    check_reported(model.figures, budget=BUDGET)


def test_an_agent_at_work_awaited() -> None:
    model = Scripted()
    agent, _ = agent_of(model, budget=BUDGET)
    assert str(asyncio.run(agent.invoke_async(TASK))).strip() == ANSWER
    check_run(model)


def test_a_session_is_taken_up_again(tmp_path: Path) -> None:
    def session() -> FileSessionManager:
        return FileSessionManager("1", storage_dir=str(tmp_path))

    model = Scripted(parts=15)
    agent, manager = agent_of(model, session=session(), budget=BUDGET)
    agent(TASK)
    later = Scripted(parts=15)
    again, restored = agent_of(later, session=session(), budget=BUDGET)
    results = [
        block["toolResult"] for message in again.messages for block in message["content"] if "toolResult" in block
    ]
    assert [result["content"][0]["text"] for result in results] == [
        read(part) for turn in range(1, 16) for part in (turn, -turn)
    ], "the session has everything that was said"
    again("Do it again, please.")
    first = [message["content"] for message in later.sent[0]]
    assert first[: len(model.sent[-1])] == [message["content"] for message in model.sent[-1]], "decided as before"
    json.dumps(restored.get_state())
    with pytest.raises(ValueError, match="Invalid conversation manager state"):
        manager.restore_from_session({"__name__": "Another", "removed_message_count": 0})


def test_a_session_keeps_what_is_its_own() -> None:
    """Of a fitter that agents share, no session keeps what is the others'; what left an earlier session is not found."""
    fitter = epitome.Fitter(budget=BUDGET, format="openai-chat")
    agent, manager = agent_of(Scripted(parts=15), fitter=fitter)
    agent(TASK)
    assert "fitter" not in manager.get_state() and "· recall" not in str(manager.get_state())
    agent, manager = agent_of(Scripted(parts=15), budget=BUDGET)
    tools = {mine.tool_name: mine for mine in manager.tools}
    agent(TASK)
    state = manager.get_state()
    assert "fitter" in state
    assert "sheet S0003" in tools["search_history"](words="sheet S0003")
    manager.restore_from_session(state)
    assert "Nothing that left" in tools["search_history"](words="sheet S0003")
    manager = EpitomeConversationManager(fitter=fitter)
    manager.restore_from_session(state)
    assert "fitter" not in manager.get_state()


def test_a_refusal_makes_it_smaller() -> None:
    model = Scripted(refuse_above=BUDGET)
    agent, _ = agent_of(model, budget=50_000)
    agent(TASK)
    assert model.refused == 1, "the limit that the provider named counts from then on"
    check_run(model)
    agent, _ = agent_of(Scripted(refuse_above=1), budget=50_000)
    with pytest.raises(ContextWindowOverflowException, match="prompt is too long"):
        agent(TASK)


def test_the_model_tells_its_window() -> None:
    model = Scripted(parts=60)
    model.window = 16_000
    agent, _ = agent_of(model)
    agent(TASK)
    check_run(model, budget=16_000)
    agent, _ = agent_of(Scripted())
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        agent(TASK)


def test_what_must_stay_is_too_large() -> None:
    agent, _ = agent_of(Scripted(), budget=20)
    with pytest.raises(epitome.Infeasible, match="what must stay takes"):
        agent(TASK)
    assert [message["role"] for message in agent.messages] == ["user"], "the messages stay"


def test_what_left_is_brought_back() -> None:
    model = Scripted(
        parts=25,
        ask={
            20: {"name": "search_history", "input": {"words": "sheet S0003"}},
            21: {"name": "recall", "input": {"handle": "00000000"}},
        },
    )
    agent, manager = agent_of(model, budget=BUDGET, config={"marks": {"handles": True}})
    agent(TASK)
    check_run(model)
    printed = {
        block["toolResult"]["toolUseId"]: block["toolResult"]["content"][0]["text"]
        for message in model.sent[20] + model.sent[21]
        for block in message["content"]
        if "toolResult" in block
    }
    assert "sheet S0003" in printed["call_20_0"]
    assert "nothing under the handle '00000000'" in printed["call_21_0"]
    handle = str(model.sent[-1]).split("· recall ")[1].split("]")[0]
    recall = next(mine for mine in manager.tools if mine.tool_name == "recall")
    assert "row 59: amount" in recall(handle=handle)


def test_pictures_stay_in_results_that_are_cut() -> None:
    def picture(byte: bytes) -> dict[str, Any]:
        return {"image": {"format": "png", "source": {"bytes": byte * 3_000}}}

    def answer(id: str, *content: dict[str, Any]) -> dict[str, Any]:
        return {"toolResult": {"toolUseId": id, "status": "success", "content": list(content)}}

    said = {"text": "".join(f"row {row} {row * 37}\n" for row in range(900))}
    uses = [{"toolUse": {"toolUseId": id, "name": "look", "input": {}}} for id in "ab"]
    first, second = picture(b"A"), picture(b"B")
    messages = [
        {"role": "user", "content": [{"text": TASK}]},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [answer("a", first, said), answer("b", said, {"text": "The end."}, second)]},
    ]
    before = copy.deepcopy(messages)
    rows = rows_of(messages, StrandsShape())
    fitted = epitome.Fitter(budget=8_000, format="openai-chat").fit([row.wire for row in rows])
    sent = messages_of(fitted, rows, messages, StrandsShape(), alternate=True)
    assert messages == before and len(sent) == 3
    results = [block["toolResult"]["content"] for block in sent[2]["content"]]
    assert [[next(iter(item)) for item in content] for content in results] == [["image", "text"], ["text", "image"]]
    assert results[0][0] is first and results[1][1] is second
    assert all(
        "elided" in text and len(text) < len(said["text"]) for text in (results[0][1]["text"], results[1][0]["text"])
    )


def check_edit(own: list[Any], change: Any, expect: list[Any]) -> None:
    """What becomes of the blocks of a message whose rendering is changed."""
    from epitome_context.adapters._parts import _row_after

    before = copy.deepcopy(own)
    row = rows_of([{"role": "assistant", "content": own}], StrandsShape())[0]
    wire = copy.deepcopy(row.wire)
    change(wire)
    assert [part for _, part in _row_after(row, wire, StrandsShape()).parts] == expect
    assert own == before


def test_blocks_are_edited() -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
    use = {"toolUse": {"toolUseId": "c", "name": "write", "input": {"text": "long"}, "reasoningSignature": "s"}}
    image = {"image": {"format": "png", "source": {"bytes": b"hi"}}}
    cache = {"cachePoint": {"type": "default"}}
    answer = {"toolUseId": "c", "status": "error", "content": [{"text": "long"}, image, {"json": {"a": 1}}]}

    def say(wire: dict[str, Any]) -> None:
        wire["content"] = "short"

    def say_first(wire: dict[str, Any]) -> None:
        wire["content"][0]["text"] = "short"

    def drop_image(wire: dict[str, Any]) -> None:
        del wire["content"][1]

    def call_shorter(wire: dict[str, Any]) -> None:
        wire["tool_calls"][0]["function"]["arguments"] = '{"text": "l"}'

    def forget(wire: dict[str, Any]) -> None:
        del wire["reasoning_content"]

    short = {"text": "short"}
    check_edit([{"text": "long"}, cache], say, [short, cache])
    check_edit([thought, {"text": "long"}, use], say, [thought, short, use])
    check_edit([thought, use], forget, [use])
    check_edit([thought, use], say, [short, thought, use])
    shorter = {"toolUse": {**use["toolUse"], "input": {"text": "l"}}}
    check_edit([{"text": "Now."}, use], call_shorter, [{"text": "Now."}, shorter])
    check_edit([{"text": "long"}, image], say_first, [short, image])
    check_edit([{"text": "long"}, image], say, [short])
    items = answer["content"]
    check_edit([{"toolResult": answer}], say_first, [{"toolResult": {**answer, "content": [short, *items[1:]]}}])
    check_edit([{"toolResult": answer}], drop_image, [{"toolResult": {**answer, "content": [items[0], items[2]]}}])
    check_edit([{"toolResult": answer}], say, [{"toolResult": {**answer, "content": [short]}}])
