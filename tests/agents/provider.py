"""A made-up provider for agents: asks for a command with much output, turn after turn, and is done at last.

    provider.py FOLDER TURNS

Speaks OpenAI chat, OpenAI Responses and Anthropic messages, streamed or not. Writes every request that it gets to
FOLDER as NUMBER.json with its path, and prints the port that it listens on. A request for a model's answer that has no tool
named like a shell is one on the side (a title, a summary) and gets a few words.
"""

import itertools
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER, TURNS = sys.argv[1], int(sys.argv[2])
SHELLS = ("bash", "Bash", "shell", "shell_command", "exec_command", "run_shell_command", "execute_command")
DONE = "All parts of the build were looked at. That is all."

numbers = itertools.count()
lock = threading.Lock()


def command(turn):
    return ("i=0; while [ $i -lt 120 ]; do i=$((i+1)); echo "
            f"\"src/part_{turn}/file_$i.rs: checked, $((i * 7)) warnings, nothing else to say of it\"; done")


def arguments(name, turn):
    if name == "exec_command":
        return {"cmd": command(turn)}
    if name == "shell":
        return {"command": ["bash", "-c", command(turn)]}
    return {"command": command(turn), "description": f"Builds part {turn}"}


def shell(body):
    names = [tool.get("name") or tool.get("function", {}).get("name") for tool in body.get("tools") or []]
    return next((name for name in SHELLS if name in names), None)


def turn_of(body):
    """Calls that the agent has brought back, by the ids that they were given here. Some may have left by now."""
    text = json.dumps(body)
    return max((turn + 1 for turn in range(TURNS) if f"call_part_{turn}\"" in text), default=0)


def events(path, body):
    name, turn = shell(body), turn_of(body)
    call = name is not None and turn < TURNS
    identity = f"call_part_{turn}"
    model = body.get("model", "m")
    given = arguments(name, turn) if call else None
    if path.endswith("/chat/completions"):
        usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
        delta = {"role": "assistant", "content": None if call else DONE}
        if call:
            function = {"name": name, "arguments": json.dumps(given)}
            delta["tool_calls"] = [{"index": 0, "id": identity, "type": "function", "function": function}]
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": model}
        reason = "tool_calls" if call else "stop"
        yield None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
        yield None, "[DONE]"
    elif path.endswith("/responses"):
        usage = {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1010}
        if call:
            item = {"id": f"fc_{turn}", "type": "function_call", "status": "completed", "call_id": identity,
                    "name": name, "arguments": json.dumps(given)}
        else:
            item = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": DONE, "annotations": []}]}
        response = {"id": f"resp_{turn}", "object": "response", "created_at": 1, "model": model, "output": []}
        yield "response.created", {"type": "response.created", "response": {**response, "status": "in_progress"}}
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield "response.completed", {"type": "response.completed",
                                     "response": {**response, "status": "completed", "output": [item], "usage": usage}}
    else:
        usage = {"input_tokens": 1000, "output_tokens": 10}
        message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": model, "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield "message_start", {"type": "message_start", "message": message}
        if call:
            block = {"type": "tool_use", "id": identity, "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}
        yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
        reason = "tool_use" if call else "end_turn"
        yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
                                "usage": usage}
        yield "message_stop", {"type": "message_stop"}


def whole(path, body):
    """The answer in one piece."""
    pieces = list(events(path, body))
    if path.endswith("/responses"):
        return pieces[-1][1]["response"]
    if path.endswith("/chat/completions"):
        first, last = pieces[0][1], pieces[1][1]
        choice = {"index": 0, "message": first["choices"][0]["delta"],
                  "finish_reason": last["choices"][0]["finish_reason"]}
        return {**first, "object": "chat.completion", "choices": [choice], "usage": last["usage"]}
    start, delta = pieces[1][1]["content_block"], pieces[2][1]["delta"]
    block = {**start, "input": json.loads(delta["partial_json"])} if "input" in start else {**start, "text": DONE}
    return {**pieces[0][1]["message"], "content": [block], "stop_reason": pieces[-2][1]["delta"]["stop_reason"]}


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, kind="application/json"):
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(200, json.dumps({"object": "list", "data": [], "models": []}))

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        body = json.loads(data or b"{}")
        with lock:
            name = os.path.join(FOLDER, f"{next(numbers):03}.json")
            with open(name + ".part", "w") as file:
                json.dump({"path": path, "bytes": len(data), "is_main": shell(body) is not None, "body": body}, file)
            os.rename(name + ".part", name)
        if path.endswith("/count_tokens"):
            self.answer(200, json.dumps({"input_tokens": 1000}))
        elif not path.endswith(("/chat/completions", "/responses", "/messages")):
            self.answer(404, "{}")
        elif body.get("stream"):
            text = ""
            for event, piece in events(path, body):
                text += f"event: {event}\n" if event else ""
                text += f"data: {piece if isinstance(piece, str) else json.dumps(piece)}\n\n"
            self.answer(200, text, "text/event-stream")
        else:
            self.answer(200, json.dumps(whole(path, body)))

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
