#!/usr/bin/env python3
"""Fits the table that tells which of a person's sentences bind what comes later.

    table.py            writes crates/strategy/src/speech/binding.txt and binding-cases.txt
    table.py --check    fits once for each file of sentences, without it, and tells how well the file is known

The sentences and their labels stand in `sentences/`; README.md says how they were written. What is fitted is a logistic
regression over words, pairs of words and how a sentence begins. `features` has to do the same as its namesake in
`crates/strategy/src/speech/binding.rs`; a test there holds the two against each other by the file of cases.
"""

import argparse
import collections
import math
import pathlib
import re
import sys

import numpy
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

HERE = pathlib.Path(__file__).resolve().parent
SPEECH = HERE.parent.parent / "crates" / "strategy" / "src" / "speech"

# Inverse strength of the regularisation, features that fewer sentences hold, weights below which a feature is left out.
#
# The first two were chosen by `--check`; the third leaves out what moves nothing.
STRENGTH = 60.0
LEAST_SENTENCES = 3
LEAST_WEIGHT = 20
# Weights stand in the table as hundredths.
SCALE = 100

CJK = "\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:'[^\W_{CJK}]+)*|[?:;,$%€£¥]")
FULL_WIDTH = str.maketrans("？：；，’", "?:;,'")


def tokens(sentence):
    """Words in lower case, marks (none that only tells a mood), single Chinese characters; numbers as one word."""
    for token in TOKEN.findall(sentence.translate(FULL_WIDTH).lower()):
        if token.isdigit():
            yield "0"
        elif any(char.isdigit() for char in token):
            yield "0x"
        else:
            yield token


def is_cjk(token):
    return re.fullmatch(rf"[{CJK}]", token) is not None


def features(sentence):
    """What a sentence is known by."""
    words = list(tokens(sentence))
    found = set(words)
    found.update(" ".join(pair) for pair in zip(words, words[1:]))
    found.update(" ".join(three) for three in zip(words, words[1:], words[2:]) if all(map(is_cjk, three)))
    if words:
        found.add("^ " + words[0])
        found.add("^ " + " ".join(words[:2]))
    length = sum(len(words) >= least for least in (5, 10, 20, 35))
    found.add(f"# {length}")
    return found


def read(path):
    """The sentences of a file, each with whether it binds."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        label, _, sentence = line.partition("\t")
        if label not in ("keep", "pass") or not sentence.strip():
            sys.exit(f"{path}:{number}: expected `keep` or `pass`, a tab and a sentence")
        yield sentence.strip(), label == "keep"


def fit(rows):
    """The weights of the features, and the bias, in hundredths."""
    known = [features(sentence) for sentence, _ in rows]
    counts = collections.Counter(feature for of_one in known for feature in of_one)
    scaled = [{feature: 1 / math.sqrt(len(of_one) + 1) for feature in of_one if counts[feature] >= LEAST_SENTENCES}
              for of_one in known]
    names = DictVectorizer()
    model = LogisticRegression(C=STRENGTH, max_iter=5000, class_weight="balanced")
    model.fit(names.fit_transform(scaled), numpy.array([label for _, label in rows]))
    weights = {name: round(float(weight) * SCALE) for name, weight in zip(names.feature_names_, model.coef_[0])}
    kept = {name: weight for name, weight in weights.items() if abs(weight) >= LEAST_WEIGHT}
    return kept, round(float(model.intercept_[0]) * SCALE)


def binding(table, sentence):
    """How likely it is that a sentence binds."""
    weights, bias = table
    found = features(sentence)
    score = bias + sum(weights.get(feature, 0) for feature in found) / math.sqrt(len(found) + 1)
    return 1 / (1 + math.exp(-score / SCALE))


def check(files):
    print(f"{'file':24} {'keep':>5} {'found':>6} {'pass':>5} {'taken':>6}  area under the curve")
    for path in files:
        table = fit([row for other in files if other != path for row in read(other)])
        scores = [(binding(table, sentence), label) for sentence, label in read(path)]
        keep = numpy.array([score for score, label in scores if label])
        other = numpy.array([score for score, label in scores if not label])
        area = numpy.mean([(score > other).mean() + (score == other).mean() / 2 for score in keep])
        print(f"{path.stem:24} {len(keep):5} {(keep >= .5).mean():6.3f} {len(other):5} {(other >= .5).mean():6.3f}  {area:.3f}")


def write(files):
    rows = [row for path in files for row in read(path)]
    table = fit(rows)
    weights, bias = table
    lines = [f"{bias}\t"] + [f"{weight}\t{feature}" for feature, weight in sorted(weights.items())]
    (SPEECH / "binding.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    cases = [f"{binding(table, sentence):.3f}\t{sentence}" for sentence, _ in rows[:: max(1, len(rows) // 60)]]
    (SPEECH / "fixtures" / "binding.txt").write_text("\n".join(cases) + "\n", encoding="utf-8")
    print(f"{len(rows)} sentences, {len(weights)} features")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="tell how well each file is known without it")
    files = sorted((HERE / "sentences").glob("*.tsv"))
    check(files) if parser.parse_args().check else write(files)


if __name__ == "__main__":
    main()
