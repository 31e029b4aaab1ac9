"""Fits the messages of an LLM agent into a token budget.

The result is valid for the provider, at or under the budget by an exact count, with a reason for every change, and what
leaves can be brought back. No model, no key and no network.

| you have | you take |
|---|---|
| a list of messages before each call of a model | `fit`; `Fitter` for a loop |
| a whole session: a file, a recording, a list | `compact`, `preview`, `inspect`, `check`, `search`, `convert` |
| a table of recorded sessions | `epitome_context.batch` |
| an agent whose history this package is to keep | `Session` |
| agents whose histories several processes share | `Store` |
| a configuration that many calls share | `Engine` |
| a way of your own to make a context smaller | `strategies=[…]`, with `edits` |
"""

from ._calls import (
    check,
    compact,
    compact_async,
    context_overflow,
    convert,
    count_tokens,
    fit,
    fit_async,
    formats,
    inspect,
    preview,
    preview_async,
    search,
    strategies,
    validate,
)
from ._compacted import Compacted
from ._engine import Engine
from ._epitome import __version__
from ._errors import ConfigError, Conflict, EpitomeError, FormatError, Infeasible, NotFound
from ._fitted import FitReport, Fitted
from ._fitter import Fitter
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import edits
    from ._pieces import Edit, Insert, Keep
    from ._session import Draft, Session
    from ._store import Store

__all__ = [
    "Compacted",
    "ConfigError",
    "Conflict",
    "Draft",
    "Edit",
    "Engine",
    "EpitomeError",
    "FitReport",
    "Fitted",
    "Fitter",
    "FormatError",
    "Infeasible",
    "Insert",
    "Keep",
    "NotFound",
    "Report",
    "Session",
    "Store",
    "__version__",
    "check",
    "compact",
    "compact_async",
    "context_overflow",
    "convert",
    "count_tokens",
    "edits",
    "fit",
    "fit_async",
    "formats",
    "inspect",
    "preview",
    "preview_async",
    "search",
    "strategies",
    "validate",
]


def __getattr__(name: str) -> object:
    """Loads what many programs do not need when it is first asked for, so that the import stays short."""
    if name in ("Draft", "Session"):
        from . import _session

        return getattr(_session, name)
    if name == "Store":
        from ._store import Store

        return Store
    if name in ("Edit", "Insert", "Keep"):
        from . import _pieces

        return getattr(_pieces, name)
    if name == "edits":
        from importlib import import_module

        return import_module("epitome_context.edits")
    raise AttributeError(f"module 'epitome_context' has no attribute {name!r}")
