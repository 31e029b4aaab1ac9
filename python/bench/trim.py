"""What fitting a list costs, beside the trimming of two frameworks: `pip install langchain-core haystack-ai` adds theirs.

    python python/bench/trim.py [times]

One run, medians of CPU time. The frameworks drop the oldest messages; they count with the same exact counter.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import epitome_context as epitome
from epitome_context import _epitome

SESSION = Path(__file__).parents[2] / "examples" / "session.jsonl"
BUDGET = 30_000


def session(copies: int) -> list[dict[str, Any]]:
    """The example as OpenAI's chat completions, several times in a row with ids of its own."""
    one = epitome.convert(SESSION, "openai-chat")
    messages: list[dict[str, Any]] = json.loads(one)["messages"]
    whole = list(messages)
    for copy in range(1, copies):
        for message in json.loads(json.dumps(messages)):
            for call in message.get("tool_calls") or []:
                call["id"] += f"_{copy}"
            if "tool_call_id" in message:
                message["tool_call_id"] += f"_{copy}"
            whole.append(message)
    return whole


def median_ms(work: Callable[[], Any], times: int) -> float:
    work()
    taken = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append((time.process_time() - started) * 1e3)
    return statistics.median(taken)


def import_ms(times: int) -> float:
    """How long the import takes, in processes of their own."""
    code = "import time; t = time.perf_counter(); import epitome_context; print((time.perf_counter() - t) * 1e3)"
    return statistics.median(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(times))


def langchain(messages: list[dict[str, Any]]) -> Callable[[], Any] | None:
    try:
        from langchain_core.messages import convert_to_messages, trim_messages
    except ImportError:
        return None
    given = convert_to_messages(messages)

    def count(some: list[Any]) -> int:
        return sum(epitome.count_tokens(str(message.content)) + 4 for message in some)

    return lambda: trim_messages(
        given, max_tokens=BUDGET, strategy="last", token_counter=count, start_on="human", include_system=True
    )


def haystack(messages: list[dict[str, Any]]) -> Callable[[], Any] | None:
    try:
        from haystack.dataclasses import ChatMessage
        from haystack.hooks.compaction import SlidingWindowCompactor
    except ImportError:
        return None
    given = [ChatMessage.from_openai_dict_format(message) for message in messages]

    class ExactCounter:
        """Haystack's protocol over the same counter."""

        def count(self, messages: list[Any], tools: Any = None) -> int:
            texts = (json.dumps(message.to_openai_dict_format()) for message in messages)
            return sum(epitome.count_tokens(text) for text in texts)

    return lambda: SlidingWindowCompactor().compact(given, BUDGET, ExactCounter())


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    messages = session(2)
    text = _epitome.json_text_of(messages, "messages")
    tokens = epitome.count_tokens(messages)
    print(f"{len(messages)} messages, {len(text):,} bytes, {tokens:,} tokens to {BUDGET:,}; medians of {times}, CPU ms")
    fitter = epitome.Fitter(budget=tokens + 1_000_000)
    fitter.fit(messages)
    replaying = epitome.Fitter(budget=2 * BUDGET)
    replaying.fit(messages)
    rows: list[tuple[str, Callable[[], Any] | None]] = [
        ("objects to JSON text", lambda: _epitome.json_text_of(messages, "messages")),
        ("JSON text to objects", lambda: _epitome.object_of(text)),
        ("fit(list)", lambda: epitome.fit(messages, budget=BUDGET)),
        ("compact(list)", lambda: epitome.compact(messages, budget=BUDGET).data),
        ("compact(bytes)", lambda: epitome.compact(text, budget=BUDGET).data),
        ("Fitter.fit, nothing due, all known", lambda: fitter.fit(messages)),
        ("Fitter.fit, decisions made again", lambda: replaying.fit(messages)),
        ("count_tokens(list)", lambda: epitome.count_tokens(messages)),
        ("LangChain trim_messages", langchain(messages)),
        ("Haystack SlidingWindowCompactor", haystack(messages)),
    ]
    for name, work in rows:
        print(f"{name:>36}  " + ("not installed" if work is None else f"{median_ms(work, times):8.2f}"))
    print(f"{'import epitome_context':>36}  {import_ms(times):8.2f} (wall)")


if __name__ == "__main__":
    main()
