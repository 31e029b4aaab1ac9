"""An agent that asks its provider to compact, with the proxy as that provider: several compactions deep, to its end.

The proxy makes the compactions and the provider is never asked for one; it gets ordinary messages, calls and results in
pairs, the task once; and what it says of the size of each request is what makes the agent ask again.
"""

import json

import received
from scene import main_requests

AGENTS = ("codex", "sdk")
TASK = "Look at every part of the build."
DONE = "All parts of the build were looked at."
TURNS = 24
#: what begins an item of the proxy
MARK = "epitome.c1."


def made(log):
    """The compactions that the service's log tells of."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line for line in (line.get("fields", line) for line in lines)
            if line.get("message") == "a client's compaction was made"]


def check(scene, kind):
    steps = [{"shell": part} for part in range(TURNS)] + [{"say": DONE}]
    upstream, seen = scene.provider("build", steps)
    base, log = scene.service("--store", "none", "--upstream", upstream)
    agent = scene.has(kind, base)
    agent.asks_its_provider(base)
    scene.ran(agent.start(TASK), DONE)

    compactions = made(log)
    assert len(compactions) >= 3, f"{len(compactions)} compactions"
    main = main_requests(seen)
    assert len(main) > TURNS, len(main)
    for body in main:
        text = json.dumps(body)
        assert MARK not in text and "compaction_trigger" not in text, "the provider was asked, or given what it cannot read"
        for calls, results in received.pairs(body):
            assert sorted(calls) == sorted(results), (calls, results)
        assert received.texts(body).count(TASK) == 1, received.texts(body)
    used = [scene.tokens(body) for body in main]
    # Each step brings what the one before it had, and something new: but for the compactions.
    assert sum(now < before for before, now in zip(used, used[1:])) >= len(compactions) - 1, used
    sizes = ", ".join(f"{line['tokens_before']:,} → {line['tokens_after']:,}" for line in compactions)
    most = max(line["item_bytes"] for line in compactions)
    return f"{len(compactions)} compactions ({sizes} tokens), items of {most:,} bytes at most, {len(main)} requests"
