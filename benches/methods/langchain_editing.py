"""LangChain's context editing, `ClearToolUsesEdit`, and `trim_messages` where it does not suffice.

The edit clears the results of all calls but the newest three (its default) once the trigger is passed, which is the budget here.
It takes no target: what is over the budget behind it is trimmed as in `langchain_trim.py`.
"""

from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.messages import BaseMessage

from adapter import ChatMessage, count_message, run, with_text
from langchain_trim import to_langchain, trim


def compact(messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    def count(counted: list[BaseMessage]) -> int:
        return sum(count_message({**messages[int(message.id)], "content": message.text}) for message in counted)

    edited = to_langchain(messages)
    ClearToolUsesEdit(trigger=budget).apply(edited, count_tokens=count)
    kept = edited if count(edited) <= budget else trim(messages, edited, budget)
    return [with_text(messages[int(message.id)], message.text) for message in kept]


if __name__ == "__main__":
    run(compact)
