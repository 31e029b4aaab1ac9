"""smolagents' agents, with scripted models."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from smolagents import CodeAgent, LogLevel, ToolCallingAgent, tool
from smolagents.monitoring import TokenUsage
from smolagents.utils import AgentGenerationError
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)
from work import ANSWER, BUDGET, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters._smolagents_messages import edited, inserted, wires_of
from epitome_context.adapters.smolagents import FittedModel


class Scripted(Model):
    """Reads every part, and answers: in code, or by calls of tools. It keeps what it was sent."""

    def __init__(self, parts: int = 25, ask: dict[int, tuple[str, str]] | None = None) -> None:
        super().__init__(model_id="scripted")
        self.parts = parts
        self.ask = ask or {}
        self.sent: list[list[ChatMessage]] = []

    def generate(self, messages: Any, *given: Any, tools_to_call_from: Any = None, **words: Any) -> ChatMessage:
        self.sent.append(copy.deepcopy(messages))
        turn = len(self.sent)
        end = turn % (self.parts + 1) == 0
        if tools_to_call_from is None:
            code = f"final_answer({ANSWER!r})" if end else f"print(read_part(part={turn}))"
            return ChatMessage(MessageRole.ASSISTANT, f"Thought: part {turn}.\n<code>\n{code}\n</code>")
        name, arguments = ("read_part", {"part": turn})
        if turn in self.ask:
            name, arguments = self.ask[turn][0], {"text": self.ask[turn][1]}
        function = ChatMessageToolCallFunction(arguments={"answer": ANSWER} if end else arguments, name=name)
        if end:
            function.name = "final_answer"
        call = ChatMessageToolCall(function=function, id=f"call_{turn}", type="function")
        return ChatMessage(MessageRole.ASSISTANT, f"Part {turn}, sheet S{turn:04}.", tool_calls=[call])


class Streamed(Scripted):
    def generate_stream(self, messages: Any, *given: Any, **words: Any) -> Any:
        yield ChatMessageStreamDelta(content=self.generate(messages, *given, **words).content)


@tool
def read_part(part: int) -> str:
    """Reads a part of the ledger.

    Args:
        part: The part's number.
    """
    return read(part)


def check_run(model: Scripted, budget: int = BUDGET) -> None:
    """Every request fits and goes on where the last one ended."""
    for messages in model.sent:
        check_sent(wires_of(messages), budget=budget)
    check_kept([wires_of(messages) for messages in model.sent])


def test_an_agent_that_writes_code() -> None:
    for model in (Scripted(), Streamed()):
        fits: list[Any] = []
        # The system prompt of such an agent alone is half of what the other tests have.
        fitted = FittedModel(model, budget=2 * BUDGET, on_fit=fits.append)
        agent = CodeAgent(
            [read_part], fitted, max_steps=100, verbosity_level=LogLevel.OFF, stream_outputs=isinstance(model, Streamed)
        )
        assert agent.run(TASK) == ANSWER and len(model.sent) == 26
        check_run(model, budget=2 * BUDGET)
        assert max(fit.tokens_before for fit in fits) > 4 * BUDGET
        steps = [step for step in agent.memory.steps if hasattr(step, "observations")]
        assert all(read(turn).strip() in steps[turn - 1].observations for turn in range(1, 26)), (
            "the memory has everything"
        )


def test_an_agent_that_calls_tools() -> None:
    model = Scripted(ask={20: ("search_history", "sheet S0003"), 21: ("recall", "00000000")})
    fitted = FittedModel(model, budget=2 * BUDGET, config={"marks": {"handles": True}})
    agent = ToolCallingAgent([read_part, *fitted.tools], fitted, max_steps=100, verbosity_level=LogLevel.OFF)
    assert agent.run(TASK) == ANSWER and len(model.sent) == 26
    check_run(model, budget=2 * BUDGET)
    assert "sheet S0003" in str(model.sent[20][-1].content)
    assert "nothing under the handle '00000000'" in str(model.sent[21][-1].content)


def test_the_budget_is_of_the_providers_tokens() -> None:
    class Reporting(Scripted):
        def generate(self, messages: Any, *given: Any, **words: Any) -> ChatMessage:
            answer = super().generate(messages, *given, **words)
            figures.append(reported(wires_of(messages)))
            answer.token_usage = TokenUsage(figures[-1], 1)
            return answer

    figures: list[int] = []
    fitted = FittedModel(Reporting(), budget=2 * BUDGET)
    ToolCallingAgent([read_part], fitted, max_steps=100, verbosity_level=LogLevel.OFF).run(TASK)
    check_reported(figures, budget=2 * BUDGET)


def test_what_must_stay_is_too_large() -> None:
    agent = CodeAgent([read_part], FittedModel(Scripted(), budget=20), verbosity_level=LogLevel.OFF)
    with pytest.raises(AgentGenerationError, match="what must stay takes") as error:
        agent.run(TASK)
    assert isinstance(error.value.__cause__, epitome.Infeasible)


def test_a_fitted_model_is_the_model_otherwise() -> None:
    model = Scripted()
    fitted = FittedModel(model, budget=BUDGET)
    assert fitted.model_id == "scripted" and fitted.to_dict() == model.to_dict()
    assert not hasattr(fitted, "generate_stream") and hasattr(FittedModel(Streamed(), budget=BUDGET), "generate_stream")
    assert copy.copy(fitted).model_id == "scripted"
    with pytest.raises(epitome.ConfigError, match="give `budget`"):
        FittedModel(model)


def test_calls_that_were_cut_are_sent_at_any_budget() -> None:
    long = "".join(f"rows.append(({row}, {row * 37}))\n" for row in range(400))
    task, called, printed = (
        ChatMessage(MessageRole.USER, TASK),
        ChatMessage(MessageRole.TOOL_CALL, [{"type": "text", "text": f"Calling tools:\n{long}"}]),
        ChatMessage(MessageRole.TOOL_RESPONSE, [{"type": "text", "text": "Observation:\ndone"}]),
    )
    own = [task, called, printed]
    kinds = set()
    for budget in (100, 120, 150, 250, 500, 1_000, 2_000):
        model = Scripted()
        FittedModel(model, budget=budget).generate(own)
        (sent,) = model.sent
        calls = [message for message in sent if message.role == MessageRole.TOOL_CALL]
        check_sent(wires_of(sent), budget=budget)
        for message in calls:
            text = message.content[0]["text"]
            assert "elided" in text and len(text) < len(long)
            kinds.add("whole" if text.startswith("[…") else "cut")
    assert kinds == {"whole", "cut"}


def test_messages_are_edited() -> None:
    def check(own: ChatMessage, wire: dict[str, Any], expect: Any) -> None:
        before = copy.deepcopy(own)
        assert edited(own, wire) == ChatMessage(own.role, expect) and own == before

    image = {"type": "image", "image": b"a picture"}
    call = {"type": "function", "id": "call-0", "function": {"name": "tools", "arguments": '{"calls": "short"}'}}
    short = [{"type": "text", "text": "short"}]
    check(ChatMessage(MessageRole.USER, "long"), {"role": "user", "content": "short"}, short)
    parts = [{"type": "text", "text": "long"}, image]
    own = ChatMessage(MessageRole.USER, parts)
    check(own, {"role": "user", "content": "short"}, short)
    check(own, {"role": "user", "content": [short[0], wires_of([own])[0]["content"][1]]}, [short[0], image])
    elided = copy.deepcopy(call)
    elided["function"]["arguments"] = '{"_elided": "short"}'
    for changed in (call, elided):
        wire = {"role": "assistant", "content": None, "tool_calls": [changed]}
        check(ChatMessage(MessageRole.TOOL_CALL, parts[:1]), wire, short)
    assert inserted({"role": "user", "content": "short"}) == ChatMessage(MessageRole.USER, short)


def test_results_belong_to_the_calls_before_them() -> None:
    roles = [MessageRole.TOOL_CALL, MessageRole.TOOL_RESPONSE, MessageRole.TOOL_RESPONSE, MessageRole.ASSISTANT]
    wires = wires_of([ChatMessage(MessageRole.USER, TASK), *(ChatMessage(role, "text") for role in roles)])
    assert [wire["role"] for wire in wires] == ["user", "assistant", "tool", "user", "assistant"]
    assert epitome.validate(wires, format="openai-chat") == []
