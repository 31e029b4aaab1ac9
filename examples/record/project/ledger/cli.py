"""The command line."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from ledger import __version__, config as configuration, importer, outbox, report, server
from ledger.models import LedgerError
from ledger.store import Store


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="ledger", description=__doc__)
    top.add_argument("--version", action="version", version=__version__)
    top.add_argument("--config", help="configuration file (default: ledger.toml)")
    commands = top.add_subparsers(dest="command", required=True)

    commands.add_parser("init", help="create the database")

    command = commands.add_parser("import", help="import a bank statement")
    command.add_argument("--profile", required=True, choices=sorted(importer.PROFILES))
    command.add_argument("file", type=Path)

    command = commands.add_parser("balance", help="balance per account")
    command.add_argument("--until", type=date.fromisoformat)

    command = commands.add_parser("register", help="postings of one account")
    command.add_argument("account")
    command.add_argument("--limit", type=int)

    commands.add_parser("export", help="all transactions as JSON lines")
    commands.add_parser("dispatch", help="send the pending events once")

    command = commands.add_parser("serve", help="the read-only HTTP API")
    command.add_argument("--port", type=int)
    return top


def run(arguments: argparse.Namespace) -> int:
    config = configuration.load(arguments.config)
    with Store(config.get("storage.path")) as store:
        applied = store.migrate()
        if arguments.command == "init":
            print(f"{store.path}: {len(applied)} migrations applied")
        elif arguments.command == "import":
            result = importer.import_file(store, config, arguments.file, arguments.profile)
            print(f"{arguments.file.name}: {result.added} added, {result.skipped} skipped")
        elif arguments.command == "balance":
            sys.stdout.write(report.balance_text(store, arguments.until))
        elif arguments.command == "register":
            sys.stdout.write(report.register_text(store, arguments.account, arguments.limit))
        elif arguments.command == "export":
            sys.stdout.write(report.export_lines(store))
        elif arguments.command == "dispatch":
            outcome = outbox.Dispatcher(store, config, outbox.http_sender(config)).run_once()
            print(f"{outcome.delivered} delivered, {outcome.failed} failed")
            return 1 if outcome.failed else 0
        elif arguments.command == "serve":
            with server.make_server(config, store, arguments.port) as http:
                host, port = http.server_address[:2]
                print(f"listening on http://{host}:{port}", flush=True)
                try:
                    http.serve_forever()
                except KeyboardInterrupt:
                    pass
    return 0


def main(argv: list[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    try:
        return run(arguments)
    except LedgerError as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 2
