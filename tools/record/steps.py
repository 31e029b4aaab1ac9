"""What was recorded, as the writers of formats take it: steps, ids that are always the same, a read file's lines, a diff's hunks."""

import hashlib
import re
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from events import Refused, Session


@dataclass
class Call:
    """A call with its result; a time is in milliseconds since 1970, a path in the project's folder."""

    id: str
    tool: str
    input: dict
    output: str
    failed: bool
    exit: int | None
    seconds: float
    diff: str
    created: bool
    at: int

    def path(self, cwd: Path) -> str:
        """The whole path of the file that the call is about."""
        return str(cwd / self.input["path"])

    def told(self) -> str:
        """What the call returned, in front of it the exit code where that is not 0."""
        return f"Exit code {self.exit}\n{self.output}".rstrip("\n") if self.exit else self.output


@dataclass
class Step:
    """A turn of the person (`user`), or a message of the agent."""

    at: int
    user: str | None = None
    interrupts: bool = False
    think: str = ""
    say: str = ""
    calls: list[Call] = field(default_factory=list)


class Recording:
    """A recorded session. Its ids are made from its name, its times and a count: the same in every run."""

    def __init__(self, folder: Path, model: str):
        session = Session(folder)
        if session.open_calls():
            raise Refused(f"a call has no result: `record.py show {folder}` gives it one")
        self.name, self.cwd, self.tools, self.model = session.events[0]["name"], session.cwd, session.tools, model
        self.start = milliseconds(session.events[0]["at"])
        self.steps = [step for event in session.events if (step := self.step(event, session)) is not None]
        self.count = 0

    def step(self, event: dict, session: Session) -> Step | None:
        """An event as a step; results belong to the step of their calls."""
        at = milliseconds(event["at"])
        if event["event"] == "user":
            return Step(at, user=event["text"], interrupts=event.get("interrupts", False))
        if event["event"] != "agent":
            return None
        results = {it["call"]: it for it in session.events if it["event"] == "result"}
        calls = []
        for made in event["calls"]:
            result = results[made["id"]]
            calls.append(Call(made["id"], made["tool"], made["input"], result["output"], result["failed"], result.get("exit"),
                              result["seconds"], result.get("diff", ""), result.get("created", False),
                              milliseconds(result["at"])))
        return Step(at, think=event.get("think", ""), say=event.get("say", ""), calls=calls)

    def bits(self) -> int:
        """256 bits that no other id has."""
        self.count += 1
        return int.from_bytes(hashlib.sha256(f"{self.name} {self.start} {self.count}".encode()).digest())

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.bits() >> 128, version=4))

    def uuid_at(self, at: int) -> str:
        """A UUID of version 7: it begins with its time."""
        number = at << 80 | 7 << 76 | (self.bits() & 0xFFF) << 64 | 2 << 62 | (self.bits() & (1 << 62) - 1)
        return str(uuid.UUID(int=number))

    def text(self, length: int, alphabet="0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") -> str:
        """An id of letters and digits."""
        bits, letters = self.bits(), ""
        for _ in range(length):
            bits, digit = divmod(bits, len(alphabet))
            letters += alphabet[digit]
        return letters

    def hex(self, length: int) -> str:
        return self.text(length, "0123456789abcdef")

    def provider(self) -> tuple[str, str]:
        """Whose model it is, and by which of its interfaces it is asked, in the names of Pi."""
        known = {"claude": ("anthropic", "anthropic-messages"), "gpt": ("openai", "openai-responses"),
                 "gemini": ("google", "google-generative-ai")}
        for beginning, provider in known.items():
            if self.model.startswith(beginning):
                return provider
        raise Refused(f"whose model {self.model} is, is not known: one is needed whose name begins with {', '.join(known)}")


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def time(at: int) -> str:
    """A time as JSON files have it."""
    return datetime.fromtimestamp(at / 1000, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Lines:
    """What a call read of a file: lines from `first` on, how many follow them, and what the recorder said where it cut."""

    first: int
    lines: list[str]
    rest: int
    note: str

    def last(self) -> int:
        return self.first + len(self.lines) - 1


def lines(call: Call) -> Lines:
    """The lines that a call of `read` gave."""
    first, taken, behind = call.input.get("from", 1), [], ""
    for at, line in enumerate(call.output.split("\n")):
        number, tab, text = line.partition("\t")
        if not tab or number != str(first + at):
            behind = "\n".join(call.output.split("\n")[at:]).strip("\n")
            break
        taken.append(text)
    rest = re.fullmatch(r"\(The file has (\d+) more lines\.\)", behind)
    return Lines(first, taken, int(rest[1]) if rest else 0, "" if rest else behind)


@dataclass
class Hunk:
    """A hunk of a unified diff."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[str]


def hunks(diff: str) -> list[Hunk]:
    """The hunks of a unified diff. A line in front of the first is none of a diff."""
    found = []
    for line in diff.split("\n") if diff else []:
        head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
        if head:
            found.append(Hunk(int(head[1]), int(head[2] or 1), int(head[3]), int(head[4] or 1), []))
        else:
            found[-1].lines.append(line)
    return found
