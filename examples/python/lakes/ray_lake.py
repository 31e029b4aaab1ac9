"""Ray Data: `python ray_lake.py 'LAKE/text.parquet' OUT.parquet`."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
import ray

lake, out = sys.argv[1:3]


def compact(rows: pa.Table) -> pa.Table:
    from epitome_context import batch

    fields = pa.Table.from_struct_array(pa.array(batch.compact(rows["messages"], budget=2_000)))
    return fields.add_column(0, "id", rows["id"])


done = ray.data.read_parquet(lake).map_batches(compact, batch_format="pyarrow", batch_size=64)
table = pa.concat_tables(ray.get(done.to_arrow_refs()))
pq.write_table(table, out)
print(table["status"].value_counts().to_pylist())
