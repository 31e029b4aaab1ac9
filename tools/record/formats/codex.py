"""A rollout of Codex 0.171.0, in the form of `tests/agents/recorded/codex`. Codex reads files by commands and changes them by patches."""

import json
import shlex

from steps import Call, Recording, Step, hunks, lines, time


def records(recording: Recording) -> list[dict]:
    """The file's records. Counts of tokens and the instructions of the program were not recorded."""
    return Writer(recording).records()


class Writer:
    def __init__(self, recording: Recording):
        self.recording, self.made, self.turn = recording, [], None
        self.thread = recording.uuid_at(recording.start)

    def records(self) -> list[dict]:
        recording, cwd = self.recording, str(self.recording.cwd)
        tools = [{"name": tool["name"], "description": tool["description"], "inputSchema": tool["input_schema"],
                  "deferLoading": False} for tool in recording.tools.values()]
        self.record(recording.start, "session_meta", {
            "session_id": self.thread, "id": self.thread, "timestamp": time(recording.start), "cwd": cwd,
            "runtime_workspace_roots": [cwd], "originator": "codex-tui", "cli_version": "0.171.0", "source": "cli",
            "model_provider": "openai"} | ({"dynamic_tools": tools} if tools else {}) | {
            "history_mode": "paginated", "context_window": {"window_id": recording.uuid_at(recording.start)}})
        for step in recording.steps:
            if step.user is None:
                self.agent(step)
                continue
            if not step.interrupts:
                self.begin(step.at)
            self.item(step.at, {"type": "message", "id": "msg_" + recording.uuid_at(step.at), "role": "user",
                                "content": [{"type": "input_text", "text": step.user}]})
            self.completed(step.at, {"type": "UserMessage", "id": recording.uuid_at(step.at),
                                     "content": [{"type": "text", "text": step.user, "text_elements": []}]})
        return self.made

    def record(self, at: int, kind: str, payload: dict) -> None:
        self.made.append({"timestamp": time(at), "ordinal": len(self.made), "type": kind, "payload": payload})

    def item(self, at: int, payload: dict) -> None:
        """An item that the model is sent."""
        self.record(at, "response_item", payload | {"internal_chat_message_metadata_passthrough": {"turn_id": self.turn}})

    def completed(self, at: int, item: dict) -> None:
        """The same for the window."""
        self.record(at, "event_msg", {"type": "item_completed", "thread_id": self.thread, "turn_id": self.turn, "item": item,
                                      "started_at_ms": at, "completed_at_ms": at})

    def begin(self, at: int) -> None:
        """A turn begins; the first one says where it is."""
        cwd, is_first = str(self.recording.cwd), self.turn is None
        self.turn = self.recording.uuid_at(at)
        self.record(at, "event_msg", {"type": "task_started", "turn_id": self.turn, "root_turn_id": self.turn,
                                      "started_at": at // 1000, "collaboration_mode_kind": "default"})
        if is_first:
            text = (f"<environment_context>\n  <cwd>{cwd}</cwd>\n  <shell>bash</shell>\n  <current_date>{time(at)[:10]}</current_date>\n"
                    "  <timezone>Etc/UTC</timezone>\n</environment_context>")
            self.item(at, {"type": "message", "id": "msg_" + self.recording.uuid_at(at), "role": "user",
                           "content": [{"type": "input_text", "text": text}]})
        self.record(at, "turn_context", {"turn_id": self.turn, "root_turn_id": self.turn, "cwd": cwd, "approval_policy": "never",
                                         "model": self.recording.model, "summary": "auto",
                                         "sandbox_policy": {"type": "danger-full-access"}})

    def agent(self, step: Step) -> None:
        if step.think:
            self.item(step.at, {"type": "reasoning", "id": "rs_" + self.recording.hex(48),
                                "summary": [{"type": "summary_text", "text": step.think}], "content": None})
        if step.say:
            id = "msg_" + self.recording.hex(48)
            self.completed(step.at, {"type": "AgentMessage", "id": id, "content": [{"type": "Text", "text": step.say}]})
            self.item(step.at, {"type": "message", "status": "completed", "id": id, "role": "assistant",
                                "content": [{"type": "output_text", "text": step.say, "annotations": []}]})
        ids = {call.id: "call_" + self.recording.text(24) for call in step.calls}
        for call in step.calls:
            self.item(step.at, self.call(call) | {"call_id": ids[call.id]})
        for call in step.calls:
            custom = "custom_tool" if call.tool in ("write", "edit") else "function"
            self.item(call.at, {"type": f"{custom}_call_output", "call_id": ids[call.id], "output": self.output(call)})
        if not step.calls:
            self.record(step.at, "event_msg", {"type": "task_complete", "turn_id": self.turn, "root_turn_id": self.turn,
                                               "last_agent_message": step.say, "completed_at": step.at // 1000})

    def call(self, call: Call) -> dict:
        if call.tool in ("write", "edit"):
            return {"type": "custom_tool_call", "status": "completed", "id": "ctc_" + self.recording.hex(48),
                    "name": "apply_patch", "input": patch(call)}
        arguments = {"cmd": command(call)} if call.tool in ("bash", "read") else call.input
        return {"type": "function_call", "status": "completed", "id": "fc_" + self.recording.hex(48),
                "name": "exec_command" if call.tool in ("bash", "read") else call.tool,
                "arguments": json.dumps(arguments, ensure_ascii=False)}

    def output(self, call: Call) -> str:
        if call.tool in ("write", "edit"):
            if call.failed:
                return f"apply_patch verification failed: {call.output}"
            return ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\n"
                    f"{'A' if call.created else 'M'} {call.input['path']}\n")
        if call.tool not in ("bash", "read"):
            return call.told()
        text, code = call.output, call.exit or 0
        if call.tool == "read":
            read = lines(call)
            text = f"sed: can't read {text}" if call.failed else "\n".join(read.lines + ([read.note] if read.note else []))
            code = 2 if call.failed else 0
        text += "\n" if text else ""
        return (f"Chunk ID: {self.recording.hex(6)}\nWall time: {call.seconds:.4f} seconds\nProcess exited with code {code}\n"
                f"Original token count: {(len(text.encode()) + 3) // 4}\nOutput:\n{text}")


def command(call: Call) -> str:
    """The command; a file is read by one too."""
    if call.tool == "bash":
        return call.input["command"]
    path, first = shlex.quote(call.input["path"]), call.input.get("from", 1)
    if "lines" not in call.input and first == 1:
        return f"cat {path}"
    last = first + call.input["lines"] - 1 if "lines" in call.input else "$"
    return f"sed -n '{first},{last}p' {path}"


def patch(call: Call) -> str:
    """A change of a file as Codex' patch: of lines, where it was made; of the agent's words, where it was not."""
    path = call.input["path"]
    if call.created:
        body = [f"*** Add File: {path}"] + ["+" + line for line in call.input["content"].removesuffix("\n").split("\n")]
    elif call.diff or not call.failed:
        body = [f"*** Update File: {path}"]
        for hunk in hunks(call.diff):
            body += ["@@"] + hunk.lines
    else:
        old, new = (call.input["old"], call.input["new"]) if call.tool == "edit" else ("", call.input["content"])
        body = [f"*** Update File: {path}", "@@"]
        body += ["-" + line for line in old.split("\n")] + ["+" + line for line in new.split("\n")]
    return "\n".join(["*** Begin Patch", *body, "*** End Patch"]) + "\n"
