"""Sessions around a set-up: each opens before it, behind it, after `--undo` and behind the next one, whenever it was begun.

Codex lists and resumes sessions by the name of their provider. With OpenAI's own provider at another address, and with one of
the person's own, a session is begun in each state and every earlier one is resumed in it, by its id and as the last one. What
arrives at the provider holds all that was said before, and comes to the path of the person's own address. In between the
set-up is an exact one: the undo gives the settings back byte for byte.
"""

import json
import re
import subprocess
import sys

import agents
import received
from scene import HERE, main_requests

AGENTS = ("codex",)
VARIANTS = {"codex": [("openai",), ("own",)]}
SAID = "That is done."
#: The path of the person's own address, in front of which the service stands.
PATH = "/openai/v1"
COMMON = '# mine\nmodel = "made-up" # the best\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
SETTINGS = {
    "openai": COMMON + "openai_base_url = '{base}' # gate\n\n[analytics]\nenabled = false\n",
    "own": COMMON + 'model_provider = "work"\n\n[analytics]\nenabled = false\n\n[model_providers.work] # ours\nname = "Work"\n'
                    "base_url = '{base}' # gate\nenv_key = \"WORK_KEY\"\nquery_params = { api-version = \"preview\" }\n",
}


class Codex(agents.Codex):
    """Codex with the settings of a person, which no case changes."""

    def set_up(self, base):
        pass

    def environment(self):
        return {"OPENAI_API_KEY": "made-up", "WORK_KEY": "made-up"}


def provider(scene):
    """A made-up provider that has one answer for all: its address, and the folder with its requests."""
    seen = scene.folder / "seen"
    seen.mkdir()
    script = scene.folder / "script.json"
    script.write_text(json.dumps({"tag": "around", "steps": [{"say": SAID}]}))
    process = subprocess.Popen([sys.executable, HERE / "provider.py", seen, script], stdout=subprocess.PIPE, text=True)
    scene.processes.append(process)
    return f"http://127.0.0.1:{int(process.stdout.readline())}", seen


def sessions(home):
    """The ids of all sessions."""
    files = (home / ".codex/sessions").rglob("*.jsonl")
    return {json.loads(file.read_text().splitlines()[0])["payload"]["id"] for file in files}


def check(scene, kind, variant):
    base, seen = provider(scene)
    settings = scene.home / ".codex/config.toml"
    settings.parent.mkdir()
    own = SETTINGS[variant].replace("{base}", base + PATH)
    settings.write_text(own)
    scene.agent = Codex(scene.home, base)
    told, begun, requests = {}, 0, 0

    def turn(prompt, identity, command):
        nonlocal requests
        scene.ran(command, SAID)
        told.setdefault(identity, []).append(prompt)
        bodies = main_requests(seen)
        requests += 1
        assert len(bodies) == requests, f"{len(bodies) - requests} requests more than one for each turn"
        conversation = received.conversation(bodies[-1])
        for earlier in told[identity]:
            assert earlier in conversation, f"{earlier!r} of {identity} does not arrive"
        for other, prompts in told.items():
            assert other == identity or not any(prompt in conversation for prompt in prompts), "a session is another one"

    def state(name):
        """Begins a session, and resumes each."""
        nonlocal begun
        begun += 1
        before = sessions(scene.home)
        prompt = f"Session {begun}, begun {name}."
        scene.ran(["codex", "exec", "--skip-git-repo-check", prompt], SAID)
        [identity] = sessions(scene.home) - before
        told[identity] = [prompt]
        nonlocal requests
        requests += 1
        last = f"The last one, {name}."
        turn(last, identity, ["codex", "exec", "resume", "--last", "--skip-git-repo-check", last])
        for number, known in enumerate(list(told)):
            prompt = f"Resumed {number}, {name}."
            turn(prompt, known, ["codex", "exec", "resume", known, "--skip-git-repo-check", prompt])
        assert len(sessions(scene.home)) == begun, "a resumed session is a new one"

    state("before the set-up")
    address, _ = scene.service("--store", "none", "--upstream", base + PATH)
    for name in ("behind the set-up", "behind the second"):
        shown = scene.shell(f"epitome setup codex --yes --service {address} 2>&1")
        assert re.search(rf"--upstream {base}{PATH}$", shown, re.M), shown
        assert address in settings.read_text() and base not in settings.read_text(), settings.read_text()
        state(name)
        scene.shell("epitome setup codex --undo --yes")
        assert settings.read_text() == own, settings.read_text()
        state(f"after the undo, {name}")
    paths = {json.loads(file.read_text())["path"] for file in seen.glob("*.json")}
    assert paths == {f"{PATH}/responses"}, paths
    return f"{len(told)} sessions in {begun} states, {requests} turns"
