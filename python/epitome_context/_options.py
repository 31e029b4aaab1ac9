"""What calls take, for type checkers; nothing imports this at run time.

Written from the types of Rust by `UPDATE_DOCS=1 cargo test -p epitome-binding declarations`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from ._keywords import Chain, Configuration


class EngineOptions(TypedDict, total=False):
    """What an engine is made of."""

    config: Configuration | None
    """The text of a TOML file, or its sections and keys as an object."""
    model: str | None
    """The model whose window is the budget."""
    window: int | None
    """The tokens that the model takes, over `model` and `config`."""
    reserve_output: int | None
    """The tokens that are kept free for the answer."""


class FitterBaseOptions(TypedDict, total=False):
    """How a fitter is made."""

    format: Provider | None
    """The form of the messages, where they do not tell."""
    budget: int | None
    """Tokens for messages, system prompt and tools; the window of `model`, `window` or `config` without."""
    conversations: int | None
    """How many conversations are remembered."""
    memory_bytes: int | None
    """How much of conversations is remembered, in bytes, near enough."""
    archive_bytes: int | None
    """How much is kept of what left, in bytes."""
    secret: bytes | None
    """32 bytes: the key of the hashes by which conversations are recognised."""
    host: HostChanges | None
    """What the host can change in its list: everything (`any`, and without); texts, in the same messages and the same
    order (`texts`); one run at the front, that becomes one text (`cut`); messages leave, and one text at most comes
    in (`removals`). The engine plans for it, and decisions count for it."""
    chain: Chain | None
    """Strategies in their order, or the name of a chain, for every kind of task; those of the configuration without."""


# The form of a provider's messages.
Provider = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]


# The changes that a host can make to its list of messages. Hosts differ: some take any list, some can only write other
# texts into the messages that they have, some can only cut.
HostChanges = Literal["any", "texts", "cut", "removals"]


class FitOptions(TypedDict, total=False):
    """How one list of a loop is fitted."""

    system: Any
    """The system prompt that is not in the list, as the request has it, or its tokens."""
    tools: Sequence[Any] | int | None
    """The definitions of the tools, as the request has them, or their tokens."""
    key: str | None
    """Distinguishes conversations that begin alike."""
    format: Provider | None
    """The form of this list, which is recognised otherwise."""
    reported_tokens: int | None
    """The input tokens, cached ones included, that the provider reported for what the call before this one gave:
    counts are corrected by them."""
    asked: Asked | None
    """A compaction that the conversation's model asks for: it is made where it is wise, whether one is due or not."""


class Asked(TypedDict, total=False):
    """What a model asks for with a compaction."""

    reason: str | None
    """Why now."""
    next_step: str | None
    """What the model does next: what bears on it stays first."""
    keep: Sequence[str] | None
    """What the next context has to hold: messages by their numbers (`#37`, `#40-#52`), or exact texts, up to eight."""


class Overflow(TypedDict, total=False):
    """The tokens that a provider's refusal names."""

    limit: int | None
    """The most that the model takes."""
    actual: int | None
    """What the request had."""


class ReadOptions(TypedDict, total=False):
    """How a session is read."""

    format: str | None
    """The format, where it is not recognised."""
    name: str | None
    """The name or number of one of several sessions."""


class CompactOptions(TypedDict, total=False):
    """How a session is compacted."""

    format: str | None
    """The format, where it is not recognised."""
    name: str | None
    """The name or number of one of several sessions."""
    budget: float | None
    """Tokens (1 or more), or a part of what the messages take now (below 1)."""
    to: str | None
    """The format to write."""
    chain: Chain | None
    """Strategies in their order, or the name of a chain."""
    mode: Mode | None
    """How the chain is chosen."""
    task: TaskKind | None
    """The kind of task, where you know it."""
    focus: str | None
    """What to keep in focus."""
    keep: str | Sequence[str] | None
    """Messages that stay whole, each call with its results, by their numbers from 0: `#37`, `#40-#52`, `..#36`,
    `#53..`."""
    drop: str | Sequence[str] | None
    """Messages that leave before anything else does, each call with its results."""
    settings: dict[str, Any] | None
    """Settings for this call alone, by their keys, such as `keep_recent_messages` or `budget.target`."""


# How the chain is chosen.
Mode = Literal["fixed", "adaptive", "tournament"]


# The kinds of task that decide the chain.
TaskKind = Literal["code", "analysis", "conversation", "mixed", "unknown"]


class SearchOptions(TypedDict, total=False):
    """What is searched, and how much comes back."""

    format: str | None
    """The format, where it is not recognised."""
    name: str | None
    """The name or number of one of several sessions."""
    sources: Source | Sequence[Source] | None
    """Whose text is searched; everybody's without."""
    newest: bool | None
    """Puts what is newest first."""
    limit: int | None
    """Passages of a page; 6 without."""
    characters: int | None
    """Characters of a page; 9,000 without."""
    page: int | None
    """Which page, from 1."""


# The speakers whose text is searched.
Source = Literal["user", "assistant", "tool", "file"]
