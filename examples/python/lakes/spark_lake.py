"""PySpark: `python spark_lake.py 'LAKE/text.parquet' OUT.parquet`. Needs Java 17 or newer."""

import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

lake, out = sys.argv[1:3]
FIELDS = "id string, messages string, tokens_before long, tokens_after long, status string, report string, error string"


def compact(batches):
    from epitome_context import batch

    for rows in batches:
        fields = pa.RecordBatch.from_struct_array(pa.array(batch.compact(rows["messages"], budget=2_000)))
        yield fields.add_column(0, "id", rows["id"])


os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # its workers take the same packages
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
table = spark.read.parquet(lake).mapInArrow(compact, FIELDS).toArrow()
pq.write_table(table, out)
print(table["status"].value_counts().to_pylist())
