"""A session of one agent, moved to another by `epitome move` and resumed there by the line that it prints: whole, and compacted.

What the second agent sends holds what was said, in order, and each call with its result directly behind it. The first one's file
stays as it was.
"""

import shlex

import agents
import received
from build import LINE, said_once, steps
from scene import main_requests

AGENTS = ("claude", "codex", "pi")
VARIANTS = {kind: [(to,) for to in AGENTS if to != kind] for kind in AGENTS}

ASKED = ["Look at parts 1 and 2.", "Look at part 3."]
ANSWERS = ["Parts 1 and 2 are fine.", "Part 3 is fine."]
FORMATS = {"claude": "claude-code"}


def check(scene, kind, to):
    scene.turn(kind, "one", [{"say": "I look.", "shell": [1, "echo part 1 ends"]}, *steps([2], ANSWERS[0])], ASKED[0],
               "1 and 2 are fine", resumed=False)
    scene.turn(kind, "two", [{"shell": 3}, {"shell": "echo so far; false"}, {"say": ANSWERS[1]}], ASKED[1], "3 is fine")
    file = scene.agent.file()
    content = file.read_bytes()
    whole = resumed(scene, to, file)
    assert LINE in received.conversation(whole), "a result is gone"
    results = received.results_of(whole, "call_one_") + received.results_of(whole, "call_two_")
    assert len(results) == 5 and "so far" in results[-1] and "part 1 ends" in results[1], results
    places = [received.conversation(whole).index(said) for said in (ASKED[0], ANSWERS[0], ASKED[1], ANSWERS[1])]
    assert places == sorted(places), "the messages are in another order"
    small = resumed(scene, to, file, "--budget", "40%")
    assert LINE not in received.conversation(small), "what has left is there"
    assert "[Summary of" in received.conversation(small), "the summary is not there"
    assert file.read_bytes() == content, "the session's own file has changed"
    return f"moved to {to} whole and compacted, and resumed by the line that was printed"


def resumed(scene, to, file, *options):
    """The first request of the agent that goes on, by the line that `move` prints."""
    first, (base, seen) = scene.agent, scene.provider("three", [{"shell": "echo it goes on"}, {"say": "It went on."}])
    scene.agent = agents.ALL[to](scene.home, base)
    line = shlex.split(scene.shell(shlex.join(["epitome", "move", str(file), "--to", FORMATS.get(to, to), *options])))
    prompt = "Go on."
    # Without a terminal: the same session by the agent's mode for that.
    without = {"codex": ["codex", "exec", "resume", line[-1], "--skip-git-repo-check", prompt]}
    scene.ran(without.get(line[0], [*scene.agent.start(prompt), *line[1:]]), "It went on.")
    bodies = main_requests(seen)
    for body in bodies:
        said_once(body, prompt)
        for calls, results in received.pairs(body):
            assert sorted(calls) == sorted(results), (calls, results)
    assert len(bodies) == 2 and received.results_of(bodies[1], "call_three_"), "it does not go on"
    scene.agent = first
    return bodies[0]
