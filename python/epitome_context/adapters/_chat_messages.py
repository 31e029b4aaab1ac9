"""Messages that are dictionaries in the form of OpenAI's chat completions, with keys of their host beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._host import own_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._fitted import Fitted
    from ._host import Texts

# What of a message is sent, and so fitted.
_SENT = ("role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content")


def wires_of(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without what their host keeps beside them."""
    return [{key: message[key] for key in _SENT if key in message} for message in messages]


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
        return {**message, **beside}

    return own_messages(fitted, wires_of(messages), messages, edited, dict)
