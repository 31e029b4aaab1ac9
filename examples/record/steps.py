"""The steps of the example session: who says what, and which tools are called.

Only the words of the two sides and the calls are written here. What the calls
return is not: `record.py` executes them.
"""

ROOT = "/home/dev/ledger"

# "Now", as the recorded program sees it.
CLOCK = "2026-04-07T08:00:00Z"

HISTORY = [
    ("2026-02-02T09:10:00+00:00", "ledger: accounts, money, append-only store",
     [".gitignore", "README.md", "CONTRIBUTING.md", "pyproject.toml", "ledger/__init__.py",
      "ledger/__main__.py", "ledger/clock.py", "ledger/log.py", "ledger/money.py",
      "ledger/models.py", "ledger/store.py", "ledger/migrations", "tests/__init__.py",
      "tests/support.py", "tests/test_money.py", "tests/test_store.py"]),
    ("2026-02-09T14:31:00+00:00", "importer: northbank and sparbank statements (LEDGER-3980)",
     ["ledger.toml", "ledger/config.py", "ledger/importer.py", "tests/test_config.py",
      "tests/test_importer.py"]),
    ("2026-02-18T10:02:00+00:00", "outbox: events per posted transaction (LEDGER-4011)",
     ["ledger/outbox.py", "docs/events.md", "tests/test_outbox.py"]),
    ("2026-03-03T16:45:00+00:00", "server, cli: reports over HTTP and on the terminal",
     ["ledger/report.py", "ledger/server.py", "ledger/cli.py", "tests/test_report.py",
      "tests/test_server.py"]),
    ("2026-04-06T11:20:00+00:00", "statements: March and early April", ["statements"]),
]

STEPS: list[tuple] = []


def user(text: str) -> None:
    STEPS.append(("user", text.strip()))


def say(text: str | None, *calls: tuple) -> None:
    STEPS.append(("assistant", text.strip() if text else None, list(calls)))


def bash(command: str, description: str) -> tuple:
    return ("Bash", {"command": command.strip("\n"), "description": description})


def read(path: str, **more) -> tuple:
    return ("Read", {"file_path": path if path.startswith("/") else f"{ROOT}/{path}", **more})


def write(path: str, content: str) -> tuple:
    where = path if path.startswith("/") else f"{ROOT}/{path}"
    return ("Write", {"file_path": where, "content": content})


def edit(path: str, old: str, new: str) -> tuple:
    return ("Edit", {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new})


def grep(pattern: str, path: str = "", **more) -> tuple:
    where = f"{ROOT}/{path}" if path else ROOT
    return ("Grep", {"pattern": pattern, "path": where, **more})


SUITE = "python -m unittest discover -s tests -t . 2>&1 | tail -n 40"


def suite(lines: int = 40) -> tuple:
    return bash(f"set -o pipefail; python -m unittest discover -s tests -t . 2>&1 | tail -n {lines}",
                "Run the whole test suite")


# -- 1. the ticket -------------------------------------------------------------

user("""
Ticket LEDGER-4127, please take it. Since we imported the March statement from Northbank the checking account does not agree with the bank: the bank's own Balance column moves by a different amount than our register, a few cents. And after Mette imported the second export (16 March to 4 April), the second half of March is in there twice. The files are in statements/. Reproduce both, find the cause, fix it.

House rules, for everything you do in this repository:
- never use float for money, anywhere
- never edit a migration that is listed in ledger/migrations/SHIPPED, add a new one
- always run the whole test suite before you tell me that something is done
- you must not add dependencies
- don't commit before I tell you to
""")

say("I'll start with the layout, the history and the two documents that say how this repository wants to be worked on.",
    bash("git log --oneline && git status --short && git ls-files", "History, state and files"),
    read("README.md"),
    read("CONTRIBUTING.md"))

say("Let me get a baseline before touching anything.",
    bash("pytest -q", "Run the tests"))

say("No pytest here, and the README says unittest anyway.",
    bash("python -m unittest discover -s tests -t . -v", "Run the whole suite, verbose"))

say("All green, so neither problem is covered. The path of a row is importer → money → store; reading those three.",
    read("ledger/importer.py"),
    read("ledger/money.py"),
    read("ledger/store.py"))

