"""A plugin of pytest: counts what our part decided while a framework's own tests ran, and fails where it was never asked."""

from __future__ import annotations

from collections import Counter
from typing import Any

decisions: Counter[str] = Counter()


def note(fitted: Any) -> None:
    """For `on_fit`."""
    decisions[fitted.status] += 1


def pytest_sessionfinish(session: Any) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["decisions"] = dict(decisions)
    elif not decisions and not session.config.option.collectonly:
        session.exitstatus = 1


def pytest_testnodedown(node: Any) -> None:
    decisions.update(node.workeroutput["decisions"])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    told = ", ".join(f"{count} {status}" for status, count in sorted(decisions.items()))
    terminalreporter.write_line(f"our decisions: {told or 'none, so that nothing was tested'}")
