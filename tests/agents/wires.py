"""A model's answers in four wire formats: OpenAI chat, OpenAI Responses, Anthropic messages, and Gemini's contents.

An answer is its id, a text, and calls as (id, tool, arguments), where a tool is what `tools` gives; both may be empty. The
model thinks before it answers, where the request lets it: signed in Anthropic's form, encrypted in OpenAI Responses.
"""

import json

import gemini
import refusals

#: What the model thinks; the caller of Anthropic may want it left out.
THOUGHT = "What the last one printed is plain enough, and the next part is due."


def tools(body):
    """The tools of a request as (name, group): Codex puts those of an MCP server into a group of their own."""
    found = [(name, None) for name in gemini.declarations(body)]
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            found += [(inner.get("name"), tool.get("name")) for inner in tool.get("tools") or []]
        elif "functionDeclarations" not in tool:
            found.append((tool.get("name") or tool.get("function", {}).get("name"), None))
    return found


def thinks(body):
    """Whether a request lets the model think, and shows it what was thought."""
    return (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")


def thought_of(body):
    return "" if (body.get("thinking") or {}).get("display") == "omitted" else THOUGHT


def chat(body, identity, text, calls, usage):
    whole = {"prompt_tokens": usage, "completion_tokens": 10, "total_tokens": usage + 10}
    delta = {"role": "assistant", "content": text or None}
    if calls:
        delta["tool_calls"] = [
            {"index": index, "id": call, "type": "function",
             "function": {"name": tool[0], "arguments": json.dumps(given)}}
            for index, (call, tool, given) in enumerate(calls)]
    model = body.get("model", "m")
    chunk = {"id": f"chat_{identity}", "object": "chat.completion.chunk", "created": 1, "model": model}
    reason = "tool_calls" if calls else "stop"
    yield None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": whole}
    yield None, "[DONE]"


def responses(body, identity, text, calls, usage):
    model, items = body.get("model", "m"), []
    if "reasoning.encrypted_content" in (body.get("include") or []):
        items.append({"id": f"rs_{identity}", "type": "reasoning", "summary": [],
                      "encrypted_content": refusals.signed(identity, THOUGHT)})
    if text:
        items.append({"id": f"msg_{identity}", "type": "message", "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": text, "annotations": []}]})
    for call, (name, group), given in calls:
        item = {"id": f"fc_{call}", "type": "function_call", "status": "completed", "call_id": call,
                "name": name, "arguments": json.dumps(given)}
        items.append({**item, "namespace": group} if group else item)
    whole = {"input_tokens": usage, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": usage + 10}
    response = {"id": f"resp_{identity}", "object": "response", "created_at": 1, "model": model, "output": []}
    yield "response.created", {"type": "response.created", "response": {**response, "status": "in_progress"}}
    for index, item in enumerate(items):
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": index, "item": item}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": index, "item": item}
    yield "response.completed", {"type": "response.completed",
                                 "response": {**response, "status": "completed", "output": items, "usage": whole}}


def messages(body, identity, text, calls, usage):
    model, whole = body.get("model", "m"), {"input_tokens": usage, "output_tokens": 10}
    message = {"id": f"msg_{identity}", "type": "message", "role": "assistant", "model": model,
               "content": [], "stop_reason": None, "stop_sequence": None, "usage": whole}
    yield "message_start", {"type": "message_start", "message": message}
    blocks, thought = [], thought_of(body)
    if thinks(body):
        deltas = [{"type": "thinking_delta", "thinking": thought}] if thought else []
        deltas.append({"type": "signature_delta", "signature": refusals.signed(identity, thought)})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, *deltas))
    blocks += [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})] if text else []
    blocks += [({"type": "tool_use", "id": call, "name": tool[0], "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(given)}) for call, tool, given in calls]
    for index, (block, *deltas) in enumerate(blocks):
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    reason = "tool_use" if calls else "end_turn"
    yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
                            "usage": whole}
    yield "message_stop", {"type": "message_stop"}


def events(path, body, answer, usage):
    """An answer as (event, data) pairs of a stream."""
    if path.endswith(gemini.METHODS):
        return gemini.events(gemini.model_of(path), *answer, usage)
    wire = chat if path.endswith("/chat/completions") else responses if path.endswith("/responses") else messages
    return wire(body, *answer, usage)


def stream(pieces):
    """The text of a stream."""
    text = ""
    for event, piece in pieces:
        text += f"event: {event}\n" if event else ""
        text += f"data: {piece if isinstance(piece, str) else json.dumps(piece)}\n\n"
    return text


def whole(path, pieces):
    """The answer in one piece."""
    pieces = list(pieces)
    if path.endswith(gemini.METHODS):
        return gemini.whole(pieces)
    if path.endswith("/responses"):
        return pieces[-1][1]["response"]
    if path.endswith("/chat/completions"):
        first, last = pieces[0][1], pieces[1][1]
        choice = {"index": 0, "message": first["choices"][0]["delta"],
                  "finish_reason": last["choices"][0]["finish_reason"]}
        return {**first, "object": "chat.completion", "choices": [choice], "usage": last["usage"]}
    blocks = []
    for event, piece in pieces:
        if event == "content_block_start":
            blocks.append(dict(piece["content_block"]))
        elif event == "content_block_delta" and "partial_json" in piece["delta"]:
            blocks[-1]["input"] = json.loads(piece["delta"]["partial_json"])
        elif event == "content_block_delta":
            blocks[-1].update({key: value for key, value in piece["delta"].items() if key != "type"})
    return {**pieces[0][1]["message"], "content": blocks, "stop_reason": pieces[-2][1]["delta"]["stop_reason"]}
