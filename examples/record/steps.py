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

say("""
No `cmp` either, but the two checksums are equal (3bf3014f…), so the export of the old database is unchanged. State after this round:

- `money.parse_amount` works on digits only; all 20,000 amounts up to 199.99 and their negatives survive, and one beyond 2^53.
- Imports deduplicate on `fp2`; the second export now adds 9 rows and skips 40.
- `fingerprint` is computed by the old formula and stored where it is free.
- Migration `0004_fp2.sql` is new; 0001 to 0003 are untouched. Whole suite: 67 tests, OK.

Not solved yet: a database like repro.db keeps its eight wrong cents and its 40 doubled rows, and its old rows have no `fp2`, so importing March there again would add them once more. Nothing is committed.
""")

# -- 3. repair -------------------------------------------------------------------

user("""
That is the right shape. Now the databases that already have the damage: add `ledger repair`. Without options it lists what it would do, with `--apply` it does it. A correction gets the day of the transaction it corrects, its source must be exactly `repair:LEDGER-4127`, and running it twice must change nothing. Existing postings are never touched. Mette's database has both files in it, like your repro.db; tell me at the end what it would do there.
""")

say("Both halves need the same thing: what the importer would make of the stored `raw` row today. So the parsing of one record should become a function that `repair` can call. Reading the importer as it is now, and the command line.",
    read("ledger/importer.py", offset=44),
    read("ledger/cli.py"))

say("""
Plan: `importer.parse_record(record, profile)` for one row; a column `corrects` on transactions, so that a correction knows its target and the second run sees it is done; `ledger/repair.py` walks the imported transactions in the order of their ids. 0004 is not in SHIPPED, so `corrects` can go into it.
""",
    edit("ledger/importer.py", """\
            try:
                when = datetime.strptime(record[profile.day].strip(), profile.day_format)
                amount = parse_amount(
                    record[profile.amount], profile.currency, profile.decimal
                )
            except (MoneyError, ValueError) as error:
                raise ImportError_(f"{path.name}, row {index}: {error}") from error
            description = record[profile.description].strip()
            same = (when.date(), description, amount)
            seen[same] += 1
            yield Row(index, when.date(), description, amount, seen[same], record)
""", """\
            try:
                when, description, amount = parse_record(record, profile)
            except (MoneyError, ValueError) as error:
                raise ImportError_(f"{path.name}, row {index}: {error}") from error
            same = (when, description, amount)
            seen[same] += 1
            yield Row(index, when, description, amount, seen[same], record)


def parse_record(record: dict, profile: Profile) -> tuple[date, str, int]:
    when = datetime.strptime(record[profile.day].strip(), profile.day_format).date()
    amount = parse_amount(record[profile.amount], profile.currency, profile.decimal)
    return when, record[profile.description].strip(), amount
"""),
    write("ledger/migrations/0004_fp2.sql", """\
-- The identity of an imported row, whatever export it comes from. Imports are
-- deduplicated on it; `fingerprint` keeps its values (LEDGER-4127).
ALTER TABLE transactions ADD COLUMN fp2 TEXT;

CREATE UNIQUE INDEX transactions_fp2 ON transactions (fp2)
    WHERE fp2 IS NOT NULL;

-- The transaction that this one corrects. One correction each.
ALTER TABLE transactions ADD COLUMN corrects INTEGER REFERENCES transactions (id);

CREATE UNIQUE INDEX transactions_corrects ON transactions (corrects)
    WHERE corrects IS NOT NULL;
"""),
    write("ledger/repair.py", '''\
"""Repairs databases that were filled before LEDGER-4127 was fixed.

Two kinds of damage: amounts that were truncated, and rows that were imported
again from an overlapping export. Both are corrected by new transactions; the
imported ones stay as they are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ledger import log
from ledger.importer import PROFILES, Row, identity, parse_record
from ledger.models import Posting, Transaction
from ledger.money import format_amount
from ledger.store import Store

SOURCE = "repair:LEDGER-4127"


@dataclass(frozen=True)
class Finding:
    number: int
    problem: str
    correction: Transaction

    def text(self) -> str:
        own = self.correction.postings[0]
        return (f"{self.correction.when}  #{self.number:<5} {self.problem:<10} "
                f"{format_amount(own.amount, own.currency):>10} {own.currency}  "
                f"{self.correction.description}")


def run(store: Store, apply: bool = False) -> list[Finding]:
    """Finds what is wrong and not corrected yet; corrects it if told to."""
    transactions = sorted(store.transactions(), key=lambda item: item[0])
    corrected = {t.corrects for _, t in transactions if t.corrects is not None}
    seen: Counter = Counter()
    owners: dict[str, int] = {}
    findings = []
    for number, transaction in transactions:
        kind, _, rest = transaction.source.partition(":")
        if kind != "import" or transaction.raw is None:
            continue
        profile = PROFILES[rest.partition(":")[0]]
        when, description, amount = parse_record(transaction.raw, profile)
        same = (transaction.source, when, description, amount)
        seen[same] += 1
        row = Row(0, when, description, amount, seen[same], transaction.raw)
        mark = identity(profile, row)
        if apply and transaction.fp2 is None:
            store.set_fp2(number, mark)
        posted = transaction.postings[0].amount
        if mark in owners:
            problem, missing = f"dup #{owners[mark]}", -posted
        else:
            owners[mark] = number
            problem, missing = "amount", amount - posted
        if missing == 0 or number in corrected:
            continue
        findings.append(Finding(number, problem, correction(number, transaction, missing)))
    if apply:
        for finding in findings:
            store.add(finding.correction)
            log.debug("repair", "corrected", id=finding.number, problem=finding.problem)
    return findings


def correction(number: int, transaction: Transaction, missing: int) -> Transaction:
    own, other = transaction.postings
    return Transaction(
        when=transaction.when,
        description=f"correction of #{number}: {transaction.description}",
        postings=(
            Posting(own.account, missing, own.currency),
            Posting(other.account, -missing, other.currency),
        ),
        source=SOURCE,
        corrects=number,
    )
'''),
    bash(r"""
python - <<'EOF'
from pathlib import Path

def change(path, *pairs):
    text = Path(path).read_text()
    for old, new in pairs:
        assert text.count(old) == 1, (path, old, text.count(old))
        text = text.replace(old, new)
    Path(path).write_text(text)

change("ledger/models.py",
    ("    fp2: str | None = None\n", "    fp2: str | None = None\n    corrects: int | None = None\n"))
change("ledger/store.py",
    ("created_at, fingerprint, fp2, raw)\"", "created_at, fingerprint, fp2, corrects, raw)\""),
    ("VALUES (?, ?, ?, ?, ?, ?, ?)", "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
    ("                    transaction.fp2,\n", "                    transaction.fp2,\n                    transaction.corrects,\n"),
    ("                fp2=row[\"fp2\"],\n", "                fp2=row[\"fp2\"],\n                corrects=row[\"corrects\"],\n"),
    ("    def transactions(self)", '''    def set_fp2(self, number: int, fp2: str) -> None:
        # For rows that were imported before there was an fp2.
        with self.db:
            self.db.execute(
                "UPDATE transactions SET fp2 = ? WHERE id = ? AND fp2 IS NULL", (fp2, number)
            )

    def transactions(self)'''))
change("ledger/cli.py",
    ("importer, outbox, report, server\n", "importer, outbox, repair, report, server\n"),
    ('    commands.add_parser("export"', '''    command = commands.add_parser("repair", help="correct what LEDGER-4127 left behind")
    command.add_argument("--apply", action="store_true", help="post the corrections")

    commands.add_parser("export"'''),
    ('        elif arguments.command == "export":', '''        elif arguments.command == "repair":
            findings = repair.run(store, arguments.apply)
            for finding in findings:
                print(finding.text())
            done = "posted" if arguments.apply else "to post (nothing written, use --apply)"
            print(f"{len(findings)} corrections {done}")
        elif arguments.command == "export":'''))
EOF
git diff --stat
""", "Thread `corrects` through models, store and command line"))

