"""Runs the cases: agents' own programs beside `epitome`, in front of provider.py.

    check.py EPITOME PROGRAMS [CASE|AGENT…]

Without a name all cases but the long ones run with all their agents. Ends with 1 where one has failed; the others run all
the same.
"""

import importlib
import sys
import traceback
from pathlib import Path

import agents
from scene import scene

CASES = ("proxy", "native", "lookup", "mcp", "resume", "open", "move", "setup", "around")
#: Cases that take long, and run where they are named.
LONG = ("own",)
#: Agents that one case sets up by itself.
OTHERS = ("opencode",)


def main(epitome, programs, names):
    known = [*CASES, *LONG, *agents.ALL, *OTHERS]
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"neither a case nor an agent: {', '.join(unknown)}; there are {', '.join(known)}")
    cases = [name for name in (*CASES, *LONG) if name in names] or CASES
    kinds = [name for name in (*agents.ALL, *OTHERS) if name in names] or [*agents.ALL, *OTHERS]
    for kind in (kind for kind in kinds if kind in agents.ALL):
        with scene(epitome, programs) as place:
            place.has(kind, "http://127.0.0.1:9")
            print(f"{kind} {agents.version(kind, programs, place.environment())}", flush=True)
    failed = 0
    for name in cases:
        case = importlib.import_module(f"case_{name}")
        for kind in (kind for kind in case.AGENTS if kind in kinds):
            variants = getattr(case, "VARIANTS", {}).get(kind, [()])
            for variant in variants:
                label = " ".join([name, kind, *variant])
                try:
                    with scene(epitome, programs) as place:
                        print(f"passed: {label}: {case.check(place, kind, *variant)}", flush=True)
                except Exception:
                    failed += 1
                    print(f"FAILED: {label}\n{traceback.format_exc()}", flush=True)
    sys.exit(1 if failed else 0)


main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:])
