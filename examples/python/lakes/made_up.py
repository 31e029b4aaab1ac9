"""Writes a small lake of made-up sessions, for the recipes beside this file: `python made_up.py FOLDER [SESSIONS]`.

Two Parquet files with the same sessions: `text.parquet` holds each as JSON text, `lists.parquet` as a list of structures, in
which every message has every field, mostly null, as tables of recorded sessions have it.
"""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

CALL = pa.struct(
    {"id": pa.string(), "type": pa.string(), "function": pa.struct({"name": pa.string(), "arguments": pa.string()})}
)
MESSAGE = pa.struct(
    {"role": pa.string(), "content": pa.string(), "tool_calls": pa.list_(CALL), "tool_call_id": pa.string()}
)


def session(number: int) -> list[dict]:
    """An agent that lists the parts of a program once, mends one of them, and reads on until it knows why it counts twice."""
    parts = [f"ledger_{number}/part_{step * 7919 % 997}.py" for step in range(14 + number % 5)]
    task = f"The import of ledger {number} counts entries twice. Never touch the database. Read every part."
    messages = [{"role": "system", "content": "You mend programs."}, {"role": "user", "content": task}]
    messages += call(0, "ls", {"path": f"ledger_{number}"}, "".join(f"{part}, imported in turn\n" for part in parts))
    messages += call(
        1, "write", {"path": f"ledger_{number}/notes.md", "content": "Read the parts in turn."}, "Written."
    )
    for step, part in enumerate(parts, 2):
        printed = "".join(f"{line}: amount {line * 37 % 101} of entry {line}\n" for line in range(40))
        messages += call(step, "read", {"path": part}, printed)
        messages.append({"role": "assistant", "content": f"There is no fingerprint in number {step - 1}."})
    return messages + [{"role": "user", "content": "Which part holds the fingerprint?"}]


def call(step: int, name: str, arguments: dict, printed: str) -> list[dict]:
    """A call of a tool, and what it printed."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "tool_calls": [{"id": f"c{step}", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": f"c{step}", "content": printed},
    ]


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40
    sessions = [session(number) for number in range(count)]
    folder.mkdir(parents=True, exist_ok=True)
    ids = [f"s{number:06}" for number in range(count)]
    texts = [json.dumps(messages) for messages in sessions]
    texts[min(7, count - 1)] = "not a session"  # a lake has such rows
    pq.write_table(pa.table({"id": ids, "messages": texts}), folder / "text.parquet", row_group_size=10)
    lists = pa.array(sessions, pa.list_(MESSAGE))
    pq.write_table(pa.table({"id": ids, "messages": lists}), folder / "lists.parquet", row_group_size=10)


if __name__ == "__main__":
    main()
