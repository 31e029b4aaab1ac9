#!/usr/bin/env python3
"""Records a scripted session of an agent: the words and the calls are a script's, what the calls return is real.

    python3 tools/record/record.py SCRIPT FOLDER > session.jsonl

SCRIPT has a step on each line, as JSON:

    {"user": "Why does the test fail?"}
    {"say": "I look at it.", "calls": [{"bash": "python3 -m unittest"}, {"read": "ledger/money.py"}]}
    {"say": "It rounds twice.", "calls": [{"edit": "ledger/money.py", "old": "round(", "new": "("}]}

The calls are made in a copy of FOLDER, which is left as it is. The session is written as Claude Code JSONL; times count up
from a fixed one, and ids from 0, so that the same script gives the same session. Needs Python 3.11 or newer, and bash.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

START = datetime(2026, 1, 5, 9, 0, tzinfo=timezone.utc)
SESSION = str(uuid.uuid5(uuid.NAMESPACE_URL, "https://example.org/epitome/record"))
# The most characters of a result, as agents cut them.
LIMIT = 30_000


def made(call: dict, work: Path) -> tuple[str, dict, str, bool]:
    """Makes a call; gives the tool's name, its input, what it returned, and whether it failed."""
    if "bash" in call:
        ran = subprocess.run(["bash", "-c", call["bash"]], cwd=work, text=True, errors="replace",
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        code = f"Exit code {ran.returncode}\n" if ran.returncode else ""
        return "Bash", {"command": call["bash"]}, code + ran.stdout[:LIMIT].rstrip("\n"), ran.returncode != 0
    name = next(name for name in ("read", "write", "edit") if name in call)
    path, given = work / call[name], {"file_path": call[name]}
    try:
        if name == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(call["content"])
            return "Write", given | {"content": call["content"]}, f"The file {call[name]} has been written.", False
        text = path.read_text()
        if name == "read":
            lines = (f"{number:6}→{line}" for number, line in enumerate(text.splitlines(), 1))
            return "Read", given, "\n".join(lines)[:LIMIT], False
        given |= {"old_string": call["old"], "new_string": call["new"]}
        if text.count(call["old"]) != 1:
            return "Edit", given, f"The old text stands {text.count(call['old'])} times in {call[name]}.", True
        path.write_text(text.replace(call["old"], call["new"]))
        return "Edit", given, f"The file {call[name]} has been updated.", False
    except OSError as error:
        return name.capitalize(), given, f"{call[name]}: {error.strerror}", True


def records(steps: list[dict], work: Path):
    """The session's records, a dictionary each."""
    number, parent = 0, None

    def record(role: str, content) -> dict:
        nonlocal number, parent
        at = (START + timedelta(seconds=20 * number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        this = str(uuid.uuid5(uuid.UUID(SESSION), str(number)))
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{number}", "type": "message", "model": "example-model"}
        made = {"parentUuid": parent, "isSidechain": False, "sessionId": SESSION, "cwd": "/work", "type": role,
                "uuid": this, "timestamp": at, "message": message}
        number, parent = number + 1, this
        return made

    for step in steps:
        if "user" in step:
            yield record("user", step["user"])
            continue
        results = []
        blocks = [{"type": "text", "text": step["say"]}] if step.get("say") else []
        for call in step.get("calls", []):
            tool, given, text, failed = made(call, work)
            id = f"toolu_{number}_{len(results)}"
            blocks.append({"type": "tool_use", "id": id, "name": tool, "input": given})
            result = {"type": "tool_result", "tool_use_id": id, "content": text.replace(str(work), "/work")}
            results.append(result | ({"is_error": True} if failed else {}))
        yield record("assistant", blocks)
        if results:
            yield record("user", results)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: record.py SCRIPT FOLDER > session.jsonl")
    steps = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines() if line.strip()]
    with tempfile.TemporaryDirectory(prefix="record-") as folder:
        work = Path(folder).resolve() / "work"
        shutil.copytree(sys.argv[2], work)
        for record in records(steps, work):
            print(json.dumps(record, ensure_ascii=False))


if __name__ == "__main__":
    main()
