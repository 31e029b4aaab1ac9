"""Google's Agent Development Kit (ADK): a plugin that fits what the model is sent.

from epitome_context.adapters.google_adk import EpitomePlugin

app = App(name="mender", root_agent=agent, plugins=[EpitomePlugin(budget=60_000)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.plugins import BasePlugin
from google.adk.tools import ToolContext

from ._google_adk_messages import ContentShape
from ._host import Fitters, definition
from ._parts import messages_of, rows_of
from ._recall import ABOUT_COMPACT
from ._usage import input_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models import LlmRequest, LlmResponse
    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import FitterKeywords

_SHAPE = ContentShape()


class EpitomePlugin(BasePlugin):
    """Fits the contents of each request to a model. The events of a session are never changed.

    `budget` is for contents, instructions and tools together; it and the other words are those of `Fitter`, or `fitter` is one;
    one of `budget`, `model`, `window`, `config`, `engine` and `fitter` is needed, for the ADK does not know windows. `on_fit`
    is called with what became of the contents (`Fitted`), before each request. `tools` are two tools for an agent that bring
    back what left.

    One plugin may serve many agents, users and sessions: each agent's view of a session is a conversation of its own. Where
    what must stay is larger than the budget, the ADK raises `RuntimeError` with an `Infeasible` as its cause.
    """

    def __init__(
        self,
        *,
        name: str = "epitome",
        on_fit: Callable[[Fitted], object] | None = None,
        **words: Unpack[FitterKeywords],
    ) -> None:
        super().__init__(name)
        self._fitters = Fitters("openai-chat", on_fit, **words)
        self._fitters.of(lambda: None)  # so that a budget that is missing is told here

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Puts what fits in place of the request's contents."""
        contents = llm_request.contents
        rows = rows_of(contents, _SHAPE)
        fitted = await self._fitters.fit_async(
            [row.wire for row in rows],
            system=_text_in(llm_request.config.system_instruction) or None,
            tools=_definitions(llm_request.config.tools or []),
            key=_key_of(callback_context),
        )
        if not fitted.unchanged:
            llm_request.contents = messages_of(fitted, rows, contents, _SHAPE, alternate=True)

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        """Hears what the provider counted for the request."""
        self._fitters.usages.note(_key_of(callback_context), [], input_tokens(llm_response.usage_metadata))

    @property
    def tools(self) -> list[Any]:
        """`recall`, `search_history` and `compact_context`, for an agent's list of tools. `config={"marks": {"handles": True}}`
        lets the conversation name the handles."""
        left = self._fitters.remember()

        def recall(handle: str, tool_context: ToolContext) -> str:
            """Brings back text that left the conversation: `handle` is behind the word `recall` in one of its headings."""
            return left.recall(handle, _key_of(tool_context))

        def search_history(words: str, tool_context: ToolContext) -> str:
            """Finds passages of the conversation that have left it, by words such as names, paths and numbers."""
            return left.search_history(words, _key_of(tool_context))

        def compact_context(reason: str, next_step: str, keep: list[str], tool_context: ToolContext) -> str:
            return left.compact_context(reason, next_step, keep, _key_of(tool_context))

        compact_context.__doc__ = ABOUT_COMPACT
        # The ADK reads a function's types at run time, where this module's are texts.
        for function in (recall, search_history, compact_context):
            function.__annotations__["tool_context"] = ToolContext
        return [recall, search_history, compact_context]


def _key_of(context: Any) -> str:
    """The name of an agent's view of a session."""
    session = context.session
    return f"{session.app_name}/{session.user_id}/{session.id}/{context.agent_name}"


def _text_in(instruction: Any) -> str:
    """The text of instructions, in any of the forms that Gemini takes."""
    if instruction is None or isinstance(instruction, str):
        return instruction or ""
    if isinstance(instruction, (list, tuple)):
        return "\n".join(map(_text_in, instruction))
    if getattr(instruction, "parts", None) is not None:
        return _text_in(instruction.parts)
    return getattr(instruction, "text", None) or ""


def _definitions(tools: list[Any]) -> list[dict[str, Any]] | None:
    """Functions as a request has them; tools that Google hosts are not in it as text."""
    declarations = [declared for tool in tools for declared in getattr(tool, "function_declarations", None) or []]
    definitions = [
        definition(
            declared.name or "",
            declared.description,
            declared.parameters_json_schema
            or (declared.parameters.model_dump(mode="json", exclude_none=True) if declared.parameters else {}),
        )
        for declared in declarations
    ]
    return definitions or None
