"""Inspect AI's agents and its handler of compactions, with its mock model."""

from __future__ import annotations

import asyncio
import copy
import itertools
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.event import CompactionEvent
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentData,
    ContentImage,
    ContentReasoning,
    ContentText,
    ContentToolUse,
    Model,
    ModelOutput,
    compaction,
    get_model,
)
from inspect_ai.model._model import collapse_consecutive_user_messages
from inspect_ai.tool import Tool, ToolCall, ToolCallError, memory, tool
from kinds import PICTURE
from work import ANSWER, TASK, check_sent, read

import epitome_context as epitome
from epitome_context.adapters._inspect_ai_messages import InspectShape
from epitome_context.adapters._parts import _message_of, _row_after, messages_of, rows_of
from epitome_context.adapters.inspect_ai import EpitomeCompaction

THRESHOLD = 6_000
PROMPT = "You mend programs."


def wires_of(messages: list[Any]) -> list[dict[str, Any]]:
    return [row.wire for row in rows_of(messages, InspectShape())]


def mock(answer: Any = None, joins: bool = False) -> Model:
    """Inspect's mock model, which counts texts as epitome does: its own vocabulary would come from the network."""
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)

    async def count(text: str) -> int:
        return epitome.count_tokens(text)

    model.api.count_text_tokens = count
    if joins:
        model.api.collapse_user_messages = lambda: True
    return model


class Scripted:
    """Reads every part, and answers. It keeps what it was sent."""

    def __init__(self, parts: int = 40) -> None:
        self.parts = parts
        self.sent: list[list[Any]] = []

    def __call__(self, messages: list[Any], *given: Any) -> ModelOutput:
        self.sent.append(copy.deepcopy(messages))
        turn = len(self.sent)
        if turn > self.parts:
            return ModelOutput.from_content("mockllm", ANSWER)
        call = ToolCall(id=f"call_{turn}", function="read_part", arguments={"part": turn})
        answer = ChatMessageAssistant(content=f"Part {turn}, sheet S{turn:04}.", tool_calls=[call])
        return ModelOutput.from_message(answer, stop_reason="tool_calls")


@tool
def read_part() -> Tool:
    async def execute(part: int) -> str:
        """Reads a part of the ledger.

        Args:
            part: The part's number.
        """
        return read(part)

    return execute


def talk(turns: int, task: str = TASK) -> list[Any]:
    messages: list[Any] = [ChatMessageSystem(content=PROMPT), ChatMessageUser(content=task, source="input")]
    for turn in range(turns):
        call = ToolCall(id=f"call_{turn}", function="read_part", arguments={"part": turn})
        messages.append(ChatMessageAssistant(content=f"Part {turn}.", tool_calls=[call]))
        messages.append(ChatMessageTool(content=read(turn), tool_call_id=call.id, function="read_part"))
    return messages


def compacted(strategy: EpitomeCompaction, messages: list[Any], model: Model | None = None) -> list[Any]:
    before = copy.deepcopy(messages)
    sent, appended = asyncio.run(strategy.compact(model or mock(), messages, []))
    assert messages == before and appended is None, "the history stays as it is"
    return sent


@pytest.mark.parametrize("joins", [False, True])
def test_an_agent_at_work(joins: bool, tmp_path: Path) -> None:
    scripted, fits = Scripted(), []
    strategy = EpitomeCompaction(threshold=THRESHOLD, on_fit=fits.append)
    agent = react(prompt=PROMPT, tools=[read_part()], submit=False, compaction=strategy)
    task = Task(dataset=[Sample(input=TASK)], solver=agent)
    (log,) = eval(task, model=mock(scripted, joins), display="none", log_dir=str(tmp_path))
    assert log.status == "success" and log.samples, log.error
    sample = log.samples[0]
    assert sample.output.completion == ANSWER and len(scripted.sent) == 41
    for messages in scripted.sent:
        check_sent(wires_of(messages), budget=THRESHOLD + 400)  # the frames of messages, which Inspect does not count
        assert messages[0].text.startswith(PROMPT) and messages[1].text.startswith(TASK)
    new = [later[: len(earlier)] != earlier for earlier, later in itertools.pairwise(map(wires_of, scripted.sent))]
    events = [event for event in sample.events if isinstance(event, CompactionEvent)]
    assert sum(new) == len(fits) == len(events) and 3 <= len(fits) <= 15
    assert {event.metadata["strategy"] for event in events if event.metadata} == {"EpitomeCompaction"}
    assert max(fitted.tokens_before for fitted in fits) > 4 * THRESHOLD, "each decision is made on all that came"
    printed = [message.text for message in sample.messages if message.role == "tool"]
    assert printed == [read(part) for part in range(1, 41)], "the sample has everything"


