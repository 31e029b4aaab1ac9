"""What the adapters in Python share: the exchange with `epitome bench --command`, the count of tokens, and the way back to the
messages that came in."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from http.server import BaseHTTPRequestHandler
from socketserver import UnixStreamServer
from typing import Any

import tiktoken

ChatMessage = dict[str, Any]
Compactor = Callable[[list[ChatMessage], int], list[ChatMessage]]

# What stands before the model's message where that would be the first.
LEAD: ChatMessage = {"role": "user", "content": "(Earlier messages are left out.)"}

# How often a product is asked again with a lower target.
TRIES = 5

ENCODING = tiktoken.get_encoding("o200k_base")


@cache
def count_text(text: str) -> int:
    """Returns the tokens of a text in `o200k_base`."""
    return len(ENCODING.encode(text, disallowed_special=()))


def count_message(message: ChatMessage) -> int:
    """Returns the tokens of a chat message as the bench counts them: its text, the ids, names and arguments of its calls, the id of
    the call that it answers, and four for its frame."""
    parts = [message.get("content") or "", message.get("tool_call_id") or ""]
    for call in message.get("tool_calls") or []:
        parts += [call["id"], call["function"]["name"], call["function"]["arguments"]]
    return 4 + sum(map(count_text, parts))


def count_messages(messages: Sequence[ChatMessage]) -> int:
    """Returns the tokens of messages."""
    return sum(map(count_message, messages))


def name_results(messages: Sequence[ChatMessage]) -> dict[str, str]:
    """Returns the name of the tool of each call by the call's id: results do not carry it."""
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    return {call["id"]: call["function"]["name"] for call in calls}


def with_text(message: ChatMessage, text: str) -> ChatMessage:
    """Returns the message with another text. Nothing else goes through a product's form, so nothing else changes on the way."""
    return message if (message.get("content") or "") == text else {**message, "content": text}


def _reach(compact: Compactor, messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    """Returns what a product keeps at a budget.

    Products count in ways of their own. Where what one keeps is over the budget as the bench counts, it is asked again with a
    target that is lower by as much, a few times: who uses it would set its limit so that what is sent fits. One that keeps the
    same at a lower target stays over.
    """
    target, least = budget, compact(messages, budget)
    kept = least
    for _ in range(TRIES):
        if count_messages(least) <= budget:
            break
        target = max(target * budget // count_messages(kept), 1)
        before, kept = kept, compact(messages, target)
        if not kept or kept == before:
            break
        least = min(least, kept, key=count_messages)
    return least


def _answer(compact: Compactor, request: bytes) -> bytes:
    asked = json.loads(request)
    kept = _reach(compact, asked["messages"], asked["budget_tokens"] - count_message(LEAD))
    # Some providers refuse a request that the model's own message begins, and the bench counts nothing of it. What is measured is
    # what a product keeps, so a line in front of it is added here, and its tokens were left to it.
    begin = next((place for place, message in enumerate(kept) if message["role"] != "system"), 0)
    if kept and kept[begin]["role"] != "user":
        kept = [*kept[:begin], LEAD, *kept[begin:]]
    return json.dumps({"messages": kept}).encode()


def _serve(compact: Compactor, path: str) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            # An error of a product goes to the log of the server; who asked gets no answer, and an exit status that is not zero.
            answer = _answer(compact, body)
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """A line for each request would say nothing."""

    if os.path.exists(path):
        os.unlink(path)
    with UnixStreamServer(path, Handler) as server:
        server.serve_forever()


def run(compact: Compactor) -> None:
    """Answers one request from standard input; with `--listen SOCKET` all that come over HTTP through that Unix socket, because
    loading a framework takes many times as long as its compaction."""
    if sys.argv[1:2] == ["--listen"] and len(sys.argv) == 3:
        _serve(compact, sys.argv[2])
    elif len(sys.argv) > 1:
        sys.exit(f"usage: {sys.argv[0]} [--listen SOCKET]")
    else:
        sys.stdout.buffer.write(_answer(compact, sys.stdin.buffer.read()))
