"""The contexts of every session, written once: all agents of a condition read the same."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from grade import check, unpack
from render import render
from sessions import CONDITIONS, Refused, hashes, history, save, session_file, sha256


def write(target: Path, epitome: str, folders: list[Path], budget: float) -> None:
    program = shutil.which(epitome)
    if program is None:
        raise Refused(f"there is no program {epitome}: name it with --epitome")
    if not 0 < budget < 1:
        raise Refused(f"--budget is a share between 0 and 1, not {budget}")
    for folder in folders:
        for file in ("task.md", "check.py", "end.tar.gz", "history.txt"):
            if not (folder / file).exists():
                raise Refused(f"{folder} has no {file}")
    if target.exists():
        raise Refused(f"{target} is there already: contexts are written once, remove it or name another folder")
    target.mkdir(parents=True)
    known = {folder.name: one(target, Path(program).resolve(), folder.resolve(), budget) for folder in folders}
    save(target / "contexts.json", {"epitome": str(Path(program).resolve()), "epitome_sha256": sha256(Path(program)),
                                    "version": run(program, "--version").strip(), "budget": budget, "sessions": known})
    (target / "folders").mkdir()


def one(target: Path, program: Path, folder: Path, budget: float) -> dict:
    file = session_file(folder)
    with tempfile.TemporaryDirectory() as scratch:
        project = unpack(folder / "end.tar.gz", Path(scratch))
        checks = check(folder, project)["checks"]
    only = history(folder)
    wrong = [name for name in only if checks.get(name, True)]
    if wrong:
        raise Refused(f"{folder}/history.txt: the project as it was left passes {', '.join(wrong)}, or check.py has no such check")
    whole = messages(run(program, "convert", file, "--to", "openai-chat"))
    default = messages(run(program, "compact", file, "--budget", f"{budget:.6f}", "--to", "openai-chat"))
    room = max(count(program, default), int(budget * count(program, whole)))
    texts = {"whole": whole, "default": default, "newest": newest(program, whole, room)}
    written = {}
    for name, kept in texts.items():
        path = target / folder.name / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(render(kept), encoding="utf-8")
        written[name] = {"file": str(path.relative_to(target)), "sha256": sha256(path), "messages": len(kept),
                         "tokens": count(program, kept), "characters": len(render(kept))}
        print(f"{folder.name:16} {name:8} {written[name]['tokens']:8,} tokens {written[name]['messages']:5} messages")
    written["recall"] = written["default"]
    return {"folder": str(folder), "sha256": hashes(folder), "checks": list(checks), "history": only,
            "untouched": [name for name, good in checks.items() if good], "contexts": {name: written[name] for name in CONDITIONS}}


def newest(program: Path, whole: list[dict], room: int) -> list[dict]:
    """The newest messages of at most `room` tokens, no result without its call; of the longest text of the oldest step that is
    too much, its end."""
    starts = [index for index, message in enumerate(whole) if message["role"] != "tool"] + [len(whole)]

    def first(low: int, high: int, keep) -> int:
        """The least number from `low` whose messages fit, or `high`."""
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if count(program, keep(middle)) <= room else (middle + 1, high)
        return high

    at = first(0, len(starts) - 1, lambda number: whole[starts[number]:])
    if at == 0:
        return whole
    step, rest = whole[starts[at - 1]:starts[at]], whole[starts[at]:]
    longest = max(range(len(step)), key=lambda index: len(step[index].get("content") or ""))
    text = step[longest].get("content") or ""

    def cut(without: int) -> list[dict]:
        return step[:longest] + [step[longest] | {"content": "[…]" + text[without:]}] + step[longest + 1:] + rest

    without = first(0, len(text), cut)
    return cut(without) if without < len(text) else rest


def count(program: Path, kept: list[dict]) -> int:
    """Tokens of messages in the form of OpenAI chat, counted alike for every condition."""
    report = run(program, "compact", "-", "--from", "openai-chat", "--budget", "1000000000", "--preview", "--json",
                 stdin=json.dumps({"messages": kept}))
    return json.loads(report)["tokens_before"]


def messages(text: str) -> list[dict]:
    return json.loads(text)["messages"]


def run(*words, stdin: str = "") -> str:
    done = subprocess.run([str(word) for word in words], input=stdin, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"{' '.join(str(word) for word in words)}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout
