"""The engines behind the functions of the module: one for each set of words, kept for the next call."""

from __future__ import annotations

from ._engine import Engine, names_of
from ._errors import ConfigError
from ._input import config_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Engines without callables, by what they are made of. A few: who has many configurations keeps engines.
_ENGINES: dict[Any, Engine] = {}
_MOST_ENGINES = 16
_PLAIN = ("config", "model", "window", "reserve_output")
_CALLABLES = ("strategies", "summarizer", "embedder")
# What an engine is made of.
ENGINE_WORDS = (*_PLAIN, *_CALLABLES)


def engine_and_rest(given: Mapping[str, Any]) -> tuple[Engine, dict[str, Any]]:
    """The engine that the words of a call ask for, and the words that are not the engine's. Strategies in `chain` are."""
    words = dict(given)
    taken = {word: words.pop(word) for word in ENGINE_WORDS if word in words}
    chain = words.get("chain")
    if chain is not None and not isinstance(chain, str):
        members = chain if isinstance(chain, (list, tuple)) else [chain]
        strategies = list(taken.get("strategies", ()))
        strategies += [member for member in members if not isinstance(member, str) and member not in strategies]
        if strategies:
            taken["strategies"] = strategies
            words["chain"] = names_of(chain)
    return (engine_of(**taken), words)


def engine_and_chain(chain: Any, words: Mapping[str, Any]) -> tuple[Engine, Any]:
    """The engine of these words, and the names of the chain that a list is fitted by."""
    if chain is None and words.get("strategies"):
        words = dict(words, strategies=list(words["strategies"]))
        ids = names_of(words["strategies"]) or []
        given = config_of(words.get("config"))
        text = str(given) if given is None or isinstance(given, tuple) else given.decode()
        if not any(id in text for id in ids):
            raise ConfigError(
                f"`strategies` makes {', '.join(f'`{id}`' for id in ids)} known, and no chain names it: nothing would ask it; "
                f"give `chain={ids!r}`, or name it in a chain of `config`"
            )
    engine, rest = engine_and_rest(words if chain is None else dict(words, chain=chain))
    names = names_of(rest.pop("chain", None))
    if rest:
        engine_of(**rest)  # refuses them by name
    return (engine, names)


def engine_of(**taken: Any) -> Engine:
    """The engine of these words."""
    unknown = [word for word in taken if word not in ENGINE_WORDS]
    if unknown:
        raise TypeError(f"there is no word `{unknown[0]}`; an engine takes {', '.join(ENGINE_WORDS)}")
    if any(taken.get(word) for word in _CALLABLES):
        return Engine(**taken)
    key = (config_of(taken.get("config")), *(taken.get(word) for word in _PLAIN[1:]))
    engine = _ENGINES.get(key)
    if engine is None:
        engine = Engine(**taken)
        if len(_ENGINES) >= _MOST_ENGINES:
            _ENGINES.clear()
        _ENGINES[key] = engine
    return engine
