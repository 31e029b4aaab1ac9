"""A made-up provider for agents: its model does what a script says, turn after turn.

    provider.py FOLDER SCRIPT

SCRIPT is a JSON file: `tag` (a word that the ids of its calls bear), `steps`, one for each answer (the last one is given for
good), `thinks`, whether the model thinks where a request lets it, and `refuses`, a model that is refused. A step is an
object:

    shell      a command for the agent's shell; a number for one with much output that is told from others by it; a list
               for several in one answer
    calls      [[tool, arguments], …] beside it, by the end of the tool's name; a tool that is not there is left out
    say        a text, as the answer or in front of the calls
    quote      a regular expression: what it finds last in the results of the request's tools is said behind the text
    take       a regular expression: what its group finds last there stands for {taken} in the arguments of calls
    usage      tokens that the request is said to have had, in place of a quarter of its bytes

Speaks OpenAI chat, OpenAI Responses, Anthropic messages and Gemini's contents, streamed or not. Which step comes is told by
the ids of calls that the agent brings back. What a provider would refuse is refused. Writes every request that it gets to FOLDER as NUMBER.json with its path, and prints the port
that it listens on. A request for a model's answer that has no tool named like a shell is one on the side (a title, a
summary) and gets a few words, or an object of the schema that it has.
"""

import itertools
import json
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import gemini
import received
import refusals
import wires

FOLDER, SCRIPT = sys.argv[1], json.load(open(sys.argv[2]))
SHELLS = ("bash", "Bash", "shell", "shell_command", "exec_command", "run_shell_command", "execute_command")
ASIDE = "A few words."

numbers, answers = itertools.count(), itertools.count()
lock = threading.Lock()
reached = 0


def command(part):
    if isinstance(part, str):
        return part
    # In words that every agent runs: some take `$(` for an injection.
    return (f"awk 'BEGIN {{ for (i = 1; i < 121; i++) printf \"src/part_{part}/file_%d.rs: checked, %d warnings, "
            "nothing else to say of it\\n\", i, i * 7 }'")


def arguments(name, part):
    if name == "exec_command":
        return {"cmd": command(part)}
    if name == "shell":
        return {"command": ["bash", "-c", command(part)]}
    return {"command": command(part), "description": "Builds"}


def shell(body):
    return next((tool for name in SHELLS for tool in wires.tools(body) if tool[0] == name), None)


def identity(step, call):
    return f"call_{SCRIPT['tag']}_{step}_{call}"


def step_of(body):
    """The step that comes: the one behind the last whose calls the agent has brought back. They may have left since."""
    global reached
    text = json.dumps(body)
    steps = range(len(SCRIPT["steps"]))
    reached = max((step + 1 for step in steps if f"\"{identity(step, 0)}\"" in text), default=reached)
    return reached


def last_found(pattern, body):
    found = [match for result in received.results_of(body, "") for match in re.findall(pattern, result)]
    return found[-1] if found else "Nothing was found."


def answer(body, used):
    """What the model says to a request, as its id, a text and calls; and the tokens that the request is said to have."""
    tool = shell(body)
    if tool is None:
        return (f"aside_{next(numbers)}", gemini.aside(body) or ASIDE, []), used
    number = min(step_of(body), len(SCRIPT["steps"]) - 1)
    step = SCRIPT["steps"][number]
    parts = step.get("shell", [])
    asked = [(tool, arguments(tool[0], part)) for part in (parts if isinstance(parts, list) else [parts])]
    taken = last_found(step["take"], body) if "take" in step else ""
    for wanted, given in step.get("calls", []):
        given = {key: taken if value == "{taken}" else value for key, value in given.items()}
        named = next((tool for tool in wires.tools(body) if (tool[0] or "").endswith(wanted)), None)
        asked += [(named, given)] if named else []
    text = step.get("say", "")
    if "quote" in step:
        text += " " + last_found(step["quote"], body)
    calls = [(identity(number, index), tool, given) for index, (tool, given) in enumerate(asked)]
    return (f"{SCRIPT['tag']}_{number}_{next(answers)}", text, calls), step.get("usage", used)


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
        with lock:
            name = os.path.join(FOLDER, f"{next(numbers):03}.json")
            with open(name + ".part", "w") as file:
                json.dump({"path": path, "bytes": len(data), "is_main": shell(body) is not None,
                           "is_form": gemini.aside(body) is not None, "body": body}, file)
            os.rename(name + ".part", name)
        used = len(data) // 4
        # Gemini CLI's own request for a summary has the model speak twice in a row, and Google takes it.
        is_summary = shell(body) is None and gemini.aside(body) is None
        wrong = gemini.problems(body) if path.endswith(gemini.METHODS) and not is_summary else []
        refused = refusals.problems(path, body) if path.endswith(("/chat/completions", "/responses", "/messages")) else []
        if "refuses" in SCRIPT and body.get("model") == SCRIPT["refuses"]:
            refused = ["there is no such model"]
        if path.endswith("/count_tokens"):
            self.answer(200, json.dumps({"input_tokens": used}))
        elif path.endswith(":countTokens"):
            self.answer(200, json.dumps({"totalTokens": used}))
        elif wrong:
            error = {"code": 400, "status": "INVALID_ARGUMENT", "message": "; ".join(wrong)}
            self.answer(400, json.dumps({"error": error}))
        elif refused:
            self.answer(400, json.dumps(refusals.refusal(path, refused)))
        elif not path.endswith(("/chat/completions", "/responses", "/messages", *gemini.METHODS)):
            self.answer(404, "{}")
        else:
            asked = body if SCRIPT["thinks"] else {**body, "thinking": None, "include": None}
            pieces = wires.events(path, asked, *answer(body, used))
            if body.get("stream") or ":stream" in path:
                self.answer(200, wires.stream(pieces), "text/event-stream")
            else:
                self.answer(200, json.dumps(wires.whole(path, pieces)))

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
