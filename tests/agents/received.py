"""What a provider was sent, in any of four wire formats."""

import json

import gemini


def ids(items, kind, key):
    return [item[key] for item in items if isinstance(item, dict) and item.get("type") == kind]


def pairs(body):
    """Steps of a request as (calls, results), in order."""
    if "contents" in body:
        return gemini.pairs(body["contents"])
    if "input" in body:
        items, steps, turn = body["input"], [], None
        for item in items:
            kind = item.get("type", "message")
            if kind.endswith("_call"):
                if turn != "calls":
                    steps.append(([], []))
                turn = "calls"
                steps[-1][0].append(item["call_id"])
            elif kind.endswith("_call_output"):
                turn = "results"
                assert steps, "a result without a call"
                steps[-1][1].append(item["call_id"])
        return steps
    steps = []
    for message in body["messages"]:
        content = message.get("content") if isinstance(message.get("content"), list) else []
        calls = [call["id"] for call in message.get("tool_calls") or []] + ids(content, "tool_use", "id")
        results = ids(content, "tool_result", "tool_use_id")
        results += [message["tool_call_id"]] if message["role"] == "tool" else []
        if calls:
            steps.append((calls, []))
        if results:
            assert steps, "a result without a call"
            steps[-1][1].extend(results)
    return steps


def results_of(body, part):
    """The texts of tools' results, in order, of the calls whose ids hold `part`."""
    found = gemini.results(body.get("contents") or [])
    for item in body.get("input") or []:
        if item.get("type", "").endswith("_call_output"):
            found.append((item["call_id"], text_of(item.get("output"))))
    for message in body.get("messages") or []:
        if message["role"] == "tool":
            found.append((message["tool_call_id"], text_of(message["content"])))
        content = message.get("content") if isinstance(message.get("content"), list) else []
        found += [(block["tool_use_id"], text_of(block.get("content"))) for block in content
                  if block.get("type") == "tool_result"]
    return [text for identity, text in found if part in identity]


def texts(body):
    """All that was said in messages, block by block."""
    found = gemini.texts(body.get("contents") or [])
    for message in body.get("messages") or body.get("input") or []:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"text": content}]
        found += [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]
    return found


def text_of(content):
    if isinstance(content, list):
        return "\n".join(block.get("text", "") for block in content if isinstance(block, dict))
    return content if isinstance(content, str) else json.dumps(content)


def conversation(body):
    """All that was said in a request, without its tools, as one text."""
    said = {key: body[key] for key in ("system", "instructions", "messages", "input", "systemInstruction", "contents") if key in body}
    return json.dumps(said, ensure_ascii=False)
