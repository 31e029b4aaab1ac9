import unittest

from ledger.money import MoneyError, format_amount, format_side, parse_amount


class ParseAmount(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(parse_amount("12.50"), 1250)

    def test_grouping(self):
        self.assertEqual(parse_amount("1,134.50"), 113450)

    def test_decimal_comma(self):
        self.assertEqual(parse_amount("1.134,50", decimal=","), 113450)

    def test_parentheses_are_negative(self):
        self.assertEqual(parse_amount("(12.00)"), -1200)

    def test_trailing_minus(self):
        self.assertEqual(parse_amount("12,00-", decimal=","), -1200)

    def test_no_break_space(self):
        self.assertEqual(parse_amount("1\u00a0250.00"), 125000)

    def test_yen_has_no_minor_unit(self):
        self.assertEqual(parse_amount("500", "JPY"), 500)

    def test_dinar_has_three_digits(self):
        self.assertEqual(parse_amount("1.250", "KWD"), 1250)

    def test_rubbish(self):
        with self.assertRaises(MoneyError):
            parse_amount("12.x0")

    def test_unknown_currency(self):
        with self.assertRaises(MoneyError):
            parse_amount("1.00", "XXX")


class FormatAmount(unittest.TestCase):
    def test_pads(self):
        self.assertEqual(format_amount(1205), "12.05")

    def test_negative(self):
        self.assertEqual(format_amount(-1200), "-12.00")

    def test_yen(self):
        self.assertEqual(format_amount(500, "JPY"), "500")

    def test_side(self):
        self.assertEqual(format_side(-420), "4.20 CR")
        self.assertEqual(format_side(420), "4.20 DR")


if __name__ == "__main__":
    unittest.main()
