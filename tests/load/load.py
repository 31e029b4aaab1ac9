"""Runs the service, a tenant that behaves, and, after a quiet time, two that do not. Tells what the first one has of it.

Fails where the well-behaved tenant is refused anything, where its 99th percentile under attack is more than --most-times
its quiet one, where health is not answered, and where memory goes on growing."""
import argparse
import collections
import http.client
import http.server
import json
import multiprocessing
import os
import pathlib
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import hostile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD, EVIL = "the-token-of-the-good-one", ["the-first-hostile-token", "the-second-hostile-token"]
# Requests of the well-behaved tenant in a second: enough to see a tail, little enough to leave the machine free.
RATE = 8
# Memory may be so much more at the end than in the second quarter of the attack.
GROWTH = 1.25


class Provider(http.server.BaseHTTPRequestHandler):
    """Answers whatever it is asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"] or 0))
        body = b'{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def provider(ready):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    ready.send(server.server_port)
    server.serve_forever()


def conversation(steps):
    """A chat with calls and results, made up: about 350 tokens a step."""
    messages = [{"role": "system", "content": "You build parsers."}, {"role": "user", "content": "Find out why the build fails."}]
    for step in range(steps):
        output = "\n".join(f"src/part_{step}/file_{line}.rs: checked, {line * 7} warnings" for line in range(20))
        call = {"id": f"call_{step}", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": f"make part_{step}"})}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{step}", "content": output})
    return messages + [{"role": "assistant", "content": "That is all."}, {"role": "user", "content": "What do you know now?"}]


class Good:
    """A tenant that asks one thing after the other, each on the connection that is there."""

    def __init__(self, address):
        self.address, self.connection, self.turn = address, None, 0
        self.long, self.short = conversation(30), conversation(5)

    def ask(self, method, path, body=None):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(*self.address, timeout=60)
        headers = {"X-Epitome-Token": GOOD, "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        try:
            self.connection.request(method, path, data, headers)
            answer = self.connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            self.connection = None
            return type(error).__name__, b""
        return answer.status, said

    def next(self):
        """What is asked for next: its name, and how."""
        self.turn += 1
        session = f"/v1/sessions/good-{self.turn // 50}"
        return [
            ("compact", "POST", "/v1/compact", {"budget": 3_000, "request": {"messages": self.long}}),
            ("check", "POST", "/v1/check", {"request": {"messages": self.short}}),
            ("proxied", "POST", "/v1/chat/completions", {"model": "m", "messages": self.short}),
            ("session", "POST", f"{session}/messages", {"messages": [{"role": "user", "content": f"turn {self.turn}"}, {"role": "assistant", "content": "yes " * 50}]}),
            ("maintain", "POST", f"{session}/maintain", {}),
        ][self.turn % 5]


def behave(address, rows, over):
    """Asks at its pace; rows are (when, what, seconds, status)."""
    good, due = Good(address), time.monotonic()
    while not over.is_set():
        what, method, path, body = good.next()
        if what == "session" and good.turn % 50 < 5:
            good.ask("POST", "/v1/sessions", {"id": f"good-{good.turn // 50}"})
        began = time.monotonic()
        status, _ = good.ask(method, path, body)
        if status == "RemoteDisconnected":
            # An idle connection may be closed at any time; it is asked once more, as every client does, in the same time.
            status, _ = good.ask(method, path, body)
        if status == 404 and what in ("session", "maintain"):
            good.ask("POST", "/v1/sessions", {"id": f"good-{good.turn // 50}"})
            status = 200
        rows.append((began, what, time.monotonic() - began, status))
        due = max(due + 1 / RATE, time.monotonic())
        over.wait(max(0.0, due - time.monotonic()))


def good_process(address, pipe, over):
    rows = []
    behave(address, rows, over)
    pipe.send(rows)


def evil_process(address, pipe, over):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    attacks = hostile.all_of_them()
    pipe.send("ready")
    pipe.recv()
    counts = collections.defaultdict(collections.Counter)
    threads = []
    for number, (name, attack) in enumerate(attacks.items()):
        def told(status, name=name):
            counts[name][str(status)] += 1
        token = EVIL[number % len(EVIL)]
        threads.append(threading.Thread(target=attack, args=(address, token, over, told), daemon=True))
    for thread in threads:
        thread.start()
    over.wait()
    for thread in threads:
        thread.join(5)
    pipe.send({name: dict(of) for name, of in counts.items()})


def health(address, over, rows):
    while not over.is_set():
        began = time.monotonic()
        try:
            connection = http.client.HTTPConnection(*address, timeout=5)
            connection.request("GET", "/healthz")
            status = connection.getresponse().status
            connection.close()
        except (OSError, http.client.HTTPException) as error:
            status = type(error).__name__
        rows.append((began, time.monotonic() - began, status))
        over.wait(0.5)


def memory(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def figures(rows, start, end):
    """By what was asked for, and of all: count, p50, p99 and the largest, in milliseconds."""
    taken = [row for row in rows if start <= row[0] < end]
    kinds = {"all": taken} | {kind: [row for row in taken if row[1] == kind] for kind in sorted({row[1] for row in taken})}
    of = lambda rows: [row[2] * 1000 for row in rows]
    return {
        kind: {"count": len(rows), "p50": percentile(of(rows), 0.5), "p99": percentile(of(rows), 0.99), "max": max(of(rows), default=float("nan"))}
        for kind, rows in kinds.items()
    }


def told(told_of, took, quiet, attacked, samples, pulse, counts):
    print(f"\n| the well-behaved tenant | requests | p50 | p99 | at most |\n|---|---:|---:|---:|---:|")
    for phase, of in (("quiet", quiet), ("under attack", attacked)):
        for kind, row in of.items():
            print(f"| {phase}, {kind} | {row['count']} | {row['p50']:.1f} ms | {row['p99']:.1f} ms | {row['max']:.1f} ms |")
    print(f"\n| memory, by tenths of the attack of {took:.0f} s | p50 | at most |\n|---|---:|---:|")
    for tenth in range(10):
        part = samples[len(samples) * tenth // 10 : len(samples) * (tenth + 1) // 10] or [0.0]
        print(f"| {tenth + 1} | {statistics.median(part):.0f} MiB | {max(part):.0f} MiB |")
    late = [row[1] * 1000 for row in pulse]
    print(f"\nhealth: asked {len(pulse)} times, p50 {percentile(late, 0.5):.1f} ms, p99 {percentile(late, 0.99):.1f} ms, at most {max(late, default=0):.1f} ms")
    print("what the hostile clients got:")
    for name, of in counts.items():
        print(f"  {name}: " + ", ".join(f"{status} {count}" for status, count in sorted(of.items())))
    print(told_of)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=1800, help="of attack; the quiet time before is a sixth of it, 15 s at least")
    parser.add_argument("--most-times", type=float, default=5.0, help="of the quiet p99 that the p99 under attack may be")
    parser.add_argument("--json", help="a file for the figures")
    args = parser.parse_args()
    binary = os.environ.get("EPITOME_BIN", str(ROOT / "target/release/epitome"))
    context = multiprocessing.get_context("spawn")
    folder = tempfile.TemporaryDirectory(prefix="epitome-load-")
    ours, theirs = context.Pipe()
    upstream = context.Process(target=provider, args=(theirs,), daemon=True)
    upstream.start()
    upstream_port = ours.recv()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
    tokens = pathlib.Path(folder.name, "tokens")
    tokens.write_text("".join(f"{tenant} {token}\n" for tenant, token in [("good", GOOD), ("evil-1", EVIL[0]), ("evil-2", EVIL[1])]))
    log = open(pathlib.Path(folder.name, "log"), "wb")
    service = subprocess.Popen(
        [binary, "serve", "--quiet", "--listen", "%s:%d" % address, "--store", f"sqlite:{folder.name}/store.sqlite", "--token-file", str(tokens),
         "--upstream", f"http://127.0.0.1:{upstream_port}", "--log", "warn", "--requests-per-minute", "0"],
        stdout=log, stderr=log, env={**os.environ, "RUST_BACKTRACE": "0"},
    )
    problems = []
    try:
        for _ in range(200):
            try:
                socket.create_connection(address, timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        # What the hostile ones send is made before the quiet time begins.
        evil_pipe, evil_end = context.Pipe()
        evil_over, good_over, health_over = context.Event(), context.Event(), threading.Event()
        evil = context.Process(target=evil_process, args=(address, evil_end, evil_over), daemon=True)
        evil.start()
        evil_pipe.recv()
        good_pipe, good_end = context.Pipe()
        good = context.Process(target=good_process, args=(address, good_end, good_over), daemon=True)
        good.start()
        time.sleep(5)  # the first requests open what is opened once
        start = time.monotonic()
        time.sleep(max(15, args.seconds / 6))
        before = memory(service)
        attack = time.monotonic()
        evil_pipe.send("go")
        pulse, samples = [], []
        watcher = threading.Thread(target=health, args=(address, health_over, pulse), daemon=True)
        watcher.start()
        while time.monotonic() - attack < args.seconds and service.poll() is None:
            samples.append(memory(service))
            time.sleep(1)
        end = time.monotonic()
        evil_over.set(), health_over.set(), good_over.set()
        counts = evil_pipe.recv() if evil_pipe.poll(60) else {}
        rows = good_pipe.recv() if good_pipe.poll(120) else []
        watcher.join(10)
        if service.poll() is not None:
            problems.append(f"the service ended with {service.returncode}")
        quiet, attacked = figures(rows, start, attack), figures(rows, attack, end)
        wrong = collections.Counter(f"{row[1]}: {row[3]}" for row in rows if row[3] != 200)
        if wrong:
            problems.append(f"the well-behaved tenant got {dict(wrong)}")
        times = attacked["all"]["p99"] / quiet["all"]["p99"]
        if not times <= args.most_times:
            problems.append(f"its p99 is {times:.1f} times the quiet one")
        sick = collections.Counter(str(row[2]) for row in pulse if row[2] != 200)
        if sick:
            problems.append(f"health answered {dict(sick)}")
        quarter = max(1, len(samples) // 4)
        second, last = statistics.median(samples[quarter : 2 * quarter] or samples), statistics.median(samples[-quarter:])
        if last > GROWTH * second:
            problems.append(f"memory grew from {second:.0f} to {last:.0f} MiB")
        told(f"\nmemory before {before:.0f} MiB; the p99 under attack is {times:.1f} times the quiet one", end - attack, quiet, attacked, samples, pulse, counts)
        if args.json:
            found = {"seconds": end - attack, "quiet": quiet, "attacked": attacked, "times": times, "memory": samples, "hostile": counts, "problems": problems}
            pathlib.Path(args.json).write_text(json.dumps(found, indent=1))
    finally:
        service.terminate()
        try:
            service.wait(40)
        except subprocess.TimeoutExpired:
            service.kill()
            problems.append("the service did not stop in time")
        upstream.terminate()
        log.close()
        said = pathlib.Path(folder.name, "log").read_text(errors="replace").splitlines()
        for line in collections.Counter(json.loads(line).get("fields", {}).get("message", line) if line.startswith("{") else line for line in said).most_common(8):
            print("log:", line[1], "×", line[0])
        folder.cleanup()
    for problem in problems:
        print("PROBLEM:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