say("Two suspects already. `parse_amount` goes through `float` and then truncates with `int()`, and `fingerprint` contains `row.index`, the position in the file, which is not a property of the transaction. Before I believe either, a reproduction: import March into a scratch database and compare every posting with the movement of the bank's Balance column.",
    read("statements/northbank_2026-03.csv"),
    write("/tmp/compare.py", '''\
"""Compares what was posted with how the bank's Balance column moves.

usage: compare.py DATABASE STATEMENT
"""
import csv
import sqlite3
import sys


def cents(text):
    text = text.replace(",", "")
    sign = -1 if text.startswith("-") else 1
    whole, _, part = text.lstrip("-").partition(".")
    return sign * (int(whole) * 100 + int(part.ljust(2, "0")))


database, statement = sys.argv[1:]
db = sqlite3.connect(database)
posted = db.execute(
    "SELECT t.day, t.description, p.amount FROM postings p"
    " JOIN transactions t ON t.id = p.transaction_id"
    " WHERE p.account = 'Assets:Bank:Checking' AND t.source LIKE ? ORDER BY t.id",
    (f"%{statement.rpartition('/')[2]}",),
).fetchall()
rows = list(csv.DictReader(open(statement, newline="")))
previous = cents(rows[0]["Balance"]) - cents(rows[0]["Amount"])
off = 0
for row, (day, description, amount) in zip(rows, posted):
    moved = cents(row["Balance"]) - previous
    previous = cents(row["Balance"])
    if moved != amount:
        off += amount - moved
        print(f"{day}  {description:<20} bank {moved:>8}  ledger {amount:>8}  off {amount - moved:+d}")
print(f"{len(rows)} rows in the file, {len(posted)} posted, off by {off:+d} cents in total")
'''))

say(None,
    bash("""
export LEDGER_STORAGE_PATH=/tmp/repro.db
python -m ledger init
python -m ledger import --profile northbank statements/northbank_2026-03.csv
python /tmp/compare.py /tmp/repro.db statements/northbank_2026-03.csv
""", "Import March and compare with the bank"))

say("First half reproduced: eight rows are off by one cent, six cents in total (the interest row goes the other way). They are exactly the amounts whose binary float lies just below the decimal value, `int(2.30 * 100)` is 229. Always towards zero, as truncation does.\n\nNow the overlap. I want to see every fingerprint decision, so with the debug log on.",
    bash("""
export LEDGER_STORAGE_PATH=/tmp/repro.db LEDGER_LOG=debug
python -m ledger import --profile northbank statements/northbank_2026-03-16_04-04.csv
""", "Import the overlapping export with the debug log"))

say("Not a single `skip`: 40 of those 49 rows are in the database already, and all were added. Let me put the same payment from both files side by side.",
    bash("""
export LEDGER_STORAGE_PATH=/tmp/repro.db
python -m ledger export | grep -E 'PAYROLL|2026-03-18.*LINDEN'
python -m ledger export > /tmp/export-before.jsonl
wc -l /tmp/export-before.jsonl; sha256sum /tmp/export-before.jsonl
""", "The same rows from both files"),
    grep(r"fingerprint", output_mode="content"))

say("""
Both causes are confirmed:

1. `money.parse_amount` truncates a float (8 of 78 rows wrong by a cent).
2. `importer.fingerprint` hashes the row's position in the file. The same payment has another position in another export, so overlapping exports are never recognised.

Tests first, so that I see them fail for the right reason.
""",
    edit("tests/test_money.py", """\
    def test_rubbish(self):
""", """\
    def test_every_cent_survives(self):
        for minor in range(0, 20000):
            text = f"{minor // 100}.{minor % 100:02d}"
            self.assertEqual(parse_amount(text), minor, text)
            self.assertEqual(parse_amount("-" + text), -minor, text)

    def test_short_and_missing_fractions(self):
        self.assertEqual(parse_amount("12.5"), 1250)
        self.assertEqual(parse_amount("12"), 1200)
        self.assertEqual(parse_amount(".75"), 75)
        self.assertEqual(parse_amount("-0.50"), -50)
        self.assertEqual(parse_amount("+3.20"), 320)

    def test_beyond_the_precision_of_a_float(self):
        self.assertEqual(parse_amount("90,071,992,547,409.93"), 9007199254740993)

    def test_more_digits_than_the_currency_has(self):
        self.assertEqual(parse_amount("12.500"), 1250)
        with self.assertRaisesRegex(MoneyError, "12.505"):
            parse_amount("12.505")

    def test_not_quite_numbers(self):
        for text in ("", "-", ".", "1.2.3", "--1", "1e3", "nan", "inf", "1_000"):
            with self.assertRaises(MoneyError, msg=text):
                parse_amount(text)

    def test_rubbish(self):
"""),
    edit("tests/test_importer.py", """\
    def test_unknown_profile(self):
""", """\
    def test_overlapping_export_adds_only_what_is_new(self):
        head, first, second, grocer, payroll = NORTH.splitlines(keepends=True)
        self.run_import("first.csv", head + first + second + grocer)
        result = self.run_import("second.csv", head + second + grocer + payroll)
        self.assertEqual((result.added, result.skipped), (1, 2))

    def test_overlap_keeps_identical_rows_of_one_day(self):
        head, first, second, grocer, payroll = NORTH.splitlines(keepends=True)
        self.run_import("first.csv", head + first + second)
        result = self.run_import("second.csv", head + first + second + grocer)
        self.assertEqual((result.added, result.skipped), (1, 2))
        coffee = dict((a, m) for a, _, m in self.store.balances())["Expenses:Coffee"]
        self.assertEqual(coffee, 900)

    def test_unknown_profile(self):
"""),
    bash("python -m unittest tests.test_money tests.test_importer 2>&1", "Run the two changed test files"))

