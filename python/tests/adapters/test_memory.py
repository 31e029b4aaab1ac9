"""What the adapters remember of conversations is bounded."""

from __future__ import annotations

from typing import Any

from epitome_context import Fitter
from epitome_context.adapters import _log
from epitome_context.adapters._host import Fitters
from epitome_context.adapters._log import Logs
from epitome_context.adapters._recall import Recall


def test_lists_are_bounded_by_number_and_by_size() -> None:
    def check(text: str, lists: int, expect: int) -> None:
        logs = Logs()
        kept: list[list[Any]] = [[{"role": "user", "content": [{"type": "text", "text": text}]}] for _ in range(lists)]
        for messages in kept:
            logs.of(messages).note(messages, messages)
        newest = logs.of(kept[-1])
        assert newest.all_of(kept[-1]) == kept[-1]
        assert list(logs._by_list) == [id(messages) for messages in kept[-expect:]]

    check("short", _log._LISTS * 3, _log._LISTS)
    check("x" * (_log._CHARACTERS // 4 - 100), 9, 4)
    check("x" * (_log._CHARACTERS * 2), 3, 1)


def test_what_is_remembered_of_a_conversation_is_not_the_conversation() -> None:
    talk = [
        {"role": ("user", "assistant")[turn % 2], "content": f"Line {turn}, sheet S{turn:04}. " * 60}
        for turn in range(41)
    ]
    fitter, recall = Fitter(budget=2_000), Recall()
    fitted = fitter.fit(talk)
    recall.note("ann", fitted)
    assert fitted.messages[-1] not in [value for value in vars(recall._latest["ann"]).values()]
    handle = fitted.removals[0]["handle"]
    del fitted
    assert "sheet S0003" in recall.recall(handle, "ann") and "sheet S0003" in recall.search_history(
        "sheet S0003", "ann"
    )
    assert "nothing under" in recall.recall(handle, "bob")
    recall.forget()
    assert "nothing under" in recall.recall(handle, "ann")


def test_a_model_asks_for_a_compaction() -> None:
    talk = [
        {"role": ("user", "assistant")[turn % 2], "content": f"Line {turn}, sheet S{turn:04}. " * 60}
        for turn in range(41)
    ]
    fits: list[Any] = []
    fitters = Fitters("openai-chat", fits.append, budget=30_000)
    left = fitters.remember()
    assert fitters.fit(talk).unchanged and not left.has_left()
    assert left.compact_context("sheets are read", "sum them up", ["sheet S0003"]).startswith("Noted.")
    made = fitters.fit(talk)
    assert made.asked is not None and made.asked.startswith("Compacted: ") and "Kept whole: #3." in made.asked
    assert made.status == "compacted" and left.has_left()
    assert talk[3] in made.messages
    again = fitters.fit(talk)
    assert (again.status, again.asked, again.messages) == ("replayed", None, made.messages)
    left.compact_context("sheets are read", "sum them up")
    soon = fitters.fit(talk)
    assert soon.asked is not None and soon.asked.startswith("Not yet: ") and soon.messages == made.messages
    left.compact_context("sheets are read", "sum them up", key="another")
    assert fitters.fit(talk).asked is None, "it is of that conversation"
    assert left.compact_context("x", "y", ["text"] * 9) == "`keep` takes 8 at most: name what you need next."
    assert [fitted.status for fitted in fits][:4] == ["unchanged", "compacted", "replayed", "replayed"]
