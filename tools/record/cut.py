#!/usr/bin/env python3
"""Cuts a session in two at a turn of the person, for questions on what the first part has to keep.

    cut.py SESSION FOLDER [--at 0.55]

SESSION is a file that `epitome convert` reads (EPITOME_BIN names the program; without it `epitome`). FOLDER gets
`prefix.json.gz`, the messages up to the turn nearest to that share of the bytes, as `epitome eval --what probes` takes them, and for
whoever writes the questions `prefix.txt` and `rest.txt`, both sides of the cut in plain text.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path


def plain(message: dict) -> str:
    """A message in plain text, its calls with their arguments."""
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else [part.get("text", f"[{part.get('type')}]") for part in content]
    parts += [f"--> {call['function']['name']} {call['function']['arguments']}" for call in message.get("tool_calls") or []]
    return f"=== {message['role']}\n" + "\n".join(part for part in parts if part)


def place(messages: list[dict], share: float) -> int:
    """The place of the person's turn at which the share of the bytes in front is nearest to the one that is asked for."""
    sizes = [len(json.dumps(message, ensure_ascii=False)) for message in messages]
    turns = [at for at, message in enumerate(messages) if message["role"] == "user" and at > 0]
    if not turns:
        sys.exit("cut.py: the session has one turn of the person's only: there is no place to cut it")
    return min(turns, key=lambda at: abs(sum(sizes[:at]) - share * sum(sizes)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Cuts a session in two at a turn of the person.")
    parser.add_argument("session", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at", type=float, default=0.55, help="the share of the bytes in front of the cut (default: 0.55)")
    given = parser.parse_args()
    program = os.environ.get("EPITOME_BIN", "epitome")
    command = [program, "convert", str(given.session), "--to", "openai-chat"]
    try:
        messages = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["messages"]
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"cut.py: {error}")
    at = place(messages, given.at)
    given.folder.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress(json.dumps({"messages": messages[:at]}, ensure_ascii=False).encode(), mtime=0)
    (given.folder / "prefix.json.gz").write_bytes(packed)
    for name, part in [("prefix.txt", messages[:at]), ("rest.txt", messages[at:])]:
        (given.folder / name).write_text("\n".join(map(plain, part)) + "\n", encoding="utf-8")
    print(f"{at} of {len(messages)} messages are in front of the cut")


if __name__ == "__main__":
    main()
