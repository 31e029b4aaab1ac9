"""Reports: a dictionary, a line, a picture."""

from __future__ import annotations

import json
import pickle
from html.parser import HTMLParser
from typing import Any

from conftest import work

import epitome_context as epitome


class Tags(HTMLParser):
    """Checks that tags are closed, and collects what stands in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def hostile() -> list[dict[str, Any]]:
    return [{**message, "id": "<script>alert(1)</script>\"'&"} for message in work()]


class Marked:
    id = "marked"

    def plan(self, view: Any, goal: Any) -> Any:
        units = [unit["position"] for unit in view["units"] if unit["may_leave"]]
        return [epitome.edits.drop([unit], "marked", "<b>\"why\" & 'so'</b>") for unit in units]


def test_a_report_is_a_dictionary() -> None:
    report = epitome.preview(work(), budget=6_000)
    assert isinstance(report, dict) and json.loads(json.dumps(report)) == report
    assert report.sizes is not None and sum(report.sizes) == report["tokens_before"]
    again = pickle.loads(pickle.dumps(report))
    assert again == report and again.sizes == report.sizes and type(again) is epitome.Report
    assert report.handles == list(dict.fromkeys(report.handles)) != []
    fitted = epitome.fit(work(), budget=6_000).report
    assert json.loads(json.dumps(fitted)) == fitted
    assert type(pickle.loads(pickle.dumps(fitted))) is epitome.FitReport


def test_a_report_is_one_line() -> None:
    def check(report: Any, *expect: str) -> None:
        line = repr(report)
        assert "\n" not in line and all(part in line for part in expect), line

    check(epitome.preview(work(), budget=6_000), "<Report compacted: ", " → ", "messages, ", "; budget 6,000>")
    check(epitome.preview(work(2), budget=60_000), "<Report no-change: ", "; budget 60,000>")
    check(epitome.compact(work(), budget=6_000), "<Compacted compacted: ")
    check(epitome.Session(work()).preview(target=6_000), "<Draft compacted: ")
    check(epitome.Session(work()), "<Session openai-chat: ")
    check(epitome.fit(work(), budget=6_000), "<Fitted compacted: ", "; budget 6,000>")
    check(epitome.Fitter(budget=6_000), "<Fitter openai-chat: 0 conversations")


def test_a_picture_shows_every_message_and_escapes() -> None:
    def check(shown: Any, messages: int) -> Tags:
        html = shown._repr_html_()
        assert "<script" not in html and '<b>"why"' not in html
        tags = Tags(html)
        assert tags.names.count("rect") == tags.names.count("title") == messages
        assert "http" not in html
        return tags

    count = len(work())
    tags = check(epitome.compact(hostile(), budget=6_000, chain=[Marked()]), count)
    assert "<b>\"why\" & 'so'</b>" in tags.texts
    check(epitome.preview(work(2), budget=60_000), len(work(2)))
    check(epitome.preview(work(), budget=5), count)
    session = epitome.Session(work())
    check(session.preview(target=6_000), count)
    check(session.compact(target=6_000), count)
    fitted = epitome.fit(work(), budget=6_000)
    check(fitted, count)
    assert set(fitted.report.outcomes) <= {"kept", "edited", "replaced", "dropped"}
    assert fitted.report.outcomes[0] == fitted.report.outcomes[-1] == "kept"
    check(epitome.fit([], budget=10), 0)
