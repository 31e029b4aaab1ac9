"""A small double-entry ledger."""

__version__ = "0.9.2"
