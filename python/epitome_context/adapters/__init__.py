"""Parts for frameworks: one module for each, which imports its framework; this package imports none of them.

| framework | module | part |
|---|---|---|
| LangChain, LangGraph, deepagents | `epitome_context.adapters.langchain` | `EpitomeMiddleware` |
| OpenAI Agents SDK | `epitome_context.adapters.openai_agents` | `EpitomeFilter` |
| Pydantic AI | `epitome_context.adapters.pydantic_ai` | `EpitomeCapability` |
| Haystack | `epitome_context.adapters.haystack` | `EpitomeCompactor` |
| Google ADK | `epitome_context.adapters.google_adk` | `EpitomePlugin` |
| Microsoft Agent Framework | `epitome_context.adapters.agent_framework` | `EpitomeStrategy` |
| LlamaIndex | `epitome_context.adapters.llama_index` | `wrap_llm`, `EpitomeMemory` |
| Strands | `epitome_context.adapters.strands` | `EpitomeConversationManager` |
| CrewAI | `epitome_context.adapters.crewai` | `EpitomeHook` |
| smolagents | `epitome_context.adapters.smolagents` | `FittedModel` |
| Hermes | `epitome_context.adapters.hermes` | `EpitomeEngine` |
| Inspect AI | `epitome_context.adapters.inspect_ai` | `EpitomeCompaction` |
| OpenHands | `epitome_context.adapters.openhands` | `EpitomeCondenser` |
| mini-swe-agent | `epitome_context.adapters.mini_swe_agent` | `EpitomeAgent`, `FittedModel` |
"""
