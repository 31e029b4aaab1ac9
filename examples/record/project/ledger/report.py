"""Reports.

The text format is an interface: scripts cut it by column. Do not change it.
"""

from __future__ import annotations

import json
from datetime import date

from ledger.money import format_amount, format_side
from ledger.store import Store

WIDTH = 34


def balance_text(store: Store, until: date | None = None) -> str:
    lines = []
    totals: dict[str, int] = {}
    for account, currency, amount in store.balances(until):
        lines.append(f"{account:<{WIDTH}} {format_side(amount, currency):>16} {currency}")
        totals[currency] = totals.get(currency, 0) + amount
    lines.append("-" * (WIDTH + 21))
    for currency, total in sorted(totals.items()):
        lines.append(f"{'total':<{WIDTH}} {format_amount(total, currency):>13}    {currency}")
    return "\n".join(lines) + "\n"


def register_text(store: Store, account: str, limit: int | None = None) -> str:
    running = 0
    lines = []
    for row in store.register(account):
        running += row["amount"]
        lines.append(
            f"{row['day']}  {row['description'][:28]:<28} "
            f"{format_side(row['amount'], row['currency']):>14} "
            f"{format_side(running, row['currency']):>14}"
        )
    if limit is not None:
        lines = lines[-limit:]
    return "\n".join(lines) + ("\n" if lines else "")


def export_lines(store: Store) -> str:
    """All transactions as JSON lines. Partners join on `fingerprint`."""
    out = []
    for number, transaction in store.transactions():
        out.append(
            json.dumps(
                {
                    "id": number,
                    "day": transaction.when.isoformat(),
                    "description": transaction.description,
                    "source": transaction.source,
                    "fingerprint": transaction.fingerprint,
                    "postings": [
                        [p.account, p.amount, p.currency] for p in transaction.postings
                    ],
                },
                ensure_ascii=False,
            )
        )
    return "\n".join(out) + ("\n" if out else "")
