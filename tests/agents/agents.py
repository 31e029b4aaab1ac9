"""How agents are set up, started and resumed, and where they keep their sessions.

Their homes are folders of a run. Each has the settings of its own that keep it from calling anything but its provider.
"""

import json
import shlex
import subprocess
from pathlib import Path

import documented


class Agent:
    """An agent, `name` with its program.

    `window` is one in which a compaction by the proxy is due on the way; `sessions` the folder of its sessions' files,
    `size` the pattern of what it writes there of the size of its context.
    """

    #: tokens of a request that are over the agent's own limit for a compaction
    too_many = 110_000
    #: tokens of a session's file that never leave: instructions that the agent writes into it
    instructions = 0
    #: steps of the script in the case of the proxy, and the compactions that are due in them
    turns, compactions = 12, 1
    #: whether it sends the history of a session, when that is resumed, as it was
    keeps_its_history = True
    #: whether it resumes from a compaction that another program wrote into its file while it was at work
    goes_on_behind = False

    def __init__(self, home, base):
        self.home = home
        self.set_up(base)

    def environment(self):
        return {}

    def file(self):
        """The file of the session, the only one."""
        files = [file for file in (self.home / self.sessions).rglob("*.jsonl") if "subagents" not in file.parts]
        assert len(files) == 1, files
        return files[0]


class Codex(Agent):
    name, window, sessions = "codex", 34_000, ".codex/sessions"
    #: the name of its provider, and the tokens from which on it compacts
    provider, limit = "epitome", 100_000
    size = r'"last_token_usage":{"input_tokens":(\d+)'
    instructions = 5_000
    goes_on_behind = True

    def set_up(self, base):
        (self.home / ".codex").mkdir(exist_ok=True)
        servers = getattr(self, "servers", "")
        (self.home / ".codex/config.toml").write_text(
            'model = "made-up"\nmodel_provider = "epitome"\napproval_policy = "never"\n'
            'sandbox_mode = "danger-full-access"\nmodel_auto_compact_token_limit = ' f'{self.limit}\n'
            '[analytics]\nenabled = false\n'
            f'[model_providers.epitome]\nname = "{self.provider}"\nbase_url = "{base}/v1"\nwire_api = "responses"\n'
            f'env_key = "OPENAI_API_KEY"\n{servers}')

    def asks_its_provider(self, base):
        """Has it ask its provider for compactions, which it does by the provider's name alone."""
        self.provider, self.limit = "OpenAI", 20_000
        self.set_up(base)

    def environment(self):
        return {"OPENAI_API_KEY": "made-up"}

    def start(self, prompt):
        return ["codex", "exec", "--skip-git-repo-check", prompt]

    def resume(self, prompt):
        identity = json.loads(self.file().read_text().splitlines()[0])["payload"]["id"]
        return ["codex", "exec", "resume", identity, "--skip-git-repo-check", prompt]

    def answers_for_session(self, **_):
        """Sets up `epitome mcp` for the agent's own sessions, as it is documented."""
        self.servers = documented.block("toml", "/sessions\"]").replace("/home/me", str(self.home))

    def answers_for_service(self, how, url, session, **_):
        block = documented.block("toml", "bearer_token_env_var" if how == "http" else "env_vars")
        self.servers = block.replace("http://127.0.0.1:7777", url).replace("parser", session)


class Claude(Agent):
    name, window, sessions = "claude", 64_000, ".claude/projects"
    size = r'"usage":{"input_tokens":(\d+)'

    def set_up(self, base):
        self.base = base

    def environment(self):
        return {"ANTHROPIC_API_KEY": "made-up", "ANTHROPIC_BASE_URL": self.base, "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "IS_SANDBOX": "1",
                "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}

    def start(self, prompt):
        return ["claude", "-p", prompt, "--dangerously-skip-permissions"]

    def resume(self, prompt):
        return self.start(prompt) + ["--resume", self.file().stem]

    def answers_for_session(self, run):
        run(documented.line("claude mcp add epitome -- epitome mcp ~"))

    def answers_for_service(self, how, url, session, run):
        line = documented.line("claude mcp add --transport http" if how == "http" else "claude mcp add epitome --env")
        line = line.replace("http://127.0.0.1:7777", url).replace("parser", shlex.quote(session))
        run(line)


class Pi(Agent):
    name, window, sessions = "pi", 22_000, ".pi/agent/sessions"
    size = r'"usage":{"input":(\d+)'

    def set_up(self, base):
        (self.home / ".pi/agent").mkdir(parents=True, exist_ok=True)
        model = {"id": "made-up", "name": "made-up", "contextWindow": 120000, "maxTokens": 2000}
        provider = {"baseUrl": f"{base}/v1", "apiKey": "made-up", "api": "openai-completions", "models": [model]}
        (self.home / ".pi/agent/models.json").write_text(json.dumps({"providers": {"epitome": provider}}))

    def environment(self):
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}

    def start(self, prompt):
        return ["pi", "-p", "--provider", "epitome", "--model", "made-up", prompt]

    def resume(self, prompt):
        return self.start(prompt) + ["--session", str(self.file())]


