"""Messages that are dictionaries in the form of OpenAI's chat completions, with keys of their host beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._host import own_messages
from ._media import part_of
from ._parts import items_after, parts_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._fitted import Fitted
    from ._host import Texts

# What of a message is sent, and so fitted.
_SENT = ("role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content")


def wires_of(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without what their host keeps beside them."""
    return [
        {key: _wire_of(message[key]) if key == "content" else message[key] for key in _SENT if key in message}
        for message in messages
    ]


def _wire_of(content: Any) -> Any:
    return [_part_of(part) for part in content] if isinstance(content, list) else content


def _part_of(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return _text_part(part)
    if not isinstance(part, dict):
        return part_of("other", part)
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return _text_part(part["text"])
    return part_of(str(part.get("type") or next(iter(part), "other")), part)


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def content_after(own: Any, after: Any) -> Any:
    """The content of a message after an edit: its own parts where they say what they said."""
    return items_after(own, _wire_of(own), parts_in(after), _text_part) if isinstance(own, list) else after


def messages_of(
    fitted: Fitted, messages: Sequence[dict[str, Any]], *, copies_of_calls: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """What is to be sent: the host's own dictionaries for what stays, and copies with the same keys for what was cut. Keys of
    `copies_of_calls` say again what is in `tool_calls`; they are not in a copy in which that is another."""

    def edited(own: dict[str, Any], message: dict[str, Any], _texts: Texts) -> dict[str, Any]:
        same_calls = own.get("tool_calls") == message.get("tool_calls")
        beside = {
            key: value for key, value in own.items() if key not in _SENT and (same_calls or key not in copies_of_calls)
        }
        return {**message, "content": content_after(own.get("content"), message.get("content")), **beside}

    return own_messages(fitted, wires_of(messages), messages, edited, dict)
