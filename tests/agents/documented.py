"""The set-up of clients as docs/recall.md has it, so that what is written there is what was run."""

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs/recall.md").read_text()


def block(language, part):
    """The only fenced block of a language that holds `part`."""
    found = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S) if part in text]
    assert len(found) == 1, f"docs/recall.md has {len(found)} {language} blocks with {part!r}"
    return found[0]


def line(part):
    """The only command of the shell's blocks that holds `part`, continued lines joined."""
    text = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.S)).replace("\\\n", " ")
    found = [line for line in text.splitlines() if part in line]
    assert len(found) == 1, f"docs/recall.md has {len(found)} commands with {part!r}"
    return found[0]
