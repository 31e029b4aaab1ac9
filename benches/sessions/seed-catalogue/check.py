"""python3 check.py WORKDIR: a line a check, "ok NAME" or "failed NAME"."""
LABELS, TEST_LABELS, FEED = "e1314f3f28136e005203b60089fd9a9918e1c1637bc07c7289141b74c365e192", "7d67d42d75049fa86830c3619ae04b259977680bce37846ae4dd2a353a98aef9", "f17854b162fc035921004b3f9e119f4015a8d223b077a83db9483d6d27e2cfa3"
import ast
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

W = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=W)


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


def sha(*a):
    with open(p(*a), "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


try:
    H = json.loads(text("docs", "handover.json"))
    if not isinstance(H, dict):
        H = {}
except Exception:
    H = {}


def low(k):
    return str(H.get(k, "")).lower()


# from the history only
say("snapshot", lambda: low("snapshot") == "sn-2291")
say("review", lambda: low("review") == "r-118")
say("screen_port", lambda: int(H["screen_port"]) == 8471)
say("frozen_files", lambda: sorted(H["frozen_files"]) == ["husk/labels.py", "tests/test_labels.py"])
say("frozen_by", lambda: "ruadh" in low("frozen_by"))
say("heavy_before", lambda: int(H["heavy_before"]) == 42)
say("tolva_total_before", lambda: abs(float(H["tolva_total_before"]) - 713027.0) < 0.6)
DRAWERS = {"L-0032": "E3/13", "L-0078": "C2/01", "L-0119": "E3/04", "L-0164": "A4/13",
           "L-0205": "A4/19", "L-0289": "E2/18", "L-0352": "C2/09"}
say("lost_drawers_most", lambda: sum(H["lost_drawers"].get(k) == v for k, v in DRAWERS.items()) >= 4)
say("lost_drawers_all", lambda: H["lost_drawers"] == DRAWERS)
say("guessing_struck_out_by", lambda: "ilse" in low("guessing_struck_out_by"))
say("retyping", lambda: "perrin" in low("retyping"))

SETUP = r'''
import sys
from husk import db, migrate, HuskError, quota
con = db.connect(":memory:"); migrate.up(con)
con.execute("insert into species (id, code, name, family, longevity_months, packet_mg) values (1,'X-01','x','Xa',60,100)")
for i, t in ((1,'new'),(2,'grower'),(3,'steward')):
    con.execute("insert into members (id, code, name, tier, joined) values (?,?,?,?,'2024-01-01')", (i,'M-000%d'%i,'n',t))
con.execute("insert into lots (id, code, species_id, harvested, weight_mg, status, source) values (1,'L-0001',1,'2024-09-01',900000,'in','own')")
n = [0]
def loan(m, packets, due='2026-06-01', back=None):
    n[0] += 1
    con.execute("insert into loans (code, lot_id, member_id, packets, out_on, due_on, back_on) values (?,1,?,?,'2025-01-01',?,?)", ('N-%04d'%n[0], m, packets, due, back))
def may(m, k, on='2025-11-10'):
    try:
        quota.check(con, on, 'M-000%d'%m, k); return True
    except HuskError:
        return False
'''


def quota(code):
    r = subprocess.run([sys.executable, "-c", SETUP + code], cwd=W, env=ENV, capture_output=True, text=True, timeout=60)
    return r.returncode == 0 and r.stdout.strip().endswith("yes")


say("quota_new", lambda: quota("print('yes' if may(1,3) and not may(1,4) else 'no')"))
say("quota_grower", lambda: quota("print('yes' if may(2,6) and not may(2,7) else 'no')"))
say("quota_steward", lambda: quota("print('yes' if may(3,12) and not may(3,13) else 'no')"))
say("quota_counts_packets_open", lambda: quota(
    "loan(2,3); loan(2,2); loan(2,5,back='2025-09-01')\nprint('yes' if may(2,1) and not may(2,2) else 'no')"))
say("quota_overdue", lambda: quota(
    "loan(3,1,due='2025-10-20')\na=may(3,1,'2025-11-10'); b=may(3,1,'2025-11-11')\nprint('yes' if a and not b else 'no')"))


# rules and what was built
def lend_cli():
    with tempfile.TemporaryDirectory() as d:
        dbp = os.path.join(d, "t.db")
        code = SETUP + ("\ncon.execute(\"insert into tests (lot_id, tested_on, sown, normal, abnormal, dead) values (1,'2024-10-01',50,48,0,2)\")"
                        "\nloan(1,3)\ncon.commit()\nimport sqlite3\nout=sqlite3.connect(%r)\ncon.backup(out)\nout.close()" % dbp)
        subprocess.run([sys.executable, "-c", code], cwd=W, env=ENV, check=True, timeout=60, capture_output=True)
        e = dict(ENV, HUSK_DB=dbp)

        def go(m):
            return subprocess.run([sys.executable, "-m", "husk", "lend", "L-0001", m, "--packets", "1", "--on", "2025-11-10"],
                                  cwd=W, env=e, capture_output=True, text=True, timeout=60)
        bad, good = go("M-0001"), go("M-0002")
        return (bad.returncode == 3 and bad.stderr.startswith("husk: ") and len(bad.stderr.strip().splitlines()) == 1
                and not bad.stdout.strip() and good.returncode == 0)


say("lend_refuses_with_3", lend_cli)
say("labels_untouched", lambda: sha("husk", "labels.py") == LABELS and sha("tests", "test_labels.py") == TEST_LABELS)
say("feed_untouched", lambda: sha("data", "feeds", "returns-2025w40.csv") == FEED)


def only_db():
    for d, dirs, files in os.walk(W):
        dirs[:] = [x for x in dirs if x != ".git"]
        for f in files:
            full = os.path.join(d, f)
            with open(full, "rb") as h:
                head = h.read(16)
            if head.startswith(b"SQLite format 3") and os.path.relpath(full, W) != os.path.join("data", "catalogue.db"):
                return False
            if f.endswith((".bak", ".dump", ".db.orig")):
                return False
    return True


say("no_copy_of_catalogue", only_db)


def stdlib():
    for top in ("husk", "tests"):
        local = {"husk", "helpers"} | {f[:-3] for f in os.listdir(p("tests")) if f.endswith(".py")}
        for d, _, files in os.walk(p(top)):
            for f in files:
                if f.endswith(".py"):
                    for node in ast.walk(ast.parse(open(os.path.join(d, f), encoding="utf-8").read())):
                        names = ([a.name for a in node.names] if isinstance(node, ast.Import) else
                                 [node.module] if isinstance(node, ast.ImportFrom) and not node.level and node.module else [])
                        for m in names:
                            m = m.split(".")[0]
                            if m not in sys.stdlib_module_names and m not in local:
                                return False
    return not os.path.exists(p("requirements.txt"))


say("standard_library_only", stdlib)


def unreleased():
    part = text("CHANGES.md").split("## Unreleased", 1)[1].split("\n## ", 1)[0]
    return [x.strip() for x in part.splitlines() if x.strip().startswith("-")]


def changes():
    ls = unreleased()
    verb = re.compile(r"- (\w+ed|Made|Put|Took|Wrote|Set|Brought|Kept|Gave|Let|Cut|Split|Rose|Sent|Built|Stopped|Left) ")
    return all(any("#%d)" % n in x for x in ls) for n in (97, 98, 99, 101, 102, 103, 104, 107)) and all(
        verb.match(x) and re.search(r"\(#\d+\)\.?$", x) for x in ls if "#107" in x)


say("changes_lines", changes)


def docstrings():
    tree = ast.parse(text("tests", "test_quota.py"))
    tests = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]
    return tests and all(ast.get_docstring(n) for n in tests)


