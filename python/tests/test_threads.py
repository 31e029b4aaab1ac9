"""Threads: the interpreter's lock is not held while the core works, and results do not depend on who else works."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from conftest import work

import epitome_context as epitome


def test_the_lock_is_not_held_while_the_core_works() -> None:
    """A counter in another thread goes on during one long call. With the lock held it could not take a single step: the
    switch interval only asks a thread that runs Python code to let go."""
    steps = 0
    started = threading.Event()
    done = threading.Event()

    def count() -> None:
        nonlocal steps
        started.set()
        while not done.is_set():
            steps += 1

    session = work(600)
    text = epitome._epitome.json_text_of(session, "messages")
    thread = threading.Thread(target=count)
    thread.start()
    started.wait()
    before = steps
    epitome.compact(text, budget=20_000)
    during = steps - before
    done.set()
    thread.join()
    assert during > 1_000, during


def test_threads_share_an_engine_and_a_fitter() -> None:
    expect = epitome.compact(work(), budget=6_000).data
    engine = epitome.Engine()
    fitter = epitome.Fitter(budget=6_000)
    fitted = fitter.fit(work()).messages
    with ThreadPoolExecutor(4) as pool:
        compacted = pool.map(lambda _: engine.compact(work(), budget=6_000).data, range(16))
        assert list(compacted) == [expect] * 16
        assert list(pool.map(lambda _: fitter.fit(work()).messages, range(16))) == [fitted] * 16
        other = pool.map(lambda key: fitter.fit(work(), key=str(key)).messages, range(16))
        assert list(other) == [fitted] * 16


def test_callables_are_called_from_other_threads() -> None:
    class Last:
        id = "last"

        def plan(self, view: object, goal: object) -> str:
            return "nothing for me"

    def run(_: int) -> str:
        return epitome.compact(work(), budget=6_000, mode="tournament", strategies=[Last()], config=CONFIG).status

    CONFIG = {"chains": {"code": ["last", "transcript"], "analysis": ["last", "sliding-window"]}}
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(run, range(8))) == {"compacted"}
