"""A session that was compacted as a whole."""

from __future__ import annotations

from . import _epitome
from ._recognise import LIST_FIELDS
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Kept:
    """What a copy of `Compacted` goes by: plain data in place of the native outcome."""

    def __init__(self, outcome: Any, handles: list[str]) -> None:
        self.format = outcome.format
        self.sizes = outcome.sizes
        self.warnings = outcome.warnings
        self._report = outcome.report()
        self._written: tuple[bytes, list[str]] = outcome.write()
        self._left = {handle: outcome.retrieve(handle) for handle in handles}

    def report(self) -> Any:
        return self._report

    def write(self) -> tuple[bytes, list[str]]:
        return self._written

    def retrieve(self, handle: str) -> Any:
        return self._left.get(handle)


class Compacted:
    """What `compact` gives: the session after it, the report, and what left. It can be pickled and copied with all of it."""

    _outcome: _epitome.Outcome | _Kept

    def __init__(self, outcome: _epitome.Outcome) -> None:
        self._outcome = outcome
        self._written: tuple[bytes, list[str]] | None = None
        self._report: Report | None = None

    @property
    def report(self) -> Report:
        """Every decision with its reason."""
        if self._report is None:
            self._report = Report(self._outcome.report(), self._outcome.sizes)
        return self._report

    @property
    def status(self) -> str:
        """`no-change`, `compacted`, `hollow` (it fits, and next to nothing of the subject is left) or `rolled-back`."""
        return self.report.status

    @property
    def unchanged(self) -> bool:
        """Whether the session is as it was: it fits, or a compaction was rolled back."""
        return self.status in ("no-change", "rolled-back")

    @property
    def tokens_before(self) -> int:
        """Tokens of the messages before."""
        return int(self.report["tokens_before"])

    @property
    def tokens_after(self) -> int:
        """Tokens of the messages after."""
        return int(self.report["tokens_after"])

    @property
    def budget(self) -> int:
        """Tokens that the messages may take."""
        return int(self.report["budget"])

    @property
    def format(self) -> str:
        """The format of `data`."""
        return self._outcome.format

    @property
    def data(self) -> bytes:
        """The session as a file of `format`: the bytes that `epitome compact` writes."""
        return self._write()[0]

    @property
    def text(self) -> str:
        """The same as text."""
        return self.data.decode()

    @property
    def warnings(self) -> list[str]:
        """What was passed over in reading, and what the format to write has no place for."""
        return self._outcome.warnings + self._write()[1]

    @property
    def request(self) -> dict[str, Any]:
        """The session as a request of its provider: `messages` (or `input`, or `contents`) with the system prompt and the tools.

        For the formats of providers only; an agent's own file is in `data`.
        """
        if self.format not in LIST_FIELDS:
            from ._errors import FormatError

            raise FormatError(
                f"{self.format} is an agent's file and not a request: take `data`, or ask for another `to`"
            )
        request = _epitome.object_of(self.data)
        if isinstance(request, list):
            return {LIST_FIELDS[self.format]: request}
        return dict(request)

    @property
    def messages(self) -> list[Any]:
        """The messages of `request`. They are new objects; `fit` gives a caller's own ones back."""
        request = self.request
        return list(request[LIST_FIELDS[self.format]])

    def retrieve(self, handle: str) -> Any:
        """What left under a handle of the report: a text, or a list of messages; `None` where there is no such handle."""
        return self._outcome.retrieve(handle)

    def save(self, path: Any) -> None:
        """Writes `data` to a file."""
        with open(path, "wb") as file:
            file.write(self.data)

    def __getstate__(self) -> Any:
        return self._outcome if isinstance(self._outcome, _Kept) else _Kept(self._outcome, self.report.handles)

    def __setstate__(self, kept: _Kept) -> None:
        self._outcome = kept
        self._written = None
        self._report = None

    def __repr__(self) -> str:
        return repr(self.report).replace("<Report", "<Compacted", 1)

    def _repr_html_(self) -> str:
        return self.report.to_html()

    def _write(self) -> tuple[bytes, list[str]]:
        if self._written is None:
            self._written = self._outcome.write()
        return self._written
