"""The functions of the module."""

from __future__ import annotations

from ._engines import engine_and_chain, engine_and_rest, engine_of
from ._fitter import OneFit
from ._input import utf8_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from ._compacted import Compacted
    from ._fitted import Fitted
    from ._options import HostChanges, Provider
    from ._report import Report
    from ._reports import (
        BrokenRule,
        Contents,
        ContextOverflow,
        FormatEntry,
        Fullness,
        Passage,
        StrategyEntry,
    )
    from ._keywords import (
        Chain,
        CompactKeywords,
        EngineKeywords,
        FitKeywords,
        HostKeywords,
        ReadKeywords,
        SearchKeywords,
    )


def fit(
    messages: Any,
    *,
    budget: int | None = None,
    model: str | None = None,
    window: int | None = None,
    system: Any = None,
    tools: Any = None,
    format: Provider | None = None,
    host: HostChanges = "any",
    chain: Chain | None = None,
    config: Any = None,
    **words: Unpack[HostKeywords],
) -> Fitted:
    """What to send in place of a list of messages, once.

    `messages` is the list of a request: dictionaries, or objects of a provider's client, of OpenAI's chat completions or
    Responses, or of Anthropic's messages; or a JSON list as bytes. It is fitted into `budget` tokens, or into the window of
    `model` or `window`: below its threshold nothing is changed. `system` and `tools` are what is sent beside the list, as the
    request has them, or the tokens that they take (int); the budget is for all of it. `format` names the format where the
    list does not tell. `host` is what the host can change in its list: `any`, `texts`, `cut` or `removals` (see `Fitter`).
    `chain` lists the strategies to ask, by name or your own, or names a chain of the configuration. Further words are
    those of `Engine`.

    The result's `messages` are the caller's own objects for what is kept. A loop takes a `Fitter`, which makes the same
    decisions again in the next call. Raises `Infeasible` where what must stay is larger than the budget.

    >>> talk = [{"role": "user" if turn % 2 == 0 else "assistant", "content": f"Line {turn}. " * 50} for turn in range(41)]
    >>> fitted = fit(talk, budget=2_000)
    >>> fitted.status, fitted.tokens_after <= 2_000, fitted.messages[-1] is talk[-1]
    ('compacted', True, True)
    """
    engine, names = engine_and_chain(chain, dict(words, config=config, model=model, window=window))
    once = OneFit(budget=budget, format=format, host=host, chain=names, engine=engine)
    return once.fit(messages, system=system, tools=tools)


async def fit_async(messages: Any, **words: Unpack[FitKeywords]) -> Fitted:
    """`fit`, awaited: the core works in a thread, and asynchronous callables run on this loop."""
    from ._async import in_thread

    return await in_thread(fit, messages, **words)


def compact(session: Any, **words: Unpack[CompactKeywords]) -> Compacted:
    """Fits a whole session into a budget, and gives the session after it with the report.

    `session` is a list of messages or a request as dictionaries, the text or bytes of a session in any format that the
    `epitome` command reads, or the path of such a file (a path object). `budget` is a number of tokens (int) or a share of
    what the messages take now (float); without it the window of `model`, `window` or `config` decides whether anything is to
    be done. `to` is the format to write; the session's own, where that can be written, or `openai-chat`. `format` names the
    format of `session` where it is not recognised, `name` one of several sessions in it.

    `chain` lists strategies, by name or your own, or names a chain of the configuration; `mode` is `adaptive`, `fixed` or
    `tournament`, `task` the kind of task where you know it (`code`, `analysis`, `conversation`, `mixed`), `focus` what to
    keep in focus. `settings` are settings for this call alone, such as `{"keep_recent_messages": 10}` or
    `{"budget.target": 0.3}`. Further words are those of `Engine`.

    `keep` and `drop` name messages by their numbers from 0, one text or a list: `#37`, `#40-#52`, `..#36` for all up to that
    one, `#53..` for all from there on. What is kept stays whole; what is dropped leaves first, also where the session fits.
    A call goes with its results. What must stay is left out of a range, and an error where it is named alone.

    Raises `Infeasible` where what must stay is larger than the budget.

    >>> talk = [{"role": "user" if turn % 2 == 0 else "assistant", "content": f"Line {turn}. " * 50} for turn in range(40)]
    >>> compacted = compact(talk, budget=2_000)
    >>> compacted.status, compacted.tokens_after <= 2_000
    ('compacted', True)
    """
    engine, rest = engine_and_rest(words)
    return engine.compact(session, **rest)


async def compact_async(session: Any, **words: Unpack[CompactKeywords]) -> Compacted:
    """`compact`, awaited: the core works in a thread, and asynchronous callables run on this loop."""
    engine, rest = engine_and_rest(words)
    return await engine.compact_async(session, **rest)


