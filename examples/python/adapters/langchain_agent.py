"""An agent of LangChain whose model is sent what fits. The model is scripted: put `init_chat_model("…")` in its place.

python examples/python/adapters/langchain_agent.py
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

import epitome_context as epitome
from epitome_context.adapters.langchain import EpitomeMiddleware

BUDGET = 6_000


class Scripted(BaseChatModel):
    """Calls the tool for every part of the ledger, and then answers. It refuses what is too long, as a provider does."""

    parts: int = 40
    requests: list[int] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **words: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *given: Any, **words: Any) -> ChatResult:
        request = convert_to_openai_messages(messages)
        assert epitome.validate(request, format="openai-chat") == []
        self.requests.append(epitome.count_tokens(request))
        assert self.requests[-1] <= BUDGET
        part = len(self.requests)
        if part > self.parts:
            answer = AIMessage("Entries are counted twice because the fingerprint holds the row's position.")
        else:
            answer = AIMessage("", tool_calls=[{"name": "read", "args": {"part": part}, "id": f"call_{part}"}])
        return ChatResult(generations=[ChatGeneration(message=answer)])


def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


def main() -> None:
    model = Scripted()
    agent = create_agent(
        model,
        [read],
        system_prompt="You mend programs.",
        middleware=[EpitomeMiddleware(budget=BUDGET)],  # the line that is ours
        checkpointer=InMemorySaver(),
    )
    task = HumanMessage("The import of the ledger counts entries twice. Find out why, and keep the database as it is.")
    state = agent.invoke({"messages": [task]}, {"configurable": {"thread_id": "1"}, "recursion_limit": 200})
    print(state["messages"][-1].content)
    kept = epitome.count_tokens(convert_to_openai_messages(state["messages"]))
    print(f"the thread {kept:,} tokens; the largest request {max(model.requests):,} of {BUDGET:,}")


if __name__ == "__main__":
    main()
