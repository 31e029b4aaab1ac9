"""An export of opencode 1.18.33, in the form of `tests/agents/recorded/opencode` and of its tools' own results."""

import os

from steps import Call, Recording, Step, hunks, lines

NOTHING_USED = {"total": 0, "input": 0, "output": 0, "reasoning": 0, "cache": {"write": 0, "read": 0}}
NAMES = {"path": "filePath", "from": "offset", "lines": "limit", "content": "content", "old": "oldString", "new": "newString",
         "all": "replaceAll"}


def document(recording: Recording) -> dict:
    """The export. How many tokens were used was not recorded, and the form needs the fields: all are 0."""
    return Writer(recording).document()


class Writer:
    def __init__(self, recording: Recording):
        self.recording, self.messages, self.user = recording, [], None
        self.newest, self.places = 0, 0
        self.provider = recording.provider()[0]
        self.session = "ses_" + self.ascending(recording.start, ~0) + recording.text(14)

    def ascending(self, at: int, mask: int = 0) -> str:
        """The beginning of an id: its time and a count; for a session turned round, so that the newest comes first."""
        self.places = self.places + 1 if at == self.newest else 1
        self.newest = at
        return f"{((at << 12 | self.places) ^ mask) & (1 << 48) - 1:012x}"

    def id(self, kind: str, at: int) -> str:
        return f"{kind}_{self.ascending(at)}{self.recording.text(14)}"

    def document(self) -> dict:
        recording = self.recording
        for step in recording.steps:
            self.message(step)
        last = max([step.at for step in recording.steps] + [call.at for step in recording.steps for call in step.calls])
        tokens = {key: value for key, value in NOTHING_USED.items() if key != "total"}
        return {"info": {
            "id": self.session, "slug": recording.name, "projectID": "global", "directory": str(recording.cwd),
            "title": recording.name, "agent": "build", "model": {"id": recording.model, "providerID": self.provider},
            "version": "1.18.33", "summary": {"additions": 0, "deletions": 0, "files": 0}, "cost": 0, "tokens": tokens,
            "time": {"created": recording.start, "updated": last}}, "messages": self.messages}

    def message(self, step: Step) -> None:
        model, cwd = self.recording.model, str(self.recording.cwd)
        id = self.id("msg", step.at)
        end = max([step.at] + [call.at for call in step.calls])
        if step.user is not None:
            info = {"role": "user", "time": {"created": step.at}, "agent": "build",
                    "model": {"providerID": self.provider, "modelID": model}, "summary": {"diffs": []}}
            self.user, parts = id, [{"type": "text", "text": step.user}]
        else:
            reason = "tool-calls" if step.calls else "stop"
            info = {"parentID": self.user, "role": "assistant", "mode": "build", "agent": "build",
                    "path": {"cwd": cwd, "root": cwd}, "cost": 0, "tokens": NOTHING_USED, "modelID": model,
                    "providerID": self.provider, "time": {"created": step.at, "completed": end}, "finish": reason}
            spoken = {"time": {"start": step.at, "end": step.at}}
            parts = [{"type": "step-start"}]
            parts += [{"type": "reasoning", "text": step.think} | spoken] if step.think else []
            parts += [{"type": "text", "text": step.say} | spoken] if step.say else []
            parts += [self.tool(call) for call in step.calls]
            parts += [{"reason": reason, "type": "step-finish", "tokens": NOTHING_USED, "cost": 0}]
        owner = {"sessionID": self.session, "messageID": id}
        self.messages.append({"info": info | {"id": id, "sessionID": self.session},
                              "parts": [part | {"id": self.id("prt", end)} | owner for part in parts]})

    def tool(self, call: Call) -> dict:
        """A call with its result. A command that failed is completed all the same: its exit code is beside what it printed."""
        input, start = self.input(call), call.at - round(call.seconds * 1000)
        state = {"status": "completed", "input": input}
        if call.failed and call.tool != "bash":
            state |= {"status": "error", "error": self.error(call)}
        else:
            output, metadata, title = self.result(call)
            state |= {"output": output, "metadata": metadata | {"truncated": False}, "title": title}
        return {"type": "tool", "tool": call.tool, "callID": "call_" + self.recording.text(24),
                "state": state | {"time": {"start": start, "end": call.at}}}

    def input(self, call: Call) -> dict:
        if call.tool not in ("read", "write", "edit"):
            return call.input
        return {NAMES[key]: call.path(self.recording.cwd) if key == "path" else value for key, value in call.input.items()}

    def error(self, call: Call) -> str:
        if call.tool == "read" and call.output.endswith(os.strerror(2)):
            return f"File not found: {call.path(self.recording.cwd)}"
        return call.told()

    def result(self, call: Call) -> tuple[str, dict, str]:
        """What the model is told, what is kept beside it, and a title."""
        if call.tool == "bash":
            output = call.output + ("\n" if call.output else "")
            return output, {"output": output, "exit": call.exit}, call.input["command"]
        if call.tool not in ("read", "write", "edit"):
            return call.output, {}, ""
        path, title = call.path(self.recording.cwd), call.input["path"]
        if call.tool == "read":
            read = lines(call)
            return told(path, call), {"preview": "\n".join(read.lines[:20]), "loaded": []}, title
        if call.tool == "write":
            return "Wrote file successfully.", {"diagnostics": {}, "filepath": path, "exists": not call.created}, title
        changed = [line[:1] for hunk in hunks(call.diff) for line in hunk.lines]
        diff = f"Index: {path}\n{'=' * 67}\n--- {path}\n+++ {path}\n{call.diff}\n"
        return "Edit applied successfully.", {"diagnostics": {}, "diff": diff, "filediff": {
            "file": path, "patch": diff, "additions": changed.count("+"), "deletions": changed.count("-")}}, title


def told(path: str, call: Call) -> str:
    """A file's lines as the tool shows them."""
    read = lines(call)
    made = [f"<path>{path}</path>", "<type>file</type>", "<content>"]
    made += [f"{number}: {line}" for number, line in enumerate(read.lines, read.first)]
    if read.rest:
        made += ["", f"(Showing lines {read.first}-{read.last()} of {read.last() + read.rest}. Use offset={read.last() + 1} to continue.)"]
    else:
        made += ["", read.note or f"(End of file - total {read.last()} lines)"]
    return "\n".join(made + ["</content>"])
