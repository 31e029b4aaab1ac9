"""Runs the official Python clients against `epitome serve`, as a proxy in front of a made-up provider.

    tests/clients/run

Nothing leaves this machine. Exits with 1 at the first thing that is not as it should be.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai

CONFIG = "[budget]\nwindow = 9_000\nreserve_output = 1_000\nsoft = 0.8\ntarget = 0.5\n"
TOKEN = "a-token-of-the-service"

seen = []  # (path, headers, body) of every request that the provider got


def chat(body):
    if body.get("stream"):
        pieces = ["Fi", "ne", "."]
        for piece in pieces:
            yield {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                   "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        yield "[DONE]"
    else:
        yield {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
               "choices": [{"index": 0, "message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}]}


def responses(body):
    message = {"id": "m1", "type": "message", "role": "assistant", "status": "completed",
               "content": [{"type": "output_text", "text": "Fine.", "annotations": []}]}
    whole = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [message],
             "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    if not body.get("stream"):
        yield whole
        return
    yield {"type": "response.created", "sequence_number": 0, "response": {**whole, "status": "in_progress", "output": []}}
    for number, piece in enumerate(["Fi", "ne", "."], 1):
        yield {"type": "response.output_text.delta", "sequence_number": number, "item_id": "m1", "output_index": 0,
               "content_index": 0, "delta": piece, "logprobs": []}
    yield {"type": "response.completed", "sequence_number": 4, "response": whole}


def messages(body):
    usage = {"input_tokens": 1, "output_tokens": 1}
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
             "stop_sequence": None, "usage": usage, "content": [{"type": "text", "text": "Fine."}]}
    if not body.get("stream"):
        yield whole
        return
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for piece in ["Fi", "ne", "."]:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


class Provider(BaseHTTPRequestHandler):
    """Speaks the three formats; refuses what is longer than it takes, as each provider would."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        seen.append((self.path, dict(self.headers), None))
        self.answer(200, json.dumps({"object": "list", "data": [{"id": "m", "object": "model", "created": 1,
                                                                "owned_by": "nobody"}]}).encode())

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}, raw.decode()))
        path = self.path.split("?")[0]
        if body.get("model") == "too-small" and len(raw) > 12_000:
            error = {"type": "invalid_request_error", "code": "context_length_exceeded",
                     "message": "prompt is too long: 6000 tokens > 3000 maximum"}
            return self.answer(400, json.dumps({"type": "error", "error": error}).encode())
        if body.get("model") == "busy":
            return self.answer(429, b'{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}')
        events = {"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}[path](body)
        if not body.get("stream"):
            return self.answer(200, json.dumps(next(events)).encode())
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            data = event if isinstance(event, str) else json.dumps(event)
            piece = f"{name}data: {data}\n\n".encode()
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


def output(step):
    return "\n".join(f"src/part_{step}/file_{line}.rs: checked, {line * 7} warnings, nothing else to say" for line in range(30))


def history(kind, steps, first=0):
    """A task, steps of a tool, a question: the messages of the one format or the items of the other. The steps are counted
    from `first` on."""
    found = [{"role": "user", "content": "Find out why the build of the parser fails."}]
    for step in range(first, first + steps):
        call, arguments = f"call_{step}", {"command": f"make part_{step}"}
        if kind == "chat":
            function = {"name": "bash", "arguments": json.dumps(arguments)}
            found.append({"role": "assistant", "content": None,
                          "tool_calls": [{"id": call, "type": "function", "function": function}]})
            found.append({"role": "tool", "tool_call_id": call, "content": output(step)})
        elif kind == "responses":
            found.append({"type": "function_call", "call_id": call, "name": "bash", "arguments": json.dumps(arguments)})
            found.append({"type": "function_call_output", "call_id": call, "output": output(step)})
        else:
            found.append({"role": "assistant",
                          "content": [{"type": "tool_use", "id": call, "name": "bash", "input": arguments}]})
            found.append({"role": "user",
                          "content": [{"type": "tool_result", "tool_use_id": call, "content": output(step)}]})
    return found + [{"role": "assistant", "content": "That is all of it."}, {"role": "user", "content": "And now?"}]


def check(what, got, expect):
    if got != expect:
        sys.exit(f"{what}: got {got!r}, expected {expect!r}")


def clients(base):
    headers = {"x-epitome-token": TOKEN}
    one = openai.OpenAI(base_url=f"{base}/v1", api_key="sk-of-the-client", default_headers=headers, max_retries=0)
    other = anthropic.Anthropic(base_url=base, api_key="key-of-the-client", default_headers=headers, max_retries=0)

    def ask(kind, items, model="m", stream=False):
        """The answer's text and the proxy's status."""
        if kind == "chat":
            raw = one.chat.completions.with_raw_response.create(model=model, messages=items, stream=stream)
            answer = raw.parse()
            text = "".join(piece.choices[0].delta.content or "" for piece in answer) if stream \
                else answer.choices[0].message.content
        elif kind == "responses":
            raw = one.responses.with_raw_response.create(model=model, input=items, stream=stream)
            answer = raw.parse()
            text = "".join(event.delta for event in answer if event.type == "response.output_text.delta") if stream \
                else answer.output_text
        else:
            raw = other.messages.with_raw_response.create(model=model, max_tokens=100, messages=items, stream=stream)
            answer = raw.parse()
            text = "".join(event.delta.text for event in answer if event.type == "content_block_delta") if stream \
                else answer.content[0].text
        return text, raw.headers["x-epitome-status"]

    return one, ask


def run(base):
    one, ask = clients(base)
    for kind, field in [("chat", "messages"), ("responses", "input"), ("messages", "messages")]:
        for stream in (False, True):
            check(f"{kind}, short", ask(kind, history(kind, 1), stream=stream), ("Fine.", "passed"))
            check(f"{kind}, bytes", json.loads(seen[-1][2])[field], history(kind, 1))
        keys = [seen[-1][1].get(name, "") for name in ("authorization", "x-api-key")]
        check(f"{kind}, key", "of-the-client" in "".join(keys), True)
        check(f"{kind}, our token", "x-epitome-token" in seen[-1][1], False)
        long = history(kind, 16)
        check(f"{kind}, long", ask(kind, long), ("Fine.", "compacted"))
        first = json.loads(seen[-1][2])[field]
        check(f"{kind}, smaller", len(seen[-1][2]) < len(json.dumps(long)) * 2 / 3, True)
        for turn in range(2):
            long = long + [{"role": "assistant", "content": "Fine."}, {"role": "user", "content": f"And {turn}?"}]
            check(f"{kind}, turn {turn}", ask(kind, long, stream=True), ("Fine.", "replayed"))
            check(f"{kind}, prefix {turn}", json.loads(seen[-1][2])[field][:len(first)], first)
        before = len(seen)
        check(f"{kind}, too long", ask(kind, history(kind, 6), model="too-small"), ("Fine.", "overflow-retried"))
        check(f"{kind}, tries", len(seen) - before, 2)
        try:
            ask(kind, history(kind, 1), model="busy")
            sys.exit(f"{kind}: no error")
        except (openai.RateLimitError, anthropic.RateLimitError) as error:
            check(f"{kind}, error", "slow down" in str(error), True)
        print(f"{kind}: as it should be")
    check("models", [model.id for model in one.models.list()], ["m"])
    try:
        openai.OpenAI(base_url=f"{base}/v1", api_key="sk-x", max_retries=0).models.list()
        sys.exit("no token: no error")
    except openai.AuthenticationError as error:
        check("no token", error.body["code"], "unauthorized")
    print("other routes: as they should be")


def main(run, config_text=CONFIG):
    """Runs `run` with the address of a service in front of the made-up provider."""
    provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
        config.write(config_text)
        config.flush()
        service = subprocess.Popen(
            [sys.argv[1], "serve", "--listen", "127.0.0.1:0", "--store", "none", "--config", config.name,
             "--token-variable", "SERVICE_TOKEN", "--upstream", f"http://127.0.0.1:{provider.server_port}"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "SERVICE_TOKEN": TOKEN})
        log = []
        try:
            base = None
            for line in service.stderr:
                log.append(line)
                if found := re.search(r"serves on (http://\S+)", line):
                    base = found.group(1)
                    break
            if base is None:
                sys.exit(f"the service did not start: {''.join(log)}")
            reader = threading.Thread(target=lambda: log.extend(service.stderr), daemon=True)
            reader.start()
            run(base)
        finally:
            service.terminate()
            code = service.wait(timeout=60)
    reader.join()
    check("exit", code, 0)
    for secret in ("of-the-client", TOKEN, "parser", "part_3"):
        check(f"`{secret}` in the log", secret in "".join(log), False)
    print("the log holds no secret")


if __name__ == "__main__":
    main(run)
