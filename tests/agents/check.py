"""Runs agents against `epitome serve` in front of provider.py, and checks what reached the provider.

    check.py EPITOME BIN_FOLDER [AGENT…]

Each agent is asked for one piece of work and led through calls with much output, so that a compaction is due on the
way. It has to come to its end; the proxy has to compact, and to replay that on the next turn; each request that the
provider gets has to have its calls and results in pairs, and to be within the budget. Homes of agents are folders that
vanish.
The commands that the made-up provider asks for print lines and do nothing else.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EPITOME, BIN = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
HERE = Path(__file__).resolve().parent
TASK = "Look at every part of the build."
DONE = "All parts of the build were looked at."
TURNS = 12


def codex(home, base):
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(
        'model = "made-up"\nmodel_provider = "epitome"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\n'
        f'[model_providers.epitome]\nname = "epitome"\nbase_url = "{base}/v1"\nwire_api = "responses"\n'
        'env_key = "OPENAI_API_KEY"\n')
    return ["codex", "exec", "--skip-git-repo-check", TASK], {"OPENAI_API_KEY": "made-up"}


def claude(home, base):
    environment = {"ANTHROPIC_API_KEY": "made-up", "ANTHROPIC_BASE_URL": base, "DISABLE_AUTOUPDATER": "1",
                   "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"}
    return ["claude", "-p", TASK, "--dangerously-skip-permissions"], environment


def pi(home, base):
    (home / ".pi/agent").mkdir(parents=True)
    model = {"id": "made-up", "name": "made-up", "contextWindow": 200000, "maxTokens": 2000}
    provider = {"baseUrl": f"{base}/v1", "apiKey": "made-up", "api": "openai-completions", "models": [model]}
    (home / ".pi/agent/models.json").write_text(json.dumps({"providers": {"epitome": provider}}))
    return ["pi", "-p", "--provider", "epitome", "--model", "made-up", TASK], {}


# Each with a window in which a compaction is due on the way: Claude Code asks for the half of any window as its answer.
AGENTS = {"codex": (codex, 34_000), "claude": (claude, 64_000), "pi": (pi, 22_000)}


def ids(items, kind, key):
    return [item[key] for item in items if isinstance(item, dict) and item.get("type") == kind]


def pairs(body):
    """Steps of a request as (calls, results), in order."""
    if "input" in body:
        items, steps, turn = body["input"], [], None
        for item in items:
            kind = item.get("type", "message")
            if kind.endswith("_call"):
                if turn != "calls":
                    steps.append(([], []))
                turn = "calls"
                steps[-1][0].append(item["call_id"])
            elif kind.endswith("_call_output"):
                turn = "results"
                assert steps, "a result without a call"
                steps[-1][1].append(item["call_id"])
        return steps
    steps = []
    for message in body["messages"]:
        content = message.get("content") if isinstance(message.get("content"), list) else []
        calls = [call["id"] for call in message.get("tool_calls") or []] + ids(content, "tool_use", "id")
        results = ids(content, "tool_result", "tool_use_id")
        results += [message["tool_call_id"]] if message["role"] == "tool" else []
        if calls:
            steps.append((calls, []))
        if results:
            assert steps, "a result without a call"
            steps[-1][1].extend(results)
    return steps


def tokens(body, folder):
    file = folder / "request.json"
    file.write_text(json.dumps(body))
    told = subprocess.run([EPITOME, "check", file, "--window", "1000000", "--json"], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


def run(name, folder):
    settings, window = AGENTS[name]
    home, work, seen = folder / "home", folder / "work", folder / "seen"
    for made in (home, work, seen):
        made.mkdir()
    (work / "README.md").write_text("A build with parts.\n")
    config = folder / "epitome.toml"
    config.write_text(f"[budget]\nwindow = {window}\nreserve_output = 1000\n")
    log = folder / "log"
    processes = []
    try:
        provider = subprocess.Popen([sys.executable, HERE / "provider.py", seen, str(TURNS)], stdout=subprocess.PIPE,
                                    text=True)
        processes.append(provider)
        port = int(provider.stdout.readline())
        with open(log, "w") as file:
            service = subprocess.Popen(
                [EPITOME, "serve", "--listen", "127.0.0.1:0", "--store", "none", "--config", config, "--upstream",
                 f"http://127.0.0.1:{port}"], stderr=file)
        processes.append(service)
        base = None
        for _ in range(200):
            said = [line for line in log.read_text().splitlines() if "serves on http://" in line]
            if said:
                base = said[0].split(" on ")[1].split(" ")[0]
                break
            time.sleep(0.05)
        assert base, log.read_text()
        command, environment = settings(home, base)
        environment |= {"PATH": os.environ["PATH"], "HOME": str(home)}
        agent = subprocess.run([BIN / command[0], *command[1:]], cwd=work, env=environment, timeout=240,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True)
    finally:
        for process in processes:
            process.kill()
    assert DONE in agent.stdout, f"it did not come to its end: {agent.stdout[-500:]} {agent.stderr[-2000:]}"
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    sent = [line.get("fields", line) for line in lines]
    did = [line for line in sent if line.get("message") == "sent on"]
    kinds = [line["did"] for line in did if line["did"] != "bypassed"]
    assert "failed-open" not in kinds and "compacted" in kinds, kinds
    first = kinds.index("compacted")
    assert kinds[first + 1] == "replayed", kinds
    requests = [json.loads(file.read_text()) for file in sorted(seen.glob("*.json"))]
    main = [request for request in requests if request["is_main"]]
    assert len(main) > TURNS, len(main)
    most = 0
    for request in main:
        for calls, results in pairs(request["body"]):
            assert sorted(calls) == sorted(results), (calls, results)
        told = tokens(request["body"], folder)
        used = told.get("tokens") or told.get("current_tokens")
        most = max(most, used)
        answer = request["body"].get("max_tokens") or request["body"].get("max_completion_tokens") or 1_000
        assert used <= window - min(answer, window // 2), (used, told)
    before = max(line["tokens_before"] for line in did if line.get("tokens_before"))
    assert before > most, "nothing was saved"
    told = subprocess.run([BIN / name, "--version"], capture_output=True, text=True, env=environment)
    version = (told.stdout.strip() or told.stderr.strip()).splitlines()[-1:]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("passed", "compacted", "replayed"))
    print(f"passed: {name} {' '.join(version)}: {counts}; the session has {before} tokens, the longest request {most}",
          flush=True)


for asked in sys.argv[3:] or AGENTS:
    with tempfile.TemporaryDirectory(prefix="epitome-agent-", ignore_cleanup_errors=True) as temporary:
        run(asked, Path(temporary))