def preview(session: Any, **words: Unpack[CompactKeywords]) -> Report:
    """The report of what `compact` would do; its words are the same. Where nothing fits, `status` is `infeasible`.

    >>> preview([{"role": "user", "content": "Hello"}], budget=1_000).status
    'no-change'
    """
    engine, rest = engine_and_rest(words)
    return engine.preview(session, **rest)


async def preview_async(session: Any, **words: Unpack[CompactKeywords]) -> Report:
    """`preview`, awaited."""
    engine, rest = engine_and_rest(words)
    return await engine.preview_async(session, **rest)


def inspect(session: Any, **words: Unpack[ReadKeywords]) -> Contents:
    """What a session is made of: `tokens` in all, by role, by tool and by part (`parts`: the task, tool results, files that
    were read, …), each message with what protects it, the kind of task, the compactions so far.

    >>> inspect([{"role": "user", "content": "Hello"}])["messages"][0]["protection"]
    'newest-user'
    """
    engine, rest = engine_and_rest(words)
    return engine.inspect(session, **rest)


def check(session: Any, **words: Unpack[ReadKeywords]) -> Fullness:
    """Whether a session should be compacted: `should_compact`, `urgency` (`none`, `soft`, `hard`), and the tokens that this
    goes by: what the provider counted of the newest request, with what has come since, where the session records it and
    it is more than the messages take. `exact` says whether they are the counter's own, for a model whose vocabulary it has.

    >>> check([{"role": "user", "content": "word " * 9_000}], window=8_000)["urgency"]
    'hard'
    """
    engine, rest = engine_and_rest(words)
    return engine.check(session, **rest)


def count_tokens(what: Any, *, counter: str = "o200k_base", format: str | None = None) -> int:
    """Tokens of a text (`str`), or of messages with the few that each takes by itself; exact where `counter` is a vocabulary
    (`o200k_base`, `cl100k_base`). `Engine.count_tokens` counts by a configuration.

    >>> count_tokens("Hello world"), count_tokens([{"role": "user", "content": "Hello world"}])
    (2, 6)
    """
    if isinstance(what, str):
        return int(engine_of()._native.ask("count-text", {"counter": counter}, utf8_of(what))[0])
    return engine_of(config={"counter": {"name": counter}}).count_tokens(what, format=format)


def search(session: Any, *query: str, **words: Unpack[SearchKeywords]) -> list[Passage]:
    """The passages of a session that match the words best, as dictionaries: `text`, `message` (its id), `role`, whether the
    context holds it, and more. `sources` is whose words are searched: `user`, `assistant`, `tool`, `file`; `newest` puts
    what is newest first.

    >>> search([{"role": "user", "content": "The service listens on port 8021."}], "which port")[0]["text"]
    'The service listens on port 8021.'
    """
    engine, rest = engine_and_rest(words)
    return engine.search(session, *query, **rest)


def convert(session: Any, to: str, **words: Unpack[ReadKeywords]) -> Any:
    """A session in another format. Objects come back as objects where `to` is a provider's format; text, bytes and files come
    back as bytes.

    >>> convert([{"role": "user", "content": "Hello"}], "anthropic", format="openai-chat")
    {'messages': [{'role': 'user', 'content': 'Hello'}]}
    """
    engine, rest = engine_and_rest(words)
    return engine.convert(session, to, **rest)


def validate(request: Any, *, format: str | None = None) -> list[BrokenRule]:
    """The rules of its provider that a request, or a list of messages, breaks: `path`, `rule` and `message` of each. Empty
    where it keeps them all.

    >>> request = [{"role": "user", "content": "Go"}, {"role": "tool", "tool_call_id": "c1", "content": "done"}]
    >>> [(found["path"], found["rule"]) for found in validate(request)]
    [('messages[1]', 'result-without-call')]
    """
    return engine_of().validate(request, format=format)


def strategies(**words: Unpack[EngineKeywords]) -> list[StrategyEntry]:
    """The strategies that a chain may name: `id`, `summary`, `lossiness`, `needs` and `since` of each.

    >>> "transcript" in [strategy["id"] for strategy in strategies()]
    True
    """
    return engine_of(**words).strategies()


def formats() -> list[FormatEntry]:
    """The formats of sessions: `name`, `about`, and whether `to` may name it (`writable`).

    >>> [format["name"] for format in formats() if format["writable"]]
    ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'claude-code', 'codex', 'pi']
    """
    return list(engine_of()._native.ask("formats", {}, b"")[0])


def context_overflow(status: int, body: str) -> ContextOverflow | None:
    """Whether a provider's error says that the request was too long: its `limit` and `actual` tokens where it names them;
    `None` where it says something else.

    >>> context_overflow(400, "prompt is too long: 210000 tokens > 200000 maximum")
    {'limit': 200000, 'actual': 210000}
    """
    found: ContextOverflow | None = engine_of()._native.ask("context-overflow", {"status": status}, utf8_of(body))[0]
    return found
