"""The same session gives the same bytes as the `epitome` command, whose binary `EPITOME_BIN` names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import epitome_context as epitome

EXAMPLES = Path(__file__).parents[2] / "examples"
BINARY = os.environ.get("EPITOME_BIN", "")


@pytest.mark.skipif(not BINARY, reason="EPITOME_BIN names no binary of the command; tests/python/run does")
@pytest.mark.parametrize("name", ["session.jsonl", "chat.json"])
def test_the_command_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    def check(options: list[str], **words: Any) -> None:
        output = tmp_path / "output"
        file = EXAMPLES / name
        done = subprocess.run(
            [BINARY, "compact", str(file), *options, "-o", str(output), "--quiet"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert epitome.compact(file, **words).data == output.read_bytes()

    check(["--budget", "30%"], budget=0.3)
    check(["--budget", "20%", "--to", "openai-chat"], budget=0.2, to="openai-chat")
    check(
        ["--budget", "50%", "--to", "anthropic", "--chain", "sliding-window"],
        budget=0.5,
        to="anthropic",
        chain="sliding-window",
    )
