"""Misspelt words of the adapters are named when they are made."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

# What has to be there for the adapter, and what the adapter takes besides words.
ADAPTERS: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "agent_framework": ("agent_framework", "EpitomeStrategy", ()),
    "crewai": ("crewai", "EpitomeHook", ()),
    "google_adk": ("google.adk", "EpitomePlugin", ()),
    "haystack": ("haystack", "EpitomeCompactor", ()),
    "inspect_ai": ("inspect_ai", "EpitomeCompaction", ()),
    "langchain": ("langchain", "EpitomeMiddleware", ()),
    "llama_index": ("llama_index.core", "EpitomeMemory", ()),
    "mini_swe_agent": ("minisweagent", "EpitomeAgent", (SimpleNamespace(), SimpleNamespace())),
    "openai_agents": ("agents", "EpitomeFilter", ()),
    "openhands": ("openhands.sdk", "EpitomeCondenser", ()),
    "pydantic_ai": ("pydantic_ai", "EpitomeCapability", ()),
    "smolagents": ("smolagents", "FittedModel", (SimpleNamespace(),)),
    "strands": ("strands", "EpitomeConversationManager", ()),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_misspelt_word_is_named(name: str) -> None:
    framework, adapter, given = ADAPTERS[name]
    pytest.importorskip(framework)
    made = getattr(import_module(f"epitome_context.adapters.{name}"), adapter)

    def check(expect: str, **words: Any) -> None:
        with pytest.raises(TypeError, match=expect):
            made(*given, **words)

    if name == "haystack":
        check("unexpected keyword argument 'confg'", confg={})
        return
    if name == "inspect_ai":
        check("unexpected keyword argument 'thresold'", thresold=0.5)
        return
    if name == "openhands":  # its words are the fields of a model
        with pytest.raises(ValueError, match="bugdet\n +Extra inputs are not permitted"):
            made(bugdet=4)
        return
    check("there is no word `bugdet`; did you mean `budget`?", bugdet=4)
    check("there is no word `bugdet`; did you mean `budget`?", budget=4_000, bugdet=4)
    if name != "mini_swe_agent":
        check("there is no word `zzz`; there are `budget`, ", zzz=4)


def test_the_model_of_llama_index_takes_the_same_words() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.llms import MockLLM

    from epitome_context.adapters.llama_index import wrap_llm

    with pytest.raises(TypeError, match="there is no word `widnow`; did you mean `window`"):
        wrap_llm(MockLLM(), widnow=4)  # type: ignore[call-arg]
