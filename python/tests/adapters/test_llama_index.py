"""LlamaIndex's agents and memories, with a scripted model."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    CachePoint,
    CacheControl,
    ChatMessage,
    ChatResponse,
    ImageBlock,
    LLMMetadata,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from work import ANSWER, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters._llama_index_messages import LlamaIndexShape
from epitome_context.adapters._parts import _message_of, _row_after, rows_of
from epitome_context.adapters.llama_index import EpitomeMemory, _FittedMessages, recall_tools, wrap_llm

BUDGET = 8_000  # a step of two results is a quarter of what the other tests have
SHAPE = LlamaIndexShape()


def wires_of(messages: Any) -> list[dict[str, Any]]:
    return [row.wire for row in rows_of(messages, SHAPE)]


class Scripted(FunctionCallingLLM):
    """Reads every part, two at a time, and answers. It keeps what it was sent."""

    parts: int = 25
    sent: list[Any] = []
    ask: dict[int, tuple[str, dict[str, Any]]] = {}
    window: int = 3_900
    figures: list[int] | None = None
    beside: bool = False

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True, context_window=self.window)

    def _answer(self, messages: Any) -> ChatResponse:
        answer = self._said(messages)
        if self.figures is not None:
            self.figures.append(reported(wires_of(messages)))
            answer.raw = {"usage": {"prompt_tokens": self.figures[-1], "completion_tokens": 1}}
        return answer

    def _said(self, messages: Any) -> ChatResponse:
        self.sent.append(copy.deepcopy(list(messages)))
        turn = len(self.sent)
        if turn % (self.parts + 1) == 0:
            return ChatResponse(message=ChatMessage(role="assistant", content=ANSWER))
        calls = [("read_part", {"part": turn}), ("read_part", {"part": -turn})]
        blocks: list[Any] = [ThinkingBlock(content="Hm."), TextBlock(text=f"Part {turn}, sheet S{turn:04}.")]
        for number, (name, kwargs) in enumerate([self.ask[turn]] if turn in self.ask else calls):
            blocks.append(ToolCallBlock(tool_call_id=f"call_{turn}_{number}", tool_name=name, tool_kwargs=kwargs))
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks))

    def chat(self, messages: Any, **words: Any) -> ChatResponse:
        return self._answer(messages)

    async def achat(self, messages: Any, **words: Any) -> ChatResponse:
        return self._answer(messages)

    def stream_chat(self, messages: Any, **words: Any) -> Any:
        return iter([self._answer(messages)])

    async def astream_chat(self, messages: Any, **words: Any) -> Any:
        async def flow() -> Any:
            yield self._answer(messages)

        return flow()

    def get_tool_calls_from_response(self, response: ChatResponse, *given: Any, **words: Any) -> list[ToolSelection]:
        calls = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        return [
            ToolSelection(tool_id=call.tool_call_id, tool_name=call.tool_name, tool_kwargs=call.tool_kwargs)
            for call in calls
        ]

    def _prepare_chat_with_tools(self, tools: Any, chat_history: Any = None, **words: Any) -> dict[str, Any]:
        return {"messages": chat_history, "tools": [tool.metadata.to_openai_tool() for tool in tools]}

    def _no(self, *given: Any, **words: Any) -> Any:
        raise NotImplementedError

    complete = acomplete = stream_complete = astream_complete = _no


def read_part(part: int) -> str:
    """Reads a part of the ledger."""
    return read(part)


def run(llm: Any, *said: str, streaming: bool = False, memory: Any = None, tools: Any = ()) -> list[Any]:
    """The answers of an agent to which this was said."""
    agent = FunctionAgent(tools=[read_part, *tools], llm=llm, system_prompt="You mend programs.", streaming=streaming)
    memory = memory or EpitomeMemory()

    async def talk() -> list[Any]:
        return [await agent.run(text, memory=memory, max_iterations=200) for text in said]

    return asyncio.run(talk())


def check_run(llm: Any, budget: int = BUDGET) -> int:
    """Every request fits and goes on where the last one ended."""
    for messages in llm.sent:
        check_sent(wires_of(messages), budget=budget)
        assert messages[0].content == "You mend programs."
    return check_kept(llm.sent)


def test_a_session_of_runs() -> None:
    fits: list[Any] = []
    llm, memory = wrap_llm(Scripted(), budget=BUDGET, on_fit=fits.append), EpitomeMemory()
    answers = run(llm, TASK, "Do it again, please.", memory=memory)
    assert [str(answer) for answer in answers] == [ANSWER, ANSWER] and isinstance(llm, Scripted)
    assert len(llm.sent) == 52
    assert check_run(llm) == sum(fitted.status == "compacted" for fitted in fits)
    kept = memory.get_all()
    turns = [turn for turn in range(1, 52) if turn != 26]
    printed = [message.content for message in kept if message.role == "tool"]
    assert printed == [read(part) for turn in turns for part in (turn, -turn)], "the memory has everything"


def test_the_budget_is_of_the_providers_tokens() -> None:
    for streaming in (False, True):
        llm = wrap_llm(Scripted(figures=[]), budget=BUDGET)
        run(llm, TASK, streaming=streaming)
        check_reported(llm.figures or [], budget=BUDGET)


def test_runs_that_are_streamed() -> None:
    llm = wrap_llm(Scripted(), budget=BUDGET)
    assert str(run(llm, TASK, streaming=True)[0]) == ANSWER
    check_run(llm)


def test_calls_without_an_agent() -> None:
    llm = wrap_llm(Scripted(parts=0), budget=BUDGET)
    talk = [ChatMessage(role=("user", "assistant")[turn % 2], content=f"Line {turn}. " * 80) for turn in range(81)]
    before = copy.deepcopy(talk)
    llm.chat(talk)
    next(llm.stream_chat(talk))
    assert llm.sent[0] == llm.sent[1] and len(llm.sent[0]) < 81 and talk == before
    check_sent_twice = epitome.count_tokens(wires_of(llm.sent[0]))
    assert check_sent_twice <= BUDGET


class Chained(Scripted):
    """A model whose awaited calls come down to the others, as those of several integrations do."""

    async def achat(self, messages: Any, **words: Any) -> ChatResponse:
        return self.chat(messages, **words)

    def stream_chat(self, messages: Any, **words: Any) -> Any:
        return (self.chat(messages, **words) for _ in range(1))

    async def astream_chat(self, messages: Any, **words: Any) -> Any:
        async def flow() -> Any:
            for answer in self.stream_chat(messages, **words):
                yield answer

        return flow()


def test_a_call_that_calls_another_is_fitted_once() -> None:
    talk = [ChatMessage(role=("user", "assistant")[turn % 2], content=f"Line {turn}. " * 80) for turn in range(81)]
    fits: list[Any] = []
    llm = wrap_llm(Chained(parts=0), budget=BUDGET, on_fit=fits.append)

    async def awaited() -> None:
        await llm.achat(talk)
        async for _ in await llm.astream_chat(talk):
            pass

    llm.chat(talk)
    list(llm.stream_chat(talk))
    asyncio.run(awaited())
    assert len(fits) == len(llm.sent) == 4 and all(sent == llm.sent[0] for sent in llm.sent)
    handed = _FittedMessages(llm.sent[0], llm)
    assert type(copy.deepcopy(handed)) is list, "a copy does not hold the model"
    other = wrap_llm(Scripted(parts=0), budget=BUDGET // 4)
    other.chat(handed)
    assert epitome.count_tokens(wires_of(other.sent[0])) <= BUDGET // 4, "what fits one model may not fit another"


def test_the_model_tells_its_window() -> None:
    llm = wrap_llm(Scripted(parts=40, window=16_000))
    run(llm, TASK)
    check_run(llm, budget=16_000)


def test_a_memory_that_fits() -> None:
    memory = EpitomeMemory.from_defaults(chat_history=[ChatMessage(content=TASK)], budget=BUDGET, chat_store_key="ann")
    sent: list[Any] = []
    for turn in range(60):
        memory.put(ChatMessage(role="assistant", content=f"Line {turn} of my answer. " * 40))
        memory.put(ChatMessage(role="user", content=f"And line {turn} of the ledger? " * 20))
        sent.append(memory.get())
        assert asyncio.run(memory.aget()) == sent[-1]
        check_sent(wires_of(sent[-1]), budget=BUDGET)
    check_kept(sent)
    assert len(memory.get_all()) == 121 and sent[-1][0] == memory.get_all()[0]
    with pytest.raises(epitome.Infeasible, match="what must stay takes"):
        EpitomeMemory.from_defaults(chat_history=[ChatMessage(content=TASK)], budget=5).get()
    with pytest.raises(TypeError, match="`on_fit` hears nothing"):
        EpitomeMemory(on_fit=sent.append)


def test_what_must_stay_is_too_large() -> None:
    with pytest.raises(epitome.Infeasible, match="what must stay takes"):
        run(wrap_llm(Scripted(), budget=20), TASK)


def test_what_left_is_brought_back() -> None:
    ask = {20: ("search_history", {"words": "sheet S0003"}), 21: ("recall", {"handle": "00000000"})}
    llm = wrap_llm(Scripted(ask=ask), budget=BUDGET, config={"marks": {"handles": True}})
    run(llm, TASK, tools=recall_tools(llm))
    check_run(llm)
    assert "sheet S0003" in llm.sent[20][-1].content
    assert "nothing under the handle '00000000'" in llm.sent[21][-1].content


def test_results_without_ids_answer_the_calls_of_their_names() -> None:
    def call(name: str) -> ToolCallBlock:
        return ToolCallBlock(tool_name=name, tool_kwargs={})

    def result(name: str) -> ChatMessage:
        return ChatMessage(role="tool", content=f"by {name}", additional_kwargs={"name": name})

    said = ChatMessage(role="assistant", blocks=[call("read_part"), call("write_part")])
    wires = wires_of([ChatMessage(content=TASK), said, result("write_part"), result("read_part")])
    ids = {call["function"]["name"]: call["id"] for call in wires[1]["tool_calls"]}
    assert [wire["tool_call_id"] for wire in wires[2:]] == [ids["write_part"], ids["read_part"]]
    assert epitome.validate(wires, format="openai-chat") == []


def check_edit(own: ChatMessage, change: Any, expect: ChatMessage) -> None:
    """What becomes of a message whose rendering is changed."""
    before = own.model_copy(deep=True)
    row = rows_of([own], SHAPE)[0]
    wire = copy.deepcopy(row.wire)
    change(wire)
    assert _message_of([_row_after(row, wire, SHAPE)], [own], SHAPE) == expect
    assert own == before


def test_messages_are_edited() -> None:
    def say(wire: dict[str, Any]) -> None:
        wire["content"] = "short"

    def say_first(wire: dict[str, Any]) -> None:
        wire["content"][0]["text"] = "short"

    def call_shorter(wire: dict[str, Any]) -> None:
        wire["tool_calls"][0]["function"]["arguments"] = '{"text": "l"}'

    def forget(wire: dict[str, Any]) -> None:
        del wire["reasoning_content"]

    def said(*blocks: Any, role: str = "assistant", **kwargs: Any) -> ChatMessage:
        return ChatMessage(role=role, blocks=list(blocks), additional_kwargs=kwargs)

    text, short, thought = TextBlock(text="long"), TextBlock(text="short"), ThinkingBlock(content="Hm.")
    image, cache = ImageBlock(url="https://example.org/a.png"), CachePoint(cache_control=CacheControl(type="ephemeral"))
    call = ToolCallBlock(tool_call_id="c", tool_name="write", tool_kwargs={"text": "long"})
    cut = ToolCallBlock(tool_call_id="c", tool_name="write", tool_kwargs={"text": "l"})
    check_edit(said(text, cache, role="user"), say, said(short, cache, role="user"))
    check_edit(said(thought, text, call), say, said(thought, short, call))
    check_edit(said(thought, text, call), forget, said(text, call))
    check_edit(said(call), call_shorter, said(cut))
    check_edit(said(text, image, role="user"), say_first, said(short, image, role="user"))
    check_edit(said(text, role="tool", tool_call_id="c"), say, said(short, role="tool", tool_call_id="c"))
    beside = {"id": "c", "type": "function", "function": {"name": "write", "arguments": '{"text": "long"}'}}
    shorter = {"id": "c", "type": "function", "function": {"name": "write", "arguments": '{"text": "l"}'}}
    check_edit(said(text, tool_calls=[beside]), call_shorter, said(text, tool_calls=[shorter]))
    check_edit(said(text, tool_calls=[beside]), say, said(short, tool_calls=[beside]))
    check_edit(said(call, tool_calls=[beside]), call_shorter, said(cut))
