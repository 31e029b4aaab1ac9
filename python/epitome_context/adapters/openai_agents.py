"""The OpenAI Agents SDK: a filter of what the model is sent.

from epitome_context.adapters.openai_agents import EpitomeFilter

await Runner.run(agent, task, run_config=RunConfig(call_model_input_filter=EpitomeFilter(budget=60_000)))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import FunctionTool, function_tool
from agents.run import ModelInputData

from ._host import Fitters
from ._recall import functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.run import CallModelData
    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import FitterKeywords


class EpitomeFilter:
    """Fits the input of each call of the model. What a session or a run keeps is never changed.

    `budget` is for input, instructions and tools together; it and the other words are those of `Fitter`, or `fitter` is one;
    one of `budget`, `model`, `window`, `config`, `engine` and `fitter` is needed, for the SDK does not know windows.
    `tools` are the definitions of an agent's tools, or the tokens that they take; without it, its function tools are counted.
    `key` gives the name of a conversation, where conversations that begin alike are to be told apart. `on_fit` is called with
    what became of the input (`Fitted`), before each call of the model.

    One filter may serve many agents and runs. `recall_tools` are tools for an agent that bring back what left, and ask for a
    compaction. Raises `Infeasible` where what must stay is larger than the budget.
    """

    def __init__(
        self,
        *,
        tools: list[dict[str, Any]] | int | None = None,
        key: Callable[[CallModelData[Any]], str] | None = None,
        on_fit: Callable[[Fitted], object] | None = None,
        **words: Unpack[FitterKeywords],
    ) -> None:
        self._fitters = Fitters("openai-responses", on_fit, **words)
        self._fitters.of(lambda: None)  # so that a budget that is missing is told here
        self._tools = tools
        self._key = key

    @property
    def recall_tools(self) -> list[FunctionTool]:
        """`recall`, `search_history` and `compact_context`, for an agent's list of tools. They are about the conversation that was
        fitted last, and are offered from its first compaction on: give runs side by side a filter each, without `key`.
        `config={"marks": {"handles": True}}` lets the conversation name the handles."""
        left = self._fitters.remember()
        return [
            function_tool(function, is_enabled=lambda _context, _agent: left.has_left()) for function in functions(left)
        ]

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """The input as it is to be sent."""
        given = data.model_data
        fitted = await self._fitters.fit_async(
            given.input,
            system=given.instructions,
            tools=_definitions(data.agent.tools) if self._tools is None else self._tools,
            key="" if self._key is None else self._key(data),
        )
        return given if fitted.unchanged else ModelInputData(input=fitted.messages, instructions=given.instructions)


def _definitions(tools: list[Any]) -> list[dict[str, Any]] | None:
    """Function tools as the request has them; tools that the provider hosts are not in it as text."""
    definitions = [
        {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
        for tool in tools
        if isinstance(tool, FunctionTool)
    ]
    return definitions or None
