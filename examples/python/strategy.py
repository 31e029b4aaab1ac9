"""A strategy in Python: of each tool's long result, only the lines with numbers in them stay that no other result has.

python examples/python/strategy.py
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import epitome_context as epitome
from epitome_context import edits

SESSION = Path(__file__).parents[1] / "session.jsonl"


class RareLines:
    """Of old results, the lines stay that stand nowhere else."""

    id = "rare-lines"

    def __init__(self, newest: int = 6) -> None:
        self.newest = newest

    def plan(self, view: Any, goal: Any) -> Any:
        counts = Counter(line for message in view["messages"] for line in self.lines(message))
        for message in view["messages"][: -self.newest]:
            if message["role"] != "tool" or not view["units"][message["unit"]]["may_edit"]:
                continue
            for number, block in enumerate(message["blocks"]):
                if block["excerptable"]:
                    keep = list(self.rare(block["text"], counts))
                    yield edits.excerpt(
                        view, message["position"], number, keep, "repeated", "lines that stand elsewhere"
                    )

    @staticmethod
    def lines(message: Any) -> list[str]:
        return [line for block in message["blocks"] for line in block.get("text", "").splitlines()]

    @staticmethod
    def rare(text: str, counts: Counter[str]) -> Any:
        """The ranges of characters that stay."""
        at = 0
        for line in text.splitlines(keepends=True):
            if line.strip() and counts[line.rstrip("\n")] == 1:
                yield (at, at + len(line))
            at += len(line)


def main() -> None:
    report = epitome.compact(SESSION, budget=0.5, chain=[RareLines(), "transcript"]).report
    print(report)
    for step in report["steps"]:
        print(
            f"{step['strategy']:>12}: {step['tokens_before'] - step['tokens_after']:,} tokens saved, {step['edits']} edits"
        )


if __name__ == "__main__":
    main()
