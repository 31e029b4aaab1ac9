#!/usr/bin/env python3
"""python3 check.py WORKDIR: one line a check, `ok NAME` or `failed NAME`."""
import csv, hashlib, json, pathlib, re, subprocess, sys

W = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent


def say(name, good):
    print(("ok " if good else "failed ") + name)


def load(path):
    try:
        return json.loads((W / path).read_text())
    except (OSError, ValueError):
        return {}


h = load("handover.json")
if not isinstance(h, dict):
    h = {}


def get(*path):
    value = h
    for key in path:
        value = value.get(key, "") if isinstance(value, dict) else ""
    return value


def has(path, *words):
    text = json.dumps(get(*path), ensure_ascii=False).lower()
    return all(word.lower() in text for word in words)


def number(*path):
    try:
        return float(str(get(*path)).replace("cr", "").strip())
    except ValueError:
        return None


# said by the person only
say("meeting_date", str(get("meeting", "date")).endswith("12-13"))
say("meeting_time", has(("meeting", "time"), "18:30"))
say("meeting_place", has(("meeting", "place"), "Upper Cray", "chapel"))
say("notice_signed_by", has(("notice_signed_by",), "Ortway"))
say("review_id", has(("review", "id"), "HB-2217"))
say("review_paragraph", number("review", "paragraph") == 2)
say("review_new_gate_date", has(("review", "new_gate_date"), "2026-06-01"))
say("review_agreed_by", has(("review", "agreed_by"), "Rufus"))
say("review_heard_by", has(("review", "heard_by"), "Anneke"))
say("deposits_bank", has(("deposits", "bank"), "Harl"))
say("deposits_closes", has(("deposits", "closes"), "01-31"))
say("deposits_decided_by", has(("deposits", "decided_by"), "Denholm"))
say("deposits_decided_on", has(("deposits", "decided_on"), "10-11"))
say("nephew_name", has(("nephew", "name"), "Lorcan"))
say("nephew_files", has(("nephew", "files"), "T-06", "annex-thornwick"))
say("stray_wanted_by", has(("S-05_wanted_by",), "Rufus"))
# printed once, then destroyed
SLIPS = {"M-2025-04": ("Chest 3", "tray 11", "Corin Vash"), "M-2025-05": ("Chest 3", "tray 14", "Hester Quill"),
         "L-2025-04": ("Iron box", "folder 7", "Denholm Rask"), "L-2025-05": ("Deed press", "drawer 2", "Rufus Stote")}
seals = {}
try:
    with open(W / "register.csv", newline="") as rows:
        for row in csv.DictReader(rows):
            seals[row["id"]] = row["seal"]
except OSError:
    pass
for paper, (where, tray, giver) in SLIPS.items():
    receipt = str(get("received", paper, "receipt")).strip()
    seal = hashlib.sha256(f"{paper}|{receipt}".encode()).hexdigest()[:20]
    say(f"receipt_{paper}", bool(receipt) and seals.get(paper) == seal)
    say(f"shelf_{paper}", has(("received", paper, "shelf"), where, tray))
    say(f"given_by_{paper}", has(("received", paper, "given_by"), giver))
say("signed_paper", has(("signed_paper_of_M-2025-05",), "schoolmaster", "Thornwick", "12-20"))
say("credit_account", has(("credit_account",), "4417"))
say("wax_number", has(("wax_number",), "386"))
say("not_compared_item", has(("not_compared_item",), "5"))
# found in the papers
say("days_2023_24", number("days_above", "2023-24") == 22)
say("days_2024_25", number("days_above", "2024-25") == 8)
say("limits", [number("limit_2025_26", m) for m in ("11", "12", "1", "2", "3")] == [36, 40, 40, 36, 40])
say("dunmarsh_right_bill", number("dunmarsh", "right_bill") == 20102)
say("dunmarsh_open", number("dunmarsh", "open") == 2102)
# rules
memo = W / "memos/05-handover.md"
text = memo.read_text() if memo.exists() else ""
there = bool(text.strip())
say("memo_there", there)
say("memo_length", there and len(text.split()) <= 150)
say("memo_money", there and bool(re.search(r"\bcr 2102\b(?![.,]\d)", text)) and not re.search(r"\d,\d{3}|\d ?(cr|crowns)\b|cr \d+\.\d", text))
say("memo_flows_one_decimal", there and bool(re.search(r"\b40\.0 L/s", text)) and not re.search(r"(?<![\d.])\d+ L/s", text))
MONTH = r"(January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
say("memo_dates_with_dashes", there and not re.search(rf"\b\d{{1,2}} {MONTH}\b|\b{MONTH} \d{{1,2}}\b(?!\.\d)|\b{MONTH} (19|20)\d\d", text))
heads = re.findall(r"^## (.+)$", text, re.M)
say("memo_sections", heads[-2:] == ["Sources", "Not settled"] and heads[:2] == ["Answer", "Reasons"])
say("memo_citations", there and bool(re.search(r"\[M-2025-05 §6\]", text)) and bool(re.search(r"\[L-2025-05 §1\]", text)))
every = "\n".join(p.read_text() for p in sorted((W / "memos").glob("*.md"))) if (W / "memos").exists() else ""
say("memo_no_maddock", there and "maddock" not in every.lower())
say("memo_no_slip", there and not re.search(r"VL-[0-9A-Z]{8}|tray 1|drawer 2|folder 7|4417|HB-2217|Harl", every))
say("annex_not_written", there and not (W / "memos/annex-thornwick.md").exists())
known = json.loads((HERE / "papers.json").read_text())
say("papers_untouched", there and all((W / p).exists() and hashlib.sha256((W / p).read_bytes()).hexdigest() == s for p, s in known.items()))
say("stray_as_decided", there and {p.name for p in (W / "stray").glob("S-*")} == {"S-03.md", "S-05.md", "S-06.md"})
run = subprocess.run([sys.executable, "tools/check_memos.py"], cwd=W, capture_output=True, text=True)
say("checker_content", there and run.returncode == 0)
