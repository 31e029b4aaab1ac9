"""Events of OpenHands as messages, and what becomes of them as OpenHands' own event."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openhands.sdk.event import (
    ActionEvent,
    Condensation,
    CondensationSummaryEvent,
    ObservationBaseEvent,
    SystemPromptEvent,
)
from openhands.sdk.llm import TextContent

from .._pieces import Edit, Insert
from ._parts import parts_in, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openhands.sdk.context.view import View
    from openhands.sdk.event import LLMConvertibleEvent
    from openhands.sdk.llm import Message

    from .._fitted import Fitted

# Messages as they are sent to a model that takes everything.
_ALL = {
    "cache_enabled": False,
    "vision_enabled": True,
    "function_calling_enabled": True,
    "force_string_serializer": False,
    "send_reasoning_content": True,
}
# By these beginnings the engine knows what a compaction wrote. A summary of another condenser is given one.
_WRITTEN = re.compile(r"\[(Summary of )?[\d,]+ earlier message|\[此前 ")
_HEADING = "[Summary of 1 earlier message]"


@dataclass(frozen=True)
class Row:
    """One message as it is fitted, and the ids of the events that it stands for."""

    wire: dict[str, Any]
    ids: tuple[str, ...]


def rows_of(events: Sequence[LLMConvertibleEvent]) -> list[Row]:
    """The events as they are fitted: what stays or leaves together is one message of the model's with its results."""
    rows: list[Row] = []
    for group in _groups(events):
        calls = [event for event in group if isinstance(event, ActionEvent)]
        if calls:
            said = _wire_of([event.to_llm_message() for event in calls])
            rows.append(Row(said, tuple(event.id for event in calls)))
        others = [event for event in group if not isinstance(event, ActionEvent)]
        rows += [Row({**_wire_of([_message_of(event)]), **_name_of(event)}, (event.id,)) for event in others]
    return rows


def definitions_of(events: Sequence[LLMConvertibleEvent]) -> list[Any] | None:
    """The definitions of the tools, as they are sent."""
    for event in events:
        if isinstance(event, SystemPromptEvent):
            return [tool.to_openai_tool(add_security_risk_prediction=True) for tool in event.tools] or None
    return None


def condensation_of(fitted: Fitted, rows: Sequence[Row], view: View) -> Condensation | None:
    """The event that makes of a view what fits; `None` where it is that already. Raises `Unreachable` where what fits has
    events that the view has no more."""
    kept: set[str] = set()
    ahead: set[str] = set()
    text: str | None = None
    for piece in fitted.pieces:
        if isinstance(piece, Insert):
            text, ahead = _text_of(piece.message), set(kept)
        else:
            numbers = [piece.number] if isinstance(piece, Edit) else range(piece.start, piece.end)
            kept.update(id for number in numbers for id in rows[number].ids)
    if not kept.issubset(event.id for event in view.events):
        raise Unreachable
    # The summary that stands there already, and is not one of the events.
    known = {id for row in rows for id in row.ids}
    for event in view.events:
        if isinstance(event, CondensationSummaryEvent) and event.id not in known and event.summary == text:
            kept.add(event.id)
            text = None
    forgotten = [event.id for event in view.events if event.id not in kept]
    if not forgotten:
        return None
    return condensation(forgotten, text, _place_behind(ahead, [event for event in view.events if event.id in kept]))


def condensation(forgotten: list[str], summary: str | None = None, place: int | None = None) -> Condensation:
    """OpenHands' event: no model answered for it."""
    return Condensation(
        forgotten_event_ids=forgotten,
        summary=summary,
        summary_offset=None if summary is None else place,
        llm_response_id="epitome",
    )


class Unreachable(Exception):
    """What fits has events that left the view before."""


def _groups(events: Sequence[LLMConvertibleEvent]) -> list[list[LLMConvertibleEvent]]:
    """The events that stay or leave together, where the first of them stands: the calls of one answer of the model with their
    results, and the steps that follow signed thinking, which its provider takes back as a whole."""
    groups: list[list[LLMConvertibleEvent]] = []
    of_answer: dict[str, list[LLMConvertibleEvent]] = {}
    of_call: dict[str, list[LLMConvertibleEvent]] = {}
    signed: list[LLMConvertibleEvent] | None = None
    for event in events:
        group: list[LLMConvertibleEvent] | None = None
        if isinstance(event, ActionEvent):
            signed = None if event.thinking_blocks else signed
            group = of_answer.get(event.llm_response_id, signed)
        elif isinstance(event, ObservationBaseEvent):
            group = of_call.get(event.tool_call_id, signed)
        else:
            signed = None
        if group is None:
            group = []
            groups.append(group)
        group.append(event)
        if isinstance(event, ActionEvent):
            of_answer[event.llm_response_id] = of_call[event.tool_call_id] = group
            signed = group if event.thinking_blocks else signed
    return groups


def _place_behind(ahead: set[str], events: Sequence[LLMConvertibleEvent]) -> int:
    """Where a message goes that stands behind these of the events, and not between a call and its result."""
    place = sum(event.id in ahead for event in events)
    numbers = {event.id: number for number, event in enumerate(events)}
    for group in reversed(_groups(events)):
        first, last = numbers[group[0].id], numbers[group[-1].id]
        if first < place <= last:
            place = first
    return place


def _message_of(event: LLMConvertibleEvent) -> Message:
    message = event.to_llm_message()
    if isinstance(event, CondensationSummaryEvent) and not _WRITTEN.match(event.summary):
        message.content = [TextContent(text=f"{_HEADING}\n{event.summary}")]
    return message


def _name_of(event: LLMConvertibleEvent) -> dict[str, str]:
    """The name of the agent that a message came from, where there are several."""
    sender = getattr(event, "sender", None)
    return {"name": sender} if sender else {}


def _wire_of(messages: Sequence[Message]) -> dict[str, Any]:
    """Messages of one speaker as one, in the form of OpenAI's chat completions."""
    sent = [message.to_chat_dict(**_ALL) for message in messages]
    wire: dict[str, Any] = {"role": messages[0].role}
    wire["content"] = plain([part for one in sent for part in parts_in(one.get("content"))])
    thoughts = [text for message in messages for text in _thoughts_of(message)]
    if thoughts:
        wire["reasoning_content"] = "\n".join(thoughts)
    calls = [call for one in sent for call in one.get("tool_calls") or []]
    if calls:
        wire["content"], wire["tool_calls"] = wire["content"] or None, calls
    return {**wire, **{key: sent[0][key] for key in ("tool_call_id", "name") if key in sent[0]}}


def _thoughts_of(message: Message) -> list[str]:
    """What the model thought, once: with signatures, or as a text."""
    signed = [getattr(block, "thinking", None) or block.data for block in message.thinking_blocks]
    return signed or [message.reasoning_content or ""][: bool(message.reasoning_content)]


def _text_of(message: dict[str, Any]) -> str:
    return "\n".join(str(part.get("text", "")) for part in parts_in(message.get("content")))
