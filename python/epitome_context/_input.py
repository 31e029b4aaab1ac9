"""What calls take: sessions as objects, as text, or as files."""

from __future__ import annotations

from . import _epitome
from ._errors import ConfigError, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


# How the names of files of sessions end.
_FILES = (".json", ".jsonl", ".ndjson", ".md", ".txt", ".gz")


def whole(name: str, given: Any, least: int) -> Any:
    """A whole number of at least `least`, or `None`."""
    is_number = isinstance(given, int) and not isinstance(given, bool)
    if given is None or (is_number and least <= given < 2**32):
        return given
    raise ConfigError(f"`{name}` takes a whole number, {least} or more, not {given!r}")


def bytes_of(session: Any, name: str = "messages") -> tuple[bytes, bool]:
    """A session as bytes, and whether it came as objects: `bytes` and `str` are its text, a path is read, and anything else
    is written as JSON."""
    if isinstance(session, (bytes, bytearray, memoryview)):
        return (bytes(session), False)
    if isinstance(session, str):
        if "\n" not in session and session.endswith(_FILES):
            raise FormatError(
                f"{name}: {session!r} is not the text of a session; for a file give a path object: Path({session!r})"
            )
        return (utf8_of(session), False)
    if hasattr(session, "__fspath__"):
        with open(session, "rb") as file:
            return (file.read(), False)
    return (_epitome.json_text_of(session, name), True)


def utf8_of(text: str) -> bytes:
    """A text as UTF-8, with U+FFFD for each half of a surrogate pair: they are no characters, and come in with names of files
    and with texts that were cut within a character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def config_of(config: Any) -> Any:
    """A configuration as the native part takes it: the text of a TOML file with its name, or a dictionary as JSON."""
    if config is None:
        return None
    if isinstance(config, str) and not config.endswith(".toml"):
        return (config, "config")
    if isinstance(config, str) or hasattr(config, "__fspath__"):
        with open(config, encoding="utf-8") as file:
            return (file.read(), str(config))
    if not isinstance(config, dict):
        raise ConfigError(f"`config` takes a dictionary, the path of a TOML file or its text, not {config!r}")
    return _epitome.json_text_of(config, "config")


def listed(messages: str | Sequence[str]) -> list[str]:
    """Messages by their numbers, as the native part takes them."""
    return [messages] if isinstance(messages, str) else list(messages)
