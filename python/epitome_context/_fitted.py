"""What became of a list of messages."""

from __future__ import annotations

from . import _epitome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._pieces import Piece
    from ._reports import FitReportKeys as Base
    from ._reports import Quality, Removal
else:
    Base = dict


class FitReport(Base):
    """All that there is to say of one call of `fit`, as a dictionary: `status`, `pieces` (what is kept, changed and new, by
    the numbers of the messages), tokens, `removals` with their handles, and in `report` the report of a compaction that this
    call made (docs/fit.md has the keys). In a notebook it shows as a bar of what stayed and what left."""

    lengths: list[int]

    def __init__(self, report: dict[str, Any], lengths: list[int]) -> None:
        super().__init__(report)
        self.lengths = lengths

    @property
    def outcomes(self) -> list[str]:
        """What became of each message of the list: `kept`, `edited`, `replaced` (by a message that was inserted) or
        `dropped`."""
        outcomes = ["dropped"] * len(self.lengths)
        for piece in self["pieces"]:
            if "keep" in piece:
                for index in range(piece["keep"]["start"], piece["keep"]["end"]):
                    outcomes[index] = "kept"
            elif "edit" in piece:
                outcomes[piece["edit"]["index"]] = "edited"
            else:
                for index in piece["insert"]["replaces"]:
                    outcomes[index] = "replaced"
        return outcomes

    def __repr__(self) -> str:
        before, after = self["tokens_before"], self["tokens_after"]
        tokens = f"{before:,} tokens" if after == before else f"{before:,} → {after:,} tokens"
        return f"<FitReport {self['status']}: {tokens}; budget {self['budget']:,}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self), self.lengths))

    def to_html(self) -> str:
        """The report as one piece of HTML, with nothing to fetch."""
        from ._html import fit_page

        return fit_page(self)

    def _repr_html_(self) -> str:
        return self.to_html()


class Fitted:
    """What `fit` gives: the messages to send, and what was done to them.

    `messages` holds the caller's own objects for what is kept, copies of them with other texts for what was cut, and new
    dictionaries for what was inserted. The caller's list and objects are never changed.

    It can be pickled and copied, with what left; the messages are copied as objects of theirs are.
    """

    messages: list[Any]
    system: Any

    def __init__(self, came: Any, told: dict[str, Any], report: bytes, retrieve: Callable[[str], Any]) -> None:
        self._told = told
        self._json = report
        self._retrieve = retrieve
        self._report: FitReport | None = None
        self.messages = _assemble(came, told)
        self.system = told["system"]

    @property
    def status(self) -> str:
        """`unchanged`; `replayed`: with what was decided in earlier calls; `compacted`: with a new decision; `near-empty`: with
        a new one, and almost nothing of the task is left."""
        return str(self._told["status"])

    @property
    def unchanged(self) -> bool:
        """Whether the list is to be sent as it came."""
        return bool(self._told["unchanged"])

    @property
    def pieces(self) -> list[Piece]:
        """What to send, by the numbers of the messages that came: `Keep`, `Edit` and `Insert`, in the order in which they are
        sent. For hosts whose messages are not dictionaries: they fit a rendering of their messages, one for one, and put their
        own objects in its place.

        >>> from epitome_context import Insert, Keep, fit
        >>> talk = [{"role": ("user", "assistant")[turn % 2], "content": f"Line {turn}. " * 90} for turn in range(41)]
        >>> for piece in fit(talk, budget=1_200).pieces:
        ...     match piece:
        ...         case Keep(start, end):
        ...             print("messages", start, "to", end - 1)
        ...         case Insert(message, _, replaces):
        ...             print("one in place of", len(replaces))
        messages 0 to 0
        one in place of 39
        messages 40 to 40
        """
        from ._pieces import pieces_of

        return pieces_of(self._told["pieces"], self.report["pieces"])

    @property
    def tokens_before(self) -> int:
        """Tokens of the list as it came, a `system` text that was given beside it included."""
        return int(self._told["tokensBefore"])

    @property
    def tokens_after(self) -> int:
        """Tokens of `messages`, that text included."""
        return int(self._told["tokensAfter"])

    @property
    def budget(self) -> int:
        """Tokens that the messages may take, what stands beside them already taken off."""
        return int(self._told["budget"])

    @property
    def report(self) -> FitReport:
        """Every decision with its reason."""
        if self._report is None:
            self._report = FitReport(_epitome.object_of(self._json), self._told["lengths"])
        return self._report

    @property
    def quality(self) -> Quality | None:
        """What the newest compaction kept of what matters, also in calls that only repeat it: `share`, `instructions`,
        `strings`, `files`, … with what was lost. `None` where there is none, or where another process made it."""
        return self.report["quality"]

    @property
    def asked(self) -> str | None:
        """What became of the compaction that the model asked for, in words for it; `None` where it asked for none."""
        told: str | None = self._told.get("asked")
        return told

    @property
    def removals(self) -> list[Removal]:
        """What has left, in all calls so far: `handle`, the numbers of its `messages`, and the `reason`."""
        return list(self.report["removals"])

    def retrieve(self, handle: str) -> Any:
        """What left under a handle: a text, or a list of messages; `None` where there is no such handle."""
        return self._retrieve(handle)

    def __getstate__(self) -> Any:
        left = {removal["handle"]: self.retrieve(removal["handle"]) for removal in self.removals}
        return (self.messages, self.system, self._told, self._json, left)

    def __setstate__(self, kept: Any) -> None:
        self.messages, self.system, self._told, self._json, left = kept
        self._retrieve = left.get
        self._report = None

    def __iter__(self) -> Any:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)

    def __repr__(self) -> str:
        return repr(self.report).replace("<FitReport", "<Fitted", 1)

    def _repr_html_(self) -> str:
        return self.report.to_html()


def _assemble(came: Any, told: dict[str, Any]) -> list[Any]:
    if isinstance(came, bytes):
        came = _epitome.object_of(came)
    if told["unchanged"]:
        return list(came)
    messages: list[Any] = []
    for piece in told["pieces"]:
        if "keep" in piece:
            start, end = piece["keep"]
            messages.extend(came[start:end])
        elif "edit" in piece:
            edit = piece["edit"]
            messages.append(_changed(came[edit["index"]], edit["message"], edit["texts"]))
        else:
            messages.append(piece["insert"]["message"])
    return messages


def _changed(own: Any, message: Any, texts: list[dict[str, str]] | None) -> Any:
    """A copy of the caller's dictionary with other texts; the message as it is to be sent where more than texts changed, or
    where the caller's object is no dictionary."""
    if texts is None or not isinstance(own, dict):
        return message
    copy: Any = own
    for change in texts:
        steps = [step.replace("~1", "/").replace("~0", "~") for step in change["pointer"].split("/")[1:]]
        try:
            copy = _with_text(copy, steps, change["text"])
        except (KeyError, IndexError, TypeError, ValueError):
            return message  # an object of a client lies on the way
    return copy


def _with_text(value: Any, steps: list[str], text: str) -> Any:
    """A copy of a value in which another text stands at the end of a path; what does not lie on it is shared."""
    if not steps:
        return text
    if isinstance(value, (list, tuple)):
        index = int(steps[0])
        items = list(value)
        items[index] = _with_text(items[index], steps[1:], text)
        return items
    if not isinstance(value, dict):
        raise TypeError(f"{type(value).__name__} has no texts that can be changed")
    return {**value, steps[0]: _with_text(value[steps[0]], steps[1:], text)}
