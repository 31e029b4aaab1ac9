import unittest

from ledger.importer import PROFILES, ImportError_, counter_account, import_file, read_rows
from tests.support import StoreCase, config

NORTH = """\
Date,Description,Amount,Balance
2026-03-02,CAFE LINDEN,-4.50,995.50
2026-03-02,CAFE LINDEN,-4.50,991.00
2026-03-03,GROCER & SONS,-31.25,959.75
2026-03-27,PAYROLL MARCH,"2,500.00","3,459.75"
"""

SPAR = """\
Buchungstag;Verwendungszweck;Betrag
02.03.2026;CAFE K\u00f6nig;-4,50
27.03.2026;PAYROLL;2.500,00
"""


class ReadRows(StoreCase):
    def test_northbank(self):
        rows = list(read_rows(self.write("n.csv", NORTH), PROFILES["northbank"]))
        self.assertEqual([row.amount for row in rows], [-450, -450, -3125, 250000])

    def test_sparbank_is_latin1(self):
        rows = list(read_rows(self.write("s.csv", SPAR, "latin-1"), PROFILES["sparbank"]))
        self.assertEqual(rows[0].description, "CAFE K\u00f6nig")
        self.assertEqual(rows[1].amount, 250000)

    def test_missing_column(self):
        with self.assertRaisesRegex(ImportError_, "no column Amount"):
            list(read_rows(self.write("n.csv", "Date,Description\n"), PROFILES["northbank"]))

    def test_bad_amount_names_the_row(self):
        text = "Date,Description,Amount\n2026-03-02,CAFE,4.x\n"
        with self.assertRaisesRegex(ImportError_, "row 1"):
            list(read_rows(self.write("n.csv", text), PROFILES["northbank"]))


class Import(StoreCase):
    def run_import(self, name: str, text: str):
        return import_file(self.store, config(), self.write(name, text), "northbank")

    def test_adds_all_rows(self):
        result = self.run_import("n.csv", NORTH)
        self.assertEqual((result.added, result.skipped), (4, 0))

    def test_identical_rows_of_one_day_are_both_kept(self):
        self.run_import("n.csv", NORTH)
        coffee = dict((a, m) for a, _, m in self.store.balances())["Expenses:Coffee"]
        self.assertEqual(coffee, 900)

    def test_same_file_again_adds_nothing(self):
        self.run_import("n.csv", NORTH)
        result = self.run_import("n.csv", NORTH)
        self.assertEqual((result.added, result.skipped), (0, 4))

    def test_unknown_profile(self):
        with self.assertRaisesRegex(ImportError_, "unknown profile"):
            import_file(self.store, config(), self.write("n.csv", NORTH), "nobank")

    def test_rules_and_suspense(self):
        self.assertEqual(counter_account("Cafe Linden", config()), "Expenses:Coffee")
        self.assertEqual(counter_account("???", config()), "Equity:Suspense")


if __name__ == "__main__":
    unittest.main()
