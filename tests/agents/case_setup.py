"""`epitome setup AGENT` in a fresh home, by the command of the agent's page: a long task in a small window.

The agent is led through calls that print 120 lines each. Its context is compacted by what the set-up installed, twice or
more; it looks up what left it; it comes to its end. Each request that the provider gets has its calls and results in pairs.
It resumes the session then, with no more than it had, and goes on. The model thinks, calls tools in parallel, and the provider
refuses what a real one refuses; it has to refuse nothing. Behind it, `--undo` gives the home back what it was.
"""

import json
import re
import subprocess
import sys

import received
from build import FOUND, LINE, WORDS
from scene import HERE, requests

AGENTS = ("claude", "codex", "opencode", "pi")
#: With Claude Code also the way that leaves the summary to its model.
VARIANTS = {"claude": [(), ("--model-summary",)]}
TURNS = 16
TASK = "Look at every part of the build, and never change the lock file."
SUMMARY = "<summary>The first parts of the build were looked at.</summary>"
ANSWER = "It said:"
AGAIN, GONE_ON = "Now look at the last part once more.", "The last part is as it was."
#: What a resumed request may hold more than the last one before it, in bytes: the answer, the prompt, what the agent puts
#: beside these, and in Claude Code the thinking and the text of the newest step that was kept, which it lists twice.
MORE = 6_000
PAGES = HERE.parents[1] / "docs/agents"
#: The places in the home that each page says are changed. The agents write to others as they work.
PLACES = {"claude-code.md": (".claude/skills/epitome", ".claude/settings.json"), "codex.md": (".codex/config.toml",),
          "opencode.md": (".config/opencode/plugin/epitome.js",), "pi.md": (".pi/agent/extensions/epitome.ts",)}


def documented(page, part):
    """The only command of a page's shell blocks that begins with `part`."""
    blocks = re.findall(r"```sh\n(.*?)```", (PAGES / page).read_text(), re.S)
    found = [line.split("#")[0].strip() for line in "\n".join(blocks).splitlines() if line.startswith(part)]
    assert found, f"docs/agents/{page} has no command that begins with {part!r}"
    return found[0]


