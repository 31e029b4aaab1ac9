"""What can go wrong. Every error of this package is an `EpitomeError`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._fitted import Fitted
    from ._reports import Floor


class EpitomeError(Exception):
    """The base of this package's errors; raised itself where none of the others says more."""


class ConfigError(EpitomeError, ValueError):
    """A configuration, or a word of a call, is wrong. `problems` lists every problem."""

    problems: list[str]

    def __init__(self, message: str, problems: list[str] | None = None) -> None:
        super().__init__(message)
        self.problems = [message] if problems is None else problems

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.problems))


class FormatError(EpitomeError, ValueError):
    """What was given cannot be read as a session, or not be written in the format that was asked for."""


class Conflict(EpitomeError):
    """Somebody else has changed the session in its store: nothing of the call was stored. The session is read again with its
    next call, so that the call may be repeated if it is still meant."""


class NotFound(EpitomeError, LookupError):
    """The store has no such session."""


class Infeasible(EpitomeError):
    """What must stay is larger than the budget: nothing was changed.

    `floor` has the tokens of what must stay (`floor["tokens"]`) and its parts, the largest first (`floor["parts"]`: each
    with `part`, `tokens`, `tokens_before` and `messages`), or is `None` where it was not worked out; `budget` is the budget,
    `report` the whole report. `fitted` is of `fit`: what earlier decisions make of the list, which is more than the budget, and
    what left it; `None` where another call raised. A copy, pickled too, has all of it.
    """

    floor: Floor | None
    budget: int
    report: dict[str, Any]
    fitted: Fitted | None

    def __init__(
        self,
        message: str,
        floor: Floor | None,
        budget: int,
        report: dict[str, Any],
        fitted: Fitted | None = None,
    ) -> None:
        super().__init__(message)
        self.floor = floor
        self.budget = budget
        self.report = report
        self.fitted = fitted

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.floor, self.budget, self.report, self.fitted))
