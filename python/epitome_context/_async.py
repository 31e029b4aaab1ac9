"""Calls that are awaited. The core works in a thread; coroutines of the host's callables run on the host's own loop."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

# The loop on which the call that this thread works for is awaited.
_LOOP: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("epitome_context_loop", default=None)


async def in_thread(function: Callable[..., T], *arguments: Any, **words: Any) -> T:
    """The result of a call that is made in a thread, so that this loop goes on meanwhile."""
    token = _LOOP.set(asyncio.get_running_loop())
    try:
        return await asyncio.to_thread(function, *arguments, **words)
    finally:
        _LOOP.reset(token)


def result_of(awaitable: Awaitable[T]) -> T:
    """The result of a coroutine of the host: on the loop that awaits the call, or on one of its own."""

    async def whole() -> T:
        return await awaitable

    loop = _LOOP.get()
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is not None:
        close = getattr(awaitable, "close", None)
        if close is not None:
            close()  # nobody will await it
        raise RuntimeError(
            "an asynchronous callable cannot be awaited within a call that blocks the loop: "
            "await the call that ends in `_async` instead, such as `fit_async`"
        )
    if loop is not None:
        return asyncio.run_coroutine_threadsafe(whole(), loop).result()
    return asyncio.run(whole())
