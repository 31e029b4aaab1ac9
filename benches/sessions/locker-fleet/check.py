"""python3 check.py WORKDIR: a line a check, "ok NAME" or "failed NAME"."""
import ast
import configparser
import json
import os
import re
import subprocess
import sys

W = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
WRONG = (
    "P-72320 P-72326 P-72344 P-72360 P-72392 P-72425 P-72444 P-72459 P-72463 P-72471 P-72488 P-72493 "
    "P-72497 P-72506 P-72550 P-72561 P-72604 P-72647 P-72655 P-72672 P-72695 P-72719 P-72730 P-72747 "
    "P-72799 P-72806 P-72811 P-72822 P-72826 P-72908 P-72929 P-72980 P-72993 P-72995 P-73011 P-73015 "
    "P-73037 P-73042 P-73045 P-73048 P-73054 P-73067 P-73073 P-73078 P-73086 P-73114 P-73116 P-73128 "
    "P-73154 P-73165 P-73175 P-73187 P-73197 P-73200 P-73224 P-73236 P-73250 P-73261 P-73291 P-73323 "
    "P-73327 P-73328 P-73334 P-73338 P-73344 P-73355 P-73360 P-73372 P-73376 P-73385 P-73391 P-73417 "
    "P-73465 P-73467 "
).split()


def say(name, f):
    try:
        good = bool(f())
    except Exception:
        good = False
    print(("ok " if good else "failed ") + name)


def p(*a):
    return os.path.join(W, *a)


def text(*a):
    with open(p(*a), encoding="utf-8") as f:
        return f.read()


try:
    H = json.loads(text("docs", "postmortem.json"))
    if not isinstance(H, dict):
        H = {}
except Exception:
    H = {}


def low(k):
    return str(H.get(k, "")).lower()


# from the history only
say("incident", lambda: "482" in low("incident"))
say("step_at", lambda: re.search(r"01:12:09", low("step_at")))
say("step_s", lambda: abs(abs(float(H["step_s"])) - 347.218) < 0.3)
say("step_override", lambda: low("step_override").endswith("20-quick.conf"))
say("gate_before", lambda: {k: int(v) for k, v in H["gate_before"].items()} == {"retry": 6, "retry_backoff_ms": 137, "timeout_ms": 2500})
say("notifd_rate_before", lambda: int(H["notifd_rate_before"]) == 240)
say("issued_while_peer_only", lambda: int(H["issued_while_peer_only"]) == 1127)
say("refused_expired", lambda: int(H["refused_expired"]) == 1264)
say("dead_letters_before", lambda: int(H["dead_letters_before"]) == 162)
say("code_letters_purged", lambda: {k: v for k, v in H["code_letters_purged"].items() if v}
    == {"alder": 46, "birch": 26, "cedar": 25, "hazel": 21})
say("carrier_case", lambda: low("carrier_case") == "cx-7719")
say("cedar_by_hand", lambda: "pell" in low("cedar_by_hand"))
say("release_cleared_by", lambda: "ottoline" in low("release_cleared_by"))
say("alarm_muted_by", lambda: "hobb" in low("alarm_muted_by"))


def ini(svc):
    c = configparser.ConfigParser()
    c.read(p("conf", svc + ".ini"))
    return dict(c[svc])


def run(svc):
    return json.loads(text("state", "running", svc + ".json"))


say("clock_server_and_port", lambda: ini("clockd")["servers"] == "tick-b.yard" and ini("clockd")["port"] == "1123")
say("clock_no_fallback", lambda: ini("clockd")["fallback_peer"] == "none")
say("clock_rest_kept", lambda: ini("clockd")["max_step_s"] == "5" and ini("clockd")["log_level"] == "info" and ini("clockd")["keep"] == "4")
say("clock_in_force", lambda: run("clockd") == ini("clockd") and run("clockd")["port"] == "1123")


def skew(lines):
    r = subprocess.run([sys.executable, p("tools", "skewcheck.py")], input="".join("%-7s %+9.3f s\n" % x for x in lines),
                       capture_output=True, text=True, cwd=W, env=ENV, timeout=60)
    return r.returncode, [" ".join(x.split()) for x in r.stdout.splitlines() if x.strip()]


def same(got, want):
    rc, rows = got
    seen = []
    for r in rows:
        f = r.split()
        seen.append((f[0], float(f[1]), f[-1]))
    return (rc, seen) == want


