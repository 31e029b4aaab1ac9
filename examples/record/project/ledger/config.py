"""Configuration: `ledger.toml`, overridden by the environment."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from ledger.models import LedgerError


class ConfigError(LedgerError):
    pass


# section -> key -> (type, default)
SCHEMA: dict[str, dict[str, tuple[type, object]]] = {
    "storage": {"path": (str, "ledger.db")},
    "server": {"host": (str, "127.0.0.1"), "port": (int, 8417)},
    "import": {
        "default_account": (str, "Assets:Bank:Checking"),
        "suspense_account": (str, "Equity:Suspense"),
        "rules": (dict, {}),
    },
    "outbox": {
        "endpoint": (str, "http://127.0.0.1:8590/events"),
        "batch_size": (int, 50),
        "timeout_ms": (int, 2000),
    },
}


@dataclass
class Config:
    values: dict[str, dict[str, object]] = field(default_factory=dict)

    def get(self, dotted: str):
        section, _, key = dotted.partition(".")
        try:
            kind, default = SCHEMA[section][key]
        except KeyError:
            raise ConfigError(f"no such configuration key: {dotted}") from None
        env = os.environ.get(f"LEDGER_{section}_{key}".upper())
        if env is not None and kind is not dict:
            try:
                return kind(env)
            except ValueError:
                raise ConfigError(f"{dotted}: {env!r} is not {kind.__name__}") from None
        return self.values.get(section, {}).get(key, default)


def check(values: dict) -> None:
    for section, keys in values.items():
        if section not in SCHEMA:
            raise ConfigError(f"unknown section [{section}]")
        for key, value in keys.items():
            if key not in SCHEMA[section]:
                known = ", ".join(sorted(SCHEMA[section]))
                raise ConfigError(f"unknown key {section}.{key} (known: {known})")
            kind = SCHEMA[section][key][0]
            if not isinstance(value, kind):
                raise ConfigError(
                    f"{section}.{key}: expected {kind.__name__}, got {type(value).__name__}"
                )


def load(path: str | os.PathLike | None = None) -> Config:
    chosen = Path(path or os.environ.get("LEDGER_CONFIG", "ledger.toml"))
    if not chosen.exists():
        if path is not None or "LEDGER_CONFIG" in os.environ:
            raise ConfigError(f"no configuration file at {chosen}")
        return Config()
    with chosen.open("rb") as handle:
        try:
            values = tomllib.load(handle)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{chosen}: {error}") from None
    check(values)
    return Config(values)
