"""Writes recorded sessions of any format into one Parquet file: `python write_lake.py SESSIONS OUT.parquet`.

SESSIONS is a folder or a file. A file with one session goes in as it is, so that nothing of its format is lost; of a file with
several, each session goes in as a request of OpenAI's chat completions. Files that hold no session are named and left out.
"""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import epitome_context as epitome


def sessions_of(path: Path) -> Iterator[tuple[str, str]]:
    """The sessions of a file with their names."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", "replace")
    number = 0
    try:
        epitome.inspect(text)
        yield path.name, text
        return
    except epitome.FormatError as error:
        if "sessions in it" not in str(error):
            raise
    while True:
        try:
            session = epitome.convert(text, "openai-chat", name=str(number))
        except epitome.FormatError as error:
            if number and "there is no session" in str(error):
                return
            raise
        yield f"{path.name}/{number}", session.decode()
        number += 1


def main() -> None:
    source, out = Path(sys.argv[1]), sys.argv[2]
    files = sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]
    ids, texts = [], []
    for path in files:
        try:
            for name, text in sessions_of(path):
                ids.append(str(path.relative_to(source).parent / name) if source.is_dir() else name)
                texts.append(text)
        except epitome.FormatError as error:
            print(f"left out: {path}: {error}", file=sys.stderr)
    table = pa.table({"id": ids, "messages": texts})
    pq.write_table(table, out, row_group_size=64, compression="zstd")
    counts = [
        f"{len(them)} {what}{'' if len(them) == 1 else 's'}" for them, what in ((ids, "session"), (files, "file"))
    ]
    print(f"{' of '.join(counts)}, {sum(map(len, texts)) / 1e6:.1f} million characters")


if __name__ == "__main__":
    main()
