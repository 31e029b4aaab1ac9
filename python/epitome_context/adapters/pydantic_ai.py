"""Pydantic AI: a capability that fits what the model is sent.

from epitome_context.adapters.pydantic_ai import EpitomeCapability

agent = Agent(model, capabilities=[EpitomeCapability(budget=60_000)])
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_ai import RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RetryModelRequest
from pydantic_ai.messages import ModelResponse

from ._host import Fitters, definition, overflow_of
from ._pydantic_ai_messages import messages_of, rows_of
from ._recall import ABOUT_COMPACT
from ._usage import newest_reported

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition
    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import BesideKeywords, FitterKeywords


class EpitomeCapability(AbstractCapability[Any]):
    """Fits the messages of each request of a model. The message history of a run is never changed.

    `budget` is for messages, instructions and tools together; it and the other words are those of `Fitter`, or `fitter` is
    one. Without any of them, the model's profile tells its window (`context_window`). `on_fit` is called with what became of
    the messages (`Fitted`), before each request.

    One capability may serve many agents and runs: each `conversation_id` is a conversation of its own. Where a provider refuses a
    request as too long, it is made smaller and sent once more. `recall_tools` are tools for an agent that bring back what left,
    and ask for a compaction. Raises `Infeasible` where what must stay is larger than the budget.
    """

    def __init__(self, *, on_fit: Callable[[Fitted], object] | None = None, **words: Unpack[FitterKeywords]) -> None:
        self._fitters = Fitters("openai-chat", on_fit, **words)
        self._refusals: dict[str, Exception] = {}  # of requests that are about to be made again, by the run

    @property
    def recall_tools(self) -> list[Tool[Any]]:
        """`recall`, `search_history` and `compact_context`, for an agent's list of tools: they are about the conversation in which
        they are called, and are offered from its first compaction on. `config={"marks": {"handles": True}}` lets the
        conversation name the handles."""
        left = self._fitters.remember()

        def recall(ctx: RunContext[Any], handle: str) -> str:
            """Brings back text that left the conversation: `handle` is behind the word `recall` in one of its headings."""
            return left.recall(handle, ctx.conversation_id or "")

        def search_history(ctx: RunContext[Any], words: str) -> str:
            """Finds passages of the conversation that have left it, by words such as names, paths and numbers."""
            return left.search_history(words, ctx.conversation_id or "")

        def compact_context(
            ctx: RunContext[Any], reason: str, next_step: str, keep: list[str] | None = None
        ) -> str:
            return left.compact_context(reason, next_step, keep, ctx.conversation_id or "")

        async def offered(ctx: RunContext[Any], tool: ToolDefinition) -> ToolDefinition | None:
            return tool if left.has_left(ctx.conversation_id or "") else None

        compact_context.__doc__ = ABOUT_COMPACT
        return [Tool(function, prepare=offered) for function in (recall, search_history, compact_context)]

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Nothing: a capability with a memory is made in Python."""
        return None

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """The request with what fits in place of its messages."""
        model, parameters = request_context.model, request_context.model_request_parameters
        rows = rows_of(request_context.messages)
        wires = [row.wire for row in rows]
        beside: BesideKeywords = {
            "window": lambda: model.context_window,
            "system": "\n\n".join(part.content for part in parameters.instruction_parts or []) or None,
            "tools": _definitions(parameters),
            "key": ctx.conversation_id or "",
            "reported_tokens": newest_reported(request_context.messages, _usage_of),
        }
        refusal = self._refusals.pop(ctx.run_id or "", None)
        if refusal is None:
            fitted = await self._fitters.fit_async(wires, **beside)
        else:
            fitted = await self._fitters.fit_after_async(refusal, wires, **beside)
        if fitted.unchanged:
            return request_context
        return replace(request_context, messages=messages_of(fitted, rows, request_context.messages))


    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Has a request that was refused as too long made again, once; it is prepared anew, and smaller."""
        if request_context.attempt > 1 or overflow_of(error) is None:
            raise error
        self._refusals[ctx.run_id or ""] = error
        raise RetryModelRequest from error


def _usage_of(message: Any) -> Any:
    return message.usage if isinstance(message, ModelResponse) else None


def _definitions(parameters: ModelRequestParameters) -> list[dict[str, Any]] | None:
    definitions = [
        definition(tool.name, tool.description, tool.parameters_json_schema)
        for tool in [*parameters.function_tools, *parameters.output_tools]
    ]
    return definitions or None
