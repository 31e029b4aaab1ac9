"""Logging to stderr. `LEDGER_LOG` is one of off, info, debug."""

from __future__ import annotations

import os
import sys

LEVELS = {"off": 0, "info": 1, "debug": 2}


def level() -> int:
    return LEVELS.get(os.environ.get("LEDGER_LOG", "off"), 0)


def _emit(tag: str, area: str, text: str, fields: dict) -> None:
    tail = "".join(f" {key}={value!r}" for key, value in fields.items())
    print(f"[{tag}] {area}: {text}{tail}", file=sys.stderr)


def info(area: str, text: str, **fields) -> None:
    if level() >= 1:
        _emit("info", area, text, fields)


def debug(area: str, text: str, **fields) -> None:
    if level() >= 2:
        _emit("debug", area, text, fields)
