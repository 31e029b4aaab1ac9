"""LangChain's agents, and those of deepagents, with scripted models."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from deepagents import HarnessProfile, create_deep_agent, register_harness_profile
from langchain.agents import create_agent
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from work import ANSWER, BUDGET, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters._langchain_messages import edited, inserted, wire_of
from epitome_context.adapters.langchain import EpitomeMiddleware

CONFIG: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 1_000}


class Scripted(BaseChatModel):
    """Reads every part, and answers. It keeps what it was sent."""

    parts: int = 25
    tool: str = "read"
    sent: list[list[BaseMessage]] = []
    refuse_above: int | None = None
    figures: list[int] | None = None
    ask: dict[int, tuple[str, dict[str, Any]]] = {}
    offered: list[list[str]] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.offered.append([tool.name for tool in tools])
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        if self.refuse_above is not None:
            tokens = epitome.count_tokens(convert_to_openai_messages(messages), format="openai-chat")
            if tokens > self.refuse_above:
                raise ContextOverflowError(f"prompt is too long: {tokens} tokens > {self.refuse_above} maximum")
        self.sent.append(messages)
        turn = len(self.sent)
        if turn % (self.parts + 1) == 0:
            message = AIMessage(ANSWER, id=f"a{turn}", response_metadata={"turn": turn})
        else:
            text: Any = [{"type": "text", "text": f"Now part {turn}."}] if turn % 2 else ""
            name, given = self.ask.get(turn, (self.tool, {"part": turn}))
            calls = [{"name": name, "args": given, "id": f"call_{turn}"}]
            message = AIMessage(text, id=f"a{turn}", tool_calls=calls, response_metadata={"turn": turn})
        if self.figures is not None:
            self.figures.append(reported(convert_to_openai_messages(messages)))
            message.usage_metadata = {
                "input_tokens": self.figures[-1],
                "output_tokens": 1,
                "total_tokens": self.figures[-1] + 1,
            }
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent_of(model: Scripted, **words: Any) -> Any:
    middleware = EpitomeMiddleware(**words)
    return create_agent(
        model, [read], system_prompt="You mend programs.", middleware=[middleware], checkpointer=InMemorySaver()
    )


def check_run(model: Scripted, state: dict[str, Any], budget: int = BUDGET) -> None:
    """Every request fits and goes on where the last one ended; the thread's messages are as they came."""
    for messages in model.sent:
        sent = [
            message for message in messages if message.content or message.type != "system"
        ]  # deepagents sends an empty one
        check_sent(convert_to_openai_messages(sent), budget=budget)
    check_kept(model.sent)
    kept = state["messages"]
    assert [message.content for message in kept if isinstance(message, ToolMessage)] == [
        read(message.tool_calls[0]["args"]["part"])
        for message in kept
        if isinstance(message, AIMessage) and message.tool_calls
    ]
    own = {id(message) for message in kept} | {message.id for message in kept}
    ids = [message.id for message in model.sent[-1] if message.id in own]
    assert len(ids) >= 2, "what is kept is the thread's own"
    assert all(message.response_metadata for message in model.sent[-1] if message.type == "ai" and message.id in own)


def test_an_agent_at_work() -> None:
    model, fits = Scripted(), []
    agent = agent_of(model, budget=BUDGET, on_fit=fits.append)
    agent.invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    state = agent.invoke({"messages": [HumanMessage("Do it again, please.")]}, CONFIG)
    assert len(model.sent) == 52 and state["messages"][-1].content == ANSWER
    check_run(model, state)
    assert [fitted.status for fitted in fits].count("compacted") == check_kept(model.sent)
    assert epitome.count_tokens(convert_to_openai_messages(state["messages"]), format="openai-chat") > 4 * BUDGET


def test_an_agent_at_work_awaited() -> None:
    model = Scripted()
    agent = agent_of(model, budget=BUDGET)
    check_run(model, asyncio.run(agent.ainvoke({"messages": [HumanMessage(TASK)]}, CONFIG)))


def test_the_budget_is_of_the_providers_tokens() -> None:
    model = Scripted(figures=[])
    agent_of(model, budget=BUDGET).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    check_reported(model.figures or [])


def test_the_models_profile_settles_the_budget() -> None:
    model = Scripted(parts=60, profile={"max_input_tokens": 16_000})
    state = agent_of(model).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    check_run(model, state, budget=16_000)
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        agent_of(Scripted()).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)


