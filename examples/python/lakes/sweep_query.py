"""A sweep of policies as one query: `python sweep_query.py 'LAKE/text.parquet'`.

Which share of the exact strings that each session later needed does each policy keep, at each budget?
"""

import sys

import duckdb
import pyarrow as pa

from epitome_context import batch

METHODS = ["default", "sliding-window", "chain:tool-results+transcript", "baseline:newest"]


def score(messages: pa.ChunkedArray) -> pa.Array:
    return pa.array(batch.score(messages, methods=METHODS, budgets=[0.4, 0.2]))


lake = duckdb.read_parquet(sys.argv[1])
sessions = pa.Table.from_struct_array(score(lake.to_arrow_table()["messages"]))
print(
    duckdb.sql("""
        select method, budget, count(*) as sessions, avg(bound) as bound, avg(files) as files, avg(rules) as rules
        from (select unnest(rows, recursive := true) from sessions) where usable
        group by all order by budget desc, bound desc
    """)
)
