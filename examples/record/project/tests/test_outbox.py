import unittest

from ledger.outbox import DeliveryError, Dispatcher
from tests.support import StoreCase, config, transfer


class Receiver:
    """Keeps what it gets; fails for the event numbers in `broken`."""

    def __init__(self, broken=()):
        self.broken = set(broken)
        self.seen = []

    def __call__(self, event):
        if event["event"] in self.broken:
            raise DeliveryError("HTTP 503")
        self.seen.append(event["event"])


class Dispatch(StoreCase):
    def setUp(self):
        super().setUp()
        for amount in (100, 200, 300):
            self.store.add(transfer(amount))

    def dispatcher(self, receiver, **outbox):
        return Dispatcher(self.store, config(outbox=outbox), receiver)

    def test_in_order(self):
        receiver = Receiver()
        outcome = self.dispatcher(receiver).run_once()
        self.assertEqual(receiver.seen, [1, 2, 3])
        self.assertEqual((outcome.delivered, outcome.failed), (3, 0))

    def test_delivered_once(self):
        receiver = Receiver()
        self.dispatcher(receiver).run_once()
        self.dispatcher(receiver).run_once()
        self.assertEqual(receiver.seen, [1, 2, 3])

    def test_batch_size(self):
        receiver = Receiver()
        self.dispatcher(receiver, batch_size=2).run_once()
        self.assertEqual(receiver.seen, [1, 2])

    def test_failure_stays_pending(self):
        receiver = Receiver(broken=[2])
        outcome = self.dispatcher(receiver).run_once()
        self.assertEqual((outcome.delivered, outcome.failed), (2, 1))
        row = self.store.db.execute("SELECT * FROM outbox WHERE id = 2").fetchone()
        self.assertEqual((row["attempts"], row["last_error"]), (1, "HTTP 503"))
        self.assertIsNone(row["delivered_ms"])


if __name__ == "__main__":
    unittest.main()
