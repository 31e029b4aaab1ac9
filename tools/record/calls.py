"""What an agent may call, and what a call returns."""

import difflib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from events import Refused, Session

# How long a call may take, in seconds, and the most characters of a result.
SECONDS = 120
CHARACTERS = 30_000
# The most lines that are read where the agent does not say how many.
LINES = 2000

# The calls that every project has: what must be given and what may be, with the names under which it is recorded.
FORMS = {
    "bash": ({"bash": ("command", str)}, {}),
    "read": ({"read": ("path", str)}, {"from": ("from", int), "lines": ("lines", int)}),
    "write": ({"write": ("path", str), "content": ("content", str)}, {}),
    "edit": ({"edit": ("path", str), "old": ("old", str), "new": ("new", str)}, {"all": ("all", bool)}),
}


def message(text: str, tools: dict[str, dict]) -> dict:
    """The agent's message in a text of JSON, its calls as pairs of a tool and its input."""
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise Refused(f"what was given is not JSON: {error}. Nothing was done") from None
    if not isinstance(given, dict):
        raise Refused('an object is needed: {"say": "…", "calls": […]}. Nothing was done')
    if not is_text(json.dumps(given, ensure_ascii=False)):
        raise Refused("a text in it has a NUL or half a character (a lone surrogate). Nothing was done")
    for key, value in given.items():
        if not isinstance(value, {"say": str, "think": str, "calls": list}.get(key, ())):
            raise Refused(f'"{key}" is not a part of a message, or not of its type: "say" and "think" are texts, "calls" is a list. '
                          "Nothing was done")
    made = [call(number, value, tools) for number, value in enumerate(given.get("calls", []), 1)]
    if not made and not given.get("say", "").strip():
        raise Refused("a message says something or calls something. Nothing was done")
    return given | {"calls": made}


def is_text(json_text: str) -> bool:
    """Whether a JSON text can be written into a file, and handed to a command: no half characters, no NUL."""
    try:
        json_text.encode()
    except UnicodeEncodeError:
        return False
    return "\\u0000" not in json_text.replace("\\\\", "")


def call(number: int, given, tools: dict[str, dict]) -> tuple[str, dict]:
    """A call as the name of its tool and its input."""
    tool = next((name for name in (*FORMS, *tools) if isinstance(given, dict) and name in given), None)
    if tool is None:
        raise Refused(f"call {number} calls none of {', '.join((*FORMS, *tools))}. Nothing was done")
    if tool in tools:
        if len(given) != 1 or not isinstance(given[tool], dict):
            raise Refused(f'call {number}: {{"{tool}": {{…}}}} is needed, the input as an object. Nothing was done')
        return tool, given[tool]
    must, may = FORMS[tool]
    missing = [key for key in must if key not in given]
    wrong = [key for key, value in given.items() if not fits(value, (must | may).get(key))]
    if missing or wrong:
        needed = ", ".join(f'"{key}"' for key in must) + "".join(f', perhaps "{key}"' for key in may)
        raise Refused(f"call {number}, {tool}: {', '.join(missing + wrong)} missing, unknown or of another type; "
                      f"it takes {needed}. Nothing was done")
    return tool, {(must | may)[key][0]: value for key, value in given.items()}


def fits(value, form: tuple[str, type] | None) -> bool:
    """Whether a value has its key's type; numbers count from 1."""
    if form is None or not isinstance(value, form[1]):
        return False
    return form[1] is not int or (not isinstance(value, bool) and value >= 1)


def result(made: dict, session: Session) -> dict:
    """Makes a call; gives what it returned, whether it failed, its exit code where it has one, and how long it took."""
    tool, given, start = made["tool"], made["input"], time.monotonic()
    if tool in FORMS and tool != "bash":
        output, found = on_file(tool, given, session.cwd)
    else:
        command, stdin = (given["command"], None) if tool == "bash" else \
            (session.tools[tool]["command"], json.dumps(given, ensure_ascii=False))
        output, found = ran(command, stdin, session)
    return {"output": cut(shown(output, session))} | found | {"seconds": round(time.monotonic() - start, 3)}


