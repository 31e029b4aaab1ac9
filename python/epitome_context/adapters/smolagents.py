"""smolagents: a model that is sent what fits.

from epitome_context.adapters.smolagents import FittedModel

agent = CodeAgent(tools, FittedModel(model, budget=60_000))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smolagents import Tool
from smolagents.models import Model

from ._host import Fitters
from ._own import own_messages
from ._recall import ABOUT_COMPACT, KEEP, NEXT_STEP, REASON
from ._smolagents_messages import edited, inserted, wires_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smolagents.models import ChatMessage
    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import FitterKeywords
    from ._recall import Recall


class FittedModel(Model):
    """A model that is sent what fits, and is `model` in all else. The memory of an agent is never changed.

    `budget` is for messages; it and the other words are those of `Fitter`, or `fitter` is one; one of `budget`, `model`,
    `window`, `config`, `engine` and `fitter` is needed, for smolagents does not know windows. `on_fit` is called with what
    became of the messages (`Fitted`), before each call. `tools` are tools for an agent that bring back what left, and
    ask for a compaction.

    One model may serve many agents: conversations are told apart by their beginnings. Raises `Infeasible` where what must stay
    is larger than the budget. Where a provider refuses messages as too long, they are made smaller and sent once more.
    """

    def __init__(
        self,
        model: Model,
        /,
        *,
        on_fit: Callable[[Fitted], object] | None = None,
        **words: Unpack[FitterKeywords],
    ) -> None:
        self._model = model
        self._fitters = Fitters("openai-chat", on_fit, usage_of=lambda answer: getattr(answer, "token_usage", None), **words)
        self._fitters.of(lambda: None)  # so that a budget that is missing is told here

    def generate(self, messages: list[ChatMessage], *given: Any, **words: Any) -> ChatMessage:
        """The model's answer to what fits."""
        wires = wires_of(messages)
        return self._fitters.send(
            lambda fitted: self._model.generate(_sent(fitted, wires, messages), *given, **words), wires
        )

    def __call__(self, messages: list[ChatMessage], *given: Any, **words: Any) -> ChatMessage:
        """The same."""
        return self.generate(messages, *given, **words)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """What the model makes of calls in a text."""
        return self._model.parse_tool_calls(message)

    def to_dict(self) -> dict[str, Any]:
        """The model as smolagents saves it; how it is fitted is made in Python."""
        saved: dict[str, Any] = self._model.to_dict()
        return saved

    def __getattr__(self, name: str) -> Any:
        if name == "_model":  # a copy that is not filled yet
            raise AttributeError(name)
        found = getattr(self._model, name)
        if name != "generate_stream":
            return found

        def generate_stream(messages: list[ChatMessage], *given: Any, **words: Any) -> Iterator[Any]:
            wires = wires_of(messages)
            return self._fitters.stream(lambda fitted: found(_sent(fitted, wires, messages), *given, **words), wires)

        return generate_stream

    @property
    def tools(self) -> list[Tool]:
        """`recall`, `search_history` and `compact_context`, for an agent's list of tools. They are about the conversation that was
        fitted last: give agents that run side by side a model each. `config={"marks": {"handles": True}}` lets the conversation
        name the handles."""
        left = self._fitters.remember()
        return [
            _LookUp(
                "recall",
                "Brings back text that left the conversation.",
                "The handle behind the word `recall` in a heading of the conversation.",
                left.recall,
            ),
            _LookUp(
                "search_history",
                "Finds passages of the conversation that have left it.",
                "Words that the passages hold, such as names, paths and numbers.",
                left.search_history,
            ),
            _Compact(left),
        ]


def _sent(fitted: Fitted, wires: list[dict[str, Any]], messages: list[ChatMessage]) -> list[ChatMessage]:
    return own_messages(fitted, wires, messages, edited, inserted)


class _LookUp(Tool):
    """A tool that looks a text up."""

    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, name: str, about: str, meaning: str, look_up: Callable[[str], str]) -> None:
        self.name = name
        self.description = about
        self.inputs = {"text": {"type": "string", "description": meaning}}
        self._look_up = look_up
        super().__init__()

    def forward(self, text: str) -> str:
        return self._look_up(text)


class _Compact(Tool):
    """A tool that asks for a compaction."""

    name = "compact_context"
    description = ABOUT_COMPACT
    inputs = {
        "reason": {"type": "string", "description": REASON},
        "next_step": {"type": "string", "description": NEXT_STEP},
        "keep": {"type": "array", "items": {"type": "string"}, "description": KEEP, "nullable": True},
    }
    output_type = "string"

    def __init__(self, left: Recall) -> None:
        self._left = left
        super().__init__()

    def forward(self, reason: str, next_step: str, keep: list[str] | None = None) -> str:
        return self._left.compact_context(reason, next_step, keep)