def test_what_left_is_brought_back() -> None:
    wish = {"reason": "Parts are read.", "next_step": "Read on.", "keep": ["no such text"]}
    ask = {
        20: ("search_history", {"words": "part 3, row 7"}),
        21: ("recall", {"handle": "00000000"}),
        22: ("compact_context", wish),
    }
    model, fits = Scripted(ask=ask), []
    middleware = EpitomeMiddleware(budget=BUDGET, on_fit=fits.append, config={"marks": {"handles": True}})
    agent = create_agent(
        model, [read, *middleware.recall_tools], middleware=[middleware], checkpointer=InMemorySaver()
    )
    state = agent.invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    results = {message.name: str(message.content) for message in state["messages"] if isinstance(message, ToolMessage)}
    assert "part 3, row 7" in results["search_history"] and "nothing under the handle '00000000'" in results["recall"]
    assert results["compact_context"].startswith("Noted.")
    assert [fitted.asked is None for fitted in fits].index(False) == 22, "the call that comes next"
    ours = ["recall", "search_history", "compact_context"]
    assert model.offered[0] == ["read"] and model.offered[-1] == ["read", *ours]
    first = next(number for number, fitted in enumerate(fits) if not fitted.unchanged)
    assert [names[1:] == ours for names in model.offered].index(True) == first, "from the first compaction on"


def test_a_refusal_makes_it_smaller() -> None:
    model = Scripted(refuse_above=BUDGET)
    state = agent_of(model, budget=50_000).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    check_run(model, state)


def test_what_must_stay_is_too_large() -> None:
    with pytest.raises(epitome.Infeasible, match="what must stay takes"):
        agent_of(Scripted(), budget=20).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)


def test_a_role_of_somebody_else_is_fitted_as_a_users() -> None:
    def check(message: BaseMessage, role: str) -> None:
        assert wire_of(message)["role"] == role
        model = Scripted(parts=1)
        agent_of(model, budget=BUDGET).invoke({"messages": [HumanMessage(TASK), message]}, CONFIG)
        assert model.sent[0][-1].content == message.content and type(model.sent[0][-1]) is type(message)

    check(ChatMessage("This misses a case.", role="critic"), "user")
    check(ChatMessage("This misses a case.", role="tool"), "user")
    check(ChatMessage("Be terse.", role="developer"), "developer")
    check(ChatMessage("I look.", role="assistant"), "assistant")
    check(FunctionMessage("42", name="f"), "function")
    assert wire_of(AIMessageChunk("I look."))["role"] == "assistant"
    critic = ChatMessage("It misses a case. " * 200, role="critic", id="c1")
    short = edited(critic, {**wire_of(critic), "content": "It misses a case."})
    assert isinstance(short, ChatMessage) and (short.role, short.id, short.content) == ("critic", "c1", "It misses a case.")


def test_words_that_have_no_effect() -> None:
    with pytest.raises(TypeError, match="budget would have no effect"):
        EpitomeMiddleware(fitter=epitome.Fitter(budget=10), budget=10)
    with pytest.raises(TypeError, match="`windwo`"):
        EpitomeMiddleware(budget=10, windwo=10)  # type: ignore[call-arg]


def test_deepagents() -> None:
    register_harness_profile(
        "scripted",
        HarnessProfile(
            excluded_middleware=frozenset({"SummarizationMiddleware"}),
            extra_middleware=lambda: [EpitomeMiddleware(budget=20_000)],
        ),
    )

    class Known(Scripted):
        def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
            return {"ls_provider": "scripted", "ls_model_name": "one"}

    model = Known(parts=60)
    agent = create_deep_agent(model, [read], checkpointer=InMemorySaver())
    state = agent.invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    assert "compact_conversation" not in str(agent.get_graph())
    check_run(model, state, budget=20_000)


THINKING = {"type": "thinking", "thinking": "Hm. " * 20, "signature": "c2ln"}
IMAGE = {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "aGk="}
USE = {"type": "tool_use", "id": "c1", "name": "write", "input": {"text": "long"}}
CALL = {"name": "write", "args": {"text": "long"}, "id": "c1", "type": "tool_call"}


def check_edit(own: BaseMessage, change: Any, expect: dict[str, Any]) -> None:
    wire = json.loads(json.dumps(wire_of(own)))
    change(wire)
    before = own.model_copy(deep=True)
    copy = edited(own, wire)
    assert copy.model_dump() == {**own.model_dump(), **expect}
    assert own == before, "the message itself stays"


