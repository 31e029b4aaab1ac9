"""A run of the OpenAI Agents SDK whose session has its provider compact it.

    session.py BASE PROMPT

The agent has one tool, a shell. Its session is the SDK's own `OpenAIResponsesCompactionSession`, which calls the route
for compactions behind each turn that has grown too long. A turn ends with three calls: the prompt goes on with the next,
until the model calls nothing more.
"""

import asyncio
import subprocess
import sys

import agents
from agents import Agent, ModelSettings, OpenAIResponsesModel, Runner, SQLiteSession, function_tool
from agents.exceptions import MaxTurnsExceeded
from agents.memory import OpenAIResponsesCompactionSession
from openai import AsyncOpenAI

#: calls of one run
CALLS = 3


@function_tool
def bash(command: str) -> str:
    """Runs a command."""
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False).stdout


async def main(base, prompt):
    agents.set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{base}/v1", api_key="made-up", max_retries=0)
    agent = Agent(name="builder", instructions="You build.", tools=[bash], model=OpenAIResponsesModel("gpt-5.5", client),
                  model_settings=ModelSettings(store=False))
    session = OpenAIResponsesCompactionSession("build", SQLiteSession("build"), client=client, model="gpt-5.5")
    while True:
        try:
            print((await Runner.run(agent, prompt, session=session, max_turns=CALLS)).final_output)
            return
        except MaxTurnsExceeded:
            await session.run_compaction()
            prompt = "Go on."


asyncio.run(main(*sys.argv[1:]))
