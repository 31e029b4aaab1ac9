"""A session over a project of two files: recorded, and written in every format."""

import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/record"
PROJECT = {
    "sums.py": "def add(a, b):\n    return a - b\n",
    "test_sums.py": "import unittest\nfrom sums import add\n\n\nclass Sums(unittest.TestCase):\n"
                    "    def test_add(self):\n        self.assertEqual(add(2, 2), 4)\n",
}
TURNS = [
    {"user": "The test fails. Why?"},
    {"user": "Wait: keep the name.", "after_calls": 3},
    {"user": "Where is sums.py?", "if_missing": "sums.py"},
    {"user": "Who wrote notes?", "if_exists": "notes.md"},
    {"user": "Good. Note it in notes.md.", "if_missing": "notes.md"},
    {"user": "Where are the notes?", "after_calls": 9, "if_missing": "notes.md"},
]
TOOLS = [{"name": "lookup", "description": "Looks a shelf up.", "input_schema": {"type": "object", "properties": {
    "shelf": {"type": "string"}}}, "command": "python3 -c 'import json, sys; print(\"shelf\", json.load(sys.stdin)[\"shelf\"])'"}]
ACTS = [
    {"say": "I run it.", "think": "The sign?", "calls": [{"bash": "python3 -m unittest 2>&1; pwd -P; echo $HOME; exit 3"},
                                                        {"read": "sums.py", "from": 2, "lines": 1}]},
    {"say": "It subtracts.", "calls": [{"edit": "sums.py", "old": "-", "new": "+"}, {"lookup": {"shelf": "é7"}},
                                       {"read": "nothing.py"}, {"bash": "seq 1 20000"}]},
    {"say": "It adds now."},
    {"calls": [{"write": "notes.md", "content": "It subtracted.\u2028\u0085\n"}, {"write": "notes.md", "content": "It subtracted: fixed.\n"},
               {"edit": "sums.py", "old": "nowhere", "new": ""}, {"bash": "git status --short sums.py notes.md"}]},
    {"say": "Noted."},
]


class Folder:
    """A session's folder, with the recorder at hand."""

    def __init__(self, clean_up):
        holder = tempfile.TemporaryDirectory(prefix="record-")
        clean_up(holder.cleanup)
        self.root = Path(holder.name).resolve()
        self.path, self.home = self.root / "rec/sums", self.root / "home"
        (self.path / "project").mkdir(parents=True)
        for name, text in PROJECT.items():
            (self.path / "project" / name).write_text(text)
        (self.path / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in TURNS))
        (self.path / "tools.json").write_text(json.dumps(TOOLS))

    def run(self, program: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, TOOL / program, *words], input=stdin, text=True, capture_output=True)

    def begin(self) -> str:
        return self.run("record.py", "begin", str(self.path), "--home", str(self.home)).stdout

    def act(self, given) -> subprocess.CompletedProcess:
        return self.run("record.py", "act", str(self.path), stdin=given if isinstance(given, str) else json.dumps(given))

    def recorded(self) -> "Folder":
        self.begin()
        for given in ACTS:
            self.act(given)
        return self

    def events(self) -> list[dict]:
        return [json.loads(line) for line in (self.path / "session.jsonl").read_text().rstrip("\n").split("\n")]


