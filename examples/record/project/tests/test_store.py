import sqlite3
import unittest
from datetime import date
from unittest import mock

from ledger import store as module
from ledger.models import LedgerError, Posting, Transaction
from ledger.store import MigrationError, Store
from tests.support import StoreCase, transfer


class Transactions(StoreCase):
    def test_add_and_read_back(self):
        number = self.store.add(transfer(420))
        self.assertEqual(number, 1)
        ((_, found),) = list(self.store.transactions())
        self.assertEqual(found, transfer(420))

    def test_unbalanced_is_refused(self):
        wrong = Transaction(
            date(2026, 3, 2), "typo",
            (Posting("Assets:Bank:Checking", -420), Posting("Expenses:Coffee", 402)),
        )
        with self.assertRaisesRegex(LedgerError, "sum to -18"):
            self.store.add(wrong)
        self.assertEqual(self.store.count(), 0)

    def test_float_is_refused(self):
        with self.assertRaisesRegex(LedgerError, "not an integer"):
            self.store.add(transfer(4.2))

    def test_account_names_are_checked(self):
        with self.assertRaisesRegex(LedgerError, "not an account"):
            self.store.add(transfer(420, to="Coffee"))

    def test_postings_cannot_be_updated(self):
        self.store.add(transfer(420))
        with self.assertRaisesRegex(sqlite3.IntegrityError, "append-only"):
            self.store.db.execute("UPDATE postings SET amount = 0")

    def test_postings_cannot_be_deleted(self):
        self.store.add(transfer(420))
        with self.assertRaisesRegex(sqlite3.IntegrityError, "append-only"):
            self.store.db.execute("DELETE FROM postings")

    def test_balances(self):
        self.store.add_all([transfer(420), transfer(1200, to="Expenses:Books")])
        self.assertEqual(
            self.store.balances(),
            [
                ("Assets:Bank:Checking", "EUR", -1620),
                ("Expenses:Books", "EUR", 1200),
                ("Expenses:Coffee", "EUR", 420),
            ],
        )

    def test_balances_until(self):
        self.store.add(transfer(420, day="2026-03-02"))
        self.store.add(transfer(500, day="2026-04-01"))
        ((_, _, amount), _) = self.store.balances(date(2026, 3, 31))
        self.assertEqual(amount, -420)


class Migrations(StoreCase):
    def test_second_run_applies_nothing(self):
        self.assertEqual(self.store.migrate(), [])

    def test_names_are_recorded(self):
        names = [row[0] for row in self.store.db.execute("SELECT name FROM migrations")]
        self.assertEqual(names, [path.name for path in module.migration_files()])

    def test_changed_migration_is_refused(self):
        with mock.patch.object(module, "checksum", lambda path: "0" * 64):
            with self.assertRaisesRegex(MigrationError, "0001_init.sql changed"):
                self.store.migrate()

    def test_shipped_list_matches_files(self):
        shipped = (module.MIGRATIONS / "SHIPPED").read_text().split()
        names = [path.name for path in module.migration_files()]
        self.assertEqual(shipped, names[: len(shipped)])

    def test_memory_database(self):
        with Store(":memory:") as store:
            self.assertEqual(len(store.migrate()), len(module.migration_files()))


if __name__ == "__main__":
    unittest.main()
