"""Helpers shared by the tests."""

from __future__ import annotations

import tempfile
import unittest
from datetime import date
from pathlib import Path

from ledger.config import Config
from ledger.models import Posting, Transaction
from ledger.store import Store

RULES = {"CAFE": "Expenses:Coffee", "GROCER": "Expenses:Groceries", "PAYROLL": "Income:Salary"}


def config(**sections) -> Config:
    values = {"import": {"rules": RULES}}
    values.update(sections)
    return Config(values)


def transfer(amount: int, to: str = "Expenses:Coffee", day: str = "2026-03-02",
             description: str = "CAFE LINDEN") -> Transaction:
    return Transaction(
        when=date.fromisoformat(day),
        description=description,
        postings=(Posting("Assets:Bank:Checking", -amount), Posting(to, amount)),
    )


class StoreCase(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.store = Store(self.root / "test.db")
        self.addCleanup(self.store.close)
        self.store.migrate()

    def write(self, name: str, text: str, encoding: str = "utf-8") -> Path:
        path = self.root / name
        path.write_text(text, encoding=encoding)
        return path
