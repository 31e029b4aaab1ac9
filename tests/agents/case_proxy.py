"""An agent through the proxy: led through calls with much output, so that a compaction is due on the way.

It has to come to its end; the proxy has to compact, and to replay that on the next turn; each request that the provider
gets has to have its calls and results in pairs, and to be within the budget.
"""

import json

import agents
import received
from scene import main_requests

AGENTS = ("codex", "claude", "pi", "gemini")
TASK = "Look at every part of the build."
DONE = "All parts of the build were looked at."


def sent_on(log):
    """What the service's log says of the requests that it sent on."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    lines = [line.get("fields", line) for line in lines]
    return [line for line in lines if line.get("message") == "sent on" and line["did"] != "bypassed"]


def check(scene, kind):
    window, turns = agents.ALL[kind].window, agents.ALL[kind].turns
    upstream, seen = scene.provider("build", [{"shell": part} for part in range(turns)] + [{"say": DONE}])
    config = f"[budget]\nwindow = {window}\nreserve_output = 1000\n"
    base, log = scene.service("--store", "none", "--upstream", upstream, config=config)
    agent = scene.has(kind, base)
    scene.ran(agent.start(TASK), DONE)
    if not agent.keeps_its_history:
        recorded = scene.file_tokens(agent.file())
        scene.ran(agent.resume("Say that again."), DONE)
        # It hides more of the old results then, and nothing leaves.
        now = scene.file_tokens(agent.file())
        assert recorded // 2 < now < recorded + 1_000, f"its file holds {now} tokens behind {recorded}"

    sent = sent_on(log)
    did = [line["did"] for line in sent]
    assert "failed-open" not in did and did.count("compacted") >= agents.ALL[kind].compactions, did
    assert did[did.index("compacted") + 1] == "replayed", did
    main = main_requests(seen)
    assert len(main) > turns, len(main)
    most = 0
    for body in main:
        for calls, results in received.pairs(body):
            assert sorted(calls) == sorted(results), (calls, results)
        used = scene.tokens(body)
        most = max(most, used)
        answer = body.get("max_tokens") or body.get("max_completion_tokens") or 1_000
        assert used <= window - min(answer, window // 2), used
    before = max(line["tokens_before"] for line in sent if line.get("tokens_before"))
    assert before > most, "nothing was saved"
    whole, rest = (sum(line.get(figure, 0) for line in sent) for figure in ("tokens_before", "tokens_after"))
    counts = ", ".join(f"{did.count(what)} {what}" for what in ("passed", "compacted", "replayed"))
    return f"{counts}; the session has {before:,} tokens, the longest request {most:,}; all requests {rest:,} of {whole:,}"
