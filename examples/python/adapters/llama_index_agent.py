"""An agent of LlamaIndex whose model is sent what fits. The model is scripted: put a real one in its place.

python examples/python/adapters/llama_index_agent.py
"""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, ToolCallBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection

from epitome_context.adapters.llama_index import EpitomeMemory, wrap_llm

BUDGET = 6_000


class Scripted(FunctionCallingLLM):
    """Calls the tool for every part of the ledger, and then answers."""

    parts: int = 40
    requests: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True)

    def chat(self, messages: Any, **words: Any) -> ChatResponse:
        self.requests += 1
        part = self.requests
        if part > self.parts:
            answer = "Entries are counted twice because the fingerprint holds the row's position."
            return ChatResponse(message=ChatMessage(role="assistant", content=answer))
        call = ToolCallBlock(tool_call_id=f"call_{part}", tool_name="read", tool_kwargs={"part": part})
        return ChatResponse(message=ChatMessage(role="assistant", blocks=[call]))

    async def achat(self, messages: Any, **words: Any) -> ChatResponse:
        return Scripted.chat(self, messages, **words)

    def get_tool_calls_from_response(self, response: ChatResponse, *given: Any, **words: Any) -> list[ToolSelection]:
        calls = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        return [
            ToolSelection(tool_id=call.tool_call_id, tool_name=call.tool_name, tool_kwargs=call.tool_kwargs)
            for call in calls
        ]

    def _prepare_chat_with_tools(self, tools: Any, chat_history: Any = None, **words: Any) -> dict[str, Any]:
        return {"messages": chat_history, "tools": [tool.metadata.to_openai_tool() for tool in tools]}

    def _no(self, *given: Any, **words: Any) -> Any:
        raise NotImplementedError("this model only chats")

    complete = acomplete = stream_complete = astream_complete = stream_chat = astream_chat = _no


def read(part: int) -> str:
    """Reads a part of the ledger."""
    return "".join(f"part {part}, row {row}: amount {row * 37 % 101}\n" for row in range(60))


async def main() -> None:
    fits: list[Any] = []
    agent = FunctionAgent(
        tools=[read],
        llm=wrap_llm(Scripted(), budget=BUDGET, on_fit=fits.append),  # the line that is ours
        system_prompt="You mend programs.",
        streaming=False,
    )
    task = "The import of the ledger counts entries twice. Find out why, and keep the database as it is."
    print(await agent.run(task, memory=EpitomeMemory(), max_iterations=100))
    came, largest = fits[-1].tokens_before, max(fitted.tokens_after for fitted in fits)
    print(f"the conversation {came:,} tokens; the largest request {largest:,} of {BUDGET:,}")


if __name__ == "__main__":
    asyncio.run(main())
