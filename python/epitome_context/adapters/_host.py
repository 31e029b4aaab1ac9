"""What the adapters share: fitters made of an adapter's words, and what a provider's refusal says."""

from __future__ import annotations

import logging
import threading
from copy import deepcopy

from .._calls import context_overflow
from .._engines import ENGINE_WORDS
from .._errors import ConfigError, EpitomeError
from .._fitter import Fitter
from ._media import with_places
from ._recall import Recall
from ._usage import Usages, input_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
    from typing import Any, TypeVar

    from typing_extensions import TypedDict, Unpack

    from .._engine import Engine
    from .._fitted import Fitted
    from .._options import Asked, HostChanges, Provider
    from .._keywords import EngineKeywords

    class FitterKeywords(EngineKeywords, total=False):
        """How the fitter of an adapter is made; or the fitter."""

        budget: int | None
        conversations: int | None
        memory_bytes: int | None
        archive_bytes: int | None
        engine: Engine | None
        fitter: Fitter | None

    class BesideKeywords(TypedDict, total=False):
        """What stands beside the messages of a call of the model, how many tokens the model takes, and what was reported for the
        call before, where that stands in the conversation."""

        window: Callable[[], int | None]
        system: Any
        tools: Any
        key: str
        reported_tokens: int | None

    Answer = TypeVar("Answer")

_log = logging.getLogger("epitome_context")

# What `Fitters` takes. Its format is the adapter's.
_WORDS = (*(word for word in Fitter.__init__.__kwdefaults__ or () if word != "format"), *ENGINE_WORDS, "fitter", "on_fit")

# Any of these settles the budget, so that the host's model is not asked for its window.
_SETTLES = ("budget", "model", "window", "engine")
# Sections of a configuration that say nothing of budgets.
_SILENT = frozenset(("marks", "strategies"))


def near_word(word: str, known: Iterable[str]) -> str | None:
    """The word that was probably meant by another one."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), n=1)), None)


def check_words(given: Iterable[str], known: Iterable[str] = _WORDS) -> None:
    """Refuses a word that an adapter does not take, when it is made: a framework may take its first call much later."""
    known = tuple(known)
    for word in given:
        if word not in known:
            meant = near_word(word, known)
            hint = f"did you mean `{meant}`?" if meant else f"there are {', '.join(f'`{name}`' for name in known)}"
            raise TypeError(f"there is no word `{word}`; {hint}")


def _settles(words: dict[str, Any]) -> bool:
    if any(words.get(word) is not None for word in _SETTLES):
        return True
    config = words.get("config")
    return config is not None and not (isinstance(config, dict) and _SILENT.issuperset(config))


def _silent(_answer: Any) -> None:
    """The usage of answers that do not tell, or whose host's messages do."""


