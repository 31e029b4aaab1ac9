"""LangChain's `trim_messages`.

`strategy="last"`, `include_system=True` and `start_on="human"` are what its documentation gives for a chat history. Its `end_on` is
left out: a session is cut behind the model's turn, and with `end_on=("human", "tool")` that turn's answer would go. Within a long
task no message of a person may be among those that fit; then nothing is left, and what is left is asked for again from the
model's message on, which keeps calls and results in pairs too.
"""

from functools import partial

from langchain_core.messages import BaseMessage, convert_to_messages, trim_messages

from adapter import ChatMessage, count_message, run


def to_langchain(messages: list[ChatMessage]) -> list[BaseMessage]:
    """Returns LangChain's messages, each with its place as its id."""
    converted = convert_to_messages(messages)
    for place, message in enumerate(converted):
        message.id = str(place)
    return converted


def trim(messages: list[ChatMessage], converted: list[BaseMessage], budget: int) -> list[BaseMessage]:
    """Returns the newest messages within the budget."""

    def count(counted: list[BaseMessage]) -> int:
        return sum(count_message({**messages[int(message.id)], "content": message.text}) for message in counted)

    cut = partial(trim_messages, converted, strategy="last", max_tokens=budget, token_counter=count, include_system=True)
    return cut(start_on="human") or cut(start_on=("human", "ai"))


def compact(messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    return [messages[int(message.id)] for message in trim(messages, to_langchain(messages), budget)]


if __name__ == "__main__":
    run(compact)
