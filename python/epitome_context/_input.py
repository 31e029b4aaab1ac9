"""What calls take: sessions as objects, as text, or as files."""

from __future__ import annotations

from . import _epitome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def bytes_of(session: Any, name: str = "messages") -> tuple[bytes, bool]:
    """A session as bytes, and whether it came as objects: `bytes` and `str` are its text, a path is read, and anything else
    is written as JSON."""
    if isinstance(session, (bytes, bytearray, memoryview)):
        return (bytes(session), False)
    if isinstance(session, str):
        return (session.encode(), False)
    if hasattr(session, "__fspath__"):
        with open(session, "rb") as file:
            return (file.read(), False)
    return (_epitome.json_text_of(session, name), True)


def config_of(config: Any) -> Any:
    """A configuration as the native part takes it: the text of a TOML file with its name, or a dictionary as JSON."""
    if config is None:
        return None
    if isinstance(config, str) and not config.endswith(".toml"):
        return (config, "config")
    if isinstance(config, str) or hasattr(config, "__fspath__"):
        with open(config, encoding="utf-8") as file:
            return (file.read(), str(config))
    return _epitome.json_text_of(config, "config")


def query_of(
    words: tuple[str, ...],
    sources: Any,
    newest: bool,
    limit: int,
    characters: int,
    page: int,
) -> bytes:
    """A search as JSON."""
    return _epitome.json_text_of(
        {
            "words": list(words),
            "from": [sources] if isinstance(sources, str) else list(sources),
            "newest": newest,
            "limit": limit,
            "characters": characters,
            "page": page - 1 if page > 0 else 10_000,  # page 0 is behind the last one too: there is none
        },
        "search",
    )
