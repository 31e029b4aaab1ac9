"""CrewAI's crews, with a scripted model."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks import (
    HookAborted,
    LLMCallHookContext,
    register_before_llm_call_hook,
    unregister_before_llm_call_hook,
)
from crewai.tools import tool
from work import ANSWER, BUDGET, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters._chat_messages import messages_of, wires_of
from epitome_context.adapters.crewai import EpitomeHook


class Scripted(BaseLLM):
    """Reads every part, and answers. It keeps what it was sent."""

    parts: int = 25
    sent: list[Any] = []
    ask: dict[int, tuple[str, dict[str, Any]]] = {}
    figures: list[int] | None = None

    def supports_function_calling(self) -> bool:
        return True

    def get_context_window_size(self) -> int:
        return 100_000

    def get_input_tokens_count(self, messages: Any, *given: Any, **words: Any) -> int:
        return 1

    def call(self, messages: Any, *given: Any, **words: Any) -> Any:
        self.sent.append(copy.deepcopy(messages))
        if self.figures is not None:
            self.figures.append(reported(wires_of(messages)))
            self._track_token_usage_internal({"prompt_tokens": self.figures[-1], "completion_tokens": 1})
        turn = len(self.sent)
        if turn % (self.parts + 1) == 0:
            return ANSWER
        name, arguments = self.ask.get(turn, ("read_part", {"part": turn}))
        function = {"name": name, "arguments": json.dumps(arguments)}
        return [{"id": f"call_{turn}", "type": "function", "function": function}]

    async def acall(self, messages: Any, *given: Any, **words: Any) -> Any:
        return self.call(messages)


@tool("read_part")
def read_part(part: int) -> str:
    """Reads a part of the ledger."""
    return read(part)


def run(llm: Scripted, hook: EpitomeHook, *tools: Any) -> Any:
    agent = Agent(
        role="mender",
        goal="Mend programs.",
        backstory="You mend programs.",
        llm=llm,
        tools=[read_part, *tools],
        max_iter=100,
        cache=False,
    )
    task = Task(description=TASK, expected_output="The reason.", agent=agent)
    register_before_llm_call_hook(hook)
    try:
        return Crew(agents=[agent], tasks=[task]).kickoff()
    finally:
        unregister_before_llm_call_hook(hook)


def check_run(llm: Scripted) -> int:
    """Every request fits and goes on where the last one ended."""
    for messages in llm.sent:
        check_sent(wires_of(messages))
    return check_kept(llm.sent)


def test_a_crew_at_work() -> None:
    llm, fits = Scripted(model="scripted"), []
    assert str(run(llm, EpitomeHook(budget=BUDGET, on_fit=fits.append))) == ANSWER
    assert len(llm.sent) == 26
    assert check_run(llm) == sum(fitted.status == "compacted" for fitted in fits)
    assert max(fitted.tokens_before for fitted in fits) > 4 * BUDGET, "each decision is made on all that came"


def test_the_budget_is_of_the_providers_tokens() -> None:
    llm = Scripted(model="scripted", figures=[])
    run(llm, EpitomeHook(budget=BUDGET))
    check_reported(llm.figures or [])


def test_what_left_is_brought_back() -> None:
    ask = {20: ("search_history", {"words": "part 3, row 7"}), 21: ("recall", {"handle": "00000000"})}
    llm, hook = Scripted(model="scripted", ask=ask), EpitomeHook(budget=BUDGET, config={"marks": {"handles": True}})
    run(llm, hook, *hook.tools)
    check_run(llm)
    printed = {
        message["tool_call_id"]: message["content"]
        for sent in llm.sent
        for message in sent
        if message["role"] == "tool"
    }
    assert "amount" in printed["call_20"]
    assert "nothing under the handle '00000000'" in printed["call_21"]


def test_what_must_stay_is_too_large() -> None:
    llm = Scripted(model="scripted")
    with pytest.raises(Exception, match="what must stay takes") as error:
        run(llm, EpitomeHook(budget=20))
    assert llm.sent == [] and isinstance(error.value, HookAborted)
    assert isinstance(error.value.__cause__, epitome.Infeasible)


def test_a_list_is_fitted_in_place() -> None:
    hook, llm = EpitomeHook(), Scripted(model="scripted")
    messages: list[Any] = [{"role": "user", "content": TASK}]
    kept: list[Any] = []
    for turn in range(150):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "read_part", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call], "raw_tool_call_parts": [object()]})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": read(turn), "name": "read_part"})
        hook(LLMCallHookContext(messages=messages, llm=llm))
        kept.append(wires_of(messages))
        check_sent(kept[-1], budget=100_000)
    assert 1 <= check_kept(kept) and len(messages) < 301
    assert all("raw_tool_call_parts" in message for message in messages[2:] if message["role"] == "assistant")


def test_messages_are_edited() -> None:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "write", "arguments": json.dumps({"text": "long " * 3_000})},
    }
    own = [
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": None, "tool_calls": [call], "raw_tool_call_parts": [object()], "mark": 1},
        {"role": "tool", "tool_call_id": "c", "content": "long " * 3_000, "mark": 2},
    ]
    before = copy.copy(own)
    fitted = epitome.fit(wires_of(own), budget=1_000, format="openai-chat")
    sent = messages_of(fitted, own, copies_of_calls=("raw_tool_call_parts",))
    check_sent(wires_of(sent), budget=1_000)
    assert own == before and [message.get("mark") for message in sent] == [None, 1, 2]
    assert "raw_tool_call_parts" not in sent[1], "it would say the long text again"
