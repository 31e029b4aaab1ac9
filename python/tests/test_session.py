"""Live sessions: cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import anthropic, call, work

import epitome_context as epitome
from epitome_context import Session


def test_a_session_keeps_itself_within_its_budget() -> None:
    session = Session(window=12_000, reserve_output=1_000)
    done: list[str] = []
    for message in work():
        session.push(message)
        done.append(session.maintain()["done"])
        assert session.tokens <= 11_000
        assert epitome.validate(session.request(), format="openai-chat") == [] or message["role"] == "assistant"
    assert set(done) == {"nothing", "compacted"}
    assert session.messages(full=True) == work()
    assert len(session.messages()) < len(work())
    history = session.history()
    assert history[0]["trigger"] in ("soft", "hard") and history[0]["recall"]
    assert session.retrieve(history[0]["recall"][0])
    assert "fingerprint" in session.search("fingerprint")[0]["text"]
    with pytest.raises(epitome.EpitomeError, match="at least|nothing to look for"):
        session.search()


def test_compactions_are_previewed_edited_made_and_undone() -> None:
    session = Session(work())
    before = session.messages()
    draft = session.preview(target=6_000, chain="incremental-summary")
    assert session.messages() == before and draft.report.status == "compacted"
    summary = draft.summaries[0]
    draft.edit_summary(summary["number"], "What I, a person, wrote.")
    with pytest.raises(epitome.EpitomeError, match="empty"):
        draft.edit_summary(summary["number"], " ")
    report = session.apply(draft)
    assert report.sizes is not None and len(report.sizes) == len(before) == len(report["messages"])
    assert any("What I, a person, wrote." in str(message["content"]) for message in session.messages())
    with pytest.raises(epitome.EpitomeError, match="stale"):
        session.apply(draft)
    session.undo()
    assert session.messages() == before
    with pytest.raises(epitome.EpitomeError, match="no compaction is in force"):
        session.undo()
    assert session.compact(target=6_000).status == "compacted"
    assert session.tokens <= 6_000
    above = session.compact(target=1)
    assert "newest-user" in above["stopped"] and above["target"] == 1 < above["tokens_after"]
    with pytest.raises(epitome.Infeasible):
        Session(work(), window=100, reserve_output=95).compact()
    with pytest.raises(epitome.ConfigError, match="`target` takes a number of tokens"):
        session.compact(target=0)


def test_a_session_survives_its_process(tmp_path: Path) -> None:
    path = tmp_path / "session.epitome"
    session = Session(work(), window=100_000)
    session.keep_in(path)
    session.compact(target=6_000)
    session.push({"role": "assistant", "content": "It is `fingerprint`."})
    session.save()
    kept = session.messages()
    del session
    again = Session.open(path, window=100_000)
    assert again.messages() == kept
    again.undo()
    assert len(again.messages()) == len(work()) + 1
    with pytest.raises(epitome.EpitomeError, match="exist"):
        Session(work(2)).keep_in(path)
    with pytest.raises(FileNotFoundError):
        Session.open(tmp_path / "nothing")


def test_messages_come_back_in_the_session_s_format() -> None:
    session = Session(anthropic())
    assert session.request()["system"] == "You tune databases."
    assert session.messages()[:41] == anthropic()["messages"][:41]
    assert session.messages()[41:] == [
        {"role": "assistant", "content": [{"type": "text", "text": "Found."}]},
        {"role": "user", "content": "Which one is it?"},
    ]
    session.push([{"role": "assistant", "content": [{"type": "text", "text": "The third."}]}])
    assert session.messages()[-1]["role"] == "assistant"
    assert session.messages(format="openai-chat")[0]["role"] == "system"
    assert repr(Session(format="anthropic")) == "<Session anthropic: 0 tokens>"
    with pytest.raises(epitome.FormatError, match="not a provider's format"):
        Session(format="codex")


def test_the_provider_has_the_last_word() -> None:
    session = Session(work())
    told = epitome.context_overflow(400, "prompt is too long: 30000 tokens > 10000 maximum")
    assert told == {"limit": 10_000, "actual": 30_000}
    report = session.overflowed(**told)
    assert report["trigger"] == "overflow" and session.tokens < 10_000
    assert epitome.context_overflow(500, "no") is None


def test_tools_take_a_part_of_the_window() -> None:
    session = Session(window=50_000)
    usable = session.check()["usable_tokens"]
    session.set_tools([{"type": "function", "function": {"name": "bash", "parameters": {}}}])
    assert session.check()["usable_tokens"] < usable
    session.push({"role": "user", "content": "x"})
    assert session.request()["tools"][0]["function"]["name"] == "bash"


def test_a_session_works_for_one_call_at_a_time() -> None:
    problems: list[str] = []

    def summarizer(_: Any) -> str:
        try:
            session.tokens
        except epitome.EpitomeError as error:
            problems.append(str(error))
        return "A short text."

    session = Session(work(), summarizer=summarizer)
    session.compact(target=6_000, chain="incremental-summary")
    assert problems and "at work in another call" in problems[0]


def test_what_happens_is_told_as_it_happens(caplog: pytest.LogCaptureFixture) -> None:
    session = Session(work())
    heard: list[dict[str, Any]] = []

    def broken(event: dict[str, Any]) -> None:
        raise ValueError(f"no interest in {event['event']}")

    session.subscribe(broken)
    session.subscribe(heard.append)
    report = session.compact(target=6_000)
    assert report.status == "compacted"
    names = [event["event"] for event in heard]
    assert names[0] == "compaction_start" and "compaction_step" in names and names.count("compaction_done") == 1
    done = next(event for event in heard if event["event"] == "compaction_done")
    assert done["success"] and done["tokensAfter"] == session.tokens
    session.undo()
    assert heard[-1]["event"] in ("undone", "token_update") and len(heard) > len(names)
    assert "the listener failed; the session goes on without it" in caplog.text
    with pytest.raises(TypeError, match="a function of an event"):
        session.subscribe("listener")  # type: ignore[arg-type]


def test_a_listener_hears_the_session_that_follows() -> None:
    config = {"live": {"require_confirmation": True, "on_refusal": "new-session"}}
    session = Session(work(), window=8_000, reserve_output=500, config=config)
    heard: list[str] = []
    session.subscribe(lambda event: heard.append(event["event"]))
    told = session.maintain()
    assert told["done"] == "new-session"
    heard.clear()
    told["session"].push(work()[:2])
    assert heard


def test_an_interrupt_in_a_listener_reaches_the_caller() -> None:
    session = Session(work())

    def interrupt(event: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    session.subscribe(interrupt)
    with pytest.raises(KeyboardInterrupt):
        session.compact(target=6_000)


def test_what_fills_the_window_is_told() -> None:
    session = Session(work(), window=20_000)
    context = session.context()
    assert context["messages"] == len(work()) and context["next"] and context["removed"]


def test_what_is_pushed_has_to_be_messages() -> None:
    session = Session()
    for wrong in [{"a": 1}, [[1]], "text"]:
        with pytest.raises(epitome.FormatError):
            session.push(wrong)
    with pytest.raises(TypeError, match=r"messages\[0\].content"):
        session.push({"role": "user", "content": {1}})
    assert session.push(call(1, "bash", {}, "done")) == ["m0", "m1"]
    with pytest.raises(TypeError, match="`engine` is there already: window"):
        Session(engine=epitome.Engine(), window=5)


def test_a_message_that_is_none_is_refused() -> None:
    session = Session(work(2))
    length = len(session.messages(full=True))

    def check(message: Any, expect: str) -> None:
        with pytest.raises(epitome.FormatError, match=expect):
            session.push(message)

    check({"role": "x"}, r"messages\[0\]")
    check({"role": "wizard", "content": "spell"}, r"messages\[0\]: `role`")
    check([{"role": "user", "content": "a"}, {"role": "user", "content": 5}], r"messages\[1\]: `content`")
    orphan = {"role": "tool", "tool_call_id": "c9", "content": "Done."}
    no_call = r": the result of a call is here, and no message before it has the call `c9`; push the message with the call"
    check(orphan, r"messages\[0\]" + no_call)
    check([{"role": "user", "content": "a"}, orphan], r"messages\[1\]" + no_call)
    check({"role": "function", "name": "f", "content": "Done."}, r"messages\[0\]: the result of a call")
    assert len(session.messages(full=True)) == length
    with pytest.raises(epitome.ConfigError, match="`epoch` takes a whole number"):
        session.undo(-1)
    with pytest.raises(FileNotFoundError):
        Session.open("/nope.jsonl")


def test_a_result_finds_its_call_among_all_that_was_said() -> None:
    def check(format: str, *messages: Any) -> None:
        session = Session(format=format)
        for message in messages:
            session.push(message)
        assert "No result" not in str(session.messages())
        assert epitome.validate(session.messages(), format=format) == []

    user = {"role": "user", "content": "Go."}
    check("openai-chat", user, *call(1, "bash", {}, "done"))
    check("openai-chat", user, call(1, "bash", {}, "done"))
    made = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    check("openai-chat", user, made, {"role": "function", "name": "f", "content": "1"}, made,
          {"role": "function", "name": "f", "content": "2"})  # fmt: skip
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "1"}
    check("anthropic", user, {"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]})
    item = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    check("openai-responses", user, item, {"type": "function_call_output", "call_id": "c1", "output": "1"})
    asked = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    told = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"is": 1}}}]}
    check("gemini", {"role": "user", "parts": [{"text": "Go."}]}, asked, told, asked, told)
    # A call of the provider's own tool stays as it came until its output is there.
    session = Session(format="openai-responses")
    shell = {"type": "local_shell_call", "call_id": "s1", "status": "completed", "action": {"type": "exec", "command": ["ls"]}}
    session.push([user, shell])
    assert session.push({"type": "local_shell_call_output", "call_id": "s1", "output": "a.txt"}) == ["m2"]
    # A call that a compaction took out of the context was made all the same.
    session = Session(work(), window=200_000)
    session.push(call(900, "bash", {}, "done")[0])
    session.compact(target=8_000)
    assert session.push(call(900, "bash", {}, "done")[1])
