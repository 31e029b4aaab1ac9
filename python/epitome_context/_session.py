"""A session that is going on."""

from __future__ import annotations

from . import _epitome
from ._callables import guard
from ._engine import Engine, names_of
from ._input import bytes_of, listed, whole
from ._recognise import LIST_FIELDS
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from ._keywords import Chain, EngineKeywords, LiveKeywords


class Session:
    """A session that is going on: messages are pushed as they come, and it keeps itself within its budget.

    For hosts that leave the history to it; a host with a list of its own takes `fit`. One thread at a time uses it. It is in
    memory, in a file (`keep_in`), or in a store that processes share (`Store`).

    >>> session = Session(window=8_000)
    >>> session.push({"role": "user", "content": "Fix the build"})
    ['m0']
    >>> session.maintain()["done"]      # before each call of the model
    'nothing'
    >>> session.messages()              # what to send
    [{'role': 'user', 'content': 'Fix the build'}]
    """

    def __init__(
        self,
        messages: Any = None,
        *,
        format: str | None = None,
        name: str | None = None,
        engine: Engine | None = None,
        **words: Unpack[EngineKeywords],
    ) -> None:
        self._engine = _engine_of(engine, words)
        self._listeners: list[Callable[[dict[str, Any]], object]] = []
        data = None if messages is None else bytes_of(messages)
        self._native = _epitome.Session(self._engine._native, data, format, name)

    @classmethod
    def open(
        cls, path: Any, *, format: str | None = None, engine: Engine | None = None, **words: Unpack[EngineKeywords]
    ) -> Session:
        """Opens a session that was kept in a file (`keep_in`), and goes on keeping it there."""
        engine = _engine_of(engine, words)
        with open(path, "rb"):
            pass  # a file that is missing, or cannot be read, is told as Python tells it
        return cls._of(engine, _epitome.Session.open(engine._native, path, format))

    @classmethod
    def _of(cls, engine: Engine, native: _epitome.Session) -> Session:
        session = cls.__new__(cls)
        session._engine = engine
        session._listeners = []
        session._native = native
        return session

    def keep_in(self, path: Any) -> None:
        """Keeps the session in a new file from here on: each message, compaction and undo as it happens."""
        self._native.keep_in(path)

    @property
    def id(self) -> str | None:
        """The id under which its store keeps it; `None` where it is in none."""
        return self._native.id

    @property
    def version(self) -> int | None:
        """The number of its changes in its store, when it was last read or stored here; `None` where it is in none."""
        return self._native.version

    def reload(self) -> bool:
        """Reads a session of a store again where somebody else has changed it, and says whether that was so. To be called
        before a turn in which others may have had their say."""
        return self._native.reload()

    def save(self) -> None:
        """Waits until everything is on the disk. Nothing to do for a session in memory, or in a store: that has stored each
        change when its call returns."""
        self._native.save()

    def push(self, messages: Any, *, format: str | None = None) -> list[str]:
        """Appends a message, or a list of them; gives their ids. They are read as messages of the session's provider, unless
        `format` names another one. A result whose call was not pushed is refused, for no provider would take it."""
        given = messages if isinstance(messages, (list, tuple, bytes, str)) else [messages]
        return self._native.push(bytes_of(given)[0], format)

    def set_tools(self, tools: Any) -> None:
        """The definitions of the tools that are sent with every request; they take a part of the window."""
        self._native.set_tools(None if tools is None else bytes_of(tools, "tools")[0].decode())

    def messages(self, *, format: str | None = None, full: bool = False) -> list[Any]:
        """What to send to the model; with `full` everything that was ever said, and no summary."""
        return list(self.request(format=format, full=full)[LIST_FIELDS[format or self._native.format]])

    def request(self, *, format: str | None = None, full: bool = False) -> dict[str, Any]:
        """The same with the system prompt and the tools, as the provider's request has them."""
        return dict(self._native.look_at("request", {"format": format, "full": full}))

    @property
    def tokens(self) -> int:
        """Tokens of the messages."""
        return int(self._native.look_at("tokens", {}))

    def subscribe(self, listener: Callable[[dict[str, Any]], object]) -> None:
        """Calls `listener` with every event from here on, also of the session that `maintain` starts in place of this one.

        An event is a dictionary with its name in `event`: `compaction_start`, `compaction_step`, `summary_start`,
        `summary_done`, `compaction_done`, `compaction_error`, `arrival_cut`, `results_cleared`, `undone`, `token_update`. The
        listener is called while the session works, in the thread that works, and must not call the session. What it raises is
        logged, and stops nothing.
        """
        if not callable(listener):
            raise TypeError(f"`subscribe` takes a function of an event, not {listener!r}")
        self._native.subscribe(guard("the listener", listener, "the session"))
        self._listeners.append(listener)

    def context(self) -> dict[str, Any]:
        """What fills the window now, by part; what a compaction would take next, and why; what has left, with the handles
        that bring it back. As `epitome context --json` tells it."""
        return dict(self._native.look_at("context", {}))

    def check(self) -> dict[str, Any]:
        """Whether a compaction is due, and why. Constant time."""
        return dict(self._native.look_at("check", {}))

    def maintain(self) -> dict[str, Any]:
        """To be called before each call of the model: compacts where that is due.

        `done` says what was done: `nothing`, `compacted`, `rolled-back`, `not-worthwhile`, `refused`, or `new-session` with
        the session to go on with in `session`; `report` and `check` are there where there are some.
        """
        told, successor = self._native.maintain()
        if "report" in told:
            told["report"] = Report(told["report"])
            self._engine._idle.warn(lambda: told["report"])
        if successor is not None:
            told["session"] = self._of(self._engine, successor)
            for listener in self._listeners:
                told["session"].subscribe(listener)
        return dict(told)

    async def maintain_async(self) -> dict[str, Any]:
        """The same, awaited."""
        from ._async import in_thread

        return await in_thread(self.maintain)

    def compact(
        self,
        *,
        target: int | float | None = None,
        chain: Chain | None = None,
        task: str | None = None,
        focus: str | None = None,
        keep: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
    ) -> Report:
        """Compacts now, whether it is due or not: to `target` (tokens, or a share of what the messages take now), or to the
        target of the configuration. Where what must stay is larger than `target`, `tokens_after` of the report is above
        its `target`, and `stopped` says why; `Infeasible` is raised where it is larger than the window. `keep` and `drop` name
        messages as `epitome_context.compact` takes them; what is kept stays so at later compactions, until it is released."""
        sizes = self._native.look_at("sizes", {})
        report = Report(self._native.compact(_words_of(target, chain, task, focus, keep, drop)), sizes)
        self._engine._idle.warn(lambda: report)
        return report

    async def compact_async(self, **words: Unpack[LiveKeywords]) -> Report:
        """The same, awaited."""
        from ._async import in_thread

        return await in_thread(self.compact, **words)

    def preview(
        self,
        *,
        target: int | float | None = None,
        chain: Chain | None = None,
        task: str | None = None,
        focus: str | None = None,
        keep: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
    ) -> Draft:
        """Works a compaction out without making it; `apply` makes exactly this one."""
        sizes = self._native.look_at("sizes", {})
        return Draft(self._native.preview(_words_of(target, chain, task, focus, keep, drop)), sizes)

    def apply(self, draft: Draft) -> Report:
        """Makes the compaction that was previewed. Refused where the session has changed since."""
        return Report(self._native.apply(draft._native), draft._sizes)

    def overflowed(self, *, limit: int | None = None, actual: int | None = None) -> Report:
        """To be called where the provider refused the session as too long, with its figures where it names some
        (`context_overflow` reads them): compacts harder than the budget asks. Then send the messages again."""
        report, _ = self._native.overflowed(limit, actual)
        return Report(report)

    def kept(self) -> list[str]:
        """The messages that are kept by hand: `#37`, `#40-#52`."""
        return list(self._native.look_at("kept", {}))

    def release(self, messages: str | Sequence[str]) -> list[str]:
        """Keeps messages no longer that `keep` kept; gives those that were."""
        return list(self._native.release(listed(messages)))

    def undo(self, epoch: int | None = None) -> None:
        """Takes a compaction back: the newest in force, or the one that `history` gives the number of."""
        self._native.undo(whole("epoch", epoch, 0))

    def history(self) -> list[dict[str, Any]]:
        """Every compaction so far, the oldest first."""
        return list(self._native.look_at("history", {}))

    def retrieve(self, handle: str) -> Any:
        """What left under a handle: a text, or a list of messages; `None` where there is no such handle."""
        return self._native.look_at("retrieve", {"handle": handle})

    def search(
        self,
        *words: str,
        sources: str | Sequence[str] = (),
        newest: bool = False,
        limit: int = 6,
        characters: int = 9_000,
        page: int = 1,
    ) -> list[dict[str, Any]]:
        """The passages of everything that was said that match, in the context or out of it."""
        query = {"words": words, "sources": sources, "newest": newest, "limit": limit, "characters": characters, "page": page}
        return list(self._native.look_at("search", query)["passages"])

    def __repr__(self) -> str:
        return f"<Session {self._native.format}: {self.tokens:,} tokens>"