class Recording(unittest.TestCase):
    def test_the_agent_sees_what_it_does(self):
        folder = Folder(self.addCleanup)
        self.assertIn("--- the person:\nThe test fails. Why?", folder.begin())
        printed = [folder.act(given).stdout for given in ACTS]
        self.assertIn("--- call_1 bash (exit code 3):\n", printed[0])
        self.assertIn("AssertionError: 0 != 4", printed[0])
        self.assertIn(f"{folder.home}/sums\n{folder.home}\n", printed[0])
        self.assertTrue(printed[0].endswith("--- call_2 read:\n2\t    return a - b\n"), printed[0])
        self.assertIn("--- call_4 lookup:\nshelf é7\n--- call_5 read (failed):\nnothing.py: No such file or directory\n", printed[1])
        self.assertTrue(printed[1].endswith("truncated] ...\n--- the person, while you work:\nWait: keep the name.\n"), printed[1][-200:])
        self.assertEqual(printed[2], "--- the person:\nGood. Note it in notes.md.\n")
        self.assertTrue(printed[3].endswith(":\n M sums.py\n?? notes.md\n"), printed[3])
        self.assertEqual(printed[4], "--- the session ends here\n")
        shown = folder.run("record.py", "show", str(folder.path), "call_6").stdout
        self.assertTrue(shown.startswith("1\n2\n3\n") and len(shown) <= 30_001, len(shown))
        self.assertNotIn(str(folder.path), "".join(printed))

    def test_every_event_is_kept(self):
        folder = Folder(self.addCleanup).recorded()
        events = folder.events()
        kinds = [event["event"] for event in events]
        self.assertEqual(kinds, ["session", "user", "agent", "result", "result", "agent", *["result"] * 4, "user", "agent", "left_out",
                                 "left_out", "user", "agent", *["result"] * 4, "agent", "left_out", "end"])
        self.assertEqual([event["turn"] for event in events if "turn" in event], [0, 1, 2, 3, 4, 5])
        self.assertEqual(events[2]["think"], "The sign?")
        self.assertEqual(events[6]["diff"], "@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b")
        self.assertEqual([event["at"] for event in events], sorted(event["at"] for event in events))
        self.assertEqual((folder.path / "work/notes.md").read_text(), "It subtracted: fixed.\n")
        self.assertEqual((folder.path / "project/sums.py").read_text(), PROJECT["sums.py"])
        log = subprocess.run(["git", "log", "--format=%an"], cwd=folder.path / "work", text=True, capture_output=True).stdout
        self.assertEqual(log, "sums developers\n")

    def test_what_is_refused_changes_nothing(self):
        folder = Folder(self.addCleanup)
        self.assertIn("begin", folder.act({"say": "hello"}).stderr)
        folder.begin()
        before = (folder.path / "session.jsonl").read_bytes()
        for given, complaint in [
            ('{"say": "broken', "not JSON"),
            ([1], "an object is needed"),
            ({"say": " "}, "says something or calls something"),
            ({"tell": "x"}, '"tell" is not a part'),
            ({"calls": [{"bash": "touch made"}, {"bahs": "ls"}]}, "call 2 calls none of bash, read, write, edit, lookup"),
            ({"calls": [{"write": "made"}]}, "content missing"),
            ({"calls": [{"read": "sums.py", "from": 0}]}, "from missing, unknown or of another type"),
            ({"calls": [{"lookup": "é7"}]}, "the input as an object"),
            ({"calls": [{"bash": "echo \0"}]}, "a NUL"),
            ('{"say": "\\ud800"}', "half a character"),
        ]:
            answer = folder.act(given)
            self.assertIn(complaint, answer.stderr)
            self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        with open(folder.path / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("still running", folder.act(ACTS[0]).stderr)
        self.assertIn("has begun", folder.run("record.py", "begin", str(folder.path)).stderr)
        self.assertEqual((folder.path / "session.jsonl").read_bytes(), before)
        self.assertFalse((folder.path / "work/made").exists())
        for given in ACTS:
            folder.act(given)
        self.assertIn("has ended", folder.act({"say": "more"}).stderr)

    def test_a_call_that_was_cut_off_is_told(self):
        folder = Folder(self.addCleanup)
        folder.begin()
        calls = [{"id": "call_1", "tool": "bash", "input": {"command": "true"}}]
        with open(folder.path / "session.jsonl", "a") as file:
            file.write(json.dumps({"at": "2026-01-01T00:00:00.000Z", "event": "agent", "say": "on", "calls": calls}) + "\n")
        answer = folder.act({"say": "done"})
        self.assertIn("was interrupted", answer.stdout)
        self.assertIn("Nothing was done with this one", answer.stderr)
        self.assertEqual([event["event"] for event in folder.events()], ["session", "user", "agent", "result"])


class Writing(unittest.TestCase):
    NAMES = {
        "anthropic": {"bash": 3, "read": 2, "edit": 2, "write": 2, "lookup": 1},
        "claude-code": {"Bash": 3, "Read": 2, "Edit": 2, "Write": 2, "mcp__sums__lookup": 1},
        "codex": {"exec_command": 5, "apply_patch": 4, "lookup": 1},
        "opencode": {"bash": 3, "read": 2, "edit": 2, "write": 2, "lookup": 1},
        "pi": {"bash": 3, "read": 2, "edit": 2, "write": 2, "lookup": 1},
    }

    @classmethod
    def setUpClass(cls):
        cls.folder = Folder(cls.addClassCleanup).recorded()

    def test_the_program_reads_every_format(self):
        folder = self.folder
        for form, names in self.NAMES.items():
            with self.subTest(form):
                path = folder.root / form
                self.write(folder, form, path)
                self.assertNotIn(str(folder.path), path.read_text())
                report = epitome("inspect", str(path), "--json")
                self.assertEqual(report.stderr, "")
                self.assertIn(f'"{form}"', report.stdout)
                messages = json.loads(epitome("convert", "--strict", "--quiet", str(path), "--to", "openai-chat").stdout)["messages"]
                messages = [it for it in messages if "<environment_context>" not in (it["content"] or "")]
                self.assertEqual([it["role"] for it in messages], [
                    "user", "assistant", "tool", "tool", "assistant", *["tool"] * 4, "user", "assistant", "user", "assistant",
                    *["tool"] * 4, "assistant"])
                called = [call["function"]["name"] for it in messages for call in it.get("tool_calls", [])]
                self.assertEqual({name: called.count(name) for name in called}, names)
                for it, holds in [(2, "AssertionError: 0 != 4"), (3, "    return a - b"), (6, "shelf é7"), (7, "nothing.py"),
                                  (8, "characters in"), (9, "Wait: keep the name."), (16, " M sums.py")]:
                    self.assertIn(holds, messages[it]["content"])

    def test_a_change_is_a_patch_for_codex(self):
        folder = self.folder
        self.write(folder, "codex", folder.root / "rollout")
        items = [json.loads(line)["payload"] for line in (folder.root / "rollout").read_text().rstrip("\n").split("\n")]
        patches = [item["input"] for item in items if item.get("type") == "custom_tool_call"]
        self.assertEqual(patches[0], "*** Begin Patch\n*** Update File: sums.py\n@@\n def add(a, b):\n-    return a - b\n"
                                     "+    return a + b\n*** End Patch\n")
        self.assertEqual(patches[1], "*** Begin Patch\n*** Add File: notes.md\n+It subtracted.\u2028\u0085\n*** End Patch\n")
        commands = [json.loads(item["arguments"]).get("cmd") for item in items if item.get("type") == "function_call"]
        self.assertIn("sed -n '2,2p' sums.py", commands)

    def test_the_same_recording_gives_the_same_file(self):
        folder = self.folder
        for form in self.NAMES:
            first, second = folder.root / "first", folder.root / "second"
            self.write(folder, form, first)
            self.write(folder, form, second)
            self.assertEqual(first.read_bytes(), second.read_bytes(), form)

    def test_a_key_is_not_written(self):
        folder = Folder(self.addCleanup)
        folder.begin()
        folder.act({"calls": [{"bash": "echo " + "sk-ant-" + "a" * 24}]})
        answer = folder.run("write.py", str(folder.path), "pi", "--model", "claude-opus-4-5")
        self.assertRegex(answer.stderr, re.escape("names a key"))
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))

    def write(self, folder: Folder, form: str, path: Path) -> None:
        answer = folder.run("write.py", str(folder.path), form, "--model", "claude-opus-4-5", "-o", str(path))
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))


def epitome(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([os.environ["EPITOME_BIN"], *words], text=True, capture_output=True, check=True)


if __name__ == "__main__":
    unittest.main()
