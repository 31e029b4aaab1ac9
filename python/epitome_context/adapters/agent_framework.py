"""Microsoft's Agent Framework: a compaction strategy that fits what the model is sent.

from epitome_context.adapters.agent_framework import EpitomeStrategy

agent = Agent(client, tools=tools, compaction_strategy=EpitomeStrategy(budget=60_000))
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from agent_framework import EXCLUDE_REASON_KEY, EXCLUDED_KEY, GROUP_ANNOTATION_KEY, Message

from ._agent_framework_messages import AgentFrameworkShape
from ._host import Fitters
from ._parts import messages_of, rows_of
from ._recall import functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import FitterKeywords

_SHAPE = AgentFrameworkShape()
# The reason by which messages are recognised that left by this strategy, and the mark of those that it put in.
_REASON = "epitome"
_NEW = "_epitome_new"


class EpitomeStrategy:
    """A `CompactionStrategy`: fits the messages of each call of the model. What the agent's history keeps is never changed: a
    message that leaves is excluded, as the framework has it, in a copy.

    `budget` is for messages and what stands beside them; it and the other words are those of `Fitter`, or `fitter` is one; one
    of `budget`, `model`, `window`, `config`, `engine` and `fitter` is needed, for a strategy is not told the model. Nor is it
    shown the tools: `tools` are their definitions, or the tokens that they and the instructions take. `on_fit` is called with
    what became of the messages (`Fitted`), before each call of the model. `recall_tools` are tools for an agent that bring back
    what left, and ask for a compaction.

    One strategy may serve many agents and sessions: conversations are told apart by their beginnings. Raises `Infeasible`
    where what must stay is larger than the budget.
    """

    def __init__(
        self,
        *,
        tools: list[dict[str, Any]] | int | None = None,
        on_fit: Callable[[Fitted], object] | None = None,
        **words: Unpack[FitterKeywords],
    ) -> None:
        self._fitters = Fitters("openai-chat", on_fit, **words)
        self._fitters.of(lambda: None)  # so that a budget that is missing is told here
        self._tools = tools

    async def __call__(self, messages: list[Message]) -> bool:
        """Puts what fits into the list, and the messages that leave among it as excluded; whether anything changed."""
        all_came = [message for message in messages if not message.additional_properties.get(_NEW)]
        came = [message for message in all_came if not _is_excluded_by_others(message)]
        rows = rows_of(came, _SHAPE)
        fitted = await self._fitters.fit_async([row.wire for row in rows], tools=self._tools)
        new = {_text_of(message): message for message in messages if message.additional_properties.get(_NEW)}
        after = _with_excluded(messages_of(fitted, rows, came, _SHAPE), all_came, new)
        changed = len(after) != len(messages) or any(a is not b for a, b in zip(after, messages, strict=True))
        messages[:] = after
        return changed

    @property
    def recall_tools(self) -> list[Callable[..., str]]:
        """`recall`, `search_history` and `compact_context`, for an agent's list of tools. They are about the conversation that was
        fitted last: give each session that is to have them a strategy of its own. `config={"marks": {"handles": True}}` lets the
        conversation name the handles."""
        return functions(self._fitters.remember())


def _is_excluded_by_others(message: Message) -> bool:
    properties = message.additional_properties
    return bool(properties.get(EXCLUDED_KEY)) and properties.get(EXCLUDE_REASON_KEY) != _REASON


def _with_excluded(sent: list[Message], came: list[Message], new: dict[str, Message]) -> list[Message]:
    """What is sent, with the messages that are not sent in their places. `new` are those of the messages that were put in
    before, by their text: they stay the same objects."""
    places = {id(message): place for place, message in enumerate(came)}
    kept = {id(message) for message in sent}
    after: list[Message] = []
    done = 0

    def leave(end: int) -> None:
        nonlocal done
        after.extend(_excluded(message) for message in came[done:end] if id(message) not in kept)
        done = max(done, end)

    for message in sent:
        place = places.get(id(message))
        if place is None:
            after.append(new.get(_text_of(message)) or _marked(message))
        else:
            leave(place)
            after.append(_included(message))
    leave(len(came))
    return after


def _marked(message: Message) -> Message:
    """A message that this strategy made. What the framework noted of the one that it was made of does not hold for it."""
    for key in (EXCLUDED_KEY, EXCLUDE_REASON_KEY, GROUP_ANNOTATION_KEY):
        message.additional_properties.pop(key, None)
    message.additional_properties[_NEW] = True
    message.message_id = None
    return message


def _text_of(message: Message) -> str:
    """What a message says, all of it."""
    return str(message.to_json(exclude={"additional_properties", "message_id"}))


def _excluded(message: Message) -> Message:
    """A message that is not sent: a copy, so that the one in the history stays as it is."""
    if message.additional_properties.get(EXCLUDED_KEY):
        return message
    return _copy(message, {EXCLUDED_KEY: True, EXCLUDE_REASON_KEY: _REASON})


def _included(message: Message) -> Message:
    """A message that is sent."""
    return _copy(message, {EXCLUDED_KEY: False}) if message.additional_properties.get(EXCLUDED_KEY) else message


def _copy(message: Message, properties: dict[str, Any]) -> Message:
    after = copy.copy(message)
    after.additional_properties = {**message.additional_properties, **properties}
    return after
