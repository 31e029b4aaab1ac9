#!/usr/bin/env python3
"""Writes a recorded session as a file of an agent, or as a request.

    write.py FOLDER FORMAT --model NAME [-o FILE]

FORMAT is `anthropic` (a request), `claude-code`, `codex`, `opencode` or `pi`. What `epitome convert` writes, it writes from these:
`epitome convert request.json --to openai-chat`, `--to gemini`. NAME is the model's that spoke.
"""

import argparse
import json
import re
import socket
import sys
from pathlib import Path

from events import Refused
from formats import anthropic, claude_code, codex, opencode, pi
from steps import Recording

DOCUMENTS = {"anthropic": anthropic.document, "opencode": opencode.document}
LINES = {"claude-code": claude_code.records, "codex": codex.records, "pi": pi.records}


def written(recording: Recording, form: str) -> str:
    """The session in a format."""
    values = LINES[form](recording) if form in LINES else [DOCUMENTS[form](recording)]
    return "".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" for value in values)


def private(text: str, folder: Path) -> list[str]:
    """What a file must not name: where the session was recorded, the machine, a provider's key."""
    host = re.escape(socket.gethostname())
    patterns = {"the session's folder": re.escape(str(folder)), "the machine": rf"(?:@|//|Linux |node |host(?:name)?\W{{1,3}}){host}\b",
                "a key": r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{35}|AKIA[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{36})"}
    return [f"{what}: {found[0]}" for what, pattern in patterns.items() if (found := re.search(pattern, text))]


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes a recorded session as a file of an agent, or as a request.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("format", choices=sorted(DOCUMENTS | LINES))
    parser.add_argument("--model", required=True, help="the name of the model that spoke")
    parser.add_argument("-o", "--output", type=Path, help="the file to write (default: standard output)")
    given = parser.parse_args()
    try:
        text = written(Recording(given.folder, given.model), given.format)
        if named := private(text, given.folder.resolve()):
            raise Refused(f"what would be written names {'; '.join(named)}. Nothing was written")
        if given.output:
            given.output.write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
    except (Refused, OSError) as error:
        sys.exit(f"write.py: {error}")


if __name__ == "__main__":
    main()
