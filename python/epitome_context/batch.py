"""Columns of sessions: lakes of recordings, a query at a time.

Each function takes a column of any library that speaks Arrow (pyarrow, Polars, pandas, DuckDB, Daft, Ray Data, Spark, …: an
object with `__arrow_c_array__` or `__arrow_c_stream__`) and gives a `Column`, which each of them takes in turn; none of them
has to be installed. A row is one session: text or bytes in any format that `epitome` reads, or a list of messages as
structures. A row that cannot be read is a row with an `error`, never the end of the job; a row that is null stays empty. The same rows give the same bytes, on whatever machine and in whatever batches.

| function | of each session |
|---|---|
| `compact` | the session after a compaction, with its report |
| `inspect` | what it is made of |
| `score` | what policies would keep of what its own future needed |
"""

from __future__ import annotations

import os
import sys

from . import _epitome
from ._engine import names_of
from ._engines import engine_and_rest
from ._epitome import Column
from ._input import bytes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from ._keywords import Chain, EngineKeywords

__all__ = ["Column", "column", "compact", "inspect", "score", "threads_here"]


def compact(
    column: Any,
    *,
    budget: int | float | None = None,
    format: str | None = None,
    to: str | None = None,
    chain: Chain | None = None,
    mode: str | None = None,
    task: str | None = None,
    focus: str | None = None,
    report: bool = True,
    threads: int | None = None,
    **words: Unpack[EngineKeywords],
) -> Column:
    """Fits every session of a column into a budget.

    The words are those of `epitome_context.compact`. The fields: `messages` (the session after it, in the format of `to`, or
    its own; null where there is none), `tokens_before`, `tokens_after`, `status` (`no-change`, `compacted`, `near-empty`,
    `rolled-back`, `infeasible`, `error`), `report` (as JSON, all times in it 0; null with `report=False`, which is smaller)
    and `error`. `threads` is as `threads_here` says.

    >>> sessions = column([[{"role": "user", "content": "word " * 900}, {"role": "assistant", "content": "Yes."},
    ...                     {"role": "user", "content": "And now?"}], "not a session"])
    >>> compacted = compact(sessions, budget=300, report=False)
    >>> [(row["status"], row["tokens_after"]) for row in compacted][1]
    ('error', None)
    """
    _check_column(column)
    engine, names = _engine_and_chain({**words, "chain": chain})
    return _epitome.compact_column(
        engine,
        column,
        options={
            "format": format,
            "to": to,
            "budget": budget,
            "chain": names,
            "mode": mode,
            "task": task,
            "focus": focus,
        },
        report=report,
        threads=_threads(threads),
    )


def inspect(
    column: Any, *, format: str | None = None, threads: int | None = None, **words: Unpack[EngineKeywords]
) -> Column:
    """What every session of a column is made of.

    The fields: `format`, `task` (its kind), `tokens`, `tool_definition_tokens`, `messages`, `rounds` (typed messages), `calls`,
    `compactions`, `contents` (what `epitome_context.inspect` gives, as JSON) and `error`.

    >>> inspect(column([[{"role": "user", "content": "Hello"}]]))[0]["messages"]
    1
    """
    _check_column(column)
    engine, _ = _engine_and_chain(words)
    return _epitome.inspect_column(engine, column, format=format, threads=_threads(threads))


def score(
    column: Any,
    *,
    methods: Sequence[str] = ("default",),
    budgets: Sequence[int | float | str] | float | str = (0.4, 0.2, 0.1),
    cut: float = 0.5,
    reasoning: bool = False,
    format: str | None = None,
    threads: int | None = None,
) -> Column:
    """Measures policies on every session of a column, by the figures of `epitome eval` (`docs/evaluation.md`).

    A session is cut where the share `cut` of its tokens is spent; every method compacts the part before to every budget (a
    share of its tokens, or tokens; one or a list), and the agent's real actions behind the cut show what it needed.
    Methods are named as in `epitome eval --methods`: `default`, a preset, a strategy, `chain:a+b+c`, `set:KEY=VALUE`, `config:FILE`,
    `baseline:newest`, … A session that the cut leaves nothing behind has no rows.

    The fields: `format`, `rows` and `error`. A row of `rows` is one method at one budget: `method`, `budget`, `part`,
    `prefix_tokens`, `future_calls`, `budget_tokens`, `tokens`, `usable`, `problem`, `cache_loss_tokens`, and for
    each figure its share, null where there was nothing to keep, and beside it what there was (`bound`, `bound_of`): `bound`,
    `frr`, `quotes`, `files`, `rules`, `fill`.

    >>> talk = [{"role": "user" if turn % 2 == 0 else "assistant", "content": f"Line {turn}. " * 50} for turn in range(40)]
    >>> scored = score(column([talk]), budgets=[0.5])
    >>> [(row["method"], row["budget"], row["usable"]) for row in scored[0]["rows"]]
    [('default', '0.5', True)]
    """
    _check_column(column)
    engine, _ = _engine_and_chain({})
    return _epitome.score_column(
        engine,
        column,
        methods=[methods] if isinstance(methods, str) else list(methods),
        budgets=[str(budget) for budget in ([budgets] if isinstance(budgets, (int, float, str)) else budgets)],
        cut=cut,
        reasoning=reasoning,
        format=format,
        threads=_threads(threads),
    )


def column(sessions: Iterable[Any]) -> Column:
    """A column of sessions for a program without a library of columns: texts, bytes, paths, lists of messages, `None`.

    >>> len(column([[{"role": "user", "content": "Hello"}], None]))
    2
    """
    return _epitome.text_column([None if session is None else bytes_of(session, "session")[0] for session in sessions])


def threads_here() -> int:
    """The threads that a call takes by itself: 1 within a task of Ray, Spark or Dask, which give each core a task of its own;
    0, which means all cores, elsewhere.

    Known by the environment that Ray gives its workers, and by the task that Spark and Dask say they are in. A call's own
    `threads` stands over it.
    """
    if "RAY_RAYLET_PID" in os.environ:
        return 1
    spark = sys.modules.get("pyspark")
    if spark is not None and spark.TaskContext.get() is not None:
        return 1
    dask = sys.modules.get("distributed.worker")
    if dask is not None and getattr(dask.thread_state, "key", None) is not None:
        return 1
    return 0


def _engine_and_chain(words: Mapping[str, Any]) -> tuple[_epitome.Engine, list[str] | None]:
    """The engine that the words of a call ask for, and the names of their chain."""
    engine, rest = engine_and_rest(words)
    chain = names_of(rest.pop("chain", None))
    if rest:
        raise TypeError(f"there is no word `{next(iter(rest))}`; the call's own words and those of an engine are taken")
    return (engine._native, chain)


def _check_column(given: Any) -> None:
    """Refuses a table, which speaks Arrow too: each of its rows would be taken for one session."""
    names = getattr(given, "column_names", None)
    if names is None:
        names = getattr(given, "columns", None)
    if names is not None:
        listed = ", ".join(map(repr, names))
        raise TypeError(
            f"column: an object of the type `{type(given).__name__}` is a table: give one of its columns ({listed}), "
            "such as table['messages']"
        )


def _threads(threads: int | None) -> int:
    if threads is None:
        return threads_here()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        from ._errors import ConfigError

        raise ConfigError(f"`threads` takes a number (int): 1 or more, or 0 for all cores; not {threads!r}")
    return threads
