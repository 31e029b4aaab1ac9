"""Microsoft Agent Framework's `TokenBudgetComposedStrategy`.

It has no strategies of its own by default. These two, with these numbers, are how programs that use it compose it, without the one
that asks a model: results of tools are collapsed but for the newest group, then a window of the newest twenty groups, and then the
composition's own way to the budget.
"""

import asyncio

from agent_framework import (
    Content,
    Message,
    SlidingWindowStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    apply_compaction,
)

from adapter import ChatMessage, count_text, run


class O200kTokenizer:
    """The framework's protocol of a counter. It gives the text of a message as JSON."""

    def count_tokens(self, text: str) -> int:
        return count_text(text)


def to_framework(messages: list[ChatMessage]) -> list[Message]:
    """Returns the framework's messages, each with its place as its id."""
    converted = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            contents = [Content.from_function_result(message["tool_call_id"], result=message["content"])]
        else:
            contents = [Content.from_text(message["content"])] if message.get("content") else []
            for call in message.get("tool_calls") or []:
                function = call["function"]
                contents.append(Content.from_function_call(call["id"], function["name"], arguments=function["arguments"]))
        converted.append(Message(message["role"], contents, message_id=str(place)))
    return converted


def compact(messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    strategies = [ToolResultCompactionStrategy(keep_last_tool_call_groups=1), SlidingWindowStrategy(keep_last_groups=20)]
    strategy = TokenBudgetComposedStrategy(token_budget=budget, tokenizer=O200kTokenizer(), strategies=strategies)
    kept = asyncio.run(apply_compaction(to_framework(messages), strategy=strategy))
    places = {str(place): message for place, message in enumerate(messages)}
    # What the framework wrote itself, the collapsed results, has an id that none of ours has.
    return [places.get(message.message_id) or {"role": message.role, "content": message.text} for message in kept]


if __name__ == "__main__":
    run(compact)
