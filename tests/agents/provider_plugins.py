"""The made-up provider of the plug-ins' cases: provider.py's model, which also writes summaries for agents that compact.

    provider_plugins.py FOLDER SCRIPT

The script is that of provider.py, with one more field: `summary`, what the model says where an agent asks it for one. The
request on which an agent asks for a summary is written with `"is_summary": true`. A step has two more:

    read       paths of files, for the agent's tool that reads one; for its shell where it has none
    otherwise  a command for the shell where none of the tools of `calls` is there

`again` has the `prompt` of a later turn and its `steps`, the ids of whose calls bear `again` in place of the tag. What a
provider would refuse is refused, and written with the reasons in `"refused"`.
"""

import itertools
import json
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import received
import refusals
import wires

FOLDER, SCRIPT = sys.argv[1], json.load(open(sys.argv[2]))
SHELLS = ("bash", "Bash", "shell", "shell_command", "exec_command")
#: What agents say where they want a summary in place of work.
ASKED = ("Do NOT call any tools", "create a detailed summary", "CONTEXT CHECKPOINT")
#: What agents say in the system prompt of such a request.
SUMMARIZER = "context summarization"
ASIDE = "A few words."

numbers = itertools.count()
lock = threading.Lock()
reached = {}


def command(part):
    if isinstance(part, str):
        return part
    return ("i=0; while [ $i -lt 120 ]; do i=$((i+1)); echo "
            f"\"src/part_{part}/file_$i.rs: checked, $((i * 7)) warnings, nothing else to say of it\"; done")


def arguments(name, part):
    if name == "exec_command":
        return {"cmd": command(part)}
    if name == "shell":
        return {"command": ["bash", "-c", command(part)]}
    return {"command": command(part), "description": "Builds"}


def shell(body):
    return next((tool for name in SHELLS for tool in wires.tools(body) if tool[0] == name), None)


def reader(body):
    """The tool that reads a file, and its argument for the path."""
    for tool in body.get("tools") or []:
        given = tool.get("function", tool)
        if given.get("name") in ("Read", "read"):
            schema = given.get("input_schema") or given.get("parameters") or {}
            name = next(name for name in ("file_path", "filePath", "path") if name in schema.get("properties", {}))
            return (given["name"], None), name
    return None, None


def is_summary(body):
    messages = body.get("messages") or body.get("input") or [{}]
    is_summarizer = messages[0].get("role") == "system" and SUMMARIZER in json.dumps(messages[0])
    return is_summarizer or any(words in json.dumps(messages[-1]) for words in ASKED)


def turn_of(body):
    """The turn that a request is of: its tag, and its steps."""
    again = SCRIPT.get("again")
    if again and again["prompt"] in received.conversation(body):
        return "again", again["steps"]
    return SCRIPT["tag"], SCRIPT["steps"]


def step_of(body, tag, steps):
    """The step that comes: the one behind the last whose calls the agent has brought back. They may have left since."""
    text = json.dumps(body)
    back = max((step + 1 for step in range(len(steps)) if f"\"call_{tag}_{step}_0\"" in text), default=0)
    reached[tag] = max(reached.get(tag, 0), back)
    return min(reached[tag], len(steps) - 1)


def answer(body):
    """What the model says to a request: its id, a text, and calls."""
    if is_summary(body):
        return f"summary_{next(numbers)}", SCRIPT["summary"], []
    tool = shell(body)
    if tool is None:
        return f"aside_{next(numbers)}", ASIDE, []
    tag, steps = turn_of(body)
    number = step_of(body, tag, steps)
    step = steps[number]
    parts = step.get("shell", [])
    asked = [(tool, arguments(tool[0], part)) for part in (parts if isinstance(parts, list) else [parts])]
    read, name = reader(body)
    for path in step.get("read", []):
        asked.append((read, {name: path}) if read else (tool, arguments(tool[0], f"cat {path}")))
    for wanted, given in step.get("calls", []):
        named = next((tool for tool in wires.tools(body) if (tool[0] or "").endswith(wanted)), None)
        asked += [(named, given)] if named else []
    if "otherwise" in step and not asked:
        asked.append((tool, arguments(tool[0], step["otherwise"])))
    text = step.get("say", "")
    if "quote" in step:
        found = [match for result in received.results_of(body, "") for match in re.findall(step["quote"], result)]
        text += " " + (found[-1] if found else "Nothing was found.")
    calls = [(f"call_{tag}_{number}_{index}", tool, given) for index, (tool, given) in enumerate(asked)]
    return f"{tag}_{number}", text, calls


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, kind="application/json"):
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(200, json.dumps({"object": "list", "data": [], "models": []}))

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        body = json.loads(data or b"{}")
        # As a provider counts, near enough: what an agent sees of its context grows with what it sends.
        used = len(data) // 4
        if path.endswith("/count_tokens"):
            return self.answer(200, json.dumps({"input_tokens": used}))
        if not path.endswith(("/chat/completions", "/responses", "/messages")):
            return self.answer(404, "{}")
        with lock:
            name = os.path.join(FOLDER, f"{next(numbers):03}.json")
            main = shell(body) is not None and not is_summary(body)
            refused = refusals.problems(path, body)
            kept = {"path": path, "bytes": len(data), "is_main": main, "is_summary": is_summary(body), "refused": refused,
                    "body": body}
            with open(name + ".part", "w") as file:
                json.dump(kept, file)
            os.rename(name + ".part", name)
            pieces = list(wires.events(path, body, answer(body), used)) if not refused else []
        if refused:
            self.answer(400, json.dumps(refusals.refusal(path, refused)))
        elif body.get("stream"):
            self.answer(200, wires.stream(pieces), "text/event-stream")
        else:
            self.answer(200, json.dumps(wires.whole(path, pieces)))

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
