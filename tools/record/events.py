"""The recorded events of a session: `session.jsonl`, to which every event is only ever appended."""

import json
import os
import re
import shutil
import subprocess
from datetime import datetime, timezone
from pathlib import Path


class Refused(Exception):
    """What is wrong with a folder or with what was asked for."""


def json_lines(path: Path) -> list[dict]:
    """The objects of a file of JSON lines. Only a line feed ends a line: JSON may hold the other ends of lines as they are."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise Refused(f"{path}, line {number}: {error}") from None
        if not isinstance(value, dict):
            raise Refused(f"{path}, line {number}: an object is needed")
        found.append(value)
    return found


TURN_KEYS = {"user": str, "after_calls": int, "if_missing": str, "if_exists": str}
TOOL_KEYS = {"name": str, "description": str, "input_schema": dict, "command": str}


def read_turns(path: Path) -> list[dict]:
    """The person's turns."""
    turns = json_lines(path)
    for number, turn in enumerate(turns, 1):
        wrong = [key for key, value in turn.items() if not isinstance(value, TURN_KEYS.get(key, ()))]
        if wrong or "user" not in turn:
            raise Refused(f"{path}, turn {number}: {', '.join(wrong) or 'user'} is not as README.md says")
    if not turns:
        raise Refused(f"{path}: the person says nothing")
    return turns


def read_tools(path: Path) -> dict[str, dict]:
    """The project's own tools by their names; none where it has no file of them."""
    if not path.exists():
        return {}
    try:
        tools = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise Refused(f"{path}: {error}") from None
    for tool in tools if isinstance(tools, list) else [tools]:
        if not isinstance(tool, dict) or any(not isinstance(tool.get(key), kind) for key, kind in TOOL_KEYS.items()):
            raise Refused(f"{path}: a list is needed of objects with {', '.join(TOOL_KEYS)}")
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool["name"]) or tool["name"] in ("say", "bash", "read", "write", "edit"):
            raise Refused(f"{path}: {tool['name']!r} cannot be the name of a tool")
    return {tool["name"]: tool for tool in tools}


class Session:
    """A session as far as it is recorded."""

    def __init__(self, folder: Path):
        self.folder, self.path = folder, folder / "session.jsonl"
        if not self.path.exists():
            raise Refused(f"{self.path} is not there: `record.py begin {folder}` makes it")
        self.events = json_lines(self.path)
        self.cwd = Path(self.events[0]["cwd"])
        self.temporary = Path(self.events[0]["temporary"])
        self.tools = {tool["name"]: tool for tool in self.events[0]["tools"]}
        self.turns = read_turns(folder / "turns.jsonl")

    def append(self, event: dict) -> None:
        """Records an event, with the time that it is now, before anything else happens."""
        self.events.append(stamped(event))
        append(self.path, self.events[-1])

    def next_turn(self) -> int:
        """Which of the person's turns comes next, counted from 0."""
        return 1 + max((event["turn"] for event in self.events if "turn" in event), default=-1)

    def agent_messages(self) -> list[dict]:
        return [event for event in self.events if event["event"] == "agent"]

    def calls_made(self) -> int:
        return sum(len(event["calls"]) for event in self.agent_messages())

    def calls_since_turn(self) -> int:
        """How many calls were made since the person last spoke."""
        count = 0
        for event in self.events:
            count = 0 if event["event"] == "user" else count + len(event.get("calls", []))
        return count

    def call(self, id: str) -> dict:
        return next(call for event in self.agent_messages() for call in event["calls"] if call["id"] == id)

    def open_calls(self) -> list[dict]:
        """The calls that have no result."""
        answered = {event["call"] for event in self.events if event["event"] == "result"}
        return [call for event in self.agent_messages() for call in event["calls"] if call["id"] not in answered]

    def agent_ended(self) -> bool:
        """Whether the person is to speak now: nobody has spoken, or the agent's last message calls nothing."""
        spoken = [event for event in self.events if event["event"] in ("user", "agent")]
        return not spoken or (spoken[-1]["event"] == "agent" and not spoken[-1]["calls"])

    def ended(self) -> bool:
        return self.events[-1]["event"] == "end"

    def since_agent(self) -> list[dict]:
        """The events behind the agent's last message."""
        last = max((number for number, event in enumerate(self.events) if event["event"] == "agent"), default=0)
        return self.events[last + 1:]

    def end(self) -> None:
        """Puts the project's folder, as the agent left it, into `work` of the session's folder, and records the end."""
        work = self.folder / "work"
        if work.is_symlink():
            work.unlink()
        if self.cwd.exists():
            shutil.move(self.cwd, work)
        self.append({"event": "end"})


def stamped(event: dict) -> dict:
    """An event with the time that it is now."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"at": now} | event


def append(path: Path, event: dict) -> None:
    """Appends an event to a file, and waits until it is on the disk."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(event, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def begun(folder: Path, home: Path) -> Session:
    """Copies the project to where it is worked on, with one commit, and starts the file of the session."""
    if (folder / "session.jsonl").exists():
        raise Refused(f"{folder / 'session.jsonl'} is there already: the session has begun")
    if not (folder / "project").is_dir():
        raise Refused(f"{folder / 'project'} is not there: it holds the project's files")
    read_turns(folder / "turns.jsonl")
    tools = read_tools(folder / "tools.json")
    home = home.absolute()
    cwd, temporary = home / folder.name, home / ".tmp" / folder.name
    for taken in (cwd, folder / "work"):
        if os.path.lexists(taken):
            raise Refused(f"{taken} is there already: remove it, or give the folder another name")
    shutil.copytree(folder / "project", cwd, symlinks=True)
    (folder / "work").symlink_to(cwd)
    temporary.mkdir(parents=True, exist_ok=True)
    (folder / "home").mkdir(exist_ok=True)
    if not os.path.lexists(folder / "home" / folder.name):
        (folder / "home" / folder.name).symlink_to(cwd)
    for command in (["init", "--quiet", "--initial-branch=main"], ["config", "user.name", f"{folder.name} developers"],
                    ["config", "user.email", f"dev@{folder.name}.example"], ["add", "--all"],
                    ["commit", "--quiet", "--allow-empty", "--message=The project as it stands"]):
        ran = subprocess.run(["git", *command], cwd=cwd, env=os.environ | {"HOME": str(folder / "home")},
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ran.returncode != 0:
            raise Refused(f"git {command[0]} in {cwd}: {ran.stdout.strip()}")
    append(folder / "session.jsonl", stamped({"event": "session", "name": folder.name, "cwd": str(cwd),
                                              "temporary": str(temporary), "tools": list(tools.values())}))
    return Session(folder)
