"""LangChain's messages as OpenAI's chat completions have them, one for one, and back into LangChain's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)

from ._media import part_of

if TYPE_CHECKING:
    from ._host import Texts

_ROLES: tuple[tuple[type[BaseMessage], str], ...] = (
    (HumanMessage, "user"),
    (AIMessage, "assistant"),
    (SystemMessage, "system"),
    (ToolMessage, "tool"),
    (FunctionMessage, "function"),
)
# The roles of a `ChatMessage` that say who speaks; any other is somebody else who speaks to the model, as a user does.
_SPEAKERS = frozenset(("system", "developer", "user", "assistant"))
_THINKING = frozenset(("thinking", "reasoning", "redacted_thinking", "reasoning_content"))
# Blocks that say again what is in `tool_calls`, with the key of the call's id and the key of its arguments.
_CALLS = {
    "tool_use": ("id", "input"),
    "tool_call": ("id", "args"),
    "function_call": ("call_id", "arguments"),
    "invalid_tool_call": ("id", "args"),
}


def wire_of(message: BaseMessage) -> dict[str, Any]:
    """A message as it is fitted. What its provider alone understands is in it as it is, so that it is counted."""
    wire: dict[str, Any] = {"role": _role_of(message), "content": _content_of(message)}
    if message.name:
        wire["name"] = message.name
    if isinstance(message, AIMessage):
        thought = _thought_of(message)
        if thought:
            wire["reasoning_content"] = thought
        calls = [_wire_call(call) for call in (*message.tool_calls, *_broken_calls(message))]
        if calls:
            wire["content"] = wire["content"] or None
            wire["tool_calls"] = calls
    elif isinstance(message, ToolMessage):
        wire["tool_call_id"] = message.tool_call_id
    return wire


def edited(own: BaseMessage, message: dict[str, Any], _texts: Texts = None) -> BaseMessage:
    """A copy of a message that says what `message` says: id, name and metadata are those of `own`."""
    before = wire_of(own)
    update: dict[str, Any] = {}
    thought_left = "reasoning_content" in before and not message.get("reasoning_content")
    if thought_left or (message.get("content") or None) != (before["content"] or None):
        update["content"] = _content_after(own, before["content"], message.get("content"), thought_left)
    if thought_left and "reasoning_content" in own.additional_kwargs:
        update["additional_kwargs"] = {k: v for k, v in own.additional_kwargs.items() if k != "reasoning_content"}
    if isinstance(own, AIMessage) and message.get("tool_calls") != before.get("tool_calls"):
        _edit_calls(own, message.get("tool_calls") or [], update)
    return own.model_copy(update=update)


def inserted(message: dict[str, Any]) -> BaseMessage:
    """A message that was not there. LangChain's calls and results have an id, if an empty one."""
    if calls := message.get("tool_calls"):
        message = {**message, "tool_calls": [{"id": "", **call} for call in calls]}
    elif message.get("role") == "tool":
        message = {"tool_call_id": "", **message}
    return convert_to_messages([message])[0]


def _role_of(message: BaseMessage) -> str:
    for kind, role in _ROLES:
        if isinstance(message, kind):  # chunks of a stream too, whose `type` is another one
            return role
    role = getattr(message, "role", "user")
    return role if role in _SPEAKERS else "user"


def _content_of(message: BaseMessage) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    return [_part_of(message.content[position]) for position in _positions(message)]


def _positions(message: BaseMessage) -> list[int]:
    """Where in a list of blocks those stand that are content: neither thinking nor a call that is in `tool_calls` too."""
    calls = _ids_of_calls(message) if isinstance(message, AIMessage) else frozenset()
    return [
        position
        for position, block in enumerate(message.content)
        if isinstance(block, str) or (block.get("type") not in _THINKING and _id_of_call(block) not in calls)
    ]


def _broken_calls(message: AIMessage) -> list[Any]:
    """Calls whose arguments could not be read. An agent answers those that have an id, and clients send both: providers refuse
    one without the other."""
    return [call for call in message.invalid_tool_calls if call.get("id") is not None]


def _ids_of_calls(message: AIMessage) -> set[str | None]:
    return {call["id"] for call in (*message.tool_calls, *_broken_calls(message))}


