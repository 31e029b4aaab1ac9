"""Messages that are lists of parts, as OpenAI's chat completions have them, and back into the host's own.

Each result of a tool is a row of its own; all else of a message is one row. So a message may lose some of its parts: it is
then a copy with the parts that stay, and a message of which all parts stay is the host's own object.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from ._host import own_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._fitted import Fitted
    from ._host import Texts


@dataclass(frozen=True)
class Text:
    """A part that is a text."""

    text: str


@dataclass(frozen=True)
class Thought:
    """A part that is the model's thinking. It stays as it is, or leaves."""

    text: str


@dataclass(frozen=True)
class Call:
    """A part that calls a tool; `arguments` are JSON. Hosts whose models give no ids leave `id` empty."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True)
class Result:
    """A part that is the result of a call: a text, or parts as OpenAI's chat completions have them."""

    id: str | None
    name: str
    content: str | list[dict[str, Any]]


@dataclass(frozen=True)
class Other:
    """A part of another kind, such as an image, as OpenAI's chat completions have it, or as near as it can be counted."""

    part: dict[str, Any]


# What a part says. `None` says nothing that is sent as text: the part stays as long as its message does.
Saying = Text | Thought | Call | Result | Other | None


class Shape(Protocol):
    """How the messages of a host are made. None of these changes what it is given."""

    def role_of(self, message: Any) -> str:
        """`system`, `user` or `assistant`; messages with results only may be of any."""

    def name_of(self, message: Any) -> str | None:
        """The name of who speaks, where the host tells several apart."""

    def parts_of(self, message: Any) -> Sequence[Any]:
        """The parts of a message, in their order."""

    def saying_of(self, part: Any) -> Saying:
        """What a part says."""

    def part_after(self, part: Any, saying: Text | Call | Result) -> Any:
        """A copy of a part that says something else of the same kind."""

    def message_after(self, message: Any, parts: list[Any]) -> Any:
        """A copy of a message with other parts."""

    def text_part(self, text: str) -> Any:
        """A part that is a text."""

    def result_part(self, id: str | None, name: str, text: str) -> Any:
        """A part that answers a call which has no answer; `id` is the one that the host gave the call."""

    def message_of(self, role: str, parts: list[Any]) -> Any:
        """A message that was not there; `tool` is the role of one with results only."""


@dataclass(frozen=True)
class Row:
    """One message as it is fitted. `message` is the number of the host's message it comes from, and -1 of one that was not
    there; `parts` are those of the host's parts that it stands for, each with its place in the message."""

    message: int
    parts: tuple[tuple[int, Any], ...]
    wire: dict[str, Any]


