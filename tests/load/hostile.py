"""Clients that nobody means well with. Each is a function of an address, a token and an event that ends it; what is sent is
made once, so that the attack costs the machine as little as possible beside what the service has to do."""
import gzip
import itertools
import json
import socket
import time

# Below the bound on parts, so that it is worked on and not refused.
PARALLEL = 30_000
TINY = 60_000
LETTERS = 20_000_000
LINE = 4_000_000


def request(path, token, body=b"", method="POST", length=None, kind="application/json"):
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    return head.encode() + body


def compact(messages):
    return json.dumps({"budget": 20_000, "request": {"messages": messages}}).encode()


def said(text):
    return [{"role": "user", "content": "begin"}, {"role": "assistant", "content": text}, {"role": "user", "content": "go on"}]


def parallel_calls():
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "Read", "arguments": "{}"}} for n in range(PARALLEL)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": "x" * 50} for n in range(PARALLEL)]
    first = [{"role": "user", "content": "s"}, {"role": "assistant", "content": None, "tool_calls": calls}]
    return compact(first + results + [{"role": "user", "content": "go"}])


def tiny_messages():
    pair = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    return compact(pair * (TINY // 2) + [{"role": "user", "content": "z"}])


def one_line():
    words = itertools.cycle(["a", "parser", "fails(", "x_1", "=", "0x7f", "==", "\\n", "straße", "über"])
    return compact(said(" ".join(itertools.islice(words, LINE // 5))))


def sent(address, raw, wait=60.0, read=65_536):
    """Sends it and gives the status that comes back; None where there is none."""
    try:
        with socket.create_connection(address, timeout=wait) as connection:
            connection.sendall(raw)
            line = connection.recv(read).split(b"\r\n", 1)[0].split(b" ")
            return int(line[1]) if len(line) > 1 else None
    except (OSError, ValueError):
        return None


def again(raw, pause):
    """The same request again and again."""

    def attack(address, token, over, told):
        while not over.is_set():
            told(sent(address, raw(token)))
            over.wait(pause)

    return attack


def heavy(make, pause):
    body = make()
    return again(lambda token: request("/v1/compact", token, body), pause)


def gives_up(make, pause):
    """Has work begun and leaves."""
    body = make()

    def attack(address, token, over, told):
        while not over.is_set():
            try:
                with socket.create_connection(address, timeout=10) as connection:
                    connection.sendall(request("/v1/compact", token, body))
                    over.wait(0.3)
                    told("left")
            except OSError:
                told(None)
            over.wait(pause)

    return attack


def bomb(pause):
    pair = b'{"role":"user","content":"x"},{"role":"assistant","content":"y"}'
    packed = gzip.compress(b'{"messages":[' + b",".join([pair] * 500_000) + b"]}")
    return again(lambda token: request("/v1/sessions/import", token, packed), pause)


def zeros(pause):
    packed = gzip.compress(b'{"messages":[{"role":"user","content":"' + b"x" * 500_000_000 + b'"}]}', 1)
    return again(lambda token: request("/v1/sessions/import", token, packed), pause)


def refused(pause):
    """A large body with a token that is none: the refusal has to come through, and the connection to end."""
    body = b"x" * 8_000_000
    return again(lambda token: request("/v1/compact", "nobody-knows-this-one", body), pause)


def garbage(pause):
    bodies = itertools.cycle([b"{", b"[" * 100_000, b'{"request":{"messages":[' + b"{" * 50_000, b"\xff" * 1000])
    return again(lambda token: request("/v1/compact", token, next(bodies)), pause)


def slow_readers(count):
    """Ask for a large answer and read none of it."""

    def attack(address, token, over, told):
        text = "some words about things %d "
        messages = [
            {"role": "assistant" if n % 2 else "user", "content": text % n * 4000} for n in range(60)
        ]
        body = json.dumps({"id": "big", "request": {"messages": messages}}).encode()
        told(sent(address, request("/v1/sessions", token, body)))
        while not over.is_set():
            held = []
            for _ in range(count):
                if over.is_set():
                    break
                try:
                    connection = socket.create_connection(address, timeout=10)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    connection.sendall(request("/v1/sessions/big/request", token, method="GET"))
                    held.append(connection)
                    told("held")
                except OSError:
                    told(None)
                time.sleep(0.05)
            over.wait(20)
            for connection in held:
                connection.close()

    return attack


def stalled(count, raw):
    """Connections that begin something and never end it, and are opened anew as they are closed."""

    def attack(address, token, over, told):
        held = []
        while not over.is_set():
            while len(held) < count and not over.is_set():
                try:
                    connection = socket.create_connection(address, timeout=10)
                    if raw:
                        connection.sendall(raw(token))
                    connection.setblocking(False)
                    held.append(connection)
                    told("held")
                except OSError:
                    told(None)
                    over.wait(0.5)
                if len(held) % 100 == 0:
                    over.wait(0.1)
            over.wait(2)
            alive = []
            for connection in held:
                try:
                    gone = connection.recv(4096) == b""
                except BlockingIOError:
                    gone = False
                except OSError:
                    gone = True
                if gone:
                    connection.close()
                else:
                    alive.append(connection)
            held = alive
        for connection in held:
            connection.close()

    return attack


def all_of_them():
    """Name and attack; what each needs is made here, before anything is measured."""
    return {
        "parallel calls": heavy(parallel_calls, 0.5),
        "tiny messages": heavy(tiny_messages, 0.5),
        "one letter": heavy(lambda: compact(said("a" * LETTERS)), 0.5),
        "one line": heavy(one_line, 0.5),
        "gives up": gives_up(parallel_calls, 1),
        "gzip of messages": bomb(2),
        "gzip of one letter": zeros(2),
        "refused uploads": refused(1),
        "garbage": garbage(0.2),
        "slow readers": slow_readers(100),
        "idle": stalled(1_500, None),
        "slow headers": stalled(300, lambda token: b"POST /v1/compact HTTP/1.1\r\nHost: localh"),
        "slow bodies": stalled(200, lambda token: request("/v1/compact", token, b"{" * 20_000, length=1_000_000)),
    }