say("They fail as intended. The parser: split at the decimal point, pad the fraction to the currency's digits, stay in integers throughout.",
    edit("ledger/money.py", """\
    try:
        value = float(cleaned)
    except ValueError:
        raise MoneyError(f"not an amount: {text!r}") from None
    minor = int(value * 10 ** exponent(currency))
    return -minor if negative else minor
""", """\
    digits = exponent(currency)
    whole, _, part = cleaned.partition(".")
    part = part.rstrip("0").ljust(digits, "0")
    if len(part) > digits:
        raise MoneyError(f"{text!r} has more digits than {currency} has")
    try:
        minor = int(whole or "0") * 10**digits + int(part or "0")
    except ValueError:
        raise MoneyError(f"not an amount: {text!r}") from None
    return -minor if negative else minor
"""),
    bash("python -m unittest tests.test_money tests.test_importer 2>&1", "Run them again"))

say("My own mistake: the sign stays on `whole`, so \"-4.50\" becomes -400 + 50. And `int()` is more generous than a bank: it takes underscores. I'll strip the sign first and check the digits with a pattern.",
    read("ledger/money.py", offset=27, limit=38))

say(None,
    edit("ledger/money.py", """\
    digits = exponent(currency)
    whole, _, part = cleaned.partition(".")
    part = part.rstrip("0").ljust(digits, "0")
    if len(part) > digits:
        raise MoneyError(f"{text!r} has more digits than {currency} has")
    try:
        minor = int(whole or "0") * 10**digits + int(part or "0")
    except ValueError:
        raise MoneyError(f"not an amount: {text!r}") from None
    return -minor if negative else minor
""", """\
    found = NUMBER.fullmatch(cleaned)
    if found is None:
        raise MoneyError(f"not an amount: {text!r}")
    if found["sign"] == "-":
        negative = not negative
    digits = exponent(currency)
    part = (found["part"] or "").rstrip("0").ljust(digits, "0")
    if len(part) > digits:
        raise MoneyError(f"{text!r} has more digits than {currency} has")
    minor = int(found["whole"] or "0") * 10**digits + int(part or "0")
    return -minor if negative else minor
"""),
    edit("ledger/money.py", """\
EXPONENTS = {"EUR": 2""", """\
# At least one digit, before or after the point.
NUMBER = re.compile(r"(?P<sign>[+-]?)(?=\\.?[0-9])(?P<whole>[0-9]*)(?:\\.(?P<part>[0-9]*))?")

EXPONENTS = {"EUR": 2"""),
    bash("python -m unittest tests.test_money 2>&1 | tail -n 12", "Money tests"))

say("The import is missing, of course.",
    edit("ledger/money.py", """\
from __future__ import annotations

""", """\
from __future__ import annotations

import re

"""),
    bash("python -m unittest tests.test_money tests.test_importer 2>&1", "Money and importer tests"))

say("Money is right; what is left are the two overlap tests. Simplest step first: take the position out of the hash.",
    edit("ledger/importer.py", """\
    text = f"{profile.name}|{row.index}|{row.when}|{row.description}|{row.amount}"
""", """\
    text = f"{profile.name}|{row.when}|{row.description}|{row.amount}"
"""),
    bash("python -m unittest tests.test_importer 2>&1", "Importer tests"))

