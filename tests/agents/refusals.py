"""What providers refuse of a request: the rules of OpenAI chat, OpenAI Responses and Anthropic messages, as their documents
and their error messages have them. Gemini's are in gemini.py.

The model of these tests signs what it thinks (`signed`), so that a changed or foreign thought is told without a memory.
"""

import base64
import json
import re


def signed(identity, thought):
    """The signature under which the model thought something, before an answer of this id."""
    return base64.b64encode(f"{identity}\n{thought}".encode()).decode()


def thought_behind(signature):
    """(id, thought) of a signature; nothing for one that the model did not give."""
    try:
        identity, _, thought = base64.b64decode(signature or "", validate=True).decode().partition("\n")
        return (identity, thought) if identity else None
    except ValueError:
        return None


def problems(path, body):
    """Why a provider would refuse a request, a line for each reason."""
    if path.endswith("/messages"):
        return anthropic(body)
    if path.endswith("/chat/completions"):
        return chat(body["messages"])
    return responses(body.get("input"))


def anthropic(body):
    found, called, turns = [], set(), []
    # Neighbours of one role are one turn. Instructions may stand in between, also without words: with settings of the output.
    for message in (message for message in body["messages"] if message["role"] != "system"):
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], list(blocks)))
    if not turns or turns[0][0] != "user":
        found.append("the first message is not the user's")
    open_calls = []
    for role, blocks in turns:
        if not blocks:
            found.append(f"a message of the {role} is empty")
        found += ["a text is empty" for block in blocks if block["type"] == "text" and not block["text"].strip()]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls):
            found.append(f"calls {open_calls} have the results {results}")
        first_other = next((at for at, block in enumerate(blocks) if block["type"] != "tool_result"), len(blocks))
        if first_other < len(results):
            found.append("something stands in front of a result")
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"] if role == "assistant" else []
        found += [f"the call {call} stands twice" for call in open_calls if call in called]
        called.update(open_calls)
        for block in blocks:
            if block["type"] == "thinking":
                signature = thought_behind(block.get("signature"))
                if role != "assistant" or not signature or signature[1] != block["thinking"]:
                    found.append("thinking is not as the model signed it")
        if blocks and role == "assistant" and blocks[-1]["type"] == "thinking":
            found.append("the last block of an answer is thinking")
    if open_calls:
        found.append(f"calls {open_calls} have no results")
    is_enabled = (body.get("thinking") or {}).get("type") == "enabled"
    under_way = len(turns) > 1 and turns[-1][0] == "user" and turns[-1][1][0]["type"] == "tool_result"
    if is_enabled and under_way and turns[-2][1][0]["type"] not in ("thinking", "redacted_thinking"):
        found.append("Expected `thinking` or `redacted_thinking`: the answer under way does not begin with its thinking")
    found += [f"a call's id has other characters: {call}" for call in called if not re.fullmatch(r"[\w-]+", call)]
    return found


def chat(messages):
    found, called, open_calls = [], set(), []
    for message in [*messages, {"role": "end"}]:
        if message["role"] == "tool":
            if message["tool_call_id"] in open_calls:
                open_calls.remove(message["tool_call_id"])
            else:
                found.append(f"a result of no call: {message['tool_call_id']}")
            continue
        if open_calls:
            found.append(f"calls {open_calls} have no results")
        calls = message.get("tool_calls") or []
        open_calls = [call["id"] for call in calls]
        found += [f"the call {call} stands twice" for call in open_calls if call in called]
        called.update(open_calls)
        for call in calls:
            try:
                json.loads(call["function"]["arguments"])
            except ValueError:
                found.append(f"the arguments of {call['id']} are no JSON")
        if message["role"] in ("assistant", "user") and not message.get("content") and not calls:
            found.append(f"a message of the {message['role']} is empty")
    return found


def responses(items):
    """A request's input may be a text. Reasoning stands in front of the item that it was made with."""
    if not isinstance(items, list):
        return []
    found, calls, outputs = [], [], []
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind.endswith("_call_output"):
            if item["call_id"] not in calls:
                found.append(f"an output of no call: {item['call_id']}")
            outputs.append(item["call_id"])
        elif kind.endswith("_call"):
            calls.append(item.get("call_id"))
        elif kind == "reasoning" and item.get("encrypted_content"):
            thought = thought_behind(item["encrypted_content"])
            behind = items[at + 1] if at + 1 < len(items) else {}
            if not thought:
                found.append("reasoning is not as the model encrypted it")
            elif behind.get("type", "message") not in ("message", "function_call", "custom_tool_call", "local_shell_call", "reasoning"):
                found.append("reasoning stands without the item that follows it")
    found += [f"the call {call} stands twice" for call in {call for call in calls if calls.count(call) > 1}]
    if sorted(map(str, calls)) != sorted(map(str, outputs)):
        found.append(f"calls {calls} have the outputs {outputs}")
    return found


def refusal(path, found):
    """The body of the answer by which a provider refuses a request."""
    message = "; ".join(found)
    if path.endswith("/messages"):
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return {"error": {"type": "invalid_request_error", "code": None, "param": None, "message": message}}
