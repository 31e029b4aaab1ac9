"""Daft, on this machine or on Ray: `python daft_lake.py 'LAKE/text.parquet' OUT.parquet [--ray]`."""

import sys

import daft
import pyarrow as pa
import pyarrow.parquet as pq

from epitome_context import batch

lake, out = sys.argv[1:3]
if "--ray" in sys.argv:
    daft.set_runner_ray()
FIELDS = daft.DataType.from_arrow_type(pa.array(batch.compact(batch.column([]))).type)


@daft.func.batch(return_dtype=FIELDS)
def compact(messages: daft.Series) -> daft.Series:
    return daft.Series.from_arrow(pa.array(batch.compact(messages.to_arrow(), budget=2_000)))


rows = daft.read_parquet(lake).with_column("compacted", compact(daft.col("messages")))
table = rows.select("id", daft.functions.unnest(daft.col("compacted"))).to_arrow()
pq.write_table(table, out)
print(table["status"].value_counts().to_pylist())