say("""
And that is why the position was in there: two identical coffees on one day are two payments, `test_identical_rows_of_one_day_are_both_kept` now loses one. What identifies a row is (day, description, amount) plus *which one of its equals* it is: the first or the second 4.50 at CAFE LINDEN that day. That number does not depend on where the export starts, as long as an export contains whole days, and Northbank's do. Let me make that the identity and rewrite the stored fingerprints with a migration.
""",
    edit("ledger/importer.py", """\
def fingerprint(profile: Profile, row: Row) -> str:
    \"\"\"Identifies a row, so that importing a file again adds nothing.\"\"\"
    text = f"{profile.name}|{row.when}|{row.description}|{row.amount}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
""", """\
def fingerprint(profile: Profile, row: Row) -> str:
    \"\"\"Identifies a row, so that importing a file again adds nothing.

    `row.nth` tells equal rows of one day apart.
    \"\"\"
    text = f"{profile.name}|{row.when}|{row.description}|{row.amount}|{row.nth}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
"""),
    edit("ledger/importer.py", """\
    amount: int
    raw: dict

""", """\
    amount: int
    nth: int
    raw: dict

"""),
    edit("ledger/importer.py", """\
            yield Row(index, when.date(), record[profile.description].strip(), amount, record)
""", """\
            description = record[profile.description].strip()
            same = (when.date(), description, amount)
            seen[same] += 1
            yield Row(index, when.date(), description, amount, seen[same], record)
"""),
    edit("ledger/importer.py", """\
        for index, record in enumerate(reader, start=1):
""", """\
        seen: Counter = Counter()
        for index, record in enumerate(reader, start=1):
"""),
    edit("ledger/importer.py", """\
import hashlib
from dataclasses""", """\
import hashlib
from collections import Counter
from dataclasses"""),
    write("ledger/migrations/0004_fingerprint.sql", """\
-- Fingerprints no longer contain the position in the file. SQLite has no
-- SHA-256 of its own: the store registers new_fingerprint() before migrating.
UPDATE transactions SET fingerprint = new_fingerprint(source, day, description, raw)
    WHERE fingerprint IS NOT NULL;
"""),
    bash("python -m unittest tests.test_importer 2>&1", "Importer tests"))

# -- 2. the correction: fingerprints are an interface ----------------------------

user("""
Stop there, please. Don't change the values in `fingerprint`. Halvorsen (partner HLV-2209) joins its reconciliation on exactly that column of our export. What is stored must stay byte for byte: the two LINDEN coffees of 18 March stay 6ca6a4c5602ada8a and 9c18e11c5aa1df5f, and new rows get their `fingerprint` by the old formula, position included. Put your identity into a new column `fp2`, migration `0004_fp2.sql`, and deduplicate on that one. `export` must not change.
""")

say("Understood: `fingerprint` is an interface, so it stays as it was, formula and all. I remove my migration, restore the old function, and add the new identity beside it. First where I stand.",
    bash("rm ledger/migrations/0004_fingerprint.sql && git status --short && git diff ledger/importer.py",
         "Drop the wrong migration, show what is left in the importer"),
    grep(r"has_fingerprint|fingerprint", "ledger/store.py"))

say(None,
    edit("ledger/importer.py", """\
def fingerprint(profile: Profile, row: Row) -> str:
    \"\"\"Identifies a row, so that importing a file again adds nothing.

    `row.nth` tells equal rows of one day apart.
    \"\"\"
    text = f"{profile.name}|{row.when}|{row.description}|{row.amount}|{row.nth}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
""", """\
def fingerprint(profile: Profile, row: Row) -> str:
    \"\"\"The first formula. It contains the position in the file, so it cannot
    recognise a row in another export; partners join on the stored values, so
    it must not change either. Nothing is deduplicated on it.
    \"\"\"
    text = f"{profile.name}|{row.index}|{row.when}|{row.description}|{row.amount}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def identity(profile: Profile, row: Row) -> str:
    \"\"\"Identifies a row in whatever export it appears (column `fp2`).

    `row.nth` tells equal rows of one day apart.
    \"\"\"
    text = f"v2|{profile.name}|{row.when}|{row.description}|{row.amount}|{row.nth}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]
"""),
    edit("ledger/importer.py", """\
        mark = fingerprint(profile, row)
        if store.has_fingerprint(mark):
            log.debug("import", "skip", row=row.index, fingerprint=mark)
""", """\
        mark = identity(profile, row)
        if store.has_fp2(mark):
            log.debug("import", "skip", row=row.index, fp2=mark)
"""),
    edit("ledger/importer.py", """\
                fingerprint=mark,
                raw=row.raw,
""", """\
                fingerprint=fingerprint(profile, row),
                fp2=mark,
                raw=row.raw,
"""),
    edit("ledger/importer.py", """\
        log.debug("import", "add", row=row.index, fingerprint=mark, account=other)
""", """\
        log.debug("import", "add", row=row.index, fp2=mark, account=other)
"""),
    edit("ledger/models.py", """\
    fingerprint: str | None = None
""", """\
    fingerprint: str | None = None
    fp2: str | None = None
"""),
    write("ledger/migrations/0004_fp2.sql", """\
-- The identity of an imported row, whatever export it comes from. Imports are
-- deduplicated on it; `fingerprint` keeps its values (LEDGER-4127).
ALTER TABLE transactions ADD COLUMN fp2 TEXT;

CREATE UNIQUE INDEX transactions_fp2 ON transactions (fp2)
    WHERE fp2 IS NOT NULL;
"""))

