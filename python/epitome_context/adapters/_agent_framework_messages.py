"""The messages of Microsoft's Agent Framework, for `_parts`."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from agent_framework import Content, Message

from ._media import part_of
from ._parts import Call, Other, Result, Saying, Text, Thought, items_after, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROLES = frozenset(("system", "user", "assistant"))
# Contents that are told to the host, and not sent.
_SILENT = frozenset(("usage", "error", "oauth_consent_request"))


class AgentFrameworkShape:
    """How messages are made."""

    def role_of(self, message: Any) -> str:
        """The role; `tool` has results only."""
        role = str(message.role)
        return role if role in _ROLES else "user"

    def name_of(self, message: Any) -> str | None:
        """The name of the author."""
        name: str | None = message.author_name
        return name

    def parts_of(self, message: Any) -> Sequence[Any]:
        """The contents."""
        contents: Sequence[Any] = message.contents
        return contents

    def saying_of(self, part: Any) -> Saying:
        """What a content says."""
        if part.type == "text":
            return Text(part.text or "")
        if part.type == "text_reasoning":
            return Thought(part.text or "")
        if part.type == "function_call":
            given = part.arguments
            text = given if isinstance(given, str) else json.dumps(dict(given or {}), ensure_ascii=False, default=str)
            return Call(part.call_id, part.name or "", text or "{}")
        if part.type == "function_result":
            return Result(part.call_id, "", plain([_wire_of(item) for item in _items_of(part)]))
        return None if part.type in _SILENT else Other(_wire_of(part))

    def part_after(self, part: Any, saying: Text | Call | Result) -> Any:
        """A copy of a content with other arguments, or another result. What the provider once said of it is not in the copy."""
        if isinstance(saying, Text):
            return self.text_part(saying.text)
        after = copy.copy(part)
        after.raw_representation = None
        if isinstance(saying, Call):
            after.arguments = saying.arguments if isinstance(part.arguments, str) else _object_of(saying.arguments)
        else:
            own = _items_of(part)
            items = items_after(own, [_wire_of(item) for item in own], saying.content, self.text_part)
            after.items = items
            after.result = "\n".join(item.text for item in items if item.type == "text" and item.text)
        return after

    def message_after(self, message: Any, parts: list[Any]) -> Any:
        """A copy of a message with other contents."""
        after = copy.copy(message)
        after.contents = list(parts)
        after.additional_properties = dict(message.additional_properties)
        after.raw_representation = None
        return after

    def text_part(self, text: str) -> Any:
        """A content that is a text."""
        return Content.from_text(text)

    def result_part(self, id: str | None, name: str, text: str) -> Any:
        """A content that answers a call."""
        return Content.from_function_result(id or name, result=text)

    def message_of(self, role: str, parts: list[Any]) -> Any:
        """A message that was not there."""
        return Message(role, parts)


def _items_of(part: Any) -> list[Any]:
    """The items of a result."""
    items = getattr(part, "items", None)
    return list(items) if items else [Content.from_text("" if part.result is None else str(part.result))]


def _object_of(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _wire_of(content: Any) -> dict[str, Any]:
    """A content as a part of a message of OpenAI's."""
    if content.type == "text":
        return {"type": "text", "text": content.text or ""}
    return part_of(content.type, content.to_dict(exclude={"raw_representation", "additional_properties", "type"}))