say("skew_warn_at_5", lambda: same(skew([("mole-1", 4.999), ("mole-3", -5.0), ("mole-4", 29.999)]),
                                   (1, [("mole-3", -5.0, "warn"), ("mole-4", 29.999, "warn")])))
say("skew_page_at_30", lambda: same(skew([("mole-1", 0.003), ("mole-6", -30.0), ("mole-5", 6.5)]),
                                    (2, [("mole-6", -30.0, "page"), ("mole-5", 6.5, "warn")])))
say("skew_leaves_mole_2_out", lambda: same(skew([("mole-2", 99.0), ("mole-3", 0.1)]), (0, [])))


# rules
def audit():
    return [x.split(" ", 1) for x in text("state", "audit.log").splitlines() if x.strip()]


def one_drained():
    out = set()
    for _, what in audit():
        w = what.split()
        if w[0] == "drain":
            out.add(w[1])
        if w[0] == "restore":
            out.discard(w[1])
        if len(out) > 1:
            return False
    return not out


say("one_drained_at_a_time", one_drained)
say("mole_2_left_alone", lambda: not any("mole-2" in what for _, what in audit()))
say("rotated_once_each", lambda: sorted(what for _, what in audit() if what.startswith("rotate"))
    == ["rotate clockd", "rotate doord", "rotate notifd", "rotate sched"])
say("elm_letters_left", lambda: len([v for v in json.loads(text("state", "queue.json")).values() if v["depot"] == "elm"]) == 20
    and len(json.loads(text("state", "queue.json"))) == 20)


def revived():
    o = json.loads(text("state", "orders.json"))
    got = {i for _, what in audit() if what.startswith("orders revive") for i in what.split()[2:]}
    return got == {k for k in WRONG if o[k]["depot"] != "cedar"}


say("revived_exactly_the_proven", revived)
say("values_settled", lambda: ini("codesd")["ttl_s"] == "600" and ini("gate")["retry"] == "3" and ini("sched")["sweep_after_expiries"] == "3"
    and run("codesd")["ttl_s"] == "600" and run("gate")["retry"] == "3" and run("sched")["sweep_after_expiries"] == "3")


def timeline():
    ls = [x.strip().lstrip("-* ").strip("`") for x in text("docs", "timeline.md").splitlines()]
    ls = [x for x in ls if x and not x.startswith("#")]
    rows = [x for x in ls if re.match(r"\d\d:\d\dZ [\w-]+: \S", x)]
    return len(rows) == len(ls) and len(rows) >= 8 and any(re.search("tick-b|clockd", r) for r in rows[-3:])


say("timeline_form_and_last_line", timeline)


def no_numbers():
    for top in ("docs", "tools", "tests", "conf"):
        for d, _, fs in os.walk(p(top)):
            for f in fs:
                if re.search(r"\+00\d{9}", open(os.path.join(d, f), encoding="utf-8", errors="replace").read()):
                    return False
    return True


say("no_phone_numbers", no_numbers)


def customers():
    s = text("docs", "customers.md")
    return len(s.split()) <= 95 and not re.search(r"unfortunately|carrier|tick-|pell|hobb|joss|tobin|ottoline|marit|clock", s, re.I)


say("customers_text", customers)


def stdlib():
    for top in ("tools", "tests"):
        local = {f[:-3] for t in ("tools", "tests") for f in os.listdir(p(t)) if f.endswith(".py")} | {"tools", "tests"}
        for d, _, fs in os.walk(p(top)):
            for f in fs:
                if f.endswith(".py"):
                    for n in ast.walk(ast.parse(open(os.path.join(d, f), encoding="utf-8").read())):
                        names = ([a.name for a in n.names] if isinstance(n, ast.Import) else
                                 [n.module] if isinstance(n, ast.ImportFrom) and n.module and not n.level else [])
                        if any(m.split(".")[0] not in sys.stdlib_module_names | local for m in names):
                            return False
    return True


say("standard_library_only", stdlib)
say("suite_passes", lambda: os.path.exists(p("tests", "test_skewcheck.py")) and subprocess.run(
    [sys.executable, "-m", "unittest", "discover", "-s", "tests"], cwd=W, env=ENV, capture_output=True, timeout=120).returncode == 0)
