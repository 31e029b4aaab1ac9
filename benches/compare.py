#!/usr/bin/env python3
"""One run, one machine, one table: a whole compaction by `epitome` against merely counting the same texts.

usage: compare.py SESSION.json BUDGET [RUNS]

SESSION.json holds OpenAI chat messages (`make-session 140000 > session.json`). Times are CPU seconds (user and system),
the least of RUNS. Python's tiktoken is measured in-process, its vocabulary loaded beforehand, if it is installed; it needs
its vocabulary file, which the source of the crate `tiktoken-rs` holds (TIKTOKEN_FILE names it).
"""
import base64, glob, json, os, resource, subprocess, sys, time

session, budget = sys.argv[1], sys.argv[2]
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 15
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
binary = os.path.join(root, "target/release/epitome")


def whole_process(arguments):
    best, peak = 1e9, 0
    for _ in range(runs):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1), os.dup2(null, 2)
            os.execv(arguments[0], arguments)
        os.close(read), os.close(write)
        _, status, usage = os.wait4(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0, arguments
        best, peak = min(best, usage.ru_utime + usage.ru_stime), max(peak, usage.ru_maxrss)
    return best, peak


def texts():
    for message in json.load(open(session))["messages"]:
        yield message.get("content") or ""
        yield message.get("tool_call_id") or ""
        for call in message.get("tool_calls") or []:
            yield from (call["id"], call["function"]["name"], call["function"]["arguments"])


def tiktoken_count():
    try:
        import tiktoken
    except ImportError:
        return None
    crates = os.path.expanduser("~/.cargo/registry/src/*/tiktoken-rs-*/assets/o200k_base.tiktoken")
    path = os.environ.get("TIKTOKEN_FILE") or next(iter(glob.glob(crates)), None)
    if not path:
        return None
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in open(path, "rb"))}
    upper, lower = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
    contraction = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    pattern = "|".join([
        rf"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{contraction}", rf"[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{contraction}",
        r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
    encoding = tiktoken.Encoding("o200k_base", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    counted, best = list(texts()), 1e9
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_SELF)
        total = sum(len(encoding.encode_ordinary(text)) for text in counted)
        after = resource.getrusage(resource.RUSAGE_SELF)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best, total


print("| what | CPU | peak memory |\n|---|---:|---:|")
seconds, peak = whole_process([binary, "compact", session, "--budget", budget, "--to", "openai-chat", "--quiet"])
print(f"| `epitome compact` to {budget}, whole process | {seconds * 1e3:.1f} ms | {peak / 1024:.1f} MB |")
seconds, peak = whole_process([binary, "check", session])
print(f"| `epitome check` (read and count), whole process | {seconds * 1e3:.1f} ms | {peak / 1024:.1f} MB |")
counted = tiktoken_count()
if counted:
    print(f"| Python tiktoken, counting the same texts only ({counted[1]:,} tokens) | {counted[0] * 1e3:.1f} ms | |")
else:
    print("| Python tiktoken | not installed, or no vocabulary | |")
