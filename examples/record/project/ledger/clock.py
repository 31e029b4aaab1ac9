"""One place that knows what time it is, so that tests can fix it."""

from __future__ import annotations

import os
from datetime import datetime, timezone


def now() -> datetime:
    fixed = os.environ.get("LEDGER_CLOCK")
    if fixed:
        return datetime.fromisoformat(fixed.replace("Z", "+00:00"))
    return datetime.now(timezone.utc)


def now_ms() -> int:
    return int(now().timestamp() * 1000)


def stamp() -> str:
    return now().strftime("%Y-%m-%dT%H:%M:%SZ")
