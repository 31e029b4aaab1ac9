"""Lists that are made smaller until they fit by the count of a host, whose framework names the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._errors import Infeasible
from .._fitter import OneFit

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._engine import Engine
    from .._fitted import Fitted
    from .._keywords import Chain

# How often a list that the host counts as too large is made smaller. Counters differ by a factor that is nearly the same for
# all texts of a conversation, so that the second try is near and the third is there.
_TRIES = 5
# How much below the mark that the last try suggests the next one aims, so that the tries do not creep up to it.
_NEARER = 0.98
# Characters that a result of the newest step is to keep at least: its head and its tail can be told from them.
_SHORT = 800


class Smaller(NamedTuple):
    """A list that was made smaller: the host's tokens of it, the host's messages, and what became of those that came."""

    tokens: int
    messages: list[Any]
    fitted: Fitted


class Tries:
    """One list, made smaller: `next` gives what is to be counted, `counted` takes the host's count of it, and `best` is the
    smallest so far. `size` is the host's count of the list as it came, `target` what to aim at, and `most` what is small
    enough. `made` gives the host's messages."""

    def __init__(
        self,
        wires: list[dict[str, Any]],
        size: int,
        target: int,
        most: int,
        made: Callable[[Fitted], list[Any]],
        engine: Engine,
        chain: Chain | None = None,
    ) -> None:
        self._wires = wires
        self._target, self._most = target, most
        self._made = made
        self._engine, self._chain = engine, chain
        self._least = self._least_of(wires)
        self._budget = max(self._least, target * self._count(wires) // size)
        self._left = _TRIES
        self._made_last: tuple[list[Any], Fitted] | None = None
        self._is_floor = False
        self.best: Smaller | None = None

    def next(self) -> list[Any] | None:
        """The next list that is to be counted; `None` where nothing smaller is to be had, or needed."""
        if self._left == 0:
            return None
        self._left -= 1
        fitted, self._is_floor = self._fit(self._budget)
        if fitted is None:
            return None
        self._made_last = (self._made(fitted), fitted)
        return self._made_last[0]

    def counted(self, tokens: int) -> None:
        """Takes the host's count of what `next` gave."""
        if self._made_last is None:
            return
        if self.best is None or tokens < self.best.tokens:
            self.best = Smaller(tokens, *self._made_last)
        if tokens <= self._most or self._is_floor or self._budget == self._least:
            self._left = 0
            return
        nearer = int(self._budget * self._target / tokens * _NEARER)
        self._budget = max(self._least, min(self._budget - 1, nearer))

    def _least_of(self, wires: list[dict[str, Any]]) -> int:
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

    def _fit(self, budget: int) -> tuple[Fitted | None, bool]:
        """What fits, and whether it is all that must stay; nothing where that is not known."""
        try:
            return (self._once(budget), False)
        except Infeasible as error:
            if error.floor is None or error.floor["tokens"] <= budget:
                return (None, True)
            floor: int = error.floor["tokens"]
        try:
            return (self._once(floor), True)
        except Infeasible:
            return (None, True)

    def _once(self, budget: int) -> Fitted:
        fitter = OneFit(engine=self._engine, chain=self._chain, format="openai-chat", budget=budget)
        return fitter.fit(self._wires)
