"""What providers report for requests, handed to the fitter with the next list of the same conversation."""

from __future__ import annotations

import threading
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from typing import Any

# Names of the input tokens that hold those of the provider's cache, too.
_WHOLE = ("prompt_tokens", "prompt_token_count")
# Names of those that may not, with the names of what then stands beside them, and of output and total, by which it shows.
_INPUT = (("input_tokens", "output_tokens", "total_tokens"), ("inputTokens", "outputTokens", "totalTokens"))
_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens", "cacheWriteInputTokens", "cacheReadInputTokens")
# Conversations of which a figure is remembered, those that were used last. A forgotten one goes on without it.
_CONVERSATIONS = 200


def field_of(value: Any, name: str) -> Any:
    """A field of a dictionary or an object; `None` where it has none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def input_tokens(usage: Any) -> int | None:
    """The input tokens of one request, cached ones included: `usage` is a dictionary or an object in the words of any provider
    or framework. `None` where it names none."""

    def read(name: str) -> int:
        tokens = field_of(usage, name)
        return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else 0

    for name in _WHOLE:
        if read(name) > 0:
            return read(name)
    for name, output, total in _INPUT:
        if read(name) > 0:
            is_whole = read(name) + read(output) == read(total)
            return read(name) + (0 if is_whole else sum(map(read, _CACHED)))
    return None


def newest_reported(messages: Sequence[Any], usage_of: Callable[[Any], Any]) -> int | None:
    """The input tokens that were reported for the request that the newest message of the model answers. `usage_of` gives the usage
    of a message: `None` of one that is not the model's, anything else of one that is."""
    usages = (usage for usage in map(usage_of, reversed(messages)) if usage is not None)
    return input_tokens(next(usages, None))


class Usages:
    """What was reported for the newest request of each conversation, until the next list of it comes. Each figure is handed on
    once: it is of that request alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_list: dict[tuple[str, int, int], int] = {}
        self._by_key: dict[Hashable, Any] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Usages:
        copy = Usages()
        copy._by_list, copy._by_key = dict(self._by_list), dict(self._by_key)
        return copy

    def note(self, key: str, messages: Sequence[Any], tokens: int | None) -> None:
        """Remembers what was reported for a list that was fitted; `messages` may be empty where the key tells conversations
        apart."""
        if tokens is not None:
            with self._lock:
                _put(self._by_list, (key, len(messages), _mark(messages, len(messages))), tokens)

    def take(self, key: str, messages: Sequence[Any]) -> int | None:
        """What was reported for a list that this one goes on from, the newest; `None` where nothing was."""
        with self._lock:
            lengths = sorted({length for its, length, _ in self._by_list if its == key}, reverse=True)
            for length in lengths:
                if length <= len(messages):
                    found = self._by_list.pop((key, length, _mark(messages, length)), None)
                    if found is not None:
                        return found
        return None

    def once(self, key: str, messages: Sequence[Any], tokens: int) -> int | None:
        """A figure that stands in the conversation; `None` where it was handed on already: a list may be fitted more than once
        before the model answers."""
        with self._lock:
            mark = (key, _mark(messages, 1))
            return None if _put(self._by_key, mark, tokens) == tokens else tokens

    def metered(self, key: Hashable, requests: int, tokens: int) -> int | None:
        """What the last request of a conversation took, by a meter of all requests of its model so far: their number and tokens.
        `None` where there was another number of requests than one since the last call."""
        with self._lock:
            before = _put(self._by_key, key, (requests, tokens))
        return tokens - before[1] if before is not None and requests == before[0] + 1 else None


def _put(figures: dict[Any, Any], mark: Hashable, figure: Any) -> Any:
    """Puts a figure in, and gives the one that was there."""
    before = figures.pop(mark, None)
    figures[mark] = figure
    if len(figures) > _CONVERSATIONS:
        del figures[next(iter(figures))]
    return before


def _mark(messages: Sequence[Any], length: int) -> int:
    """A hash of the first and the last of so many messages."""
    return hash(repr((messages[0], messages[length - 1]))) if length else 0


def usage_in(values: Iterable[Any], *names: str) -> Any:
    """The first usage that stands in one of these values under one of these names."""
    found = (field_of(value, name) for value in values for name in names)
    return next((usage for usage in found if usage is not None), None)
