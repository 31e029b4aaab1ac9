"""What the adapters of messages with parts have in common, on Gemini's contents, whose calls have no ids."""

from __future__ import annotations

from typing import Any

from google.genai import types
from work import TASK, check_sent, read

import epitome_context as epitome
from epitome_context.adapters._google_adk_messages import ContentShape
from epitome_context.adapters._parts import Answers, messages_of, rows_of

SHAPE = ContentShape()


def call(*names: str) -> types.Content:
    return types.Content(role="model", parts=[types.Part.from_function_call(name=name, args={}) for name in names])


def answer(*texts: tuple[str, str]) -> types.Content:
    parts = [types.Part.from_function_response(name=name, response={"result": text}) for name, text in texts]
    return types.Content(role="user", parts=parts)


def check(contents: list[types.Content], expect: list[str]) -> list[types.Content]:
    """What is sent of contents that are larger than the budget; `expect` are the roles of its rendering at the end."""
    rows = rows_of(contents, SHAPE)
    fitted = epitome.Fitter(budget=2_500, format="openai-chat").fit([row.wire for row in rows])
    sent: list[Any] = messages_of(fitted, rows, contents, SHAPE, alternate=True)
    wires = [row.wire for row in rows_of(sent, SHAPE)]
    check_sent(wires, budget=2_500)
    assert [wire["role"] for wire in wires][-len(expect) :] == expect
    assert all(a.role != b.role for a, b in zip(sent, sent[1:], strict=False))
    return sent


def work(steps: int) -> list[types.Content]:
    contents = [types.UserContent(TASK)]
    for step in range(steps):
        contents += [call("read"), answer(("read", read(step)))]
    return contents


def test_a_call_without_an_answer_gets_one() -> None:
    stopped = [
        call("read", "list"),
        types.UserContent("Stop. Go on otherwise."),
        call("read"),
        answer(("read", read(99))),
    ]
    sent = check([*work(10), *stopped], ["assistant", "tool", "tool", "user", "assistant", "tool"])
    answers = [part.function_response for content in sent[-3:] for part in content.parts if part.function_response]
    assert [response.name for response in answers] == ["read", "list", "read"]
    assert "No result was recorded" in answers[0].response["result"] and "part 99, row 0" in answers[2].response["result"]


def test_results_of_one_content_leave_one_by_one() -> None:
    both = [call("read", "list"), answer(("read", read(1) * 8), ("list", "short"))]
    sent = check([types.UserContent(TASK), *both], ["assistant", "tool", "tool"])
    results = [part.function_response.response["result"] for part in sent[-1].parts]
    assert results[1] == "short" and len(results[0]) < len(read(1) * 8)
    assert sent[-2] is both[0], "what stays is the host's own"


def test_results_find_their_calls() -> None:
    answers = Answers()
    old = [answers.id_of_call(1, "read"), answers.id_of_call(1, "read")]
    new = [answers.id_of_call(3, "read"), answers.id_of_call(3, "list")]
    found = [answers.id_of_result(name) for name in ("read", "read", "list", "read", "read")]
    assert found == [new[0], old[0], new[1], old[1], "call-unknown"]
