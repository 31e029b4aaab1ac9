"""mini-swe-agent's agent, its local environment, and its own scripted models."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from minisweagent.agents import get_agent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.test_models import (
    DeterministicModel,
    DeterministicResponseAPIToolcallModel,
    DeterministicToolcallModel,
    make_output,
    make_response_api_output,
    make_toolcall_output,
)
from work import BUDGET, TASK, check_kept, check_reported, check_sent, reported

import epitome_context as epitome
from epitome_context.adapters.mini_swe_agent import EpitomeAgent, FittedModel

STEPS = 30
ECHO = "for row in $(seq 60); do echo part {step}, row $row: amount $((row * 37 % 101)); done"
END = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


COMMANDS = [*(ECHO.format(step=step) for step in range(STEPS)), END]


def with_calls() -> DeterministicToolcallModel:
    outputs = []
    for step, command in enumerate(COMMANDS):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        calls = [{"id": f"c{step}", "type": "function", "function": function}]
        outputs.append(make_toolcall_output(f"Part {step}.", calls, [{"command": command, "tool_call_id": f"c{step}"}]))
    return DeterministicToolcallModel(outputs=outputs)


def with_texts() -> DeterministicModel:
    outputs = [make_output(f"Part {step}.", [{"command": command}]) for step, command in enumerate(COMMANDS)]
    return DeterministicModel(outputs=outputs)


def agent_of(model: Any, tmp_path: Path, **words: Any) -> tuple[EpitomeAgent, list[list[dict[str, Any]]]]:
    """The agent as mini-swe-agent makes it from its configuration, and what its model is sent."""
    sent: list[list[dict[str, Any]]] = []
    query = model.query

    def kept(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        sent.append(copy.deepcopy(messages))
        return dict(query(messages, **more))

    model.query = kept
    config = {
        "agent_class": "epitome_context.adapters.mini_swe_agent.EpitomeAgent",
        "system_template": "You mend programs.",
        "instance_template": "{{task}}",
        "cost_limit": 0,
        "output_path": tmp_path / "trajectory.json",
        "budget": BUDGET,
        **words,
    }
    agent = get_agent(model, LocalEnvironment(), config)
    assert isinstance(agent, EpitomeAgent)
    return (agent, sent)


def check(model: Any, tmp_path: Path) -> None:
    agent, sent = agent_of(model, tmp_path)
    assert agent.run(TASK)["exit_status"] == "Submitted"
    assert len(sent) == STEPS + 1
    for messages in sent:
        check_sent([{key: value for key, value in message.items() if key != "extra"} for message in messages])
        own = [message for message in messages if message["role"] == "assistant" and message in agent.messages]
        assert all("extra" in message for message in own)
    check_kept(sent)
    trajectory = json.loads((tmp_path / "trajectory.json").read_text())
    assert (
        sum(f"row 60: amount {60 * 37 % 101}" in str(message["content"]) for message in trajectory["messages"]) == STEPS
    )
    assert trajectory["info"]["config"]["agent"]["budget"] == BUDGET


def test_an_agent_with_calls(tmp_path: Path) -> None:
    check(with_calls(), tmp_path)


def test_an_agent_with_texts(tmp_path: Path) -> None:
    check(with_texts(), tmp_path)


def test_the_budget_is_of_the_providers_tokens(tmp_path: Path) -> None:
    model, figures = with_calls(), []
    query = model.query

    def reporting(messages: list[dict[str, Any]], **words: Any) -> dict[str, Any]:
        plain = [{key: value for key, value in message.items() if key != "extra"} for message in messages]
        figures.append(reported(plain))
        answer = dict(query(messages, **words))
        usage = {"prompt_tokens": figures[-1], "completion_tokens": 1}
        return {**answer, "extra": {**answer["extra"], "response": {"usage": usage}}}

    model.query = reporting
    agent_of(model, tmp_path)[0].run(TASK)
    check_reported(figures)


def test_a_model_of_the_responses_is_refused(tmp_path: Path) -> None:
    model = DeterministicResponseAPIToolcallModel(outputs=[make_response_api_output("Done.", [])])
    agent, sent = agent_of(model, tmp_path)
    with pytest.raises(epitome.FormatError, match="speaks chat completions"):
        agent.run(TASK)
    assert sent == []


def test_what_must_stay_is_too_large(tmp_path: Path) -> None:
    agent, _ = agent_of(with_calls(), tmp_path, budget=70)
    with pytest.raises(epitome.Infeasible, match="what must stay takes"):
        agent.run(TASK)
    assert agent.messages[-1]["extra"]["exit_status"] == "Infeasible", "the trajectory tells"


def test_a_configuration(tmp_path: Path) -> None:
    agent, _ = agent_of(with_calls(), tmp_path, budget=None, epitome={"budget": {"window": 32_000}})
    assert agent.run(TASK)["exit_status"] == "Submitted"
    with pytest.raises(epitome.ConfigError, match="windwo"):
        agent_of(with_calls(), tmp_path, epitome={"budget": {"windwo": 32_000}})


def test_a_fitted_model_is_the_model_otherwise() -> None:
    model, fits = with_texts(), []
    fitted = FittedModel(model, epitome.Fitter(budget=BUDGET), on_fit=fits.append)
    assert fitted.config is model.config and fitted.serialize() == model.serialize()
    assert fitted.query([{"role": "user", "content": TASK}])["content"] == "Part 0."
    assert [fit.status for fit in fits] == ["unchanged"]
    assert copy.deepcopy(fitted).config == model.config
