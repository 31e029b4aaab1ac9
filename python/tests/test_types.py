"""The types say what the code does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def check(*command: str) -> None:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=PACKAGE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed() -> None:
    check("-m", "mypy", "--strict", "epitome_context", "tests/typed_use.py")


def test_the_stubs_are_those_of_the_native_part() -> None:
    check("-m", "mypy.stubtest", "epitome_context._epitome", "--ignore-disjoint-bases")
