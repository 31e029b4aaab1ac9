"""An agent of Hermes whose conversation is what fits. The provider is scripted, on this machine: leave `base_url` away for yours.

python examples/python/adapters/hermes_agent.py
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BUDGET = 8_000
CONFIG = f"""
context:
  engine: epitome
  epitome: {{budget: {BUDGET}}}
plugins:
  enabled: [epitome]
"""
TASK = "The import of the ledger counts entries twice. Find out why, and keep the database as it is."


class Scripted(BaseHTTPRequestHandler):
    """A provider: calls the terminal for every part of the ledger, and then answers."""

    parts = 30
    requests: list[list[dict[str, Any]]] = []

    def do_GET(self) -> None:
        self._reply({"data": [{"id": "scripted", "context_length": 100_000}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "messages" not in body:
            return self._reply({})
        self.requests.append(body["messages"])
        part = len(self.requests)
        message: dict[str, Any] = {"role": "assistant", "content": "The fingerprint holds the row's position."}
        if part <= self.parts:
            command = f"for row in $(seq 60); do echo part {part}, row $row: amount $((row * 37 % 101)); done"
            function = {"name": "terminal", "arguments": json.dumps({"command": command})}
            message["content"] = f"Part {part}, sheet S{part:04}."
            message["tool_calls"] = [{"index": 0, "id": f"call_{part}", "type": "function", "function": function}]
        tokens = epitome.count_tokens(body["messages"], format="openai-chat")
        self._stream(message, {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": tokens + 9})

    def _stream(self, message: dict[str, Any], usage: dict[str, int]) -> None:
        reason = "tool_calls" if "tool_calls" in message else "stop"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for delta, finish in ((message, None), ({}, reason)):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = {
                "id": "x",
                "object": "chat.completion.chunk",
                "created": 0,
                "model": "scripted",
                "choices": [choice],
            }
            self.wfile.write(f"data: {json.dumps({**chunk, 'usage': usage if finish else None})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def _reply(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given: Any) -> None:
        """Says nothing."""


def engine_for_this_process() -> None:
    """Registers the engine where the package is not installed but lies beside this file; else Hermes has found it."""
    from hermes_cli.plugins import (
        PluginContext,
        PluginManager,
        PluginManifest,
        get_plugin_context_engine,
        get_plugin_manager,
    )

    if get_plugin_context_engine() is None:
        manager: PluginManager = get_plugin_manager()
        register(PluginContext(PluginManifest(name="epitome", source="entrypoint"), manager))


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    engine_for_this_process()
    told = io.StringIO()
    with contextlib.redirect_stdout(told):  # Hermes tells its user of every step
        agent = AIAgent(
            base_url=f"http://127.0.0.1:{server.server_port}/v1",
            api_key="made-up",
            provider="custom",
            model="scripted",
            enabled_toolsets=["terminal", "context_engine"],
            quiet_mode=True,
            skip_memory=True,
            skip_context_files=True,
        )
        result = agent.run_conversation(TASK)
    print(result["final_response"])
    for messages in Scripted.requests:
        assert epitome.validate(messages, format="openai-chat") == []
    largest = max(epitome.count_tokens(messages, format="openai-chat") for messages in Scripted.requests)
    compactions = agent.context_compressor.compression_count
    print(f"{len(Scripted.requests)} requests, the largest of {largest:,} tokens; {compactions} compactions")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "config.yaml").write_text(CONFIG)
        os.environ["HERMES_HOME"] = home
        from run_agent import AIAgent

        import epitome_context as epitome
        from epitome_context.adapters.hermes import register

        main()
