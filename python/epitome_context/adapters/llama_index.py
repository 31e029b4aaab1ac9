"""LlamaIndex: a memory whose messages fit, and a model that is sent what fits.

from epitome_context.adapters.llama_index import EpitomeMemory, wrap_llm

agent = FunctionAgent(tools=tools, llm=wrap_llm(llm, budget=60_000))
await agent.run(task, memory=EpitomeMemory())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import LLM
from llama_index.core.memory.types import BaseChatStoreMemory

from ._host import Fitters
from ._llama_index_messages import LlamaIndexShape
from ._parts import messages_of, rows_of
from ._recall import functions
from ._usage import usage_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Unpack

    from .._fitted import Fitted
    from ._host import BesideKeywords, FitterKeywords
    from ._parts import Row

_SHAPE = LlamaIndexShape()
Model = TypeVar("Model", bound=LLM)


class EpitomeMemory(BaseChatStoreMemory):
    """A memory that keeps every message in its chat store (`chat_store`, `chat_store_key`). With a budget, what it gives an
    agent or a chat engine fits (`get`, `aget`); without one it gives all, for a model that fits (`wrap_llm`).

    `budget` is for the messages; it and the other words are those of `Fitter`, or `fitter` is one. `on_fit` is called with
    what became of the messages (`Fitted`). `get` raises `Infeasible` where what must stay is larger than the budget.
    """

    _fitters: Fitters | None = PrivateAttr(default=None)

    def __init__(
        self,
        *,
        chat_store: Any = None,
        chat_store_key: str | None = None,
        on_fit: Callable[[Fitted], object] | None = None,
        **words: Unpack[FitterKeywords],
    ) -> None:
        given = {"chat_store": chat_store, "chat_store_key": chat_store_key}
        super().__init__(**{key: value for key, value in given.items() if value is not None})
        if words:
            self._fitters = Fitters("openai-chat", on_fit, **words)
            self._fitters.of(lambda: None)  # so that a budget that is missing is told here
        elif on_fit is not None:
            raise TypeError("`on_fit` hears nothing of a memory that does not fit: give `budget`, or leave it away")

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex serializes it."""
        return "EpitomeMemory"

    @classmethod
    def from_defaults(
        cls, chat_history: list[ChatMessage] | None = None, llm: Any = None, **words: Any
    ) -> EpitomeMemory:
        """A memory that begins with these messages; `llm` is not needed."""
        memory = cls(**words)
        if chat_history is not None:
            memory.set(chat_history)
        return memory

    def get(self, input: str | None = None, **words: Any) -> list[ChatMessage]:
        """What fits of the messages."""
        messages = super().get(input=input, **words)
        if self._fitters is None:
            return messages
        rows = rows_of(messages, _SHAPE)
        fitted = self._fitters.fit([row.wire for row in rows], key=self.chat_store_key)
        return messages_of(fitted, rows, messages, _SHAPE)

    async def aget(self, input: str | None = None, **words: Any) -> list[ChatMessage]:
        """The same, awaited: the core works in a thread."""
        messages = await super().aget(input=input, **words)
        if self._fitters is None:
            return messages
        rows = rows_of(messages, _SHAPE)
        fitted = await self._fitters.fit_async([row.wire for row in rows], key=self.chat_store_key)
        return messages_of(fitted, rows, messages, _SHAPE)


def wrap_llm(llm: Model, *, on_fit: Callable[[Fitted], object] | None = None, **words: Unpack[FitterKeywords]) -> Model:
    """A copy of a model that is sent what fits, whoever calls it: its class is derived from that of `llm`, and it is the model
    in all else. Give it a memory without a limit, such as `EpitomeMemory()`, so that nothing is lost before.

    `budget` is for messages, system prompt and tools together; it and the other words are those of `Fitter`, or `fitter` is
    one. Without any of them, the model tells its window (`metadata.context_window`). `on_fit` is called with what became of
    the messages (`Fitted`), before each call. Conversations are told apart by their beginnings. Where a provider refuses messages as
    too long, they are made smaller and sent once more. Calls raise `Infeasible` where what must stay is larger than the budget.
    """
    kind = type(llm)
    fitted_kind = type(kind.__name__, (_ChatThatFits, kind), {"__module__": kind.__module__})
    wrapped = llm.model_copy()
    wrapped.__class__ = fitted_kind
    wrapped.__dict__["_epitome_fitters"] = Fitters("openai-chat", on_fit, usage_of=_usage_of, **words)
    return wrapped


