"""What an agent spends with the compaction that it comes with, and what with ours.

The work of examples/session.jsonl, step by step as it was recorded, in front of a made-up provider: once with the agent as
it comes, where the provider's model writes the summaries, and once set up by `epitome setup AGENT`; each in a fresh
home and with the same window. With its own compaction it is played in the smallest window with summaries of half and
twice the length too, for that decides much. What the two sides are asked for is the same: what a model would do
otherwise with the one context or the other is not in it.
"""

import json
import subprocess
import sys

import afternoon
import case_setup
import received
import spending
from case_setup import AGENTS, ANSWER, documented
from scene import HERE, requests
from scene import scene as open_scene

#: Tokens of the window, and how often the afternoon is gone through, so that `LEAST` compactions come.
WINDOWS = {"32k": (32_000, 2), "64k": (64_000, 4), "128k": (128_000, 8)}
VARIANTS = {kind: [(size,) for size in WINDOWS] for kind in AGENTS}
#: The 360 steps of the largest take opencode more than ten minutes.
VARIANTS["opencode"].remove(("128k",))
LEAST = 5
#: The median of the summaries that Claude Code's models wrote in 9 recorded sessions, 13 of them.
SUMMARY = 2_600
#: The lengths that are played: how much hangs on them is seen in the smallest window.
LENGTHS = {"32k": (SUMMARY, SUMMARY // 2, SUMMARY * 2), "64k": (SUMMARY,), "128k": (SUMMARY,)}
#: Of the window, what Claude Code may fill before it compacts: as much as the other agents do by their defaults.
FULL = 0.9
#: What has the service compact further down than by its default, which is a half.
TARGET = "target = 0.2"
#: A line that the first step reads, and words that find it.
LINE, WORDS = "downstream endpoint through an outbox table", "endpoint through an outbox table"


class Claude(case_setup.Claude):
    def environment(self):
        # It compacts for no window below 100,000, and keeps 20,000 of it for the summary.
        window = max(100_000, self.window + 20_000)
        share = round(100 * FULL * self.window / (window - 20_000))
        return {**super().environment(), "CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(window),
                "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": str(share)}


class Codex(case_setup.Codex):
    def __init__(self, home, base):
        super().__init__(home, base)
        # By another name than OpenAI's it asks for its summaries like any other program.
        file = home / ".codex/config.toml"
        limits = f'model_context_window = {self.window}\nmodel_provider = "made"'
        text = file.read_text().replace("model_auto_compact_token_limit = 100_000", limits)
        made = f'name = "made"\nbase_url = "{base}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n'
        file.write_text(f"{text}[model_providers.made]\n{made}")


class OpenCode(case_setup.OpenCode):
    def __init__(self, home, base):
        super().__init__(home, base)
        file = home / ".config/opencode/opencode.json"
        settings = json.loads(file.read_text())
        settings["provider"]["made"]["models"]["m"]["limit"] = {"context": self.window, "output": self.window // 8}
        file.write_text(json.dumps(settings))

    def environment(self):
        # Where it finds a plug-in, it installs what plug-ins are written with: it is not to wait for a network.
        return {**super().environment(), "npm_config_fetch_retries": "0"}


class Pi(case_setup.Pi):
    def __init__(self, home, base):
        super().__init__(home, base)
        folder = home / ".pi/agent"
        models = json.loads((folder / "models.json").read_text())
        models["providers"]["made"]["models"][0].update(contextWindow=self.window, maxTokens=self.window // 8)
        (folder / "models.json").write_text(json.dumps(models))
        # Its defaults with a window of 128,000; in a smaller one they would leave no room.
        kept = {"reserveTokens": 16_384 * self.window // 128_000, "keepRecentTokens": 20_000 * self.window // 128_000}
        (folder / "settings.json").write_text(json.dumps({"compaction": kept}))


KINDS = {"claude": Claude, "codex": Codex, "opencode": OpenCode, "pi": Pi}


def provider(place, rounds, summary):
    """A made-up provider with the script: its address, the folder in which its requests are written, and the number of the
    step that needs what the first one read."""
    seen = place.folder / "seen"
    seen.mkdir()
    once = afternoon.steps(place.work)
    steps = once * rounds
    # What the first step read is needed again: it is looked up, or read again where nothing is there to look it up.
    needed = {"calls": [["search_history", {"queries": [WORDS]}]], "otherwise": "cat at/2/README.md"}
    # Before the last round reads it anyway.
    number = len(once) * (rounds - 1)
    steps.insert(number, needed)
    script = place.folder / "script.json"
    said = {"tag": "afternoon", "summary": f"<summary>{summary}</summary>", "steps": [*steps, {"say": ANSWER}]}
    script.write_text(json.dumps(said))
    program = [sys.executable, "-B", HERE / "provider_plugins.py", seen, script]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    place.processes.append(process)
    return f"http://127.0.0.1:{int(process.stdout.readline())}", seen, number


def play(scene, kind, size, is_ours, tokens=SUMMARY, target=""):
    """What a run costs: with the agent's own compaction and summaries of so many tokens, or with ours. `target` is a line of
    the service's configuration, for the agent that goes through it."""
    window, rounds = WINDOWS[size]
    summary = afternoon.summary(4 * tokens)
    with open_scene(scene.epitome, scene.programs) as place:
        place.timeout = 1_200
        base, seen, number = provider(place, rounds, summary)
        agent = place.agent = type(kind, (KINDS[kind],), {"window": window})(place.home, base)
        if is_ours:
            set_up(place, kind, base, target)
        place.ran(agent.start(afternoon.task()), ANSWER)
        sent = requests(seen)
    spending.hold_pairs(sent)
    if is_ours:
        hold_recall(sent, f"call_afternoon_{number}_0")
    told = spending.count(sent, summary)
    # With its own compaction an agent may send more: its threshold counts neither a large step nor what asks for a summary.
    assert told.longest <= window or not is_ours, f"a request of {told.longest} tokens in a window of {window}"
    return told


def set_up(place, kind, base, target):
    agent, service = place.agent, []
    if kind == "codex":
        config = f"[budget]\nwindow = {agent.window}\n{target}\n"
        address, _ = place.service("--store", "none", "--upstream", base, config=config)
        service = ["--service", address]
    place.shell(" ".join([documented(agent.page, f"epitome setup {agent.name}"), "--yes", *service]))


def hold_recall(sent, call):
    """Holds that the line had left when it was looked up, and that the answer has it."""
    main = [request["body"] for request in sent if request["is_main"]]
    answered = next(number for number, body in enumerate(main) if received.results_of(body, call))
    assert LINE not in received.conversation(main[answered - 1]), "what is to be looked up has not left the context"
    found = received.results_of(main[answered], call)
    assert LINE in found[0], found


def row(kind, size, whose, told):
    cells = [kind, size, whose, told.requests, told.compactions, told.sent, told.sent_for_summaries, told.written,
             f"{round(100 * told.cached / told.sent)} %", told.price, told.longest]
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |"


def check(scene, kind, size):
    own = {tokens: play(scene, kind, size, False, tokens) for tokens in LENGTHS[size]}
    ours = play(scene, kind, size, True)
    rows = [row(kind, size, f"own, {tokens:,}", told) for tokens, told in own.items()] + [row(kind, size, "ours", ours)]
    if kind == "codex" and size != "32k":
        rows.append(row(kind, size, f"ours, `{TARGET}`", play(scene, kind, size, True, target=TARGET)))
    rows.append(f"{ours.summaries} summaries by the model with ours")
    played = "\n".join(["", *rows])
    assert all(told.compactions >= LEAST for told in [*own.values(), ours]), played
    # In larger windows it is decided by what stays, not by what a summary costs: README.md has the figures.
    if size == "32k":
        assert ours.sent < own[SUMMARY].sent and all(ours.price < told.price for told in own.values()), played
    return played
