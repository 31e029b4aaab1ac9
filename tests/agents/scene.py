"""Where a case plays: a folder with a home and a work tree, an agent, made-up providers, the service and the command.

Every process is started by `Scene` and ended with it. Whatever an agent is started with, its environment is made anew, so
that no setting and no key of the machine reaches it.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import agents

HERE = Path(__file__).resolve().parent
TIMEOUT = 240


class Scene:
    """`epitome` is the command, `programs` the folder of the agents', `timeout` the seconds that an agent may take."""

    timeout = TIMEOUT

    def __init__(self, epitome, programs, folder):
        self.epitome, self.programs, self.folder = epitome, programs, folder
        self.home, self.work = folder / "home", folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        (self.work / "README.md").write_text("A build with parts.\n")
        (folder / "path").mkdir()
        (folder / "path/epitome").symlink_to(epitome)
        self.agent, self.processes, self.providers = None, [], 0

    def has(self, kind, base):
        """The agent of the scene, with its provider at `base`; its home and its sessions stay."""
        if self.agent is None:
            self.agent = agents.ALL[kind](self.home, base)
        else:
            self.agent.set_up(base)
        return self.agent

    def provider(self, tag, steps, thinks=True, **more):
        """Starts a made-up provider: its address, and the folder in which its requests are written."""
        self.providers += 1
        seen = self.folder / f"seen{self.providers}"
        seen.mkdir()
        script = self.folder / f"script{self.providers}.json"
        script.write_text(json.dumps({"tag": tag, "steps": steps, "thinks": thinks, **more}))
        process = subprocess.Popen([sys.executable, HERE / "provider.py", seen, script], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return f"http://127.0.0.1:{int(process.stdout.readline())}", seen

    def service(self, *options, config="", environment=None):
        """Starts `epitome serve`: its address, and its log."""
        written, log = self.folder / "epitome.toml", self.folder / "log"
        written.write_text(config)
        with open(log, "w") as file:
            process = subprocess.Popen([self.epitome, "serve", "--listen", "127.0.0.1:0", "--config", written, *options],
                                       stderr=file, env={**os.environ, **(environment or {})})
        self.processes.append(process)
        for _ in range(400):
            said = [line for line in log.read_text().splitlines() if "serves on http://" in line]
            if said:
                return said[0].split(" on ")[1].split(" ")[0], log
            time.sleep(0.05)
        raise AssertionError(f"the service did not start: {log.read_text()}")

    def environment(self, **more):
        path = os.pathsep.join([str(self.programs), str(self.folder / "path"), os.environ["PATH"]])
        return {"PATH": path, "HOME": str(self.home), **self.agent.environment(), **more}

    def started(self, command, stdin=subprocess.DEVNULL, **more):
        """The agent's process, begun."""
        process = subprocess.Popen([self.programs / command[0], *command[1:]], cwd=self.work, stdin=stdin,
                                   env=self.environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def ran(self, command, expect, **more):
        """What an agent says, which holds `expect`."""
        return finished(self.started(command, **more), expect, self.timeout)

    def turn(self, kind, tag, steps, prompt, expect, resumed=True, **more):
        """One run of the agent with a provider of its own: what it said, and the main requests that the provider got."""
        base, seen = self.provider(tag, steps)
        agent = self.has(kind, base)
        said = self.ran(agent.resume(prompt) if resumed else agent.start(prompt), expect, **more)
        return said, main_requests(seen)

    def shell(self, line, **more):
        """Runs a line of the shell as the agent's user would."""
        done = subprocess.run(["bash", "-c", line], cwd=self.work, env=self.environment(**more), capture_output=True,
                              text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def command(self, *arguments, code=0):
        """Runs `epitome`: what it prints."""
        done = subprocess.run([self.epitome, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=TIMEOUT, stdin=subprocess.DEVNULL)
        assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def tokens(self, body):
        """Tokens of a request's messages."""
        file = self.folder / "request.json"
        file.write_text(json.dumps(body))
        return json.loads(self.command("inspect", file, "--json"))["sessions"][0]["tokens"]

    def file_tokens(self, file):
        """Tokens of the context that an agent's file holds."""
        return json.loads(self.command("inspect", file, "--json"))["session"]["tokens"]

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


def finished(process, expect, timeout=TIMEOUT):
    out, err = process.communicate(timeout=timeout)
    assert expect in out, f"it did not say {expect!r}: {out[-1500:]} {err[-1500:]}"
    return out


def requests(seen):
    """What a provider was sent, in order."""
    return [json.loads(file.read_text()) for file in sorted(seen.glob("*.json"))]


def main_requests(seen):
    """Bodies of the conversation's own requests. Others are not expected: no title, no summary by the agent; a form that
    the model fills in, with a schema of its own, is."""
    asides = [request["path"] for request in requests(seen) if not (request["is_main"] or request["is_form"])]
    assert asides == [], f"requests on the side: {asides}"
    return [request["body"] for request in requests(seen) if request["is_main"]]


@contextlib.contextmanager
def scene(epitome, programs):
    with tempfile.TemporaryDirectory(prefix="epitome-agent-", ignore_cleanup_errors=True) as folder:
        made = Scene(epitome, programs, Path(folder))
        try:
            yield made
        finally:
            made.close()
