"""The work of examples/session.jsonl as a script for provider_plugins.py: what its model said and called, step by step.

The calls are those of the recording, and print what they printed there; none of them changes anything. A file that was read
is read by the agent's own tool, where it has one. What a call has, such as an edit, stands in a command's text.
"""

import json
import re

from scene import HERE

RECORDING = HERE.parents[1] / "examples/session.jsonl"
#: Prints what the recorded call of a number printed. What the call was comes on its standard input.
AT = 'cat > /dev/null\ncat "at/$1.txt"\n'


def command(number, call):
    """The command of the shell that stands for a call."""
    name, given = call["name"], call["input"]
    path = given.get("file_path", given.get("path", ""))
    text = {"Bash": given.get("command"), "Grep": f"grep -rn '{given.get('pattern')}' {path}",
            "Write": f"write {path}\n{given.get('content')}",
            "Edit": f"edit {path}\n<<<<\n{given.get('old_string')}\n====\n{given.get('new_string')}\n>>>>"}[name]
    return f"sh at.sh {number} <<'END'\n{text}\nEND"


def text_of(content):
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def read_recording():
    """The messages of the recording, answers in one piece: role and blocks."""
    messages = []
    for line in RECORDING.read_text().splitlines():
        message = json.loads(line)["message"]
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if messages and messages[-1][0] == message["role"]:
            messages[-1][1].extend(blocks)
        else:
            messages.append((message["role"], list(blocks)))
    return messages


def task():
    """What the person asked for first."""
    return read_recording()[0][1][0]["text"]


def summary(characters):
    """A text of this length in the words that the model said in the recording: a summary as one may be long."""
    answers = [block for role, blocks in read_recording() if role == "assistant" for block in blocks]
    said = "\n".join(block["text"] for block in answers if block["type"] == "text")
    return (said * (characters // len(said) + 1))[:characters]


def steps(work):
    """The steps, and in the folder `work` what their calls print and read."""
    (work / "at.sh").write_text(AT)
    (work / "at").mkdir()
    messages = read_recording()
    results = {block["tool_use_id"]: text_of(block["content"])
               for _, blocks in messages for block in blocks if block["type"] == "tool_result"}
    made, said, number = [], [], 0
    for _, blocks in (message for message in messages if message[0] == "assistant"):
        said += [block["text"] for block in blocks if block["type"] == "text"]
        shell, read = [], []
        for call in (block for block in blocks if block["type"] == "tool_use"):
            number += 1
            result = results[call["id"]]
            if call["name"] == "Read":
                file = work / "at" / str(number) / call["input"]["file_path"].split("/", 4)[-1]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(re.sub(r"(?m)^ *\d+→", "", result) + "\n")
                read.append(str(file))
            else:
                (work / "at" / f"{number}.txt").write_text(result + "\n")
                shell.append(command(number, call))
        if shell or read:
            made.append({"say": "\n".join(said), "shell": shell, "read": read})
            said = []
    return made
