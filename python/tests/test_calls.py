"""The functions of the module: cases."""

from __future__ import annotations

import copy
import json
import pickle
from enum import IntEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from conftest import anthropic, work

import epitome_context as epitome
from epitome_context import _epitome

EXAMPLE = Path(__file__).parents[2] / "examples" / "session.jsonl"


class Dumped:
    """An object of a provider's client."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
        assert mode == "json" and exclude_unset
        return self.fields


class Level(IntEnum):
    HIGH = 3


def test_objects_become_json() -> None:
    def check(value: Any, expect: str) -> None:
        assert _epitome.json_text_of(value, "messages").decode() == expect

    check(None, "null")
    check([True, False, 1, -2, 1.5, 10**30, Level.HIGH], f"[true,false,1,-2,1.5,{10**30},3]")
    check({"a": ("b", [])}, '{"a":["b",[]]}')
    check('naïve "quoted"\n\u2028 🎈', '"naïve \\"quoted\\"\\n\u2028 🎈"')
    check({"message": Dumped(role="user", content=Dumped(x=1))}, '{"message":{"role":"user","content":{"x":1}}}')
    check(MappingProxyType({"a": 1}), '{"a":1}')
    assert json.loads(_epitome.json_text_of(work(3), "messages")) == work(3)


def test_what_is_not_json_is_named_with_its_path() -> None:
    def check(value: Any, expect: str) -> None:
        with pytest.raises(TypeError) as caught:
            epitome.compact(value, budget=100)
        assert str(caught.value).startswith(expect), str(caught.value)

    check([{"role": "user", "content": {1, 2}}], "messages[0].content: an object of the type `set` is not JSON")
    check([{}, {"a": [0, {"b": object()}]}], "messages[1].a[1].b: an object of the type `object`")
    check([{1: "a"}], "messages[0]: the key 1 is not text")
    check([{"a": float("nan")}], "messages[0].a: NaN is not a number of JSON")
    cycle: list[Any] = []
    cycle.append(cycle)
    check(cycle, "messages[0][0]")
    check(42.5j, "messages: an object of the type `complex`")


def test_half_a_character_is_a_replacement() -> None:
    def check(text: str, expect: str) -> None:
        written = json.loads(_epitome.json_text_of({text: [text]}, "messages"))
        assert written == {expect: [expect]}
        session = [{"role": "user", "content": f"Which files are there? {text}"}]
        assert epitome.count_tokens(session) == epitome.count_tokens([{**session[0], "content": f"Which files are there? {expect}"}])
        assert epitome.count_tokens(text) == epitome.count_tokens(expect)
        assert epitome.fit(session, budget=500).messages == session
        epitome.compact(session, budget=500, focus=text)
        epitome.search(session, text)

    check("quay.txt caf\ud8e9.txt", "quay.txt caf\ufffd.txt")
    check("\udc80 \ud800\ud800 \ud83d\ude00 \ud83d", "\ufffd \ufffd\ufffd \U0001f600 \ufffd")


def test_json_becomes_objects() -> None:
    def check(text: str) -> None:
        assert _epitome.object_of(text.encode()) == json.loads(text)

    check('{"a": [1, -1, 1.5, true, false, null, "\\u00e9\\n"], "b": {}}')
    check("[]")
    check('{"\\u0061b": 18446744073709551615}')
    for wrong in ["", "[1,", "nothing", "[1] 2"]:
        with pytest.raises(ValueError, match="not JSON"):
            _epitome.object_of(wrong.encode())


def test_a_compacted_session_is_copied_and_pickled() -> None:
    def check(compacted: epitome.Compacted) -> None:
        for again in (pickle.loads(pickle.dumps(compacted)), copy.deepcopy(compacted), copy.copy(copy.deepcopy(compacted))):
            assert (again.data, again.format, again.warnings) == (compacted.data, compacted.format, compacted.warnings)
            assert again.report == compacted.report and again.messages == compacted.messages
            assert again.report.sizes == compacted.report.sizes and repr(again) == repr(compacted)
            for handle in compacted.report.handles:
                assert again.retrieve(handle) == compacted.retrieve(handle) is not None
            assert again.retrieve("nothing") is None

    check(epitome.compact(work(), budget=6_000))
    check(epitome.compact(work(), budget=100_000))
    assert epitome.compact(work(), budget=6_000).report.handles


def test_an_empty_list_is_a_session_without_messages() -> None:
    def check(empty: Any) -> None:
        assert epitome.count_tokens(empty) == epitome.Engine().count_tokens(empty) == 0
        contents = epitome.inspect(empty)
        assert (contents["tokens"], contents["messages"]) == (0, [])
        assert epitome.check(empty, window=8_000)["should_compact"] is False

    check([])
    check(())


def test_compact_fits_and_stays_valid() -> None:
    def check(session: Any, budget: int | float, expect: str, **words: Any) -> epitome.Compacted:
        compacted = epitome.compact(session, budget=budget, **words)
        assert compacted.status == expect, compacted
        assert compacted.tokens_after <= compacted.budget
        assert epitome.validate(compacted.request, format=compacted.format) == []
        assert compacted.unchanged == (compacted.tokens_after == compacted.tokens_before)
        return compacted

    assert check(work(), 6_000, "compacted").budget == 6_000
    assert check(work(), 0.25, "compacted").budget == int(epitome.count_tokens(work()) * 0.25)
    check(work(), 10**6, "no-change")
    check(work(), 6_000, "compacted", chain=["sliding-window"])
    check(work(), 6_000, "compacted", mode="tournament", task="code", focus="the fingerprint")
    check(json.dumps(work()), 6_000, "compacted")
    check(json.dumps(work()).encode(), 6_000, "compacted", format="openai-chat")
    check(EXAMPLE, 12_000, "compacted", to="anthropic")
    request = check(anthropic(), 4_000, "compacted").request
    assert request["system"] == "You tune databases." and request["max_tokens"] == 100
    assert check(anthropic(), 4_000, "compacted", to="openai-responses").messages[0]["type"] == "message"


def test_settings_are_those_of_one_call() -> None:
    engine = epitome.Engine(window=20_000)
    usual = engine.compact(work())
    more = engine.compact(work(), settings={"budget": {"target": 0.4}})
    assert more.tokens_after > usual.tokens_after
    assert engine.preview(work(), settings={"keep_recent_messages": 10})["recent"] is not None
    assert engine.compact(work()).tokens_after == usual.tokens_after
    with pytest.raises(epitome.ConfigError, match="not a setting of one call; did you mean `keep_recent_messages`"):
        engine.compact(work(), settings={"keep_recent_message": 10})
    with pytest.raises(epitome.ConfigError, match="not a setting of one call"):
        epitome.compact(work(), settings={"summary.prompts": "/etc"})


def test_the_environment_stands_between_the_file_and_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPITOME_BUDGET_WINDOW", "20_000")
    assert epitome.compact(work(), config={"budget": {"window": 1_000_000}}).status == "compacted"
    assert epitome.compact(work(), window=1_000_000).status == "no-change"
    monkeypatch.setenv("EPITOME_BUDGET_WINDWO", "1")
    with pytest.raises(epitome.ConfigError, match="did you mean EPITOME_BUDGET_WINDOW"):
        epitome.Engine()


def test_without_a_budget_the_window_decides() -> None:
    def check(expect: str, **words: Any) -> None:
        assert epitome.compact(work(), **words).status == expect, words

    check("no-change")
    check("no-change", model="gpt-5")
    check("compacted", window=20_000)
    check("compacted", config={"budget": {"window": 20_000}})
    check("compacted", config="[budget]\nwindow = 20_000\n")
    check("no-change", config={"budget": {"window": 20_000}}, window=1_000_000)


def test_what_cannot_fit_is_told_with_its_floor() -> None:
    with pytest.raises(epitome.Infeasible) as caught:
        epitome.compact(work(), budget=5)
    error = caught.value
    assert error.budget == 5 < error.floor["tokens"]
    assert {part["part"] for part in error.floor["parts"]} >= {"system", "newest-user"}
    assert "cannot fit 5 tokens" in str(error) and error.report["status"] == "infeasible"
    assert epitome.preview(work(), budget=5).status == "infeasible"


def test_each_message_among_objects_has_to_be_one() -> None:
    user = {"role": "user", "content": "Go."}
    calls = [
        lambda given: epitome.fit(given, budget=500),
        lambda given: epitome.compact(given, budget=500),
        lambda given: epitome.preview(given, budget=500),
        epitome.inspect,
        epitome.check,
        epitome.count_tokens,
        epitome.Session,
        lambda given: epitome.convert(given, "anthropic"),
        lambda given: epitome.search(given, "go"),
        lambda given: epitome.Session().push(given),
        lambda given: epitome.Store("sqlite::memory:").create(messages=given),
    ]

    def check(given: list[Any], expect: str) -> None:
        for call in calls:
            with pytest.raises(epitome.FormatError) as caught:
                call(given)
            assert str(caught.value) == f"{expect} (read as openai-chat; `format` names another one)"

    text_or_parts = "`content`: a text or a list of parts is expected, and this is a number"
    check([user, {"role": "assistant", "content": 5}], f"messages[1]: {text_or_parts}")
    check([user, {"content": "Done."}], "messages[1]: `role`: a text is expected, and it is missing")
    check([user, "Done."], "messages[1]: a message is an object, and this is a text")
    check([user, None], "messages[1]: a message is an object, and this is null")
    check(["Go."], "messages[0]: a message is an object, and this is a text")
    check([{"content": "Go."}], "messages[0]: `role`: a text is expected, and it is missing")
    roles = "system, developer, user, assistant, tool, function"
    check([user, {"role": "critic", "content": "No."}], f"messages[1]: `role`: `critic` is not a role of this form: {roles}")
    with pytest.raises(epitome.FormatError, match=r"messages\[1\]: `parts`: a list .* \(read as gemini"):
        epitome.inspect([{"role": "user", "parts": [{"text": "Go."}]}, {"role": "model", "parts": 5}])
    with pytest.raises(epitome.FormatError, match=r"messages\[0\]: `content`"):
        epitome.check({"model": "m", "system": "Be terse.", "messages": [{"role": "user", "content": 5}]})


def test_what_providers_take_and_recordings_hold_is_read() -> None:
    user = {"role": "user", "content": "Go."}
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}

    def check(given: Any, count: int, format: str = "openai-chat") -> None:
        contents = epitome.inspect(given)
        assert (contents["format"], len(contents["messages"])) == (format, count)
        assert epitome.compact(given, budget=500).report["status"] == "no-change"

    answer = {"role": "tool", "tool_call_id": "c1", "content": "Done."}
    check([user, {"role": "assistant", "content": None, "tool_calls": [call]}, answer], 3)
    check([user, {"role": "assistant", "tool_calls": [call]}, {**answer, "content": [{"type": "text", "text": "x"}]}], 3)
    check([{"role": "developer", "content": "Be terse."}, user], 2)
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    check([user, old, {"role": "function", "name": "f", "content": "Done."}], 3)
    check([user, {"role": "assistant", "content": "Done.", "reasoning_content": "Hm.", "more": 3}], 2)
    check([{"role": "user", "content": [{"type": "hologram", "of": 1}]}, user], 2)
    check([user, {"type": "item_reference", "id": "i1"}, {"role": "assistant", "content": "Done."}], 3, "openai-responses")
    check({"model": "m", "input": "Go."}, 1, "openai-responses")
    check([{"parts": [{"text": "Go."}]}], 1, "gemini")
    # Text may be a recording: it is read with what is understood of it.
    check(json.dumps([user, {"role": "assistant", "content": 5}, {"content": "Done."}, "Done."]), 2)
    wrong = epitome.validate([user, {"role": "assistant", "content": 5}])
    assert [(found["path"], found["rule"]) for found in wrong] == [("messages[1]", "content")]


def test_wrong_words_say_what_would_be_right() -> None:
    def check(expect: str, error: type[Exception] = epitome.ConfigError, session: Any = None, **words: Any) -> None:
        with pytest.raises(error) as caught:
            epitome.compact(work(2) if session is None else session, **words)
        assert expect in str(caught.value), str(caught.value)

    check("`budget` takes a number of tokens", budget=0)
    check("`budget` takes a number of tokens", budget=-5)
    check("`budget` takes a number of tokens", budget=1.5)
    check("`budget` takes a number of tokens", budget=True)
    check("`budget` takes a number of tokens", budget="60k")
    check("did you mean `transcript`?", budget=100, chain=["transcrpt"])
    check("`mode`: ", budget=100, mode="best")
    check("no other `mode` than fixed", budget=100, mode="tournament", chain=["transcript"])
    check("`mode` fixed needs a chain", budget=100, mode="fixed")
    check("`task`: ", budget=100, task="poetry")
    check("the window of the model `gtp-5` is not known", model="gtp-5")
    check("`windwo` is not a key of [budget]", config={"budget": {"windwo": 1}})
    check("None is not a value", config={"budget": {"window": None}})
    check("config:1:", config="[budget")
    check("`polish`", epitome.FormatError, budget=100, to="polish")
    check("is read and not written", epitome.FormatError, budget=100, to="aider")
    check("this is not a session in a known format", epitome.FormatError, session='[{"a": 1}]', budget=100)
    check("the session holds no messages", epitome.FormatError, session=[], budget=100)
    check("damaged JSON at line 1", epitome.FormatError, session='{"messages": [', budget=100)
    check("there is no session `x` in it", epitome.FormatError, budget=100, name="x")
    check("nothing-there", FileNotFoundError, session=Path("nothing-there"), budget=100)
    for call in (epitome.fit, epitome.compact, epitome.Fitter, epitome.Session, epitome.inspect):
        with pytest.raises(TypeError, match="budgt"):
            call(work(1), budgt=5) if call not in (epitome.Fitter,) else call(budgt=5)  # type: ignore[operator]
    with pytest.raises(epitome.ConfigError) as caught:
        epitome.Engine({"budget": {"windwo": 1, "soft": "much"}, "select": {"mode": "best"}})
    assert len(caught.value.problems) == 3


def test_what_left_comes_back() -> None:
    compacted = epitome.compact(work(), budget=6_000, chain=["sliding-window"])
    assert compacted.report.handles
    messages = compacted.retrieve(compacted.report.handles[0])
    assert messages[0]["role"] == "assistant" and all(message in work() for message in messages)
    cut = epitome.compact(work(4), budget=1_200, chain=["tool-results", "message-truncation"])
    assert isinstance(cut.retrieve(cut.report.handles[0]), str)
    assert compacted.retrieve("ffffffff") is None


def test_sessions_are_looked_at() -> None:
    contents = epitome.inspect(work())
    assert contents["format"] == "openai-chat" and contents["calls"] == 30 and contents["rounds"] == 2
    assert contents["tokens"] == sum(contents["tokens_by_role"].values()) == epitome.count_tokens(work())
    assert contents["tokens_by_tool"]["bash"] > 1_000
    assert contents["tokens"] == sum(part["tokens"] for part in contents["parts"])
    assert {"task", "tool-results"} <= {part["part"] for part in contents["parts"]}
    assert [message["protection"] for message in contents["messages"][:2]] == ["system", "original-task"]
    assert len(contents["messages"]) == len(work())
    fullness = epitome.check(work(), window=20_000)
    assert fullness["should_compact"] and fullness["current_tokens"] == contents["tokens"]
    assert not epitome.check(work())["should_compact"]
    found = epitome.search(work(), "which position in the fingerprint", limit=1)
    assert len(found) == 1 and "fingerprint" in found[0]["text"]
    assert epitome.search(work(), "fingerprint", sources="user") == []
    with pytest.raises(epitome.EpitomeError, match="nothing to look for"):
        epitome.search(work())
    with pytest.raises(epitome.EpitomeError, match="`page` takes the number of a page"):
        epitome.search(work(), "x", page=0)


def test_sessions_are_converted() -> None:
    request = epitome.convert(work(2), "anthropic")
    assert request["system"] == "You mend programs." and request["messages"][1]["content"][0]["type"] == "tool_use"
    back = epitome.convert(request, "openai-chat")["messages"]
    assert [message["role"] for message in back] == [message["role"] for message in work(2)]
    assert isinstance(epitome.convert(json.dumps(work(2)), "anthropic"), bytes)
    assert epitome.convert(work(2), "codex").startswith(b"{")
    assert epitome.convert(EXAMPLE, "claude-code") == EXAMPLE.read_bytes()


def test_tokens_are_counted() -> None:
    def check(what: Any, expect: int, **words: Any) -> None:
        assert epitome.count_tokens(what, **words) == expect

    check("", 0)
    check("Hello world", 2)
    check("Hello world", 3, counter="quarters")
    check([{"role": "user", "content": "Hello world"}], 6)
    check([{"role": "user", "content": "Hello world"}], 7, counter="quarters")
    with pytest.raises(epitome.ConfigError, match="o200k_base"):
        epitome.count_tokens("x", counter="nothing")
    with pytest.raises(epitome.ConfigError, match="nothing"):
        epitome.count_tokens(work(1), counter="nothing")


def test_wrong_arguments_are_named() -> None:
    def check(call: Any, error: type[Exception], expect: str) -> None:
        with pytest.raises(error, match=expect):
            call()

    check(lambda: epitome.compact("session.jsonl", budget=0.5), epitome.FormatError, r"Path\('session.jsonl'\)")
    check(lambda: epitome.search(work(), 5), epitome.ConfigError, r"`words\[0\]` takes a text, not 5")  # type: ignore[arg-type]
    check(lambda: epitome.search(work(), "ledger", limit=-1), epitome.ConfigError, "`limit` takes a number of passages")
