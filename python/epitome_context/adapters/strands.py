"""Strands: a conversation manager that fits an agent's messages before each call of the model.

from epitome_context.adapters.strands import EpitomeConversationManager

agent = Agent(model, tools=tools, conversation_manager=EpitomeConversationManager(budget=60_000))
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

from strands import tool
from strands.agent.conversation_manager import ConversationManager
from strands.hooks import AfterModelCallEvent, BeforeModelCallEvent
from strands.types.exceptions import ContextWindowOverflowException

from .._errors import Infeasible
from ._host import Fitters, definition, overflow_of
from ._log import Log
from ._parts import messages_of, rows_of
from ._recall import functions
from ._strands_messages import StrandsShape
from ._usage import newest_reported

if TYPE_CHECKING:
    from collections.abc import Callable

    from strands import Agent
    from strands.hooks import HookRegistry
    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import BesideKeywords, FitterKeywords

_SHAPE = StrandsShape()


class EpitomeConversationManager(ConversationManager):
    """Fits an agent's messages before each call of the model: `agent.messages` are what is sent, as Strands has it. The manager
    keeps what came, so that each decision is made on the whole conversation; a session manager stores it all.

    `budget` is for messages, system prompt and tools together; it and the other words are those of `Fitter`, or `fitter` is
    one. Without any of them, the model tells its window (`context_window_limit`). `on_fit` is called with what became of the
    messages (`Fitted`), before each call. `tools` are tools for the agent that bring back what left, and
    ask for a compaction.

    Each agent needs a manager of its own, as with Strands' managers. Where a provider refuses a request as too long, it is made
    smaller and sent again; `ContextWindowOverflowException` is raised where it cannot be. Raises `Infeasible` before a call
    where what must stay is larger than the budget.
    """

    def __init__(self, *, on_fit: Callable[[Fitted], object] | None = None, **words: Unpack[FitterKeywords]) -> None:
        super().__init__()
        self._fitters = Fitters("openai-chat", on_fit, **words)
        self._log = Log()
        self._state: str | None = None
        self._is_again = False  # whether a call is made again that was refused

    def register_hooks(self, registry: HookRegistry, **words: Any) -> None:
        """Has the messages fitted before each call of the model."""
        super().register_hooks(registry, **words)
        registry.add_callback(BeforeModelCallEvent, self._before_call)
        registry.add_callback(AfterModelCallEvent, self._after_call)

    async def _before_call(self, event: BeforeModelCallEvent) -> None:
        from .._async import in_thread

        await in_thread(self._fit, event.agent)

    async def _after_call(self, event: AfterModelCallEvent) -> None:
        """Has a call made again, once, that was refused as too long in words that Strands does not know."""
        error = event.exception
        if error is None or self._is_again or isinstance(error, ContextWindowOverflowException) or not overflow_of(error):
            self._is_again = False
            return
        from .._async import in_thread

        await in_thread(self.reduce_context, event.agent, error)
        self._is_again = event.retry = True

    def apply_management(self, agent: Agent, **words: Any) -> None:
        """Fits the messages. Where they cannot be fitted they stay, and the next call of the model raises `Infeasible`."""
        try:
            self._fit(agent)
        except Infeasible:
            return

    def reduce_context(self, agent: Agent, e: Exception | None = None, **words: Any) -> None:
        """Makes the messages smaller than was due. Raises `ContextWindowOverflowException` where a provider refused them (`e`)
        and they cannot be."""
        before = [*agent.messages]
        try:
            self._fit(agent, refusal=e or RuntimeError())
        except Infeasible as error:
            raise ContextWindowOverflowException(f"{e or 'the context is too long'}: {error}") from error
        if e is not None and agent.messages == before:
            raise ContextWindowOverflowException(f"{e}: nothing more can leave the conversation") from e

    def _fit(self, agent: Agent, refusal: Exception | None = None) -> None:
        came = self._log.all_of(agent.messages)
        rows = rows_of(came, _SHAPE)
        wires = [row.wire for row in rows]
        window = getattr(agent.model, "context_window_limit", None)  # older versions do not know it
        beside: BesideKeywords = {
            "window": lambda: window,
            "system": agent.system_prompt,
            "tools": _definitions(agent),
            "reported_tokens": newest_reported(came, _usage_of),
        }
        if refusal is None:
            fitted = self._fitters.fit(wires, **beside)
        else:
            fitted = self._fitters.fit_after(refusal, wires, **beside)
        agent.messages[:] = messages_of(fitted, rows, came, _SHAPE, alternate=True)
        self._log.note(came, agent.messages)
        if fitted.status == "compacted":
            state = self._fitters.state_of(lambda: window)
            self._state = None if state is None else _text_of(state)

    @property
    def tools(self) -> list[Any]:
        """`recall`, `search_history` and `compact_context`, for the agent's list of tools. `config={"marks": {"handles": True}}`
        lets the conversation name the handles."""
        return [tool(function) for function in functions(self._fitters.remember())]

    def get_state(self) -> dict[str, Any]:
        """What a session keeps: the decisions, and what left. The messages themselves are in the session's own store. Where a
        fitter was given, its memory is its owner's to keep (`Fitter.state`), for it may hold other agents' conversations."""
        state = super().get_state()
        return state if self._state is None else {**state, "fitter": self._state}

    def restore_from_session(self, state: dict[str, Any]) -> None:
        """Takes the decisions of a session up again. Where they were made by another version or for another counter, it decides
        anew, which costs the provider's cache once."""
        super().restore_from_session(state)
        self._log = Log()
        self._fitters.forget_left()
        self._state = None if self._fitters.is_given else state.get("fitter")
        if self._state is not None:
            self._fitters.restore(zlib.decompress(base64.b64decode(self._state)))


def _usage_of(message: dict[str, Any]) -> Any:
    """What the provider reported with a message; older versions of Strands do not keep it."""
    return message.get("metadata", {}).get("usage", {}) if message["role"] == "assistant" else None


def _text_of(state: bytes) -> str:
    return base64.b64encode(zlib.compress(state)).decode("ascii")


def _definitions(agent: Agent) -> list[dict[str, Any]] | None:
    specs = agent.tool_registry.get_all_tools_config().values()
    definitions = [
        definition(spec["name"], spec["description"], spec["inputSchema"].get("json", spec["inputSchema"]))
        for spec in specs
    ]
    return definitions or None
