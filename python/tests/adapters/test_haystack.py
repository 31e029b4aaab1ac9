"""Haystack's agents, with a scripted generator of replies, and its rules for compactors."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from haystack import component
from haystack.components.agents import Agent
from haystack.core.serialization import allow_deserialization_module
from haystack.dataclasses import (
    ChatMessage,
    ImageContent,
    ReasoningContent,
    TextContent,
    ToolCall,
    ToolCallResult,
)
from haystack.hooks.compaction import CompactionHook
from haystack.token_counters import ApproximateTokenCounter
from haystack.tools import tool
from work import ANSWER, TASK, check_kept, check_sent, read

import epitome_context as epitome
from epitome_context.adapters._haystack_messages import edited, inserted, single, wires_of
from epitome_context.adapters.haystack import EpitomeCompactor

WINDOW = 8_000
COUNTER = ApproximateTokenCounter()


@component
class Scripted:
    """Reads every part, and answers. It keeps what it was sent."""

    def __init__(self, parts: int = 40, with_ids: bool = True) -> None:
        self.parts = parts
        self.with_ids = with_ids
        self.sent: list[list[ChatMessage]] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **words: Any) -> dict[str, Any]:
        self.sent.append(copy.deepcopy(messages))
        turn = len(self.sent)
        if turn > self.parts:
            return {"replies": [ChatMessage.from_assistant(ANSWER)]}
        id = f"call_{turn}" if self.with_ids else None
        call = ToolCall(tool_name="read_part", arguments={"part": turn}, id=id)
        reply = ChatMessage.from_assistant(f"Part {turn}.", tool_calls=[call], meta={"turn": turn})
        return {"replies": [reply]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], tools: Any = None, **words: Any) -> dict[str, Any]:
        return self.run(messages)


@tool
def read_part(part: int) -> str:
    """Reads a part of the ledger."""
    return read(part)


def agent_of(generator: Scripted, **words: Any) -> Agent:
    hook = CompactionHook(compactor=EpitomeCompactor(**words), context_window=WINDOW, compact_at=0.7, compact_to=0.4)
    return Agent(
        chat_generator=generator,
        tools=[read_part],
        system_prompt="You mend programs.",
        hooks={"before_llm": [hook]},
        max_agent_steps=100,
    )


def check_run(generator: Scripted, result: dict[str, Any]) -> None:
    """Every request is within the window by Haystack's own count and valid, and goes on where the last one ended."""
    assert result["last_message"].text == ANSWER
    assert len(generator.sent) == 41
    for messages in generator.sent:
        assert COUNTER.count(messages) <= WINDOW * 0.7
        check_sent(wires_of(messages), budget=2 * WINDOW)  # for digits, Haystack's estimate is low
    check_kept(generator.sent)
    assert generator.sent[-1][0].text == "You mend programs."


def test_an_agent_at_work() -> None:
    generator, fits = Scripted(), []
    check_run(generator, agent_of(generator, on_fit=fits.append).run(messages=[ChatMessage.from_user(TASK)]))
    assert len(fits) == check_kept(generator.sent)


def test_an_agent_at_work_awaited() -> None:
    generator = Scripted()
    check_run(generator, asyncio.run(agent_of(generator).run_async(messages=[ChatMessage.from_user(TASK)])))


def test_a_model_whose_calls_have_no_ids() -> None:
    generator = Scripted(with_ids=False)
    check_run(generator, agent_of(generator).run(messages=[ChatMessage.from_user(TASK)]))


def talk(parts: int) -> list[ChatMessage]:
    messages = [ChatMessage.from_system("You mend programs."), ChatMessage.from_user(TASK)]
    for part in range(parts):
        call = ToolCall(tool_name="read_part", arguments={"part": part}, id=f"c{part}")
        messages += [ChatMessage.from_assistant(tool_calls=[call]), ChatMessage.from_tool(read(part), origin=call)]
    return messages


