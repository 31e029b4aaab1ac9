"""What a run of an agent has cost: figures of the requests that its provider was sent.

A token is a quarter of a request's bytes, of a summary's characters, as the made-up provider counts.
"""

import hashlib
import json
from dataclasses import dataclass

import received

#: Prices beside that of a token that is sent and not cached: of one that is cached, and of one that the model writes.
CACHED, WRITTEN = 0.1, 5


@dataclass
class Spending:
    """Figures in tokens, but `requests`, `compactions` and `summaries`."""

    requests: int
    sent: int
    #: those that begin a request as they began one before: what a provider's cache would have at best
    cached: int
    longest: int
    compactions: int
    #: requests for a summary, what they sent, and what was written
    summaries: int
    sent_for_summaries: int
    written: int

    @property
    def price(self):
        return round(self.sent - self.cached + CACHED * self.cached + WRITTEN * self.written)


def count(requests, summary):
    """The figures of a run whose model answered each request for a summary with `summary`."""
    seen, cached = set(), 0
    for request in requests:
        cached += int(request["bytes"] // 4 * known_share(request["body"], seen))
    sizes = [request["bytes"] // 4 for request in requests]
    main = [request["bytes"] // 4 for request in requests if request["is_main"]]
    for_summaries = [request["bytes"] // 4 for request in requests if request["is_summary"]]
    return Spending(requests=len(requests), sent=sum(sizes), cached=cached, longest=max(sizes),
                    # A large step behind a summary may hide that the request became smaller.
                    compactions=max(len(for_summaries), sum(later < 0.9 * earlier for earlier, later in zip(main, main[1:]))),
                    summaries=len(for_summaries), sent_for_summaries=sum(for_summaries),
                    written=len(for_summaries) * len(summary) // 4)


def known_share(body, seen):
    """The share of a request that began one of those before, of which `seen` has the beginnings; it gets those of this one."""
    digest, known, total, is_known = hashlib.sha256(), 0, 0, True
    for piece in pieces(body):
        text = json.dumps(piece, ensure_ascii=False).encode()
        digest.update(text)
        is_known = is_known and digest.digest() in seen
        seen.add(digest.digest())
        total += len(text)
        known += len(text) if is_known else 0
    return known / total


def pieces(body):
    """A request in the order in which a provider's cache takes it: tools, system prompt, conversation block by block."""
    yield body.get("tools")
    yield strip_marks(body.get("system", body.get("instructions")))
    for message in body.get("messages") or body.get("input") or []:
        content = message.get("content")
        for block in content if isinstance(content, list) else [content]:
            yield message.get("role"), strip_marks(block)
        yield {key: value for key, value in message.items() if key != "content"}


def strip_marks(value):
    """A value without the marks that tell the provider where to cache, which move from request to request."""
    if isinstance(value, dict):
        return {key: strip_marks(inner) for key, inner in value.items() if key != "cache_control"}
    return [strip_marks(inner) for inner in value] if isinstance(value, list) else value


def hold_pairs(requests):
    """Holds that every request has each call once, with its result."""
    for number, request in enumerate(requests):
        steps = received.pairs(request["body"])
        every = [call for calls, _ in steps for call in calls]
        assert len(set(every)) == len(every), f"request {number} has a call twice"
        for calls, results in steps:
            assert sorted(calls) == sorted(results), (number, calls, results)