def _id_of_call(block: dict[str, Any]) -> Any:
    """The id of the call that a block is; a text that is not an id where it is not a call."""
    keys = _CALLS.get(str(block.get("type")))
    return "" if keys is None else block.get(keys[0])


def _part_of(block: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    kind = block.get("type") or next(iter(block), "other")
    if kind == "text" and isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    return part_of(str(kind), block)


def _thought_of(message: AIMessage) -> str:
    texts = [str(message.additional_kwargs.get("reasoning_content") or "")]
    if isinstance(message.content, list):
        for block in message.content:
            if isinstance(block, dict) and block.get("type") in _THINKING:
                texts += _texts_in(
                    {key: value for key, value in block.items() if key not in ("type", "signature", "id")}
                )
    return "\n".join(text for text in texts if text)


def _texts_in(value: Any) -> list[str]:
    """The texts in a block, whatever its provider calls them."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [inner for key, inner in value.items() if key not in ("type", "signature", "index")]
    return [text for inner in value for text in _texts_in(inner)] if isinstance(value, list) else []


def _wire_call(call: Any) -> dict[str, Any]:
    function = {"name": call["name"] or "", "arguments": _text_of(call["args"] or {})}
    return {"type": "function", "id": call["id"], "function": function}


def _content_after(own: BaseMessage, before: Any, after: Any, thought_left: bool) -> Any:
    """The content of a message after an edit: its own blocks where they say what they said."""
    if isinstance(own.content, str):
        return after or ""
    parts = [{"type": "text", "text": after}] if isinstance(after, str) else list(after or [])
    positions = _positions(own)
    if len(parts) == len(positions):
        fresh = dict(zip(positions, parts, strict=True))
        blocks = [_block_after(block, fresh.get(position)) for position, block in enumerate(own.content)]
    else:
        ends = [block for position, block in enumerate(own.content) if position not in positions]
        thinking = [block for block in ends if isinstance(block, dict) and block.get("type") in _THINKING]
        kept = [own.content[positions[before.index(part)]] if part in before else part for part in parts]
        blocks = [*thinking, *kept, *(block for block in ends if block not in thinking)]
    if thought_left:
        blocks = [block for block in blocks if isinstance(block, str) or block.get("type") not in _THINKING]
    return blocks


def _block_after(block: Any, part: dict[str, Any] | None) -> Any:
    if part is None or part == _part_of(block):
        return block
    if isinstance(block, dict) and block.get("type") == part.get("type") == "text":
        # Citations point into the text that was.
        return {**{key: value for key, value in block.items() if key not in ("citations", "annotations")}, **part}
    return part


def _edit_calls(own: AIMessage, calls: list[dict[str, Any]], update: dict[str, Any]) -> None:
    """Puts other arguments into a message, wherever it has them."""
    broken = {call["id"] for call in _broken_calls(own)}
    arguments: dict[str, Any] = {}
    for call in calls:
        text = call["function"]["arguments"]
        arguments[call["id"]] = text if call["id"] in broken else _arguments_of(text)
    update["tool_calls"] = [
        {**call, "args": arguments[call["id"]]} for call in own.tool_calls if call["id"] in arguments
    ]
    if broken:
        update["invalid_tool_calls"] = [
            {**call, "args": arguments.get(call.get("id"), call["args"])}
            for call in own.invalid_tool_calls
            if call.get("id") is None or call["id"] in arguments
        ]
    content = update.get("content", own.content)
    if isinstance(content, list):
        update["content"] = [
            _call_after(block, arguments) if isinstance(block, dict) and block.get("type") in _CALLS else block
            for block in content
        ]
    raw = own.additional_kwargs.get("tool_calls")
    if raw:
        kwargs = update.get("additional_kwargs", own.additional_kwargs)
        update["additional_kwargs"] = {**kwargs, "tool_calls": [_raw_after(call, arguments) for call in raw]}


def _arguments_of(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = text
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}


def _text_of(arguments: Any) -> str:
    """Arguments as a request has them; those that could not be read are a text already."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)


def _call_after(block: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    id, key = _CALLS[block["type"]]
    after = arguments.get(block.get(id, ""))
    if after is None:
        return block
    return {**block, key: _text_of(after) if isinstance(block.get(key), str) else after}


def _raw_after(call: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    after = arguments.get(call.get("id", ""))
    if after is None:
        return call
    return {**call, "function": {**call["function"], "arguments": _text_of(after)}}
