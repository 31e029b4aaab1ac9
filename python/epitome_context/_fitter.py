"""Lists of messages, fitted call after call."""

from __future__ import annotations

from . import _epitome
from ._engine import Engine, members_of, names_of
from ._engines import engine_and_chain
from ._errors import Infeasible
from ._fitted import Fitted
from ._recognise import format_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from ._options import Asked, HostChanges, Provider
    from ._keywords import Chain, EngineKeywords

# What lists of plain texts are taken for: they look the same in all formats.
_PLAIN = "openai-chat"


class Fitter:
    """Fits the list of messages of a loop, call after call, with the same decisions at the same places.

    Each call brings the whole list. The conversation is recognised by what the list begins with: what was decided for it is
    done again byte for byte, so that the provider's prompt cache lives, and a new decision is made only where the budget asks
    for one. Then there is room for many turns: with `budget`, down to half of it; with `model` or a configuration, down to
    its target.

    One fitter may serve many conversations, of several providers too: each list is recognised by itself, unless `format` names
    the one form of all. It may serve several threads. It remembers up to `conversations` of them in about
    `memory_bytes`, and what left the context in about `archive_bytes`. It can be pickled and copied (`copy.deepcopy`): the
    copy makes the same decisions, with a memory of its own. `state` gives its memory as bytes.

    `host` is what the host can change in its list: `any` (everything), `texts` (texts shrink, and the messages stay the same
    in number and order), `cut` (one run at the front is replaced by one text), `removals` (messages leave, and one text at
    most stands in place of some of them). The result has no other change; where that is not enough, it is `Infeasible`.

    `chain` lists the strategies to ask, by name or your own, or names a chain of the configuration, for every kind of task.

    >>> fitter = Fitter(budget=2_000)
    >>> messages = [{"role": "user", "content": "Count for me."}]
    >>> for turn in range(60):
    ...     messages.append({"role": "assistant", "content": f"{turn}, as you asked. " * 10})
    ...     messages.append({"role": "user", "content": "Go on."})
    ...     to_send = fitter.fit(messages).messages
    >>> len(to_send) < len(messages), to_send[-1] is messages[-1]
    (True, True)
    """

    def __init__(
        self,
        *,
        budget: int | None = None,
        format: Provider | None = None,
        conversations: int | None = None,
        memory_bytes: int | None = None,
        archive_bytes: int | None = None,
        secret: bytes | None = None,
        host: HostChanges = "any",
        chain: Chain | None = None,
        engine: Engine | None = None,
        **words: Unpack[EngineKeywords],
    ) -> None:
        if engine is not None and words:
            raise TypeError(
                f"`engine` is there already: {', '.join(words)} would have no effect; give them to `Engine`"
            )
        if engine is None:
            self._engine, names = engine_and_chain(chain, words)
        else:
            self._engine, names = engine, names_of(chain)
            own = [member for member in members_of(chain) if not isinstance(member, str)]
            if own:
                raise TypeError(
                    f"`engine` is there already: give {own[0]!r} to it, as one of `strategies`, and name it in `chain`"
                )
        self._format: str | None = format
        self._keywords = {
            "budget": budget,
            "conversations": conversations,
            "memory_bytes": memory_bytes,
            "archive_bytes": archive_bytes,
            "secret": None if secret is None else list(secret),
            "host": host,
            "chain": names,
        }
        self._native = self._made(format or _PLAIN, None)

    def _made(self, format: str | None, state: bytes | None) -> _epitome.Fitter:
        """The native fitter; with `state`, the one whose state these bytes are."""
        words = {**self._keywords, "format": format, "once": self._once}
        return _epitome.Fitter(self._engine._native, words, state)

    # Whether a list is fitted once: as much of it stays as the budget holds then, and no room is made for more.
    _once = False

    def fit(
        self,
        messages: Any,
        *,
        system: Any = None,
        tools: Any = None,
        key: str = "",
        format: Provider | None = None,
        reported_tokens: int | None = None,
        asked: Asked | None = None,
    ) -> Fitted:
        """What to send in place of a list of messages.

        `messages` are dictionaries, or objects of a provider's client, in the provider's form; or a JSON list as bytes.
        `system` is a system prompt that stands beside the list, `tools` the definitions of the tools, both as the provider's
        request has them, or the tokens that they take (int). `key` tells conversations apart that begin alike. `format` names
        the form of this list, which is recognised otherwise. `reported_tokens` are the input tokens, cached ones included, that
        the provider reported for what the call before this one gave: counts are corrected by them. `asked` is a compaction that
        the conversation's model asks for (`reason`, `next_step`, `keep`): it is made where it is wise, whether one is due or not,
        and `Fitted.asked` says what became of it.

        Raises `Infeasible` where what must stay is larger than the budget; its `fitted` has what earlier decisions make of
        the list.
        """
        return self._fit(messages, system, tools, key, format, None, reported_tokens, asked)

    async def fit_async(
        self,
        messages: Any,
        *,
        system: Any = None,
        tools: Any = None,
        key: str = "",
        format: Provider | None = None,
        reported_tokens: int | None = None,
        asked: Asked | None = None,
    ) -> Fitted:
        """The same, awaited: the core works in a thread, asynchronous callables run on this loop."""
        from ._async import in_thread

        beside = {"system": system, "tools": tools, "key": key, "format": format}
        return await in_thread(self.fit, messages, **beside, reported_tokens=reported_tokens, asked=asked)

    def fit_after(
        self,
        messages: Any,
        *,
        limit: int | None = None,
        actual: int | None = None,
        system: Any = None,
        tools: Any = None,
        key: str = "",
        format: Provider | None = None,
    ) -> Fitted:
        """What to send after the provider refused what `fit` gave as too long: smaller than was due. `limit` and `actual` are
        the tokens that its error names (`context_overflow` reads them); a limit counts from here on."""
        return self._fit(messages, system, tools, key, format, (limit, actual))

    def _fit(
        self,
        messages: Any,
        system: Any,
        tools: Any,
        key: str,
        format: str | None,
        overflow: tuple[int | None, int | None] | None,
        reported_tokens: int | None = None,
        asked: Asked | None = None,
    ) -> Fitted:
        if isinstance(messages, (str, bytearray, memoryview)):
            messages = messages.encode() if isinstance(messages, str) else bytes(messages)
        elif isinstance(messages, dict):
            raise TypeError(
                "messages: a dictionary is not a list of messages; give the list, and `system` and `tools` beside it"
            )
        elif not isinstance(messages, (bytes, list, tuple)):
            if not hasattr(messages, "__iter__"):
                raise TypeError(f"messages: a list of messages is expected, not {messages!r}")
            messages = list(messages)
        if format is None and self._format is None:
            format = _format_of(messages)
        native = self._native
        words = {"system": system, "tools": tools, "key": key, "format": format, "reported_tokens": reported_tokens}
        words["asked"] = asked
        words["overflow"] = None if overflow is None else dict(zip(("limit", "actual"), overflow))
        data = messages if isinstance(messages, bytes) else _epitome.json_text_of(messages, "messages")
        told, report = native.ask("fit", words, data)
        fitted = Fitted(messages, told, report, lambda handle: _retrieved(native, handle, told["format"]))
        problem = told["problem"]
        if problem is not None:
            if fitted.budget == 0:
                beside = "`system` and `tools` take the whole budget, and leave nothing for the messages"
                problem = f"{beside}; give a larger one ({problem})"
            raise Infeasible(problem, fitted.report["floor"], fitted.budget, fitted.report, fitted)
        self._engine._idle.warn(lambda: fitted.report["report"])
        return fitted

    @property
    def format(self) -> str:
        """The format of its lists: the one that was named, or that of the first list that told; `openai-chat` before."""
        return self._native.format

    def retrieve(self, handle: str) -> Any:
        """What left under a handle: a text, or a list of messages; `None` where there is no such handle, or where it was
        forgotten."""
        return _retrieved(self._native, handle, self.format)

    def state(self) -> bytes:
        """What it remembers, as bytes; they hold what left the context. `from_state` reads them."""
        return bytes(self._native.ask("fitter-state", {}, b"")[1])

    @classmethod
    def from_state(
        cls,
        state: bytes,
        *,
        budget: int | None = None,
        format: Provider | None = None,
        conversations: int | None = None,
        memory_bytes: int | None = None,
        archive_bytes: int | None = None,
        host: HostChanges = "any",
        chain: Chain | None = None,
        engine: Engine | None = None,
        **words: Unpack[EngineKeywords],
    ) -> Fitter:
        """The fitter whose `state` these bytes are: it makes the decisions that the other made, and new ones as these words
        say. Raises `EpitomeError` where the bytes are damaged, or of another version or counter."""
        fitter = cls(
            budget=budget,
            format=format,
            conversations=conversations,
            memory_bytes=memory_bytes,
            archive_bytes=archive_bytes,
            host=host,
            chain=chain,
            engine=engine,
            **words,
        )
        fitter._native = fitter._made(format, bytes(state))
        return fitter

    def __copy__(self) -> Fitter:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Fitter:
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._native = self._native.copy()
        return copy

    def __getstate__(self) -> Any:
        return (self._engine, self._keywords, self._format, self.state())

    def __setstate__(self, kept: Any) -> None:
        self._engine, self._keywords, self._format, state = kept
        self._native = self._made(self._format, state)

    def __repr__(self) -> str:
        size, _ = self._native.ask("fitter-size", {}, b"")
        return f"<Fitter {self.format}: {size['conversations']} conversations, {size['bytes']:,} bytes>"


class OneFit(Fitter):
    """A fitter for one call."""

    _once = True


def _retrieved(native: _epitome.Fitter, handle: str, format: str) -> Any:
    """What left under a handle, messages in this format."""
    return native.ask("fitter-retrieve", {"of": handle, "format": format}, b"")[0]


def _format_of(messages: Any) -> str | None:
    """The format of a list, where it tells."""
    if isinstance(messages, bytes):
        try:
            messages = _epitome.object_of(messages)
        except ValueError:
            return None  # what is wrong is said where it is read
    return None if isinstance(messages, dict) else format_of(messages)
