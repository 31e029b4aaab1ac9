"""A session that was compacted as a whole."""

from __future__ import annotations

from . import _epitome
from ._recognise import LIST_FIELDS
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Compacted:
    """What `compact` gives: the session after it, the report, and what left. It can be pickled and copied with all of it."""

    def __init__(self, told: dict[str, Any], data: bytes, retrieve: Callable[[str], Any]) -> None:
        self._told = told
        self._data = data
        self._retrieve = retrieve
        self._report: Report | None = None

    @property
    def report(self) -> Report:
        """Every decision with its reason."""
        if self._report is None:
            self._report = Report(self._told["report"], self._told["sizes"])
        return self._report

    @property
    def status(self) -> str:
        """`no-change`, `compacted`, `near-empty` (it fits, and almost nothing of the task is left) or `rolled-back`."""
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
        return str(self._told["format"])

    @property
    def data(self) -> bytes:
        """The session as a file of `format`: the bytes that `epitome compact` writes."""
        return self._data

    @property
    def text(self) -> str:
        """The same as text."""
        return self.data.decode()

    @property
    def warnings(self) -> list[str]:
        """What was passed over in reading, and what the format to write has no place for."""
        return list(self._told["warnings"])

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
        return self._retrieve(handle)

    def save(self, path: Any) -> None:
        """Writes `data` to a file."""
        with open(path, "wb") as file:
            file.write(self.data)

    def __getstate__(self) -> Any:
        left = {handle: self._retrieve(handle) for handle in self.report.handles}
        return (self._told, self._data, left)

    def __setstate__(self, kept: Any) -> None:
        self._told, self._data, left = kept
        self._retrieve = left.get
        self._report = None

    def __repr__(self) -> str:
        return repr(self.report).replace("<Report", "<Compacted", 1)

    def _repr_html_(self) -> str:
        return self.report.to_html()