def test_samples_side_by_side() -> None:
    strategy = EpitomeCompaction(threshold=THRESHOLD)
    alone = [wires_of(compacted(EpitomeCompaction(threshold=THRESHOLD), talk(40, task))) for task in (TASK, "Another.")]
    assert [wires_of(compacted(strategy, talk(40, task))) for task in (TASK, "Another.")] == alone


def test_the_target_is_met_by_the_models_count() -> None:
    messages = talk(40)
    for target in (0.3, 0.5, 0.8):
        sent = compacted(EpitomeCompaction(threshold=THRESHOLD, target=target), messages)
        tokens = asyncio.run(mock().count_tokens(sent))
        assert 0.6 * target * THRESHOLD < tokens <= 1.1 * target * THRESHOLD, (target, tokens)
    with pytest.raises(epitome.ConfigError, match="`target` takes a share"):
        EpitomeCompaction(target=1.5)
    with pytest.raises(TypeError, match="thresold"):
        EpitomeCompaction(thresold=0.5)  # type: ignore[call-arg]


def test_a_refusal_makes_it_smaller() -> None:
    messages = talk(20)
    size = asyncio.run(mock().count_tokens(messages))
    handler = compaction(EpitomeCompaction(threshold=10 * size), prefix=messages[:2], model=mock())
    sent, _ = asyncio.run(handler.compact_input(messages, force=True))
    assert asyncio.run(mock().count_tokens(sent)) <= 0.75 * size
    check_sent(wires_of(sent), budget=size)


def test_what_must_stay_is_too_large() -> None:
    messages = talk(40)
    handler = compaction(EpitomeCompaction(threshold=30), prefix=messages[:2], model=mock())
    with pytest.raises(RuntimeError, match="Compaction insufficient"):
        asyncio.run(handler.compact_input(messages))


def test_the_samples_input_is_pinned() -> None:
    system, task, *rest = talk(40)
    shots = [
        ChatMessageUser(content="An example: " + "row\n" * 400, source="input"),
        ChatMessageAssistant(content="Its answer: " + "sum\n" * 400, source="input"),
    ]
    messages = [system, *shots, task, *rest]
    sent = compacted(EpitomeCompaction(threshold=THRESHOLD), messages)
    assert all(one is its for one, its in zip(sent, [system, *shots, task], strict=False))
    assert [message.id for message in sent].count(task.id) == 1
    handler = compaction(EpitomeCompaction(threshold=THRESHOLD), prefix=messages[:4], model=mock())
    given, _ = asyncio.run(handler.compact_input(messages))
    assert [message.id for message in given[:4]] == [message.id for message in messages[:4]]


def test_what_was_saved_to_memory_is_not_sent_again() -> None:
    messages = talk(20)
    arguments = {"command": "create", "path": "/memories/notes.md", "file_text": "The partner is HLV-2209. " * 9}
    call = ToolCall(id="m", function="memory", arguments=arguments)
    messages += [
        ChatMessageAssistant(content="I note it.", tool_calls=[call]),
        ChatMessageTool(content="Saved.", tool_call_id="m", function="memory"),
    ]
    for keeps, expect in ((True, "(content saved to memory)"), (False, arguments["file_text"])):
        sent = compacted(EpitomeCompaction(threshold=THRESHOLD, memory=keeps), messages)
        (made,) = [call for message in sent for call in getattr(message, "tool_calls", None) or [] if call.id == "m"]
        assert made.arguments == {**arguments, "file_text": expect}
    handler = compaction(
        EpitomeCompaction(threshold=20_000), prefix=messages[:2], tools=[memory()], model=mock()
    )
    grown = talk(26)
    given, _ = asyncio.run(handler.compact_input(grown))
    assert "Use memory()" in given[-1].text, "Inspect's own warning comes before"


