"""Pydantic AI's messages as OpenAI's chat completions have them, and back. A request of Pydantic AI holds many messages: results
of tools, prompts; each of its parts is a row of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryPromptPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from ._host import own_messages
from ._media import part_of
from ._parts import parts_in, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._fitted import Fitted
    from ._host import Texts


@dataclass(frozen=True)
class Row:
    """One message as it is fitted: a part of a request, or a whole response. `message` is the number of the host's message,
    and -1 of a message that was not there."""

    message: int
    own: Any
    wire: dict[str, Any]


def rows_of(messages: Sequence[Any]) -> list[Row]:
    """The messages as they are fitted."""
    rows: list[Row] = []
    for index, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            rows.append(Row(index, message, _wire_of_response(message)))
        else:
            rows += [Row(index, part, _wire_of_part(part)) for part in message.parts]
    return rows


def messages_of(fitted: Fitted, rows: Sequence[Row], messages: Sequence[Any]) -> list[Any]:
    """What is to be sent: the host's own messages where all of their parts stay as they are."""
    sent: list[Any] = []
    group: list[Row] = []
    for row in [*own_messages(fitted, [row.wire for row in rows], rows, _edited, _inserted), None]:
        if group and (row is None or row.message != group[0].message or row.message < 0):
            sent.append(_message_of(group, messages))
            group = []
        if row is not None:
            group.append(row)
    return sent


def _message_of(group: list[Row], messages: Sequence[Any]) -> Any:
    own = group[0].own
    if isinstance(own, (ModelRequest, ModelResponse)):
        return own
    message = messages[group[0].message]
    parts = [row.own for row in group]
    same = len(parts) == len(message.parts) and all(a is b for a, b in zip(parts, message.parts, strict=True))
    return message if same else replace(message, parts=parts)


def _wire_of_part(part: Any) -> dict[str, Any]:
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": _user_content(part.content)}
    if isinstance(part, ToolReturnPart):
        content = plain([{"type": "text", "text": part.model_response_str()}, *_file_parts(part)])
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    if isinstance(part, RetryPromptPart) and part.tool_name is not None:
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response()}
    if isinstance(part, (RetryPromptPart, RetryFeedbackPart)):
        return {"role": "user", "content": part.model_response()}
    if part.part_kind == "speech":
        return {"role": "user", "content": [part_of(part.part_kind, part)]}
    # What Pydantic AI itself keeps in a request. It stays where it is, for it is a system message with a text.
    return {"role": "system", "content": str(getattr(part, "content", None) or part.part_kind)}


def _user_content(content: Any) -> str | list[dict[str, Any]]:
    return content if isinstance(content, str) else [_user_part(item) for item in content]


def _user_part(item: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if isinstance(item, TextContent):
        return {"type": "text", "text": item.content}
    return part_of(getattr(item, "kind", "other"), item)


def _file_parts(part: ToolReturnPart) -> list[dict[str, Any]]:
    """The files of a result, which are no text of it."""
    return [_user_part(file) for file in part.files]


def _wire_of_response(message: ModelResponse) -> dict[str, Any]:
    texts = [_response_part(part) for part in message.parts if not isinstance(part, (ThinkingPart, ToolCallPart))]
    wire: dict[str, Any] = {"role": "assistant", "content": texts}
    if all(part["type"] == "text" for part in texts) and len(texts) < 2:
        wire["content"] = texts[0]["text"] if texts else ""
    thought = "\n".join(part.content for part in message.parts if isinstance(part, ThinkingPart) and part.content)
    if thought:
        wire["reasoning_content"] = thought
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    if calls:
        wire["content"] = wire["content"] or None
        wire["tool_calls"] = [
            {
                "id": call.tool_call_id,
                "type": "function",
                "function": {"name": call.tool_name, "arguments": call.args_as_json_str()},
            }
            for call in calls
        ]
    return wire


def _response_part(part: Any) -> dict[str, Any]:
    """A part of a response."""
    return {"type": "text", "text": part.content} if isinstance(part, TextPart) else part_of(part.part_kind, part)


def _edited(row: Row, message: dict[str, Any], _texts: Texts) -> Row:
    if isinstance(row.own, ModelResponse):
        return replace(row, own=_edited_response(row, message))
    content = message.get("content")
    if isinstance(row.own, UserPromptPart):
        return replace(row, own=replace(row.own, content=_user_content_after(row, content)))
    if isinstance(row.own, ToolReturnPart):
        own = row.own
        after = parts_in(content)
        texts = [part["text"] for part in after if part["type"] == "text"]
        files = [file for file, part in zip(own.files, _file_parts(own), strict=True) if part in after]
        # Not of the typed kind any more, for a text that was cut has not its shape.
        said = [*texts, *files] if files else "\n".join(texts)
        cut = ToolReturnPart(own.tool_name, said, own.tool_call_id, metadata=own.metadata, timestamp=own.timestamp)
        return replace(row, own=cut)
    return replace(row, own=replace(row.own, content=content))


def _user_content_after(row: Row, after: Any) -> Any:
    """The content of a prompt after an edit: its own items where they say what they said."""
    if not isinstance(after, list):
        return after or ""
    before = row.wire["content"]
    if not isinstance(before, list):
        return [part.get("text", "") for part in after]
    own = list(row.own.content)
    return [own[before.index(part)] if part in before else part.get("text", "") for part in after]


def _edited_response(row: Row, message: dict[str, Any]) -> ModelResponse:
    before, after = row.wire["content"], message.get("content")
    texts = [{"type": "text", "text": after}] if isinstance(after, str) else list(after or [])
    said = [part for part in row.own.parts if not isinstance(part, (ThinkingPart, ToolCallPart))]
    whole = (after or None) == (before or None)
    new = said if whole else [_said(said, part) for part in texts]
    calls = {call["id"]: call["function"]["arguments"] for call in message.get("tool_calls") or []}
    thinks = "reasoning_content" in message or "reasoning_content" not in row.wire
    parts: list[Any] = []
    for part in row.own.parts:
        if isinstance(part, ThinkingPart):
            parts += [part] if thinks else []
        elif isinstance(part, ToolCallPart):
            parts += _calls_after(part, calls)
        elif part is said[0]:
            parts += new  # all that is said, where the first of it was
    if new and not said:
        parts = [*new, *parts]
    return replace(row.own, parts=parts)


def _said(own: list[Any], part: dict[str, Any]) -> Any:
    """A part that was there, or a text in its place. A text that was cut has no id: the provider would take its own copy."""
    return next((mine for mine in own if _response_part(mine) == part), None) or TextPart(part.get("text", ""))


def _calls_after(part: ToolCallPart, calls: dict[str, str]) -> list[ToolCallPart]:
    arguments = calls.get(part.tool_call_id)
    if arguments is None:
        return []
    if arguments == part.args_as_json_str():
        return [part]
    return [replace(part, args=json.loads(arguments) if isinstance(part.args, dict) else arguments, id=None)]


def _inserted(message: dict[str, Any]) -> Row:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
    own: Any
    if message["role"] == "assistant":
        own = ModelResponse([TextPart(text)])
    elif message["role"] == "tool":
        own = ModelRequest([ToolReturnPart(message.get("name") or "tool", text, message["tool_call_id"])])
    elif message["role"] == "system":
        own = ModelRequest([SystemPromptPart(text)])
    else:
        own = ModelRequest([UserPromptPart(text)])
    return Row(-1, own, message)
