"""The words that calls take, for type checkers; nothing imports this at run time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from typing_extensions import TypedDict


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


HostChanges = Literal["any", "texts", "cut", "removals"]
ListFormat = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]


class Asked(TypedDict, total=False):
    """A compaction that a model asks for: why now, what it does next, and what the next context has to hold (up to eight
    numbers of messages, `#37` or `#40-#52`, or exact texts)."""

    reason: str
    next_step: str
    keep: Sequence[str]


class HostWords(TypedDict, total=False):
    """What an engine is made of, beside its configuration."""

    reserve_output: int | None
    strategies: Iterable[Strategy]
    summarizer: Summarizer | None
    embedder: Embedder | None


class EngineWords(HostWords, total=False):
    """What an engine is made of."""

    config: Any
    model: str | None
    window: int | None


class FitWords(EngineWords, total=False):
    """How a list is fitted once, and by which engine."""

    budget: int | None
    system: Any
    tools: Any
    format: ListFormat | None
    host: HostChanges
    chain: Chain | None


class PlaceWords(TypedDict, total=False):
    """How a session is read."""

    format: str | None
    name: str | None


class ShapeWords(PlaceWords, total=False):
    """How a session is compacted."""

    budget: int | float | None
    to: str | None
    chain: Chain | None
    mode: Literal["adaptive", "fixed", "tournament"] | None
    task: Literal["code", "analysis", "conversation", "mixed", "unknown"] | None
    focus: str | None
    keep: str | Sequence[str]
    drop: str | Sequence[str]
    settings: Mapping[str, Any] | None


class LiveWords(TypedDict, total=False):
    """How a session that is going on is compacted."""

    target: int | float | None
    chain: Chain | None
    task: Literal["code", "analysis", "conversation", "mixed", "unknown"] | None
    focus: str | None
    keep: str | Sequence[str]
    drop: str | Sequence[str]


class CompactWords(EngineWords, ShapeWords, total=False):
    """How a session is compacted, and by which engine."""


class ReadWords(EngineWords, PlaceWords, total=False):
    """How a session is read, and by which engine."""


class SearchWords(EngineWords, PlaceWords, total=False):
    """What is searched, and how much comes back."""

    sources: str | Sequence[str]
    newest: bool
    limit: int
    characters: int
    page: int