def test_messages_are_edited() -> None:
    def say(wire: dict[str, Any]) -> None:
        wire["content"] = "short"

    def say_in_parts(wire: dict[str, Any]) -> None:
        wire["content"][0]["text"] = "short"

    def call_shorter(wire: dict[str, Any]) -> None:
        wire["tool_calls"][0]["function"]["arguments"] = '{"text": "l"}'

    def drop_thought(wire: dict[str, Any]) -> None:
        del wire["reasoning_content"]

    def drop_image(wire: dict[str, Any]) -> None:
        wire["content"] = wire["content"][:1]

    check_edit(ToolMessage("long", id="7", tool_call_id="c1", artifact=[1]), say, {"content": "short"})
    check_edit(HumanMessage("long", id="7", name="Ann"), say, {"content": "short"})
    check_edit(
        HumanMessage(["long", IMAGE], id="7"), say_in_parts, {"content": [{"type": "text", "text": "short"}, IMAGE]}
    )
    check_edit(HumanMessage(["long", IMAGE], id="7"), drop_image, {"content": ["long"]})
    claude = AIMessage([THINKING, {"type": "text", "text": "long"}, USE], id="7", tool_calls=[CALL])
    shorter = {**CALL, "args": {"text": "l"}}
    text = {"type": "text", "text": "long"}
    check_edit(claude, say_in_parts, {"content": [THINKING, {"type": "text", "text": "short"}, USE]})
    check_edit(
        claude, call_shorter, {"content": [THINKING, text, {**USE, "input": {"text": "l"}}], "tool_calls": [shorter]}
    )
    check_edit(claude, drop_thought, {"content": [text, USE]})
    check_edit(
        AIMessage("", tool_calls=[CALL], additional_kwargs={"reasoning_content": "Hm."}),
        drop_thought,
        {"additional_kwargs": {}},
    )


BROKEN = {"name": "write", "args": '{"text": "lo', "id": "c2", "error": "no JSON", "type": "invalid_tool_call"}


def test_calls_that_cannot_be_read_are_edited() -> None:
    def call_shorter(wire: dict[str, Any]) -> None:
        wire["tool_calls"][-1]["function"]["arguments"] = '{"te'

    nameless = {**BROKEN, "id": None}
    raw = {"id": "c2", "type": "function", "function": {"name": "write", "arguments": BROKEN["args"]}}
    message = AIMessage(
        [{"type": "function_call", "call_id": "c2", "arguments": BROKEN["args"]}],
        tool_calls=[CALL],
        invalid_tool_calls=[BROKEN, nameless],
        additional_kwargs={"tool_calls": [raw]},
    )
    assert [call["id"] for call in wire_of(message)["tool_calls"]] == ["c1", "c2"]
    expect = {
        "content": [{"type": "function_call", "call_id": "c2", "arguments": '{"te'}],
        "invalid_tool_calls": [{**BROKEN, "args": '{"te'}, nameless],
        "additional_kwargs": {"tool_calls": [{**raw, "function": {"name": "write", "arguments": '{"te'}}]},
    }
    check_edit(message, call_shorter, expect)


class Broken(Scripted):
    """Every third call has arguments that cannot be read."""

    def _generate(self, *given: Any, **words: Any) -> ChatResult:
        result = super()._generate(*given, **words)
        message = result.generations[0].message
        if len(self.sent) % 3 == 0 and isinstance(message, AIMessage) and message.tool_calls:
            (call,) = message.tool_calls
            broken = {**BROKEN, "name": call["name"], "id": call["id"]}
            other = {**call, "id": f"{call['id']}b"}
            message = message.model_copy(update={"tool_calls": [other], "invalid_tool_calls": [broken]})
        return ChatResult(generations=[ChatGeneration(message=message)])


def test_calls_that_cannot_be_read_keep_their_results() -> None:
    model = Broken()
    agent = agent_of(model, budget=BUDGET)
    agent.invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    check_kept(model.sent)
    seen = 0
    for messages in model.sent:
        # As OpenAI's client sends them.
        calls = [
            call["id"]
            for message in messages
            if isinstance(message, AIMessage)
            for call in (*message.tool_calls, *message.invalid_tool_calls)
        ]
        results = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
        assert sorted(map(str, calls)) == sorted(results)
        seen += any(call in result for call in ("call_3", "call_6") for result in results)
    assert seen > 2


def test_messages_are_written_as_they_are_fitted() -> None:
    thought = AIMessage([THINKING, USE], tool_calls=[CALL])
    assert wire_of(thought)["reasoning_content"] == THINKING["thinking"] and wire_of(thought)["content"] is None
    assert wire_of(HumanMessage([IMAGE]))["content"][0]["type"] == "image_url"
    assert wire_of(SystemMessage("Be brief.")) == {"role": "system", "content": "Be brief."}
    assert wire_of(ToolMessage("done", tool_call_id="c1"))["tool_call_id"] == "c1"
    assert inserted({"role": "user", "content": "[Summary]"}) == HumanMessage("[Summary]")
