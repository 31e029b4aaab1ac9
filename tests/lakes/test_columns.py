"""Columns of the libraries that people have."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import epitome_context as epitome
from epitome_context import batch

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples" / "python" / "lakes"))
from made_up import MESSAGE, session  # noqa: E402

SESSIONS = [session(number) for number in range(4)]
FIELDS = [field.name for field in MESSAGE]
TEXTS = [json.dumps(messages) for messages in SESSIONS]
EXPECT = pa.array(batch.compact(batch.column(TEXTS), budget=2_000, threads=1))


def check(column: Any, expect: pa.Array = EXPECT) -> None:
    assert pa.array(batch.compact(column, budget=2_000)).equals(expect)


def test_texts_of_every_kind() -> None:
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()):
        check(pa.array(TEXTS, kind))
    check(pa.array(TEXTS).dictionary_encode())
    check(pl.Series(TEXTS))
    check(pl.Series(TEXTS, dtype=pl.Categorical))


def test_chunks_and_slices() -> None:
    check(pa.chunked_array([TEXTS[:1], [], TEXTS[1:]], pa.string()))
    check(pa.array(["before", *TEXTS, "behind"]).slice(1, 4))
    check(pa.array([SESSIONS[3], *SESSIONS], pa.list_(MESSAGE)).slice(1), as_lists())
    empty = pa.array(batch.compact(pa.chunked_array([], pa.string()), budget=2_000))
    assert len(empty) == 0 and empty.type == EXPECT.type


def as_lists() -> pa.Array:
    """The same sessions from structures: without calls' fields that are null, in the order of the structures' fields."""
    ordered = [[{name: message[name] for name in FIELDS if name in message} for message in it] for it in SESSIONS]
    texts = [json.dumps(messages, separators=(",", ":"), ensure_ascii=False) for messages in ordered]
    return pa.array(batch.compact(pa.array(texts), budget=2_000))


def test_null_fields_of_lists_are_not_there() -> None:
    lists = pa.array(SESSIONS, pa.list_(MESSAGE))
    assert lists[0][0].as_py()["tool_calls"] is None, "the fields are filled with null"
    check(lists, as_lists())
    check(pa.array(SESSIONS, pa.large_list(MESSAGE)), as_lists())
    check(pl.Series(values=lists), as_lists())
    untouched = pa.array(batch.compact(lists, budget=1_000_000))
    assert "null" not in untouched[0]["messages"].as_py()
    assert json.loads(untouched[1]["messages"].as_py()) == SESSIONS[1]


def test_arguments_as_structures_are_json_text() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": {"path": "a.py", "lines": None}}}
    messages = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    written = batch.compact(pa.array([messages]), budget=1_000)[0]["messages"]
    function = json.loads(written)[1]["tool_calls"][0]["function"]
    assert function["arguments"] == '{"path":"a.py"}'


def test_a_structure_is_a_request() -> None:
    request = {"messages": SESSIONS[0][1:], "system": "You mend programs."}
    done = batch.inspect(pa.array([request]))[0]
    assert done["error"] is None and done["calls"] == 16


def test_null_rows_stay_null() -> None:
    done = pa.array(batch.compact(pa.array([None, TEXTS[0]], pa.string()), budget=2_000))
    assert done[0].as_py() == dict.fromkeys(EXPECT[0].as_py())
    assert done[1].as_py() == EXPECT[0].as_py()
    assert pa.array(batch.inspect(pa.array([None], pa.null())))[0].as_py()["error"] is None


def test_every_library_takes_the_result() -> None:
    column = batch.compact(pa.array(TEXTS), budget=2_000)
    assert pl.Series(column)[0] == EXPECT[0].as_py()
    assert pa.table(pa.schema(column).empty_table()).column_names == [field.name for field in EXPECT.type]
    assert [column[row] for row in range(len(column))] == EXPECT.to_pylist()
    scored = pa.array(batch.score(pa.array(TEXTS), budgets=[0.5]))
    assert scored.to_pylist() == [batch.score(pa.array(TEXTS), budgets=[0.5])[row] for row in range(4)]


@pytest.mark.parametrize(
    ("column", "expect"),
    [
        (pa.array([1, 2]), "column has the type Int64, which is not a session's"),
        (pa.array([b"[]"]).dictionary_encode(), "which is not a session's"),
        (
            pa.array(
                [[{"role": "user", "at": 1}]], pa.list_(pa.struct({"role": pa.string(), "at": pa.timestamp("s")}))
            ),
            "column[].at has the type Timestamp(s), which a session has no place for; cast it to text",
        ),
    ],
)
def test_columns_that_hold_no_sessions(column: pa.Array, expect: str) -> None:
    with pytest.raises(TypeError) as raised:
        batch.inspect(column)
    assert expect in str(raised.value)


def test_many_threads_of_the_host() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        columns = pool.map(lambda _: pa.array(batch.compact(pa.array(TEXTS), budget=2_000, threads=1)), range(8))
        assert all(column.equals(EXPECT) for column in columns)


def test_agents_files_are_sessions() -> None:
    recording = (ROOT / "examples" / "session.jsonl").read_text()
    done = pa.array(batch.compact(pa.array([recording]), budget=12_000))[0].as_py()
    alone = epitome.compact(recording, budget=12_000)
    assert (done["status"], done["messages"]) == ("compacted", alone.text)
