"""python3 check.py WORKDIR: one line a check, ok|failed NAME. Reads plan.json, or the first JSON object in an answer file."""
import json
import re
import sys
from pathlib import Path

W = Path(sys.argv[1])


def load():
    for name in ("plan.json", "answer.json", "answer.md", "answer.txt", "reply.md", "reply.txt"):
        path = W / name
        if path.exists():
            text = path.read_text(encoding="utf-8")
            start = text.find("{")
            if start >= 0:
                try:
                    return json.JSONDecoder().raw_decode(text[start:])[0]
                except ValueError:
                    return {}
    return {}


D = load()


def check(name, test):
    try:
        good = bool(test())
    except Exception:
        good = False
    print("ok" if good else "failed", name)


def whole(x):
    return x if isinstance(x, int) else int(re.sub(r"[^\d-]", "", str(x)))


def words(text):
    return re.findall(r"[^\s–—]+", text)


def venue(i, name, start, end):
    v = D["venues"][i]
    return name in v["name"].lower() and v["from"] == start and v["to"] == end


def crates(x):
    return sorted(re.findall(r"K-\d\d", json.dumps(x)))


def has(text, *parts):
    return all(re.search(p, text, re.I) for p in parts)


N = D.get("notice") or ""
B = D.get("label_17") or ""
BAN = r"journey"

check("title", lambda: D["title"].strip() == "Salt, Carried")
check("objects", lambda: whole(D["objects"]) == 60)
check("venue-1", lambda: venue(0, "harrow quay", "2027-03-01", "2027-05-09"))
check("venue-2", lambda: venue(1, "merrow", "2027-06-05", "2027-08-15"))
check("venue-3", lambda: venue(2, "brennick", "2027-09-04", "2027-11-07"))
check("venue-4", lambda: venue(3, "veldesand", "2027-11-20", "2028-01-23"))
check("ceiling", lambda: whole(D["budget"]["ceiling"]) == 168500)
check("planned", lambda: whole(D["budget"]["planned"]) == 166900)
check("left", lambda: whole(D["budget"]["left"]) == 1600)
check("reserve", lambda: whole(D["budget"]["reserve"]) == 6600)
check("transport", lambda: whole(D["budget"]["transport"]) == 26400)
check("education-with-fund", lambda: whole(D["budget"]["education_with_fund"]) == 16200)
check("pilgrim-row-insured", lambda: whole(D["pilgrim_row_insured"]) == 35300)
check("gone", lambda: sorted(whole(x) for x in D["gone"]) == [27, 36, 45, 52, 56, 60])
check("max-crate", lambda: float(str(D["max_crate_m"]).split()[0]) == 1.7)
check("hand-carried", lambda: crates(D["hand_carried"]) == ["K-07"])
check("loggers", lambda: crates(D["loggers"]) == ["K-02", "K-07", "K-11"])
check("conservator-ref", lambda: D["waiting"]["conservator_ref"] == "CR-318")
check("conservator-due", lambda: D["waiting"]["conservator_due"] == "2026-12-14")
check("ramp", lambda: "joost" in D["ramp"]["who"].lower() and "2027-07-01" in str(D["ramp"]["by"])
      or has(str(D["ramp"]), "joost", "1 July 2027"))
check("thanks", lambda: "okkerse" in str(D["thanks_in_speech"]).lower())
check("label-45-words", lambda: 20 <= len(words(B)) <= 45)
check("label-no-banned-word-no-value", lambda: B and not has(B, BAN) and not has(B, r"EUR|€|7,?500"))
check("label-facts", lambda: has(B, "1862", "1911"))
check("notice-length", lambda: 60 <= len(words(N)) <= 120)
check("notice-title-and-number", lambda: "Salt, Carried" in N and has(N, r"\b(60|sixty)\b"))
check("notice-second-stop-secret", lambda: has(N, "venue to be announced") and not has(N, "Tollan") and not has(N, "Merrow"))
check("notice-canary-official-reason", lambda: has(N, "conservation") and not has(N, r"\bfilm"))
check("notice-no-banned-word", lambda: N and not has(N, BAN))
check("notice-no-values-no-fund", lambda: N and not has(N, r"EUR|€|euro") and not has(N, "Tidewater"))
check("notice-british", lambda: N and not has(N + " " + B, r"\b(color|gray|traveling|center|labor|honor|program)\b"))
check("notice-stops-dates", lambda: has(N, "Harrow Quay", "Brennick", "Veldesand", r"23(rd)? January|January 23"))
