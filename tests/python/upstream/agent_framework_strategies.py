"""A plugin of pytest: each client of the Agent Framework's own tests that has no strategy has ours.

Its budget is larger than any request, so that nothing may change. With EPITOME_TIGHT ours stands in the place of the framework's
strategies instead, and makes each list as small as it can be.
"""

from __future__ import annotations

import os
from typing import Any

import agent_framework
from agent_framework import BaseChatClient
from counted import note

from epitome_context import Infeasible
from epitome_context.adapters.agent_framework import EpitomeStrategy


class Ours(EpitomeStrategy):
    """Takes the words of the framework's strategies, which have no meaning for ours, and makes each list as small as it can."""

    def __init__(self, *given: Any, **words: Any) -> None:
        super().__init__(budget=1, on_fit=note)

    async def __call__(self, messages: list[Any]) -> bool:
        try:
            return await super().__call__(messages)
        except Infeasible as error:
            if error.floor is None:
                raise
            return await EpitomeStrategy(budget=error.floor["tokens"], on_fit=note)(messages)


begin = BaseChatClient.__init__


def begin_with_ours(self: Any, *given: Any, **words: Any) -> None:
    begin(self, *given, **words)
    if self.compaction_strategy is None:
        self.compaction_strategy = EpitomeStrategy(budget=1_000_000, on_fit=note)


if os.environ.get("EPITOME_TIGHT"):
    for name in (
        "ContextWindowCompactionStrategy",
        "SelectiveToolCallCompactionStrategy",
        "SlidingWindowStrategy",
        "SummarizationStrategy",
        "TokenBudgetComposedStrategy",
        "ToolResultCompactionStrategy",
        "TruncationStrategy",
    ):
        setattr(agent_framework, name, Ours)
else:
    BaseChatClient.__init__ = begin_with_ours
