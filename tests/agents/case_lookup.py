"""The model looks up what left its context, and the agent knows nothing of it.

Two searches: one beside a call of the agent's own tool in the same streamed answer, one alone behind a sentence. Each has
its result in what the provider gets next, and stands there again when the agent is resumed with its history. The agent says the final
answer; what was looked up is neither in what it prints nor in its session's file, and does not count as its context.
"""

import re

import agents
import received
import wires
from build import FOUND, LINE, WORDS, said_once
from scene import main_requests, requests

AGENTS = ("codex", "claude", "pi", "gemini")
TURNS = 12
SEARCH = ["search_history", {"queries": [WORDS]}]
ASIDE = "One moment, that was a while ago."
ANSWER = "What it said of that file:"


def check(scene, kind):
    steps = [{"shell": part} for part in range(TURNS)]
    steps += [{"shell": "echo the gate is open", "calls": [SEARCH]}, {"say": ASIDE, "calls": [SEARCH]}, {"say": ANSWER, "quote": FOUND}]
    # While a model that thinks is at work, the proxy compacts only when it must.
    upstream, seen = scene.provider("build", steps, thinks=False)
    # Room for what is looked up, so that the next turn finds it where it was.
    window = agents.ALL[kind].window * 3 // 2
    config = f"[budget]\nwindow = {window}\nreserve_output = 1000\n"
    base, log = scene.service("--store", "none", "--upstream", upstream, config=config)
    agent = scene.has(kind, base)
    said = scene.ran(agent.start("Look at every part of the build."), f"{ANSWER} {LINE}")
    first = len(main_requests(seen))
    if agent.keeps_its_history:
        said += scene.ran(agent.resume("Say that again."), f"{ANSWER} {LINE}")

    bodies = main_requests(seen)
    streamed = [request["body"].get("stream") or ":stream" in request["path"] for request in requests(seen) if request["is_main"]]
    assert all(streamed), "a request that is not streamed"
    beside, alone = f"call_build_{TURNS}_1", f"call_build_{TURNS + 1}_0"
    asked = next(body for body in bodies if received.results_of(body, f"call_build_{TURNS - 1}_0"))
    assert LINE not in received.conversation(asked), "what is to be looked up has not left the context"
    assert any(name == "search_history" for name, _ in wires.tools(asked)), "the tool is not in the request"
    last = bodies[first - 1]
    for body in (last, bodies[-1]):
        for call in (beside, alone):
            [found] = received.results_of(body, call)
            assert LINE in found and "left the context" in found, found
        own = f"call_build_{TURNS}_0"
        assert "the gate is open" in received.results_of(body, own)[0], "the agent's own call has no result"
        said_once(body, ASIDE)
        for calls, results in received.pairs(body):
            assert sorted(calls) == sorted(results), (calls, results)
    shown = said + agent.file().read_text()
    for hidden in ("search_history", beside, alone, ASIDE):
        assert hidden not in shown, f"the agent shows {hidden!r}"
    sizes = [int(size) for size in re.findall(agent.size, agent.file().read_text())]
    largest = max(request["bytes"] for request in requests(seen)) // 4
    assert len(sizes) > TURNS and max(sizes) <= largest, f"the agent takes its context for {max(sizes)} of {largest} tokens"
    assert "failed-open" not in log.read_text()
    told = f"two searches in {first} requests, none of them seen by the agent"
    return told + ("; both again in the next turn" if agent.keeps_its_history else "")