say("Tests for it. The damaged state has to be built by hand, since the importer can no longer produce it: transactions without `fp2`, with a truncated amount, and the same row from a second file.",
    write("tests/test_repair.py", '''\
import unittest
from datetime import date

from ledger import repair
from ledger.importer import import_file
from ledger.models import Posting, Transaction
from tests.support import StoreCase, config

HEAD = "Date,Description,Amount,Balance\\n"


def old_row(source: str, amount: str, posted: int, description: str = "CAFE LINDEN",
            fingerprint: str | None = None) -> Transaction:
    """As the importer stored it before the fix."""
    return Transaction(
        when=date(2026, 3, 18),
        description=description,
        postings=(Posting("Assets:Bank:Checking", posted), Posting("Expenses:Coffee", -posted)),
        source=f"import:northbank:{source}",
        fingerprint=fingerprint,
        raw={"Date": "2026-03-18", "Description": description, "Amount": amount},
    )


class Repair(StoreCase):
    def balance(self, account: str) -> int:
        return dict((a, m) for a, _, m in self.store.balances()).get(account, 0)

    def damage(self) -> None:
        self.store.add(old_row("a.csv", "-3.08", -308, fingerprint="aa"))
        self.store.add(old_row("a.csv", "-3.08", -308, fingerprint="bb"))
        self.store.add(old_row("a.csv", "-2.30", -229, "BAKERY OST"))
        self.store.add(old_row("b.csv", "-3.08", -308, fingerprint="cc"))
        self.store.add(old_row("b.csv", "-3.08", -308))
        self.store.add(old_row("b.csv", "-2.30", -229, "BAKERY OST"))

    def test_lists_without_writing(self):
        self.damage()
        found = [(f.number, f.problem) for f in repair.run(self.store)]
        self.assertEqual(found, [(3, "amount"), (4, "dup #1"), (5, "dup #2"), (6, "dup #3")])
        self.assertEqual(self.store.count(), 6)

    def test_apply_gives_the_right_balance(self):
        self.damage()
        repair.run(self.store, apply=True)
        self.assertEqual(self.balance("Assets:Bank:Checking"), -308 - 308 - 230)
        self.assertEqual(self.balance("Expenses:Coffee"), 308 + 308 + 230)

    def test_twice_changes_nothing(self):
        self.damage()
        repair.run(self.store, apply=True)
        count = self.store.count()
        self.assertEqual(repair.run(self.store, apply=True), [])
        self.assertEqual(self.store.count(), count)

    def test_source_and_day(self):
        self.damage()
        repair.run(self.store, apply=True)
        for _, found in self.store.transactions():
            if found.corrects is not None:
                self.assertEqual(found.source, "repair:LEDGER-4127")
                self.assertEqual(found.when, date(2026, 3, 18))

    def test_old_fingerprints_stay(self):
        self.damage()
        repair.run(self.store, apply=True)
        marks = [t.fingerprint for _, t in sorted(self.store.transactions(), key=lambda i: i[0])]
        self.assertEqual(marks[:4], ["aa", "bb", None, "cc"])

    def test_import_after_repair_knows_the_rows(self):
        self.damage()
        repair.run(self.store, apply=True)
        text = HEAD + "2026-03-18,CAFE LINDEN,-3.08,0\\n2026-03-18,BAKERY OST,-2.30,0\\n"
        result = import_file(self.store, config(), self.write("c.csv", text), "northbank")
        self.assertEqual((result.added, result.skipped), (0, 2))

    def test_healthy_database(self):
        text = HEAD + "2026-03-18,CAFE LINDEN,-3.08,0\\n2026-03-18,CAFE LINDEN,-3.08,0\\n"
        import_file(self.store, config(), self.write("c.csv", text), "northbank")
        self.assertEqual(repair.run(self.store, apply=True), [])


if __name__ == "__main__":
    unittest.main()
'''),
    bash("python -m unittest tests.test_repair 2>&1", "Repair tests"))

