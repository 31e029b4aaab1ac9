"""A plugin of pytest: each agent of LangChain's and deepagents' own tests has our middleware too, the innermost.

Its budget is larger than any request, so that nothing may change; with EPITOME_TIGHT it is the smallest that each call of the
model can have, so that whatever can leave does.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import langchain.agents
import langchain.agents.factory
from counted import note

from epitome_context import Infeasible
from epitome_context.adapters.langchain import EpitomeMiddleware

theirs = langchain.agents.factory.create_agent


class Tight(EpitomeMiddleware):
    """Gives each call the budget of what must stay. The tools do not count, for they cannot leave."""

    def _question(self, request: Any) -> Any:
        messages, beside = super()._question(request)
        beside["tools"] = None
        try:
            EpitomeMiddleware(budget=1)._fitters.fit(messages, **beside)
        except Infeasible as error:
            if error.floor is not None:
                self._fitters = EpitomeMiddleware(budget=error.floor["tokens"], on_fit=note)._fitters
        return messages, beside


@functools.wraps(theirs)
def create_agent(*given: Any, middleware: Any = (), **words: Any) -> Any:
    part = Tight if os.environ.get("EPITOME_TIGHT") else EpitomeMiddleware
    return theirs(*given, middleware=[*middleware, part(budget=1_000_000, on_fit=note)], **words)


langchain.agents.create_agent = langchain.agents.factory.create_agent = create_agent
