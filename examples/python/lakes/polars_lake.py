"""Polars, lazily: `python polars_lake.py 'LAKE/text.parquet' OUT.parquet`."""

import sys

import polars as pl

from epitome_context import batch

lake, out = sys.argv[1:3]


def compact(messages: pl.Series) -> pl.Series:
    return pl.Series(batch.compact(messages, budget=2_000))


fields = compact(pl.Series([], dtype=pl.String)).dtype
compacted = pl.col("messages").map_batches(compact, return_dtype=fields, is_elementwise=True)
pl.scan_parquet(lake).select("id", compacted.struct.unnest()).sink_parquet(out)
print(pl.read_parquet(out)["status"].value_counts(sort=True).rows())
