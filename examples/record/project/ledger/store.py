"""SQLite storage."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from datetime import date
from pathlib import Path
from typing import Iterable, Iterator

from ledger import clock, log
from ledger.models import LedgerError, Posting, Transaction, check_account

MIGRATIONS = Path(__file__).parent / "migrations"


class MigrationError(LedgerError):
    pass


def migration_files() -> list[Path]:
    return sorted(MIGRATIONS.glob("[0-9]*.sql"))


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Store:
    def __init__(self, path: str | Path):
        self.path = str(path)
        self.db = sqlite3.connect(self.path)
        self.db.row_factory = sqlite3.Row
        self.db.execute("PRAGMA foreign_keys = ON")
        if self.path != ":memory:":
            self.db.execute("PRAGMA journal_mode = WAL")

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exc) -> None:
        self.close()

    # -- migrations ---------------------------------------------------------

    def migrate(self) -> list[str]:
        """Applies what is missing; returns the names applied."""
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS migrations ("
            " name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL)"
        )
        done = dict(self.db.execute("SELECT name, sha256 FROM migrations").fetchall())
        applied = []
        for path in migration_files():
            digest = checksum(path)
            if path.name in done:
                if done[path.name] != digest:
                    raise MigrationError(
                        f"migration {path.name} changed after it was applied: "
                        f"database has {done[path.name][:12]}, file has {digest[:12]}"
                    )
                continue
            log.debug("store", "apply migration", name=path.name, sha256=digest[:12])
            self.db.executescript(path.read_text())
            self.db.execute(
                "INSERT INTO migrations (name, sha256, applied_at) VALUES (?, ?, ?)",
                (path.name, digest, clock.stamp()),
            )
            applied.append(path.name)
        self.db.commit()
        return applied

    # -- transactions -------------------------------------------------------

    def add(self, transaction: Transaction) -> int:
        """Stores one transaction and its event; returns the id."""
        transaction.validate()
        for posting in transaction.postings:
            check_account(posting.account)
        with self.db:
            cursor = self.db.execute(
                "INSERT INTO transactions"
                " (day, description, source, created_at, fingerprint, raw)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    transaction.when.isoformat(),
                    transaction.description,
                    transaction.source,
                    clock.stamp(),
                    transaction.fingerprint,
                    json.dumps(transaction.raw, ensure_ascii=False)
                    if transaction.raw is not None
                    else None,
                ),
            )
            number = cursor.lastrowid
            self.db.executemany(
                "INSERT INTO postings (transaction_id, account, amount, currency)"
                " VALUES (?, ?, ?, ?)",
                [(number, p.account, p.amount, p.currency) for p in transaction.postings],
            )
            self._enqueue("transaction.posted", number, transaction)
        log.debug("store", "posted", id=number, day=str(transaction.when),
                  description=transaction.description,
                  amount=transaction.postings[0].amount)
        return number

    def _enqueue(self, kind: str, number: int, transaction: Transaction) -> None:
        payload = {
            "id": number,
            "day": transaction.when.isoformat(),
            "description": transaction.description,
            "postings": [
                {"account": p.account, "amount": p.amount, "currency": p.currency}
                for p in transaction.postings
            ],
        }
        self.db.execute(
            "INSERT INTO outbox (kind, payload, created_ms) VALUES (?, ?, ?)",
            (kind, json.dumps(payload, ensure_ascii=False, sort_keys=True), clock.now_ms()),
        )

    def has_fingerprint(self, fingerprint: str) -> bool:
        row = self.db.execute(
            "SELECT 1 FROM transactions WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
        return row is not None

    def transactions(self) -> Iterator[tuple[int, Transaction]]:
        rows = self.db.execute("SELECT * FROM transactions ORDER BY day, id").fetchall()
        for row in rows:
            postings = self.db.execute(
                "SELECT account, amount, currency FROM postings"
                " WHERE transaction_id = ? ORDER BY id",
                (row["id"],),
            ).fetchall()
            yield row["id"], Transaction(
                when=date.fromisoformat(row["day"]),
                description=row["description"],
                postings=tuple(Posting(*tuple(p)) for p in postings),
                source=row["source"],
                fingerprint=row["fingerprint"],
                raw=json.loads(row["raw"]) if row["raw"] else None,
            )

    def count(self) -> int:
        return self.db.execute("SELECT COUNT(*) FROM transactions").fetchone()[0]

    # -- balances -----------------------------------------------------------

    def balances(self, until: date | None = None) -> list[tuple[str, str, int]]:
        """(account, currency, minor units), sorted by account."""
        limit = until.isoformat() if until else "9999-12-31"
        rows = self.db.execute(
            "SELECT p.account, p.currency, SUM(p.amount)"
            " FROM postings p JOIN transactions t ON t.id = p.transaction_id"
            " WHERE t.day <= ?"
            " GROUP BY p.account, p.currency ORDER BY p.account, p.currency",
            (limit,),
        ).fetchall()
        return [(row[0], row[1], row[2]) for row in rows]

    def register(self, account: str) -> list[sqlite3.Row]:
        return self.db.execute(
            "SELECT t.id, t.day, t.description, p.amount, p.currency"
            " FROM postings p JOIN transactions t ON t.id = p.transaction_id"
            " WHERE p.account = ? ORDER BY t.day, t.id",
            (account,),
        ).fetchall()

    def add_all(self, items: Iterable[Transaction]) -> list[int]:
        return [self.add(item) for item in items]
