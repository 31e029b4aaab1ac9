"""`epitome compact -o` on the file of an agent that is at work: it waits for its shell and holds its session open.

Nothing that it writes before or after is lost, and it comes to its end with the context that it has. Resumed then, Codex
goes on from the compacted view; Claude Code and Pi go on from what they knew when they wrote last, so that the compaction
takes effect when they are compacted once more. From there on all three send the compacted view, with what was done
meanwhile.
"""

import time

import received
from build import LINE, WORDS, compact, said_once, steps
from scene import TIMEOUT, finished, main_requests

AGENTS = ("claude", "codex", "pi")
WAIT = "touch waiting; while [ ! -e go ]; do sleep 0.1; done; echo the gate is open"


def check(scene, kind):
    scene.turn(kind, "one", steps([1, 2, 3], "Parts 1 to 3 are fine."), "Look at parts 1 to 3.", "3 are fine", resumed=False)
    base, seen = scene.provider("wait", steps([WAIT, 4], "The gate and part 4 are fine."))
    agent = scene.has(kind, base)
    file = agent.file()
    process = scene.started(agent.resume("Wait for the gate and look at part 4."))
    begun = time.monotonic()
    while not (scene.work / "waiting").exists():
        assert process.poll() is None and time.monotonic() - begun < TIMEOUT, "the agent did not begin"
        time.sleep(0.05)
    compact(scene, file)
    compacted = file.read_bytes()
    (scene.work / "go").touch()
    finished(process, "The gate and part 4 are fine.")
    assert LINE in received.conversation(main_requests(seen)[-1]), "a running agent keeps the context that it has"
    assert file.read_bytes().startswith(compacted) and len(file.read_bytes()) > len(compacted), "it wrote elsewhere"

    said = ["Look at parts 1 to 3.", "Wait for the gate and look at part 4.", "The gate and part 4 are fine.", "Look at part 5."]
    _, bodies = scene.turn(kind, "five", steps([5], "Part 5 is fine."), said[-1], "Part 5 is fine.")
    resumed = "[Summary of" in received.conversation(bodies[0])
    assert resumed == agent.goes_on_behind, f"it did {'' if resumed else 'not '}go on from the compacted view"
    for text in said:
        said_once(bodies[0], text)
    before, after = compact(scene, file)
    _, bodies = scene.turn(kind, "six", steps([6], "Part 6 is fine."), "Look at part 6.", "Part 6 is fine.")
    first = received.conversation(bodies[0])
    assert LINE not in first and "[Summary of" in first, "the agent did not send the compacted history"
    for text in [*said, "Part 5 is fine.", "Look at part 6."]:
        said_once(bodies[0], text)
    for text in (LINE, "the gate is open", "src/part_4/file_57.rs: checked, 399 warnings"):
        found = scene.command("search", file, text, "--source", "tool")
        assert text in found, f"{text!r} is not in the file"
    return f"compacted while it was at work, and again behind that: {before:,} to {after:,} tokens"
