"""A session file of Claude Code 2.1.332, in the form of `tests/agents/recorded/claude`."""

from steps import Call, Recording, Step, hunks, lines, time

NAMES = {"bash": "Bash", "read": "Read", "write": "Write", "edit": "Edit"}
CURRENT = " (file state is current in your context — no need to Read it back)"

# How the program tells the model of what was typed while it worked.
QUEUED = """<system-reminder>
The user sent a new message while you were working:
{}

This is how Claude Code surfaces messages the user sends mid-turn — within the running turn, often alongside the next tool result, \
rather than as a separate conversation turn. Address the message above as you continue this turn.
</system-reminder>"""


def records(recording: Recording) -> list[dict]:
    """The file's records. What the program says of itself and of its machine was not recorded; what the agent thought is left out:
    the program sends it again, and a provider takes no thinking that it did not sign."""
    return Writer(recording).records()


class Writer:
    def __init__(self, recording: Recording):
        self.recording, self.made, self.parent, self.prompt = recording, [], None, None
        self.session = recording.uuid()
        self.shared = {"userType": "external", "entrypoint": "cli", "cwd": str(recording.cwd), "sessionId": self.session,
                       "version": "2.1.332", "gitBranch": "main"}

    def records(self) -> list[dict]:
        for step in self.recording.steps:
            if step.user is None:
                self.agent(step)
            elif step.interrupts:
                self.queued(step)
            else:
                self.prompt = self.recording.uuid()
                self.record("user", step.at, {"promptId": self.prompt, "type": "user",
                                              "message": {"role": "user", "content": step.user}})
        return self.made

    def record(self, kind: str, at: int, fields: dict) -> str:
        """Adds a record of the conversation; gives its id."""
        uuid = self.recording.uuid()
        self.made.append({"parentUuid": self.parent, "isSidechain": False} | fields
                         | {"type": kind, "uuid": uuid, "timestamp": time(at)} | self.shared)
        self.parent = uuid
        return uuid

    def queued(self, step: Step) -> None:
        """What the person typed while the agent worked: it waits in a queue, and goes along with the results."""
        at, source, delivery = time(step.at), self.recording.uuid(), self.recording.uuid()
        for operation, fields in [("enqueue", {}), ("remove", {"reason": "absorbed_mid_turn", "commandUuid": source,
                                                               "deliveryId": delivery})]:
            self.made.append({"type": "queue-operation", "operation": operation, "timestamp": at, "sessionId": self.session,
                              "content": step.user} | fields)
        self.record("attachment", step.at, {
            "attachment": {"type": "queued_command", "prompt": step.user, "source_uuid": source, "delivery_id": delivery,
                           "commandMode": "prompt", "origin": {"kind": "human"}, "timestamp": at},
            "rendered": [{"content": QUEUED.format(step.user)}], "renderedRole": "system"})

    def agent(self, step: Step) -> None:
        """A message of the agent: a record for each of its blocks, then the results."""
        blocks = [{"type": "text", "text": step.say}] if step.say else []
        ids = {call.id: "toolu_01" + self.recording.text(22) for call in step.calls}
        blocks += [{"type": "tool_use", "id": ids[call.id], "name": self.name(call), "input": self.input(call)}
                   for call in step.calls]
        message = {"id": "msg_01" + self.recording.text(22), "type": "message", "role": "assistant",
                   "model": self.recording.model}
        sources = {}
        for block in blocks:
            uuid = self.record("assistant", step.at, {"message": message | {
                "content": [block], "stop_reason": "tool_use" if step.calls else "end_turn", "stop_sequence": None}})
            sources[block.get("id")] = uuid
        for call in step.calls:
            told, structured = self.result(call)
            block = {"tool_use_id": ids[call.id], "type": "tool_result", "content": told}
            if call.failed or call.tool not in ("read", "write", "edit"):
                block["is_error"] = call.failed
            self.record("user", call.at, {"promptId": self.prompt, "message": {"role": "user", "content": [block]},
                                          "toolUseResult": structured, "sourceToolAssistantUUID": sources[ids[call.id]]})

    def name(self, call: Call) -> str:
        """The tool's name: the project's own are those of an MCP server."""
        return NAMES.get(call.tool) or f"mcp__{self.recording.name}__{call.tool}"

    def input(self, call: Call) -> dict:
        given = call.input
        if call.tool == "read":
            names = {"from": "offset", "lines": "limit"}
            return {"file_path": call.path(self.recording.cwd)} | {names[key]: given[key] for key in names if key in given}
        if call.tool == "write":
            return {"file_path": call.path(self.recording.cwd), "content": given["content"]}
        if call.tool == "edit":
            return {"replace_all": given.get("all", False), "file_path": call.path(self.recording.cwd),
                    "old_string": given["old"], "new_string": given["new"]}
        return given

    def result(self, call: Call) -> tuple[str, dict | str | list]:
        """What the model is told, and the same for the program."""
        if call.failed:
            told = call.told() if call.tool not in ("read", "write", "edit") else f"<tool_use_error>{call.output}</tool_use_error>"
            return told, "Error: " + (call.told() if call.exit else call.output)
        if call.tool == "bash":
            return call.output, {"stdout": call.output, "stderr": "", "interrupted": False, "isImage": False,
                                 "noOutputExpected": False}
        path = call.path(self.recording.cwd) if "path" in call.input else ""
        patch = [{"oldStart": it.old_start, "oldLines": it.old_lines, "newStart": it.new_start, "newLines": it.new_lines,
                  "lines": it.lines} for it in hunks(call.diff)]
        if call.tool == "read":
            read = lines(call)
            return call.output, {"type": "text", "file": {
                "filePath": path, "content": "\n".join(read.lines), "numLines": len(read.lines), "startLine": read.first,
                "totalLines": read.last() + read.rest}}
        if call.tool == "write":
            told = f"File created successfully at: {path}" if call.created else f"The file {path} has been updated successfully."
            return told + CURRENT, {"type": "create" if call.created else "update", "filePath": path,
                                    "content": call.input["content"], "structuredPatch": patch, "originalFile": None,
                                    "userModified": False}
        if call.tool == "edit":
            return f"The file {path} has been updated successfully.{CURRENT}", {
                "filePath": path, "oldString": call.input["old"], "newString": call.input["new"], "originalFile": None,
                "structuredPatch": patch, "userModified": False, "replaceAll": call.input.get("all", False)}
        return call.output, [{"type": "text", "text": call.output}]
