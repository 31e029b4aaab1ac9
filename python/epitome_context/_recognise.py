"""Which provider's messages a list holds, told by what only one of them has."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The field of a request that holds the list, for each provider's format.
LIST_FIELDS = {
    "openai-chat": "messages",
    "openai-responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
}

_RESPONSES_PARTS = frozenset(("input_text", "output_text", "input_image", "input_file"))
_ANTHROPIC_PARTS = frozenset(("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "image"))
_CHAT_PARTS = frozenset(("image_url", "input_audio", "file", "refusal"))


def format_of(messages: Any) -> str | None:
    """The format of a list, or `None` where nothing in it tells: plain texts look the same in all of them."""
    for message in messages:
        format = _format_of(message)
        if format is not None:
            return format
    return None


def _format_of(message: Any) -> str | None:
    get = _getter(message)
    role = get("role")
    if get("parts") is not None and get("type") is None:
        return "gemini"
    if role is None:
        # Items that are not messages: calls, their outputs, reasoning.
        return "openai-responses" if isinstance(get("type"), str) else None
    if role in ("tool", "function") or get("tool_calls"):
        return "openai-chat"
    content = get("content")
    if not isinstance(content, (list, tuple)):
        return None
    for part in content:
        kind = _getter(part)("type")
        if kind in _RESPONSES_PARTS:
            return "openai-responses"
        if kind in _ANTHROPIC_PARTS:
            return "anthropic"
        if kind in _CHAT_PARTS:
            return "openai-chat"
    return None


def _getter(thing: Any) -> Any:
    """How a field of a dictionary, or of an object of a provider's client, is read."""
    if isinstance(thing, dict):
        return thing.get
    return lambda name: getattr(thing, name, None)
