"""An agent with `epitome mcp` as a server of its own: the model asks by the names that the agent gives the tools.

Over the agent's own session file, three compactions deep; over a service that keeps the session, behind its token: through
the command, and at its `/mcp`. A search finds what left the context in the first compaction, its handle gives back what
left, and both reach the provider as plain text. The set-up is that of docs/recall.md.
"""

import json
import urllib.request

import received
import wires
from build import FOUND, LINE, WORDS, compact, steps

AGENTS = ("claude", "codex")
VARIANTS = {agent: [("file",), ("stdio",), ("http",)] for agent in AGENTS}
TOKEN = "a-token-of-the-tests"
#: The handle above the passage that holds the line.
HANDLE = r"(?s)left the context · recall (#\d+|[0-9a-f]{8,})\n(?:(?!\n--- ).)*?src/part_1/file_57\.rs: checked"
LOOKUPS = [
    {"calls": [["search_history", {"queries": ["what was said of that file?", WORDS]}], ["context_status", {}]]},
    {"calls": [["recall", {"handle": "{taken}"}]], "take": HANDLE},
    {"say": "It said:", "quote": FOUND},
]


def imported(scene, file):
    """Puts an agent's file into a service behind a token: the service's address and the session's id."""
    base, _ = scene.service("--store", f"sqlite:{scene.folder / 'sessions.sqlite'}", "--token-variable", "EPITOME_TOKEN",
                            environment={"EPITOME_TOKEN": TOKEN})
    request = urllib.request.Request(f"{base}/v1/sessions/import", file.read_bytes(),
                                     {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/octet-stream"})
    told = json.load(urllib.request.urlopen(request))
    return base, told["sessions"][0]["id"]


def check(scene, kind, how):
    rounds = 3 if how == "file" else 1
    scene.turn(kind, "part1", steps([1, 2], "Parts 1 and 2 are fine."), "Look at parts 1 and 2.", "2 are fine", resumed=False)
    agent = scene.agent
    compact(scene, agent.file())
    for round in range(1, rounds):
        part = 1 + 2 * round
        scene.turn(kind, f"part{part}", steps([part, part + 1], f"Part {part} is fine."), f"Look at part {part} and the next.",
                   f"Part {part} is fine.")
        compact(scene, agent.file())
    if how == "file":
        agent.answers_for_session(run=scene.shell)
    else:
        url, session = imported(scene, agent.file())
        agent.answers_for_service(how, url, session, run=lambda line: scene.shell(line, EPITOME_TOKEN=TOKEN))
    said, bodies = scene.turn(kind, "ask", LOOKUPS, "What was said of file 57 of part 1?", f"It said: {LINE}",
                              EPITOME_TOKEN=TOKEN)
    first = received.conversation(bodies[0])
    assert LINE not in first, "what is to be looked up has not left the context"
    assert "search_history finds what they said" in first, "the context does not say how to look things up"
    named = [".".join(filter(None, (group, name))) for name, group in wires.tools(bodies[0]) if "epitome" in f"{group}{name}"]
    assert {"search_history", "recall"} <= {name.split("__")[-1].split(".")[-1] for name in named}, named
    [found] = received.results_of(bodies[1], "call_ask_0_0")
    assert LINE in found and "passages for" in found and "left the context · recall" in found, found[:500]
    assert '{"passages"' not in found, "the model gets JSON in place of the text"
    [status] = received.results_of(bodies[1], "call_ask_0_1")
    assert "The context holds" in status and f"; by {rounds} compaction" in status, status
    [recalled] = received.results_of(bodies[2], "call_ask_1_0")
    assert LINE in recalled, recalled[:500]
    return f"{' and '.join(sorted(named))}; {len(found):,} characters found, {len(recalled):,} recalled, {rounds} deep"