class Answers:
    """Ids for calls that have none: a result answers the first open call of its name in the newest message that has one."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str, str]] = []
        self._count = 0

    def id_of_call(self, message: int, name: str) -> str:
        """A new id for a call in a message."""
        id = f"call-{self._count}"
        self._count += 1
        self._open.append((message, name, id))
        return id

    def id_of_result(self, name: str) -> str:
        """The id of the call that a result answers."""
        fitting = [call for call in self._open if call[1] == name]
        if not fitting:
            return "call-unknown"
        newest = max(message for message, _, _ in fitting)
        answered = next(call for call in fitting if call[0] == newest)
        self._open.remove(answered)
        return answered[2]


def rows_of(messages: Sequence[Any], shape: Shape) -> list[Row]:
    """The messages as they are fitted."""
    answers = Answers()
    rows: list[Row] = []
    for number, message in enumerate(messages):
        role = shape.role_of(message)
        rest: list[tuple[int, Any]] = []
        results: list[tuple[Result, list[tuple[int, Any]]]] = []
        for place, part in enumerate(shape.parts_of(message)):
            saying = shape.saying_of(part)
            if isinstance(saying, Result):
                results.append((saying, [(place, part)]))
            elif saying is None and results and not rest:
                results[-1][1].append((place, part))  # a mark stays with what it follows
            else:
                rest.append((place, part))
        said: list[Row] = []
        if rest or not results:
            wire = _wire_of(number, role, rest, shape, answers)
            name = shape.name_of(message)
            said = [Row(number, tuple(rest), {**wire, "name": name} if name else wire)]
        answered = [
            Row(
                number,
                tuple(parts),
                {
                    "role": "tool",
                    "tool_call_id": result.id or answers.id_of_result(result.name),
                    "content": result.content,
                },
            )
            for result, parts in results
        ]
        # Results come first in a user's message; in one of the model's, behind the calls that they answer.
        rows += [*said, *answered] if role == "assistant" else [*answered, *said]
    return rows


def messages_of(
    fitted: Fitted, rows: Sequence[Row], messages: Sequence[Any], shape: Shape, *, alternate: bool = False
) -> list[Any]:
    """What is to be sent: the host's own messages where all of their parts stay as they are. With `alternate`, messages that
    have become neighbours and are of one speaker are one message, for providers that want the roles to alternate."""
    if fitted.unchanged:
        return list(messages)
    kept = own_messages(
        fitted,
        [row.wire for row in rows],
        rows,
        lambda row, wire, _texts: _row_after(row, wire, shape),
        lambda wire: Row(-1, tuple(enumerate(_parts_of_wire(wire, rows, shape))), wire),
    )
    sent: list[Any] = []
    last = -1  # the number of the message that came last, and -1 of one that was not there
    for group in _groups(kept):
        number = group[0].message
        message = _message_of(group, messages, shape)
        neighbours = 0 <= last and number == last + 1
        if alternate and sent and not neighbours and shape.role_of(sent[-1]) == shape.role_of(message):
            parts = [*shape.parts_of(sent[-1]), *shape.parts_of(message)]
            sent[-1] = shape.message_after(message if last < 0 <= number else sent[-1], parts)
        else:
            sent.append(message)
        last = number
    return sent


def items_after(
    own: Sequence[Any],
    before: Sequence[dict[str, Any]],
    after: str | Sequence[dict[str, Any]] | None,
    text_item: Callable[[str], Any],
) -> list[Any]:
    """A host's items after an edit: its own where they say what they said, and new texts for the others. `before` has what
    each of `own` said, `after` what is to be said."""
    parts = [{"type": "text", "text": after}] if isinstance(after, str) else list(after or [])
    if len(parts) == len(before):
        pairs = zip(own, before, parts, strict=True)
        return [item if was == part else text_item(part.get("text", "")) for item, was, part in pairs]
    items = []
    free = list(range(len(before)))
    for part in parts:
        place = next((place for place in free if before[place] == part), None)
        if place is None:
            items.append(text_item(part.get("text", "")))
        else:
            free.remove(place)
            items.append(own[place])
    return items


def plain(parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Content as one text where it is one text, or nothing."""
    if not parts:
        return ""
    if len(parts) == 1 and parts[0]["type"] == "text" and "text" in parts[0]:
        return str(parts[0]["text"])
    return parts


