"""Fits one row a piece so that the sum of a sentence's rows points where the teacher's sentence vector does.

Rows start as the teacher's vectors of the pieces themselves, seen along the main directions of its sentence vectors; a
ridge regression then moves them. Frequent pieces count less (smooth inverse frequency, Arora et al. 2017); that weight is
folded into the rows. Writes the table that `crates/embeddings` compiles in.
"""

import hashlib
import json
import struct
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sparse

from units import Pieces

DIMENSIONS = 128
RIDGE = 0.2
SMOOTHING = 1e-4
STEPS = 60
UNSEEN = -13.5


def fit(sentences, targets, pieces, starts, weights, cut):
    """Rows of `pieces`, weights folded in; the typical sentence has length 1."""
    index = {piece: at for at, piece in enumerate(pieces)}
    rows, columns, values = [], [], []
    for row, sentence in enumerate(sentences):
        counts = {}
        for piece in cut.of(sentence):
            at = index.get(piece)
            if at is not None:
                counts[at] = counts.get(at, 0.0) + weights[at]
        total = sum(counts.values()) or 1.0
        for at, count in counts.items():
            rows.append(row)
            columns.append(at)
            values.append(count / total)
    share = sparse.csr_matrix((values, (rows, columns)), shape=(len(sentences), len(pieces)))
    centred = (targets - targets.mean(0)).astype("f8")
    directions = np.linalg.svd(centred, full_matrices=False)[2][:DIMENSIONS].T
    # The sign of a singular vector is arbitrary: fixed, so that the result does not hang on the linear algebra library.
    directions *= np.sign(directions[np.abs(directions).argmax(0), range(DIMENSIONS)])
    wanted = centred @ directions
    start = (starts - starts.mean(0)).astype("f8") @ directions
    start *= np.sqrt((wanted**2).sum() / ((share @ start) ** 2).sum())
    # Conjugate gradients on (S'S + ridge) x = S' residual, all dimensions at once.
    residual = share.T @ (wanted - share @ start)
    moved, step = np.zeros_like(start), residual.copy()
    length = (residual**2).sum(0)
    for _ in range(STEPS):
        image = share.T @ (share @ step) + RIDGE * step
        rate = length / np.maximum((step * image).sum(0), 1e-12)
        moved += rate * step
        residual -= rate * image
        new_length = (residual**2).sum(0)
        step = residual + new_length / np.maximum(length, 1e-12) * step
        length = new_length
    fitted = start + moved
    explained = 1 - ((wanted - share @ fitted) ** 2).sum() / (wanted**2).sum()
    print(f"{len(pieces)} pieces, {len(sentences)} sentences, {explained:.3f} of the variance explained", file=sys.stderr)
    return fitted / np.sqrt((wanted**2).sum(1)).mean() * weights[:, None]


def block(pieces, rows, scores):
    """Lengths, texts, scores, scales and rows of one block, as `crates/embeddings/src/table.rs` reads them."""
    texts = [piece.encode() for piece in pieces]
    scale = np.maximum(np.abs(rows).max(1, keepdims=True), 1e-9) / 127
    return b"".join((
        struct.pack("<II", len(pieces), sum(map(len, texts))),
        bytes(map(len, texts)),
        b"".join(texts),
        scores.astype("<f4").tobytes(),
        scale.astype("<f4").tobytes(),
        np.round(rows / scale).astype("i1").tobytes(),
    ))


def main():
    root, out = Path(sys.argv[1]), Path(sys.argv[2])
    latin = json.loads((root / "pieces.json").read_text())
    han = json.loads((root / "han.json").read_text())
    frequent = json.loads((root / "latin.json").read_text())
    cut = Pieces(latin, han)
    latin_scores = np.array([frequent.get(piece.removeprefix("##"), UNSEEN) for piece in latin])
    han_scores = np.array(list(han.values()))
    parts = [b"EPITOME1", struct.pack("<I", DIMENSIONS)]
    for language, names, pieces, scores in (("en", "pieces", latin, latin_scores), ("zh", "han", list(han), han_scores)):
        sentences = (root / f"{language}.txt").read_text(encoding="utf8").splitlines()
        targets, starts = np.load(root / f"{language}.npy"), np.load(root / f"{names}.npy")
        weights = SMOOTHING / (SMOOTHING + np.exp(scores))
        rows = fit(sentences, targets, pieces, starts, weights, cut)
        order = sorted(range(len(pieces)), key=pieces.__getitem__)
        parts.append(block([pieces[at] for at in order], rows[order], scores[order]))
    table = b"".join(parts)
    out.write_bytes(table)
    print(f"{hashlib.sha256(table).hexdigest()}  {out.name}")


if __name__ == "__main__":
    main()
