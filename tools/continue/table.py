"""Results as a table: a row a condition, and below a row a session."""

import math
import random
import statistics
from pathlib import Path

from sessions import CONDITIONS, Refused, load, save, sha256


def write(contexts: Path, folders: list[Path], target: Path | None) -> None:
    known, hash, results = load(contexts / "contexts.json"), sha256(contexts / "contexts.json"), []
    for folder in folders:
        result = load(folder / "result.json")
        if result["contexts"] != hash:
            raise Refused(f"{folder}/result.json is of other contexts than {contexts}")
        results.append(figures(result, known["sessions"][result["session"]]))
    conditions = [name for name in CONDITIONS if any(result["condition"] == name for result in results)]
    sums = {name: condition([result for result in results if result["condition"] == name]) for name in conditions}
    print("| condition | runs | checks | history only | rules broken | tasks done | look-ups a run |\n|---|--:|--:|--:|--:|--:|--:|")
    for name, one in sums.items():
        print(f"| {name} | {one['runs']} | {interval(one['checks'])} | {interval(one['history'])} | {one['broken']:.2f} | "
              f"{one['done']} of {one['runs']} {interval(one['done_share'], only=True)} | {one['lookups']:.1f} |")
    print("\nShares of the checks that the project as it was left fails: the mean of the sessions' means, with a 95 % interval of a\n"
          "bootstrap over sessions; of tasks done, Wilson's over runs. Rules broken: checks that it passes and that fail now, a run.\n")
    print(f"| checks, of them history only | {' | '.join(conditions)} |\n|---|{'--:|' * len(conditions)}")
    for session in known["sessions"]:
        cells = [[one for one in results if (one["session"], one["condition"]) == (session, name)] for name in conditions]
        print(f"| {session} | {' | '.join(cell(one) for one in cells)} |")
    if target:
        save(target, {"conditions": sums, "results": results})


def figures(result: dict, session: dict) -> dict:
    left = [good for name, good in result["checks"].items() if name not in session["untouched"]]
    return {"session": result["session"], "condition": result["condition"], "folder": result["folder"], "checks": sum(left) / len(left),
            "history": statistics.mean(result["history"].values()), "broken": len(result["broken"]), "done": result["done"],
            "lookups": result["searches"] + result["restores"], "seconds": result.get("seconds")}


def condition(results: list[dict]) -> dict:
    done, runs = sum(one["done"] for one in results), len(results)
    return {"runs": runs, "checks": bootstrap(results, "checks"), "history": bootstrap(results, "history"), "done": done,
            "done_share": wilson(done, runs), "broken": statistics.mean(one["broken"] for one in results),
            "lookups": statistics.mean(one["lookups"] for one in results)}


def bootstrap(results: list[dict], figure: str) -> list[float]:
    """The mean over sessions, and its 95 % interval."""
    by_session = [statistics.mean(one[figure] for one in results if one["session"] == name) for name in sorted({one["session"] for one in results})]
    draw = random.Random(1)
    means = sorted(statistics.mean(draw.choices(by_session, k=len(by_session))) for _ in range(4000))
    return [statistics.mean(by_session), means[100], means[3899]]


def wilson(done: int, runs: int) -> list[float]:
    z, share = 1.96, done / runs
    middle, half = share + z * z / 2 / runs, z * math.sqrt(share * (1 - share) / runs + z * z / 4 / runs / runs)
    return [share, max(0.0, (middle - half) / (1 + z * z / runs)), min(1.0, (middle + half) / (1 + z * z / runs))]


def interval(figure: list[float], only: bool = False) -> str:
    return ("" if only else f"{figure[0]:.2f} ") + f"[{figure[1]:.2f}, {figure[2]:.2f}]"


def cell(results: list[dict]) -> str:
    if not results:
        return ""
    return f"{statistics.mean(one['checks'] for one in results):.2f}, {statistics.mean(one['history'] for one in results):.2f}"
