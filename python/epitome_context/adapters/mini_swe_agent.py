"""mini-swe-agent: an agent whose model is sent what fits.

agent_class: epitome_context.adapters.mini_swe_agent.EpitomeAgent   # in the `agent` part of its configuration
budget: 60000
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minisweagent.agents.default import AgentConfig, DefaultAgent
from minisweagent.models.utils.actions_toolcall import BASH_TOOL

from .._errors import FormatError
from .._fitter import Fitter
from ._chat_messages import content_after, wires_of
from ._host import Fitters, check_words, near_word
from ._own import own_messages
from ._usage import newest_reported

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._fitted import Fitted
    from ._own import Texts


class EpitomeAgentConfig(AgentConfig):
    """What the default agent takes, and how its messages are fitted."""

    budget: int | None = None
    """Tokens of messages and tools; without it, the window of `window_of` or that in `epitome` decides."""
    window_of: str | None = None
    """The model whose window decides, by its name."""
    epitome: dict[str, Any] | str | None = None
    """A configuration of epitome: sections and keys, the path of a file, or its text."""


_OWN_WORDS = ("budget", "window_of", "epitome")


class EpitomeAgent(DefaultAgent):
    """The default agent, whose model is sent what fits; the trajectory has every message as it came."""

    def __init__(
        self, model: Any, env: Any, *, config_class: type[AgentConfig] = EpitomeAgentConfig, **words: Any
    ) -> None:
        # Its configuration passes over words that it does not know, for those of other programs may stand among them.
        for word in words:
            if word not in config_class.model_fields and near_word(word, _OWN_WORDS):
                check_words([word], _OWN_WORDS)
        super().__init__(model, env, config_class=config_class, **words)
        fitter = Fitter(
            budget=self.config.budget, model=self.config.window_of, config=self.config.epitome, format="openai-chat"
        )
        self.model = FittedModel(model, fitter)


class FittedModel:
    """A model of mini-swe-agent that is sent what fits: for agents of any class.

    `on_fit` is called with what became of the messages (`Fitted`), before each call. All else is the model's own. Models
    that speak OpenAI's Responses are refused, for their messages hold several items in one.
    """

    def __init__(self, model: Any, fitter: Fitter, *, on_fit: Callable[[Fitted], object] | None = None) -> None:
        self._model = model
        self._fitters = Fitters("openai-chat", on_fit, fitter=fitter)

    def query(self, messages: list[dict[str, Any]], **words: Any) -> Any:
        """The model's answer to what fits of the messages. What its provider refuses as too long is made smaller, once."""
        wires = [_sent(index, message) for index, message in enumerate(messages)]

        def query(fitted: Fitted) -> Any:
            return self._model.query(own_messages(fitted, wires, messages, _edited, lambda message: message), **words)

        reported = newest_reported(messages, _usage_of)
        return self._fitters.send(query, wires, tools=[BASH_TOOL], reported_tokens=reported)

    def __getattr__(self, name: str) -> Any:
        if name == "_model":  # a copy that is not filled yet
            raise AttributeError(name)
        return getattr(self._model, name)


def _usage_of(message: dict[str, Any]) -> Any:
    """What the provider reported with a message, in the response that mini-swe-agent keeps beside it."""
    if message.get("role") != "assistant":
        return None
    response = (message.get("extra") or {}).get("response")
    return (response.get("usage") if isinstance(response, dict) else None) or {}


# What messages of the Responses say of themselves.
_OF_RESPONSES = frozenset(("message", "function_call", "function_call_output"))


def _sent(index: int, message: dict[str, Any]) -> dict[str, Any]:
    """A message without what mini-swe-agent keeps beside it, such as the provider's whole response."""
    if message.get("object") == "response" or message.get("type") in _OF_RESPONSES:
        raise FormatError(
            f"messages[{index}]: of OpenAI's Responses; give the agent a model that speaks chat completions"
        )
    return {key: value for key, value in {**message, **wires_of([message])[0]}.items() if key != "extra"}


def _edited(own: dict[str, Any], message: dict[str, Any], _texts: Texts) -> dict[str, Any]:
    after = {**message, "content": content_after(own.get("content"), message.get("content"))}
    return {**after, "extra": own["extra"]} if "extra" in own else after
