"""Rounds the rows of a table to whole numbers from -15 to 15.

Vectors keep their directions (the figures are in README.md), and a compressed program that holds the table is smaller by a
third of it: few different numbers are short codes. The layout stays.
"""

import hashlib
import struct
import sys
from array import array
from pathlib import Path

FINE, COARSE = 127, 15


def coarse_block(table, at, dimensions):
    """The bytes of the block that begins at `at`, coarser, and where it ends."""
    n_pieces, n_bytes = struct.unpack_from("<II", table, at)
    scales_at = at + 8 + n_pieces + n_bytes + 4 * n_pieces
    rows_at = scales_at + 4 * n_pieces
    end = rows_at + n_pieces * dimensions
    scales, rows = array("f", table[scales_at:rows_at]), array("b", table[rows_at:end])
    return b"".join((
        table[at:scales_at],
        array("f", (scale * FINE / COARSE for scale in scales)).tobytes(),
        array("b", (round(number * COARSE / FINE) for number in rows)).tobytes(),
    )), end


def main():
    table, out = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
    dimensions = struct.unpack_from("<I", table, 8)[0]
    latin, at = coarse_block(table, 12, dimensions)
    han, end = coarse_block(table, at, dimensions)
    assert end == len(table), "a table has two blocks"
    coarse = table[:12] + latin + han
    out.write_bytes(coarse)
    print(f"{hashlib.sha256(coarse).hexdigest()}  {out.name}")


if __name__ == "__main__":
    main()