def check(messages: list[ChatMessage], target: int, expect: str) -> None:
    """`fits`: no more than the target; `smaller`: as near as it can be; `none`: nothing to do."""
    before = copy.deepcopy(messages)
    for config in (None, {"preset": "classic"}):
        compacted = EpitomeCompactor(config=config).compact(messages, target, COUNTER)
        assert messages == before, "the list stays as it is"
        assert (compacted is None) == (expect == "none")
        if compacted is not None:
            check_sent(wires_of(compacted), budget=10**6)
            assert COUNTER.count(compacted) < COUNTER.count(messages)
            assert (COUNTER.count(compacted) <= target) == (expect == "fits")


def test_lists_are_compacted() -> None:
    check([], 100, "none")
    check(talk(0), 1, "none")
    check(talk(20), 10**6, "none")
    check(talk(20), 4_000, "fits")
    check(talk(20), 2_000, "fits")
    check(talk(20), 50, "smaller")


def test_results_in_one_message() -> None:
    calls = [ToolCall(tool_name="read_part", arguments={"part": part}, id=f"c{part}") for part in range(12)]
    results = [ToolCallResult(result=read(part), origin=call, error=False) for part, call in enumerate(calls)]
    asked = ChatMessage.from_assistant(tool_calls=calls)
    answered = ChatMessage.from_tool("", origin=calls[0])
    answered = type(answered)(_role=answered.role, _content=results)
    check([ChatMessage.from_user(TASK), asked, answered, ChatMessage.from_user("Go on.")], 3_000, "fits")
    assert [message.tool_call_results for message in single([answered])] == [[result] for result in results]


def test_a_compactor_is_serialized() -> None:
    allow_deserialization_module("epitome_context.adapters.haystack")
    hook = CompactionHook(compactor=EpitomeCompactor(config={"preset": "classic"}), context_window=WINDOW)
    again = CompactionHook.from_dict(hook.to_dict())
    assert again.to_dict() == hook.to_dict() and again.compactor.config == {"preset": "classic"}
    with pytest.raises(epitome.ConfigError, match="clasic"):
        EpitomeCompactor(config={"preset": "clasic"})


def check_edit(own: ChatMessage, change: Any, expect: list[Any]) -> None:
    wire = copy.deepcopy(wires_of([own])[0])
    change(wire)
    copied = edited(own, wire)
    assert list(copied._content) == expect
    assert (copied.meta, copied.name, copied.role) == (own.meta, own.name, own.role)


def test_messages_are_edited() -> None:
    image = ImageContent("aGk=", mime_type="image/png", validation=False)
    call = ToolCall(tool_name="write", arguments={"text": "long"}, id="c")
    thought, said = ReasoningContent("Hm."), TextContent("short")

    def say(wire: dict[str, Any]) -> None:
        wire["content"] = "short"

    def say_in_parts(wire: dict[str, Any]) -> None:
        wire["content"][0]["text"] = "short"

    def call_shorter(wire: dict[str, Any]) -> None:
        wire["tool_calls"][0]["function"]["arguments"] = '{"text": "l"}'

    def forget(wire: dict[str, Any]) -> None:
        del wire["reasoning_content"]

    check_edit(ChatMessage.from_user("long", name="Ann", meta={"a": 1}), say, [said])
    check_edit(ChatMessage.from_user(content_parts=["long", image]), say_in_parts, [said, image])
    check_edit(ChatMessage.from_user(content_parts=["long", image]), say, [said])
    result = ToolCallResult(result="long", origin=call, error=True)
    check_edit(
        ChatMessage.from_tool("long", origin=call, error=True),
        say,
        [ToolCallResult(result="short", origin=call, error=True)],
    )
    assert result.error
    asked = ChatMessage.from_assistant("Now.", tool_calls=[call], reasoning=thought)
    shorter = ToolCall(tool_name="write", arguments={"text": "l"}, id="c")
    check_edit(asked, call_shorter, [thought, TextContent("Now."), shorter])
    check_edit(asked, forget, [TextContent("Now."), call])
    check_edit(asked, say, [thought, said, call])
    assert inserted({"role": "user", "content": "[Summary]"}).meta == {"context_compaction": {"strategy": "epitome"}}
