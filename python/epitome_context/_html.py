"""A picture of a compaction: plain HTML and SVG, nothing to fetch, everything escaped."""

from __future__ import annotations

from html import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._fitted import FitReport

# What became of messages, in the order of the legend, with a colour that a light and a dark page can show.
_COLOURS = {
    "kept": "#2f9e66",
    "pinned": "#1f6f8b",
    "edited": "#e0b13a",
    "excerpted": "#e0b13a",
    "trimmed": "#d98e32",
    "summarized": "#8d7bc4",
    "replaced": "#8d7bc4",
    "dropped": "#b5483f",
}
_WIDTH = 720
_ROWS = 50


def page(report: dict[str, Any], sizes: list[int] | None) -> str:
    """A report of a compaction as HTML: the figures, a bar of the messages before, and the edits with their reasons."""
    receipts = report["messages"]
    told = [(f"{receipt['role']} ({receipt['id']})", receipt["outcome"]) for receipt in receipts]
    if sizes is None or len(sizes) != len(told):
        return _whole(report, _bar(told, [1] * len(told), ""), _edits(report))
    return _whole(report, _bar(told, sizes, "tokens"), _edits(report))


def fit_page(report: FitReport) -> str:
    """A report of a fitted list as HTML: the same with what has left."""
    told = [("message", outcome) for outcome in report.outcomes]
    rows = [(f"{len(removal['messages'])}", removal["reason"], removal["handle"]) for removal in report["removals"]]
    table = _table(("messages", "why", "handle"), rows, f"{len(rows)} removals")
    return _whole(report, _bar(told, report.lengths, "characters"), table)


def _whole(report: dict[str, Any], bar: str, table: str) -> str:
    before, after, budget = report["tokens_before"], report["tokens_after"], report["budget"]
    figures = f"{before:,} tokens"
    if after != before:
        saved = 100 * (before - after) / max(before, 1)
        figures = f"{before:,} → {after:,} tokens ({saved:.0f} % saved)"
    share = 100 * min(after / max(before, 1), 1.0)
    left = (
        '<div style="background:#8884;height:6px;margin:2px 0" title="tokens after, as a share of those before">'
        f'<div style="background:#2f9e66;height:6px;width:{share:.1f}%"></div></div>'
    )
    heading = f"<div><b>{escape(report['status'])}</b> · {figures} · budget {budget:,}</div>"
    return f'<div style="font:13px/1.5 system-ui,sans-serif;max-width:760px">{heading}{bar}{left}{table}</div>'


def _bar(told: list[tuple[str, str]], sizes: list[int], unit: str) -> str:
    """One rectangle a message, as wide as it is large, with a legend; a pointer that rests on one shows which it is."""
    total = sum(sizes) or 1
    x = 0.0
    parts: list[str] = []
    for index, ((name, outcome), size) in enumerate(zip(told, sizes)):
        width = _WIDTH * size / total
        colour = _COLOURS.get(outcome, "#888888")
        title = escape(f"#{index} {name}{f', {size:,} {unit}' if unit else ''}: {outcome}")
        parts.append(
            f'<rect x="{x:.2f}" y="0" width="{max(width - 0.3, 0.4):.2f}" height="26" fill="{colour}">'
            f"<title>{title}</title></rect>"
        )
        x += width
    counts = {outcome: sum(became == outcome for _, became in told) for outcome in _COLOURS}
    legend = [
        f'<span style="margin-right:1em"><span style="color:{_COLOURS[outcome]}">■</span> {count} {outcome}</span>'
        for outcome, count in counts.items()
        if count
    ]
    return (
        f'<svg viewBox="0 0 {_WIDTH} 26" width="100%" height="26" preserveAspectRatio="none" role="img" '
        f'aria-label="what became of each message">{"".join(parts)}</svg><div>{"".join(legend)}</div>'
    )


def _edits(report: dict[str, Any]) -> str:
    edits = sorted(report["edits"], key=lambda edit: -edit["tokens_saved"])
    rows = [
        (
            f"{edit['tokens_saved']:,}",
            edit["edit"],
            edit["strategy"],
            f"{len(edit['messages'])}",
            edit["reason"]["detail"],
            edit.get("recall") or "",
        )
        for edit in edits
    ]
    return _table(("saved", "edit", "strategy", "messages", "why", "handle"), rows, f"{len(rows)} edits")


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], title: str) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[:_ROWS])
    more = f"<div>… and {len(rows) - _ROWS} more</div>" if len(rows) > _ROWS else ""
    return f"<details><summary>{title}</summary><table><tr>{head}</tr>{body}</table>{more}</details>"
