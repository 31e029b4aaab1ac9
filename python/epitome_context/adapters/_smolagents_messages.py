"""smolagents' messages as OpenAI's chat completions have them, one for one. Calls of tools are texts of their own there, and
the results that follow answer all of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smolagents.models import ChatMessage, MessageRole

from ._media import part_of
from ._parts import arguments_of, items_after, parts_in, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._host import Texts

_ROLES = {MessageRole.SYSTEM: "system", MessageRole.ASSISTANT: "assistant"}
# The name under which the calls of a step stand for the engine, and the key of their text.
_NAME, _KEY = "tools", "calls"
# The key under which the engine leaves a mark where it takes arguments out whole (`ELIDED` in its trimming of arguments).
_ELIDED = "_elided"


def wires_of(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The messages as they are fitted: the calls of a step are one call, and what follows is its result."""
    wires: list[dict[str, Any]] = []
    count = 0
    waiting: str | None = None
    for message in messages:
        content = plain([_part_of(item) for item in _items_of(message)])
        role = MessageRole(message.role)
        if role == MessageRole.TOOL_CALL:
            waiting = f"call-{count}"
            count += 1
            arguments = json.dumps({_KEY: content}, ensure_ascii=False)
            call = {"id": waiting, "type": "function", "function": {"name": _NAME, "arguments": arguments}}
            wires.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif role == MessageRole.TOOL_RESPONSE and waiting is not None:
            wires.append({"role": "tool", "tool_call_id": waiting, "content": content})
            waiting = None
        else:
            wires.append({"role": _ROLES.get(role, "user"), "content": content})
    return wires


def edited(own: ChatMessage, message: dict[str, Any], _texts: Texts = None) -> ChatMessage:
    """A copy of a message that says what `message` says."""
    after = message.get("content")
    if message.get("tool_calls"):
        given = arguments_of(message["tool_calls"][0]["function"]["arguments"])
        after = given.get(_KEY, given.get(_ELIDED, ""))
    items = _items_of(own)
    new = items_after(items, [_part_of(item) for item in items], parts_in(after), _text_item)
    return replace(own, content=new, raw=None)


def inserted(message: dict[str, Any]) -> ChatMessage:
    """A message that was not there."""
    items = [_text_item(part.get("text", "")) for part in parts_in(message.get("content"))]
    role = MessageRole.TOOL_RESPONSE if message["role"] == "tool" else MessageRole(message["role"])
    return ChatMessage(role=role, content=items)


def _items_of(message: ChatMessage) -> list[dict[str, Any]]:
    content = message.content
    return [_text_item(content)] if isinstance(content, str) else list(content or [])


def _text_item(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _part_of(item: dict[str, Any]) -> dict[str, Any]:
    if item.get("type") == "text" and isinstance(item.get("text"), str):
        return {"type": "text", "text": item["text"]}
    # A picture in memory, which its provider counts by its size.
    size = getattr(item.get("image"), "size", None)
    return part_of(str(item.get("type")), item if size is None else {"url": f"memory://{size}"})
