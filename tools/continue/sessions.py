"""The sessions and what was written of them: `contexts.json`, the record of each prepared folder, and the hashes."""

import hashlib
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONDITIONS = ("whole", "default", "recall", "newest")


class Refused(Exception):
    """Something that the user has to mend: what, where, what to do."""


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Refused(f"{path} is missing") from None
    except ValueError as error:
        raise Refused(f"{path} is no JSON: {error}") from None


def save(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def session_file(folder: Path) -> Path:
    found = [folder / name for name in ("session.jsonl.gz", "session.json.gz") if (folder / name).exists()]
    if not found:
        raise Refused(f"{folder} has no session.jsonl.gz and no session.json.gz")
    return found[0]


def history(folder: Path) -> list[str]:
    """The checks whose answer stands nowhere but in the session."""
    lines = (folder / "history.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def hashes(folder: Path) -> dict[str, str]:
    """The hashes of all files of a session's folder, for `check.py` may read files beside it."""
    return {path.name: sha256(path) for path in sorted(folder.iterdir()) if path.is_file()}


def read(contexts: Path, name: str) -> dict:
    """A session as `contexts.json` has it, after a look whether its files are still those."""
    known = load(contexts / "contexts.json")["sessions"]
    if name not in known:
        raise Refused(f"{contexts}/contexts.json has no session {name}: it has {', '.join(known)}")
    session = known[name]
    for file, hash in session["sha256"].items():
        same(Path(session["folder"]) / file, hash)
    return session


def same(path: Path, hash: str) -> None:
    if not path.exists() or sha256(path) != hash:
        raise Refused(f"{path} is not the file that contexts.json knows: write the contexts anew (continue.py contexts)")


def record(contexts: Path, folder: Path) -> Path:
    """Where stands what the folder is: not in the folder, for there the agent would find it."""
    return contexts / "folders" / f"{folder.resolve().name}.json"
