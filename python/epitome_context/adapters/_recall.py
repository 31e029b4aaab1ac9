"""Tools by which a model brings back what left its context, and asks for a compaction."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._calls import search

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._fitted import Fitted
    from .._options import Asked

# Conversations of which it is remembered what left, those that were used last. A forgotten one is found again at its next call.
_CONVERSATIONS = 200
# Characters of one answer, so that it does not fill the context that was just made smaller.
_CHARACTERS = 20_000

# The names of the tools.
TOOLS = ("recall", "search_history", "compact_context")
# The most texts that one call keeps.
_MOST_KEPT = 8
ABOUT_COMPACT = (
    "Asks for this conversation's context to be compacted before your next step. Call it when a task of your list is done, or "
    "before you begin with another subject. Do not call it in the middle of a derivation, of an edit or of a search for a fault. "
    "It is passed over while the context is not full enough, and soon after the last time."
)
# What a model gives with it.
REASON = "What is done, so that this is a good moment."
NEXT_STEP = "What you do next: what is relevant to it stays first."
KEEP = "What the next context has to hold: exact texts of this conversation."
_NOTED = (
    "Noted. Before your next step the context is compacted where it is full enough and the last time is long enough ago; "
    "what leaves is found with search_history. Go on."
)


@dataclass(frozen=True)
class _Left:
    """What left a conversation: its handles, and the fitter that has the texts. `Fitted` itself would keep the conversation."""

    handles: tuple[str, ...]
    format: Any
    retrieve: Callable[[str], Any]


class Recall:
    """What left the conversations of an adapter, as tools of the model. Conversations see what is their own, but handles are
    looked up in all of the fitter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: dict[str, _Left] = {}
        self._asked: dict[str, Asked] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Recall:
        copy = Recall()
        copy._latest = dict(self._latest)
        return copy

    def note(self, key: str, fitted: Fitted) -> None:
        """Remembers what a conversation has become."""
        handles = () if fitted.unchanged else tuple(removal["handle"] for removal in fitted.removals)
        with self._lock:
            self._latest.pop(key, None)
            self._latest[key] = _Left(handles, fitted._told["format"], fitted._retrieve)
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
        passages = search(messages, words, format=left.format, limit=6) if left and messages and words.strip() else []
        if not passages:
            return "Nothing that left the conversation matches. Try other words: names, paths, numbers."
        return "\n\n".join(f"[{passage['role']}] {passage['text']}" for passage in passages)

    def compact_context(self, reason: str, next_step: str, keep: list[str] | None = None, key: str = "") -> str:
        """Remembers that a model asks for a compaction, for the next call of its conversation (`take_asked`)."""
        texts = [text for text in keep or () if text.strip()]
        if len(texts) > _MOST_KEPT:
            return f"`keep` takes {_MOST_KEPT} at most: name what you need next."
        with self._lock:
            self._asked.pop(key, None)
            self._asked[key] = {"reason": reason, "next_step": next_step, "keep": texts}
            while len(self._asked) > _CONVERSATIONS:
                del self._asked[next(iter(self._asked))]
        return _NOTED

    def take_asked(self, key: str) -> Asked | None:
        """What the model of a conversation asked for since the last call; once."""
        with self._lock:
            return self._asked.pop(key, None)

    def has_left(self, key: str = "") -> bool:
        """Whether something has left a conversation, so that its model has a use for the tools."""
        left = self._of(key)
        return left is not None and left.handles != ()

    def forget(self) -> None:
        """Forgets all conversations."""
        with self._lock:
            self._latest.clear()
            self._asked.clear()

    def _of(self, key: str) -> _Left | None:
        with self._lock:
            return self._latest.get(key)


def functions(left: Recall, key: Callable[[], str] = str) -> list[Callable[..., str]]:
    """The tools as functions, for frameworks that read a tool from one; `key` gives the name of the conversation in which they are
    called."""

    def recall(handle: str) -> str:
        """Brings back text that left the conversation: `handle` is behind the word `recall` in one of its headings."""
        return left.recall(handle, key())

    def search_history(words: str) -> str:
        """Finds passages of the conversation that have left it, by words such as names, paths and numbers."""
        return left.search_history(words, key())

    def compact_context(reason: str, next_step: str, keep: list[str] | None = None) -> str:
        return left.compact_context(reason, next_step, keep, key())

    compact_context.__doc__ = (
        f"{ABOUT_COMPACT}\n\nArgs:\n    reason: {REASON}\n    next_step: {NEXT_STEP}\n    keep: {KEEP}\n"
    )
    return [recall, search_history, compact_context]


def _messages_of(left: _Left) -> list[dict[str, Any]]:
    """The messages that left, in their order; what was cut out of messages that stay is text of its own."""
    messages: list[dict[str, Any]] = []
    for handle in left.handles:
        found = left.retrieve(handle)
        if isinstance(found, str):
            kind = {"type": "message"} if left.format == "openai-responses" else {}
            messages.append({**kind, "role": "user", "content": found})
        else:
            messages += found or []
    return messages


def _text_of(message: dict[str, Any]) -> str:
    """A message that left, as a person would read it."""
    content = message.get("content") or message.get("output") or ""
    texts = [content] if isinstance(content, str) else [str(part.get("text", "")) for part in content]
    if "arguments" in message:
        texts.append(f"{message.get('name', '')} {message['arguments']}")
    for call in message.get("tool_calls") or []:
        texts.append(f"{call['function']['name']} {json.dumps(call['function']['arguments'], ensure_ascii=False)}")
    return f"[{message.get('role') or message.get('type')}] " + "\n".join(text for text in texts if text)