say("The backfill writes `fp2` before it knows whether the row is a duplicate, and a duplicate's identity is taken by definition. Only the owner may get it; a duplicate keeps NULL and is found by `raw` again next time.",
    edit("ledger/repair.py", """\
        if apply and transaction.fp2 is None:
            store.set_fp2(number, mark)
        posted = transaction.postings[0].amount
        if mark in owners:
            problem, missing = f"dup #{owners[mark]}", -posted
        else:
            owners[mark] = number
            problem, missing = "amount", amount - posted
""", """\
        posted = transaction.postings[0].amount
        if mark in owners:
            # Its fp2 stays NULL: the identity belongs to the owner.
            problem, missing = f"dup #{owners[mark]}", -posted
        else:
            owners[mark] = number
            problem, missing = "amount", amount - posted
            if apply and transaction.fp2 is None:
                store.set_fp2(number, mark)
"""),
    bash("python -m unittest tests.test_repair 2>&1", "Repair tests"),
    bash("LEDGER_STORAGE_PATH=/tmp/repro.db python -m ledger repair", "What repair would do in the damaged database"))

say("The tests pass, and the store did its job: repro.db has seen the earlier text of 0004 and refuses the edited one. Nobody but me has that database, so I rebuild it with the code of HEAD rather than bend the check.",
    bash("""
git worktree add -q --detach /tmp/old HEAD
rm /tmp/repro.db*
export LEDGER_STORAGE_PATH=/tmp/repro.db
(cd /tmp/old && python -m ledger init \\
  && python -m ledger import --profile northbank statements/northbank_2026-03.csv \\
  && python -m ledger import --profile northbank statements/northbank_2026-03-16_04-04.csv)
git worktree remove /tmp/old
python -m ledger repair
""", "Rebuild the damaged database with the old code, then list the repairs"))

say(None,
    bash("""
export LEDGER_STORAGE_PATH=/tmp/repro.db
python -m ledger repair --apply | tail -n 1
python -m ledger repair --apply
python -m ledger balance > /tmp/repaired.txt
LEDGER_STORAGE_PATH=/tmp/fresh2.db python -m ledger init
for f in northbank_2026-03 northbank_2026-03-16_04-04; do
  LEDGER_STORAGE_PATH=/tmp/fresh2.db python -m ledger import --profile northbank statements/$f.csv
done
LEDGER_STORAGE_PATH=/tmp/fresh2.db python -m ledger balance > /tmp/clean.txt
diff /tmp/repaired.txt /tmp/clean.txt && echo "balances agree"
cat /tmp/clean.txt
""", "Apply twice, compare the balances with a clean import"),
    suite(8))
