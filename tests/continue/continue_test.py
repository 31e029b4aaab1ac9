"""One session: its contexts, folders of scripted agents, what they did, and the table."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL, SESSIONS = ROOT / "tools/continue", ROOT / "benches/sessions"
sys.path.insert(0, str(TOOL))
from grade import check, unpack  # noqa: E402
from render import render  # noqa: E402
from sessions import history  # noqa: E402
from table import bootstrap, wilson  # noqa: E402

EPITOME = os.environ["EPITOME_BIN"]
# A part of the task, as an agent would do it that has read the whole session.
WROTE = """echo '{"title": "Salt, Carried", "objects": 60, "hand_carried": "K-07", "gone": [27, 36, 45, 52, 56]}' > plan.json
echo "No price of transport." > ../ANSWER.md"""
LOOKED_UP = """../epitome search ../session.json.gz title printers --limit 1; ../epitome restore ../session.json.gz --handle '#0'
../epitome convert ../session.json.gz; true"""


class Going(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="continue-")
        cls.addClassCleanup(holder.cleanup)
        cls.root = Path(holder.name).resolve()
        cls.session = cls.root / "sessions/saltshow"
        shutil.copytree(SESSIONS / "saltshow", cls.session)
        cls.contexts = cls.root / "contexts"
        done = cls.call("contexts", cls.contexts, "--epitome", EPITOME, "--sessions", cls.session)
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.known = json.loads((cls.contexts / "contexts.json").read_text())

    @staticmethod
    def call(*words) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, TOOL / "continue.py", *map(str, words)], text=True, capture_output=True)

    def good(self, *words) -> str:
        done = self.call(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, words: tuple, *expected: str):
        done = self.call(*words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("Traceback", done.stderr)
        for part in expected:
            self.assertIn(part, done.stderr)

    def folder(self, name: str, condition: str) -> Path:
        folder = self.root / "runs" / name
        self.good("prepare", self.contexts, "saltshow", condition, folder)
        return folder

    def ran(self, name: str, condition: str, agent: str, *more) -> tuple[Path, dict]:
        folder = self.folder(name, condition)
        self.good("run", self.contexts, folder, "--agent", agent, *more)
        return folder, json.loads((folder / "result.json").read_text())

    def test_contexts_have_the_same_room_and_the_newest_is_the_end_of_the_whole(self):
        of = self.known["sessions"]["saltshow"]["contexts"]
        self.assertEqual(of["recall"], of["default"])
        self.assertLess(of["default"]["tokens"], 0.2 * of["whole"]["tokens"])
        most = max(of["default"]["tokens"], 0.15 * of["whole"]["tokens"])
        self.assertTrue(0.9 * most < of["newest"]["tokens"] <= most, of)
        whole, newest = ((self.contexts / of[name]["file"]).read_text() for name in ("whole", "newest"))
        self.assertTrue(whole.endswith(newest.split("\n\n", 1)[1]))
        self.assertIn("Last thing for today: what am I still waiting for", newest)

    def test_a_folder_has_nothing_that_helps_to_cheat(self):
        for condition in ("whole", "default", "newest", "recall"):
            folder = self.folder(f"seen-{condition}", condition)
            expected = {"work", "context.md", "prompt.md"} | ({"epitome", "session.json.gz"} if condition == "recall" else set())
            self.assertEqual({path.name for path in folder.iterdir()}, expected)
            self.assertEqual({path.name for path in (folder / "work").iterdir()}, {"README.md", ".git"})
            prompt = (folder / "prompt.md").read_text()
            self.assertIn("one sheet from me", prompt)
            self.assertEqual("epitome" in prompt, condition == "recall")
            self.assertNotIn("$", prompt)

    def test_an_agent_goes_on_and_the_table_tells_of_it(self):
        folder, result = self.ran("abcdef", "whole", WROTE)
        self.assertEqual({name for name, good in result["checks"].items() if good}, {"title", "objects", "hand-carried"})
        self.assertEqual((result["done"], result["answer"], result["searches"], result["exit"]), (False, True, 0, 0))
        self.assertIs(result["history"]["title"], True)
        other, result = self.ran("ghijkl", "recall", LOOKED_UP)
        self.assertEqual((result["searches"], result["restores"], sum(result["checks"].values())), (1, 1, 0))
        said = (self.contexts / "folders/ghijkl.log").read_text()
        self.assertIn("printers' child", said)
        self.assertIn("I curate at a small museum", said)
        self.assertIn("only search and restore are here", said)
        printed = self.good("table", self.contexts, folder, other, "--json", self.root / "table.json")
        self.assertIn("| whole | 1 | 0.09 [0.09, 0.09] | 0.09 [0.09, 0.09] | 0.00 |", printed)
        self.assertIn("| recall | 1 | 0.00 [0.00, 0.00] | 0.00 [0.00, 0.00] | 0.00 | 0 of 1 [0.00, 0.79] | 2.0 |", printed)
        self.assertIn("| saltshow | 0.09, 0.09 | 0.00, 0.00 |", printed)
        self.assertEqual(json.loads((self.root / "table.json").read_text())["conditions"]["whole"]["runs"], 1)

    def test_an_answer_within_the_project_is_no_file_of_the_work(self):
        _, result = self.ran("mnopqr", "newest", """echo '{"title": "Salt, Carried"}' > ANSWER.md; ln -s ANSWER.md answer.md""")
        self.assertEqual(sum(result["checks"].values()), 0)

    def test_an_agent_that_takes_too_long_is_ended_and_graded(self):
        _, result = self.ran("stuvwx", "newest", """echo '{"objects": 60}' > plan.json; exec sleep 60""", "--limit", "1")
        self.assertEqual((result["exit"], result["checks"]["objects"]), (-9, True))
        self.refused(("run", self.contexts, self.root / "runs/stuvwx", "--agent", "true"), "ran in", "prepare a new folder")

    def test_what_is_not_as_it_was_written_is_refused(self):
        self.folder("changed", "whole")
        for path in (self.session / "check.py", self.session / "task.md", self.session / "end.tar.gz", self.contexts / "saltshow/whole.md"):
            kept = path.read_bytes()
            path.write_bytes(kept + b"\n")
            try:
                self.refused(("prepare", self.contexts, "saltshow", "whole", self.root / "runs/new"), str(path), "write the contexts anew")
                if path.parent == self.session:
                    self.refused(("grade", self.contexts, self.root / "runs/changed"), str(path))
            finally:
                path.write_bytes(kept)
        self.assertFalse((self.root / "runs/new").exists())

    def test_bad_input_is_refused(self):
        empty, nowhere = self.root / "empty", self.root / "nowhere"
        empty.mkdir()
        self.folder("twice", "whole")
        for words, expected in (
            (("contexts", self.contexts, "--epitome", EPITOME, "--sessions", self.session), "is there already"),
            (("contexts", nowhere, "--epitome", "no-such-program", "--sessions", self.session), "no program no-such-program"),
            (("contexts", nowhere, "--epitome", EPITOME, "--sessions", empty), "has no task.md"),
            (("contexts", nowhere, "--epitome", EPITOME, "--budget", "15"), "between 0 and 1"),
            (("prepare", self.contexts, "nobody", "whole", nowhere), "it has saltshow"),
            (("prepare", self.contexts, "saltshow", "best", nowhere), "invalid choice"),
            (("prepare", self.contexts, "saltshow", "whole", self.root / "runs/twice"), "was prepared already"),
            (("prepare", nowhere, "saltshow", "whole", self.root / "runs/x"), "contexts.json is missing"),
            (("grade", self.contexts, nowhere), "nowhere.json is missing"),
            (("table", self.contexts, empty), "result.json is missing"),
        ):
            with self.subTest(expected):
                self.refused(words, expected)
        self.assertFalse(nowhere.exists())

    def test_a_conversation_is_rendered_with_names_arguments_and_results(self):
        call = {"id": "c1", "function": {"name": "bash", "arguments": json.dumps({"command": "ls\npwd", "wait": 2})}}
        self.assertEqual(render([{"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url"}]},
                                 {"role": "assistant", "content": None, "tool_calls": [call]},
                                 {"role": "tool", "tool_call_id": "c1", "content": "a.py\n"}]),
                         "=== user\nLook.\n[image_url]\n\n=== call of bash\ncommand:\nls\npwd\nwait: 2\n\n=== result of bash\na.py\n")

    def test_intervals(self):
        self.assertEqual([round(part, 3) for part in wilson(8, 16)], [0.5, 0.28, 0.72])
        self.assertEqual(bootstrap([{"session": "a", "x": 1}, {"session": "a", "x": 0}, {"session": "b", "x": 0}], "x"), [0.25, 0.0, 0.5])


class EverySession(unittest.TestCase):
    def test_what_stands_in_the_history_only_is_asked_and_not_passed_without(self):
        for task in sorted(SESSIONS.glob("*/task.md")):
            with self.subTest(task.parent.name), tempfile.TemporaryDirectory() as scratch:
                checks = check(task.parent, unpack(task.parent / "end.tar.gz", Path(scratch)))["checks"]
                only = history(task.parent)
                self.assertEqual(len(set(only)), len(only))
                self.assertEqual({name: checks.get(name) for name in only}, dict.fromkeys(only, False))
                self.assertGreaterEqual(len(only), len(checks) * 0.4)


if __name__ == "__main__":
    unittest.main()
