"""LlamaIndex's messages, for `_parts`. Calls of tools are blocks, or lie beside them in `additional_kwargs`; a message of the
role `tool` is one result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from ._media import part_of
from ._parts import Call, Other, Result, Saying, Text, Thought, arguments_of, items_after, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROLES = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
}
_RESULTS = frozenset((MessageRole.TOOL, MessageRole.FUNCTION))


class LlamaIndexShape:
    """How messages are made."""

    def role_of(self, message: Any) -> str:
        """The role."""
        return _ROLES.get(message.role, "user")

    def name_of(self, message: Any) -> str | None:
        """The name of who speaks, which lies beside the blocks."""
        return message.additional_kwargs.get("name")

    def parts_of(self, message: Any) -> Sequence[Any]:
        """The blocks, and the calls beside them; a result of a tool is the message itself."""
        if message.role in _RESULTS:
            return [message]
        if any(isinstance(block, ToolCallBlock) for block in message.blocks):
            return list(message.blocks)
        return [*message.blocks, *(message.additional_kwargs.get("tool_calls") or [])]

    def saying_of(self, part: Any) -> Saying:
        """What a part says."""
        if isinstance(part, ChatMessage):
            beside = part.additional_kwargs
            return Result(beside.get("tool_call_id"), beside.get("name") or "", plain(_wires_of(part.blocks)))
        if isinstance(part, TextBlock):
            return Text(part.text)
        if isinstance(part, ThinkingBlock):
            return Thought(part.content or "")
        if isinstance(part, ToolCallBlock):
            given = part.tool_kwargs
            text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
            return Call(part.tool_call_id, part.tool_name, text)
        if isinstance(part, CachePoint):
            return None
        if hasattr(part, "block_type"):
            return Other(_wire_of(part))
        call = _plain_call(part)
        if isinstance(call.get("function"), dict):
            return Call(call.get("id"), call["function"].get("name") or "", call["function"].get("arguments") or "{}")
        return Other(part_of("tool_call", call))

    def part_after(self, part: Any, saying: Text | Call | Result) -> Any:
        """A copy of a part with other arguments, or another result."""
        if isinstance(saying, Result):
            blocks = items_after(part.blocks, _wires_of(part.blocks), saying.content, self.text_part)
            return part.model_copy(update={"blocks": blocks})
        if isinstance(saying, Text):
            return self.text_part(saying.text)
        if isinstance(part, ToolCallBlock):
            given = saying.arguments if isinstance(part.tool_kwargs, str) else arguments_of(saying.arguments)
            return part.model_copy(update={"tool_kwargs": given})
        call = _plain_call(part)
        call = {**call, "function": {**call["function"], "arguments": saying.arguments}}
        return call if isinstance(part, dict) else type(part).model_validate(call)

    def message_after(self, message: Any, parts: list[Any]) -> Any:
        """A copy of a message with other parts."""
        if message.role in _RESULTS:
            return parts[0]
        calls = [part for part in parts if not hasattr(part, "block_type")]
        kwargs = {key: value for key, value in message.additional_kwargs.items() if key != "tool_calls"}
        if calls:
            kwargs["tool_calls"] = calls
        blocks = [part for part in parts if hasattr(part, "block_type")]
        return message.model_copy(update={"blocks": blocks, "additional_kwargs": kwargs})

    def text_part(self, text: str) -> Any:
        """A block that is a text."""
        return TextBlock(text=text)

    def result_part(self, id: str | None, name: str, text: str) -> Any:
        """The message that answers a call."""
        kwargs = {"name": name} if id is None else {"name": name, "tool_call_id": id}
        return ChatMessage(role=MessageRole.TOOL, blocks=[TextBlock(text=text)], additional_kwargs=kwargs)

    def message_of(self, role: str, parts: list[Any]) -> Any:
        """A message that was not there."""
        if role == "tool":
            return parts[0]
        return ChatMessage(role=MessageRole(role), blocks=parts)


def _plain_call(call: Any) -> dict[str, Any]:
    """A call beside the blocks, as OpenAI's chat completions have it."""
    plain_call = call.model_dump() if hasattr(call, "model_dump") else call
    return plain_call if isinstance(plain_call, dict) else {"call": plain_call}


def _wires_of(blocks: Sequence[Any]) -> list[dict[str, Any]]:
    return [_wire_of(block) for block in blocks]


def _wire_of(block: Any) -> dict[str, Any]:
    """A block as a part of a message of OpenAI's."""
    return {"type": "text", "text": block.text} if isinstance(block, TextBlock) else part_of(block.block_type, block)
