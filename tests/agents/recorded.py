"""Small sessions that the agents' own programs write, for the readers of crates/formats: beside each what the program sends next.

    tests/agents/recorded.py PROGRAMS FOLDER [codex|claude|pi|opencode|qwen|gemini|copilot …]

PROGRAMS is the folder of the agents' programs (target/agents/node_modules/.bin, which tests/agents/run installs). For each session
FOLDER gets the agent's files as they were when the last request went out, and NAME.sent.json with what was sent: one text for each
block. The made-up provider answers; paths, ids and times are the run's own, and standing instructions are cut to a few words.
"""

import json
import platform
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import agents
import received
import scene

#: More of a text says nothing to a reader.
MOST = 300
#: The prompt whose request is looked at.
NEXT = "What is next?"


class CodexServer:
    """`codex app-server`, which forks and reverts; the command line has no words for it."""

    def __init__(self, made):
        self.process = made.started(["codex", "app-server"], stdin=subprocess.PIPE)
        self.ids, self.notes = 0, []
        self.ask("initialize", clientInfo={"name": "recorded", "version": "1"}, capabilities={"experimentalApi": True})

    def ask(self, method, **params):
        self.ids += 1
        self.process.stdin.write(json.dumps({"id": self.ids, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            assert line, f"{method}: the program ended"
            told = json.loads(line)
            if told.get("id") == self.ids and "method" not in told:
                assert "error" not in told, (method, told["error"])
                return told["result"]
            self.notes.append(told)

    def until(self, method):
        for at, note in enumerate(self.notes):
            if note.get("method") == method:
                del self.notes[: at + 1]
                return note
        while True:
            line = self.process.stdout.readline()
            assert line, f"{method}: the program ended"
            told = json.loads(line)
            if told.get("method") == method:
                return told

    def turn(self, thread, text):
        self.notes.clear()
        turn = self.ask("turn/start", threadId=thread, input=[{"type": "text", "text": text}])["turn"]["id"]
        self.until("turn/completed")
        return turn

    def close(self):
        self.process.stdin.close()
        self.process.wait(scene.TIMEOUT)


def codex(made):
    """A thread with a command and two turns; forks behind the first turn and of that fork, a revert to it, a compaction."""
    base, seen = made.provider("cx", [{"shell": "echo red"}, {"say": "Done."}])
    made.has("codex", base)
    settings = made.home / ".codex/config.toml"
    settings.write_text("include_permissions_instructions = false\n" + settings.read_text()
                        + "[skills]\ninclude_instructions = false\n")
    folder = made.home / ".codex/sessions"
    server = CodexServer(made)

    def scene_of(name, thread, *rollouts):
        """The scene of a thread, whose files end with these ids; the first is the one that goes on."""
        files = [next(folder.rglob(f"*{rollout}.jsonl")) for rollout in rollouts]
        contents = {file.name: file.read_bytes() for file in files}
        server.turn(thread, NEXT)
        return name, contents, files[0].name, scene.requests(seen)[-1]["body"]

    source = server.ask("thread/start", cwd=str(made.work), baseInstructions="Be brief.")["thread"]["id"]
    first = server.turn(source, "The first.")
    second = server.turn(source, "The second.")
    fork = server.ask("thread/fork", threadId=source, lastTurnId=first)["thread"]["id"]
    server.turn(fork, "Another second.")
    third = server.ask("thread/fork", threadId=fork)["thread"]["id"]
    server.turn(third, "A third.")
    yield scene_of("forks", third, third, fork, source)
    server.notes.clear()
    server.ask("thread/compact/start", threadId=fork)
    server.until("turn/completed")
    yield scene_of("compaction in a fork", fork, fork, source)
    server.ask("thread/revert", threadId=source, beforeTurnId=second)
    server.turn(source, "Another second.")
    # A revert goes on in a file of its own.
    reverted = next(folder.rglob(f"*{source}_*.jsonl")).stem.split("_")[-1]
    yield scene_of("revert", source, reverted, source)
    server.close()


class QwenServer:
    """`qwen --acp`, the program's own service, which takes back; the command line has no words for it."""

    def __init__(self, made):
        self.process = made.started(["qwen", "--acp", "--yolo", "--bare"], stdin=subprocess.PIPE)
        self.ids = 0
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        self.session = self.ask("session/new", cwd=str(made.work), mcpServers=[])["sessionId"]

    def ask(self, method, **params):
        self.ids += 1
        told = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            told = json.loads(line)
            if told.get("id") == self.ids and "method" not in told:
                assert "error" not in told, (method, told["error"])
                return told["result"]
        raise AssertionError(f"{method}: the program ended")

    def turn(self, text):
        self.ask("session/prompt", sessionId=self.session, prompt=[{"type": "text", "text": text}])

    def close(self):
        self.process.stdin.close()
        self.process.wait(scene.TIMEOUT)


def qwen(made):
    """A command and two turns, the second of them taken back and said anew; a compaction."""
    base, seen = made.provider("qw", [{"shell": "echo red"}, {"say": "Done."}])
    agent = made.has("qwen", base)

    def turn(prompt):
        made.ran(agent.resume(prompt), "Done." if prompt == NEXT else "")
        return [request["body"] for request in scene.requests(seen) if request["is_main"]][-1]

    def scene_of(name):
        file = agent.file()
        return name, {file.name: file.read_bytes()}, file.name, turn(NEXT)

    server = QwenServer(made)
    for text in ("The first.", "The second."):
        server.turn(text)
    server.ask("qwen/control/session/rewind", sessionId=server.session, targetTurnIndex=1)
    server.turn("Another second.")
    server.close()
    yield scene_of("taken back")
    turn("/compress")
    yield scene_of("compaction")


#: So that standing texts take little room.
FEW = ["--system-prompt", "Be brief.", "--tools", "Bash"]


def claude(made):
    """A command and two turns, one of them taken back by resuming in front of it; a compaction."""
    base, seen = made.provider("cc", [{"shell": "echo red"}, {"say": "Done."}])
    agent = made.has("claude", base)

    def turn(prompt, *options):
        made.ran([*agent.start(prompt), *FEW, *options], "")
        return scene.requests(seen)[-1]["body"]

    def scene_of(name):
        file = agent.file()
        return name, {file.name: file.read_bytes()}, file.name, turn(NEXT, "--resume", file.stem)

    turn("The first.", "--disable-slash-commands")
    answers = [json.loads(line) for line in agent.file().read_text().splitlines()]
    answer = [record for record in answers if record.get("type") == "assistant"][-1]["uuid"]
    turn("The second.", "--disable-slash-commands", "--resume", agent.file().stem)
    turn("Another second.", "--disable-slash-commands", "--resume", agent.file().stem, "--resume-session-at", answer)
    yield scene_of("taken back")
    turn("/compact", "--resume", agent.file().stem)
    yield scene_of("compaction")


def pi(made):
    """A command and two turns, the second of them taken back; a compaction."""
    base, seen = made.provider("pi", [{"shell": "echo red"}, {"say": "Done."}])
    agent = made.has("pi", base)
    (made.home / ".pi/agent/settings.json").write_text(json.dumps({"compaction": {"keepRecentTokens": 1}}))

    def turn(prompt):
        made.ran(agent.resume(prompt) if (made.home / ".pi/agent/sessions").exists() else agent.start(prompt), "Done.")
        return scene.requests(seen)[-1]["body"]

    def scene_of(name):
        file = agent.file()
        return name, {file.name: file.read_bytes()}, file.name, turn(NEXT)

    turn("The first.")
    turn("The second.")
    yield scene_of("turns")
    process = made.started(["pi", "--mode", "rpc", "--provider", "epitome", "--model", "made-up", "--session", str(agent.file())],
                           stdin=subprocess.PIPE)
    process.stdin.write(json.dumps({"id": "1", "type": "compact"}) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        told = json.loads(line)
        if told.get("type") == "response":
            assert told["success"], told
            break
    process.stdin.close()
    process.wait(scene.TIMEOUT)
    yield scene_of("compaction")


class OpenCode:
    """The program's own service, which takes back and compacts."""

    def __init__(self, home, base):
        folder = home / ".config/opencode"
        folder.mkdir(parents=True, exist_ok=True)
        made = {"npm": "@ai-sdk/openai-compatible", "name": "made", "options": {"baseURL": f"{base}/v1", "apiKey": "made-up"},
                "models": {name: {"name": name, "limit": {"context": 200000, "output": 2000}} for name in ("m", "none")}}
        settings = {"model": "made/m", "small_model": "made/m", "provider": {"made": made}, "compaction": {"auto": False, "tail_turns": 2}}
        (folder / "opencode.json").write_text(json.dumps(settings))

    def environment(self):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_PERMISSION": json.dumps({"*": "allow"})}


def opencode(made):
    """Turns with a command, one and a half taken back; a compaction that keeps a tail, another whose tail reaches in front of the
    first, one that fails."""
    steps = [{"shell": "echo red"}, {"say": "Done."}]
    base, seen = made.provider("oc", steps, refuses="none")
    made.agent = OpenCode(made.home, base)
    server = made.started(["opencode", "serve", "--port", "0"])
    address = next(line.split()[-1] for line in server.stdout if "listening on" in line)

    def ask(method, path, body=None):
        asked = urllib.request.Request(address + path, json.dumps(body or {}).encode() if method == "POST" else None,
                                       {"content-type": "application/json"}, method=method)
        with urllib.request.urlopen(asked, timeout=scene.TIMEOUT) as answer:
            return json.loads(answer.read() or b"null")

    def begun():
        return ask("POST", "/session")["id"]

    def turn(session, text):
        ask("POST", f"/session/{session}/message", {"parts": [{"type": "text", "text": text}]})
        bodies = [request["body"] for request in scene.requests(seen) if request["is_main"]]
        return bodies[-1]

    def export(session):
        done = subprocess.run([made.programs / "opencode", "export", session], cwd=made.work, env=made.environment(),
                              capture_output=True, timeout=scene.TIMEOUT, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def scene_of(name, session):
        content = export(session)
        return name, {"session.json": content}, "session.json", turn(session, NEXT)

    def compact(session, model="m"):
        ask("POST", f"/session/{session}/summarize", {"providerID": "made", "modelID": model})

    def typed(session):
        messages = ask("GET", f"/session/{session}/message")
        return [message["info"]["id"] for message in messages if message["info"]["role"] == "user"]

    session = begun()
    for text in ("The first.", "The second.", "The third."):
        turn(session, text)
    ask("POST", f"/session/{session}/revert", {"messageID": typed(session)[1]})
    yield scene_of("revert", session)
    turn(session, "The fourth.")
    yield scene_of("after a revert", session)
    compact(session)
    yield scene_of("compaction", session)
    session = begun()
    for text in ("The first.", "The second.", "The third."):
        turn(session, text)
    compact(session)
    turn(session, "The fourth.")
    compact(session)
    yield scene_of("two compactions", session)
    session = begun()
    for text in ("The first.", "The second.", "The third."):
        turn(session, text)
    compact(session, "none")
    compact(session)
    yield scene_of("failed compaction", session)


def gemini(made):
    """A command and two turns, of which the second resumes the session; a compression."""
    base, seen = made.provider("ge", [{"shell": "echo red"}, {"say": "Done."}])
    agent = made.has("gemini", base)

    def turn(prompt):
        made.ran(agent.resume(prompt) if (made.home / ".gemini/tmp").exists() else agent.start(prompt), "")
        return [request["body"] for request in scene.requests(seen) if request["is_main"]][-1]

    def scene_of(name):
        # Where it goes on in another minute it may begin another file, which has all of it.
        file = max((made.home / agent.sessions).rglob("session-*.jsonl"), key=lambda file: file.stat().st_mtime)
        return name, {file.name: file.read_bytes()}, file.name, turn(NEXT)

    turn("The first.")
    turn("The second.")
    yield scene_of("turns")
    # Without its window it compresses only by itself.
    file = made.home / ".gemini/settings.json"
    settings = json.loads(file.read_text())
    file.write_text(json.dumps({**settings, "model": {"compressionThreshold": 0.0001}}))
    turn("The third.")
    file.write_text(json.dumps(settings))
    yield scene_of("compaction")


def copilot(made):
    """A command and two turns, of which the second resumes the session."""
    base, seen = made.provider("co", [{"shell": "echo red"}, {"say": "Done."}])
    agent = made.has("copilot", base)

    def turn(prompt):
        made.ran(agent.resume(prompt) if (made.home / agent.sessions).exists() else agent.start(prompt), "")
        return [request["body"] for request in scene.requests(seen) if request["is_main"]][-1]

    def scene_of(name):
        file = agent.file()
        return name, {file.name: file.read_bytes()}, file.name, turn(NEXT)

    turn("The first.")
    turn("The second.")
    yield scene_of("turns")


KINDS = {"codex": codex, "claude": claude, "pi": pi, "opencode": opencode, "qwen": qwen, "gemini": gemini,
         "copilot": copilot}


def role_of(role):
    return "system" if role == "developer" else role


def gemini_blocks(content):
    for part in content["parts"]:
        if "functionCall" in part:
            yield "call: " + part["functionCall"]["name"]
        elif "functionResponse" in part:
            yield "result: " + part["functionResponse"]["response"]["output"]
        elif part.get("text") and not part.get("thought"):
            yield f"{'assistant' if content['role'] == 'model' else 'user'}: {part['text']}"


def blocks(body):
    """What was sent: each text, call and result with who said it. What the model thought and a system prompt beside the messages
    are left out."""
    for content in body.get("contents") or []:
        yield from gemini_blocks(content)
    for item in body.get("input") or body.get("messages") or []:
        kind, content = item.get("type", "message"), item.get("content")
        if kind == "function_call":
            yield "call: " + item["name"]
        elif kind == "function_call_output" or item.get("role") == "tool":
            yield "result: " + received.text_of(item.get("output", content))
        elif kind == "message":
            for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
                if block["type"] == "tool_use":
                    yield "call: " + block["name"]
                elif block["type"] == "tool_result":
                    yield "result: " + received.text_of(block["content"])
                elif block.get("text"):
                    yield f"{role_of(item['role'])}: {block['text']}"
            for call in item.get("tool_calls") or []:
                yield "call: " + call["function"]["name"]


def sent_in_front(body):
    """What is sent in front of the prompt that asks for it, the last of its words."""
    # Gemini CLI gives a result twice where it resumes a session.
    sent = list(blocks(body))
    sent = [text for text, before in zip(sent, [None, *sent]) if text != before or not text.startswith("result: ")]
    # Copilot CLI has the time in front of a prompt.
    ends = [at for at, text in enumerate(sent) if text.startswith("user: ") and text.endswith(NEXT)]
    return sent[: ends[-1]]


def cut(value):
    """A value without the machine, whose long texts are cut: they are the program's own standing texts."""
    if isinstance(value, str):
        return re.sub(r"/[\w/.-]*/node_modules", "/programs", value.replace(platform.release(), "6.1.0"))[:MOST]
    if isinstance(value, list):
        return [cut(item) for item in value]
    return {key: cut(item) for key, item in value.items()} if isinstance(value, dict) else value


def cut_file(content):
    """A file of JSON with its long texts cut."""
    def again(text):
        return json.dumps(cut(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
    text = content.decode()
    try:
        return (again(text) + "\n").encode()
    except json.JSONDecodeError:
        return "".join(again(line) + "\n" for line in text.splitlines()).encode()


def record(programs, folder, kind):
    with scene.scene(Path("/bin/true"), programs) as made:
        for name, files, file, body in KINDS[kind](made):
            sent = sent_in_front(body)
            # Codex's files name positions in each other.
            if kind != "codex":
                sent, files = cut(sent), {other: cut_file(content) for other, content in files.items()}
            target = folder / kind / name.replace(" ", "-")
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for other, content in files.items():
                (target / other).write_bytes(content)
            version = agents.version(kind, programs, made.environment())
            told = {"version": version, "file": file, "sent": sent}
            (target / "sent.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
            print(f"{kind}: {name}, {len(sent)} blocks sent, {sum(map(len, files.values())):,} bytes")


if __name__ == "__main__":
    programs, folder = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
    for kind in sys.argv[3:] or KINDS:
        record(programs, folder, kind)
