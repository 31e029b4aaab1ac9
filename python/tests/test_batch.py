"""Columns of sessions, without a library of columns."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import anthropic, call, work

import epitome_context as epitome
from epitome_context import batch

SESSIONS: list[Any] = [work(), anthropic(), "not a session", None, [{"role": "user", "content": "Hello"}]]
COLUMN = batch.column(SESSIONS)


def rows(column: batch.Column) -> list[dict[str, Any]]:
    return [column[row] for row in range(len(column))]


def test_each_row_is_what_its_session_gives_by_itself() -> None:
    done = rows(batch.compact(COLUMN, budget=4_000))
    assert [row["status"] for row in done] == ["compacted", "compacted", "error", None, "no-change"]
    for row, session in zip(done, SESSIONS, strict=True):
        if row["status"] in ("compacted", "no-change"):
            alone = epitome.compact(session, budget=4_000)
            assert row["messages"] == alone.text
            assert (row["tokens_before"], row["tokens_after"]) == (alone.tokens_before, alone.tokens_after)
            assert json.loads(row["report"])["steps"] == [{**step, "duration_us": 0} for step in alone.report["steps"]]
            assert row["error"] is None


def test_a_bad_row_is_a_row_with_an_error() -> None:
    done = rows(batch.compact(COLUMN, budget=4_000))
    assert done[2]["messages"] is None and "format" in done[2]["error"]
    assert set(done[3].values()) == {None}
    too_little = batch.compact(COLUMN, budget=20)[0]
    assert (too_little["status"], too_little["messages"]) == ("infeasible", None)
    assert "cannot fit 20 tokens" in too_little["error"]


def test_threads_and_reports_change_nothing() -> None:
    expect = rows(batch.compact(COLUMN, budget=0.3))
    assert rows(batch.compact(COLUMN, budget=0.3, threads=1)) == expect
    assert rows(batch.compact(COLUMN, budget=0.3, threads=3)) == expect
    without = rows(batch.compact(COLUMN, budget=0.3, report=False))
    assert without == [{**row, "report": None} for row in expect]


def test_a_column_of_results_is_a_column() -> None:
    chat = batch.compact(batch.column([work(), anthropic()]), budget=4_000, to="openai-chat")
    again = batch.compact(batch.column([row["messages"] for row in rows(chat)]), budget=4_000)
    assert [row["status"] for row in rows(again)] == ["no-change", "no-change"]


def test_inspect() -> None:
    done = rows(batch.inspect(COLUMN))
    assert [row["format"] for row in done] == ["openai-chat", "anthropic", None, None, "openai-chat"]
    assert [row["calls"] for row in done] == [30, 20, None, None, 0]
    alone = epitome.inspect(SESSIONS[0])
    assert json.loads(done[0]["contents"]) == alone
    assert (done[0]["tokens"], done[0]["messages"]) == (alone["tokens"], len(alone["messages"]))
    assert done[2]["error"] is not None and set(done[3].values()) == {None}


def hunt() -> list[dict[str, Any]]:
    """Work whose later calls need what was printed once, at the beginning."""
    names = [f"src/part_{number * 7919 % 997}.py" for number in range(24)]
    listing = "\n".join(f"{name} is imported by step {number}" for number, name in enumerate(names))
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Never touch the database. Read every part of the list."}
    ]
    messages += call(0, "ls", {"path": "src"}, listing)
    for step, name in enumerate(names, 1):
        printed = "".join(f"value {line * step} is at line {line}\n" for line in range(80))
        messages += call(step, "read", {"path": name}, printed)
    return [*messages, {"role": "user", "content": "Which is the last one?"}]


def test_score() -> None:
    sessions = batch.column([hunt(), *SESSIONS[1:]])
    done = rows(batch.score(sessions, methods=["default", "baseline:newest"], budgets=[0.5, 2_000]))
    for one in (0.5, "0.5", [0.5]):
        assert [row["budget"] for row in rows(batch.score(sessions, budgets=one))[0]["rows"]] == ["0.5"]
    assert [len(row["rows"]) for row in done] == [4, 4, 0, 0, 0]
    measured = done[0]["rows"]
    assert [(row["method"], row["budget"]) for row in measured] == [
        ("default", "0.5"),
        ("baseline:newest", "0.5"),
        ("default", "2000"),
        ("baseline:newest", "2000"),
    ]
    assert all(row["usable"] and row["tokens"] <= row["budget_tokens"] for row in measured)
    ours, newest = measured[:2]
    assert ours["frr_of"] == newest["frr_of"] == 12, "a path for each call behind the cut"
    assert ours["frr"] > newest["frr"], "the list was read first"
    assert (ours["rules"], ours["rules_of"]) == (1.0, 1)
    assert done[2]["error"] is not None and done[3] == {"format": None, "rows": [], "error": None}


def test_mistakes_of_the_call() -> None:
    def check(expect: str, error: type[Exception], call: Any) -> None:
        with pytest.raises(error) as raised:
            call()
        assert expect in str(raised.value), str(raised.value)

    check("is not a column", TypeError, lambda: batch.compact([work()], budget=4_000))
    table = SimpleNamespace(column_names=["id", "messages"])
    of_a_table = "is a table: give one of its columns ('id', 'messages')"
    check(of_a_table, TypeError, lambda: batch.compact(table, budget=9))
    check(of_a_table, TypeError, lambda: batch.inspect(table))
    check(of_a_table, TypeError, lambda: batch.score(table))
    check(of_a_table, TypeError, lambda: batch.inspect(SimpleNamespace(columns=["id", "messages"])))
    check("`budget` takes a number", epitome.ConfigError, lambda: batch.compact(COLUMN, budget=-1))
    check("`chain`", epitome.ConfigError, lambda: batch.compact(COLUMN, budget=9, chain=["nonsense"]))
    check("nonsense", epitome.FormatError, lambda: batch.compact(COLUMN, budget=9, to="nonsense"))
    check("there is no word", TypeError, lambda: batch.compact(COLUMN, budget=9, windwo=3))
    check("`threads` takes a number", epitome.ConfigError, lambda: batch.inspect(COLUMN, threads=-1))
    check("nonsense", epitome.ConfigError, lambda: batch.score(COLUMN, methods=["nonsense"]))
    check("is not a budget", epitome.ConfigError, lambda: batch.score(COLUMN, budgets=["many"]))
    check("`cut` is a share", epitome.ConfigError, lambda: batch.score(COLUMN, cut=1.5))
    check("there is no row 5", IndexError, lambda: COLUMN[5])
    check("not UTF-8", ValueError, lambda: batch.column([b"\xff"]))


def test_one_thread_where_the_cluster_has_one_task_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    assert batch.threads_here() == 0
    monkeypatch.setenv("RAY_RAYLET_PID", "1")
    assert batch.threads_here() == 1


def test_strategies_of_the_host_work_on_columns() -> None:
    def newest(messages: list[dict[str, Any]], goal: dict[str, Any]) -> list[dict[str, Any]]:
        return [messages[0], *messages[-4:]]

    done = batch.compact(batch.column([work()] * 5), budget=4_000, chain=[newest], threads=2)
    assert {row["status"] for row in rows(done)} == {"compacted"}
    report = json.loads(done[0]["report"])
    assert report["chain"] == ["newest"] and report["steps"][0]["edits"] > 0


def test_repr() -> None:
    assert repr(COLUMN) == "<Column of 5 rows: sessions>"
    compacted = batch.compact(batch.column([work(1)]), budget=4_000)
    assert repr(compacted) == "<Column of 1 row: messages, tokens_before, tokens_after, status, report, error>"
