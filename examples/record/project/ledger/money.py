"""Amounts.

Everything below the command line works with integer minor units: 12.34 EUR is
1234, 500 JPY is 500.
"""

from __future__ import annotations

EXPONENTS = {"EUR": 2, "USD": 2, "GBP": 2, "NOK": 2, "JPY": 0, "KWD": 3}


class MoneyError(ValueError):
    """An amount that cannot be read."""


def exponent(currency: str) -> int:
    try:
        return EXPONENTS[currency]
    except KeyError:
        raise MoneyError(f"unknown currency {currency!r}") from None


def parse_amount(text: str, currency: str = "EUR", decimal: str = ".") -> int:
    """Reads an amount as banks write it.

    >>> parse_amount("1,134.50")
    113450
    >>> parse_amount("1.134,50", decimal=",")
    113450
    >>> parse_amount("(12.00)")
    -1200
    """
    cleaned = text.strip().replace("\u00a0", "").replace(" ", "").replace("'", "")
    negative = False
    if cleaned.startswith("(") and cleaned.endswith(")"):
        negative, cleaned = True, cleaned[1:-1]
    if cleaned.endswith("-"):
        negative, cleaned = True, cleaned[:-1]
    if decimal == ",":
        cleaned = cleaned.replace(".", "").replace(",", ".")
    else:
        cleaned = cleaned.replace(",", "")
    try:
        value = float(cleaned)
    except ValueError:
        raise MoneyError(f"not an amount: {text!r}") from None
    minor = int(value * 10 ** exponent(currency))
    return -minor if negative else minor


def format_amount(minor: int, currency: str = "EUR") -> str:
    """The inverse of `parse_amount`, without grouping."""
    digits = exponent(currency)
    if digits == 0:
        return str(minor)
    whole, part = divmod(minor, 10**digits)
    return f"{whole}.{part:0{digits}d}"


def format_side(minor: int, currency: str = "EUR") -> str:
    """An amount with its side: `12.00 DR`, `12.00 CR`."""
    side = "DR" if minor >= 0 else "CR"
    return f"{format_amount(abs(minor), currency)} {side}"
