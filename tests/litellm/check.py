"""Runs LiteLLM's proxy with its guardrail `headroom` pointed at `epitome serve`, in front of a made-up provider.

    tests/litellm/run

Nothing leaves this machine. Exits with 1 at the first thing that is not as it should be.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "a-token-of-the-service"
KEY = "sk-a-key-of-the-proxy"
STARTS_WITHIN = 180  # seconds

seen = []  # the body of every request that the provider got


def check(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got!r} instead of {expected!r}")


class Provider(BaseHTTPRequestHandler):
    """Retrieves the first text that left, where a tool for it is offered, and then says that all is fine."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        seen.append(body)
        tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        handle = re.search(r"recall ([0-9a-f]{12,24})", json.dumps(body["messages"]))
        message = {"role": "assistant", "content": "Fine."}
        if "headroom_retrieve" in tools and handle and len(seen) == 1:
            call = {"name": "headroom_retrieve", "arguments": json.dumps({"hash": handle.group(1)})}
            message = {"role": "assistant", "content": None,
                       "tool_calls": [{"id": "lookup", "type": "function", "function": call}]}
        reason = "tool_calls" if message["content"] is None else "stop"
        answer = {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"],
                  "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                  "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def talk():
    """A long piece of work with a tool, and a question."""
    messages = [{"role": "system", "content": "You are terse."},
                {"role": "user", "content": "Find out why the build of the parser fails."}]
    for step in range(30):
        messages.append({"role": "assistant", "content": f"I look at part {step}.", "tool_calls": [
            {"id": f"call_{step}", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": f"make part{step}"})}}]})
        lines = [f"src/part_{step}/file_{line}.rs: checked, {line * step} warnings" for line in range(60)]
        messages.append({"role": "tool", "tool_call_id": f"call_{step}", "content": "\n".join(lines)})
    return messages + [{"role": "user", "content": "And what was in part 0?"}]


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", "authorization": f"Bearer {KEY}"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def run(proxy):
    came = talk()
    tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}]
    status, answer = post(f"{proxy}/v1/chat/completions", {"model": "made-up", "messages": came, "tools": tools})
    check("status", (status, answer if status != 200 else None), (200, None))
    check("answer", answer["choices"][0]["message"]["content"], "Fine.")
    sent = seen[0]["messages"]
    check("rows", [row["role"] for row in sent], [row["role"] for row in came])
    check("calls", [row.get("tool_call_id") for row in sent], [row.get("tool_call_id") for row in came])
    held = [at for at, row in enumerate(came) if row["role"] in ("system", "assistant")] + [len(came) - 1]
    for at in held:
        check(f"row {at}", sent[at]["content"], came[at]["content"])
    before, after = (sum(len(row["content"]) for row in rows) for rows in (came, sent))
    check(f"{after} of {before} characters", after < before * 0.6, True)
    check("tools", [tool["function"]["name"] for tool in seen[0]["tools"]], ["bash", "headroom_retrieve"])
    # The model asked for what left, and the proxy looked it up.
    check("requests of the provider", len(seen), 2)
    found = seen[1]["messages"][-1]
    check("the looked-up text", (found["role"], "src/part_0/file_59.rs: checked" in found["content"]), ("tool", True))
    print(f"LiteLLM's proxy: {len(sent)} rows in their places, {after:,} of {before:,} characters, one text retrieved")


def service_of(binary, folder):
    service = subprocess.Popen(
        [binary, "serve", "--listen", "127.0.0.1:0", "--store", "none", "--token-variable", "SERVICE_TOKEN"],
        cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, "SERVICE_TOKEN": TOKEN})
    for line in service.stderr:
        if found := re.search(r"serves on (http://\S+)", line):
            threading.Thread(target=lambda: list(service.stderr), daemon=True).start()
            return service, found.group(1)
    sys.exit("the service did not start")


def config_of(provider, service):
    return {
        "model_list": [{"model_name": "made-up", "litellm_params": {
            "model": "openai/made-up", "api_base": f"{provider}/v1", "api_key": "none"}}],
        "guardrails": [{"guardrail_name": "epitome", "litellm_params": {
            "guardrail": "headroom", "mode": ["pre_call", "post_call"], "default_on": True, "api_base": service, "api_key": TOKEN}}],
        "general_settings": {"master_key": KEY},
    }


def wait_until_ready(url, process):
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health/liveliness", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    sys.exit("LiteLLM's proxy did not start")


def main():
    binary, litellm = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        service, base = service_of(binary, folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        path = os.path.join(folder, "config.yaml")
        with open(path, "w") as config:
            json.dump(config_of(f"http://127.0.0.1:{provider.server_port}", base), config)  # JSON is YAML
        offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "127.0.0.1", "DISABLE_ADMIN_UI": "True"}
        with open(os.path.join(folder, "litellm.log"), "w+") as log:
            proxy = subprocess.Popen([litellm, "--config", path, "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"],
                                     cwd=folder, stdout=log, stderr=log, env={**os.environ, **offline})
            try:
                wait_until_ready(f"http://127.0.0.1:{port}", proxy)
                run(f"http://127.0.0.1:{port}")
            except SystemExit:
                log.seek(0)
                print(log.read()[-5_000:], file=sys.stderr)
                raise
            finally:
                for process in (proxy, service):
                    process.terminate()
                    process.wait(timeout=60)


if __name__ == "__main__":
    main()
