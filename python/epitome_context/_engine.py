"""An engine: a configuration that is built once, for any number of calls from any number of threads."""

from __future__ import annotations

from . import _epitome
from ._callables import embedder_of, strategy_of, summarizer_of
from ._compacted import Compacted
from ._errors import ConfigError
from ._idle import Idle
from ._input import bytes_of, config_of, utf8_of
from ._recognise import LIST_FIELDS
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from ._options import CompactOptions
    from ._reports import BrokenRule, Contents, Fullness, Passage, StrategyEntry
    from ._keywords import Chain, Embedder, Strategy, Summarizer


class Engine:
    """A configuration with the callables of the host, built.

    The functions of the module make one for their words; who calls often makes one and uses its methods, which are named
    like the functions. An engine holds no session. It may be used from several threads at once.

    `config` is a dictionary with the sections and keys of the configuration file, the path of such a file (a path object, or
    a text that ends in `.toml`), or its text. `model`, `window` and `reserve_output` stand over what it says of the budget.
    `strategies` are classes or functions of your own, which a chain may name then; `summarizer` and `embedder` are functions,
    asynchronous ones too.

    >>> engine = Engine({"preset": "production", "budget": {"window": 128_000}})
    >>> engine.check([{"role": "user", "content": "Hello"}])["usable_tokens"]
    124000
    """

    def __init__(
        self,
        config: Any = None,
        *,
        model: str | None = None,
        window: int | None = None,
        reserve_output: int | None = None,
        strategies: Iterable[Strategy] = (),
        summarizer: Summarizer | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        given = config_of(config)
        # What a copy of it in another process is made of.
        self._keywords = (given, model, window, reserve_output, tuple(strategies), summarizer, embedder)
        self._build()

    def _build(self) -> None:
        given, model, window, reserve_output, strategies, summarizer, embedder = self._keywords
        given_words = {"summarizer": summarizer, "embedder": embedder}
        has_chains = "chains" in (given.decode() if isinstance(given, bytes) else str(given))
        self._idle = Idle({word for word, function in given_words.items() if function is not None}, has_chains)
        config, name = given if isinstance(given, tuple) else (given and _epitome.object_of(given), None)
        words = {"config": config, "config_name": name, "model": model, "window": window, "reserve_output": reserve_output}
        self._native = _epitome.Engine(
            words,
            [strategy_of(strategy) for strategy in strategies],
            None if summarizer is None else self._idle.watch("summarizer", summarizer_of(summarizer)),
            None if embedder is None else self._embedder(embedder),
        )

    def _embedder(self, given: Embedder) -> tuple[str, Any]:
        name, rows = embedder_of(given)
        return (name, self._idle.watch("embedder", rows))

    def __getstate__(self) -> Any:
        return self._keywords

    def __setstate__(self, words: Any) -> None:
        self._keywords = words
        self._build()

    def compact(
        self,
        session: Any,
        *,
        budget: int | float | None = None,
        to: str | None = None,
        format: str | None = None,
        name: str | None = None,
        chain: Chain | None = None,
        mode: str | None = None,
        task: str | None = None,
        focus: str | None = None,
        keep: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> Compacted:
        """Fits a whole session into a budget: see `epitome_context.compact`."""
        told, data, retrieve = self._compact(
            session, budget, to, format, name, chain, mode, task, focus, keep, drop, settings, False
        )
        return Compacted(told, data, retrieve)

    async def compact_async(self, session: Any, **words: Unpack[CompactOptions]) -> Compacted:
        """The same, awaited: the core works in a thread, asynchronous callables run on this loop."""
        from ._async import in_thread

        return await in_thread(self.compact, session, **words)

    def preview(
        self,
        session: Any,
        *,
        budget: int | float | None = None,
        to: str | None = None,
        format: str | None = None,
        name: str | None = None,
        chain: Chain | None = None,
        mode: str | None = None,
        task: str | None = None,
        focus: str | None = None,
        keep: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> Report:
        """The report of what `compact` would do. Where nothing fits, its `status` is `infeasible` and `floor` says why."""
        told, _, _ = self._compact(
            session, budget, to, format, name, chain, mode, task, focus, keep, drop, settings, True
        )
        return Report(told["report"], told["sizes"])

    async def preview_async(self, session: Any, **words: Unpack[CompactOptions]) -> Report:
        """The same, awaited."""
        from ._async import in_thread

        return await in_thread(self.preview, session, **words)

    def inspect(self, session: Any, *, format: str | None = None, name: str | None = None) -> Contents:
        """What a session is made of: see `epitome_context.inspect`."""
        told: Contents = self._ask("inspect", session, format=_format_or_any(session, format), name=name)[0]
        return told

    def check(self, session: Any, *, format: str | None = None, name: str | None = None) -> Fullness:
        """Whether a session should be compacted: see `epitome_context.check`."""
        told: Fullness = self._ask("check", session, format=_format_or_any(session, format), name=name)[0]
        return told

    def count_tokens(self, what: Any, *, format: str | None = None) -> int:
        """Tokens of a text, or of messages: see `epitome_context.count_tokens`."""
        if isinstance(what, str):
            return int(self._native.ask("count-text", {"engine": 0}, utf8_of(what))[0])
        return int(self._ask("count", what, format=_format_or_any(what, format))[0])

    def search(
        self,
        session: Any,
        *words: str,
        sources: str | Sequence[str] = (),
        newest: bool = False,
        limit: int = 6,
        characters: int = 9_000,
        page: int = 1,
        format: str | None = None,
        name: str | None = None,
    ) -> list[Passage]:
        """The passages that match: see `epitome_context.search`."""
        query = {"words": words, "sources": sources, "newest": newest, "limit": limit, "characters": characters, "page": page}
        found, _ = self._ask("search", session, format=format, name=name, **query)
        return list(found["passages"])

    def convert(self, session: Any, to: str, *, format: str | None = None, name: str | None = None) -> Any:
        """A session in another format: see `epitome_context.convert`."""
        handed = bytes_of(session)
        _, written = self._native.ask("convert", {"objects": handed[1], "format": format, "name": name, "to": to}, handed[0])
        return _epitome.object_of(written) if handed[1] and to in LIST_FIELDS else written

    def validate(self, request: Any, *, format: str | None = None) -> list[BrokenRule]:
        """The rules of its provider that a request breaks: see `epitome_context.validate`."""
        return list(self._native.ask("validate", {"format": format}, bytes_of(request)[0])[0])

    def strategies(self) -> list[StrategyEntry]:
        """The strategies that a chain may name: `id`, `summary`, `lossiness` and what each needs."""
        return list(self._native.ask("strategies", {"engine": 0}, b"")[0])

    def _ask(self, call: str, session: Any, **words: Any) -> tuple[Any, Any]:
        data, is_objects = bytes_of(session)
        return self._native.ask(call, {"objects": is_objects, **words}, data)

    def _compact(
        self,
        session: Any,
        budget: int | float | None,
        to: str | None,
        format: str | None,
        name: str | None,
        chain: Chain | None,
        mode: str | None,
        task: str | None,
        focus: str | None,
        keep: str | Sequence[str],
        drop: str | Sequence[str],
        settings: Mapping[str, Any] | None,
        only_preview: bool,
    ) -> tuple[dict[str, Any], Any, Any]:
        data, is_objects = bytes_of(session)
        words = {
            "objects": is_objects,
            "format": format,
            "name": name,
            "to": to,
            "budget": budget,
            "chain": names_of(chain),
            "mode": mode,
            "task": task,
            "focus": focus,
            "keep": keep,
            "drop": drop,
            "settings": settings,
        }
        (told, written), outcome = self._native.compact(words, data, only_preview)
        self._idle.warn(lambda: told["report"])
        return (told, written, outcome.retrieve)


def _format_or_any(session: Any, format: str | None) -> str | None:
    """The format to read a session in: any where it is an empty list, which has no message to tell by."""
    is_empty = isinstance(session, (list, tuple)) and not session
    return "openai-chat" if is_empty and format is None else format


def members_of(chain: Any) -> Any:
    """The members of a chain: names and strategies."""
    return () if chain is None else chain if isinstance(chain, (list, tuple)) else [chain]


def names_of(chain: Any) -> list[str] | None:
    """The names of a chain: of a list of names and strategies, or of one of them."""
    if chain is None:
        return None
    members = [chain] if isinstance(chain, str) or not isinstance(chain, (list, tuple)) else chain
    if not members:
        raise ConfigError("`chain` names no strategy; leave it out for the chains of the configuration")
    return [member if isinstance(member, str) else strategy_of(member).id for member in members]
