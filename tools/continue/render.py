"""A conversation, as OpenAI chat has it, as text that an agent reads."""

import json


def render(messages: list[dict]) -> str:
    parts, tools = [], {}
    for message in messages:
        content = said(message.get("content"))
        if message["role"] == "tool":
            parts.append(f"=== result of {tools.get(message['tool_call_id'], 'a call')}\n{content}")
        elif content or not message.get("tool_calls"):
            parts.append(f"=== {message['role']}\n{content}")
        for call in message.get("tool_calls", []):
            tools[call["id"]] = call["function"]["name"]
            parts.append(f"=== call of {call['function']['name']}\n{arguments(call['function']['arguments'])}")
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def said(content) -> str:
    """The text of a content, which is a string, a list of parts, or nothing."""
    if isinstance(content, list):
        return "\n".join(part.get("text", f"[{part['type']}]") for part in content)
    return content or ""


def arguments(text: str) -> str:
    """Arguments as `name: value` lines, a text as it is."""
    try:
        given = json.loads(text)
    except ValueError:
        return text
    if not isinstance(given, dict):
        return text
    return "\n".join(f"{name}:{chr(10) if chr(10) in value else ' '}{value}" for name, value in (
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) for name, value in given.items()))