def _usage_of(answer: Any) -> Any:
    """What the provider reported: in its own answer, or where its integration puts the figures."""
    found = usage_in((answer.raw, answer.additional_kwargs), "usage", "usage_metadata")
    return answer.additional_kwargs if found is None else found


def recall_tools(llm: LLM) -> list[Callable[..., str]]:
    """`recall`, `search_history` and `compact_context` for the agents of a model that `wrap_llm` gave. They are about the
    conversation that was fitted last: give each session that is to have them a wrapped model of its own.
    `config={"marks": {"handles": True}}` lets the conversation name the handles."""
    fitters: Fitters = llm.__dict__["_epitome_fitters"]
    return functions(fitters.remember())


class _FittedMessages(list[ChatMessage]):
    """The messages that fit a model. A context variable would not tell as much: a stream begins when it is read, and by then
    the call that fitted its messages has ended."""

    def __init__(self, messages: list[ChatMessage], model: object) -> None:
        super().__init__(messages)
        self.model = model

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Copies are plain lists: the model is not to be copied with them."""
        return (list, (list(self),))


class _ChatThatFits:
    """The calls of a model that take messages. LlamaIndex's other calls with messages come down to these, and some models'
    awaited calls to the ones that are not: what was fitted for this model is then sent as it is."""

    def chat(self, messages: Sequence[ChatMessage], **words: Any) -> Any:
        """The model's answer to what fits."""
        chat = super().chat  # type: ignore[misc]
        if self._has_fitted(messages):
            return chat(messages, **words)
        rows, wires = _rows_and_wires(messages)
        sent = self._sent(rows, messages)
        return self._fitters().send(lambda fitted: chat(sent(fitted), **words), wires, **self._beside(words))

    def stream_chat(self, messages: Sequence[ChatMessage], **words: Any) -> Any:
        """The same, as it comes."""
        stream = super().stream_chat  # type: ignore[misc]
        if self._has_fitted(messages):
            return stream(messages, **words)
        rows, wires = _rows_and_wires(messages)
        sent = self._sent(rows, messages)
        return self._fitters().stream(lambda fitted: stream(sent(fitted), **words), wires, **self._beside(words))

    async def achat(self, messages: Sequence[ChatMessage], **words: Any) -> Any:
        """The same, awaited."""
        chat = super().achat  # type: ignore[misc]
        if self._has_fitted(messages):
            return await chat(messages, **words)
        rows, wires = _rows_and_wires(messages)
        sent = self._sent(rows, messages)
        beside = self._beside(words)
        return await self._fitters().send_async(lambda fitted: chat(sent(fitted), **words), wires, **beside)

    async def astream_chat(self, messages: Sequence[ChatMessage], **words: Any) -> Any:
        """The same, awaited, as it comes."""
        stream = super().astream_chat  # type: ignore[misc]
        if self._has_fitted(messages):
            return await stream(messages, **words)
        rows, wires = _rows_and_wires(messages)
        sent = self._sent(rows, messages)
        beside = self._beside(words)
        return await self._fitters().stream_async(lambda fitted: stream(sent(fitted), **words), wires, **beside)

    def _sent(self, rows: list[Row], messages: Sequence[ChatMessage]) -> Callable[[Fitted], _FittedMessages]:
        return lambda fitted: _FittedMessages(messages_of(fitted, rows, messages, _SHAPE), self)

    def _has_fitted(self, messages: Sequence[ChatMessage]) -> bool:
        """Whether these messages are what one call of this model hands to another."""
        return isinstance(messages, _FittedMessages) and messages.model is self

    def _fitters(self) -> Fitters:
        fitters: Fitters = self.__dict__["_epitome_fitters"]
        return fitters

    def _beside(self, words: dict[str, Any]) -> BesideKeywords:
        """The tools, where the model's integration gives them as its provider has them; and the model's window."""
        tools = words.get("tools")
        is_definitions = isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools)
        return {
            "tools": tools if tools and is_definitions else None,
            "window": lambda: self.metadata.context_window,  # type: ignore[attr-defined]
        }


def _rows_and_wires(messages: Sequence[ChatMessage]) -> tuple[list[Row], list[dict[str, Any]]]:
    rows = rows_of(messages, _SHAPE)
    return (rows, [row.wire for row in rows])
