"""Inspect AI: a compaction strategy for its agents.

from epitome_context.adapters.inspect_ai import EpitomeCompaction

react(tools=tools, compaction=EpitomeCompaction(threshold=0.9))
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from inspect_ai.model import CompactionStrategy
from inspect_ai.model._compaction.memory import clear_memory_content
from inspect_ai.model._model_info import get_model_input_tokens
from inspect_ai.model._trim import strip_citations

from .._async import in_thread
from .._engines import engine_and_chain
from .._errors import ConfigError
from ._host_count import Tries
from ._inspect_ai_messages import InspectShape
from ._media import with_places
from ._parts import messages_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspect_ai.model import ChatMessage, ChatMessageUser, Model
    from inspect_ai.tool import ToolInfo

    from .._fitted import Fitted
    from .._keywords import Chain, Embedder, Strategy, Summarizer

# The window of a model that Inspect does not know: as its own handler takes it.
_WINDOW = 128_000
# Conversations that are remembered, those that were compacted last. One that is forgotten begins anew with what it has.
_CONVERSATIONS = 48


class EpitomeCompaction(CompactionStrategy):
    """A `CompactionStrategy`: what an agent's model is sent is made smaller where it reaches the threshold. The history of the
    sample keeps every message.

    `threshold` and `memory` are those of Inspect's own strategies. A compaction aims at `target` (a share of the threshold), by the
    model's own count. `config`, `chain`, `strategies`, `summarizer` and `embedder` are those of `Fitter`; without a chain that asks
    one, no model is called. `on_fit` is called with what became of the messages (`Fitted`).

    One strategy may serve many agents and samples. The strategy keeps what came, so that each decision is made on the whole
    conversation. Where what must stay is larger than the threshold, Inspect raises `RuntimeError`.
    """

    def __init__(
        self,
        *,
        threshold: int | float = 0.9,
        memory: bool = True,
        target: float = 0.5,
        config: dict[str, Any] | str | None = None,
        chain: Chain | None = None,
        strategies: list[Strategy] | None = None,
        summarizer: Summarizer | None = None,
        embedder: Embedder | None = None,
        on_fit: Callable[[Fitted], object] | None = None,
    ) -> None:
        super().__init__(type="edit", threshold=threshold, memory=memory)
        if isinstance(target, bool) or not isinstance(target, (int, float)) or not 0 < target < 1:
            raise ConfigError(f"`target` takes a share of the threshold, above 0 and below 1, not {target!r}")
        words = {"config": config, "strategies": strategies, "summarizer": summarizer, "embedder": embedder}
        given = {word: value for word, value in words.items() if value is not None}
        self._engine, self._chain = engine_and_chain(chain, given)
        self._target = target
        self._on_fit = on_fit
        self._lock = threading.Lock()
        self._came: dict[str, list[ChatMessage]] = {}

    def _repr_params_(self) -> dict[str, Any]:
        """What Inspect's logs say of it."""
        return {**super()._repr_params_(), "target": self._target, "chain": self._chain}

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """What fits in place of the messages, which stay as they are; nothing is appended to the history."""
        messages = list(messages)
        while messages and messages[-1].role == "assistant":  # as Inspect has it: some providers take none that ends so
            messages.pop()
        came, mark = self._all_of(messages)
        prefix = _prefix_of(came)
        shape = InspectShape({message.id for message in prefix})
        rows = rows_of(came, shape)

        def made(fitted: Fitted) -> list[ChatMessage]:
            sent = messages_of(fitted, rows, came, shape)
            rest = [message for message in sent if all(message is not its for its in prefix)]
            return self._cleared([*prefix, *rest])

        size = await model.count_tokens(came) if came else 0
        threshold = self._tokens_of_threshold(model) - await model.count_tool_tokens(tools)
        now = await model.count_tokens(messages) if messages else 0
        # After a refusal as too long the messages may be below the threshold: then less than they are is small enough.
        target, most = (int(min(threshold, now) * share) for share in (self._target, 1 if now > threshold else 0.75))
        if size == 0 or target < 1:
            return (self._cleared(messages), None)
        wires = with_places([row.wire for row in rows])
        tries = await in_thread(Tries, wires, size, target, most, made, self._engine, self._chain)
        while (compacted := await in_thread(tries.next)) is not None:
            tries.counted(await model.count_tokens(compacted))
        best = tries.best
        if best is None or best.tokens >= now:
            return (self._cleared(messages), None)
        self._note(mark, came, best.messages)
        if self._on_fit is not None:
            self._on_fit(best.fitted)
        return (best.messages, None)

    def _tokens_of_threshold(self, model: Model) -> int:
        """The tokens at which Inspect compacts."""
        if isinstance(self.threshold, int) or self.threshold > 1:
            return int(self.threshold)
        return int(self.threshold * (get_model_input_tokens(model) or _WINDOW))

    def _cleared(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """The messages as Inspect's own strategies leave them: without what was saved to memory, and without citations of what
        left."""
        return strip_citations(clear_memory_content(messages) if self.memory else messages)

    def _all_of(self, messages: list[ChatMessage]) -> tuple[list[ChatMessage], str]:
        """All that came of the conversation of which these are the messages, and the id by which it was recognised: that of the
        last message that was sent, for Inspect may have joined others."""
        with self._lock:
            for place in range(len(messages) - 1, -1, -1):
                mark = messages[place].id or ""
                if mark in self._came:
                    return ([*self._came[mark], *messages[place + 1 :]], mark)
        return (list(messages), "")

    def _note(self, mark: str, came: list[ChatMessage], sent: list[ChatMessage]) -> None:
        """Remembers what was sent in place of what came, and forgets what was remembered under a mark."""
        with self._lock:
            self._came.pop(mark, None)
            self._came[sent[-1].id or ""] = came
            if len(self._came) > _CONVERSATIONS:
                del self._came[next(iter(self._came))]


def _prefix_of(messages: list[ChatMessage]) -> list[ChatMessage]:
    """What Inspect keeps whole: system prompts and the sample's input; where no message says that it is, up to the first of the
    user."""
    system = [message for message in messages if message.role == "system"]
    given = [message for message in messages if message.role != "system" and message.source == "input"]
    if not given:
        others = [message for message in messages if message.role != "system"]
        end = next((place for place, message in enumerate(others) if message.role == "user"), None)
        given = [] if end is None else others[: end + 1]
    return [message for message in messages if any(message is its for its in (*system, *given))]
