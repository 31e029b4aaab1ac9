"""A sweep of policies over a lake of recorded sessions, on one machine or on a local Ray cluster:

    python sweep.py LAKE.parquet OUT.arrow                          # threads of this process
    python sweep.py LAKE.parquet OUT.arrow --workers 4              # worker processes of Ray
    python sweep.py LAKE.parquet OUT.arrow --workers 4 --kill       # one of them is killed in the middle

Writes one row for each session, method and budget, sorted, and prints a digest of it: however the work was shared out, it is
the same.
"""

import argparse
import hashlib
import os
import resource
import signal
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

METHODS = ["default", "classic", "chain:tool-results+transcript", "sliding-window", "baseline:newest"]
BUDGETS = [0.4, 0.2, 0.1]
SESSIONS_AT_ONCE = 16


def measured(rows: pa.Table) -> pa.Table:
    """The rows of the sweep for some sessions: each with the session's id, and one with the error where there is one."""
    from epitome_context import batch

    scored = pa.array(batch.score(rows["messages"], methods=METHODS, budgets=BUDGETS))
    lists = scored.field("rows")
    table = pa.Table.from_struct_array(lists.flatten())
    of = pa.compute.list_parent_indices(lists)
    ids = rows["id"].combine_chunks()
    failed = pa.compute.is_valid(scored.field("error"))
    errors = pa.table({"id": ids.filter(failed), "error": scored.field("error").filter(failed)})
    table = table.add_column(0, "id", ids.take(of)).append_column("error", pa.nulls(len(table), pa.string()))
    return pa.concat_tables([table, errors], promote_options="default")


def on_threads(lake: str) -> tuple[list[pa.Table], float, float]:
    """The rows of all sessions by this process, the seconds until it could begin, and those that processors worked."""
    start = time.perf_counter()
    from epitome_context import batch

    batch.score(batch.column([]), methods=METHODS)
    ready = time.perf_counter() - start
    table = pq.read_table(lake)
    blocks = range(0, len(table), 16 * SESSIONS_AT_ONCE)
    before = time.process_time()
    done = [measured(table.slice(first, 16 * SESSIONS_AT_ONCE)) for first in blocks]
    return done, ready, time.process_time() - before


def on_ray(lake: str, workers: int, kill: bool) -> tuple[list[pa.Table], float, float]:
    """The same by worker processes. With `kill`, the one that has the middle of the lake ends like a machine that fails."""
    start = time.perf_counter()
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    middle = pq.read_metadata(lake).num_rows // 2 // SESSIONS_AT_ONCE
    killed = Path(tempfile.mkdtemp()) / "killed"

    @ray.remote(max_retries=3)
    def work(number: int, rows: pa.Table) -> tuple[pa.Table, int, int, float]:
        if kill and number == middle and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        before = time.process_time()
        done = measured(rows)
        worked = time.process_time() - before
        return done, os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, worked

    ray.get([work.remote(-1, pq.read_table(lake).slice(0, 0)) for _ in range(workers)])
    ready = time.perf_counter() - start
    table = pq.read_table(lake)
    firsts = range(0, len(table), SESSIONS_AT_ONCE)
    done = ray.get([work.remote(number, table.slice(first, SESSIONS_AT_ONCE)) for number, first in enumerate(firsts)])
    memory = {process: peak for _, process, peak, _ in done}
    print(
        f"{len(memory)} worker processes, at most {max(memory.values()) / 1e3:.0f} MB each; killed: {killed.exists()}"
    )
    return [rows for rows, *_ in done], ready, sum(worked for *_, worked in done)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("lake")
    arguments.add_argument("out")
    arguments.add_argument("--workers", type=int, default=0)
    arguments.add_argument("--kill", action="store_true")
    asked = arguments.parse_args()
    start = time.perf_counter()
    if asked.workers:
        tables, ready, worked = on_ray(asked.lake, asked.workers, asked.kill)
    else:
        tables, ready, worked = on_threads(asked.lake)
    seconds = time.perf_counter() - start - ready
    order = [(name, "ascending") for name in ("id", "part", "budget", "method")]
    table = pa.concat_tables(tables).sort_by(order).combine_chunks()
    with pa.OSFile(asked.out, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    digest = hashlib.sha256(Path(asked.out).read_bytes()).hexdigest()[:16]
    sessions, memory = pq.read_metadata(asked.lake).num_rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{sessions} sessions, {len(table)} rows: {worked:.1f} s of processors in {seconds:.1f} s by the clock")
    print(f"ready after {ready:.1f} s; this process took {memory:.0f} MB at most; digest {digest}")


if __name__ == "__main__":
    main()
