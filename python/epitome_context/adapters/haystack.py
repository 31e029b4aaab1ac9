"""Haystack: a compactor for `CompactionHook`.

from epitome_context.adapters.haystack import EpitomeCompactor

hook = CompactionHook(compactor=EpitomeCompactor(), context_window=128_000)
agent = Agent(chat_generator=generator, tools=tools, hooks={"before_llm": [hook]})
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack.core.serialization import default_to_dict
from haystack.dataclasses import ChatMessage
from haystack.hooks.compaction.types import Compactor

from .._engine import Engine
from ._haystack_messages import edited, inserted, single, wires_of
from ._host_count import Tries
from ._media import with_places
from ._own import own_messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack.token_counters import TokenCounter

    from .._fitted import Fitted


class EpitomeCompactor(Compactor):
    """Fits an agent's messages into the target that its hook names, by the counter of the hook.

    `config` is a dictionary with the sections and keys of epitome's configuration, the path of such a file (a text that ends
    in `.toml`) or its text. `on_fit` is called with what became of the messages (`Fitted`), where they were compacted; it
    is not kept when the compactor is serialized.

    Where what must stay is larger than the target, it comes as near as it can, as Haystack asks of a compactor.
    """

    def __init__(
        self, *, config: dict[str, Any] | str | None = None, on_fit: Callable[[Fitted], object] | None = None
    ) -> None:
        self.config = config
        self._on_fit = on_fit
        self._engine = Engine(config)

    def compact(
        self, messages: list[ChatMessage], target_tokens: int, token_counter: TokenCounter
    ) -> list[ChatMessage] | None:
        """A shorter list in place of `messages`, which stays as it is; or `None` where it is small enough already, or cannot
        be made smaller."""
        size = token_counter.count(messages=messages)
        if size <= target_tokens:
            return None
        own = single(messages)
        wires = with_places(wires_of(own))
        tries = Tries(
            wires,
            size,
            target_tokens,
            target_tokens,
            lambda fitted: own_messages(fitted, wires, own, edited, inserted),
            self._engine,
        )
        while (compacted := tries.next()) is not None:
            tries.counted(token_counter.count(messages=compacted))
        best = tries.best
        if best is None or best.tokens >= size:
            return None
        if self._on_fit is not None:
            self._on_fit(best.fitted)
        return best.messages

    async def compact_async(
        self, messages: list[ChatMessage], target_tokens: int, token_counter: TokenCounter
    ) -> list[ChatMessage] | None:
        """The same, awaited: the core works in a thread."""
        from .._async import in_thread

        return await in_thread(self.compact, messages, target_tokens, token_counter)

    def to_dict(self) -> dict[str, Any]:
        """The compactor as Haystack serializes it."""
        return default_to_dict(self, config=self.config)
