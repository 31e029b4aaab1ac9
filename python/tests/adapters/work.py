"""The work that the frameworks' agents do in these tests: parts of a ledger are read, one after the other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import epitome_context as epitome

BUDGET = 4_000
TASK = "The import of the ledger counts entries twice. Find out why, and keep the database as it is."
ANSWER = "Entries are counted twice because the fingerprint holds the row's position."


# What a provider counts for a token that is counted here.
SHARE = 1.4


def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


def check_sent(messages: list[dict[str, Any]], format: str = "openai-chat", budget: int = BUDGET) -> None:
    """What every request must be: no larger than the budget, and by the provider's rules, with the task in it."""
    assert epitome.validate(messages, format=format) == []
    assert epitome.count_tokens(messages, format=format) <= budget
    assert TASK in str(messages)


def check_kept(requests: list[list[Any]]) -> int:
    """A request begins with all of the one before it, but for the few where something new was decided: how many."""
    new = sum(later[: len(earlier)] != earlier for earlier, later in pairwise(requests))
    assert 1 <= new <= len(requests) // 3, f"{new} decisions in {len(requests)} requests"
    return new


def reported(messages: list[dict[str, Any]], format: str = "openai-chat") -> int:
    """The input tokens that a provider reports for a request, which counts more than is counted here."""
    return round(SHARE * epitome.count_tokens(messages, format=format))


def check_reported(figures: list[int], budget: int = BUDGET) -> None:
    """Requests for which a provider reported this are within the budget in its tokens, and use it. The figures leave the tools out,
    which are much of the first requests: they are within it to the token once there are as many as count."""
    assert len(figures) > 20 and 0.7 * budget < max(figures[10:]) <= budget, figures
    assert max(figures) <= 1.03 * budget, figures
