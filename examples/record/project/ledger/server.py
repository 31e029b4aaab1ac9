"""The read-only HTTP API."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

from ledger import __version__, log
from ledger.config import Config
from ledger.store import Store


class Api:
    """Routes, without the HTTP around them."""

    def __init__(self, store: Store):
        self.store = store

    def get(self, path: str, query: dict[str, list[str]]) -> tuple[int, dict]:
        if path == "/version":
            return 200, {"version": __version__}
        if path == "/balance":
            return 200, {
                "balances": [
                    {"account": account, "currency": currency, "minor": amount}
                    for account, currency, amount in self.store.balances()
                ]
            }
        if path == "/register":
            account = query.get("account", [""])[0]
            if not account:
                return 400, {"error": "account is missing"}
            return 200, {
                "account": account,
                "postings": [
                    {
                        "id": row["id"],
                        "day": row["day"],
                        "description": row["description"],
                        "minor": row["amount"],
                        "currency": row["currency"],
                    }
                    for row in self.store.register(account)
                ],
            }
        return 404, {"error": f"no such path: {path}"}


def make_handler(api: Api) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlparse(self.path)
            status, body = api.get(url.path, parse_qs(url.query))
            data = (json.dumps(body, ensure_ascii=False) + "\n").encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args) -> None:
            log.info("server", format % args)

    return Handler


def make_server(config: Config, store: Store, port: int | None = None) -> HTTPServer:
    address = (config.get("server.host"), config.get("server.port") if port is None else port)
    return HTTPServer(address, make_handler(Api(store)))
