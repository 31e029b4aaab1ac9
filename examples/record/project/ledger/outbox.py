"""The outbox: events are written with the transaction and sent afterwards."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Callable

from ledger import clock, log
from ledger.config import Config
from ledger.store import Store

Send = Callable[[dict], None]


@dataclass
class Event:
    id: int
    kind: str
    payload: dict
    attempts: int


@dataclass
class Outcome:
    delivered: int = 0
    failed: int = 0


class DeliveryError(Exception):
    pass


def http_sender(config: Config) -> Send:
    endpoint = config.get("outbox.endpoint")
    timeout = config.get("outbox.timeout_ms") / 1000

    def send(event: dict) -> None:
        request = urllib.request.Request(
            endpoint,
            data=json.dumps(event).encode(),
            headers={"Content-Type": "application/json"},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                if response.status >= 300:
                    raise DeliveryError(f"HTTP {response.status}")
        except urllib.error.HTTPError as error:
            raise DeliveryError(f"HTTP {error.code}") from error
        except (urllib.error.URLError, OSError) as error:
            raise DeliveryError(str(error)) from error

    return send


class Dispatcher:
    def __init__(self, store: Store, config: Config, send: Send):
        self.store = store
        self.batch_size = config.get("outbox.batch_size")
        self.send = send

    def pending(self) -> list[Event]:
        rows = self.store.db.execute(
            "SELECT id, kind, payload, attempts FROM outbox"
            " WHERE delivered_ms IS NULL ORDER BY id LIMIT ?",
            (self.batch_size,),
        ).fetchall()
        return [Event(r["id"], r["kind"], json.loads(r["payload"]), r["attempts"]) for r in rows]

    def run_once(self) -> Outcome:
        """Sends what is pending, in order. An event that fails stays pending."""
        outcome = Outcome()
        for event in self.pending():
            try:
                self.send({"event": event.id, "kind": event.kind, "data": event.payload})
            except DeliveryError as error:
                log.info("outbox", "delivery failed", id=event.id, error=str(error))
                self._failed(event, str(error))
                outcome.failed += 1
            else:
                self._delivered(event)
                outcome.delivered += 1
        return outcome

    def _delivered(self, event: Event) -> None:
        with self.store.db:
            self.store.db.execute(
                "UPDATE outbox SET delivered_ms = ?, attempts = attempts + 1 WHERE id = ?",
                (clock.now_ms(), event.id),
            )

    def _failed(self, event: Event, error: str) -> None:
        with self.store.db:
            self.store.db.execute(
                "UPDATE outbox SET attempts = attempts + 1, last_error = ? WHERE id = ?",
                (error, event.id),
            )