class Gemini(Agent):
    """Gemini CLI. Before each prompt it asks a smaller model which one is to answer, with a schema for what that says."""

    name, window, sessions = "gemini", 28_000, ".gemini/tmp"
    #: so many that it hides the oldest results itself (from 80,000 tokens of them on), below the proxy's decisions
    turns, compactions = 44, 5
    size = r'"tokens":{"input":(\d+)'
    #: it gives each result twice, and calls have lost their signatures
    keeps_its_history = False

    def set_up(self, base):
        self.base = base
        folder = self.home / ".gemini"
        folder.mkdir(exist_ok=True)
        # With another address than Google's it wants to be told that it is to use a key.
        (folder / "settings.json").write_text(json.dumps({
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}}))

    def environment(self):
        return {"GEMINI_API_KEY": "made-up", "GOOGLE_GEMINI_BASE_URL": self.base, "GEMINI_TELEMETRY_ENABLED": "0",
                "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def start(self, prompt):
        return ["gemini", "--yolo", "-p", prompt]

    def resume(self, prompt):
        return self.start(prompt) + ["--resume", "latest"]


class Qwen(Agent):
    """Qwen Code, in front of a provider of OpenAI's chat."""

    name, sessions = "qwen", ".qwen/projects"

    def set_up(self, base):
        self.base = base
        folder = self.home / ".qwen"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps({
            "security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False}, "general": {"enableAutoUpdate": False}, "memory": {"enableManagedAutoMemory": False}}))

    def environment(self):
        return {"OPENAI_API_KEY": "made-up", "OPENAI_BASE_URL": f"{self.base}/v1", "OPENAI_MODEL": "made-up",
                "QWEN_TELEMETRY_ENABLED": "0"}

    def start(self, prompt):
        return ["qwen", "--yolo", "--bare", "-p", prompt]

    def resume(self, prompt):
        return [*self.start(prompt), "--continue"]


class Copilot(Agent):
    """Copilot CLI, in front of a provider of its user's own, which needs no account."""

    name, sessions = "copilot", ".copilot/session-state"

    def set_up(self, base):
        self.base = base

    def environment(self):
        return {"COPILOT_PROVIDER_BASE_URL": f"{self.base}/v1", "COPILOT_PROVIDER_API_KEY": "made-up", "COPILOT_MODEL": "made-up",
                "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}

    def start(self, prompt):
        return ["copilot", "--allow-all", "-p", prompt]

    def resume(self, prompt):
        return [*self.start(prompt), "--continue"]


class AgentsSdk(Agent):
    """A program that is made of the OpenAI Agents SDK."""

    name = "sdk"
    script = Path(__file__).resolve().parent / "sdk/session.py"

    def set_up(self, base):
        self.base = base

    def asks_its_provider(self, base):
        self.base = base

    def start(self, prompt):
        return ["python-sdk", "-B", str(self.script), self.base, prompt]


ALL = {kind.name: kind for kind in (Codex, Claude, Pi, Gemini, Qwen, Copilot, AgentsSdk)}


def version(name, bin_folder, environment):
    if name == AgentsSdk.name:
        asked = "from importlib.metadata import version; print('openai-agents', version('openai-agents'))"
        return subprocess.run([bin_folder / "python-sdk", "-c", asked], capture_output=True, text=True).stdout.strip()
    told = subprocess.run([bin_folder / name, "--version"], capture_output=True, text=True, env=environment)
    # Copilot CLI tells of its updates behind it.
    lines = (told.stdout.strip() or told.stderr.strip()).splitlines()
    return [line for line in lines if any(map(str.isdigit, line))][-1]
