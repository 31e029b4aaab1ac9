"""The report of a compaction: a dictionary with a stable form, and a line or a picture of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._reports import EditReport, Status
    from ._reports import ReportKeys as Base
else:
    Base = dict


class Report(Base):
    """What a compaction did, or would do: the dictionary of `epitome compact --report` (docs/command-line.md has its keys).

    In a notebook it shows as a bar of what stayed and what left. `sizes` has the tokens of each message before, where they
    are known.
    """

    sizes: list[int] | None

    def __init__(self, report: dict[str, Any], sizes: list[int] | None = None) -> None:
        super().__init__(report)
        self.sizes = sizes

    @property
    def status(self) -> Status:
        """`no-change`, `compacted`, `near-empty`, `infeasible` or `rolled-back`."""
        return self["status"]

    @property
    def edits(self) -> list[EditReport]:
        """Every edit, with its reason and the handle of what it removed."""
        return list(self["edits"])

    @property
    def handles(self) -> list[str]:
        """The handles of what left, each once, in the order of the edits: `retrieve` takes them."""
        return list(dict.fromkeys(handle for edit in self["edits"] if (handle := edit.get("recall"))))

    def __repr__(self) -> str:
        words = [f"{self['tokens_before']:,} tokens"]
        if self["tokens_after"] != self["tokens_before"]:
            words = [f"{self['tokens_before']:,} → {self['tokens_after']:,} tokens"]
            words.append(f"{self['messages_before']} → {self['messages_after']} messages")
        chain = list(dict.fromkeys(step["strategy"] for step in self["steps"] if step["edits"]))
        if chain:
            words.append(" → ".join(chain))
        return f"<Report {self['status']}: {', '.join(words)}; budget {self['budget']:,}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self), self.sizes))

    def to_html(self) -> str:
        """The report as one piece of HTML, with nothing to fetch."""
        from ._html import page

        return page(self, self.sizes)

    def _repr_html_(self) -> str:
        return self.to_html()