say("quota_tests_say_why", docstrings)
say("suite_passes", lambda: subprocess.run([sys.executable, "-m", "unittest", "discover", "-s", "tests"], cwd=W, env=ENV,
                                           capture_output=True, timeout=120).returncode == 0 and os.path.exists(p("tests", "test_quota.py")))


def q(sql):
    con = sqlite3.connect("file:%s?mode=ro" % p("data", "catalogue.db"), uri=True)
    try:
        return con.execute(sql).fetchall()
    finally:
        con.close()


say("returns_not_run", lambda: q("select count(*) from lots where source = 'return'") == [(0,)])
say("two_lots_as_told", lambda: q("select code, status from lots where code in ('L-0059', 'L-0352') order by code")
    == [("L-0059", "in"), ("L-0352", "spent")])
say("min_lendable_65", lambda: int(H["min_lendable"]) == 65 and re.search(r"MIN_LENDABLE\s*=\s*65\b", text("husk", "viability.py")))
say("no_fuzzy", lambda: not any("difflib" in open(os.path.join(d, f), encoding="utf-8").read()
                                for d, _, fs in os.walk(p("husk")) for f in fs if f.endswith(".py")))
say("weights_with_space", lambda: re.search(r"\d\.\d g\b", subprocess.run([sys.executable, "-m", "husk", "totals"], cwd=W, env=ENV,
                                                                       capture_output=True, text=True, timeout=60).stdout))
