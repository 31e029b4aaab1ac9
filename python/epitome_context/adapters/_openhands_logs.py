"""All that came of conversations of OpenHands, whose views hold what fits in its place."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._log import characters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openhands.sdk.context.view import View

    from ._openhands_events import Row

# Views that are remembered, and the characters of all that came before them: those that were made last. One that is forgotten
# begins anew with what it has.
_VIEWS = 48
_CHARACTERS = 64_000_000


@dataclass(frozen=True)
class _Log:
    """What came up to a condensation, and the ids of the events of the view after it."""

    came: list[Any]
    view: list[str]
    characters: int


class Logs:
    """What came of each conversation, so that a decision is made on all of it, and not on what earlier ones left. A conversation
    is recognised by the events that its view begins with."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logs: list[_Log] = []

    def all_of(self, view: View) -> list[Any]:
        """All that came of the conversation of a view. Where it does not go on from a view that was remembered, what it has is
        all there is."""
        ids = [event.id for event in view.events]
        with self._lock:
            log = next((log for log in reversed(self._logs) if ids[: len(log.view)] == log.view), None)
            if log is None:
                return list(view.events)
            self._logs.remove(log)
            self._logs.append(log)
        return [*log.came, *view.events[len(log.view) :]]

    def note(self, came: Sequence[Any], rows: Sequence[Row], after: Sequence[Any]) -> None:
        """Remembers what came of the conversation that has these events in its view after a condensation."""
        log = _Log(list(came), [event.id for event in after], characters_of([row.wire for row in rows]))
        with self._lock:
            # The view before it is remembered too, for OpenHands may go on from there; views before that are not.
            others = [other for other in self._logs if other.came[0].id == log.came[0].id]
            for other in others[:-1]:
                self._logs.remove(other)
            self._logs.append(log)
            characters = sum(each.characters for each in self._logs)
            while len(self._logs) > 1 and (len(self._logs) > _VIEWS or characters > _CHARACTERS):
                characters -= self._logs.pop(0).characters

    def __deepcopy__(self, memo: dict[int, Any]) -> Logs:
        copy = Logs()
        copy._logs = list(self._logs)
        return copy