class Fitters:
    """What fits for an adapter. Where its words do not settle the budget, there is a fitter for each window of the host's
    models. `on_fit` hears what became of the messages of each call. `host` is what the framework can change in its list
    (`Fitter`); a fitter that is given has to be for the same. `overflows` are the framework's own errors for a request that is too
    long, beside those of providers. `usage_of` gives the usage of an answer that `send` gets, or of a piece of one: it corrects
    the counts of the next call of the same conversation."""

    def __init__(
        self,
        format: Provider,
        on_fit: Callable[[Fitted], object] | None = None,
        *,
        host: HostChanges = "any",
        overflows: tuple[type[Exception], ...] = (),
        usage_of: Callable[[Any], Any] = _silent,
        **given: Unpack[FitterKeywords],
    ) -> None:
        words: dict[str, Any] = {**given}
        check_words(words)
        fitter = words.pop("fitter", None)
        if fitter is not None and words:
            raise TypeError(
                f"`fitter` is there already: {', '.join(words)} would have no effect; give them to `Fitter`"
            )
        if fitter is not None and host not in ("any", fitter._keywords["host"]):
            raise ConfigError(f'`fitter` makes changes that this framework cannot make: give one with `host="{host}"`')
        self._recall: Recall | None = None
        self._format = format
        self._host = host
        self._on_fit = on_fit
        self._overflows = overflows
        self._usage_of = usage_of
        self.usages = Usages()
        self._keywords = words
        self._lock = threading.Lock()
        self._by_window: dict[int, Fitter] = {}
        self.is_given = fitter is not None
        self._settled = fitter
        self._state: bytes | None = None
        if fitter is None and _settles(words):
            self._settled = Fitter(format=format, host=host, **words)

    def of(self, window: Callable[[], int | None]) -> Fitter:
        """The fitter for a model; `window` gives the tokens that it takes, and is asked only where no budget is settled.
        Raises `ConfigError` where neither is known."""
        if self._settled is not None:
            return self._settled
        tokens = window()
        if not tokens:
            raise ConfigError("the model does not tell how many tokens it takes: give `budget`, `window` or `model`")
        with self._lock:
            if tokens not in self._by_window:
                self._by_window[tokens] = self._make(window=tokens)
            return self._by_window[tokens]

    def count_tokens(self, messages: list[Any], window: Callable[[], int | None]) -> int:
        """Tokens of messages, by the counter of the fitter for a model (`of`)."""
        return self.of(window)._engine.count_tokens(messages, format=self._format)

    def state_of(self, window: Callable[[], int | None]) -> bytes | None:
        """The memory of the fitter for a model (`of`), for `restore`; `None` where it is not the adapter's to keep: a fitter
        that was given may hold the conversations of others."""
        return None if self.is_given else self.of(window).state()

    def remember(self) -> Recall:
        """What left, for tools of the model: it is remembered from the first time on that this is called."""
        if self._recall is None:
            self._recall = Recall()
        return self._recall

    def asked_of(self, key: str) -> Asked | None:
        """The compaction that the model of a conversation asked for since its last call."""
        return None if self._recall is None else self._recall.take_asked(key)

    def forget_left(self) -> None:
        """Has the tools of the model forget what left: another conversation begins."""
        if self._recall is not None:
            self._recall.forget()

    def fit(self, messages: list[Any], **beside: Unpack[BesideKeywords]) -> Fitted:
        """What to send in place of messages, as `Fitter.fit` gives it."""
        fitter, words = self._question(beside)
        reported = self._reported(messages, beside)
        asked = self.asked_of(words.get("key", ""))
        fitted = fitter.fit(self._placed(messages), **words, reported_tokens=reported, asked=asked)
        return self._noted(words, fitted)

    async def fit_async(self, messages: list[Any], **beside: Unpack[BesideKeywords]) -> Fitted:
        """The same, awaited: the core works in a thread; `on_fit` is called in this one."""
        fitter, words = self._question(beside)
        reported = self._reported(messages, beside)
        asked = self.asked_of(words.get("key", ""))
        fitted = await fitter.fit_async(self._placed(messages), **words, reported_tokens=reported, asked=asked)
        return self._noted(words, fitted)

    def fit_after(self, error: BaseException | None, messages: list[Any], **beside: Unpack[BesideKeywords]) -> Fitted:
        """What to send after a provider refused what was sent as too long; `error` may name tokens."""
        fitter, words = self._question(beside)
        return self._noted(words, fitter.fit_after(self._placed(messages), **(overflow_of(error) or {}), **words))

    async def fit_after_async(
        self, error: BaseException | None, messages: list[Any], **beside: Unpack[BesideKeywords]
    ) -> Fitted:
        """The same, awaited."""
        from .._async import in_thread

        fitter, words = self._question(beside)
        limits = overflow_of(error) or {}
        return self._noted(words, await in_thread(fitter.fit_after, self._placed(messages), **limits, **words))

    def send(self, send: Callable[[Fitted], Answer], messages: list[Any], **beside: Unpack[BesideKeywords]) -> Answer:
        """What `send` gives for what fits. Where the provider refuses that as too long, something smaller is sent, once."""
        try:
            answer = send(self.fit(messages, **beside))
        except Exception as error:
            if not self._refuses(error):
                raise
            smaller = self.fit_after(error, messages, **beside)
        else:
            return self._heard(messages, beside, answer)
        return self._heard(messages, beside, send(smaller))

    async def send_async(
        self, send: Callable[[Fitted], Awaitable[Answer]], messages: list[Any], **beside: Unpack[BesideKeywords]
    ) -> Answer:
        """The same, awaited."""
        try:
            answer = await send(await self.fit_async(messages, **beside))
        except Exception as error:
            if not self._refuses(error):
                raise
            smaller = await self.fit_after_async(error, messages, **beside)
        else:
            return self._heard(messages, beside, answer)
        return self._heard(messages, beside, await send(smaller))

    def stream(
        self, send: Callable[[Fitted], Iterable[Answer]], messages: list[Any], **beside: Unpack[BesideKeywords]
    ) -> Iterator[Answer]:
        """The same for an answer in pieces: it is sent again only where none has come."""
        fitted = self.fit(messages, **beside)

        def pieces() -> Iterator[Answer]:
            begun, tokens = False, None
            try:
                for piece in send(fitted):
                    begun, tokens = True, self._tokens_of(piece) or tokens
                    yield piece
                self._note(messages, beside, tokens)
                return
            except Exception as error:
                if begun or not self._refuses(error):
                    raise
                smaller = self.fit_after(error, messages, **beside)
            for piece in send(smaller):
                tokens = self._tokens_of(piece) or tokens
                yield piece
            self._note(messages, beside, tokens)

        return pieces()

    async def stream_async(
        self,
        send: Callable[[Fitted], Awaitable[AsyncIterable[Answer]]],
        messages: list[Any],
        **beside: Unpack[BesideKeywords],
    ) -> AsyncIterator[Answer]:
        """The same, awaited."""
        fitted = await self.fit_async(messages, **beside)

        async def pieces() -> AsyncIterator[Answer]:
            begun, tokens = False, None
            try:
                async for piece in await send(fitted):
                    begun, tokens = True, self._tokens_of(piece) or tokens
                    yield piece
                self._note(messages, beside, tokens)
                return
            except Exception as error:
                if begun or not self._refuses(error):
                    raise
                smaller = await self.fit_after_async(error, messages, **beside)
            async for piece in await send(smaller):
                tokens = self._tokens_of(piece) or tokens
                yield piece
            self._note(messages, beside, tokens)

        return pieces()

    def _placed(self, messages: list[Any]) -> list[Any]:
        return with_places(messages) if self._format == "openai-chat" else messages

    def _refuses(self, error: Exception) -> bool:
        return isinstance(error, self._overflows) or overflow_of(error) is not None

    def restore(self, state: bytes) -> None:
        """Takes up the memory of another fitter (`Fitter.state`). A fitter that was given keeps its own. Bytes of another
        version or counter are left, with a warning in the log: then it is decided anew."""
        self._state = state
        self._by_window.clear()
        if self._settled is not None and not self.is_given:
            self._settled = self._make()

    def __deepcopy__(self, memo: dict[int, Any]) -> Fitters:
        """One that makes the same decisions, with a memory of its own; `on_fit` and the engine are the same."""
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._lock = threading.Lock()
        copy._settled = deepcopy(self._settled)
        copy._by_window = deepcopy(self._by_window)
        copy._recall = deepcopy(self._recall)
        copy.usages = deepcopy(self.usages)
        return copy

    def _make(self, **more: Any) -> Fitter:
        words = {**self._keywords, **more}
        if self._state is not None:
            try:
                return Fitter.from_state(self._state, format=self._format, host=self._host, **words)
            except EpitomeError as error:
                _log.warning("earlier decisions are not taken up: %s", error)
        return Fitter(format=self._format, host=self._host, **words)

    def _question(self, beside: BesideKeywords) -> tuple[Fitter, dict[str, Any]]:
        words: dict[str, Any] = {**beside}
        words.pop("reported_tokens", None)
        return (self.of(words.pop("window", _unknown)), {**words, "format": self._format})

    def _reported(self, messages: list[Any], beside: BesideKeywords) -> int | None:
        """What was reported for the request before, where it was not handed on yet."""
        key, tokens = beside.get("key", ""), beside.get("reported_tokens")
        if tokens is None or not messages:
            return self.usages.take(key, messages)
        return self.usages.once(key, messages, tokens)

    def _tokens_of(self, answer: Any) -> int | None:
        return input_tokens(self._usage_of(answer))

    def _heard(self, messages: list[Any], beside: BesideKeywords, answer: Answer) -> Answer:
        """An answer, whose usage is remembered."""
        self._note(messages, beside, self._tokens_of(answer))
        return answer

    def _note(self, messages: list[Any], beside: BesideKeywords, tokens: int | None) -> None:
        self.usages.note(beside.get("key", ""), messages, tokens)

    def _noted(self, words: dict[str, Any], fitted: Fitted) -> Fitted:
        if self._on_fit is not None:
            self._on_fit(fitted)
        if self._recall is not None:
            self._recall.note(words.get("key", ""), fitted)
        return fitted


