"""The folder of one agent: the project, the context, the prompt, and nothing else that the agent could find."""

import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path
from string import Template

from grade import unpack
from sessions import HERE, Refused, load, read, record, same, save, session_file


def prepare(contexts: Path, name: str, condition: str, folder: Path) -> None:
    folder, note = folder.resolve(), record(contexts, folder)
    if folder.exists() or note.exists():
        raise Refused(f"{folder} was prepared already, or a folder of this name was: name a new one")
    session, top = read(contexts, name), load(contexts / "contexts.json")
    context = session["contexts"][condition]
    same(contexts / context["file"], context["sha256"])
    folder.mkdir(parents=True)
    unpack(Path(session["folder"]) / "end.tar.gz", folder).rename(folder / "work")
    shutil.copyfile(contexts / context["file"], folder / "context.md")
    lookup = ""
    if condition == "recall":
        same(Path(top["epitome"]), top["epitome_sha256"])
        file = session_file(Path(session["folder"]))
        shutil.copy(file, folder / file.name)
        wrapper = (HERE / "wrapper.sh").read_text(encoding="utf-8").replace("@EPITOME@", shlex.quote(top["epitome"]))
        (folder / "epitome").write_text(wrapper.replace("@LOG@", shlex.quote(str(folder / "calls.log"))), encoding="utf-8")
        (folder / "epitome").chmod(0o755)
        lookup = template("lookup.md").substitute(folder=folder, session=file.name)
    task = (Path(session["folder"]) / "task.md").read_text(encoding="utf-8")
    (folder / "prompt.md").write_text(template("prompt.md").substitute(folder=folder, lookup=lookup, task=task.rstrip()), encoding="utf-8")
    note.parent.mkdir(exist_ok=True)
    save(note, {"folder": str(folder), "session": name, "condition": condition})


def template(name: str) -> Template:
    return Template((HERE / name).read_text(encoding="utf-8"))


def run(contexts: Path, folder: Path, agent: str, limit: float) -> None:
    """Runs the agent, at most `limit` seconds. What it prints goes beside the record, and how long it took into it."""
    note = record(contexts, folder)
    known, start = load(note), time.monotonic()
    if "seconds" in known:
        raise Refused(f"an agent ran in {folder} already: prepare a new folder")
    with open(folder / "prompt.md", encoding="utf-8") as prompt, open(note.with_suffix(".log"), "wb") as log:
        started = subprocess.Popen(["bash", "-c", agent], cwd=folder / "work", stdin=prompt, stdout=log, stderr=log,
                                   start_new_session=True)
        try:
            exit = started.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            exit = started.wait()
    known |= {"seconds": round(time.monotonic() - start, 1), "exit": exit}
    save(note, known)
    if exit:
        print(f"the agent ended with {exit} after {known['seconds']} s, see {note.with_suffix('.log')}; what it did is graded")
