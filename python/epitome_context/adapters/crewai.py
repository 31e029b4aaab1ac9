"""CrewAI: a hook that fits what the model is sent.

from crewai.hooks import register_before_llm_call_hook
from epitome_context.adapters.crewai import EpitomeHook

register_before_llm_call_hook(EpitomeHook(budget=60_000))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewai.hooks import HookAborted
from crewai.tools import tool

from .._errors import EpitomeError
from ._chat_messages import messages_of, wires_of
from ._host import Fitters, definition
from ._log import Log, Logs
from ._recall import functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from crewai.hooks import LLMCallHookContext
    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import FitterKeywords

# Gemini's own form of the calls.
_COPIES = ("raw_tool_call_parts",)


class EpitomeHook:
    """A `before_llm_call` hook: fits the messages of each call of a model, in place, as CrewAI has it. The hook keeps what
    came, so that each decision is made on the whole conversation.

    `budget` is for messages and tools together; it and the other words are those of `Fitter`, or `fitter` is one. Without any
    of them, the model tells its window (`get_context_window_size`). `on_fit` is called with what became of the messages
    (`Fitted`), before each call. `tools` are tools for agents that bring back what left, and ask for a
    compaction.

    One hook may serve many agents and crews. Where what must stay is larger than the budget, or the budget is not known,
    `HookAborted` is raised, with the error as its cause: CrewAI passes over other errors of hooks, and would send too much.
    """

    def __init__(self, *, on_fit: Callable[[Fitted], object] | None = None, **words: Unpack[FitterKeywords]) -> None:
        self._fitters = Fitters("openai-chat", on_fit, **words)
        self._logs = Logs()

    def __call__(self, context: LLMCallHookContext) -> None:
        """Puts what fits into the list of messages."""
        messages: list[Any] = context.messages
        log = self._logs.of(messages)
        came = log.all_of(messages)
        try:
            fitted = self._fitters.fit(
                wires_of(came),
                tools=_definitions(context),
                window=lambda: context.llm.get_context_window_size(),
                reported_tokens=self._reported(context, log),
            )
        except EpitomeError as error:
            raise HookAborted(str(error), source="epitome") from error
        messages[:] = messages_of(fitted, came, copies_of_calls=_COPIES)
        log.note(came, messages)

    def _reported(self, context: LLMCallHookContext, log: Log) -> int | None:
        """What the provider counted for the request before; models sum up what all their requests took."""
        summary = getattr(context.llm, "get_token_usage_summary", None)
        if summary is None:
            return None
        usage = summary()
        return self._fitters.usages.metered(id(log), usage.successful_requests, usage.prompt_tokens)

    @property
    def tools(self) -> list[Any]:
        """`recall`, `search_history` and `compact_context`, for an agent's list of tools. They are about the conversation that was
        fitted last: give crews that run side by side a hook each. `config={"marks": {"handles": True}}` lets the conversation
        name the handles."""
        return [tool(function.__name__)(function) for function in functions(self._fitters.remember())]


def _definitions(context: LLMCallHookContext) -> list[dict[str, Any]] | None:
    """The tools of the call, where they are not in the prompt as text."""
    tools = getattr(context.executor, "original_tools", None) or []
    if not tools or not context.llm.supports_function_calling():
        return None
    return [definition(one.name, one.description, one.args_schema.model_json_schema()) for one in tools]