def _unknown() -> None:
    """The window of a host that does not know it."""


def overflow_of(error: BaseException | None) -> dict[str, Any] | None:
    """The tokens that a provider names where an error, or what caused it, refuses a request as too long: its limit, and what it
    counted; `None` of any other error."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        answer = getattr(error, "response", None)
        codes = [getattr(error, name, None) for name in ("status_code", "code")]
        codes.append(getattr(answer, "status_code", None))
        status = next((code for code in codes if isinstance(code, int) and 100 <= code < 600), 400)
        for text in (str(error), _body_of(answer)):
            found = context_overflow(status, text)
            if found is not None:
                return {"limit": found["limit"], "actual": found["actual"]}
        seen.append(error)
        error = error.__cause__ or error.__context__
    return None


def _body_of(answer: Any) -> str:
    """What a provider answered, where a client keeps it beside its error."""
    try:
        text = getattr(answer, "text", None)
    except Exception:  # a stream that was not read
        return ""
    return text if isinstance(text, str) else ""


def definition(name: str, description: str | None, parameters: Any) -> dict[str, Any]:
    """The definition of a tool, as OpenAI's chat completions have it; `parameters` is its JSON schema."""
    function = {"name": name, "description": description or "", "parameters": parameters}
    return {"type": "function", "function": function}
