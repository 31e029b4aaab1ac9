#!/usr/bin/env python3
"""Replays `steps.py` against a fresh copy of `project/` and writes the session.

    python3 record.py [--out ../session.jsonl] [--keep]

Every tool call is executed for real in a temporary directory; what it printed
is what the session holds, after the normalisation described in `normalise`.
Standard library only; needs git and bash.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.dont_write_bytecode = True
import steps as script  # noqa: E402

HERE = Path(__file__).resolve().parent
HOME = "/home/dev"
PROJECT = f"{HOME}/ledger"
SESSION = str(uuid.uuid5(uuid.NAMESPACE_URL, "https://example.org/epitome/examples/ledger"))
START = datetime(2026, 4, 7, 8, 31, 12, 417000, tzinfo=timezone.utc)
VERSION = "2.1.0"
MODEL = "example-model"
LIMIT = 30000

# The recorded machine is deliberately bare: what is not in this list is not
# installed, wherever the session is recorded.
TOOLS = """bash sh git cat ls sed grep head tail wc find sort uniq diff sleep mkdir rm
cp mv touch tr cut tee seq basename dirname sha256sum env xargs true false chmod date""".split()


class Recorder:
    def __init__(self) -> None:
        if re.search(r"[^\w./-]", tempfile.gettempdir()):
            sys.exit("record: set TMPDIR to a path without spaces")
        self.root = Path(tempfile.mkdtemp(prefix="record-")).resolve()
        self.work = self.root / PROJECT[1:]
        self.tmp = self.root / "tmp"
        self.bin = self.root / "usr" / "bin"
        self.records: list[dict] = []
        self.parent: str | None = None
        self.now = START
        self.counter = 0
        self.threads: dict[str, str] = {}

    # -- the machine --------------------------------------------------------

    def prepare(self) -> None:
        shutil.copytree(HERE / "project", self.work,
                        ignore=shutil.ignore_patterns("__pycache__", "*.db", "*.db-*"))
        self.tmp.mkdir()
        self.bin.mkdir(parents=True)
        for name in TOOLS:
            found = shutil.which(name)
            if found is None:
                sys.exit(f"record: {name} is needed and not installed")
            (self.bin / name).symlink_to(found)
        for name in ("python", "python3"):
            # A wrapper, not a link: a linked interpreter may lose its library.
            (self.bin / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            (self.bin / name).chmod(0o755)
        self.git("init", "-q", "-b", "main")
        for number, (day, message, paths) in enumerate(script.HISTORY):
            self.git("add", "--", *paths)
            self.git("commit", "-q", "-m", message, when=day)
        left = self.git("status", "--short")
        if left.strip():
            sys.exit(f"record: HISTORY leaves files out:\n{left}")

    def environment(self, when: str | None = None) -> dict[str, str]:
        stamp = when or self.now.strftime("%Y-%m-%dT%H:%M:%S+00:00")
        return {
            "PATH": str(self.bin),
            "HOME": str(self.root / HOME[1:]),
            "TMPDIR": str(self.tmp),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "100",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHON_COLORS": "0",
            "LEDGER_CLOCK": script.CLOCK,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_PAGER": "cat",
            "GIT_AUTHOR_NAME": "Dev",
            "GIT_AUTHOR_EMAIL": "dev@example.org",
            "GIT_COMMITTER_NAME": "Dev",
            "GIT_COMMITTER_EMAIL": "dev@example.org",
            "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_DATE": stamp,
        }

    def git(self, *arguments: str, when: str | None = None) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.work, env=self.environment(when), check=True,
            capture_output=True, text=True,
        ).stdout

    def real(self, text: str) -> str:
        """Session paths to paths in the temporary directory."""
        return re.sub(r"(?<![\w/.])(/home/dev|/tmp)(?=[/\s\"';)]|$)",
                      lambda m: str(self.root) + m.group(1), text)

    def normalise(self, text: str) -> str:
        """Takes out what differs from run to run. Nothing else is changed:

        - the temporary directory becomes /, the interpreter and its library
          become /usr/bin/python3 and /usr/lib/python3
        - the run time of a test suite becomes 0.000s
        - names of temporary directories, object addresses, thread and process
          numbers, and ephemeral ports become fixed ones
        """
        text = text.replace(str(self.root), "")
        text = text.replace(sysconfig.get_paths()["stdlib"], "/usr/lib/python3")
        text = text.replace(sys.executable, "/usr/bin/python3")
        text = re.sub(r"(Ran \d+ tests? in )\d+\.\d+s", r"\g<1>0.000s", text)
        text = re.sub(r"/tmp/tmp[a-z0-9_]{8}", "/tmp/tmpxxxxxxxx", text)
        text = re.sub(r"\b0x[0-9a-f]{8,16}\b", "0x7f0000000000", text)
        text = re.sub(r"127\.0\.0\.1:[345]\d{4}\b", "127.0.0.1:40000", text)
        text = re.sub(r"\('127\.0\.0\.1', \d{5}\)", "('127.0.0.1', 40000)", text)
        text = re.sub(r"^\[\d+\] \d+$", "[1] 1000", text, flags=re.M)
        text = re.sub(r"(line \d+:) +\d+ (Terminated|Killed)", r"\1 1000 \2", text)

        def thread(match: re.Match) -> str:
            number = self.threads.setdefault(
                match.group(1), f"14000000000{len(self.threads) + 1:04d}")
            return f"thread id {number}"

        return re.sub(r"thread id (\d{9,})", thread, text)

    # -- tools --------------------------------------------------------------

    def call(self, name: str, given: dict) -> tuple[str, bool]:
        return getattr(self, "tool_" + name.lower())(**given)

    def tool_bash(self, command: str, description: str = "") -> tuple[str, bool]:
        output = self.root / "output"
        with output.open("wb") as sink:
            process = subprocess.Popen(
                ["bash", "-c", self.real(command)], cwd=self.work, env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            code = process.wait(timeout=120)
        text = self.normalise(output.read_bytes().decode("utf-8", "replace")).rstrip("\n")
        if len(text) > LIMIT:
            cut = text[LIMIT:].count("\n") + 1
            text = text[:LIMIT] + f"\n\n... [{cut} lines truncated] ..."
        if code != 0:
            return f"Exit code {code}\n{text}", True
        return text, False

    def stop(self) -> None:
        """Ends what a step left running: processes that work in our directory."""
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(entry / "cwd").startswith(str(self.root)):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass

    @staticmethod
    def numbered(lines: list[str], first: int) -> str:
        return "\n".join(f"{number:>6}\u2192{line}" for number, line in enumerate(lines, first))

    def tool_read(self, file_path: str, offset: int = 1, limit: int = 2000) -> tuple[str, bool]:
        path = Path(self.real(file_path))
        if not path.exists():
            return "<tool_use_error>File does not exist.</tool_use_error>", True
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        return self.numbered(lines[offset - 1 : offset - 1 + limit], offset), False

    def tool_write(self, file_path: str, content: str) -> tuple[str, bool]:
        path = Path(self.real(file_path))
        existed = path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        if existed:
            return f"The file {file_path} has been updated.", False
        return f"File created successfully at: {file_path}", False

    def tool_edit(self, file_path: str, old_string: str, new_string: str) -> tuple[str, bool]:
        path = Path(self.real(file_path))
        if not path.exists():
            return "<tool_use_error>File does not exist.</tool_use_error>", True
        text = path.read_text()
        found = text.count(old_string)
        if found == 0:
            return ("<tool_use_error>String to replace not found in file.\n"
                    f"String: {old_string}</tool_use_error>"), True
        if found > 1:
            return (f"<tool_use_error>Found {found} matches of the string to replace, but "
                    "expected one. Provide more context.\n"
                    f"String: {old_string}</tool_use_error>"), True
        path.write_text(text.replace(old_string, new_string))
        before = text[: text.index(old_string)].count("\n")
        lines = path.read_text().splitlines()
        start = max(0, before - 4)
        end = before + new_string.count("\n") + 5
        return (f"The file {file_path} has been updated. Here's the result of running `cat -n` "
                "on a snippet of the edited file:\n"
                + self.numbered(lines[start:end], start + 1)), False

    def tool_grep(self, pattern: str, path: str = PROJECT, output_mode: str = "content",
                  glob: str = "*") -> tuple[str, bool]:
        top = Path(self.real(path))
        if not top.exists():
            return f"<tool_use_error>Path does not exist: {path}</tool_use_error>", True
        wanted = re.compile(pattern)
        lines, files = [], []
        for file in sorted(top.rglob(glob)) if top.is_dir() else [top]:
            if not file.is_file() or ".git" in file.parts or file.suffix == ".db":
                continue
            name = str(file.relative_to(self.work))
            text = file.read_text(encoding="utf-8", errors="replace").splitlines()
            hits = [f"{name}:{n}:{line}" for n, line in enumerate(text, 1) if wanted.search(line)]
            if hits:
                files.append(name)
                lines += hits
        if not files:
            return "No matches found", False
        if output_mode == "files_with_matches":
            return f"Found {len(files)} files\n" + "\n".join(files), False
        return "\n".join(lines), False

    # -- records ------------------------------------------------------------

    def identity(self, kind: str) -> str:
        self.counter += 1
        return hashlib.sha256(f"{SESSION}:{kind}:{self.counter}".encode()).hexdigest()

    def advance(self, seconds: float) -> str:
        # A spread that depends on the position only, so that it is the same
        # whenever the session is recorded.
        spread = int(hashlib.sha256(str(len(self.records)).encode()).hexdigest()[:4], 16) / 65535
        self.now += timedelta(milliseconds=int(seconds * (600 + 900 * spread)))
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"

    def record(self, kind: str, message: dict, seconds: float, **more) -> str:
        number = str(uuid.uuid5(uuid.UUID(SESSION), str(len(self.records))))
        self.records.append({
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": PROJECT,
            "sessionId": SESSION,
            "version": VERSION,
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": number,
            "timestamp": self.advance(seconds),
            **more,
        })
        self.parent = number
        return number

    def user(self, text: str) -> None:
        self.record("user", {"role": "user", "content": text}, 90 + len(text) / 6)

    def assistant(self, text: str | None, calls: list) -> None:
        message_id = "msg_" + self.identity("message")[:24]
        blocks = [{"type": "text", "text": text}] if text else []
        for name, given in calls:
            blocks.append({"type": "tool_use", "id": "toolu_" + self.identity("call")[:24],
                           "name": name, "input": given})
        sources = {}
        for index, block in enumerate(blocks):
            last = index == len(blocks) - 1
            reason = ("tool_use" if calls else "end_turn") if last else None
            number = self.record("assistant", {
                "model": MODEL, "id": message_id, "type": "message", "role": "assistant",
                "content": [block], "stop_reason": reason, "stop_sequence": None,
            }, 3 + len(json.dumps(block)) / 150)
            if block["type"] == "tool_use":
                sources[block["id"]] = number
        for block in blocks:
            if block["type"] != "tool_use":
                continue
            output, failed = self.call(block["name"], block["input"])
            result = {"tool_use_id": block["id"], "type": "tool_result", "content": output}
            if failed or block["name"] == "Bash":
                result["is_error"] = failed
            self.record("user", {"role": "user", "content": [result]}, 1,
                        sourceToolAssistantUUID=sources[block["id"]])


def check(records: list[dict]) -> list[str]:
    """What a session must satisfy: one result per call, unique ids, and no hash
    in a spoken text that no earlier call or result has."""
    problems, open_calls, known = [], {}, set()
    word = re.compile(r"\b(?=[a-f]*[0-9])[0-9a-f]{7,64}\b")
    for record in records:
        content = record["message"]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "text":
                for found in word.findall(block["text"]):
                    if not any(seen.startswith(found) for seen in known):
                        problems.append(f"{found} is said but was never seen")
            elif block["type"] == "tool_use":
                if block["id"] in open_calls:
                    problems.append(f"{block['id']} is used twice")
                open_calls[block["id"]] = 0
            else:
                open_calls[block["tool_use_id"]] += 1
                known.update(word.findall(block["content"]))
    problems += [f"{name} has {n} results" for name, n in open_calls.items() if n != 1]
    numbers = [record["uuid"] for record in records]
    if len(set(numbers)) != len(numbers):
        problems.append("a uuid is used twice")
    return problems


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=HERE.parent / "session.jsonl")
    arguments.add_argument("--keep", action="store_true", help="keep the temporary directory")
    arguments.add_argument("--until", type=int, help="stop after so many steps (for drafting)")
    options = arguments.parse_args()
    recorder = Recorder()
    try:
        recorder.prepare()
        for step in script.STEPS[: options.until]:
            if step[0] == "user":
                recorder.user(step[1])
            else:
                recorder.assistant(step[1], step[2])
    finally:
        recorder.stop()
        if options.keep:
            print(f"kept {recorder.root}", file=sys.stderr)
        else:
            shutil.rmtree(recorder.root, ignore_errors=True)
    with options.out.open("w", encoding="utf-8") as sink:
        for record in recorder.records:
            sink.write(json.dumps(record, ensure_ascii=False) + "\n")
    problems = check(recorder.records)
    for problem in problems:
        print(f"record: {problem}", file=sys.stderr)
    print(f"{options.out}: {len(recorder.records)} records", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
