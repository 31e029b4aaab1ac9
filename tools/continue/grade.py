"""What of a task was done: `check.py` on a copy of the project, with none of this process's variables."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from sessions import Refused, load, read, record, save, sha256

LIMIT = 600


def unpack(archive: Path, target: Path) -> Path:
    """Unpacks the archive, which holds one folder, and returns that."""
    with tarfile.open(archive) as tar:
        tar.extractall(target, filter="data")
        tops = {name.removeprefix("./").split("/")[0] for name in tar.getnames()} - {"", "."}
    if len(tops) != 1:
        raise Refused(f"{archive} should hold one folder, and holds {', '.join(sorted(tops))}")
    return target / tops.pop()


def check(session: Path, project: Path) -> dict:
    """The checks by name, and `error` where check.py did not come to its end."""
    with tempfile.TemporaryDirectory() as home:
        copy = Path(home) / "project"
        # The answer belongs beside the project: one that was written into it is no file of the work.
        shutil.copytree(project, copy, symlinks=True, ignore=lambda at, names: {"ANSWER.md"} & set(names) if Path(at) == project else set())
        clean = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        error = ""
        try:
            done = subprocess.run([sys.executable, "-B", str(session / "check.py"), str(copy)], cwd=copy, env=clean,
                                  capture_output=True, text=True, errors="replace", timeout=LIMIT)
            out, error = done.stdout, done.stderr.strip()[-800:] if done.returncode else ""
        except subprocess.TimeoutExpired as late:
            out, error = (late.stdout or b"").decode(errors="replace"), f"check.py took more than {LIMIT} s"
    lines = [line.split(" ", 1) for line in out.splitlines() if line.startswith(("ok ", "failed "))]
    if not lines:
        raise Refused(f"{session}/check.py printed no check: {error or out[-300:]}")
    return {"checks": {name: word == "ok" for word, name in lines}, "error": error}


def grade(contexts: Path, folder: Path) -> None:
    known = load(record(contexts, folder))
    session = read(contexts, known["session"])
    if not (folder / "work").is_dir():
        raise Refused(f"{folder} has no work/: it was not prepared, or the agent removed it")
    checked = check(Path(session["folder"]), folder / "work")
    # Where check.py left one out, what it asks of is not there.
    checks = {name: checked["checks"].get(name, False) for name in session["checks"]}
    log = folder / "calls.log"
    calls = [line.split("\t")[1] for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    save(folder / "result.json", {
        **known, "contexts": sha256(contexts / "contexts.json"), "checks": checks, "error": checked["error"],
        "done": all(checks.values()), "history": {name: checks[name] for name in session["history"]},
        "broken": [name for name in session["untouched"] if not checks[name]],
        "searches": calls.count("search"), "restores": calls.count("restore"), "answer": (folder / "ANSWER.md").exists()})
    print(f"{folder}: {sum(checks.values())} of {len(checks)} checks")
    if checked["error"]:
        print(f"check.py did not come to its end: {checked['error']}", file=sys.stderr)
