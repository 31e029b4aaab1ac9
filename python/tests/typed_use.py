"""What a user writes, for the type checker; nothing runs it."""

from __future__ import annotations

from typing import Any

import epitome_context as epitome


def loop(messages: list[dict[str, Any]]) -> list[Any]:
    fitter = epitome.Fitter(budget=60_000, config={"preset": "production"})
    fitted: epitome.Fitted = fitter.fit(messages, system="You mend programs.", tools=700)
    return fitted.messages


def rebuild(fitted: epitome.Fitted, own: list[str]) -> list[str]:
    sent: list[str] = []
    for piece in fitted.pieces:
        if isinstance(piece, epitome.Keep):
            sent += own[piece.start : piece.end]
        elif isinstance(piece, epitome.Edit):
            sent.append(str(piece.message["content"]) + own[piece.number])
        else:
            sent.append(str(piece.message["content"]))
    return sent


class Mine:
    """A strategy."""

    id = "mine"

    def plan(self, view: Any, goal: Any) -> Any:
        """Nothing to do."""


async def whole(path: str) -> int:
    compacted: epitome.Compacted = await epitome.compact_async(
        path, budget=0.3, chain=[Mine(), "transcript"], mode="fixed"
    )
    report: epitome.Report = epitome.preview(path, budget=100, task="code")
    tokens: int = compacted.tokens_after + epitome.count_tokens(path)
    tokens += len(report.edits) + report["tokens_after"] + len(report["by_hand"]["kept"])
    fitted: int = epitome.fit([]).report["tokens_after"]
    tokens += fitted
    return tokens + len(epitome.search(path, "port", sources=["user"]))


def worker(address: str) -> list[dict[str, Any]]:
    with epitome.Store(address, tenant="support") as store:
        session: epitome.Session = store.open("ticket-7", create=True, window=32_000)
        try:
            session.push({"role": "user", "content": "Go on."})
        except epitome.Conflict:
            session.reload()
        return [about for about in store.sessions(agent="support") if about["id"] != session.id]
