"""Cuts texts into the pieces that have a row in the table; `crates/embeddings/src/pieces.rs` does the same."""

import re

RUN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[\u4e00-\u9fff]+")
UNKNOWN_HAN = -16.0


class Pieces:
    def __init__(self, latin, han):
        """`latin` are word pieces, those inside a word with `##` before them; `han` maps a piece to its log-probability."""
        self.latin, self.han = set(latin), han
        self.longest_han = max(map(len, han))

    def word(self, word):
        """The longest known piece first; a letter that begins none is left out."""
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self.latin:
                    yield piece
                    start = end
                    break
            else:
                start += 1

    def han_run(self, run):
        """The most probable way to cut a run of Han characters (Viterbi)."""
        best = [0.0] + [float("-inf")] * len(run)
        back = [0] * (len(run) + 1)
        for start in range(len(run)):
            for length in range(1, min(self.longest_han, len(run) - start) + 1):
                score = self.han.get(run[start : start + length])
                if score is None and length == 1:
                    score = UNKNOWN_HAN
                if score is not None and best[start] + score > best[start + length]:
                    best[start + length] = best[start] + score
                    back[start + length] = start
        cut, end = [], len(run)
        while end:
            cut.append(run[back[end] : end])
            end = back[end]
        return [piece for piece in reversed(cut) if piece in self.han]

    def of(self, text):
        for run in RUN.findall(text):
            yield from self.han_run(run) if run[0] >= "\u4e00" else self.word(run.lower())
