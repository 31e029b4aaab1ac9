"""`fit` and `Fitter`: cases."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from conftest import anthropic, work

import epitome_context as epitome
from epitome_context import Fitter, fit


def is_own(message: Any, came: list[Any]) -> bool:
    return any(message is own for own in came)


def test_what_is_kept_are_the_caller_s_own_objects() -> None:
    came = work()
    before = copy.deepcopy(came)
    fitted = fit(came, budget=6_000)
    assert came == before, "the caller's list is not changed"
    assert fitted.status == "compacted" and not fitted.unchanged
    assert fitted.tokens_after <= fitted.budget <= 6_000 < fitted.tokens_before
    for message in fitted.messages:
        assert is_own(message, came) == (message in came)
    assert fitted.messages[0] is came[0] and fitted.messages[1] is came[1] and fitted.messages[-1] is came[-1]
    assert epitome.validate(fitted.messages, format="openai-chat") == []
    assert len(fitted) == len(list(fitted)) == len(fitted.messages)


def test_texts_are_changed_in_copies() -> None:
    came = [{**message, "own": {"mark": number}} for number, message in enumerate(work(6))]
    fitted = fit(
        came,
        budget=2_500,
        config={"select": {"mode": "fixed", "chain": "cut"}, "chains": {"cut": ["message-truncation"]}},
    )
    edited = [piece["edit"] for piece in fitted.report["pieces"] if "edit" in piece]
    assert edited
    for edit in edited:
        number = edit["index"]
        sent = [message for message in fitted.messages if message.get("own") == {"mark": number}]
        assert len(sent) == 1 and sent[0] is not came[number]
        assert sent[0]["own"] is came[number]["own"], "what was not changed is shared"
        assert sent[0]["content"] != came[number]["content"] and sent[0]["tool_call_id"] == came[number]["tool_call_id"]


def test_a_list_that_fits_is_left_alone() -> None:
    def check(came: Any, **words: Any) -> None:
        fitted = fit(came, **words)
        assert fitted.unchanged and fitted.status == "unchanged" and fitted.removals == []
        assert fitted.messages == list(came) and all(a is b for a, b in zip(fitted.messages, came))

    check(work(2), budget=10_000)
    check(work(2), model="gpt-5")
    check(tuple(work(2)))
    check(anthropic(2)["messages"], window=100_000)
    check([], budget=10)
    check([{"role": "user", "content": "Hello", "x": {"y": 1}}], budget=100)


def test_formats_are_recognised_or_named() -> None:
    def check(came: list[Any], expect: str, **words: Any) -> None:
        fitter = Fitter(budget=4_000, **words)
        fitted = fitter.fit(came)
        assert fitter.format == expect and fitted.status == "compacted"
        assert epitome.validate(fitted.messages, format=expect) == []

    check(work(), "openai-chat")
    check(anthropic()["messages"], "anthropic")
    check(epitome.convert(work(), "openai-responses")["input"], "openai-responses")
    check(work(), "openai-chat", format="openai-chat")
    assert Fitter(format="anthropic").format == "anthropic"
    with pytest.raises(epitome.FormatError, match="not a provider's format"):
        Fitter(format="codex")


def test_a_format_that_shows_late_is_taken_then() -> None:
    fitter = Fitter(budget=4_000)
    came: list[Any] = []
    for message in anthropic()["messages"]:
        came.append(message)
        fitted = fitter.fit(came)
        assert fitted.tokens_after <= 4_000
    assert fitter.format == "anthropic" and epitome.validate(fitted.messages, format="anthropic") == []


def test_lists_of_several_providers_share_a_fitter() -> None:
    shared = Fitter(budget=4_000)
    lists = {
        "openai-chat": work(),
        "anthropic": anthropic()["messages"],
        "gemini": epitome.convert(work(), "gemini")["contents"],
        "openai-responses": epitome.convert(work(), "openai-responses")["input"],
    }
    for turn in range(2):
        for format, came in lists.items():
            fitted = shared.fit(came)
            assert fitted.messages == fit_alone(came) and epitome.validate(fitted.messages, format=format) == []
            assert (fitted.status == "replayed") == (turn == 1), format
            assert fitted.retrieve(fitted.removals[0]["handle"]) is not None
    assert shared.format == "openai-chat"


def test_a_call_names_the_form_of_its_list() -> None:
    plain = [{"role": ("user", "assistant")[turn % 2], "content": f"{turn} " * 2_000} for turn in range(21)]
    fitter = Fitter(budget=6_000)
    assert fitter.fit(plain, format="anthropic", key="caf\ud8e9").status == "compacted" and fitter.format == "anthropic"
    with pytest.raises(epitome.FormatError, match="not a provider's format"):
        fitter.fit(plain, format="codex")  # type: ignore[arg-type]


def fit_alone(came: list[Any]) -> list[Any]:
    return Fitter(budget=4_000).fit(came).messages


def test_a_loop_keeps_the_prompt_cache() -> None:
    fitter = Fitter(budget=16_000)
    came: list[Any] = []
    last: list[Any] = []
    decisions = 0
    for message in work(60):
        came.append(message)
        fitted = fitter.fit(came)
        assert fitted.tokens_after <= 16_000
        if fitted.status == "compacted":
            decisions += 1
        else:
            assert json.dumps(fitted.messages[: len(last)]) == json.dumps(last), "what was sent stands as it was"
        last = fitted.messages
    assert 0 < decisions < 10
    assert fitted.report["compactions"] == decisions


def test_a_host_gets_no_change_that_it_cannot_make() -> None:
    came = work()
    fitted = fit(came, budget=6_000, host="texts")
    assert fitted.status == "compacted" and len(fitted.messages) == len(came)
    assert [message["role"] for message in fitted.messages] == [message["role"] for message in came]
    for host in ("cut", "removals"):
        messages = Fitter(budget=6_000, host=host).fit(came).messages
        new = [message for message in messages if not is_own(message, came)]
        assert len(messages) < len(came) and len(new) <= 1, host
    with pytest.raises(epitome.ConfigError, match="`host`: `text` is not one of any, texts, cut, removals"):
        fit(came, budget=6_000, host="text")


def test_what_stands_beside_counts() -> None:
    def budget(**words: Any) -> int:
        return fit(work(2), budget=10_000, format="openai-chat", **words).budget

    tool = [{"type": "function", "function": {"name": "bash", "description": "runs " * 200, "parameters": {}}}]
    assert budget() == 10_000
    assert budget(tools=tool) < 9_900
    assert budget(tools=500) == 9_500
    assert budget(tools=500, system=100) == 9_400
    fitted = fit(anthropic()["messages"], budget=4_000, system=anthropic()["system"])
    assert fitted.system is None and fitted.tokens_after <= fitted.budget


def test_objects_and_bytes_are_taken() -> None:
    class Message:
        def __init__(self, fields: dict[str, Any]) -> None:
            self.__dict__.update(fields)
            self._fields = fields

        def model_dump(self, **_: Any) -> dict[str, Any]:
            return self._fields

    came = [Message(message) for message in work()]
    fitted = fit(came, budget=6_000)
    assert fitted.messages[0] is came[0] and fitted.messages[-1] is came[-1]
    assert any(isinstance(message, dict) for message in fitted.messages)
    mixed: list[Any] = [*work()[:-1], came[-1]]
    assert fit(mixed, budget=6_000).messages[-1] is mixed[-1]
    lane = fit(json.dumps(work()).encode(), budget=6_000)
    assert lane.messages == fit(work(), budget=6_000).messages
    assert fit((message for message in work()), budget=6_000).messages == lane.messages


def test_what_left_comes_back() -> None:
    fitter = Fitter(budget=6_000)
    fitted = fitter.fit(work())
    handle = fitted.removals[0]["handle"]
    assert fitted.retrieve(handle) == fitter.retrieve(handle) is not None
    assert fitter.retrieve("ffffffff") is None


def test_what_cannot_fit_raises_with_its_floor() -> None:
    with pytest.raises(epitome.Infeasible) as caught:
        fit(work(), budget=5)
    error = caught.value
    assert error.budget == 5 and error.floor is not None and error.floor["tokens"] > 5
    assert error.fitted is not None and error.fitted.messages[0] == work()[0]
    assert "cannot fit 5" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert again.floor == error.floor and str(again) == str(error)
    assert again.fitted.messages == error.fitted.messages and again.fitted.report == error.fitted.report
    with pytest.raises(epitome.Infeasible) as caught:
        epitome.compact(work(), budget=5)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.budget, again.fitted) == (5, None) and "tokens_before" in again.floor["parts"][0]


def test_the_provider_has_the_last_word() -> None:
    fitter = Fitter(model="gpt-5")
    assert fitter.fit(work()).unchanged
    smaller = fitter.fit_after(work(), limit=9_000)
    assert smaller.status == "compacted" and smaller.tokens_after < 9_000
    assert fitter.fit(work()).messages == smaller.messages, "a limit that was named stays in force"


def test_a_fitter_is_copied_pickled_and_begun_again() -> None:
    fitter = Fitter(budget=6_000, archive_bytes=1_000_000)
    expect = fitter.fit(work()).messages
    more = [*work(), {"role": "assistant", "content": "`fingerprint`."}, {"role": "user", "content": "Thanks."}]

    def check(other: Fitter) -> None:
        fitted = other.fit(more)
        assert fitted.status == "replayed" and fitted.messages[: len(expect)] == expect
        assert other.retrieve(fitted.removals[0]["handle"]) is not None

    check(copy.deepcopy(fitter))
    check(copy.copy(fitter))
    check(pickle.loads(pickle.dumps(fitter)))
    check(Fitter.from_state(fitter.state(), budget=6_000))
    check(Fitter.from_state(fitter.state(), budget=6_000, format="openai-chat"))
    # Lists of plain texts tell no format: what was known of them holds.
    plain = Fitter(budget=6_000, format="anthropic")
    texts = [{"role": ("user", "assistant")[turn % 2], "content": f"{turn} " * 2_000} for turn in range(21)]
    expect = plain.fit(texts).messages
    again = Fitter.from_state(plain.state(), budget=6_000)
    assert (again.fit(texts).messages, again.format) == (expect, "anthropic")

    def refuse(state: bytes, expect: str, **words: Any) -> None:
        with pytest.raises(epitome.EpitomeError, match=expect):
            Fitter.from_state(state, **words)

    state = fitter.state()
    refuse(b"", "not the state of a fitter")
    refuse(state[:-1], "damaged")
    refuse(state[:200] + b"x" + state[201:], "damaged")
    refuse(state, "was made for counter `o200k_base`", config={"counter": {"name": "quarters"}})


def test_what_came_of_a_list_is_copied_and_pickled() -> None:
    def check(fitted: epitome.Fitted) -> None:
        for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), copy.copy(copy.deepcopy(fitted))):
            assert again.messages == fitted.messages and again.system == fitted.system
            assert (again.status, again.unchanged, again.pieces) == (fitted.status, fitted.unchanged, fitted.pieces)
            figures = (fitted.tokens_before, fitted.tokens_after, fitted.budget)
            assert (again.tokens_before, again.tokens_after, again.budget) == figures
            assert again.report == fitted.report and again.report.outcomes == fitted.report.outcomes
            assert repr(again) == repr(fitted)
            for removal in fitted.removals:
                assert again.retrieve(removal["handle"]) == fitted.retrieve(removal["handle"]) is not None
            assert again.retrieve("nothing") is None

    check(fit(work(), budget=6_000))
    check(fit(work(), budget=100_000))
    fitter = Fitter(budget=6_000)
    fitter.fit(work())
    check(fitter.fit(work()))
    assert fit(work(), budget=6_000).removals


def test_an_engine_is_pickled() -> None:
    engine = pickle.loads(pickle.dumps(epitome.Engine({"budget": {"window": 20_000}})))
    assert engine.compact(work()).status == "compacted"


def test_wrong_input_is_named() -> None:
    def check(came: Any, error: type[Exception], expect: str, **words: Any) -> None:
        with pytest.raises(error, match=expect):
            fit(came, **words)

    check([{"role": "user", "content": {1}}], TypeError, r"messages\[0\].content: an object of the type `set`")
    check(
        [{"role": "user", "content": "a"}, {"role": "nobody", "content": "b"}],
        epitome.FormatError,
        r"messages\[1\]: `role`",
    )
    check({"messages": work(1)}, TypeError, "a dictionary is not a list of messages")
    check(42, TypeError, "not")
    check(b"[1", epitome.FormatError, "messages: not a JSON list of messages: EOF")
    check(work(1), epitome.ConfigError, "`budget` takes a number of tokens", budget=0.5)
    check(work(1), epitome.ConfigError, "`budget` takes a number of tokens", budget=0)
    check(work(1), epitome.ConfigError, "the window of the model `gtp-9` is not known", model="gtp-9")
    check(work(1), epitome.ConfigError, "`tools` takes a list of definitions", tools="bash")
    check(work(1), TypeError, r"tools\[0\]: an object of the type `object`", tools=[object()])
    with pytest.raises(epitome.ConfigError, match="32 bytes"):
        Fitter(secret=b"short")
    assert Fitter(budget=100, secret=b"x" * 32).fit([]).unchanged


def test_a_list_that_is_fitted_once_fills_its_budget() -> None:
    def check(budget: int) -> None:
        once, whole = fit(work(), budget=budget), epitome.compact(work(), budget=budget)
        assert budget * 0.9 < once.tokens_after <= budget, (once, whole)
        assert Fitter(budget=budget).fit(work()).tokens_after <= budget / 2

    check(8_000)
    check(12_000)


def test_a_chain_is_that_of_the_call() -> None:
    asked: list[int] = []

    def summarizer(task: dict[str, Any]) -> str:
        asked.append(len(task["messages"]))
        return "In short: the ledger."

    def clear_results(messages: list[dict[str, Any]], goal: dict[str, Any]) -> list[dict[str, Any]]:
        for message in messages[:-4]:
            if message["role"] == "tool":
                message["blocks"][0]["content"]["text"] = "[cleared]"
        return messages

    fitted = fit(work(), budget=6_000, chain=["incremental-summary"], summarizer=summarizer)
    assert asked and "In short: the ledger." in str(fitted.messages)
    fitter = Fitter(budget=6_000, chain=clear_results)
    assert fitter.fit(work()).report["strategies"] == ["clear-results"]
    assert fit(work(), budget=6_000, chain=[clear_results, "transcript"]).report["strategies"][0] == "clear-results"
    with pytest.raises(epitome.ConfigError, match="nothing would ask it"):
        fit(work(), budget=6_000, strategies=[clear_results])
    with pytest.raises(epitome.ConfigError, match="names no strategy"):
        fit(work(), budget=6_000, chain=[])
    with pytest.raises(epitome.ConfigError, match="`chain`: .*transcript"):
        fit(work(), budget=6_000, chain="transcrip")


def test_a_hollow_result_says_so_and_losses_stay_visible() -> None:
    talk = [{"role": ("user", "assistant")[turn % 2], "content": f"Line {turn} of our talk. " * 40} for turn in range(41)]
    fitted = fit(talk, budget=50)
    assert fitted.status == fitted.report["report"]["status"] == "near-empty"
    fitter = Fitter(budget=6_000)
    first, again = fitter.fit(work()), fitter.fit(work())
    assert (first.status, again.status) == ("compacted", "replayed")
    assert first.quality is not None and again.quality == first.quality


def test_all_that_left_can_be_brought_back() -> None:
    request = anthropic()
    fitted = fit(request["messages"], budget=2_000, system=request["system"])
    assert fitted.removals and all(fitted.retrieve(removal["handle"]) for removal in fitted.removals)


def test_wrong_words_are_named() -> None:
    def check(error: type[Exception], expect: str, **words: Any) -> None:
        with pytest.raises(error, match=expect):
            fit(work(1), **words)

    check(epitome.ConfigError, r"`window` takes a number of tokens \(a whole number, 1 or more\), not -5", window=-5)
    check(epitome.ConfigError, r"`window` takes a number of tokens \(.*\), not \"8k\"", window="8k")
    check(epitome.ConfigError, "`model` takes the name of a model", model="")
    check(epitome.ConfigError, "`system` takes a system prompt, or the tokens of it", budget=100, system=-100)
    check(epitome.ConfigError, "`system` takes .*, not 3.5", budget=100, system=3.5)
    check(epitome.ConfigError, "`tools` takes .*, not true", budget=100, tools=True)
    check(epitome.ConfigError, r"`reserve_output` takes a number of tokens \(.*\), not -1", reserve_output=-1)
    check(epitome.Infeasible, "`system` and `tools` take the whole budget", budget=100, system=10**6)
    check(epitome.ConfigError, "`config` takes a dictionary", budget=100, config=[1])
    for came in (None, 5):
        with pytest.raises(TypeError, match="messages: a list of messages is expected"):
            fit(came, budget=100)
    with pytest.raises(epitome.ConfigError, match="`conversations` takes a number of conversations"):
        Fitter(budget=100, conversations=-1)
