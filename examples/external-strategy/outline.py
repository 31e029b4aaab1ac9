#!/usr/bin/env python3
"""A strategy in another process: old steps become an outline of what was called.

Reads one request on standard input and answers one plan on standard output; see docs/external-strategies.md. Python 3,
standard library only. An argument says how many of the newest units stay whole (8 without one).
"""

import json
import sys


def line(message):
    """A message in one line, or nothing."""
    for block in message["blocks"]:
        if block["type"] == "tool-call":
            return f"called {block['name']} {block['arguments'][:80]}"
        if block["type"] == "text" and block["text"].strip():
            return f"{message['role']}: {block['text'].strip().splitlines()[0][:80]}"
    return ""


def plan(request, keep):
    goal, view = request["goal"], request["view"]
    excess = goal["current"] - goal["target"]
    # One outline for each run of neighbours: what stays ends a run.
    runs, saved = [[]], 0
    for unit in view["units"][:-keep]:
        if saved >= excess:
            break
        if not unit["may_leave"]:
            runs.append([])
            continue
        outline = [text for text in map(line, view["messages"][unit["first"]:unit["end"]]) if text]
        runs[-1].append((unit["position"], outline))
        # A token is seldom shorter than three characters.
        saved += unit["tokens"] - sum(len(text) for text in outline) // 3
    if saved < 100:
        return {"declined": "an outline would not be shorter"}
    return {"edits": [edit(run) for run in runs if run]}


def edit(run):
    units = [position for position, _ in run]
    lines = [text for _, outline in run for text in outline]
    reason = {"code": "outlined", "detail": f"{len(units)} units became {len(lines)} lines"}
    return {"edit": "summarize", "units": units, "summary": {"ready": "\n".join(lines)}, "reason": reason}


def main():
    request = json.load(sys.stdin)
    if request["protocol"] != 1:
        sys.exit(f"made for protocol 1, not {request['protocol']}")
    keep = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    json.dump(plan(request, keep), sys.stdout)


main()
