"""What a list of messages becomes, by the numbers of its messages. Loaded when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._reports import FitPieceReport


class Keep(NamedTuple):
    """Messages that are sent as they came: those from `start` up to `end`, which is the first that is not one of them."""

    start: int
    end: int


class Edit(NamedTuple):
    """Message `number`, of which a part was cut. `message` is all of it as it is to be sent. `texts` has the texts that are
    other ones now, each with its JSON pointer in the message, and is `None` where more than texts changed."""

    number: int
    message: dict[str, Any]
    texts: list[tuple[str, str]] | None


class Insert(NamedTuple):
    """A message that was not there, such as a summary: the code of its reason, where there is one, and the numbers of the
    messages that it replaces."""

    message: dict[str, Any]
    reason: str | None
    replaces: list[int]


Piece = Keep | Edit | Insert


def pieces_of(told: list[dict[str, Any]], reported: Sequence[FitPieceReport]) -> list[Piece]:
    """The pieces, of what the native part tells of them, and of their reasons in the report."""
    pieces: list[Piece] = []
    for piece, report in zip(told, reported):
        if "keep" in piece:
            pieces.append(Keep(*piece["keep"]))
        elif "edit" in piece:
            edit = piece["edit"]
            texts = edit["texts"] and [(change["pointer"], change["text"]) for change in edit["texts"]]
            pieces.append(Edit(edit["index"], edit["message"], texts))
        else:
            insert: Any = dict(report)["insert"]
            pieces.append(Insert(piece["insert"]["message"], insert["reason"], insert["replaces"]))
    return pieces
