"""What providers report for requests is read in their words, and handed on with the list that follows."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

from epitome_context.adapters import _usage
from epitome_context.adapters._host import Fitters
from epitome_context.adapters._usage import Usages, input_tokens, newest_reported

CACHED = {"cache_creation_input_tokens": 30, "cache_read_input_tokens": 200}


def talk(turns: int, name: str = "ann") -> list[dict[str, Any]]:
    return [
        {"role": ("user", "assistant")[turn % 2], "content": f"Line {turn} of {name}. " * 40} for turn in range(turns)
    ]


def test_input_tokens_in_the_words_of_each() -> None:
    def check(usage: Any, expect: int | None) -> None:
        assert input_tokens(usage) == expect, usage
        if usage is not None:
            assert input_tokens(SimpleNamespace(**usage)) == expect, usage

    check({"prompt_tokens": 234, "completion_tokens": 9, "total_tokens": 243, **CACHED}, 234)  # LiteLLM
    check({"prompt_token_count": 70, "cached_content_token_count": 60, "cache_creation_input_tokens": 9}, 70)  # ADK
    check({"input_tokens": 4, "output_tokens": 1, **CACHED}, 234)  # Anthropic
    check({"input_tokens": 234, "output_tokens": 1, "total_tokens": 235, **CACHED}, 234)
    bedrock = {"inputTokens": 4, "outputTokens": 1, "cacheReadInputTokens": 200, "cacheWriteInputTokens": 30}
    check({**bedrock, "totalTokens": 235}, 234)
    check({**bedrock, "totalTokens": 5}, 4)
    check({"prompt_tokens": 0, "input_tokens": 0}, None)
    check({"prompt_tokens": True, "input_tokens": "9"}, None)
    check({}, None)
    check(None, None)


def test_the_newest_answer_counts() -> None:
    def usage_of(message: dict[str, Any]) -> Any:
        return message.get("usage") or {} if message["role"] == "assistant" else None

    answers = [{"role": "assistant", "usage": {"prompt_tokens": tokens}} for tokens in (10, 20)]
    assert newest_reported([{"role": "user"}, *answers, {"role": "tool"}], usage_of) == 20
    assert newest_reported([*answers, {"role": "assistant"}], usage_of) is None, "it is of an earlier request"
    assert newest_reported([{"role": "user"}], usage_of) is None


def test_a_figure_is_of_its_own_conversation() -> None:
    usages, ann, bob = Usages(), talk(3), talk(3, "bob")
    usages.note("", ann, 100)
    usages.note("", bob, 200)
    assert usages.take("other", talk(5)) is None
    assert usages.take("", talk(5)[:2]) is None, "it went back behind what was reported"
    both = copy.deepcopy(usages)
    assert (usages.take("", talk(5)), usages.take("", talk(5, "bob"))) == (100, 200)
    assert usages.take("", talk(5)) is None, "a figure is handed on once"
    assert both.take("", talk(5)) == 100


def test_a_figure_in_the_conversation_is_handed_on_once() -> None:
    usages = Usages()
    assert [usages.once("", talk(3), tokens) for tokens in (10, 10, 20, 20)] == [10, None, 20, None]
    assert usages.once("", talk(3, "bob"), 20) == 20 and usages.once("key", talk(3), 20) == 20


def test_a_meter_tells_of_single_requests() -> None:
    usages, figures = Usages(), ((0, 0), (1, 100), (1, 100), (2, 250), (4, 700), (5, 900))
    assert [usages.metered("a", *figure) for figure in figures] == [None, 100, None, 150, None, 200]
    assert usages.metered("b", 6, 1_000) is None


def test_what_is_remembered_is_bounded() -> None:
    usages = Usages()
    for number in range(3 * _usage._CONVERSATIONS):
        usages.note(f"{number}", talk(1), 1)
        usages.once(f"{number}", talk(1), 1)
    assert len(usages._by_list) == len(usages._by_key) == _usage._CONVERSATIONS


def test_answers_that_come_in_pieces() -> None:
    fitters = Fitters("openai-chat", budget=10_000, usage_of=lambda piece: piece)
    pieces = [None, {"prompt_tokens": 150}, None]
    assert list(fitters.stream(lambda fitted: iter(pieces), talk(1))) == pieces
    assert fitters.usages.take("", talk(3)) == 150