say("Now the store: write the column, read it back, look it up.",
    edit("ledger/store.py", """\
                " (day, description, source, created_at, fingerprint, raw)"
                " VALUES (?, ?, ?, ?, ?, ?)",
""", """\
                " (day, description, source, created_at, fingerprint, fp2, raw)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
"""),
    edit("ledger/store.py", """\
                    transaction.fingerprint,
                    json.dumps""", """\
                    transaction.fingerprint,
                    transaction.fp2,
                    json.dumps"""),
    edit("ledger/store.py", """\
                fingerprint=row["fingerprint"],
""", """\
                fingerprint=row["fingerprint"],
                fp2=row["fp2"],
"""),
    edit("ledger/store.py", """\
    def transactions(self)""", """\
    def has_fp2(self, fp2: str) -> bool:
        row = self.db.execute("SELECT 1 FROM transactions WHERE fp2 = ?", (fp2,)).fetchone()
        return row is not None

    def transactions(self)"""),
    bash("python -m unittest tests.test_importer tests.test_store 2>&1", "Importer and store tests"))

say("""
Green. One case still bothers me, now that the old fingerprint is written for new rows but no longer checked: its column has a UNIQUE index since migration 0002. Two *different* rows can have the same old fingerprint if they sit at the same position of two files. An export taken in the middle of a day is enough: grocer, coffee; and the next export lists coffee, coffee. Writing that down as a test, and one that pins the old formula with the two values you gave.
""",
    edit("tests/test_importer.py", """\
    def test_unknown_profile(self):
""", """\
    def test_old_fingerprint_may_be_taken(self):
        head, first, second, grocer, payroll = NORTH.splitlines(keepends=True)
        self.run_import("noon.csv", head + grocer + first)
        result = self.run_import("evening.csv", head + first + second + grocer)
        self.assertEqual((result.added, result.skipped), (1, 2))

    def test_old_fingerprints_do_not_change(self):
        statement = Path(__file__).parents[1] / "statements" / "northbank_2026-03.csv"
        import_file(self.store, config(), statement, "northbank")
        coffees = [
            t.fingerprint for _, t in self.store.transactions()
            if t.when == date(2026, 3, 18) and t.description == "CAFE LINDEN"
        ]
        self.assertEqual(coffees, ["6ca6a4c5602ada8a", "9c18e11c5aa1df5f"])

    def test_unknown_profile(self):
"""),
    edit("tests/test_importer.py", """\
import unittest

from ledger.importer""", """\
import unittest
from datetime import date
from pathlib import Path

from ledger.importer"""),
    bash("python -m unittest tests.test_importer 2>&1", "Importer tests with the two new cases"))

say("As feared, a real `IntegrityError`: the import would die half way through the file. The old value is only a label now, so a row whose label is taken goes without one; `export` already prints null for manual transactions. `has_fingerprint` is exactly the question to ask.",
    edit("ledger/importer.py", """\
        other = counter_account(row.description, config)
""", """\
        label: str | None = fingerprint(profile, row)
        if store.has_fingerprint(label):
            # Another row at the same place of another file has it.
            label = None
        other = counter_account(row.description, config)
"""),
    edit("ledger/importer.py", """\
                fingerprint=fingerprint(profile, row),
                fp2=mark,
""", """\
                fingerprint=label,
                fp2=mark,
"""),
    suite(12))

say("Now the whole thing for real: both exports into a new database, and the old database opened by the new code.",
    bash("""
export LEDGER_STORAGE_PATH=/tmp/fresh.db
python -m ledger init
python -m ledger import --profile northbank statements/northbank_2026-03.csv
python -m ledger import --profile northbank statements/northbank_2026-03-16_04-04.csv
python -m ledger import --profile northbank statements/northbank_2026-03.csv
python /tmp/compare.py /tmp/fresh.db statements/northbank_2026-03.csv
python -m ledger register Assets:Bank:Checking --limit 3
""", "Import both exports into a new database"),
    bash("""
export LEDGER_STORAGE_PATH=/tmp/repro.db
python -m ledger init
python -m ledger export > /tmp/export-after.jsonl
sha256sum /tmp/export-before.jsonl /tmp/export-after.jsonl
cmp /tmp/export-before.jsonl /tmp/export-after.jsonl && echo identical
""", "Open the old database with the new code, compare the export"))
