"""A provider refuses a request as too long, in words that only the package's own list knows: it is made smaller, and sent again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from work import TASK, read

import epitome_context as epitome
from epitome_context.adapters._host import Fitters, overflow_of

BUDGET = 12_000
VLLM = (
    "Error code: 400 - {'object': 'error', 'message': \"This model's maximum context length is 8192 tokens. However, you requested "
    "0 output tokens and your prompt contains at least 8193 input tokens.\"}"
)
LLAMA_CPP = "the request exceeds the available context size, try increasing it"
WORK: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
for step in range(10):
    call = {"id": f"c{step}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    WORK.append({"role": "assistant", "content": None, "tool_calls": [call]})
    WORK.append({"role": "tool", "tool_call_id": f"c{step}", "content": read(step)})


class Refused(Exception):
    """An error of a client."""

    def __init__(self, text: str = LLAMA_CPP, status_code: int = 400) -> None:
        super().__init__(text)
        self.status_code = status_code


class Once:
    """A provider that refuses the first request. It keeps how much it was sent."""

    def __init__(self, text: str = VLLM) -> None:
        self.sent: list[int] = []
        self._text = text

    def answer(self, messages: Any) -> None:
        self.sent.append(len(str(messages)))
        if len(self.sent) == 1:
            raise Refused(self._text)

    def check(self) -> None:
        first, second = self.sent
        assert second < 0.9 * first


def test_what_an_error_says() -> None:
    def check(error: BaseException | None, expect: Any) -> None:
        assert overflow_of(error) == expect, error

    def caused(error: Exception) -> Exception:
        outer = RuntimeError("the agent stopped")
        outer.__cause__ = error
        return outer

    nothing = {"limit": None, "actual": None}
    check(None, None)
    check(ValueError("no such tool"), None)
    check(Refused(), nothing)
    check(caused(Refused()), nothing)
    check(Refused(VLLM), {"limit": 8192, "actual": None})
    check(Refused(status_code=401), None)
    check(Refused("slow down", status_code=429), None)


def test_all_ways_to_send() -> None:
    fitters = Fitters("openai-chat", budget=BUDGET)

    def of(provider: Once) -> Any:
        def answer(fitted: epitome.Fitted) -> list[str]:
            provider.answer(fitted.messages)
            return ["done"]

        return answer

    async def awaited(provider: Once) -> list[str]:
        async def send(fitted: epitome.Fitted) -> list[str]:
            return list(of(provider)(fitted))

        return await fitters.send_async(send, WORK, key="awaited")

    async def streamed(provider: Once) -> list[str]:
        async def send(fitted: epitome.Fitted) -> Any:
            async def pieces() -> Any:
                for piece in of(provider)(fitted):
                    yield piece

            return pieces()

        return [piece async for piece in await fitters.stream_async(send, WORK, key="streamed")]

    for text in (VLLM, LLAMA_CPP):
        for ask in (
            lambda provider: fitters.send(of(provider), WORK, key="plain"),
            lambda provider: list(fitters.stream(of(provider), WORK, key="stream")),
            lambda provider: asyncio.run(awaited(provider)),
            lambda provider: asyncio.run(streamed(provider)),
        ):
            fitters = Fitters("openai-chat", budget=BUDGET)
            provider = Once(text)
            assert ask(provider) == ["done"]
            provider.check()

    def other(fitted: epitome.Fitted) -> list[str]:
        raise ValueError("no such model")

    with pytest.raises(ValueError, match="no such model"):
        fitters.send(other, WORK)

    def begun(fitted: epitome.Fitted) -> Any:
        yield "the first piece"
        raise Refused

    with pytest.raises(Refused):
        list(fitters.stream(begun, WORK))


def test_pydantic_ai() -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
    from pydantic_ai.models.function import FunctionModel

    from epitome_context.adapters.pydantic_ai import EpitomeCapability

    provider = Once()

    def answer(messages: Any, info: Any) -> ModelResponse:
        provider.answer(messages)
        return ModelResponse([TextPart("done")])

    history: list[Any] = [ModelRequest([UserPromptPart(TASK)])]
    for step in range(10):
        history.append(ModelResponse([ToolCallPart("read", {"part": step}, f"c{step}")]))
        history.append(ModelRequest([ToolReturnPart("read", read(step), f"c{step}")]))
    agent = Agent(FunctionModel(answer), capabilities=[EpitomeCapability(budget=BUDGET)])
    assert agent.run_sync(None, message_history=history).output == "done"
    provider.check()


def test_langchain() -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    from epitome_context.adapters.langchain import EpitomeMiddleware

    class Scripted(BaseChatModel):
        provider: Any = None
        tools: Any = None

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **words: Any) -> Any:
            return self.model_copy(update={"tools": tools})

        def _generate(self, messages: Any, *given: Any, **words: Any) -> Any:
            assert self.tools == hosted
            self.provider.answer([message.content for message in messages])
            return ChatResult(generations=[ChatGeneration(message=AIMessage("done"))])

    hosted = [{"google_search": {}}, {"type": "web_search_20250305", "name": "web_search"}, {"code_execution": {}}]
    for ask in ("invoke", "ainvoke"):
        provider = Once()
        agent = create_agent(Scripted(provider=provider), hosted, middleware=[EpitomeMiddleware(budget=BUDGET)])
        found = getattr(agent, ask)({"messages": WORK})
        found = asyncio.run(found) if ask == "ainvoke" else found
        assert found["messages"][-1].content == "done"
        provider.check()


def test_strands() -> None:
    pytest.importorskip("strands")
    from strands import Agent
    from strands.models import Model

    from epitome_context.adapters.strands import EpitomeConversationManager

    class Scripted(Model):
        provider = Once()

        def update_config(self, **words: Any) -> None:
            raise NotImplementedError

        def get_config(self) -> dict[str, Any]:
            return {}

        def structured_output(self, *given: Any, **words: Any) -> Any:
            raise NotImplementedError

        async def stream(self, messages: Any, *given: Any, **words: Any) -> Any:
            self.provider.answer(messages)
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

    messages: Any = [{"role": "user", "content": [{"text": TASK}]}]
    for step in range(10):
        use = {"toolUseId": f"c{step}", "name": "read", "input": {}}
        result = {"toolUseId": f"c{step}", "status": "success", "content": [{"text": read(step)}]}
        messages.append({"role": "assistant", "content": [{"toolUse": use}]})
        messages.append({"role": "user", "content": [{"toolResult": result}]})
    messages.append({"role": "assistant", "content": [{"text": "And now?"}]})
    model = Scripted()
    agent = Agent(
        model, messages=messages, conversation_manager=EpitomeConversationManager(budget=BUDGET), callback_handler=None
    )
    assert str(agent("Go on.")).strip() == "done"
    model.provider.check()


def test_llama_index() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
    from llama_index.core.llms.custom import CustomLLM

    from epitome_context.adapters.llama_index import wrap_llm

    class Scripted(CustomLLM):
        provider: Any = None

        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(context_window=BUDGET)

        def chat(self, messages: Any, **words: Any) -> Any:
            self.provider.answer(messages)
            return ChatResponse(message=ChatMessage(role="assistant", content="done"))

        def stream_chat(self, messages: Any, **words: Any) -> Any:
            yield self.chat(messages)

        def complete(self, *given: Any, **words: Any) -> Any:
            raise NotImplementedError

        stream_complete = complete

    talk = [ChatMessage(role=("user", "assistant")[turn % 2], content=f"Line {turn}. " * 80) for turn in range(21)]

    async def streamed(llm: Any) -> Any:
        return [answer async for answer in await llm.astream_chat(talk)][-1]

    for ask in (
        lambda llm: llm.chat(talk),
        lambda llm: list(llm.stream_chat(talk))[-1],
        lambda llm: asyncio.run(llm.achat(talk)),
        lambda llm: asyncio.run(streamed(llm)),
    ):
        provider = Once()
        assert ask(wrap_llm(Scripted(provider=provider))).message.content == "done"
        provider.check()


def test_smolagents() -> None:
    pytest.importorskip("smolagents")
    from smolagents.models import ChatMessage, MessageRole, Model

    from epitome_context.adapters.smolagents import FittedModel

    class Scripted(Model):
        def __init__(self) -> None:
            super().__init__()
            self.provider = Once()

        def generate(self, messages: Any, *given: Any, **words: Any) -> ChatMessage:
            self.provider.answer([message.content for message in messages])
            return ChatMessage(MessageRole.ASSISTANT, "done")

        def generate_stream(self, messages: Any, *given: Any, **words: Any) -> Any:
            yield self.generate(messages)

    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    talk = [ChatMessage(roles[turn % 2], [{"type": "text", "text": f"Line {turn}. " * 80}]) for turn in range(21)]
    for ask in (lambda model: model.generate(talk), lambda model: list(model.generate_stream(talk))[0]):
        model = Scripted()
        assert ask(FittedModel(model, budget=BUDGET)).content == "done"
        model.provider.check()


def test_mini_swe_agent() -> None:
    pytest.importorskip("minisweagent")
    from epitome_context.adapters.mini_swe_agent import FittedModel

    class Scripted:
        provider = Once()

        def query(self, messages: Any, **words: Any) -> Any:
            self.provider.answer(messages)
            return "done"

    assert FittedModel(Scripted(), epitome.Fitter(budget=BUDGET)).query(WORK) == "done"
    Scripted.provider.check()