def _words_of(
    target: int | float | None,
    chain: Chain | None,
    task: str | None,
    focus: str | None,
    keep: str | Sequence[str],
    drop: str | Sequence[str],
) -> dict[str, Any]:
    """How to compact, as the native part takes it."""
    return {
        "target": target,
        "chain": names_of(chain),
        "task": task,
        "focus": focus,
        "keep": keep,
        "drop": drop,
    }


class Draft:
    """A compaction that was worked out and not yet made."""

    def __init__(self, native: _epitome.LiveDraft, sizes: list[int]) -> None:
        self._native = native
        self._sizes = sizes

    @property
    def report(self) -> Report:
        """What it would do."""
        return Report(self._native.report(), self._sizes)

    @property
    def summaries(self) -> list[dict[str, Any]]:
        """The summaries that would be shown: `number`, `heading`, `text`, `tokens`, `most_tokens`."""
        return list(self._native.summaries())

    def edit_summary(self, number: int, text: str) -> None:
        """Replaces the text of a summary by a person's. Refused where it is empty or too long."""
        self._native.edit_summary(number, text)

    def __repr__(self) -> str:
        return repr(self.report).replace("<Report", "<Draft", 1)

    def _repr_html_(self) -> str:
        return self.report.to_html()


def _engine_of(engine: Engine | None, words: EngineKeywords) -> Engine:
    if engine is None:
        return Engine(**words)
    if words:
        raise TypeError(f"`engine` is there already: {', '.join(words)} would have no effect; give them to `Engine`")
    return engine
