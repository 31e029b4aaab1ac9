#!/usr/bin/env python3
"""Lets an agent go on from a context of a recorded session, and says what of the task it did. See README.md."""

import argparse
import sys
from pathlib import Path

import contexts
import folders
import grade
import table
from sessions import CONDITIONS, HERE, Refused


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(name: str, run, help: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=help)
        one.set_defaults(run=run)
        one.add_argument("contexts", type=Path, help="the folder of the contexts")
        return one

    write = command("contexts", lambda a: contexts.write(a.contexts, a.epitome, a.sessions, a.budget), "write every context once")
    write.add_argument("--epitome", default="epitome", help="the program [default: epitome]")
    write.add_argument("--sessions", nargs="+", type=Path, help="folders [default: those of benches/sessions]",
                       default=sorted(path.parent for path in (HERE.parents[1] / "benches/sessions").glob("*/task.md")))
    write.add_argument("--budget", type=float, default=0.15, help="share of the session's tokens [default: 0.15]")

    prepare = command("prepare", lambda a: folders.prepare(a.contexts, a.session, a.condition, a.folder), "set a folder up")
    prepare.add_argument("session")
    prepare.add_argument("condition", choices=CONDITIONS)
    prepare.add_argument("folder", type=Path, help="a new folder, whose name tells the agent nothing")

    run = command("run", lambda a: (folders.run(a.contexts, a.folder, a.agent, a.limit), grade.grade(a.contexts, a.folder)),
                  "run an agent in a prepared folder, and grade")
    run.add_argument("folder", type=Path)
    run.add_argument("--agent", required=True, help="a shell command: the prompt comes on stdin, the project is its folder")
    run.add_argument("--limit", type=float, default=3600, help="seconds that the agent may take [default: 3600]")

    command("grade", lambda a: grade.grade(a.contexts, a.folder), "say what was done in a folder").add_argument("folder", type=Path)

    tables = command("table", lambda a: table.write(a.contexts, a.results, a.json), "print a table of results")
    tables.add_argument("results", nargs="+", type=Path, help="graded folders")
    tables.add_argument("--json", type=Path, help="write the figures here, too")
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    try:
        given.run(given)
    except (Refused, OSError) as refused:
        sys.exit(f"continue: {refused}")
