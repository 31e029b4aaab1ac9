"""LangChain, LangGraph and deepagents: a middleware that fits what the model is sent.

from epitome_context.adapters.langchain import EpitomeMiddleware

agent = create_agent(model, tools, middleware=[EpitomeMiddleware(budget=60_000)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config

from ._host import Fitters
from ._langchain_messages import edited, inserted, wire_of
from ._media import part_of
from ._own import own_messages
from ._recall import TOOLS, functions
from ._usage import newest_reported

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse
    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import BesideKeywords, FitterKeywords


class EpitomeMiddleware(AgentMiddleware[Any, Any]):
    """Fits the messages of each call of the model. The messages that the thread keeps are never changed.

    `budget` is for messages, system prompt and tools together; it and the other words are those of `Fitter`, or `fitter` is
    one. Without any of them, the model's profile tells its window (`max_input_tokens`). `on_fit` is called with what became of
    the messages (`Fitted`), before each call of the model.

    One middleware may serve many agents and threads: each thread of LangGraph (`thread_id`) is a conversation of its own.
    Where a provider refuses a request as too long, it is made smaller and sent once more. `recall_tools` are tools for an agent
    that bring back what left, and ask for a compaction.
    Raises `Infeasible` where what must stay is larger than the budget.
    """

    def __init__(self, *, on_fit: Callable[[Fitted], object] | None = None, **words: Unpack[FitterKeywords]) -> None:
        super().__init__()
        self._fitters = Fitters("openai-chat", on_fit, overflows=(ContextOverflowError,), **words)

    @property
    def recall_tools(self) -> list[StructuredTool]:
        """`recall`, `search_history` and `compact_context`, for an agent's list of tools: they are about the thread in which they are
        called, and a model is offered them from the first compaction of its thread on. `config={"marks": {"handles": True}}`
        lets the conversation name the handles."""
        left = functions(self._fitters.remember(), _thread_id)
        return [StructuredTool.from_function(function) for function in left]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        """Sends what fits in place of the request's messages."""
        messages, words = self._question(request)
        return self._fitters.send(lambda fitted: handler(_smaller(request, messages, fitted)), messages, **words)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        """The same, awaited: the core works in a thread."""
        messages, words = self._question(request)
        return await self._fitters.send_async(
            lambda fitted: handler(_smaller(request, messages, fitted)), messages, **words
        )

    def _question(self, request: ModelRequest[Any]) -> tuple[list[dict[str, Any]], BesideKeywords]:
        """The messages of a request, and what stands beside them: all tools, also those that are offered from a compaction on."""
        system = request.system_message
        beside: BesideKeywords = {
            "window": lambda: (request.model.profile or {}).get("max_input_tokens"),
            "system": None if system is None else wire_of(system)["content"],
            "tools": [_definition(tool) for tool in request.tools] or None,
            "key": _thread_id(),
            "reported_tokens": newest_reported(request.messages, _usage_of),
        }
        return ([wire_of(message) for message in request.messages], beside)


def _smaller(request: ModelRequest[Any], wires: list[dict[str, Any]], fitted: Fitted) -> ModelRequest[Any]:
    if fitted.unchanged:
        return _without_recall(request)
    messages: list[Any] = own_messages(fitted, wires, request.messages, edited, inserted)
    return request.override(messages=messages)


def _without_recall(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """A request of a conversation that nothing has left: without the tools that look there."""
    tools = [tool for tool in request.tools if getattr(tool, "name", None) not in TOOLS]
    return request if len(tools) == len(request.tools) else request.override(tools=tools)


def _usage_of(message: Any) -> Any:
    return message.usage_metadata or {} if isinstance(message, AIMessage) else None


def _definition(tool: Any) -> dict[str, Any]:
    """The definition of a tool; one that the provider runs is its own."""
    try:
        return convert_to_openai_tool(tool)
    except (ValueError, TypeError):
        return part_of("tool", tool)


def _thread_id() -> str:
    """The thread of LangGraph in which the model is called; nothing outside of a graph, or without a checkpointer."""
    try:
        return str(get_config().get("configurable", {}).get("thread_id", ""))
    except RuntimeError:
        return ""
