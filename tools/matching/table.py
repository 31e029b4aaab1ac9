#!/usr/bin/env python3
"""Fits the weights by which `epitome_reading` tells which lines the next edits must match.

    epitome-lab matching SESSIONS > lines.jsonl
    table.py lines.jsonl            prints the weights for crates/reading/src/matching.rs
    table.py lines.jsonl --check    tells how much of what had to be matched stands in the best lines of sessions whose repository
                                    was left out, with all features and without each

The chance of a line is exp(weights · features), as a share of that of all lines of its session. README.md has the method.
"""

import argparse
import collections
import json
import pathlib
import re

import numpy

# The features in their order, which is that of `epitome_reading::MatchFeatures`.
NAMES = ["new", "read", "search", "shell", "touched", "at", "left", "copies", "newer"]
# The strength of the ridge on standardised features, and steps of Newton's method: both far from where they would matter.
RIDGE = 30.0
STEPS = 15
# A session weighs as much as the root of its matched lines, these at most: a rewrite of a whole file is one act.
MOST_MATCHED = 60
# Shares of a session's lines that `--check` looks at.
SHARES = (0.05, 0.1, 0.2)


def repository_of(file):
    """What the names of a repository's recordings begin with: letters, up to the part that numbers them."""
    return re.split(r"[-_.](?=[0-9a-f]{2}\b)", pathlib.Path(file).name)[0]


def read(path):
    """The cuts: repository, features of each line, share of what had to be matched, weight."""
    cuts, per_file = [], collections.Counter()
    for line in open(path, encoding="utf-8"):
        cut = json.loads(line)
        rows = numpy.array(cut["lines"])
        if len(rows) == 0 or rows[:, 0].sum() < 1:
            continue
        per_file[cut["file"]] += 1
        cuts.append({"file": cut["file"], "rows": rows[:, 1:], "matched": rows[:, 0]})
    for cut in cuts:
        cut["repository"] = repository_of(cut["file"])
        # Cuts of one session say much the same.
        cut["weight"] = min(cut["matched"].sum(), MOST_MATCHED) ** 0.5 / per_file[cut["file"]]
        cut["matched"] = cut["matched"] / cut["matched"].sum()
    return cuts


def fit(cuts, columns):
    """The weights of the features in `columns`, 0 for the others."""
    every = numpy.vstack([cut["rows"] for cut in cuts])
    deviation = every.std(0) + 1e-3
    weights = numpy.zeros(len(columns))
    scaled = [(cut["rows"] / deviation)[:, columns] for cut in cuts]
    mass = 3.0
    for _ in range(STEPS):
        gradient, curvature = -RIDGE * weights, RIDGE * numpy.eye(len(columns))
        for rows, cut in zip(scaled, cuts):
            odds = rows @ weights
            chances = numpy.exp(odds - odds.max())
            chances /= chances.sum()
            mean = chances @ rows
            gradient += mass * cut["weight"] * (cut["matched"] @ rows - mean)
            curvature += mass * cut["weight"] * ((rows * chances[:, None]).T @ rows - numpy.outer(mean, mean))
        step = numpy.linalg.solve(curvature, gradient)
        weights = weights + step * min(1, 2 / numpy.abs(step).max())
    full = numpy.zeros(every.shape[1])
    full[columns] = weights
    return full / deviation


def found(cut, weights):
    """The share of what had to be matched in the best lines."""
    best = numpy.argsort(-(cut["rows"] @ weights), kind="stable")
    sums = numpy.cumsum(cut["matched"][best])
    return [sums[max(int(len(sums) * share) - 1, 0)] for share in SHARES]


def check(cuts, columns):
    """The mean of the sessions, each found by weights that were fitted without its repository."""
    of_file = collections.defaultdict(list)
    for repository in sorted({cut["repository"] for cut in cuts}):
        weights = fit([cut for cut in cuts if cut["repository"] != repository], columns)
        for cut in cuts:
            if cut["repository"] == repository:
                of_file[cut["file"]].append(found(cut, weights))
    return numpy.mean([numpy.mean(shares, 0) for shares in of_file.values()], 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--without", metavar="REPOSITORY", help="fit without the recordings of one repository")
    arguments = parser.parse_args()
    cuts = read(arguments.lines)
    everything = list(range(len(NAMES)))
    if arguments.check:
        print("repositories:", dict(collections.Counter(cut["repository"] for cut in cuts)))
        print("lines:".ljust(18), "  ".join(f"{share:5.0%}" for share in SHARES))
        show = lambda name, shares: print(name.ljust(18), "  ".join(f"{share:.3f}" for share in shares))
        show("all features", check(cuts, everything))
        for at, name in enumerate(NAMES):
            show(f"without {name}", check(cuts, [other for other in everything if other != at]))
        return
    weights = fit([cut for cut in cuts if cut["repository"] != arguments.without], everything)
    print("const WEIGHTS: Features = [" + ", ".join(f"{weight:.2f}" for weight in weights) + "];")


if __name__ == "__main__":
    main()