def parts_in(content: Any) -> list[dict[str, Any]]:
    """Content as a list, as `plain` took it."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or [])


def _wire_of(number: int, role: str, parts: list[tuple[int, Any]], shape: Shape, answers: Answers) -> dict[str, Any]:
    sayings = [shape.saying_of(part) for _, part in parts]
    content = [_part_of(saying) for saying in sayings if isinstance(saying, (Text, Other))]
    wire: dict[str, Any] = {"role": role, "content": plain(content)}
    thought = "\n".join(saying.text for saying in sayings if isinstance(saying, Thought) and saying.text)
    if thought:
        wire["reasoning_content"] = thought
    calls = [saying for saying in sayings if isinstance(saying, Call)]
    if calls:
        wire["content"] = wire["content"] or None
        wire["tool_calls"] = [
            {
                "id": call.id or answers.id_of_call(number, call.name),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    return wire


def _part_of(saying: Text | Other) -> dict[str, Any]:
    return {"type": "text", "text": saying.text} if isinstance(saying, Text) else saying.part


def _row_after(row: Row, wire: dict[str, Any], shape: Shape) -> Row:
    """A row after an edit."""
    sayings = [(place, part, shape.saying_of(part)) for place, part in row.parts]
    if any(isinstance(saying, Result) for _, _, saying in sayings):
        return replace(row, parts=tuple((place, _result_after(part, said, wire, shape)) for place, part, said in sayings))
    said = [part for _, part, saying in sayings if isinstance(saying, (Text, Other))]
    before = [_part_of(saying) for _, _, saying in sayings if isinstance(saying, (Text, Other))]
    new = iter(items_after(said, before, parts_in(wire.get("content")), shape.text_part))
    thinks = "reasoning_content" in wire or "reasoning_content" not in row.wire
    calls = iter(row.wire.get("tool_calls") or [])
    arguments = {call["id"]: call["function"]["arguments"] for call in wire.get("tool_calls") or []}
    parts: list[tuple[int, Any]] = []
    for place, part, saying in sayings:
        if isinstance(saying, (Text, Other)):
            parts += [(place, item) for item in (next(new, None),) if item is not None]
        elif isinstance(saying, Thought):
            parts += [(place, part)] if thinks else []
        elif isinstance(saying, Call):
            after = arguments.get(next(calls)["id"])
            if after is not None:
                changed = (
                    part if after == saying.arguments else shape.part_after(part, replace(saying, arguments=after))
                )
                parts.append((place, changed))
        else:
            parts.append((place, part))
    parts += [(-1, item) for item in new]
    return replace(row, parts=tuple(_texts_first(parts, len(said) == 0)))


def _result_after(part: Any, said: Saying, wire: dict[str, Any], shape: Shape) -> Any:
    """A result that says what `wire` says; a mark beside it as it is."""
    return shape.part_after(part, replace(said, content=wire["content"])) if isinstance(said, Result) else part


def _texts_first(parts: list[tuple[int, Any]], said_nothing: bool) -> list[tuple[int, Any]]:
    """The parts with those first that came where nothing was said before."""
    if not said_nothing:
        return parts
    return [*(part for part in parts if part[0] < 0), *(part for part in parts if part[0] >= 0)]


def _parts_of_wire(wire: dict[str, Any], rows: Sequence[Row], shape: Shape) -> list[Any]:
    """The parts of a message that was not there: texts, or the answer to a call."""
    texts = [part.get("text", "") for part in parts_in(wire.get("content"))]
    if wire["role"] != "tool":
        return [shape.text_part(text) for text in texts]
    id, name = _call_of(wire["tool_call_id"], rows, shape)
    return [shape.result_part(id, name, "\n".join(texts))]


def _call_of(id: str, rows: Sequence[Row], shape: Shape) -> tuple[str | None, str]:
    """The host's own id of a call, and its name."""
    for row in rows:
        calls = [saying for _, part in row.parts if isinstance(saying := shape.saying_of(part), Call)]
        for call, wire in zip(calls, row.wire.get("tool_calls") or [], strict=False):
            if wire["id"] == id:
                return (call.id, call.name)
    return (id, "tool")


def _groups(rows: list[Row]) -> list[list[Row]]:
    """The rows that are of one message and stand together."""
    groups: list[list[Row]] = []
    for row in rows:
        if groups and row.message >= 0 and groups[-1][0].message == row.message:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _message_of(group: list[Row], messages: Sequence[Any], shape: Shape) -> Any:
    number = group[0].message
    placed = [pair for row in group for pair in row.parts]
    if number < 0:
        return shape.message_of(group[0].wire["role"], [part for _, part in placed])
    message = messages[number]
    own = shape.parts_of(message)
    parts = [part for _, part in sorted(placed, key=lambda pair: pair[0])] if len(group) > 1 else [p for _, p in placed]
    if len(parts) == len(own) and all(a is b for a, b in zip(parts, own, strict=True)):
        return message
    return shape.message_after(message, parts)


def arguments_of(text: str) -> dict[str, Any]:
    """Arguments of a call as an object: what is not one is under `arguments`."""
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = text
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}
