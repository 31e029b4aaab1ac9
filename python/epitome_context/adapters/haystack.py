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
from .._errors import Infeasible
from .._fitter import OneFit
from ._haystack_messages import edited, inserted, single, wires_of
from ._host import own_messages
from ._media import with_places

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack.token_counters import TokenCounter

    from .._fitted import Fitted

# How often a result that the host counts as too large is made smaller. Counters differ by a factor that is nearly the same
# for all texts of a conversation, so that the second try is near and the third is there.
_TRIES = 5
# How much below the mark that the last try suggests the next one aims, so that the tries do not creep up to it.
_NEARER = 0.98
# Characters that a result of the newest step is to keep at least: its head and its tail can be told from them.
_SHORT = 800


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
        least = self._least(wires)
        budget = max(least, target_tokens * self._count(wires) // size)
        best: tuple[int, list[ChatMessage], Fitted] | None = None
        for _ in range(_TRIES):
            fitted, is_floor = self._fit(wires, budget)
            if fitted is None:
                break
            compacted = own_messages(fitted, wires, own, edited, inserted)
            after = token_counter.count(messages=compacted)
            if best is None or after < best[0]:
                best = (after, compacted, fitted)
            if after <= target_tokens or is_floor or budget == least:
                break
            budget = max(least, min(budget - 1, int(budget * target_tokens / after * _NEARER)))
        if best is None or best[0] >= size:
            return None
        if self._on_fit is not None:
            self._on_fit(best[2])
        return best[1]

    async def compact_async(
        self, messages: list[ChatMessage], target_tokens: int, token_counter: TokenCounter
    ) -> list[ChatMessage] | None:
        """The same, awaited: the core works in a thread."""
        from .._async import in_thread

        return await in_thread(self.compact, messages, target_tokens, token_counter)

    def _least(self, wires: list[dict[str, Any]]) -> int:
        """Tokens below which the engine would cut the task: those of system prompts, of the first and the last message of the
        user, and of the newest step with results that are cut short."""
        users = [index for index, wire in enumerate(wires) if wire["role"] == "user"]
        models = [index for index, wire in enumerate(wires) if wire["role"] == "assistant"]
        newest = models[-1] if models else len(wires)
        whole = {index for index, wire in enumerate(wires) if wire["role"] == "system"} | set(users[:1] + users[-1:])
        stay = []
        for index, wire in enumerate(wires):
            if index in whole:
                stay.append(wire)
            elif index >= newest:
                content = wire["content"]
                stay.append({**wire, "content": content[:_SHORT] if isinstance(content, str) else content})
        return max(1, self._count(stay))

    def _count(self, wires: list[dict[str, Any]]) -> int:
        return self._engine.count_tokens(wires, format="openai-chat")

    def _fit(self, wires: list[dict[str, Any]], budget: int) -> tuple[Fitted | None, bool]:
        """What fits, and whether it is all that must stay; nothing where that is not known."""
        try:
            return (OneFit(engine=self._engine, format="openai-chat", budget=budget).fit(wires), False)
        except Infeasible as error:
            if error.floor is None or error.floor["tokens"] <= budget:
                return (None, True)
            floor: int = error.floor["tokens"]
        try:
            return (OneFit(engine=self._engine, format="openai-chat", budget=floor).fit(wires), True)
        except Infeasible:
            return (None, True)

    def to_dict(self) -> dict[str, Any]:
        """The compactor as Haystack serializes it."""
        return default_to_dict(self, config=self.config)
