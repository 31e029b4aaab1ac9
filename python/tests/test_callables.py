"""What a host writes in Python: strategies, summarizers, embedders."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from conftest import work

import epitome_context as epitome
from epitome_context import edits


class DropOldest:
    """The oldest units leave."""

    id = "drop-oldest"

    def plan(self, view: Any, goal: Any) -> Any:
        excess = goal["current"] - goal["target"]
        chosen: list[int] = []
        for unit in view["units"]:
            if excess > 0 and unit["may_leave"]:
                chosen.append(unit["position"])
                excess -= unit["tokens"]
        return [edits.drop([unit], "oldest", f"unit {unit} is old") for unit in chosen]


def forget_results(messages: list[Any], goal: Any) -> list[Any]:
    for message in messages[:-4]:
        if message["role"] == "tool":
            for block in message["blocks"]:
                block["content"]["text"] = "[cleared]"
    return messages


def test_strategies_compact() -> None:
    def check(chain: Any, strategy: str, **words: Any) -> epitome.Report:
        report = epitome.compact(work(), budget=6_000, chain=chain, **words).report
        assert report.status == "compacted"
        step = next(step for step in report["steps"] if step["strategy"] == strategy)
        assert step["edits"] > 0 and step["declined"] is None, step
        return report

    report = check([DropOldest()], "drop-oldest")
    assert report.edits[0]["reason"] == {"code": "oldest", "detail": report.edits[0]["reason"]["detail"], "score": None}
    check(DropOldest(), "drop-oldest")
    check(DropOldest, "drop-oldest")
    check([forget_results], "forget-results")
    check([forget_results], "forget-results", strategies=[forget_results])
    check(["forget-results", "transcript"], "forget-results", strategies=[forget_results])
    check(
        None,
        "drop-oldest",
        strategies=[DropOldest()],
        config={"chains": {kind: ["drop-oldest"] for kind in ("code", "analysis", "conversation", "mixed", "unknown")}},
    )
    engine = epitome.Engine(strategies=[DropOldest(), forget_results])
    assert {"drop-oldest", "forget-results"} <= {strategy["id"] for strategy in engine.strategies()}
    described = next(strategy for strategy in engine.strategies() if strategy["id"] == "drop-oldest")
    assert described["summary"] == "The oldest units leave."


def test_excerpts_count_characters() -> None:
    class Heads:
        id = "heads"

        def plan(self, view: Any, goal: Any) -> Any:
            for message in view["messages"]:
                for block, content in enumerate(message["blocks"]):
                    if content["excerptable"] and view["units"][message["unit"]]["may_edit"]:
                        yield edits.excerpt(view, message["position"], block, [(0, 30)], "head", "the head")

    came = [*work(3)]
    came[3] = {**came[3], "content": "naïve 🎈 " * 200}
    compacted = epitome.compact(came, budget=600, chain=[Heads()])
    assert compacted.messages[3]["content"].startswith(("naïve 🎈 " * 200)[:30])
    assert len(compacted.messages[3]["content"]) < 80


def test_what_fails_is_recorded_and_the_chain_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    def check(strategy: Any, expect: str) -> None:
        caplog.clear()
        report = epitome.compact(work(), budget=6_000, chain=[strategy, "sliding-window"]).report
        assert report.status == "compacted"
        declined = report["steps"][0]["declined"] or str(report["steps"])
        assert expect in declined, declined

    class Broken:
        id = "broken"

        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def plan(self, view: Any, goal: Any) -> Any:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    check(Broken(ValueError("out of order")), "`broken` raised ValueError: out of order")
    assert "the strategy `broken` failed" in caplog.text and "out of order" in caplog.text
    check(Broken(None), "it had nothing to do")
    check(Broken("no long result"), "no long result")
    check(Broken([]), "it had nothing to do")
    check(Broken([{"edit": "explode"}]), "`broken` answered no plan: unknown variant `explode`")
    check(Broken([{1, 2}]), "plan.edits[0]: an object of the type `set`")

    def rewrite(messages: list[Any], goal: Any) -> Any:
        messages[3]["blocks"][0]["content"]["text"] = "Something else altogether."
        return messages

    check(rewrite, "text")

    def in_place(messages: list[Any], goal: Any) -> None:
        del messages[3]

    def add(messages: list[Any], goal: Any) -> Any:
        return [*messages, {"role": "user", "blocks": []}]

    check(in_place, "gives back the list of messages that are to stay, not None: end it with `return messages`")
    assert "the strategy `in-place` failed" in caplog.text and "return messages" in caplog.text
    check(add, "messages[64] has no `id`: a message that came keeps its `id`, `role`, `origin` and `blocks`; a new one")
    assert "the strategy `add` failed" in caplog.text


def test_what_is_no_strategy_is_refused() -> None:
    def check(strategy: Any, expect: str) -> None:
        with pytest.raises(epitome.ConfigError, match=expect):
            epitome.Engine(strategies=[strategy])

    class Nameless:
        def plan(self, view: Any, goal: Any) -> Any: ...

    class Shouted(Nameless):
        id = "Big Words"

    class Shipped(Nameless):
        id = "transcript"

    check(42, "a strategy is an object")
    check(Nameless(), "needs an `id`")
    check(Shouted(), "lower-case words with hyphens")
    check(lambda messages, goal: messages, "needs an `id`")
    check(Shipped(), "`transcript` is registered already; give the strategy another `id`")


TASKS: list[dict[str, Any]] = []


def summarize(task: dict[str, Any]) -> str:
    TASKS.append(task)
    return f"In short: {len(task['messages'])} messages."


def test_summaries_are_written() -> None:
    def check(summarizer: Any, expect: str, **words: Any) -> epitome.Compacted:
        compacted = epitome.compact(work(), budget=6_000, chain="incremental-summary", summarizer=summarizer, **words)
        assert expect in compacted.text, compacted.text
        return compacted

    TASKS.clear()
    told = check(summarize, "In short: ").report["summarizer"]
    assert told["kind"] == "python" and not told["fell_back"]
    assert TASKS[0]["max_tokens"] > 0 and TASKS[0]["messages"][0]["role"] in ("user", "assistant")
    assert TASKS[0]["language"] == "en" and TASKS[0]["is_handoff"] is False
    paid = check(lambda task: {"text": "Paid for.", "input_tokens": 70, "output_tokens": 3}, "Paid for.")
    assert paid.report["summarizer"]["input_tokens"] >= 70

    async def later(task: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return "Written later."

    check(later, "Written later.")

    def broken(task: dict[str, Any]) -> str:
        raise OSError("no connection")

    for summarizer, problem in [
        (broken, "raised OSError: no connection"),
        (lambda task: " ", "gave an empty text"),
        (lambda task: 5, "gives a text, not int"),
    ]:
        report = epitome.compact(work(), budget=6_000, chain="incremental-summary", summarizer=summarizer).report
        assert report["summarizer"]["fell_back"] and problem in report["summarizer"]["problem"]
    with pytest.raises(epitome.EpitomeError, match="there is no summary: the summarizer raised OSError") as caught:
        check(broken, "", config={"summary": {"on_failure": "stop"}})
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(epitome.ConfigError, match="`summarizer` takes a function"):
        epitome.Engine(summarizer="gpt")  # type: ignore[arg-type]


def test_texts_are_embedded() -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[float(len(text)), 1.0 + text.count("e")] for text in texts]

    def check(embedder: Any, declined: str | None) -> None:
        report = epitome.compact(work(), budget=6_000, chain=["vector-retrieval"], embedder=embedder).report
        assert report.status == ("compacted" if declined is None else "rolled-back")
        told = report["steps"][0]["declined"]
        assert told is None if declined is None else declined in told, told

    check(embed, None)
    assert asked
    check(lambda texts: [[1.0]], "gave 1 vectors for")
    check(lambda texts: [[1.0] * (1 + index % 2) for index, _ in enumerate(texts)], "gave vectors of different lengths")

    def broken(texts: list[str]) -> Any:
        raise RuntimeError("no table")

    check(broken, "raised RuntimeError: no table")


def test_calls_are_awaited_on_the_host_s_loop() -> None:
    async def host() -> None:
        loop = asyncio.get_running_loop()
        loops: list[Any] = []

        async def summarizer(task: dict[str, Any]) -> str:
            loops.append(asyncio.get_running_loop())
            await asyncio.sleep(0.001)
            return "Awaited."

        words: Any = {"budget": 6_000, "chain": "incremental-summary", "summarizer": summarizer}
        compacted = await epitome.compact_async(work(), **words)
        assert "Awaited." in compacted.text and loops and all(seen is loop for seen in loops)
        assert (await epitome.preview_async(work(), **words)).status == "compacted"
        session = epitome.Session(work(), summarizer=summarizer)
        assert (await session.compact_async(target=6_000, chain="incremental-summary")).status == "compacted"
        assert (await session.maintain_async())["done"] == "nothing"
        fixed = {"select": {"mode": "fixed", "chain": "one"}, "chains": {"one": ["incremental-summary"]}}
        fitted = await epitome.fit_async(work(), budget=6_000, config=fixed, summarizer=summarizer)
        assert any("Awaited." in str(message["content"]) for message in fitted)
        fitter = epitome.Fitter(budget=6_000, config=fixed, summarizer=summarizer)
        assert (await fitter.fit_async(work())).status == "compacted"
        # A call that blocks the loop cannot wait for it.
        report = epitome.compact(work(), **words).report
        assert "await the call that ends in `_async`" in report["summarizer"]["problem"]

    asyncio.run(host())


def test_an_interrupt_is_no_failure_of_a_callable() -> None:
    class Interrupted:
        id = "interrupted"

        def plan(self, view: Any, goal: Any) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        epitome.compact(work(), budget=6_000, chain=[Interrupted()])
    assert epitome.compact(work(), budget=6_000).status == "compacted"


def test_nothing_is_logged_where_nothing_fails(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        epitome.compact(work(), budget=6_000, chain=[DropOldest()])
    assert caplog.text == ""


def test_a_callable_that_nothing_asks_is_told_once() -> None:
    def summarizer(task: dict[str, Any]) -> str:
        return "In short: the ledger."

    def embedder(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.5] for _ in texts]

    def warnings_of(call: Callable[[], object]) -> list[str]:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        assert all(warning.filename == __file__ for warning in told), "it names the line that calls the package"
        return [str(warning.message) for warning in told]

    def check(call: Callable[[], object], word: str = "") -> None:
        told = warnings_of(call)
        assert len(told) == (1 if word else 0) and all(f"`{word}` had no effect: " in text for text in told), told

    check(lambda: epitome.compact(work(), budget=6_000, summarizer=summarizer), "summarizer")
    check(lambda: epitome.preview(work(), budget=6_000, embedder=embedder), "embedder")
    check(lambda: epitome.fit(work(), budget=6_000, chain="transcript", summarizer=summarizer), "summarizer")
    check(lambda: epitome.fit(work(), budget=200_000, summarizer=summarizer))
    check(lambda: epitome.fit(work(), budget=6_000, chain="incremental-summary", summarizer=summarizer))
    check(lambda: epitome.compact(work(), budget=6_000, chain=["transcript", "incremental-summary"], summarizer=summarizer))
    config = {"chains": {"code": ["transcript", "incremental-summary"]}}
    check(lambda: epitome.compact(work(), budget=6_000, config=config, summarizer=summarizer))
    check(lambda: epitome.compact(work(), budget=6_000, chain="sliding-window", summarizer=summarizer))
    check(lambda: epitome.compact(work(), budget=6_000, chain="vector-retrieval", focus="ledger", embedder=embedder))
    fitter = epitome.Fitter(budget=6_000, summarizer=summarizer)
    check(lambda: fitter.fit(work()), "summarizer")
    check(lambda: fitter.fit([*work(), *work(20)]))
    session = epitome.Session(work(), window=12_000, summarizer=summarizer)
    check(session.maintain, "summarizer")
    session = epitome.Session(work(), window=200_000, summarizer=summarizer)
    check(lambda: session.compact(target=6_000), "summarizer")
