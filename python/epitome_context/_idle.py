"""Callables of a host that nothing asks: a word without effect is told, once an engine."""

from __future__ import annotations

import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_HELP = {
    "summarizer": "asked for a summary; name a strategy that does, such as `chain=['incremental-summary']`",
    "embedder": "asked for vectors; name a strategy that does, such as `chain=['vector-retrieval', 'sliding-window']`",
}


class Idle:
    """The callables of an engine that nothing has asked yet."""

    __slots__ = ("_words", "_has_chains")

    def __init__(self, words: set[str], has_chains: bool) -> None:
        self._words = words
        self._has_chains = has_chains

    def watch(self, word: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; it is idle no more once it is called."""

        def call(*arguments: Any) -> Any:
            self._words.discard(word)
            return function(*arguments)

        return call

    def warn(self, report: Callable[[], Mapping[str, Any] | None]) -> None:
        """Warns of those that a compaction did not ask. Where the host named the chain, in the call or in its configuration, and
        some of its strategies had no turn, the next compaction may be theirs."""
        if not self._words:
            return
        made = report()
        if made is None or made["status"] not in ("compacted", "near-empty"):
            return
        had_turn = dict.fromkeys(step["strategy"] for step in made["steps"])
        if (self._has_chains or made["mode"] == "fixed") and set(made["chain"]) - set(had_turn):
            return
        for word in sorted(self._words):
            # The first compaction tells; a loop is not told again.
            self._words.discard(word)
            warnings.warn(
                f"`{word}` had no effect: of the chain {' → '.join(made['chain'])} no strategy that had its turn "
                f"({', '.join(had_turn)}) {_HELP[word]}, in the call or in [chains] of `config`, or leave `{word}` out",
                stacklevel=_stack_level(),
            )


def _stack_level() -> int:
    """How far up the caller of the package is, counted from the caller of this function."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
