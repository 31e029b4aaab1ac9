"""LlamaIndex's `Memory`, which its documentation names in the place of `ChatMemoryBuffer`.

`token_limit` is the budget. There are no memory blocks (those that extract facts ask a model), so the history gets the whole limit
(`chat_history_token_ratio=1`); all else is the default.
"""

from llama_index.core.llms import ChatMessage as LlamaMessage
from llama_index.core.memory import Memory

from adapter import ENCODING, ChatMessage, run


def to_llama(place: int, message: ChatMessage) -> LlamaMessage:
    """Returns LlamaIndex's form of a message, calls and ids where its OpenAI client has them, and its place."""
    extra = {key: message[key] for key in ("tool_calls", "tool_call_id") if message.get(key)}
    return LlamaMessage(role=message["role"], content=message.get("content") or "", additional_kwargs={**extra, "place": place})


def encode(text: str) -> list[int]:
    return ENCODING.encode(text, disallowed_special=())


def compact(messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    memory = Memory.from_defaults(token_limit=budget, chat_history_token_ratio=1.0, tokenizer_fn=encode)
    memory.put_messages([to_llama(place, message) for place, message in enumerate(messages)])
    return [messages[message.additional_kwargs["place"]] for message in memory.get()]


if __name__ == "__main__":
    run(compact)
