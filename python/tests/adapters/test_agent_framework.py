"""Agents of Microsoft's Agent Framework, with a scripted client and its own sessions."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from agent_framework import (
    EXCLUDED_KEY,
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    CompactionProvider,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
    apply_compaction,
    included_messages,
    tool,
)
from work import ANSWER, TASK, check_kept, check_sent, read

import epitome_context as epitome
from epitome_context.adapters._agent_framework_messages import AgentFrameworkShape
from epitome_context.adapters._parts import _row_after, rows_of
from epitome_context.adapters.agent_framework import EpitomeStrategy

BUDGET = 8_000  # a step of two results is a quarter of what the other tests have


def wires_of(messages: list[Any]) -> list[dict[str, Any]]:
    return [row.wire for row in rows_of(messages, AgentFrameworkShape())]


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Reads every part, two at a time, and answers. It keeps what it was sent."""

    def __init__(self, parts: int = 25, ask: dict[int, tuple[str, dict[str, Any]]] | None = None) -> None:
        super().__init__(function_invocation_configuration={"max_iterations": 100})
        self.parts = parts
        self.ask = ask or {}
        self.sent: list[list[Message]] = []

    def _respond(self, messages: Any) -> list[Content]:
        self.sent.append(copy.deepcopy(list(messages)))
        turn = len(self.sent)
        if turn % (self.parts + 1) == 0:
            return [Content.from_text(ANSWER)]
        calls = [("read_part", {"part": turn}), ("read_part", {"part": -turn})]
        return [
            Content.from_text_reasoning(text="Hm."),
            Content.from_text(f"Part {turn}, sheet S{turn:04}."),
            *(
                Content.from_function_call(f"call_{turn}_{number}", name, arguments=arguments)
                for number, (name, arguments) in enumerate([self.ask[turn]] if turn in self.ask else calls)
            ),
        ]

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **words: Any) -> Any:
        if stream:

            async def flow() -> Any:
                yield ChatResponseUpdate(contents=self._respond(messages), role="assistant")

            return ResponseStream(flow(), finalizer=ChatResponse.from_updates)

        async def respond() -> ChatResponse:
            return ChatResponse(messages=Message("assistant", self._respond(messages)))

        return respond()


@tool(approval_mode="never_require")
def read_part(part: int) -> str:
    """Reads a part of the ledger."""
    return read(part)


def agent_of(client: Scripted, *tools: Any, providers: Any = None, **words: Any) -> Agent:
    return Agent(
        client, instructions="You mend programs.", tools=[read_part, *tools], context_providers=providers, **words
    )


def check_run(client: Scripted, budget: int = BUDGET) -> int:
    """Every request fits and goes on where the last one ended; nothing that is excluded is sent."""
    for messages in client.sent:
        check_sent(wires_of(messages), budget=budget)
        assert not any(message.additional_properties.get(EXCLUDED_KEY) for message in messages)
    return check_kept([wires_of(messages) for messages in client.sent])


def results_in(messages: list[Message]) -> list[str]:
    return [content.result for message in messages for content in message.contents if content.type == "function_result"]


def all_read(*turns: int) -> list[str]:
    return [read(part) for turn in turns for part in (turn, -turn)]


def test_a_session_of_runs() -> None:
    client, fits = Scripted(), []
    agent = agent_of(client, compaction_strategy=EpitomeStrategy(budget=BUDGET, on_fit=fits.append))
    session = agent.create_session()

    async def talk() -> list[Any]:
        return [await agent.run(said, session=session) for said in (TASK, "Do it again, please.")]

    answers = asyncio.run(talk())
    assert [answer.text.endswith(ANSWER) for answer in answers] == [True, True]
    assert len(client.sent) == 52
    assert check_run(client) == sum(fitted.status == "compacted" for fitted in fits)
    assert max(fitted.tokens_before for fitted in fits) > 4 * BUDGET, "each decision is made on all that came"
    kept = session.state["in_memory"]["messages"]
    turns = [turn for turn in range(1, 52) if turn != 26]
    assert results_in(kept) == all_read(*turns), "the history has everything"
    assert not any(message.additional_properties.get(EXCLUDED_KEY) for message in kept)


def test_a_run_that_is_streamed() -> None:
    client = Scripted()
    agent = agent_of(client, compaction_strategy=EpitomeStrategy(budget=BUDGET))

    async def run() -> str:
        stream = agent.run(TASK, stream=True)
        async for _ in stream:
            pass
        return str((await stream.get_final_response()).text)

    assert asyncio.run(run()).endswith(ANSWER)
    check_run(client)


def test_as_a_provider_before_and_after_a_run() -> None:
    client = Scripted(parts=20)
    history = InMemoryHistoryProvider(skip_excluded=True)
    strategy = EpitomeStrategy(budget=BUDGET)
    provider = CompactionProvider(
        before_strategy=strategy, after_strategy=strategy, history_source_id=history.source_id
    )
    agent = agent_of(client, providers=[history, provider], compaction_strategy=strategy)
    session = agent.create_session()

    async def talk() -> None:
        for said in (TASK, "Do it again, please.", "And again."):
            await agent.run(said, session=session)

    asyncio.run(talk())
    assert len(client.sent) == 63
    check_run(client)


