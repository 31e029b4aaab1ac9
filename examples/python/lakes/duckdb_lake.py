"""DuckDB, in SQL: `python duckdb_lake.py 'LAKE/text.parquet' OUT.parquet`."""

import sys

import duckdb
import pyarrow as pa

from epitome_context import batch

lake, out = sys.argv[1:3]
FIELDS = (
    "struct(messages varchar, tokens_before bigint, tokens_after bigint, status varchar, report varchar, error varchar)"
)


def compact(messages: pa.ChunkedArray) -> pa.Array:
    return pa.array(batch.compact(messages, budget=2_000))


duckdb.create_function("compact", compact, ["varchar"], FIELDS, type="arrow")
duckdb.sql(f"copy (select id, unnest(compact(messages)) from '{lake}') to '{out}'")
print(duckdb.sql(f"select status, count(*) from '{out}' group by all order by 2 desc").fetchall())
