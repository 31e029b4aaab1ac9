"""The things the ledger keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date


class LedgerError(Exception):
    """Something the user can do something about."""


@dataclass(frozen=True)
class Posting:
    account: str
    amount: int
    currency: str = "EUR"


@dataclass(frozen=True)
class Transaction:
    when: date
    description: str
    postings: tuple[Posting, ...]
    source: str = "manual"
    fingerprint: str | None = None
    raw: dict | None = field(default=None, compare=False)

    def validate(self) -> None:
        if len(self.postings) < 2:
            raise LedgerError(f"{self.description!r}: needs two postings or more")
        sums: dict[str, int] = {}
        for posting in self.postings:
            if not isinstance(posting.amount, int):
                raise LedgerError(
                    f"{self.description!r}: amount {posting.amount!r} is not an integer"
                )
            sums[posting.currency] = sums.get(posting.currency, 0) + posting.amount
        for currency, total in sums.items():
            if total != 0:
                raise LedgerError(
                    f"{self.description!r}: {currency} postings sum to {total}, not 0"
                )


ROOTS = ("Assets", "Liabilities", "Equity", "Income", "Expenses")


def check_account(name: str) -> str:
    parts = name.split(":")
    if parts[0] not in ROOTS or not all(parts):
        raise LedgerError(f"not an account name: {name!r}")
    return name
