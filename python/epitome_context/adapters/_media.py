"""What a host's parts are to the engine: media in any form in which hosts have them, and parts that only the host and its provider
know. The latter are passed on as they are; the engine sees what they cost."""

from __future__ import annotations

import base64
import math
import re
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# Words in the kinds of parts that hold media, and in those of calls and results, which may hold them beside other things.
_HOLDERS = re.compile("image|picture|video|audio|sound|file|document|media|blob|binary|data|uri", re.I)
_CALLS = re.compile("call|result|search|tool|output", re.I)
# The types of media by the words in a kind, and the format of one that names none.
_TYPES = (("image", "png"), ("video", "mp4"), ("audio", "mpeg"))
# The fields that hosts have for what is known of a medium, in small letters without underscores.
_FIELDS = {
    "data": ("data", "base64", "bytes", "filedata", "base64image", "base64data", "image", "audio", "video"),
    "url": ("url", "uri", "fileurl", "fileuri", "imageurl", "location", "path", "image", "audio", "video"),
    "id": ("fileid",),
    "mime": ("mimetype", "mediatype", "imagemimetype", "documentmimetype", "videomimetype"),
    "format": ("format",),
    "name": ("filename", "name", "title", "displayname"),
    "detail": ("detail",),
}
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
# Characters from which on a text in base64 is data: a provider does not read it as text.
_DATA_LENGTH = 512


@dataclass
class _Medium:
    data: str = ""
    url: str = ""
    id: str = ""
    mime: str = ""
    format: str = ""
    name: str = ""
    detail: str = ""


def part_of(kind: str, value: Any) -> dict[str, Any]:
    """A part of a host's as a part of OpenAI's chat completions: a medium as what it is; any other as JSON, under its own kind,
    with the length of data in place of the data."""
    plain_value = _plain(value)
    medium = _Medium()
    if _HOLDERS.search(kind) and not _CALLS.search(kind):
        _look(plain_value, medium)
    mime = medium.mime or _mime_of_kind(kind, medium)
    is_text = mime.startswith("text/") and not (medium.url or medium.id)
    if is_text or not (medium.data or medium.url or medium.id):
        shown = {"text": _text_of(medium.data)} if medium.data else _shown(plain_value)
        return {**shown, "type": kind} if isinstance(shown, dict) else {"type": kind, "content": shown}
    url = medium.url or (medium.data and f"data:{mime};base64,{medium.data}")
    place = mime.split("/")[0]
    if url and place in ("image", "audio", "video"):
        detail = {"detail": medium.detail} if medium.detail else {}
        return {"type": f"{place}_url", f"{place}_url": {"url": url, **detail}}
    where = ("file_data" if url.startswith("data:") else "file_url") if url else "file_id"
    return {"type": "file", "file": {"filename": medium.name or kind, where: url or medium.id}}


def _text_of(data: str) -> str:
    """The text that data in base64 is."""
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "replace")
    except ValueError:
        return data


def _mime_of_kind(kind: str, medium: _Medium) -> str:
    if medium.url.startswith("data:"):
        return medium.url[5:].split(";")[0].split(",")[0]
    for name, usual in _TYPES:
        if name in kind.lower():
            return f"{name}/{medium.format or usual}"
    return f"application/{medium.format or 'octet-stream'}"


def _look(value: Any, medium: _Medium) -> None:
    """Finds what is known of a medium in a value and in the objects within it; lists are other parts."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, bytes):
            medium.data = medium.data or _base64_of(inner)
        elif isinstance(inner, str):
            _note(key.lower().replace("_", ""), inner, medium)
        else:
            _look(inner, medium)


def _base64_of(data: bytes) -> str:
    """Bytes in base64; some hosts have them so already."""
    text = data.decode("latin-1")
    return text if _BASE64.fullmatch(text) else base64.b64encode(data).decode()


def _note(key: str, text: str, medium: _Medium) -> None:
    is_place = key == "path" or text.startswith("data:") or "://" in text[:24]
    fits = {"data": not is_place and _BASE64.fullmatch(text), "url": is_place, "mime": "/" in text}
    for field, keys in _FIELDS.items():
        if key in keys and text and fits.get(field, True) and not getattr(medium, field):
            setattr(medium, field, text)


def _plain(value: Any) -> Any:
    """A value of a host's as plain data: models and dataclasses as dictionaries, bytes as they are."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (str, bytes, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name, None)) for field in fields(value)}
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump(exclude_none=True))
    return str(value)


def _shown(value: Any) -> Any:
    """Plain data as JSON, without what is no text to a provider."""
    if isinstance(value, dict):
        return {key: _shown(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_shown(inner) for inner in value]
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    if isinstance(value, str) and len(value) >= _DATA_LENGTH and _BASE64.fullmatch(value.rsplit(",", 1)[-1]):
        return f"({len(value)} characters)"
    return value


# The parts of OpenAI's chat completions that are media.
_MEDIA = frozenset(("image_url", "audio_url", "video_url", "input_audio", "file"))


def source_of(part: dict[str, Any]) -> str | None:
    """Where the medium of a part is: its address, its id, or its data; `None` of a part that is none."""
    inner = part.get(part["type"]) if part.get("type") in _MEDIA else None
    for text in _sources(inner):
        return text.rsplit(";base64,", 1)[-1]
    return None


def _sources(inner: Any) -> Iterator[str]:
    if isinstance(inner, str):
        yield inner
    elif isinstance(inner, dict):
        for key in ("url", "file_data", "file_url", "file_id", "data"):
            if isinstance(inner.get(key), str):
                yield inner[key]


def with_places(messages: list[Any]) -> list[Any]:
    """Messages of OpenAI's chat completions in which the media of results have a place behind them: a document at an address has
    none, and costs what a picture does."""
    return [
        {**message, "content": [_with_place(part) for part in message["content"]]}
        if message["role"] == "tool" and isinstance(message.get("content"), list)
        else message
        for message in messages
    ]


def _with_place(part: dict[str, Any]) -> dict[str, Any]:
    is_at_address = part.get("type") == "file" and "file_url" in part["file"]
    return {"type": "image_url", "image_url": {"url": part["file"]["file_url"]}} if is_at_address else part
