"""A host's own objects in the place of what was fitted."""

from __future__ import annotations

import json

from .._pieces import Edit, Insert, Keep
from ._media import source_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from .._fitted import Fitted
    from .._pieces import Piece

    Own = TypeVar("Own")
    Texts = list[tuple[str, str]] | None


def own_messages(
    fitted: Fitted,
    wires: Sequence[dict[str, Any]],
    own: Sequence[Own],
    edited: Callable[[Own, dict[str, Any], Texts], Own],
    inserted: Callable[[dict[str, Any]], Own],
) -> list[Own]:
    """A host's messages as they are to be sent: its own objects for what is kept.

    `wires` are the messages that were fitted, `own` are as many, in the same order. `edited(own, message, texts)` gives a copy of one of them: `message`
    is what it is to say in the form that was fitted, `texts` what changed in it, by JSON pointers, or `None` where more than
    texts changed. `inserted(message)` gives one that is new.
    """
    if fitted.unchanged:
        return list(own)
    messages: list[Own] = []
    for piece in _with_parts(fitted.pieces, wires):
        if isinstance(piece, Keep):
            messages.extend(own[piece.start : piece.end])
        elif isinstance(piece, Edit):
            messages.append(edited(own[piece.number], piece.message, piece.texts))
        else:
            messages.append(inserted(piece.message))
    return messages


# Characters of a part that stays in a result that was cut; what is longer is cut with its text.
_SMALL = 1_000


def _with_parts(pieces: list[Piece], wires: Sequence[dict[str, Any]]) -> list[Piece]:
    """The pieces with what is no text back in results that were cut: in the form that was fitted a result is text alone, its
    media follow the results of their step in a message of their own, and other parts stand in it as JSON."""
    after: list[Piece] = []
    first = 0  # the place of the first of the results that stand last
    for piece in pieces:
        if isinstance(piece, Edit) and piece.message.get("role") == "tool":
            after.append(_with_small_parts(piece, wires[piece.number].get("content")))
            continue
        content = piece.message.get("content") if isinstance(piece, Insert) else None
        media = [part for part in content if source_of(part)] if isinstance(content, list) else []
        left = {source_of(part) for part in media}
        for place in range(first, len(after)) if left else ():
            result = after[place]
            if isinstance(result, Edit):
                after[place] = _with_media(result, wires[result.number].get("content"), left)
        if left or not media:
            after.append(piece)
        if not isinstance(piece, Keep) or any(wires[at].get("role") != "tool" for at in range(piece.start, piece.end)):
            first = len(after)
    return after


def _parts_of(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []


def _with_small_parts(result: Edit, before: Any) -> Edit:
    """A result that was cut, with the parts that are neither texts nor media, where they are small."""
    texts = "\n".join(part.get("text", "") for part in _parts_of(result.message.get("content")))
    stay = []
    for part in _parts_of(before):
        json_text = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
        if part.get("type") != "text" and not source_of(part) and len(json_text) <= _SMALL:
            texts = texts.replace(json_text, "")
            stay.append(part)
    if not stay:
        return result
    said = [{"type": "text", "text": texts.strip("\n")}]
    return result._replace(message={**result.message, "content": _in_their_places(before, said, stay)}, texts=None)


def _with_media(result: Edit, before: Any, left: set[str | None]) -> Edit:
    """A result that was cut, with those of its media that are to be sent; they are taken out of `left`."""
    now = _parts_of(result.message.get("content"))
    stay = [part for part in _parts_of(before) if part in now and part.get("type") != "text" or source_of(part) in left]
    left.difference_update(map(source_of, stay))
    said = [part for part in now if part.get("type") == "text"]
    content = _in_their_places(before, said, stay)
    return result._replace(message={**result.message, "content": content}, texts=None)


def _in_their_places(before: Any, said: list[dict[str, Any]], stay: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is said now where the first text stood, and the parts that stay where they stood."""
    content: list[dict[str, Any]] = []
    for part in _parts_of(before):
        if part.get("type") == "text":
            content += said
            said = []
        elif part in stay:
            content.append(part)
    return [*said, *content]
