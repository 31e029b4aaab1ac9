"""A store of sessions, which processes share."""

from __future__ import annotations

import os

from . import _epitome
from ._engine import Engine
from ._errors import EpitomeError, NotFound
from ._input import bytes_of
from ._session import Session, _engine_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

    from typing_extensions import Self, Unpack

    from ._keywords import EngineKeywords


class Store:
    """A store of sessions, at the address that `epitome serve --store` takes: `sqlite:PATH`, made where it does not exist,
    `sqlite::memory:`, or `postgres://…` where that is built in. Service and programs on one store see the same sessions.

    `tenant` is whose sessions they are: `default` is that of a service without tokens. A store may be used from several
    threads; a process that was forked opens it again.

    >>> with Store("sqlite::memory:") as store:
    ...     session = store.create("ticket-7", title="The import", window=8_000)
    ...     ids = session.push({"role": "user", "content": "Why does the import count twice?"})
    ...     again = store.open("ticket-7", window=8_000)  # in this process or in another one
    ...     print(again.messages(), [about["id"] for about in store.sessions()])
    [{'role': 'user', 'content': 'Why does the import count twice?'}] ['ticket-7']
    """

    def __init__(self, address: str, *, tenant: str = "default") -> None:
        if not isinstance(address, str):
            raise TypeError(f"a store is named by a text such as 'sqlite:sessions.db', not by {address!r}")
        self._native = _epitome.Store(address, tenant)
        self.tenant = tenant

    def create(
        self,
        id: str | None = None,
        messages: Any = None,
        *,
        title: str | None = None,
        agent: str | None = None,
        format: str | None = None,
        name: str | None = None,
        engine: Engine | None = None,
        **words: Unpack[EngineKeywords],
    ) -> Session:
        """Stores a new session, empty or with what is there already, under `id` or a new one. `title` and `agent` are what
        the service and its console show; the other words are those of `Session`.

        >>> session = Store("sqlite::memory:").create(messages=[{"role": "user", "content": "Hello"}])
        >>> len(session.id), session.version
        (32, 1)
        """
        engine = _engine_of(engine, words)
        data = None if messages is None else bytes_of(messages)
        id = os.urandom(16).hex() if id is None else id
        return Session._of(engine, self._native.create(engine._native, id, data, format, name, title, agent))

    def open(
        self,
        id: str,
        *,
        create: bool = False,
        format: str | None = None,
        engine: Engine | None = None,
        **words: Unpack[EngineKeywords],
    ) -> Session:
        """Opens a session, to look at it and to go on with it; `NotFound` where there is none, unless it is to be made then.

        Compactions follow the engine of the program that makes them; what the service has for the session's agent is the
        service's.

        >>> store = Store("sqlite::memory:")
        >>> store.open("ticket-7", create=True).push({"role": "user", "content": "Hello"})
        ['m0']
        >>> store.open("ticket-7", create=True).messages()
        [{'role': 'user', 'content': 'Hello'}]
        """
        engine = _engine_of(engine, words)
        try:
            return Session._of(engine, self._native.open(engine._native, id, format))
        except NotFound:
            if not create:
                raise
        try:
            return self.create(id, format=format, engine=engine)
        except EpitomeError:
            # Somebody else may have made it in between.
            if id not in self:
                raise
        return self.open(id, format=format, engine=engine)

    def sessions(self, *, title: str | None = None, agent: str | None = None) -> Iterator[dict[str, Any]]:
        """The sessions, the last changed first, read in pages as they are asked for: of an `agent`, or with a text in their
        `title`. Each has `id`, `version`, `messages`, `epochs` (compactions), `created_at`, `updated_at` (milliseconds since
        1970), and `title`, `agent` and `settings` where there are some."""
        after: str | None = None
        while True:
            page, after = self._native.sessions(title, agent, after)
            yield from page
            if after is None:
                return

    def info(self, id: str) -> dict[str, Any]:
        """What `sessions` says of one session, without reading it; `NotFound` where there is none."""
        return dict(self._native.info(id))

    def __contains__(self, id: object) -> bool:
        try:
            return isinstance(id, str) and bool(self._native.info(id))
        except NotFound:
            return False

    def delete(self, id: str) -> bool:
        """Deletes a session, with what left its context and the memories that are its alone; whether there was one."""
        return self._native.delete(id)

    def close(self) -> None:
        """Closes the store, also for its sessions: what they are asked of it then is an `EpitomeError`."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store of {self.tenant}>"  # an address may hold a password
