"""Values of the types that a framework exports, made by their annotations: so that a new version's new kinds are tried too."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import types
import typing
from typing import Any, Literal, Union

import typing_extensions

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
# What fields hold that want more than a text.
_NAMED: dict[str, Any] = {
    "url": "https://quay.example/contract.pdf",
    "uri": "https://quay.example/contract.pdf",
    "file_uri": "gs://quay/contract.pdf",
    "mime_type": "image/png",
    "media_type": "image/png",
    "base64": PICTURE,
    "base64_image": PICTURE,
    "base64_data": PICTURE,
    "arguments": "{}",
    "args": {},
}
_WRAPPERS = (typing.Required, typing.NotRequired, typing_extensions.Required, typing_extensions.NotRequired)
_MOST = 4


def members(union: Any) -> list[Any]:
    """The types of a union, without what annotates them."""
    if typing.get_origin(union) is typing.Annotated:
        union = typing.get_args(union)[0]
    if typing.get_origin(union) in (Union, types.UnionType):
        return [member for each in typing.get_args(union) for member in members(each)]
    return [union]


def typed_dicts(module: Any) -> list[Any]:
    """The dictionaries with types that a module exports."""
    return [kind for kind in vars(module).values() if typing_extensions.is_typeddict(kind)]


def value_of(kind: Any, name: str = "", depth: int = 0) -> Any:
    """A value of a type; of a field by its name where that says more."""
    if typing.get_origin(kind) in (typing.Annotated, typing_extensions.Annotated, *_WRAPPERS):
        return value_of(typing.get_args(kind)[0], name, depth)
    origin, args = typing.get_origin(kind) or kind, typing.get_args(kind)
    if origin is Literal:
        return args[0]
    if origin in (Union, types.UnionType):
        return value_of(next((arg for arg in args if arg is not type(None)), None), name, depth)
    if typing_extensions.is_typeddict(kind):
        if depth > _MOST:
            return {}
        hints = typing_extensions.get_type_hints(kind, include_extras=True)
        return {field: value_of(hint, field, depth + 1) for field, hint in hints.items()}
    if name in _NAMED and (origin in (str, Any, dict) or kind is Any):
        return _NAMED[name]
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return next(iter(origin))
    if origin in (bool, int, float):
        return origin(1)
    if origin is str:
        return f"the {name}"
    if origin is bytes:
        return b"\x89PNG"
    if origin is datetime.datetime:
        return datetime.datetime(2026, 9, 1, tzinfo=datetime.timezone.utc)
    if origin in (list, tuple, set, frozenset) or getattr(origin, "__name__", "") in ("Sequence", "Iterable"):
        return [value_of(args[0], name, depth + 1)] if args and depth <= _MOST else []
    if dataclasses.is_dataclass(origin):
        hints = typing_extensions.get_type_hints(origin, include_extras=True)
        fields = [field for field in dataclasses.fields(origin) if field.init]
        needed = [f for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
        return origin(**{field.name: value_of(hints[field.name], field.name, depth + 1) for field in needed})
    return {} if origin is dict or depth > 1 else f"the {name}"