def ran(command: str, stdin: str | None, session: Session) -> tuple[str, dict]:
    """Runs a command in the project's folder. What it starts behind itself goes on; what is over the time is ended."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as given:
        given.write((stdin or "").encode())
        given.seek(0)
        process = subprocess.Popen(["bash", "-c", command], cwd=session.cwd, env=environment(session), stdin=given,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code, late = process.wait(SECONDS), ""
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code, late = process.wait(), f"The command was stopped: it took longer than {SECONDS} s.\n"
        output.seek(0)
        text = output.read().decode(errors="replace").rstrip("\n")
    return late + text, {"failed": code != 0, "exit": 128 - code if code < 0 else code}  # as a shell says that a signal ended it


def environment(session: Session) -> dict[str, str]:
    """The variables that a command gets: none of the machine's own."""
    return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(session.folder / "home"),
            "TMPDIR": str(session.temporary), "PWD": str(session.cwd), "USER": "dev", "LOGNAME": "dev", "SHELL": "/bin/bash",
            "LANG": "C.UTF-8", "TERM": "dumb", "TZ": "UTC", "PAGER": "cat", "GIT_PAGER": "cat"}


def on_file(tool: str, given: dict, cwd: Path) -> tuple[str, dict]:
    """Reads, writes or edits a file."""
    name, path = given["path"], cwd / given["path"]
    try:
        exists = path.exists()
        raw = path.read_bytes() if exists or tool != "write" else b""
        text = raw.decode(errors="replace" if tool == "write" else "strict")
        if tool == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(given["content"], encoding="utf-8", newline="")
            changed = {"diff": diff(text, given["content"])} if exists else {"created": True}
            return f"{name} has been {'written over' if exists else 'created'}.", {"failed": False} | changed
    except OSError as error:
        return f"{name}: {error.strerror}", {"failed": True}
    except UnicodeDecodeError:
        return f"{name} is not a text in UTF-8.", {"failed": True}
    if tool == "read":
        return numbered(text, given.get("from", 1), given.get("lines", LINES)), {"failed": False}
    count = text.count(given["old"]) if given["old"] else 0
    if count == 0 or (count > 1 and not given.get("all")):
        return f"{name}: the old text stands {count} times in it; nothing was changed.", {"failed": True}
    changed = text.replace(given["old"], given["new"])
    try:
        path.write_text(changed, encoding="utf-8", newline="")
    except OSError as error:
        return f"{name}: {error.strerror}", {"failed": True}
    return f"{name} has been updated.", {"failed": False, "diff": diff(text, changed)}


def diff(old: str, new: str) -> str:
    """The hunks of a unified diff."""
    old_lines, new_lines = (text.removesuffix("\n").split("\n") for text in (old, new))
    return "\n".join(list(difflib.unified_diff(old_lines, new_lines, lineterm=""))[2:])


def numbered(text: str, first: int, count: int) -> str:
    """Lines of a text with their numbers; the last one says how many follow."""
    lines = text.removesuffix("\n").split("\n") if text else []
    if first > len(lines):
        return f"(The file has {len(lines)} lines.)"
    taken = lines[first - 1:first - 1 + count]
    rest = len(lines) - (first - 1 + len(taken))
    more = [f"(The file has {rest} more lines.)"] if rest else []
    return "\n".join([f"{number}\t{line}" for number, line in enumerate(taken, first)] + more)


def shown(text: str, session: Session) -> str:
    """A result in which the session's folder is not named: what is in it stands, for the agent, under its home."""
    home, work = session.folder / "home", session.folder / "work"
    return text.replace(str(home), str(session.cwd.parent)).replace(str(work), str(session.cwd))


def cut(text: str) -> str:
    """A text of at most `CHARACTERS`: cut at the end of a line where it can be, with a line that says how much is left out."""
    if len(text) <= CHARACTERS:
        return text
    most = CHARACTERS - 100
    end = max(text.rfind("\n", 0, most), most // 2)
    lines = text.count("\n", end) or 1
    return f"{text[:end]}\n\n... [{len(text) - end} characters in {lines} lines truncated] ..."
