"""The keyword arguments of calls, for type checkers; nothing imports this at run time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol

from typing_extensions import TypedDict

from ._options import CompactOptions, EngineOptions, HostChanges, Provider, ReadOptions, SearchOptions, TaskKind


class Planner(Protocol):
    """A strategy of a host: a class with `id` and `plan`."""

    id: str

    def plan(self, view: Any, goal: Any) -> Any:
        """The edits, or why there is nothing to do."""


# A planner, or a function of messages and goal that gives messages.
Strategy = Planner | Callable[[list[dict[str, Any]], dict[str, Any]], list[dict[str, Any]]]
Summarizer = Callable[[dict[str, Any]], str | dict[str, Any] | Awaitable[str | dict[str, Any]]]
Embedder = Callable[[list[str]], Any]
Chain = str | Strategy | Sequence[str | Strategy]
# A dictionary with the sections and keys of a configuration file, the path of one, or its text.
Configuration = Any


class Callables(TypedDict, total=False):
    """What of an engine is written in Python."""

    strategies: Iterable[Strategy]
    summarizer: Summarizer | None
    embedder: Embedder | None


class HostKeywords(Callables, total=False):
    """What an engine is made of, beside its configuration."""

    reserve_output: int | None


class EngineKeywords(EngineOptions, Callables, total=False):
    """What an engine is made of."""


class FitKeywords(EngineKeywords, total=False):
    """How a list is fitted once, and by which engine."""

    budget: int | None
    system: Any
    tools: Any
    format: Provider | None
    host: HostChanges
    chain: Chain | None


class LiveKeywords(TypedDict, total=False):
    """How a session that is going on is compacted."""

    target: int | float | None
    chain: Chain | None
    task: TaskKind | None
    focus: str | None
    keep: str | Sequence[str]
    drop: str | Sequence[str]


class CompactKeywords(EngineKeywords, CompactOptions, total=False):
    """How a session is compacted, and by which engine."""


class ReadKeywords(EngineKeywords, ReadOptions, total=False):
    """How a session is read, and by which engine."""


class SearchKeywords(EngineKeywords, SearchOptions, total=False):
    """What is searched, and how much comes back, and by which engine."""
