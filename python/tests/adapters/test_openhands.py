"""OpenHands' conversations, with a scripted model, a provider on this machine, and views that are made up."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from openhands.sdk import (
    LLM,
    Action,
    Agent,
    Conversation,
    Observation,
    TextContent,
    Tool,
    ToolDefinition,
    register_tool,
)
from openhands.sdk.context.condenser import CondenserBase, NoOpCondenser, PipelineCondenser
from openhands.sdk.context.condenser.base import NoCondensationAvailableException
from openhands.sdk.context.view import View
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    Condensation,
    CondensationRequest,
    CondensationSummaryEvent,
    MessageEvent,
    ObservationEvent,
    SystemPromptEvent,
)
from openhands.sdk.llm import LLMResponse, Message, MessageToolCall, ThinkingBlock
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool import ToolExecutor
from pydantic import PrivateAttr, ValidationError
from work import ANSWER, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters._openhands_events import _ALL, _place_behind, rows_of
from epitome_context.adapters.openhands import EpitomeCondenser

BUDGET = 9_000  # of which the definitions of the tools take a part
PROMPT = "You mend programs."
HEADING = "[Summary of "


class ReadAction(Action):
    part: int


class ReadObservation(Observation):
    pass


class Read(ToolExecutor):
    def __call__(self, action: ReadAction, conversation: Any = None) -> ReadObservation:
        return ReadObservation.from_text(read(action.part))


class ReadTool(ToolDefinition[ReadAction, ReadObservation]):
    name = "read"

    @classmethod
    def create(cls, *given: Any, **words: Any) -> Sequence[ReadTool]:
        about = "Reads a part of the ledger."
        return [cls(action_type=ReadAction, observation_type=ReadObservation, description=about, executor=Read())]


register_tool("read", ReadTool)


def call_of(id: str, **arguments: Any) -> MessageToolCall:
    return MessageToolCall(id=id, name="read", arguments=json.dumps(arguments), origin="completion")


class Scripted(TestLLM):
    """Reads every part, two at a time, and answers. It keeps what it was sent."""

    parts: int = 30
    _sent: list[list[dict[str, Any]]] = PrivateAttr(default_factory=list)

    def __init__(self, **words: Any) -> None:
        super().__init__(**{"model": "scripted", **words})

    def completion(self, messages: list[Message], *given: Any, **words: Any) -> LLMResponse:
        self._sent.append([message.to_chat_dict(**_ALL) for message in messages])
        turn = len(self._sent)
        said = [TextContent(text=f"Part {turn}, sheet S{turn:04}.")]
        calls = [call_of(f"call_{turn}", part=turn), call_of(f"call_{turn}_again", part=-turn)]
        if turn % (self.parts + 1) == 0:
            said, calls = [TextContent(text=ANSWER)], []
        self._scripted_responses.append(Message(role="assistant", content=said, tool_calls=calls or None))
        return super().completion(messages, *given, **words)


def conversation_of(model: LLM, condenser: Any, place: Path, **words: Any) -> Any:
    agent = Agent(llm=model, tools=[Tool(name="read")], condenser=condenser, system_prompt=PROMPT)
    return Conversation(agent=agent, workspace=str(place), visualizer=None, max_iteration_per_run=500, **words)


def work(conversation: Any, question: str = TASK) -> list[Any]:
    """The events after a question was answered."""
    conversation.send_message(question)
    conversation.run()
    return list(conversation.state.events)


def condensations_in(events: Sequence[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, Condensation)]


def check_view(events: Sequence[Any]) -> list[Any]:
    """The view that OpenHands makes of the events: none had to leave it because it stood there without the others of its step,
    and it has one summary at most."""
    grown = View()
    for event in events:
        grown.append_event(event)
    view = View.from_events(events)
    assert [event.id for event in grown.events] == [event.id for event in view.events]
    assert sum(isinstance(event, CondensationSummaryEvent) for event in view.events) <= 1
    return list(view.events)


def test_the_budget_is_of_the_providers_tokens(tmp_path: Path) -> None:
    class Reporting(Scripted):
        _figures: list[int] = PrivateAttr(default_factory=list)

        def completion(self, messages: list[Message], *given: Any, **words: Any) -> LLMResponse:
            answer = super().completion(messages, *given, **words)
            self._figures.append(reported(self._sent[-1]))
            self.metrics.add_token_usage(self._figures[-1], 1, 0, 0, 0, str(len(self._figures)))
            return answer

    model = Reporting(parts=60)
    work(conversation_of(model, EpitomeCondenser(budget=BUDGET), tmp_path))
    check_reported(model._figures, budget=BUDGET)


def test_a_conversation_at_work(tmp_path: Path) -> None:
    fits: list[Any] = []
    model = Scripted(parts=60)
    conversation = conversation_of(model, EpitomeCondenser(budget=BUDGET, on_fit=fits.append), tmp_path)
    work(conversation)
    events = work(conversation, "Do it again, please.")
    assert len(model._sent) == 122
    for messages in model._sent:
        check_sent(messages, budget=BUDGET)
    assert check_kept(model._sent) == len(condensations_in(events)) >= 10
    assert max(fitted.tokens_after for fitted in fits) <= BUDGET
    assert max(fitted.tokens_before for fitted in fits) > 10 * BUDGET, "each decision is made on all that came"
    observations = [event.observation for event in events if isinstance(event, ObservationEvent)]
    assert [read(part) for turn in range(1, 61) for part in (turn, -turn)] == [
        "".join(part.text for part in observation.to_llm_content) for observation in observations[:120]
    ], "OpenHands has all that was said"
    assert all(str(messages).count(HEADING) == 1 for messages in model._sent[-30:])
    assert "sheet S0003" in str(model._sent[60]), "the summaries go on in each other"
    assert not check_view(events)[-1].id.endswith("-summary")


def test_a_conversation_at_work_awaited(tmp_path: Path) -> None:
    model = Scripted(parts=20)
    conversation = conversation_of(model, EpitomeCondenser(budget=BUDGET), tmp_path)
    if not hasattr(conversation, "arun"):
        pytest.skip("the conversations of this version cannot be awaited")
    conversation.send_message(TASK)
    asyncio.run(conversation.arun())
    for messages in model._sent:
        check_sent(messages, budget=BUDGET)
    assert check_kept(model._sent) == len(condensations_in(conversation.state.events)) > 2


def test_a_view_is_condensed_awaited() -> None:
    events = [prompt(), user(TASK), *(event for turn in range(40) for event in step(turn))]
    condenser = EpitomeCondenser(budget=BUDGET)
    found = asyncio.run(condenser.acondense(View.from_events(events), None))
    assert isinstance(found, Condensation) and found.summary.startswith(HEADING)
    view = View.from_events([*events, found])
    assert asyncio.run(condenser.acondense(view)) is view, "what fits is the view itself"


def test_a_conversation_is_taken_up_again(tmp_path: Path) -> None:
    """In another process nothing is known but the view: the summary in it goes on in the next one."""
    words = {"persistence_dir": str(tmp_path / "kept")}
    first = conversation_of(Scripted(parts=40), EpitomeCondenser(budget=BUDGET), tmp_path, **words)
    before = work(first)
    first.close()
    model = Scripted(parts=40)
    model._call_count = 1_000  # an answer's id is not that of an earlier one
    again = conversation_of(model, EpitomeCondenser(budget=BUDGET), tmp_path, conversation_id=first.id, **words)
    assert len(condensations_in(list(again.state.events))) == len(condensations_in(before)) > 1
    events = work(again, "Do it again, please.")
    for messages in model._sent:
        check_sent(messages, budget=BUDGET)
        assert str(messages).count(HEADING) == 1
    assert len(condensations_in(events)) > len(condensations_in(before)) + 2
    check_view(events)


def test_conversations_side_by_side(tmp_path: Path) -> None:
    """One condenser serves many conversations, each by itself."""
    condenser = EpitomeCondenser(budget=BUDGET)
    models = [Scripted(parts=20), Scripted(parts=20)]
    both = [conversation_of(model, condenser, tmp_path) for model in models]
    for question in (TASK, "Do it again, please.", "And again."):
        for conversation in both:
            work(conversation, question)
    for conversation, model in zip(both, models, strict=True):
        for messages in model._sent:
            check_sent(messages, budget=BUDGET)
        assert check_kept(model._sent) == len(condensations_in(conversation.state.events)) > 2


def test_a_request_makes_it_smaller(tmp_path: Path) -> None:
    model = Scripted(parts=6)
    condenser = EpitomeCondenser(budget=50_000)
    conversation = conversation_of(model, condenser, tmp_path)
    events = work(conversation)
    assert condensations_in(events) == []
    conversation.condense()
    smaller = check_view(list(conversation.state.events))
    assert len(smaller) < len(check_view(events)) and len(condensations_in(conversation.state.events)) == 1
    assert ANSWER in str(work(conversation, "Do it again, please.")[-1])


def test_a_request_where_nothing_may_leave(tmp_path: Path) -> None:
    model = Scripted(parts=0)
    conversation = conversation_of(model, EpitomeCondenser(budget=50_000), tmp_path)
    conversation.send_message(TASK)
    conversation.condense()
    found = condensations_in(conversation.state.events)
    assert [(one.summary, list(one.forgotten_event_ids)) for one in found] == [(None, [])]
    conversation.run()
    assert len(model._sent) == 1, "the conversation goes on"
    view = View(events=[prompt(), user(TASK)], unhandled_condensation_request=True)
    condenser = EpitomeCondenser(budget=50_000)
    assert isinstance(condenser.condense(view), Condensation)
    with pytest.raises(NoCondensationAvailableException, match="nothing more may leave"):
        condenser.condense(view)


class Provider(BaseHTTPRequestHandler):
    """A provider of chat completions that refuses what is too long, in OpenAI's words."""

    most = 0
    sent: list[list[dict[str, Any]]]
    refused: list[int]

    def do_POST(self) -> None:
        messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        tokens = epitome.count_tokens(messages)
        if tokens > self.most:
            self.refused.append(tokens)
            message = f"This model's maximum context length is {self.most} tokens. You requested {tokens} tokens."
            return self.reply(400, {"error": {"message": message, "code": "context_length_exceeded", "type": "x"}})
        self.sent.append(messages)
        turn = len(self.sent)
        said: dict[str, Any] = {"role": "assistant", "content": ANSWER}
        if turn <= 20:
            function = {"name": "read", "arguments": json.dumps({"part": turn})}
            call = {"id": f"call_{turn}", "type": "function", "function": function}
            said = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if turn <= 20 else "stop"}
        usage = {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": tokens + 9}
        head = {"id": f"r{turn}", "object": "chat.completion", "created": 0, "model": "scripted", "usage": usage}
        return self.reply(200, {**head, "choices": [choice]})

    def reply(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given: Any) -> None:
        """Says nothing."""


@contextmanager
def provider(most: int) -> Iterator[tuple[Any, LLM]]:
    """A provider, and OpenHands' model of it."""
    kind: Any = type("Here", (Provider,), {"most": most, "sent": [], "refused": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/v1"
        yield kind, LLM(model="openai/scripted", base_url=address, api_key="none", num_retries=0, usage_id="agent")
    finally:
        server.shutdown()
        server.server_close()


def test_a_provider_refuses(tmp_path: Path) -> None:
    with provider(most=8_000) as (requests, model):
        events = work(conversation_of(model, EpitomeCondenser(budget=60_000), tmp_path))
        assert ANSWER in str(events[-1].llm_message) and len(requests.refused) >= 1
        assert len(condensations_in(events)) == len(requests.refused), "each refusal makes it smaller"
        for messages in requests.sent:
            check_sent(messages, budget=8_000)
        check_view(events)
    with provider(most=20) as (requests, model):
        with pytest.raises(Exception, match="nothing more may leave the conversation"):
            work(conversation_of(model, EpitomeCondenser(budget=60_000), tmp_path))
        assert requests.sent == [] and len(requests.refused) == 2


def test_the_model_tells_its_window(tmp_path: Path) -> None:
    model = Scripted(parts=60, max_input_tokens=24_000)
    conversation = conversation_of(model, EpitomeCondenser(), tmp_path)
    events = work(conversation)
    for messages in model._sent:
        check_sent(messages, budget=24_000)
    assert check_kept(model._sent) == len(condensations_in(events)) > 1
    view = View(events=[prompt(), user(TASK)])
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        EpitomeCondenser().condense(view, Scripted())
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        EpitomeCondenser().condense(view)


def test_what_must_stay_is_too_large(tmp_path: Path) -> None:
    model = Scripted()
    conversation = conversation_of(model, EpitomeCondenser(budget=20), tmp_path)
    with pytest.raises(Exception, match="what must stay takes"):
        work(conversation)
    assert model._sent == [] and condensations_in(conversation.state.events) == []
    view = View(events=[prompt(), user(TASK)])
    with pytest.raises(NoCondensationAvailableException, match="what must stay takes") as raised:
        EpitomeCondenser(budget=20).condense(view)
    assert isinstance(raised.value.__cause__, epitome.Infeasible)


def test_it_is_serialized_with_its_agent() -> None:
    config = {"marks": {"handles": True}}
    condenser = EpitomeCondenser(budget=BUDGET, config=config, memory_bytes=1_000_000, on_fit=print)
    agent = Agent(llm=LLM(model="gpt-4o", usage_id="agent"), tools=[], condenser=condenser)
    again = Agent.model_validate_json(agent.model_dump_json()).condenser
    assert isinstance(again, EpitomeCondenser)
    assert (again.budget, again.config, again.memory_bytes) == (BUDGET, config, 1_000_000)
    assert again.model_dump() == condenser.model_dump()
    assert CondenserBase.model_validate({"kind": "EpitomeCondenser", "budget": 7}).budget == 7
    assert EpitomeCondenser(**condenser.model_dump(exclude={"kind"})).budget == BUDGET
    assert "EpitomeCondenser" in json.dumps(Agent.model_json_schema())
    for copied in (condenser.model_copy(), condenser.model_copy(deep=True), copy.deepcopy(condenser)):
        assert copied.budget == BUDGET
        assert isinstance(copied.condense(View.from_events([prompt(), user(TASK)])), View)


def test_wrong_words_are_refused() -> None:
    def check(words: dict[str, Any], kind: type[Exception], expect: str) -> None:
        with pytest.raises(kind, match=expect):
            EpitomeCondenser(**words)

    check({"budgte": 1}, ValidationError, "budgte")
    check({"budget": 0}, epitome.ConfigError, "`budget` takes a number of tokens")
    check({"budget": 9, "config": {"budgte": {}}}, epitome.ConfigError, "budgte")
    check({"fitter": epitome.Fitter(budget=9)}, epitome.ConfigError, 'give one with `host="removals"`')
    check({"fitter": epitome.Fitter(budget=9, host="removals"), "budget": 9}, TypeError, "`fitter` is there already")
    with pytest.raises(ValidationError, match="budgte"):
        CondenserBase.model_validate({"kind": "EpitomeCondenser", "budgte": 1})
    with pytest.raises(ValidationError, match="Instance is frozen"):
        EpitomeCondenser(budget=9).budget = 10


def prompt() -> Any:
    return SystemPromptEvent(source="agent", system_prompt=TextContent(text=PROMPT), tools=[])


def user(text: str, source: str = "user") -> Any:
    role = "user" if source == "user" else "assistant"
    return MessageEvent(source=source, llm_message=Message(role=role, content=[TextContent(text=text)]))


def step(turn: int, calls: int = 1, *, signed: bool = False, wrong: bool = False) -> list[Any]:
    """The events of one answer of the model. A call that is wrong is answered at once, before the others are told."""
    told: list[Any] = []
    answers: list[Any] = []
    for number in range(calls):
        call = call_of(f"call_{turn}_{number}", part=turn * 10 + number)
        first = number == 0
        action = ActionEvent(
            thought=[TextContent(text=f"Part {turn}, sheet S{turn:04}.")] if first else [],
            thinking_blocks=[ThinkingBlock(thinking=f"Hm, {turn}.", signature="c2ln")] if first and signed else [],
            action=None if first and wrong else ReadAction(part=turn),
            tool_name="read",
            tool_call_id=call.id,
            tool_call=call,
            llm_response_id=f"response_{turn}",
        )
        told.append(action)
        if first and wrong:
            told.append(AgentErrorEvent(error="no such part " * 50, tool_name="read", tool_call_id=call.id))
        else:
            result = ReadObservation.from_text(read(turn * 10 + number))
            answers.append(
                ObservationEvent(observation=result, action_id=action.id, tool_name="read", tool_call_id=call.id)
            )
    return [*told, *answers]


def test_steps_stay_whole() -> None:
    """Of views that are made up, OpenHands takes each result as it is: nothing else has to leave it."""
    deepest = 0
    for seed in range(4):
        dice = random.Random(seed)
        condenser = EpitomeCondenser(budget=BUDGET)
        events: list[Any] = [prompt(), user(TASK)]
        signed_since = 9
        for turn in range(90):
            signed = dice.random() < 0.3 or signed_since > 3
            signed_since = 0 if signed else signed_since + 1
            made = step(turn, dice.randint(1, 3), signed=signed and seed % 2 == 1, wrong=dice.random() < 0.2)
            if dice.random() < 0.1:
                made.insert(dice.randrange(len(made)), user(f"Sheet {turn} too, please."))
            events += made
            if dice.random() < 0.1:
                events.append(user(f"Sheet {turn} is done.", source="agent"))
                events.append(user(f"Then sheet {turn + 1}."))
            if dice.random() < 0.05:
                events.append(CondensationRequest())
            view = View.from_events(events)
            before = [event.id for event in view.events]
            found = condenser.condense(view)
            assert [event.id for event in view.events] == before, "a view is not changed"
            if isinstance(found, Condensation):
                assert set(found.forgotten_event_ids) <= set(before)
                events.append(found)
                check_view(events)
                view = View.from_events(events)
                assert condenser.condense(view) is view, "what fits stays"
            assert epitome.count_tokens([row.wire for row in rows_of(view.events)]) <= BUDGET
        deepest = max(deepest, len(condensations_in(events)))
    assert deepest >= 10


def test_a_condensation_that_was_not_taken_is_made_again() -> None:
    events = [prompt(), user(TASK), *(event for turn in range(30) for event in step(turn))]
    condenser = EpitomeCondenser(budget=BUDGET)
    found = [condenser.condense(View.from_events(events)) for _ in range(3)]
    assert len({(one.summary, one.summary_offset, frozenset(one.forgotten_event_ids)) for one in found}) == 1
    events += [found[-1], *(event for turn in range(30, 60) for event in step(turn))]
    again = [condenser.condense(View.from_events(events)) for _ in range(2)]
    assert again[0].summary == again[1].summary != found[0].summary
    assert f"{found[-1].id}-summary" in again[1].forgotten_event_ids


def test_what_a_fitter_has_forgotten_is_decided_anew() -> None:
    events = [prompt(), user(TASK), *(event for turn in range(30) for event in step(turn))]
    fitter = epitome.Fitter(budget=BUDGET, format="openai-chat", host="removals", conversations=1)
    condenser = EpitomeCondenser(fitter=fitter)
    events.append(condenser.condense(View.from_events(events)))
    condenser.condense(View.from_events([prompt(), user("Another task.")]))
    for turn in range(30, 60):
        events += step(turn)
        view = View.from_events(events)
        found = condenser.condense(view)
        if isinstance(found, Condensation):
            events.append(found)
            check_view(events)
            view = View.from_events(events)
        assert epitome.count_tokens([row.wire for row in rows_of(view.events)]) <= BUDGET
        condenser.condense(View.from_events([prompt(), user("Another task.")]))
    assert len(condensations_in(events)) > 1


def test_what_left_on_request_does_not_come_back() -> None:
    """A fitter that has forgotten the request would keep all of what came, for it fits."""
    events = [prompt(), user(TASK), *(event for turn in range(10) for event in step(turn)), CondensationRequest()]
    fitter = epitome.Fitter(budget=50_000, format="openai-chat", host="removals", conversations=1)
    condenser = EpitomeCondenser(fitter=fitter)
    found = condenser.condense(View.from_events(events))
    assert isinstance(found, Condensation) and found.forgotten_event_ids
    condenser.condense(View.from_events([prompt(), user("Another task.")]))
    view = View.from_events([*events, found])
    assert condenser.condense(view) is view


def test_a_summary_stands_outside_of_steps() -> None:
    call, result = step(1)
    asked = user("Sheet 2 too, please.")

    def check(events: list[Any], ahead: list[Any], expect: int) -> None:
        assert _place_behind({event.id for event in ahead}, events) == expect

    task = user(TASK)
    check([task, call, result, asked], [task], 1)
    check([task, call, result, asked], [task, call, result], 3)
    check([task, call, asked, result], [task, call, result], 1)
    check([task, call, asked, result], [task, call, asked, result], 4)


def test_a_summary_of_another_condenser_is_a_summary() -> None:
    first = [prompt(), user(TASK), *(event for turn in range(10) for event in step(turn))]
    other = Condensation(
        forgotten_event_ids=[event.id for event in first[2:]],
        summary="Port 8021 is taken by the ledger.",
        summary_offset=2,
        llm_response_id="another",
    )
    events = [*first, other, *(event for turn in range(10, 50) for event in step(turn))]
    pipeline = PipelineCondenser(condensers=[NoOpCondenser(), EpitomeCondenser(budget=BUDGET)])
    assert pipeline.handles_condensation_requests()
    found = pipeline.condense(View.from_events(events))
    assert isinstance(found, Condensation) and f"{other.id}-summary" in found.forgotten_event_ids
    assert "Port 8021 is taken by the ledger." in found.summary and found.summary.count(HEADING) == 1


def test_the_package_does_not_import_it() -> None:
    program = "import sys, epitome_context.adapters; print([name for name in sys.modules if 'openhands' in name])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"
