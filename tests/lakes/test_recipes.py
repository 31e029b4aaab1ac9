"""The recipes of `examples/python/lakes` run, and each gives what a plain loop gives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from epitome_context import batch

RECIPES = Path(__file__).parents[2] / "examples" / "python" / "lakes"
ALL = "all" in os.environ.get("EPITOME_LAKES", "")
heavy = pytest.mark.skipif(not ALL, reason="`tests/lakes/run all` runs Ray and Spark")


def run(recipe: str, *arguments: object) -> str:
    command = [sys.executable, RECIPES / recipe, *map(str, arguments)]
    quiet = {"DO_NOT_TRACK": "1", "RAY_USAGE_STATS_ENABLED": "0", "DAFT_PROGRESS_BAR": "0"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, **quiet})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    run("made_up.py", folder, 40)
    return folder


def expect(lake: Path) -> pa.Table:
    table = pq.read_table(lake)
    fields = pa.Table.from_struct_array(pa.array(batch.compact(table["messages"], budget=2_000, threads=1)))
    return fields.add_column(0, "id", table["id"])


def same(found: Path, lake: Path) -> None:
    """Row for row the same, whatever the order and the kind of text."""
    wanted = expect(lake).sort_by("id")
    table = pq.read_table(found).sort_by("id").cast(wanted.schema)
    assert table.equals(wanted)
    assert table["status"].to_pylist().count("error") == 1


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("polars_lake.py", []),
        ("duckdb_lake.py", []),
        ("daft_lake.py", []),
        pytest.param("daft_lake.py", ["--ray"], marks=heavy),
        pytest.param("ray_lake.py", [], marks=heavy),
        pytest.param("spark_lake.py", [], marks=heavy),
    ],
)
def test_recipes_give_what_a_loop_gives(recipe: str, words: list[str], lake: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    printed = run(recipe, lake / "text.parquet", out, *words)
    assert "compacted" in printed
    same(out, lake / "text.parquet")


def test_lists_of_structures_go_through_the_same_recipe(lake: Path, tmp_path: Path) -> None:
    table = pq.read_table(lake / "lists.parquet")
    fields = pa.Table.from_struct_array(pa.array(batch.compact(table["messages"], budget=2_000)))
    assert set(fields["status"].to_pylist()) == {"compacted"}


def test_the_page_runs(lake: Path, tmp_path: Path) -> None:
    page = (RECIPES.parents[2] / "docs" / "lakes.md").read_text()
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    (tmp_path / "sessions.parquet").symlink_to(lake / "text.parquet")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sliding-window" in done.stdout


def test_the_sweep_is_one_query(lake: Path) -> None:
    printed = run("sweep_query.py", lake / "lists.parquet")
    assert "default" in printed and "baseline:newest" in printed


def sweep(lake: Path, out: Path, *words: str) -> bytes:
    printed = run("sweep.py", lake / "text.parquet", out, *words)
    assert "--kill" not in words or "killed: True" in printed, printed
    return out.read_bytes()


@heavy
def test_a_sweep_is_the_same_wherever_it_ran(lake: Path, tmp_path: Path) -> None:
    """Threads, worker processes, and worker processes of which one is killed give the same bytes."""
    expect = sweep(lake, tmp_path / "threads.arrow")
    assert sweep(lake, tmp_path / "ray.arrow", "--workers", "2") == expect
    assert sweep(lake, tmp_path / "killed.arrow", "--workers", "2", "--kill") == expect


def test_a_lake_of_recordings(tmp_path: Path) -> None:
    """A file of one session goes in as it is."""
    recording = RECIPES.parents[1] / "session.jsonl"
    assert "1 session of 1 file," in run("write_lake.py", recording, tmp_path / "lake.parquet")
    table = pq.read_table(tmp_path / "lake.parquet")
    assert table.to_pylist() == [{"id": "session.jsonl", "messages": recording.read_text()}]
