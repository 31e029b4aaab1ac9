"""Haystack's `SlidingWindowCompactor`, which its documentation names first, with its defaults.

`CompactionHook` calls it with the target and a counter; so does this. Its own `TiktokenCounter` counts by `o200k_base` too, but
no ids of calls.
"""

import json

from haystack.dataclasses import ChatMessage as HaystackMessage
from haystack.dataclasses import ToolCall
from haystack.hooks.compaction import SlidingWindowCompactor
from haystack.tools import ToolsType

from adapter import ChatMessage, count_message, name_results, run


def to_haystack(messages: list[ChatMessage]) -> list[HaystackMessage]:
    """Returns Haystack's messages, each with its place in its `meta`."""
    names = name_results(messages)
    converted = []
    for place, message in enumerate(messages):
        meta, text = {"place": place}, message.get("content")
        match message["role"]:
            case "system":
                converted.append(HaystackMessage.from_system(text, meta=meta))
            case "user":
                converted.append(HaystackMessage.from_user(text, meta=meta))
            case "assistant":
                calls = [to_call(call) for call in message.get("tool_calls") or []]
                converted.append(HaystackMessage.from_assistant(text, tool_calls=calls, meta=meta))
            case "tool":
                origin = ToolCall(names[message["tool_call_id"]], {}, id=message["tool_call_id"])
                converted.append(HaystackMessage.from_tool(text, origin=origin, meta=meta))
    return converted


def to_call(call: dict) -> ToolCall:
    """Returns Haystack's form of a call."""
    return ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]), id=call["id"])


class BenchCounter:
    """Haystack's protocol of a counter."""

    def __init__(self, messages: list[ChatMessage]) -> None:
        self.messages = messages

    def count(self, messages: list[HaystackMessage], tools: ToolsType | None = None) -> int:
        return sum(count_message(self.restored(message)) for message in messages)

    def restored(self, message: HaystackMessage) -> ChatMessage:
        """Returns the message that came in; one without a place is the compactor's note on what was removed."""
        place = message.meta.get("place")
        return {"role": "user", "content": message.text} if place is None else self.messages[place]


def compact(messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    converted, counter = to_haystack(messages), BenchCounter(messages)
    kept = SlidingWindowCompactor().compact(converted, target_tokens=budget, token_counter=counter)
    # None: there is nothing that it may remove.
    return [counter.restored(message) for message in kept or converted]


if __name__ == "__main__":
    run(compact)
