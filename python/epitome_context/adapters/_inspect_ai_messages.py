"""Inspect AI's messages, for `_parts`: a message's content and its calls are its parts, and a result of a tool is the part of its
own message."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentData,
    ContentReasoning,
    ContentText,
)
from inspect_ai.tool import ToolCall
from shortuuid import uuid

from ._media import part_of
from ._parts import Call, Other, Result, Saying, Text, Thought, arguments_of, items_after, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# How Inspect marks what a compaction wrote, so that the task is not looked for in it.
_MARK = {"summary": True}
# What ties a call to the signature that Gemini wants with it: it stays as long as its message.
_ANCHOR = "gemini_function_call_id"


class InspectShape:
    """How messages are made. `pinned` are the ids of those that stay as they are."""

    def __init__(self, pinned: Collection[str | None] = ()) -> None:
        self._pinned = pinned

    def role_of(self, message: Any) -> str:
        """The role; `tool` has one result."""
        return str(message.role)

    def name_of(self, message: Any) -> str | None:
        """Inspect names nobody."""
        return None

    def parts_of(self, message: Any) -> Sequence[Any]:
        """The contents and the calls; of a result the message itself."""
        if isinstance(message, ChatMessageTool):
            return [message]
        content = message.content
        contents = ([content] if content else []) if isinstance(content, str) else content
        return [*contents, *(getattr(message, "tool_calls", None) or [])]

    def saying_of(self, part: Any) -> Saying:
        """What a part says."""
        if isinstance(part, str):
            return Text(part)
        if isinstance(part, ContentText):
            return Text(part.text)
        if isinstance(part, ToolCall):
            return Call(part.id, part.function, json.dumps(part.arguments, ensure_ascii=False, default=str))
        if isinstance(part, ChatMessageTool):
            return Result(part.tool_call_id, part.function or "", _content_of(part))
        if isinstance(part, ContentReasoning):
            is_anchor = isinstance(part.internal, dict) and _ANCHOR in part.internal
            return None if is_anchor else Thought((part.summary or "") if part.redacted else part.reasoning)
        return None if isinstance(part, ContentData) else Other(part_of(part.type, part))

    def part_after(self, part: Any, saying: Text | Call | Result) -> Any:
        """A copy of a call with other arguments, or of a result with another text. A result that is an error is sent as what it
        says."""
        if isinstance(saying, Text):
            return saying.text
        if isinstance(saying, Call):
            return replace(part, arguments=arguments_of(saying.arguments))
        if part.error is not None:
            return part.model_copy(update={"id": uuid(), "error": replace(part.error, message=_text_of(saying.content))})
        own = [part.content] if isinstance(part.content, str) else part.content
        items = items_after(own, [_wire_of(item) for item in own], saying.content, lambda text: text)
        return part.model_copy(update={"id": uuid(), "content": _content(items)})

    def message_after(self, message: Any, parts: list[Any]) -> Any:
        """A copy of a message with other parts, and an id of its own; one that is pinned is itself."""
        if message.id in self._pinned:
            return message
        if isinstance(message, ChatMessageTool):
            return parts[0]
        changes: dict[str, Any] = {"id": uuid(), "content": _content([it for it in parts if not isinstance(it, ToolCall)])}
        if isinstance(message, ChatMessageAssistant):
            changes["tool_calls"] = [part for part in parts if isinstance(part, ToolCall)] or None
        return message.model_copy(update=changes)

    def text_part(self, text: str) -> Any:
        """A part that is a text."""
        return text

    def result_part(self, id: str | None, name: str, text: str) -> Any:
        """A result that answers a call."""
        return ChatMessageTool(content=text, tool_call_id=id, function=name)

    def message_of(self, role: str, parts: list[Any]) -> Any:
        """A message that was not there."""
        if role == "tool":
            return parts[0]
        kinds = {"system": ChatMessageSystem, "assistant": ChatMessageAssistant}
        return kinds.get(role, ChatMessageUser)(content=_content(parts), metadata=dict(_MARK))


def _content(items: list[Any]) -> Any:
    """Contents as one text where they are one text, or nothing."""
    if len(items) < 2 and all(isinstance(item, str) for item in items):
        return "".join(items)
    return [ContentText(text=item) if isinstance(item, str) else item for item in items]


def _content_of(message: ChatMessageTool) -> str | list[dict[str, Any]]:
    """What is sent of a result: of an error what it says."""
    if message.error is not None:
        return str(message.error.message)
    return message.content if isinstance(message.content, str) else plain([_wire_of(item) for item in message.content])


def _wire_of(item: Any) -> dict[str, Any]:
    """A content as a part of a message of OpenAI's."""
    if isinstance(item, (str, ContentText)):
        return {"type": "text", "text": item if isinstance(item, str) else item.text}
    return part_of(item.type, item)


def _text_of(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
