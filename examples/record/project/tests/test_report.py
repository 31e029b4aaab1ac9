import json
import unittest

from ledger.report import balance_text, export_lines, register_text
from tests.support import StoreCase, transfer


class Reports(StoreCase):
    def setUp(self):
        super().setUp()
        self.store.add(transfer(420))
        self.store.add(transfer(3155, to="Expenses:Groceries", day="2026-03-05",
                                description="GROCER & SONS"))

    def test_balance_text_is_stable(self):
        self.assertEqual(
            balance_text(self.store),
            "Assets:Bank:Checking                       35.75 CR EUR\n"
            "Expenses:Coffee                             4.20 DR EUR\n"
            "Expenses:Groceries                         31.55 DR EUR\n"
            "-------------------------------------------------------\n"
            "total                                       0.00    EUR\n",
        )

    def test_register_text_is_stable(self):
        self.assertEqual(
            register_text(self.store, "Assets:Bank:Checking"),
            "2026-03-02  CAFE LINDEN                         4.20 CR        4.20 CR\n"
            "2026-03-05  GROCER & SONS                      31.55 CR       35.75 CR\n",
        )

    def test_register_limit_keeps_the_last(self):
        text = register_text(self.store, "Assets:Bank:Checking", limit=1)
        self.assertEqual(text.count("\n"), 1)
        self.assertIn("GROCER", text)

    def test_export(self):
        lines = export_lines(self.store).splitlines()
        self.assertEqual(len(lines), 2)
        self.assertEqual(json.loads(lines[0])["postings"][1], ["Expenses:Coffee", 420, "EUR"])


if __name__ == "__main__":
    unittest.main()
