"""Gemini's contents: a model's answers in them, what a request says in them, and what Google refuses of it."""

import base64
import json

METHODS = (":generateContent", ":streamGenerateContent")
#: What Google takes for the signature of a call that has none of its own.
NO_SIGNATURE = "skip_thought_signature_validator"


def model_of(path):
    """The model that a path names: `…/models/MODEL:generateContent`."""
    return path.rsplit("/", 1)[1].split(":")[0]


def declarations(body):
    """The names of a request's functions."""
    return [each["name"] for tool in body.get("tools") or [] for each in tool.get("functionDeclarations") or []]


def signature(identity):
    """The signature under which the model made a call."""
    return base64.b64encode(f"the thought behind {identity}".encode()).decode()


def events(model, identity, text, calls, usage):
    """An answer as pieces of a stream: a thought, the text, the calls, of which the first is signed, and the end."""
    head = {"modelVersion": model, "responseId": identity}
    parts = [{"text": "**Going on**\n\nThe next part is due.", "thought": True}] + ([{"text": text}] if text else [])
    for number, (call, (name, _), given) in enumerate(calls):
        part = {"functionCall": {"id": call, "name": name, "args": given}}
        parts.append(part if number else {**part, "thoughtSignature": signature(call)})
    for part in parts:
        yield None, {**head, "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]}
    whole = {"promptTokenCount": usage, "candidatesTokenCount": 10, "thoughtsTokenCount": 5, "totalTokenCount": usage + 15}
    end = {"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
    yield None, {**head, "candidates": [end], "usageMetadata": whole}


def whole(pieces):
    """The answer in one piece."""
    parts = [part for _, piece in pieces for part in piece["candidates"][0]["content"]["parts"]]
    last = pieces[-1][1]
    return {**last, "candidates": [{**last["candidates"][0], "content": {"role": "model", "parts": parts}}]}


def value_of(schema):
    """Some value that a schema allows."""
    kind = str(schema.get("type", "string")).lower()
    if kind == "object":
        return {name: value_of(inner) for name, inner in (schema.get("properties") or {}).items()}
    plain = {"array": [], "boolean": False, "integer": 1, "number": 0}
    return plain[kind] if kind in plain else (schema.get("enum") or ["A few words."])[0]


def aside(body):
    """What the model says to a request on the side: an object where the request has a schema for it; else nothing."""
    config = body.get("generationConfig") or {}
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    return json.dumps(value_of(schema)) if schema else None


def parts_of(content, kind):
    return [part[kind] for part in content.get("parts") or [] if kind in part]


def pairs(contents):
    """Steps as (calls, results): by their ids, or by their names where they have none. Gemini CLI gives a result twice where
    it resumes a session: that is one."""
    steps = []
    for content in contents:
        calls, results = (([each.get("id") or each["name"] for each in parts_of(content, kind)])
                          for kind in ("functionCall", "functionResponse"))
        if calls:
            steps.append((calls, []))
        if results:
            assert steps, "a result without a call"
            steps[-1][1].extend(dict.fromkeys(results))
    return steps


def results(contents):
    """The tools' results as (id, text)."""
    found = [each for content in contents for each in parts_of(content, "functionResponse")]
    return [(each.get("id") or each["name"], text_of(each["response"])) for each in found]


def text_of(response):
    said = response.get("output", response.get("result"))
    return said if isinstance(said, str) else json.dumps(response)


def texts(contents):
    """All that was said in messages, part by part."""
    return [text for content in contents for text in parts_of(content, "text")]


def problems(body):
    """What Google refuses of a request's contents. Two of the user's in a row, and a first one of the model's in a form to
    be filled in, it takes: Gemini CLI sends them itself."""
    contents = body.get("contents") or []
    roles = [content.get("role") for content in contents]
    said = [number for number, content in enumerate(contents) if content.get("role") == "user"
            and parts_of(content, "text") and not parts_of(content, "functionResponse")]
    found = []
    if roles[-1:] != ["user"] or (roles[0] != "user" and not aside(body)):
        found.append(f"the contents begin and end with {roles[:1] + roles[-1:]}")
    if set(roles) - {"user", "model"} or ("model", "model") in zip(roles, roles[1:]):
        found.append(f"the roles are {roles}")
    if any(not content.get("parts") or {} in content["parts"] for content in contents):
        found.append("a content or a part is empty")
    for number, (before, content) in enumerate(zip([{}, *contents], contents)):
        calls, results = named(before, "functionCall"), named(content, "functionResponse")
        # Gemini CLI gives a result twice where it resumes a session.
        if calls != list(dict.fromkeys(results)):
            found.append(f"content {number} answers {results}, and what was called is {calls}")
        found += unsigned(content, number, number > max(said, default=-1))
    if named((contents or [{}])[-1], "functionCall"):
        found.append("the last content has calls")
    return found


def named(content, kind):
    return [(each.get("id"), each["name"]) for each in parts_of(content, kind)]


def unsigned(content, number, is_current):
    """A call has its own signature or none; the first one of a content has one in the current turn."""
    calls = [part for part in content.get("parts") or [] if "functionCall" in part]
    found = []
    for at, part in enumerate(calls):
        signed, own = part.get("thoughtSignature"), signature(part["functionCall"].get("id"))
        if signed not in (None, own, NO_SIGNATURE) or (signed is None and at == 0 and is_current):
            found.append(f"call {at} of content {number} has the signature {signed}")
    return found
