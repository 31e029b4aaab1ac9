#!/usr/bin/env python3
"""One run, one machine, one table: a whole compaction by `epitome` beside tiktoken merely counting the same texts.

usage: compare.py SESSION [SESSION …] [--budget TOKENS or PERCENT%] [--runs N] [--epitome PROGRAM]

A SESSION is a file in any format that `epitome` reads (`make-session 140000 > session.json` makes one). What is compared
is CPU time, user and system, as the kernel accounts it to a finished process:

- `epitome compact`: the whole process, from its start to the last byte written;
- Python's tiktoken (o200k_base): only the counting, in a process whose vocabulary is loaded and warm.

Both count the same texts: those of `epitome convert --to openai-chat`. Runs take turns, so that a busy machine is busy for
both, and medians are shown (peak memory is at least that of the Python that starts it, about 22 MB); with `--phases` also those of the phases that the reports tell, by the clock.

tiktoken fetches its vocabulary once, or takes it from TIKTOKEN_CACHE_DIR. Where neither can be, the file in the source of
the crate `tiktoken-rs` does, which building the tests brings along.
"""
import argparse, glob, hashlib, json, os, resource, shutil, statistics, subprocess, sys, tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
VOCABULARY = "o200k_base"
# tiktoken calls a cached file by the SHA-1 of the address that it came from.
CACHED_AS = hashlib.sha1(
    f"https://openaipublic.blob.core.windows.net/encodings/{VOCABULARY}.tiktoken".encode()).hexdigest()
# The argument of the process that counts.
SERVE = "--serve-counts"
PHASES = ["configure", "read", "count", "detect", "plan", "quality", "write"]


def cpu_of(arguments):
    """CPU seconds and peak memory in MB of one run."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(arguments)} ended with {process.returncode}:\n{told.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def texts_of(program, session):
    """What is counted of a session: what was said, called and printed, and the names and ids of calls."""
    shown = subprocess.run([program, "convert", session, "--to", "openai-chat", "--quiet"], stdout=subprocess.PIPE)
    if shown.returncode:
        sys.exit(f"{session} cannot be read")
    for message in json.loads(shown.stdout)["messages"]:
        content = message.get("content") or ""
        parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
        yield from parts
        yield message.get("tool_call_id") or ""
        for call in message.get("tool_calls") or []:
            function = call.get("function") or {}
            yield from (call["id"], function.get("name", ""), function.get("arguments", ""))


def encoding():
    """tiktoken's encoding, or a sentence that says why there is none."""
    try:
        import tiktoken
    except ImportError:
        return None, "tiktoken is not installed: `pip install tiktoken`; only epitome was measured"
    if "TIKTOKEN_CACHE_DIR" not in os.environ:
        pattern = f"registry/src/*/tiktoken-rs-*/assets/{VOCABULARY}.tiktoken"
        home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
        for found in glob.glob(os.path.join(home, pattern))[:1]:
            folder = tempfile.mkdtemp(prefix="tiktoken-")
            shutil.copy(found, os.path.join(folder, CACHED_AS))
            os.environ["TIKTOKEN_CACHE_DIR"] = folder
    try:
        return tiktoken.get_encoding(VOCABULARY), None
    except Exception as error:  # whatever its way of fetching raises
        return None, (f"tiktoken has no vocabulary ({type(error).__name__}): put {VOCABULARY}.tiktoken as {CACHED_AS} into a "
                      "folder and name that in TIKTOKEN_CACHE_DIR; only epitome was measured")


def serve_counts():
    """The process that counts: a list of texts as a line of JSON in, seconds of CPU and tokens out."""
    counter, problem = encoding()
    print(json.dumps(problem), flush=True)
    for line in sys.stdin:
        texts = json.loads(line)
        before = resource.getrusage(resource.RUSAGE_SELF)
        total = sum(len(counter.encode_ordinary(text)) for text in texts)
        after = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps([after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, total]), flush=True)


class Tiktoken:
    """A process of its own, so that its memory is not taken for that of what is started beside it."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__, SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.problem = json.loads(self.process.stdout.readline())
        if not self.problem:
            self.count(["The vocabulary is laid out at the first use."])

    def count(self, texts):
        """CPU seconds of counting `texts` once, and the tokens."""
        self.process.stdin.write(json.dumps(texts) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def measure(options, counter, session):
    """The rows of one session."""
    texts = list(texts_of(options.epitome, session))
    with tempfile.TemporaryDirectory() as folder:
        out, report = os.path.join(folder, "compacted.json"), os.path.join(folder, "report.json")
        compact = [options.epitome, "compact", session, "--budget", budget(options, session), "--to", "openai-chat",
                   "--quiet", "-o", out, "--report", report]
        compacting, checking, counting, peak, phases = [], [], [], 0, {phase: [] for phase in PHASES}
        tokens = 0
        for _ in range(options.runs):
            seconds, memory = cpu_of(compact)
            compacting.append(seconds)
            peak = max(peak, memory)
            checking.append(cpu_of([options.epitome, "check", session, "--window", "10m", "--quiet"])[0])
            if not counter.problem:
                seconds, tokens = counter.count(texts)
                counting.append(seconds)
            told = json.load(open(report))
            for phase in PHASES:
                phases[phase].append(told.get("timings", {}).get(f"{phase}_us", 0))
    name = os.path.basename(session)
    row = [name, f"{tokens or told['tokens_before']:,}", f"{told['tokens_after']:,}", millis(compacting),
           millis(checking), millis(counting) if counting else "–",
           f"{statistics.median(compacting) / statistics.median(counting):.2f}" if counting else "–", f"{peak:.1f} MB"]
    return row, [name] + [f"{statistics.median(phases[phase]) / 1e3:.1f} ms" for phase in PHASES]


def budget(options, session):
    """The budget in tokens; a share is of what `epitome` counts in the session."""
    if not options.budget.endswith("%"):
        return options.budget
    shown = subprocess.run([options.epitome, "inspect", session, "--json", "--quiet"], stdout=subprocess.PIPE, check=True)
    return str(int(json.loads(shown.stdout)["session"]["tokens"] * float(options.budget[:-1]) / 100))


def millis(seconds):
    return f"{statistics.median(seconds) * 1e3:.1f} ms"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|---|" + "---:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", nargs="+", metavar="SESSION")
    parser.add_argument("--budget", default="36%", help="tokens, or a share of the session (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=15, help="of each, in turns (default: %(default)s)")
    parser.add_argument("--epitome", default=os.path.join(ROOT, "target/release/epitome"), help="the program to measure")
    parser.add_argument("--phases", action="store_true", help="also the time of each phase, by the clock")
    options = parser.parse_args()
    if not os.access(options.epitome, os.X_OK):
        sys.exit(f"{options.epitome} is not there: cargo build --release -p epitome-cli")
    counter = Tiktoken()
    rows = [measure(options, counter, session) for session in options.sessions]
    table(["session", "tokens", "to", "`epitome compact`, whole process", "`epitome check`", "tiktoken, counting only",
           "compact ÷ tiktoken", "peak memory"], [row for row, _ in rows])
    if options.phases:
        print()
        table(["by the clock"] + PHASES, [row for _, row in rows])
    if counter.problem:
        print(f"\n{counter.problem}", file=sys.stderr)


serve_counts() if sys.argv[1:] == [SERVE] else main()