def test_a_list_is_fitted_in_place() -> None:
    def talk(parts: int) -> list[Message]:
        messages = [Message("system", ["You mend programs."]), Message("user", [TASK])]
        for part in range(parts):
            call = Content.from_function_call(f"c{part}", "read_part", arguments='{"part": 1}')
            result = Content.from_function_result(f"c{part}", result=read(part))
            messages += (
                [Message("assistant", [call, result])]
                if part % 5 == 4
                else [
                    Message("assistant", [call]),
                    Message("tool", [result]),
                ]
            )
        return messages

    def check(parts: int, changed: bool) -> list[Message]:
        strategy, messages = EpitomeStrategy(budget=BUDGET), talk(parts)
        came = list(messages)
        before = [message.to_json() for message in came]
        assert asyncio.run(strategy(messages)) is changed
        assert [message.to_json() for message in came] == before, "the host's messages stay as they are"
        check_sent(wires_of(included_messages(messages)), budget=BUDGET)
        assert all(any(one is message for one in messages) for message in came[:2]), "what stays is the host's own"
        after = list(messages)
        assert asyncio.run(strategy(messages)) is False and messages == after, "a second time there is nothing to do"
        return messages

    check(2, changed=False)
    messages = check(25, changed=True)
    results = [message for message in messages if any(part.type == "function_result" for part in message.contents)]
    assert len(results) == 25, "what left is there, as excluded"
    assert [message.role for message in included_messages(messages)][:3] == ["system", "user", "user"]


def test_what_others_excluded_stays_so() -> None:
    messages = [Message("user", [TASK]), Message("assistant", ["Of no use."]), Message("user", ["Go on."])]
    messages[1].additional_properties.update({EXCLUDED_KEY: True, "_exclude_reason": "another"})
    sent = asyncio.run(apply_compaction(messages, strategy=EpitomeStrategy(budget=BUDGET)))
    assert [message.text for message in sent] == [TASK, "Go on."] and len(messages) == 3


def test_the_tools_are_counted() -> None:
    def budget_of(**words: Any) -> int:
        fits: list[Any] = []
        strategy = EpitomeStrategy(budget=BUDGET, on_fit=fits.append, **words)
        asyncio.run(strategy([Message("user", [TASK])]))
        return int(fits[0].budget)

    assert budget_of() - budget_of(tools=500) == 500


def test_what_must_stay_is_too_large() -> None:
    agent = agent_of(Scripted(), compaction_strategy=EpitomeStrategy(budget=20))
    with pytest.raises(epitome.Infeasible, match="what must stay takes"):
        asyncio.run(agent.run(TASK))
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        EpitomeStrategy()


def test_what_left_is_brought_back() -> None:
    client = Scripted(ask={20: ("search_history", {"words": "sheet S0003"}), 21: ("recall", {"handle": "00000000"})})
    strategy = EpitomeStrategy(budget=BUDGET, config={"marks": {"handles": True}})
    agent = agent_of(client, *strategy.recall_tools, compaction_strategy=strategy)
    asyncio.run(agent.run(TASK))
    check_run(client)
    assert "sheet S0003" in results_in(client.sent[20])[-1]
    assert "nothing under the handle '00000000'" in results_in(client.sent[21])[-1]


def check_edit(own: list[Content], change: Any, expect: list[Content]) -> None:
    """What becomes of the contents of a message whose rendering is changed."""
    before = [content.to_dict() for content in own]
    row = rows_of([Message("assistant", own)], AgentFrameworkShape())[0]
    wire = copy.deepcopy(row.wire)
    change(wire)
    parts = [part for _, part in _row_after(row, wire, AgentFrameworkShape()).parts]
    assert [part.to_dict() for part in parts] == [part.to_dict() for part in expect]
    assert [content.to_dict() for content in own] == before


def test_contents_are_edited() -> None:
    def say(wire: dict[str, Any]) -> None:
        wire["content"] = "short"

    def say_first(wire: dict[str, Any]) -> None:
        wire["content"][0]["text"] = "short"

    def call_shorter(wire: dict[str, Any]) -> None:
        wire["tool_calls"][0]["function"]["arguments"] = '{"text": "l"}'

    def forget(wire: dict[str, Any]) -> None:
        del wire["reasoning_content"]

    text, short, thought = (
        Content.from_text("long"),
        Content.from_text("short"),
        Content.from_text_reasoning(text="Hm."),
    )
    call = Content.from_function_call("c", "write", arguments='{"text": "long"}')
    image = Content.from_uri("https://example.org/a.png", media_type="image/png")
    check_edit([text], say, [short])
    check_edit([thought, text, call], say, [thought, short, call])
    check_edit([thought, text, call], forget, [text, call])
    check_edit([call], call_shorter, [Content.from_function_call("c", "write", arguments='{"text": "l"}')])
    loose = Content.from_function_call("c", "write", arguments={"text": "long"})
    check_edit([loose], call_shorter, [Content.from_function_call("c", "write", arguments={"text": "l"})])
    check_edit([text, image], say_first, [short, image])
    check_edit([text, image], say, [short])
    check_edit(
        [Content.from_function_result("c", result="long")], say, [Content.from_function_result("c", result="short")]
    )
    several = Content.from_function_result("c", result=[text, image])
    check_edit([several], say_first, [Content.from_function_result("c", result=[short, image])])
