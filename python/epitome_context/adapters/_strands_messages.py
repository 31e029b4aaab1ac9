"""Strands' messages, whose blocks are those of Bedrock, for `_parts`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._media import part_of
from ._parts import Call, Other, Result, Saying, Text, Thought, arguments_of, items_after, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

# Marks without a text, which stay where they are.
_SILENT = frozenset(("cachePoint",))


class StrandsShape:
    """How Strands' messages are made."""

    def role_of(self, message: Any) -> str:
        """The role; results of tools are in messages of the user."""
        return str(message["role"])

    def name_of(self, message: Any) -> str | None:
        """Strands names nobody."""
        return None

    def parts_of(self, message: Any) -> Sequence[Any]:
        """The blocks."""
        content: Sequence[Any] = message["content"]
        return content

    def saying_of(self, part: Any) -> Saying:
        """What a block says."""
        if "text" in part:
            return Text(part["text"])
        if "toolUse" in part:
            use = part["toolUse"]
            return Call(use["toolUseId"], use["name"], json.dumps(use["input"], ensure_ascii=False, default=str))
        if "toolResult" in part:
            result = part["toolResult"]
            return Result(result["toolUseId"], "", plain([_item_wire(item) for item in result["content"]]))
        if "reasoningContent" in part:
            return Thought(part["reasoningContent"].get("reasoningText", {}).get("text", ""))
        return None if _SILENT.issuperset(part) else Other(_item_wire(part))

    def part_after(self, part: Any, saying: Text | Call | Result) -> Any:
        """A copy of a block with other arguments, or another result."""
        if isinstance(saying, Call):
            return {**part, "toolUse": {**part["toolUse"], "input": arguments_of(saying.arguments)}}
        if isinstance(saying, Result):
            own = part["toolResult"]["content"]
            items = items_after(own, [_item_wire(item) for item in own], saying.content, self.text_part)
            return {**part, "toolResult": {**part["toolResult"], "content": items}}
        return self.text_part(saying.text)

    def message_after(self, message: Any, parts: list[Any]) -> Any:
        """A copy of a message with other blocks."""
        return {**message, "content": parts}

    def text_part(self, text: str) -> Any:
        """A block that is a text."""
        return {"text": text}

    def result_part(self, id: str | None, name: str, text: str) -> Any:
        """A block that answers a call."""
        return {"toolResult": {"toolUseId": id, "status": "error", "content": [{"text": text}]}}

    def message_of(self, role: str, parts: list[Any]) -> Any:
        """A message that was not there; results are the user's."""
        return {"role": "user" if role == "tool" else role, "content": parts}


def _item_wire(item: dict[str, Any]) -> dict[str, Any]:
    """A block, or an item of a result, as a part of a message of OpenAI's."""
    if "text" in item:
        return {"type": "text", "text": item["text"]}
    if "json" in item:
        return {"type": "text", "text": json.dumps(item["json"], ensure_ascii=False, default=str)}
    return part_of(next(iter(item), "other"), item)
