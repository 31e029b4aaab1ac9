"""A plugin of pytest: puts our compactor in the place of Haystack's own, before Haystack's tests import them."""

from __future__ import annotations

from typing import Any

import haystack.hooks.compaction as compaction

from epitome_context.adapters.haystack import EpitomeCompactor


class Ours(EpitomeCompactor):
    """Takes the words of Haystack's compactors, which have no meaning for ours."""

    def __init__(self, *given: Any, **words: Any) -> None:
        super().__init__()


for name in ("SlidingWindowCompactor", "SummarizationCompactor", "ToolResultPruningCompactor"):
    setattr(compaction, name, Ours)
