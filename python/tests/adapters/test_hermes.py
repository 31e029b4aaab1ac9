"""Hermes' contract for context engines."""

from __future__ import annotations

import copy
import json
from typing import Any

from agent.context_engine import ContextEngine
from work import BUDGET, TASK, check_kept, check_reported, check_sent, read, reported

import epitome_context as epitome
from epitome_context.adapters import hermes
from epitome_context.adapters._chat_messages import wires_of
from epitome_context.adapters.hermes import EpitomeEngine


COUNTERS = ("o200k_base", "cl100k_base")


def step(turn: int) -> list[dict[str, Any]]:
    """A call and its result, with what Hermes keeps beside them."""
    function = {"name": "read_part", "arguments": json.dumps({"part": turn})}
    calls = [{"id": f"call_{turn}", "call_id": f"call_{turn}", "type": "function", "function": function}]
    return [
        {
            "role": "assistant",
            "content": f"Part {turn}, sheet S{turn:04}.",
            "tool_calls": calls,
            "finish_reason": "tool_calls",
        },
        {"role": "tool", "tool_call_id": f"call_{turn}", "tool_name": "read_part", "content": read(turn)},
    ]


def work(engine: EpitomeEngine, turns: int = 40) -> list[list[dict[str, Any]]]:
    """What is sent, call by call, by a host that compresses where the engine says so."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    sent = []
    for turn in range(turns):
        messages += step(turn)
        engine.update_from_response({"prompt_tokens": epitome.count_tokens(wires_of(messages)), "completion_tokens": 5})
        if engine.should_compress() or engine.should_compress_preflight(messages):
            before = copy.deepcopy(messages)
            messages = engine.compress(messages, current_tokens=engine.last_prompt_tokens)
            assert before != messages
        sent.append(list(messages))
    return sent


def check(engine: EpitomeEngine) -> None:
    sent = work(engine)
    for messages in sent:
        check_sent(wires_of(messages))
    assert engine.compression_count == check_kept(sent) > 1
    own = [message for message in sent[-1] if message["role"] == "assistant"]
    assert own and all(message["finish_reason"] == "tool_calls" for message in own)


def test_a_session_at_work() -> None:
    fits: list[Any] = []
    check(EpitomeEngine(budget=BUDGET, on_fit=fits.append))
    assert max(fitted.tokens_before for fitted in fits) > 4 * BUDGET, "each decision is made on all that came"


def test_the_budget_is_of_the_providers_tokens() -> None:
    engine = EpitomeEngine(budget=BUDGET)
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    figures = []
    for turn in range(60):
        messages += step(turn)
        if engine.should_compress(reported(wires_of(messages))):
            messages = engine.compress(messages)
        figures.append(reported(wires_of(messages)))
        engine.update_from_response({"prompt_tokens": figures[-1], "completion_tokens": 5})
    check_reported(figures)


def test_a_copy_works_by_itself() -> None:
    shared = EpitomeEngine(budget=BUDGET)
    mine, other = copy.deepcopy(shared), copy.deepcopy(shared)
    check(mine)
    check(other)
    assert shared.compression_count == 0


def test_the_models_window_settles_the_budget() -> None:
    engine = EpitomeEngine()
    assert not engine.should_compress(10**9), "before Hermes tells the model nothing is known"
    engine.update_model("scripted", 16_000)
    assert engine.threshold_tokens == 12_000 and engine.should_compress(12_000) and not engine.should_compress(11_999)
    for messages in work(engine, turns=60):
        check_sent(wires_of(messages), budget=12_000)
    assert engine.compression_count > 1 and engine.get_status()["context_length"] == 16_000
    small = EpitomeEngine(budget=BUDGET)
    small.update_model("scripted", 16_000)
    assert small.threshold_tokens == BUDGET


def test_what_is_small_is_made_smaller_when_asked() -> None:
    engine = EpitomeEngine(budget=50_000)
    messages = [{"role": "user", "content": TASK}, *(message for turn in range(20) for message in step(turn))]
    before = copy.deepcopy(messages)
    smaller = engine.compress(messages, force=True, focus_topic="the ledger", memory_context="")
    check_sent(wires_of(smaller), budget=epitome.count_tokens(wires_of(messages)) - 1)
    assert messages == before, "the host's list stays as it is"


def test_what_must_stay_is_too_large() -> None:
    engine = EpitomeEngine(budget=5)
    messages = [{"role": "user", "content": TASK}]
    assert engine.compress(messages) == messages
    assert engine._last_compress_aborted and "what must stay takes" in str(engine._last_summary_error)
    assert engine.compression_count == 0
    smaller = EpitomeEngine(budget=BUDGET)
    smaller._last_summary_error = "an earlier one"
    work(smaller)
    assert smaller.compression_count > 0 and smaller._last_summary_error is None


def test_the_configured_counter_counts() -> None:
    messages = [{"role": "user", "content": "Straßenbahnhaltestellenverzeichnis. " * 100}]
    by = {name: epitome.Engine(config={"counter": {"name": name}}).count_tokens(messages) for name in COUNTERS}
    assert len(set(by.values())) == len(COUNTERS)
    for name, tokens in by.items():
        for budget, is_due in ((tokens, True), (tokens + 1, False)):
            engine = EpitomeEngine(budget=budget, config={"counter": {"name": name}})
            assert engine.should_compress_preflight(messages) == is_due


def test_what_left_is_brought_back() -> None:
    engine = EpitomeEngine(budget=BUDGET, config={"marks": {"handles": True}})
    sent = work(engine)
    names = [schema["name"] for schema in engine.get_tool_schemas()]
    assert names == ["recall", "search_history"]
    handle = str(sent[-1]).split("· recall ")[1].split("]")[0]
    assert "sheet S0" in json.loads(engine.handle_tool_call("recall", {"handle": handle}, messages=[]))["result"]
    assert "sheet S0003" in json.loads(engine.handle_tool_call("search_history", {"words": "sheet S0003"}))["result"]
    assert "`handle` is a text" in json.loads(engine.handle_tool_call("recall", {}))["error"]
    assert "Unknown" in json.loads(engine.handle_tool_call("another", {}))["error"]
    engine.on_session_reset()
    assert engine.compression_count == 0 and engine.last_prompt_tokens == 0
    assert "nothing under" in json.loads(engine.handle_tool_call("recall", {"handle": handle}))["result"]
    assert (
        "Nothing that left" in json.loads(engine.handle_tool_call("search_history", {"words": "sheet S0003"}))["result"]
    )


def test_hermes_registers_it(monkeypatch: Any, tmp_path: Any) -> None:
    (tmp_path / "config.yaml").write_text("context:\n  engine: epitome\n  epitome:\n    budget: 4000\n")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    from hermes_cli.plugins import PluginContext, PluginManager, PluginManifest

    manager = PluginManager()
    hermes.register(PluginContext(PluginManifest(name="epitome", source="entrypoint"), manager))
    engine = manager._context_engine
    assert isinstance(engine, ContextEngine) and engine.name == "epitome" and engine.threshold_tokens == 4_000
