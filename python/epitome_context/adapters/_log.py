"""All that came of a conversation whose host keeps what is sent in its place."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# Lists of messages that are remembered, and the characters of all that came of them: those that were used last. One that is
# forgotten begins anew with what it has. A crew has a few agents at work at a time, and a long conversation is a few megabytes.
_LISTS = 48
_CHARACTERS = 64_000_000


class Log:
    """What came of one conversation, where the host's list of messages becomes what was sent. Each decision is then made on the
    whole conversation, and not on what earlier ones left of it."""

    def __init__(self) -> None:
        self._came: list[Any] = []
        self._sent: list[Any] = []
        self.characters = 0

    def all_of(self, messages: Sequence[Any]) -> list[Any]:
        """All that came of the conversation of which these are the messages. Where they do not go on from what was sent last,
        somebody else has changed them, and they are all there is."""
        sent = self._sent
        if not sent or messages[: len(sent)] != sent:
            return list(messages)
        return [*self._came, *messages[len(sent) :]]

    def note(self, came: Sequence[Any], sent: Sequence[Any]) -> None:
        """Remembers what was sent in place of what came."""
        self._came, self._sent = list(came), list(sent)
        self.characters = characters_of(self._came)


class Logs:
    """The logs of lists of messages, each recognised by being the same list."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_list: dict[int, Log] = {}

    def of(self, messages: list[Any]) -> Log:
        """The log of a list. Another list at the same place in memory is told by what is in it."""
        with self._lock:
            log = self._by_list.pop(id(messages), None) or Log()
            self._by_list[id(messages)] = log
            characters = sum(each.characters for each in self._by_list.values())
            while len(self._by_list) > 1 and (len(self._by_list) > _LISTS or characters > _CHARACTERS):
                characters -= self._by_list.pop(next(iter(self._by_list))).characters
            return log


def characters_of(value: Any) -> int:
    """Characters of the texts in a value, keys of dictionaries left out: what it takes in memory, near enough."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, dict):
        return sum(map(characters_of, value.values()))
    return sum(map(characters_of, value)) if isinstance(value, (list, tuple)) else 0
