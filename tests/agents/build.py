"""What the agents of the cases work on: a build with parts, each looked at by a command that prints 120 lines."""

import json

import received

#: A line of the first part's output. It says nothing special, so it is among the first that leave.
LINE = "src/part_1/file_57.rs: checked, 399 warnings"
#: Words that find it.
WORDS = "src/part_1/file_57.rs"
#: The same as the pattern by which the made-up model says what it was given.
FOUND = r"src/part_1/file_57\.rs: checked, \d+ warnings"

CONFIG = "[marks]\nhandles = true\n"


def steps(parts, answer, usage=None):
    """A script that looks at parts and answers."""
    last = {"say": answer} if usage is None else {"say": answer, "usage": usage}
    return [{"shell": part} for part in parts] + [last]


def compact(scene, file, *options, share=0.5):
    """Compacts an agent's file in place to a share of what may leave its context: the tokens before and after.

    The file is the one that was there, and what was there is still its beginning."""
    content, identity = file.read_bytes(), file.stat().st_ino
    config, report = scene.folder / "compact.toml", scene.folder / "report.json"
    config.write_text(CONFIG)
    tokens = scene.file_tokens(file)
    fixed = scene.agent.instructions
    scene.command("compact", file, "--budget", fixed + int((tokens - fixed) * share), "-o", file, "--config", config, "--report", report, *options)
    told = json.loads(report.read_text())
    assert told["status"] == "compacted", told["status"]
    assert file.stat().st_ino == identity and file.read_bytes().startswith(content), "the file was not gone on in"
    return told["tokens_before"], told["tokens_after"]


def said_once(body, text):
    """Holds that a text is said as often as it was: once as a message of its own."""
    count = sum(said.strip() == text for said in received.texts(body))
    assert count == 1, f"{text!r} is said {count} times"
