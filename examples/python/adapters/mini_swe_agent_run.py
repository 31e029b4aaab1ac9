"""mini-swe-agent with a model that is sent what fits. The model is mini-swe-agent's own scripted one, which runs real commands:
put `get_model("…")` in its place.

    python examples/python/adapters/mini_swe_agent_run.py
"""

from __future__ import annotations

import json
import os
from typing import Any

os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")

from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.test_models import DeterministicToolcallModel, make_toolcall_output

import epitome_context as epitome
from epitome_context.adapters.mini_swe_agent import EpitomeAgent

BUDGET = 6_000


class Scripted(DeterministicToolcallModel):
    """Runs a command for every part of the ledger, and then submits. It refuses what is too long, as a provider does."""

    def __init__(self, parts: int = 30) -> None:
        commands = [f"for row in $(seq 60); do echo part {part}, row $row; done" for part in range(parts)]
        outputs = []
        for step, command in enumerate([*commands, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"]):
            function = {"name": "bash", "arguments": json.dumps({"command": command})}
            calls = [{"id": f"c{step}", "type": "function", "function": function}]
            actions = [{"command": command, "tool_call_id": f"c{step}"}]
            outputs.append(make_toolcall_output(f"Part {step}.", calls, actions))
        super().__init__(outputs=outputs)
        self.requests: list[int] = []

    def query(self, messages: list[dict[str, Any]], **words: Any) -> Any:
        request = [{key: value for key, value in message.items() if key != "extra"} for message in messages]
        assert epitome.validate(request, format="openai-chat") == []
        self.requests.append(epitome.count_tokens(request))
        assert self.requests[-1] <= BUDGET
        return super().query(messages, **words)


def main() -> None:
    model = Scripted()
    agent = EpitomeAgent(
        model,
        LocalEnvironment(),
        system_template="You mend programs.",
        instance_template="{{task}}",
        cost_limit=0,
        budget=BUDGET,  # the word that is ours
    )
    task = "The import of the ledger counts entries twice. Find out why, and keep the database as it is."
    print(agent.run(task)["exit_status"])
    print(
        f"{len(agent.messages)} messages in the trajectory; the largest request {max(model.requests):,} of {BUDGET:,} tokens"
    )


if __name__ == "__main__":
    main()
