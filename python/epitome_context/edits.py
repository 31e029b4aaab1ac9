"""The edits that a strategy's plan may hold. Each takes a reason: a code in lower-case words with hyphens, and one line for
a person.

>>> drop([3, 4], "old-output", "printed before the newest test run")
{'edit': 'drop', 'units': [3, 4], 'reason': {'code': 'old-output', 'detail': 'printed before the newest test run'}}
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Edit = dict[str, Any]

__all__ = ["drop", "excerpt", "summarize", "trim"]


def drop(units: Iterable[int], code: str, detail: str) -> Edit:
    """The units leave the context whole."""
    return {"edit": "drop", "units": list(units), "reason": _reason(code, detail)}


def summarize(
    units: Iterable[int],
    code: str,
    detail: str,
    *,
    text: str | None = None,
    max_tokens: int | None = None,
    focus: str | None = None,
) -> Edit:
    """One message takes the place of neighbouring units: with `text`, or with a summary of at most `max_tokens` tokens that
    the summarizer writes.

    >>> summarize([1, 2], "old", "long done", text="The parser was fixed.")["summary"]
    {'ready': 'The parser was fixed.'}
    """
    if (text is None) == (max_tokens is None):
        raise ValueError("`summarize` takes either `text` or `max_tokens`")
    if text is not None:
        summary: Any = {"ready": text}
    else:
        summary = {"request": {"max_tokens": max_tokens, "focus": focus}}
    return {"edit": "summarize", "units": list(units), "summary": summary, "reason": _reason(code, detail)}


def excerpt(view: Any, message: int, block: int, keep: Sequence[tuple[int, int]], code: str, detail: str) -> Edit:
    """Only parts of a block's text stay: `keep` has ranges of characters, sorted; the engine writes a mark for each gap.
    Without ranges, a stub stays.

    >>> view = {"messages": [{"blocks": [{"text": "naïve: 1\\nnaïve: 2"}]}]}
    >>> excerpt(view, 0, 0, [(9, 17)], "head-cut", "the newest line")["keep"]
    [{'start': 10, 'end': 19}]
    """
    text: str = view["messages"][message]["blocks"][block]["text"]
    ranges = [{"start": _bytes_before(text, start), "end": _bytes_before(text, end)} for start, end in keep]
    return {"edit": "excerpt", "message": message, "block": block, "keep": ranges, "reason": _reason(code, detail)}


def trim(message: int, block: int, max_chars: int, code: str, detail: str) -> Edit:
    """Strings in a call's arguments that are longer than `max_chars` characters are cut to it."""
    return {
        "edit": "trim",
        "message": message,
        "block": block,
        "max_chars": max_chars,
        "reason": _reason(code, detail),
    }


def _reason(code: str, detail: str) -> dict[str, str]:
    return {"code": code, "detail": detail}


def _bytes_before(text: str, character: int) -> int:
    return len(text[:character].encode())