def test_a_summarizer_is_asked() -> None:
    async def summarizer(task: dict[str, Any]) -> str:
        return "In short: the partner is HLV-2209."

    strategy = EpitomeCompaction(threshold=THRESHOLD, chain=["incremental-summary"], summarizer=summarizer)
    sent = compacted(strategy, talk(40))
    assert "In short: the partner" in str([message.text for message in sent])
    assert any((message.metadata or {}).get("summary") for message in sent), "Inspect knows it as a summary"


def test_a_list_ends_with_no_answer() -> None:
    sent = compacted(EpitomeCompaction(threshold=THRESHOLD), [*talk(40), ChatMessageAssistant(content="Done.")])
    assert sent[-1].role == "tool"


def test_parts_of_every_kind_pass() -> None:
    picture = ContentImage(image=f"data:image/png;base64,{PICTURE}")
    contents = [
        ContentText(text=TASK),
        picture,
        ContentData(data={"sealed": "x" * 9_000}),
        ContentToolUse(tool_type="web_search", id="w", name="search", arguments="{}", result="found"),
        ContentReasoning(reasoning="Hm.", signature="s"),
    ]
    shape = InspectShape()
    messages = [ChatMessageUser(content=TASK), ChatMessageAssistant(content=contents), ChatMessageUser(content="And?")]
    rows = rows_of(messages, shape)
    fitted = epitome.fit([row.wire for row in rows], budget=20_000)
    assert all(one is its for one, its in zip(messages_of(fitted, rows, messages, shape), messages, strict=True))
    assert fitted.tokens_before < 1_000, "what is sealed is not text"


def test_messages_are_edited() -> None:
    def check(own: Any, change: dict[str, Any], expect: dict[str, Any]) -> None:
        before = copy.deepcopy(own)
        (row,) = rows_of([own], InspectShape())
        after = _message_of([_row_after(row, {**row.wire, **change}, InspectShape())], [own], InspectShape())
        assert own == before and after.id != own.id
        assert after.model_copy(update={"id": own.id}) == own.model_copy(update=expect)

    picture = ContentImage(image=f"data:image/png;base64,{PICTURE}")
    call = ToolCall(id="c", function="write", arguments={"text": "long"}, view=None)
    shorter = {"id": "c", "type": "function", "function": {"name": "write", "arguments": '{"text":"l"}'}}
    check(ChatMessageUser(content="long"), {"content": "short"}, {"content": "short"})
    check(
        ChatMessageAssistant(content="So.", tool_calls=[call]),
        {"tool_calls": [shorter]},
        {"tool_calls": [ToolCall(id="c", function="write", arguments={"text": "l"})]},
    )
    check(ChatMessageTool(content="long", tool_call_id="c"), {"content": "short"}, {"content": "short"})
    result = ChatMessageTool(content=[ContentText(text="long"), picture], tool_call_id="c")
    kept = [{"type": "text", "text": "short"}, wires_of([result])[0]["content"][1]]
    check(result, {"content": kept}, {"content": [ContentText(text="short"), picture]})
    failed = ChatMessageTool(content="", tool_call_id="c", error=ToolCallError("unknown", "long"))
    check(failed, {"content": "short"}, {"error": ToolCallError("unknown", "short")})
    pinned = ChatMessageUser(content="long")
    shape = InspectShape({pinned.id})
    (row,) = rows_of([pinned], shape)
    assert _message_of([_row_after(row, {**row.wire, "content": "short"}, shape)], [pinned], shape) is pinned


def test_what_inspect_joins_is_recognised() -> None:
    strategy = EpitomeCompaction(threshold=THRESHOLD)
    messages = talk(40)
    sent = collapse_consecutive_user_messages(compacted(strategy, messages))
    more = talk(60)[82:]
    whole = compacted(EpitomeCompaction(threshold=THRESHOLD), [*messages, *more])
    assert wires_of(compacted(strategy, [*sent, *more])) == wires_of(whole)
