"""Hermes: a context engine that fits the conversation.

pip install epitome-context; hermes plugins enable epitome

# config.yaml
context:
  engine: epitome
  epitome: {budget: 60000}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.context_engine import ContextEngine

from .._errors import Infeasible
from ._chat_messages import messages_of, wires_of
from ._host import Fitters
from ._log import Log

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import FitterKeywords

# Hermes' other forms of what a message of the model's says; they are its provider's, and hold for the whole of it.
_COPIES = ("codex_reasoning_items", "codex_message_items", "reasoning_details")
_TOOLS = {
    "recall": (
        "Brings back text that left the conversation.",
        "handle",
        "The handle behind the word `recall` in a heading of the conversation.",
    ),
    "search_history": (
        "Finds passages of the conversation that have left it.",
        "words",
        "Words that the passages hold, such as names, paths and numbers.",
    ),
}


class EpitomeEngine(ContextEngine):
    """A context engine: the conversation becomes what fits, as Hermes has it. The engine keeps what came, so that each decision
    is made on the whole conversation of this process.

    `budget` is for messages; it and the other words are those of `Fitter`, or `fitter` is one. Without any of them, it is
    `threshold_percent` of the model's window. `on_fit` is called with what became of the messages (`Fitted`). The model gets
    two tools that bring back what left; `config={"marks": {"handles": True}}` lets the conversation name the handles.

    Where what must stay is larger than the budget, the conversation stays, and Hermes tells the user why.
    """

    def __init__(self, *, on_fit: Callable[[Fitted], object] | None = None, **words: Unpack[FitterKeywords]) -> None:
        self._fitters = Fitters("openai-chat", on_fit, **words)
        self._fitters.remember()
        self._budget = words.get("budget")
        self._log = Log()
        self._last_compress_aborted = False
        self._last_summary_error: str | None = None
        self._set_threshold()

    @property
    def name(self) -> str:
        """The name by which the configuration selects it."""
        return "epitome"

    def update_model(self, model: str, context_length: int, *given: Any, **words: Any) -> None:
        """Takes the window of another model."""
        super().update_model(model, context_length, *given, **words)
        self._set_threshold()

    def _set_threshold(self) -> None:
        due = int(self.context_length * self.threshold_percent)
        budgets = [tokens for tokens in (self._budget, due) if tokens]
        self.threshold_tokens = min(budgets, default=0)

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Takes the tokens that the provider counted."""
        self.last_prompt_tokens = usage.get("prompt_tokens") or 0
        self.last_completion_tokens = usage.get("completion_tokens") or 0
        self.last_total_tokens = usage.get("total_tokens") or self.last_prompt_tokens + self.last_completion_tokens

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Whether the tokens of the last request reach the threshold."""
        tokens = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        return 0 < self.threshold_tokens <= tokens

    def should_compress_preflight(self, messages: list[dict[str, Any]]) -> bool:
        """Whether the messages reach the threshold, by the engine's count of their texts."""
        window = self.threshold_tokens
        return 0 < window <= self._fitters.count_tokens(wires_of(messages), lambda: window)

    def compress(
        self,
        messages: list[dict[str, Any]],
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str = "",
    ) -> list[dict[str, Any]]:
        """What fits in place of the messages: always less than they are, where there is something that may leave. They
        themselves stay as they are. `focus_topic`, `force` and `memory_context` change nothing: no model is asked."""
        came = self._log.all_of(messages)
        wires = wires_of(came)
        window = self.threshold_tokens or None
        self._last_compress_aborted, self._last_summary_error = False, None
        try:
            fitted = self._fitters.fit(wires, window=lambda: window)
            if fitted.status != "compacted":
                fitted = self._fitters.fit_after(None, wires, window=lambda: window)
        except Infeasible as error:
            self._last_compress_aborted, self._last_summary_error = True, str(error)
            return messages
        sent = messages_of(fitted, came, copies_of_calls=_COPIES)
        if sent == messages:
            return messages
        self._log.note(came, sent)
        self.compression_count += 1
        return list(sent)

    def on_session_reset(self) -> None:
        """Forgets the conversation, and what the tools found in it."""
        super().on_session_reset()
        self._log = Log()
        self._fitters.forget_left()

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The definitions of the two tools."""
        return [
            {
                "name": name,
                "description": about,
                "parameters": {
                    "type": "object",
                    "properties": {word: {"type": "string", "description": meaning}},
                    "required": [word],
                },
            }
            for name, (about, word, meaning) in _TOOLS.items()
        ]

    def handle_tool_call(self, name: str, args: dict[str, Any], **words: Any) -> str:
        """What a tool gives, as JSON."""
        if name not in _TOOLS:
            return str(super().handle_tool_call(name, args, **words))
        word = _TOOLS[name][1]
        given = args.get(word)
        if not isinstance(given, str):
            return json.dumps({"error": f"{name}: `{word}` is a text that is needed"})
        left = self._fitters.remember()
        found = left.recall(given) if name == "recall" else left.search_history(given)
        return json.dumps({"result": found}, ensure_ascii=False)


def register(context: Any) -> None:
    """Registers the engine; Hermes calls this. `context.epitome` of Hermes' configuration has the engine's words."""
    from hermes_cli.config import load_config

    words = (load_config().get("context") or {}).get("epitome") or {}
    context.register_context_engine(EpitomeEngine(**words))
