"""Bank statements (CSV) to transactions."""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Iterator

from ledger import log
from ledger.config import Config
from ledger.models import LedgerError, Posting, Transaction
from ledger.money import MoneyError, parse_amount
from ledger.store import Store


class ImportError_(LedgerError):
    pass


@dataclass(frozen=True)
class Profile:
    """How one bank writes its statements."""

    name: str
    delimiter: str
    decimal: str
    day_format: str
    day: str
    description: str
    amount: str
    currency: str
    encoding: str = "utf-8"


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("northbank", ",", ".", "%Y-%m-%d", "Date", "Description", "Amount", "EUR"),
        Profile("sparbank", ";", ",", "%d.%m.%Y", "Buchungstag", "Verwendungszweck",
                "Betrag", "EUR", "latin-1"),
    )
}


@dataclass
class Row:
    index: int
    when: date
    description: str
    amount: int
    raw: dict


@dataclass
class Result:
    added: int = 0
    skipped: int = 0


def read_rows(path: Path, profile: Profile) -> Iterator[Row]:
    with path.open(newline="", encoding=profile.encoding) as handle:
        reader = csv.DictReader(handle, delimiter=profile.delimiter)
        missing = {profile.day, profile.description, profile.amount} - set(
            reader.fieldnames or ()
        )
        if missing:
            raise ImportError_(f"{path.name}: no column {', '.join(sorted(missing))}")
        for index, record in enumerate(reader, start=1):
            try:
                when = datetime.strptime(record[profile.day].strip(), profile.day_format)
                amount = parse_amount(
                    record[profile.amount], profile.currency, profile.decimal
                )
            except (MoneyError, ValueError) as error:
                raise ImportError_(f"{path.name}, row {index}: {error}") from error
            yield Row(index, when.date(), record[profile.description].strip(), amount, record)


def fingerprint(profile: Profile, row: Row) -> str:
    """Identifies a row, so that importing a file again adds nothing."""
    text = f"{profile.name}|{row.index}|{row.when}|{row.description}|{row.amount}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def counter_account(description: str, config: Config) -> str:
    upper = description.upper()
    for needle, account in config.get("import.rules").items():
        if needle in upper:
            return account
    return config.get("import.suspense_account")


def import_file(store: Store, config: Config, path: Path, profile_name: str) -> Result:
    try:
        profile = PROFILES[profile_name]
    except KeyError:
        known = ", ".join(sorted(PROFILES))
        raise ImportError_(f"unknown profile {profile_name!r} (known: {known})") from None
    own = config.get("import.default_account")
    result = Result()
    for row in read_rows(path, profile):
        mark = fingerprint(profile, row)
        if store.has_fingerprint(mark):
            log.debug("import", "skip", row=row.index, fingerprint=mark)
            result.skipped += 1
            continue
        other = counter_account(row.description, config)
        store.add(
            Transaction(
                when=row.when,
                description=row.description,
                postings=(
                    Posting(own, row.amount, profile.currency),
                    Posting(other, -row.amount, profile.currency),
                ),
                source=f"import:{profile.name}:{path.name}",
                fingerprint=mark,
                raw=row.raw,
            )
        )
        log.debug("import", "add", row=row.index, fingerprint=mark, account=other)
        result.added += 1
    log.info("import", "done", file=path.name, added=result.added, skipped=result.skipped)
    return result
