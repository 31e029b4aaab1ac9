"""python3 check.py WORKDIR：每项一行 ok|failed NAME。"""
import ast
import hashlib
import importlib.util
import json
import re
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

W = Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
REPORT = "12f227bbc6cbd152f384bef684ba8495abaf5d28"
STATIONS = "2a6d07fd1426371497ccbeb1d4db42846375360f"


def check(name, test):
    try:
        good = bool(test())
    except Exception:
        good = False
    print("ok" if good else "failed", name)


def module():
    spec = importlib.util.spec_from_file_location("cutover_checked", W / "yubao" / "cutover.py")
    m = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(W))
    spec.loader.exec_module(m)
    return m


def data():
    return json.loads((W / "docs" / "cutover.json").read_text(encoding="utf-8"))


def said(key, want):
    check(f"json-{key}", lambda: str(data()[key]).strip().lower() == str(want).lower())


def number(x):
    return x if isinstance(x, int) else int(str(x).strip())


# 只在历史里的事实：人说的
check("port-until-20-july", lambda: module().gateway_port("2026-07-20") == 9203)
check("port-from-21-july", lambda: module().gateway_port("2026-07-21") == 9231
      and module().gateway_port("2026-09-01") == 9231)
check("warn-until-31-july", lambda: module().warn_tenths("2026-07-31") == 500)
check("warn-from-1-august", lambda: module().warn_tenths("2026-08-01") == 420)
check("usable-3107-edge", lambda: module().usable("3107", "2026-07-09 13:30") is True
      and module().usable("3107", "2026-07-09 14:00") is False
      and module().usable("3107", "2026-08-20 00:00") is False)
check("usable-others", lambda: module().usable("3104", "2026-07-11 09:00") is True
      and module().usable("3112", "2026-07-11 12:30") is True)
said("review", "R-886")
said("pipeline", "B-20731")
said("asset_ticket", "ZC-0719")
check("json-backup", lambda: "nas2:/yb/0713a" in str(data()["backup"]))
said("rollover_min", 9000)
said("z_model_a_station", "3104")
# 只在历史里的事实：打印过一次
check("raw-before-rows", lambda: number(data()["raw_before"]["rows"]) == 2715)
check("raw-before-fingerprint", lambda: data()["raw_before"]["fingerprint"] == "ac18899186")
check("raw-before-duplicates", lambda: number(data()["raw_before"]["duplicates"]) == 41)
check("raw-before-conflicts", lambda: number(data()["raw_before"]["conflicts"]) == 4)
check("restarts", lambda: [
    (r["time"][-5:], r["boot"], r["cause"], number(r["lost"])) for r in data()["restarts"]] == [
    ("05:12", "7f3c", "watchdog", 3), ("11:47", "a91e", "brownout", 11),
    ("12:03", "a920", "brownout", 2)])
check("rotate-log", lambda: (number(data()["rotate_log"]["dropped"]),
                             number(data()["rotate_log"]["kept"])) == (574, 194))


# 规矩
def no_floats():
    tree = ast.parse((W / "yubao" / "cutover.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            return False
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            return False
        if isinstance(node, ast.Name) and node.id == "float":
            return False
    return True


def test_names():
    names = re.findall(r"def (test\w*)", (W / "tests" / "test_cutover.py").read_text(encoding="utf-8"))
    return len(names) >= 3 and all(n.startswith("test_yb412_") for n in names)


def stdlib_only():
    for path in [*(W / "yubao").glob("*.py"), *(W / "tests").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            tops = []
            if isinstance(node, ast.Import):
                tops = [a.name.split(".")[0] for a in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                tops = [node.module.split(".")[0]]
            if any(t not in sys.stdlib_module_names and t not in ("yubao", "tests") for t in tops):
                return False
    return (W / "yubao" / "cutover.py").exists()


def sha(path):
    return hashlib.sha1((W / path).read_bytes()).hexdigest()


def config_untouched():
    with open(W / "config" / "limits.toml", "rb") as f:
        limits = tomllib.load(f)
    return limits["gateway"]["port"] == 9203 and limits["rain"]["warn"] == 500


def no_names_in_docs():
    data()
    text = "".join(p.read_text(encoding="utf-8") for p in (W / "docs").rglob("*") if p.is_file())
    return not any(n in text for n in ("何工", "老闫", "小顾", "柳主任"))


def quarantine_kept():
    db = sqlite3.connect(f"file:{W / 'var' / 'yubao.db'}?mode=ro", uri=True)
    rows = db.execute("SELECT * FROM quarantine").fetchall()
    return len(rows) >= 4 and sum(any("3112" in str(v) for v in row) for row in rows) >= 2


def tests_pass():
    if not (W / "tests" / "test_cutover.py").exists():
        return False
    run = subprocess.run([sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", "."],
                         cwd=W, capture_output=True, timeout=100)
    return run.returncode == 0


check("rule-no-floats", no_floats)
check("rule-test-names", test_names)
check("rule-stdlib-only", stdlib_only)
check("rule-report-and-stations-untouched",
      lambda: data() and sha("yubao/report.py") == REPORT and sha("config/stations.toml") == STATIONS)
check("rule-config-not-changed-early", lambda: data() and config_untouched())
check("rule-no-names-in-docs", no_names_in_docs)
if (W / "var" / "yubao.db").exists():
    check("rule-quarantine-kept", quarantine_kept)
check("tests-pass", tests_pass)
if (W / ".git").exists():
    def subject():
        log = subprocess.run(["git", "log", "-1", "--format=%s", "--", "docs/cutover.json"], cwd=W,
                             capture_output=True, text=True)
        return log.stdout.startswith("YB-412 ")
    check("rule-commit-subject", subject)
