#!/usr/bin/env python3
"""Records a session of a live agent: the words and the calls are the agent's, what the calls return is real.

    record.py begin FOLDER       sets up the project and prints what the person says first
    record.py act FOLDER         takes what the agent says and calls, as JSON from stdin; prints what comes back
    record.py show FOLDER        prints again what came back behind the agent's last message
    record.py show FOLDER CALL   prints again what one call returned, and nothing else

FOLDER holds `project/` (the files), `turns.jsonl` (what the person says) and, where the project has tools of its own,
`tools.json`. README.md beside this file says how they look. Needs Python 3.11 or newer, bash and git.
"""

import argparse
import fcntl
import json
import sys
from pathlib import Path

import calls
import events
from events import Refused

HELP = """\
You are at work in {cwd}. Act with one JSON object on stdin (or from a file: record.py act FOLDER < message.json):
  {{"say": "…", "calls": [{{"bash": "…"}}, {{"read": "path", "from": 1, "lines": 200}}, {{"write": "path", "content": "…"}},
                         {{"edit": "path", "old": "…", "new": "…"}}]}}
"say" may be empty beside calls; "think" may be given beside it. Calls are made in order, each from {cwd}, for at most
{seconds} s. An object without calls ends your turn: then the person answers. Where your own terminal cuts what is printed,
`show FOLDER call_5` prints what one call returned."""


def shown_turn(event: dict) -> str:
    """A turn of the person, as it is printed."""
    return f"--- the person{', while you work' if event.get('interrupts') else ''}:\n{event['text']}"


def shown_result(event: dict, call: dict) -> str:
    """A result, as it is printed."""
    how = f" (exit code {event['exit']})" if event.get("exit") else " (failed)" if event["failed"] else ""
    return f"--- {call['id']} {call['tool']}{how}:\n{event['output']}"


def due_turn(session: events.Session, ended: bool) -> dict | None:
    """The person's turn that comes now, as an event, or none. Turns whose condition does not hold are recorded as left out."""
    for number, turn in enumerate(session.turns[session.next_turn():], session.next_turn()):
        interrupts = not ended and session.calls_since_turn() >= turn.get("after_calls", float("inf"))
        if not ended and not interrupts:
            return None
        if (("if_missing" in turn and (session.cwd / turn["if_missing"]).exists())
                or ("if_exists" in turn and not (session.cwd / turn["if_exists"]).exists())):
            session.append({"event": "left_out", "turn": number})
            continue
        event = {"event": "user", "turn": number, "text": turn["user"]}
        return event | {"interrupts": True} if interrupts else event
    return None


def go_on(session: events.Session) -> None:
    """Does what is still to do behind the agent's last message: calls that were cut off, the person's turn, the end."""
    if session.ended():
        return
    for call in session.open_calls():
        session.append({"event": "result", "call": call["id"], "failed": True, "seconds": 0.0,
                        "output": "The call was interrupted. It is not known how much of it was done."})
    ended = session.agent_ended()
    if turn := due_turn(session, ended):
        session.append(turn)
    elif ended:
        session.end()


def show(session: events.Session, id: str | None = None) -> None:
    """Prints what came back behind the agent's last message, or what one call returned."""
    if id:
        outputs = [event["output"] for event in session.events if event.get("call") == id]
        if not outputs:
            raise Refused(f"no call {id} has a result")
        print(outputs[0])
        return
    for event in session.since_agent():
        if event["event"] == "result":
            print(shown_result(event, session.call(event["call"])))
        elif event["event"] == "user":
            print(shown_turn(event))
        elif event["event"] == "end":
            print("--- the session ends here")


def begin(folder: Path, home: Path) -> None:
    """Sets the project up and lets the person speak first."""
    session = events.begun(folder, home)
    print(HELP.format(cwd=session.cwd, seconds=calls.SECONDS))
    for tool in session.tools.values():
        described = {key: tool[key] for key in ("description", "input_schema")}
        print(f'Tool of this project: {{"{tool["name"]}": {{…}}}} {json.dumps(described, ensure_ascii=False)}')
    go_on(session)
    show(session)


def act(session: events.Session, text: str) -> None:
    """Records a message of the agent's, makes its calls, and prints what comes back."""
    if session.ended():
        raise Refused("the session has ended")
    message = calls.message(text, session.tools)
    if session.open_calls() or session.agent_ended():
        go_on(session)
        show(session)
        raise Refused("the last message was cut off; what it still brought stands above. Nothing was done with this one")
    made = [{"id": f"call_{session.calls_made() + number}", "tool": tool, "input": given}
            for number, (tool, given) in enumerate(message["calls"], 1)]
    spoken = {key: message[key] for key in ("think", "say") if message.get(key)}
    session.append({"event": "agent"} | spoken | {"calls": made})
    for call in made:
        session.append({"event": "result", "call": call["id"]} | calls.result(call, session))
    go_on(session)
    show(session)


def main() -> None:
    parser = argparse.ArgumentParser(description="Records a session of a live agent.")
    parser.add_argument("command", choices=["begin", "act", "show"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("call", nargs="?", help="with show: the call whose result is printed")
    parser.add_argument("--home", type=Path, default=Path("/home/dev"),
                        help="with begin: where the project's folder stands while it is worked on (default: /home/dev)")
    given = parser.parse_args()
    folder = given.folder.resolve()
    try:
        if not folder.is_dir():
            raise Refused(f"{given.folder} is not a folder")
        with open(folder / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Refused(f"another call for {given.folder} is still running: wait for it") from None
            if given.command == "begin":
                begin(folder, given.home)
            elif given.command == "act":
                act(events.Session(folder), sys.stdin.read())
            else:
                session = events.Session(folder)
                if session.open_calls() or session.agent_ended():
                    go_on(session)
                show(session, given.call)
    except (Refused, OSError) as error:
        sys.exit(f"record.py: {error}")


if __name__ == "__main__":
    main()