def files(folder):
    """The files below a folder, with their bytes."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def within(path, place):
    return path == place or place in path.parents


def provider(scene):
    seen = scene.folder / "seen"
    seen.mkdir()
    # Every third step has two calls.
    steps = [{"say": f"Part {part}.", "shell": [part, f"wc -l README.md # {part}"] if part % 3 == 0 else part}
             for part in range(1, TURNS + 1)]
    steps += [{"calls": [["search_history", {"queries": [WORDS]}]]}, {"say": ANSWER, "quote": FOUND}]
    script = scene.folder / "script.json"
    again = {"prompt": AGAIN, "steps": [{"shell": TURNS}, {"say": GONE_ON}]}
    script.write_text(json.dumps({"tag": "build", "summary": SUMMARY, "steps": steps, "again": again}))
    process = subprocess.Popen([sys.executable, HERE / "provider_plugins.py", seen, script], stdout=subprocess.PIPE, text=True)
    scene.processes.append(process)
    return f"http://127.0.0.1:{int(process.stdout.readline())}", seen


class Claude:
    page, name = "claude-code.md", "claude-code"

    def __init__(self, home, base):
        self.base = base

    def environment(self):
        return {"ANTHROPIC_API_KEY": "made-up", "ANTHROPIC_BASE_URL": self.base, "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "IS_SANDBOX": "1",
                "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "46",
                "CLAUDE_CODE_ENABLE_FUNCTION_HOOKS": "1"}

    def start(self, prompt):
        # A model whose requests have `thinking: enabled`.
        return ["claude", "-p", prompt, "--dangerously-skip-permissions", "--model", "claude-sonnet-4-5"]

    def resume(self, prompt):
        return [*self.start(prompt), "--continue"]


class Codex:
    page, name = "codex.md", "codex"

    def __init__(self, home, base):
        (home / ".codex").mkdir()
        (home / ".codex/config.toml").write_text(
            '# made up\nmodel = "made-up"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
            'model_auto_compact_token_limit = 100_000\n[analytics]\nenabled = false\n')

    def environment(self):
        return {"OPENAI_API_KEY": "made-up"}

    def start(self, prompt):
        return ["codex", "exec", "--skip-git-repo-check", prompt]

    def resume(self, prompt):
        return ["codex", "exec", "resume", "--last", "--skip-git-repo-check", prompt]


class OpenCode:
    page, name = "opencode.md", "opencode"

    def __init__(self, home, base):
        folder = home / ".config/opencode"
        folder.mkdir(parents=True)
        model = {"name": "m", "limit": {"context": 20000, "output": 2000}}
        made = {"npm": "@ai-sdk/openai-compatible", "name": "made", "models": {"m": model},
                "options": {"baseURL": f"{base}/v1", "apiKey": "made-up"}}
        (folder / "opencode.json").write_text(json.dumps({"$schema": "https://opencode.ai/config.json", "model": "made/m", "provider": {"made": made}}))

    def environment(self):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}

    def start(self, prompt):
        return ["opencode", "run", prompt]

    def resume(self, prompt):
        return ["opencode", "run", "--continue", prompt]


class Pi:
    page, name = "pi.md", "pi"

    def __init__(self, home, base):
        folder = home / ".pi/agent"
        folder.mkdir(parents=True)
        model = {"id": "m", "name": "m", "contextWindow": 18000, "maxTokens": 2000}
        made = {"baseUrl": f"{base}/v1", "apiKey": "made-up", "api": "openai-completions", "models": [model]}
        (folder / "models.json").write_text(json.dumps({"providers": {"made": made}}))
        (folder / "settings.json").write_text(json.dumps({"compaction": {"reserveTokens": 4000, "keepRecentTokens": 5000}}))

    def environment(self):
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}

    def start(self, prompt):
        return ["pi", "-p", "--provider", "made", "--model", "m", prompt]

    def resume(self, prompt):
        return ["pi", "-p", "--provider", "made", "--model", "m", "--continue", prompt]


KINDS = {"claude": Claude, "codex": Codex, "opencode": OpenCode, "pi": Pi}


def check(scene, kind, *options):
    base, seen = provider(scene)
    service = []
    if kind == "codex":
        config = "[budget]\nwindow = 34_000\nreserve_output = 1000\n"
        address, log = scene.service("--store", "none", "--upstream", base, config=config)
        service = ["--service", address]
    agent = scene.agent = KINDS[kind](scene.home, base)
    before = files(scene.home)
    line = " ".join([documented(agent.page, f"epitome setup {agent.name}"), "--yes", *options, *service])
    scene.shell(line)
    places = [place for place in PLACES[agent.page] if (scene.home / place).exists()]
    assert places, "nothing is in the places that the page names"
    scene.ran(agent.start(TASK), f"{ANSWER} {LINE}")
    first_run = requests(seen)
    scene.ran(agent.resume(AGAIN), GONE_ON)
    size_before, size_resumed = check_resume(first_run, requests(seen)[len(first_run):])

    all_requests = first_run
    main = [request["body"] for request in all_requests if request["is_main"]]
    assert len(main) > TURNS, len(main)
    for body in main:
        for calls, results in received.pairs(body):
            assert sorted(calls) == sorted(results), (calls, results)
        assert "never change the lock file" in received.conversation(body), "the task has left"
    asked = next(body for body in main if received.results_of(body, f"call_build_{TURNS - 1}_0"))
    assert LINE not in received.conversation(asked), "what is to be looked up has not left the context"
    found = received.results_of(main[-1], f"call_build_{TURNS}_0")
    assert found and LINE in found[0], found
    sizes = [request["bytes"] for request in all_requests if request["is_main"]]
    compactions = sum(later < earlier for earlier, later in zip(sizes, sizes[1:]))
    summaries = sum(request["is_summary"] for request in all_requests)
    assert compactions >= 2, sizes
    assert (summaries > 0) == ("--model-summary" in options), f"the model wrote {summaries} summaries"
    if "--model-summary" in options:
        assert "Exact words of the conversation before the compaction" in received.conversation(main[-1])
    if kind == "codex":
        assert "failed-open" not in log.read_text()

    scene.shell(f"epitome setup {agent.name} --undo --yes")
    for path, content in before.items():
        assert path.read_bytes() == content, f"{path} is not what it was"
    page = (PAGES / agent.page).read_text()
    for place in PLACES[agent.page]:
        assert place in page, f"docs/agents/{agent.page} does not name {place}"
        now, then = ({path: text for path, text in each.items() if within(path, scene.home / place)}
                     for each in (files(scene.home), before))
        assert now == then, f"{place}: {sorted(map(str, now.keys() ^ then.keys()))} are not as they were"
    return (f"{compactions} compactions, {summaries} summaries by the model, requests of {max(sizes) // 4:,} tokens at most, "
            f"resumed with {size_resumed // 4:,} behind {size_before // 4:,}")


def check_resume(first_run, resumed):
    """Holds that nothing was refused and that the resumed session is what it was: its task, both prompts, what was compacted,
    and no more than before. Returns the bytes of the last request before it, and of the first behind it."""
    for request in [*first_run, *resumed]:
        assert request["refused"] == [], request["refused"]
    last = [request for request in first_run if request["is_main"]][-1]
    first = next(request for request in resumed if request["is_main"])
    said = received.conversation(first["body"])
    assert TASK.split(",")[1] in said and AGAIN in said, "what was asked is not in the resumed request"
    assert LINE not in said or LINE in received.conversation(last["body"]), "what has left is back"
    assert first["bytes"] <= last["bytes"] + MORE, (last["bytes"], first["bytes"])
    for request in resumed:
        for calls, results in received.pairs(request["body"]):
            assert sorted(calls) == sorted(results), (calls, results)
    return last["bytes"], first["bytes"]
