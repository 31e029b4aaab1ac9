"""Sessions in a store: cases. `EPITOME_POSTGRES` names the address of a PostgreSQL database for the build that has it."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import work

import epitome_context as epitome
from epitome_context import Session, Store

BINARY = os.environ.get("EPITOME_BIN", "")
POSTGRES = os.environ.get("EPITOME_POSTGRES", "")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(session: Session) -> list[str]:
    return [message["content"] for message in session.messages(full=True)]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.skipif(not POSTGRES, reason="needs a server"))])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return POSTGRES if request.param == "postgres" else f"sqlite:{tmp_path / 'sessions.db'}"


@pytest.fixture
def tenant() -> str:
    return f"test-{time.time_ns()}"


@pytest.fixture
def store(address: str, tenant: str) -> Iterator[Store]:
    with Store(address, tenant=tenant) as store:
        yield store


def test_a_session_is_kept_with_all_that_happens_to_it(store: Store, address: str, tenant: str) -> None:
    session = store.create("a", work(), window=100_000)
    assert (session.id, session.version) == ("a", len(work()))
    session.set_tools([{"type": "function", "function": {"name": "bash", "parameters": {}}}])
    draft = session.preview(target=6_000)
    assert session.apply(draft).status == "compacted"
    session.undo()
    session.compact(target=6_000)
    session.push({"role": "assistant", "content": "It is `fingerprint`."})
    session.save()
    with Store(address, tenant=tenant) as other:
        again = other.open("a", window=100_000)
        assert again.request() == session.request() and again.history() == session.history()
        assert again.version == session.version == other.info("a")["version"]
        assert again.retrieve(again.history()[-1]["recall"][0])
        assert "fingerprint" in again.search("fingerprint")[0]["text"]
        again.undo()
        assert len(again.messages()) == len(work()) + 1
    with pytest.raises(epitome.EpitomeError, match="kept in a store already"):
        session.keep_in("somewhere")
    alone = Session()
    assert (alone.id, alone.version, alone.reload()) == (None, None, False)


def test_sessions_are_listed_made_and_deleted(store: Store) -> None:
    assert list(store.sessions()) == []
    for number in range(60):
        store.create(f"s{number}", title=f"The {'odd' if number % 2 else 'even'} one", agent="support" if number < 3 else None)
    assert {about["id"] for about in store.sessions()} == {f"s{number}" for number in range(60)}
    assert len(list(store.sessions(title="ODD"))) == 30
    assert {about["id"] for about in store.sessions(agent="support")} == {"s0", "s1", "s2"}
    about = store.info("s1")
    assert (about["title"], about["agent"], about["messages"], about["version"]) == ("The odd one", "support", 0, 0)
    assert "s1" in store and store.delete("s1") and not store.delete("s1") and "s1" not in store
    for missing in (lambda: store.open("s1"), lambda: store.info("s1")):
        with pytest.raises(epitome.NotFound, match="there is no session `s1`") as raised:
            missing()
        assert isinstance(raised.value, LookupError)
    with pytest.raises(epitome.EpitomeError, match="there is a session `s2` already"):
        store.create("s2")
    assert store.open("s1", create=True).push(user("one")) == ["m0"]
    assert said(store.open("s1", create=True)) == ["one"]
    assert store.create().id != store.create().id
    with pytest.raises(epitome.EpitomeError, match="cannot be the name of a session"):
        store.create("a\nb")


def test_the_second_of_two_who_change_a_session_is_refused(store: Store, address: str, tenant: str) -> None:
    first = store.create("a")
    with Store(address, tenant=tenant) as other:
        second = other.open("a")
        first.push(user("one"))
        with pytest.raises(epitome.Conflict, match=r"changed session `a` \(it is at version 1, not 0\)"):
            second.push(user("two"))
        assert said(second) == ["one"], "it is read again"
        second.push(user("two"))
        with pytest.raises(epitome.Conflict):
            first.maintain()
        assert first.reload() is True and first.reload() is False
        second.push(user("three"))
        assert said(first) == ["one", "two"] and first.reload() is True
        assert said(first) == ["one", "two", "three"]
        other.delete("a")
        with pytest.raises(epitome.NotFound):
            first.push(user("four"))


def test_threads_wait_for_each_other_and_lose_nothing(store: Store) -> None:
    store.create("a")
    refused: list[int] = []

    def push(number: int) -> None:
        session = store.open("a")
        for turn in range(10):
            while True:
                try:
                    session.push(user(f"{number}: {turn}"))
                    break
                except epitome.Conflict:
                    refused.append(number)

    threads = [threading.Thread(target=push, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    stored = said(store.open("a"))
    assert len(stored) == 40
    for number in range(4):
        assert [text for text in stored if text.startswith(f"{number}:")] == [f"{number}: {turn}" for turn in range(10)]


def test_what_fails_leaves_the_session_as_it_is_stored(store: Store) -> None:
    session = store.create("a", work(), window=100_000)
    with pytest.raises(epitome.FormatError):
        session.push({"a": 1})
    with pytest.raises(epitome.EpitomeError, match="no compaction is in force"):
        session.undo()
    assert said(session)[1:] == [message["content"] for message in work()][1:]
    assert store.info("a")["version"] == session.version == len(work())
    with pytest.raises(epitome.ConfigError, match="`target` takes"):
        session.compact(target=0)
    assert session.compact(target=6_000, chain="incremental-summary").status == "compacted"


def test_memories_go_to_the_store(store: Store) -> None:
    config = {"live": {"memory_flush": True}}
    session = store.create("a", work(), config=config)
    session.push(user("Please remember: the staging database is db-7."))
    for _ in range(2):
        session.push(work()[1:])
        session.compact(target=6_000, chain="incremental-summary")
    shown = json.dumps(session.messages())
    assert "db-7" in shown, shown


def test_the_session_that_follows_is_in_the_store(store: Store) -> None:
    config = {"live": {"require_confirmation": True, "on_refusal": "new-session"}}
    engine = epitome.Engine(config, window=8_000, reserve_output=500)
    session = store.create("a", work(), engine=engine, title="The ledger")
    followed = session.maintain()["session"]
    assert followed.id in store and store.info(followed.id)["title"] == "The ledger"
    followed.push(user("On we go."))
    assert said(store.open("a", engine=engine).maintain()["session"]) == said(followed)


def test_a_closed_store_says_so(address: str, tenant: str) -> None:
    with Store(address, tenant=tenant) as store:
        session = store.create("a")
    store.close()
    for closed in (lambda: store.open("a"), lambda: session.push(user("one")), lambda: list(store.sessions())):
        with pytest.raises(epitome.EpitomeError, match="the store is closed: open it again"):
            closed()
    assert session.messages() == [], "what is in memory can be looked at"
    with Store(address, tenant=tenant) as store:
        assert "a" in store and repr(store) == f"<Store of {tenant}>"


def _fork(store: Store, session: Session, answers: Any) -> None:
    for work_on in (lambda: store.info("a"), lambda: session.push(user("one"))):
        try:
            work_on()
        except epitome.EpitomeError as error:
            answers.put(str(error))
    store.close()
    del store, session


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_was_forked_is_told_so_and_ends(store: Store) -> None:
    session = store.create("a")
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_fork, args=(store, session, answers))
    child.start()
    told = [answers.get(timeout=20) for _ in range(2)]
    child.join(20)
    assert child.exitcode == 0, "it does not wait for threads that it has not"
    assert all("open it in each process" in text for text in told)
    session.push(user("one"))
    assert said(store.open("a")) == ["one"]


def test_addresses_that_name_no_store(tmp_path: Path) -> None:
    for wrong in ("", "sessions.db", "sqlite:", "mysql://x"):
        with pytest.raises(epitome.EpitomeError, match="a database is named `sqlite:PATH`"):
            Store(wrong)
    with pytest.raises(epitome.EpitomeError, match="opening the database failed: .*nowhere"):
        Store(f"sqlite:{tmp_path / 'nowhere' / 'sessions.db'}")
    (tmp_path / "text").write_text("This is no database, whatever it may be called.")
    with pytest.raises(epitome.EpitomeError, match="not a database"):
        Store(f"sqlite:{tmp_path / 'text'}")
    with pytest.raises(TypeError, match="a store is named by a text"):
        Store(tmp_path)  # type: ignore[arg-type]
    with pytest.raises(epitome.EpitomeError, match="cannot be the name of a tenant"):
        Store("sqlite::memory:", tenant="")


@pytest.mark.skipif(not BINARY, reason="EPITOME_BIN names no binary of the command; tests/python/run does")
def test_the_service_has_the_same_sessions(address: str) -> None:
    id = f"shared-{time.time_ns()}"
    command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--store", address]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert service.stdout is not None
        found = next(match for line in service.stdout if (match := re.search(r"serves on (http://\S+)", line)))
        threading.Thread(target=service.stdout.read, daemon=True).start()

        def ask(path: str, body: Any = None) -> Any:
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(f"{found[1]}/v1/sessions/{id}{path}", data, {"content-type": "application/json"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)

        with Store(address) as store:
            session = store.create(id, work(), title="The ledger")
            assert ask("")["title"] == "The ledger"
            report = session.compact(target=6_000)
            kept = ask("/messages?limit=500")
            assert kept["total"] == len(session.messages()) and kept["version"] == session.version
            assert ask("/history")["epochs"][0]["tokens_after"] == report["tokens_after"]
            handle = session.history()[0]["recall"][0]
            assert ask(f"/recall/{handle}")
            pushed = ask("/messages", {"messages": [user("And from the service?")]})
            with pytest.raises(epitome.Conflict):
                session.push({"role": "assistant", "content": "Yes."})
            assert said(session)[-1] == "And from the service?" and session.version == pushed["version"]
            session.push({"role": "assistant", "content": "Yes."})
            newest = ask("/messages?view=full&limit=500")["messages"]
            assert [item["message"]["role"] for item in newest[-2:]] == ["user", "assistant"]
            assert all(item["message"]["timestamp"] for item in newest[-2:]), "when it came"
            session.undo()
            assert ask("/messages?limit=500")["total"] == len(work()) + 2
            store.delete(id)
    finally:
        service.terminate()
        service.wait(20)
