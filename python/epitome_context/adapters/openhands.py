"""OpenHands: a condenser that fits the conversation.

from epitome_context.adapters.openhands import EpitomeCondenser

agent = Agent(llm=llm, tools=tools, condenser=EpitomeCondenser(budget=60_000))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openhands.sdk.context.condenser.base import CondenserBase, NoCondensationAvailableException
from openhands.sdk.context.view import View
from openhands.sdk.event import Condensation
from openhands.sdk.llm import LLM
from pydantic import ConfigDict, PrivateAttr

from .._errors import Infeasible
from ._host import Fitters
from ._openhands_events import Unreachable, condensation, condensation_of, definitions_of, rows_of
from ._openhands_logs import Logs

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import BesideKeywords, FitterKeywords

# Words that are objects of this process: they are not kept when a condenser is serialized.
_OBJECTS = ("fitter", "engine", "summarizer", "strategies", "embedder")
# Requests that were answered without anything that left, the newest.
_ANSWERED = 200


class EpitomeCondenser(CondenserBase):
    """A condenser: where the conversation reaches the budget, events leave the view, and one summary stands in place of those
    that left so far. OpenHands keeps all events. The condenser keeps what came, so that each decision is made on the whole
    conversation of this process.

    `budget` is for messages, system prompt and tools together; it and the other words are those of `Fitter`, or `fitter` is
    one with `host="removals"`. Without any of them, the model tells its window. `on_fit` is called with what became of the
    messages (`Fitted`), before each call of the model.

    One condenser may serve many conversations. A request for a condensation, such as `Conversation.condense()`, makes a
    conversation smaller that is not too large yet. `NoCondensationAvailableException` is raised where what must stay is larger
    than the budget, or where the model refuses what cannot get smaller.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    budget: int | None = None
    window: int | None = None
    model: str | None = None
    reserve_output: int | None = None
    config: dict[str, Any] | str | None = None
    conversations: int | None = None
    memory_bytes: int | None = None
    archive_bytes: int | None = None

    _fitters: Fitters = PrivateAttr()
    _logs: Logs = PrivateAttr(default_factory=Logs)
    _answered: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, *, on_fit: Callable[[Fitted], object] | None = None, **words: Unpack[FitterKeywords]) -> None:
        given: dict[str, Any] = {**words}
        objects = {name: given.pop(name) for name in _OBJECTS if name in given}
        super().__init__(**given)
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        fields = {name: value for name, value in fields.items() if value is not None}
        self._fitters = Fitters("openai-chat", on_fit, host="removals", **fields, **objects)

    def handles_condensation_requests(self) -> bool:
        """It does."""
        return True

    def condense(self, view: View, agent_llm: LLM | None = None) -> View | Condensation:
        """The view where it fits, or the event by which it does. The view itself stays as it is."""
        if not view.events:
            return view
        try:
            found = self._condensation(self._logs.all_of(view), view, agent_llm)
        except Unreachable:  # the fitter has forgotten what it decided
            found = self._condensation(view.events, view, agent_llm)
        if found is None and view.unhandled_condensation_request:
            return self._answer(view)
        return view if found is None else found

    async def acondense(self, view: View, agent_llm: LLM | None = None) -> View | Condensation:
        """The same, awaited: the core works in a thread."""
        from .._async import in_thread

        return await in_thread(self.condense, view, agent_llm)

    def _condensation(self, came: list[Any], view: View, llm: LLM | None) -> Condensation | None:
        rows = rows_of(came)
        wires = [row.wire for row in rows]
        beside: BesideKeywords = {"window": lambda: _window_of(llm), "tools": definitions_of(came), "key": came[0].id}
        usage = None if llm is None else llm.metrics.accumulated_token_usage
        if llm is not None and usage is not None:
            requests = len(llm.metrics.token_usages)
            beside["reported_tokens"] = self._fitters.usages.metered(came[0].id, requests, usage.prompt_tokens)
        try:
            fitted = self._fit(wires, beside, is_asked=view.unhandled_condensation_request)
        except Infeasible as error:
            raise NoCondensationAvailableException(str(error)) from error
        found = condensation_of(fitted, rows, view)
        if found is not None:
            self._logs.note(came, rows, found.apply(view.events))
        return found

    def _fit(self, wires: list[dict[str, Any]], beside: BesideKeywords, *, is_asked: bool) -> Fitted:
        if is_asked:
            try:
                return self._fitters.fit_after(None, wires, **beside)
            except Infeasible:
                pass  # nothing more may leave: what is there may fit all the same
        return self._fitters.fit(wires, **beside)

    def _answer(self, view: View) -> Condensation:
        """The answer to a request where nothing may leave: it is done. Where the same is asked again, the model does not take
        what there is."""
        newest = view.events[-1].id
        if newest in self._answered:
            raise NoCondensationAvailableException(
                "a condensation was asked for again, and nothing more may leave the conversation: the system prompt, the task, "
                "the newest question and the newest step stay"
            )
        self._answered[:] = [*self._answered[1 - _ANSWERED :], newest]
        return condensation([])


def _window_of(llm: LLM | None) -> int | None:
    """The tokens that a model takes; older versions have them in another place."""
    if llm is None:
        return None
    return getattr(llm, "effective_max_input_tokens", None) or llm.max_input_tokens
