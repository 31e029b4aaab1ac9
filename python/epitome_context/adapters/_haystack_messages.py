"""Haystack's messages as OpenAI's chat completions have them, one for one, and back into Haystack's own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from haystack.dataclasses import (
    ChatMessage,
    ReasoningContent,
    TextContent,
    ToolCall,
    ToolCallResult,
)

from ._media import part_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._host import Texts

# How Haystack's own compactors mark what they wrote, so that the task is not looked for in it.
_MARK = {"context_compaction": {"strategy": "epitome"}}


def single(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages with one result of a tool in each, as providers have them."""
    own: list[ChatMessage] = []
    for message in messages:
        if len(message.tool_call_results) < 2:
            own.append(message)
        else:
            own += [replace(message, _content=[content]) for content in message._content]
    return own


def wires_of(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The messages as they are fitted. Calls without an id get one, for some models do without."""
    unanswered: list[tuple[ToolCall, str]] = []
    return [_wire_of(message, unanswered) for message in messages]


def edited(own: ChatMessage, message: dict[str, Any], _texts: Texts = None) -> ChatMessage:
    """A copy of a message that says what `message` says, with the same name and metadata."""
    before = _wire_of(own, [])
    contents: list[Any] = list(own._content)
    if message.get("content") != before.get("content"):
        contents = _contents_after(contents, message.get("content"))
    if "reasoning_content" in before and not message.get("reasoning_content"):
        contents = [content for content in contents if not isinstance(content, ReasoningContent)]
    if message.get("tool_calls") != before.get("tool_calls"):
        arguments = iter([json.loads(call["function"]["arguments"]) for call in message["tool_calls"]])
        contents = [
            replace(content, arguments=next(arguments)) if isinstance(content, ToolCall) else content
            for content in contents
        ]
    return replace(own, _content=contents)


def inserted(message: dict[str, Any]) -> ChatMessage:
    """A message that was not there, marked as one that a compactor wrote."""
    new = ChatMessage.from_openai_dict_format(message)
    return replace(new, _meta={**new.meta, **_MARK})


def _wire_of(message: ChatMessage, unanswered: list[tuple[ToolCall, str]]) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role.value, "content": _content_of(message._content)}
    if message.name:
        wire["name"] = message.name
    thought = "\n".join(reasoning.reasoning_text for reasoning in message.reasonings)
    if thought:
        wire["reasoning_content"] = thought
    if message.tool_call_results:
        result = message.tool_call_results[0]
        wire["tool_call_id"] = result.origin.id or _answered(result.origin, unanswered)
        wire["content"] = result.result if isinstance(result.result, str) else _content_of(result.result)
    if message.tool_calls:
        calls = []
        for call in message.tool_calls:
            id = call.id
            if id is None:
                id = f"call-{len(unanswered)}"
                unanswered.append((call, id))
            function = {"name": call.tool_name, "arguments": json.dumps(call.arguments, ensure_ascii=False, default=str)}
            calls.append({"id": id, "type": "function", "function": function})
        wire["tool_calls"] = calls
        wire["content"] = wire["content"] or None
    return wire


def _answered(origin: ToolCall, unanswered: list[tuple[ToolCall, str]]) -> str:
    """The id that the call of a result got; each call is answered once."""
    for index, (call, id) in enumerate(unanswered):
        if call == origin and id:
            unanswered[index] = (call, "")
            return id
    return "call-unknown"


def _content_of(contents: Sequence[Any]) -> str | list[dict[str, Any]]:
    parts = [part for part in map(_part_of, contents) if part is not None]
    if all(part["type"] == "text" for part in parts) and len(parts) < 2:
        return str(parts[0]["text"]) if parts else ""
    return parts


def _part_of(content: Any) -> dict[str, Any] | None:
    if isinstance(content, TextContent):
        return {"type": "text", "text": content.text}
    if isinstance(content, (ToolCall, ToolCallResult, ReasoningContent)):
        return None
    return part_of(type(content).__name__, content)


def _contents_after(contents: list[Any], after: Any) -> list[Any]:
    """The contents of a message after an edit: its own where they say what they said."""
    if len(contents) == 1 and isinstance(contents[0], ToolCallResult):
        result = contents[0]
        if isinstance(result.result, str) and isinstance(after, str):
            return [replace(result, result=after)]
        own = [result.result] if isinstance(result.result, str) else list(result.result)
        return [replace(result, result=_contents_after(own, after))]
    parts = [{"type": "text", "text": after}] if isinstance(after, str) else list(after or [])
    said = [content for content in contents if _part_of(content) is not None]
    same = {json.dumps(_part_of(content)): content for content in said}
    new = [same.get(json.dumps(part)) or _content_from(part) for part in parts]
    first = next((index for index, content in enumerate(contents) if content in said), 0)
    others = [content for content in contents if content not in said]
    return [*others[:first], *new, *others[first:]]


def _content_from(part: dict[str, Any]) -> Any:
    if part["type"] == "text":
        return TextContent(part["text"])
    return ChatMessage.from_openai_dict_format({"role": "user", "content": [part]})._content[0]
