"""Tools by which a model brings back what left its context."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._calls import search

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._fitted import Fitted

# Conversations of which it is remembered what left, those that were used last. A forgotten one is found again at its next call.
_CONVERSATIONS = 200
# Characters of one answer, so that it does not fill the context that was just made smaller.
_CHARACTERS = 20_000


@dataclass(frozen=True)
class _Left:
    """What left a conversation: its handles, and the fitter that has the texts. `Fitted` itself would keep the conversation."""

    handles: tuple[str, ...]
    retrieve: Callable[[str], Any]


class Recall:
    """What left the conversations of an adapter, as tools of the model. Conversations see what is their own, but handles are
    looked up in all of the fitter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: dict[str, _Left] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Recall:
        copy = Recall()
        copy._latest = dict(self._latest)
        return copy

    def note(self, key: str, fitted: Fitted) -> None:
        """Remembers what a conversation has become."""
        handles = () if fitted.unchanged else tuple(removal["handle"] for removal in fitted.removals)
        with self._lock:
            self._latest.pop(key, None)
            self._latest[key] = _Left(handles, fitted._retrieve)
            while len(self._latest) > _CONVERSATIONS:
                del self._latest[next(iter(self._latest))]

    def recall(self, handle: str, key: str = "") -> str:
        """What left under a handle, as text; what to do where there is no such handle."""
        left = self._of(key)
        found = None if left is None else left.retrieve(handle.strip().removeprefix("recall ").strip())
        if found is None:
            return f"There is nothing under the handle {handle!r}. Handles stand in the conversation behind the word `recall`."
        text = found if isinstance(found, str) else "\n\n".join(map(_text_of, found))
        if len(text) <= _CHARACTERS:
            return text
        return f"{text[:_CHARACTERS]}\n[cut: {len(text):,} characters in all; search_history finds single passages]"

    def search_history(self, words: str, key: str = "") -> str:
        """Passages of what left a conversation that match words, the best first."""
        left = self._of(key)
        messages = [] if left is None else _messages_of(left)
        passages = search(messages, words, format="openai-chat", limit=6) if messages and words.strip() else []
        if not passages:
            return "Nothing that left the conversation matches. Try other words: names, paths, numbers."
        return "\n\n".join(f"[{passage['role']}] {passage['text']}" for passage in passages)

    def forget(self) -> None:
        """Forgets all conversations."""
        with self._lock:
            self._latest.clear()

    def _of(self, key: str) -> _Left | None:
        with self._lock:
            return self._latest.get(key)


def _messages_of(left: _Left) -> list[dict[str, Any]]:
    """The messages that left, in their order; what was cut out of messages that stay is text of its own."""
    messages: list[dict[str, Any]] = []
    for handle in left.handles:
        found = left.retrieve(handle)
        if isinstance(found, str):
            messages.append({"role": "user", "content": found})
        else:
            messages += found or []
    return messages


def _text_of(message: dict[str, Any]) -> str:
    """A message that left, as a person would read it."""
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [str(part.get("text", "")) for part in content]
    for call in message.get("tool_calls") or []:
        texts.append(f"{call['function']['name']} {json.dumps(call['function']['arguments'], ensure_ascii=False)}")
    return f"[{message['role']}] " + "\n".join(text for text in texts if text)
