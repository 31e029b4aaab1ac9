"""Parts of every kind that a framework exports pass: below the budget as the same objects, above it in their places."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from kinds import PICTURE, members, typed_dicts, value_of
from work import TASK, read

import epitome_context as epitome
from epitome_context.adapters._host import Fitters, own_messages
from epitome_context.adapters._parts import Shape, messages_of, rows_of

STEPS = 12
BUDGET = 5_000
Fit = Callable[[list[Any], int], list[Any]]


def check(fit: Fit, messages: list[Any], parts_of: Callable[[Any], Any], of: Any) -> list[Any]:
    """The first of the messages has a part of a kind beside the task; nothing that came is changed. Gives what is sent."""
    before = copy.deepcopy(messages)
    same = fit(messages, 1_000_000)
    assert len(same) == len(messages) and all(a is b for a, b in zip(same, messages, strict=True)), of
    sent = fit(messages, BUDGET)
    assert len(sent) < len(messages), of
    assert parts_of(sent[0]) == parts_of(messages[0]), of
    assert messages == before, of
    return sent


def of_shape(shape: Shape) -> Fit:
    def fit(messages: list[Any], budget: int) -> list[Any]:
        rows = rows_of(messages, shape)
        fitted = Fitters("openai-chat", budget=budget).fit([row.wire for row in rows])
        return messages_of(fitted, rows, messages, shape)

    return fit


def of_wires(wires_of: Any, edited: Any, inserted: Any) -> Fit:
    def fit(messages: list[Any], budget: int) -> list[Any]:
        wires = wires_of(messages)
        fitted = Fitters("openai-chat", budget=budget).fit(wires)
        return own_messages(fitted, wires, messages, edited, inserted)

    return fit


def is_text(block: dict[str, Any]) -> bool:
    return block["type"] in ("text", "refusal")


def tried(kinds: Sequence[Any], least: int) -> Sequence[Any]:
    assert len(kinds) >= least, "the framework keeps its kinds in another place"
    return kinds


def test_langchain() -> None:
    pytest.importorskip("langchain")
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, content

    from epitome_context.adapters._langchain_messages import edited, inserted, wire_of

    fit = of_wires(lambda messages: [wire_of(message) for message in messages], edited, inserted)
    blocks = [value_of(kind) for kind in typed_dicts(content)]
    blocks = [block for block in blocks if isinstance(block.get("type"), str)]
    others = [
        {"type": "media", "mime_type": "video/mp4", "file_uri": "gs://quay/crane.mp4"},
        {"type": "document", "source": {"type": "file", "file_id": "file-1"}},
        {"type": "container_upload", "file_id": "file-1"},
        {"type": "web_search_call", "id": "ws_1", "action": {"query": "crates"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "a_kind_of_tomorrow", "of": [{"some": "text"}, None, 1]},
        {"cachePoint": {"type": "default"}},
        {"executable_code": {"code": "1 + 1"}},
    ]
    for block in [*tried(blocks, 15), *others]:
        work: list[Any] = [HumanMessage([{"type": "text", "text": TASK}, block])]
        for step in range(STEPS):
            call = {"id": f"c{step}", "name": "read", "args": {"part": step}}
            work.append(AIMessage([{"type": "text", "text": "I look."}, block], tool_calls=[call]))
            work.append(ToolMessage([{"type": "text", "text": read(step) * 3}, block], tool_call_id=f"c{step}"))
        sent = check(fit, work, lambda message: message.content, block)
        assert block in sent[-1].content or "attachment elided" in str(sent[-1].content) or is_text(block), block
        assert [message for message in sent if isinstance(message, AIMessage)][-1].content[1] == block


def test_pydantic_ai() -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import messages as m

    from epitome_context.adapters._pydantic_ai_messages import messages_of, rows_of

    def fit(messages: list[Any], budget: int) -> list[Any]:
        rows = rows_of(messages)
        return messages_of(Fitters("openai-chat", budget=budget).fit([row.wire for row in rows]), rows, messages)

    def work(first: Any, said: Any = None, found: Any = None) -> list[Any]:
        done: list[Any] = [first]
        for step in range(STEPS):
            call = m.ToolCallPart("read", {"part": step}, f"c{step}")
            done.append(m.ModelResponse([m.TextPart("I look."), *([said] if said else []), call]))
            result: Any = [read(step) * 3, found] if found else read(step) * 3
            done.append(m.ModelRequest([m.ToolReturnPart("read", result, f"c{step}")]))
        return done

    for kind in tried([kind for kind in members(m.UserContent) if kind is not str], 8):
        item = value_of(kind)
        first = m.ModelRequest([m.UserPromptPart([TASK, item])])
        found = item if m.is_multi_modal_content(item) else None
        sent = check(fit, work(first, found=found), lambda message: message.parts, item)
        content = sent[-1].parts[0].content
        assert found is None or "attachment elided" in str(content) or found in content, item
    for kind in tried(members(m.ModelRequestPart), 8):
        part = value_of(kind)
        first = m.ModelRequest([m.UserPromptPart(TASK), part])
        if not isinstance(part, (m.ToolReturnPart, m.RetryPromptPart)):
            check(fit, work(first), lambda message: message.parts, part)
    for kind in tried(members(m.ModelResponsePart), 8):
        part = value_of(kind)
        if isinstance(part, m.SpeechPart):
            part = dataclasses.replace(part, speaker="assistant")
        if not isinstance(part, m.ToolCallPart):
            sent = check(fit, work(m.ModelRequest([m.UserPromptPart(TASK)]), part), lambda message: message.parts, part)
            assert part in sent[-2].parts or isinstance(part, m.ThinkingPart)


def test_strands() -> None:
    pytest.importorskip("strands")
    from strands.types.content import ContentBlock
    from strands.types.tools import ToolResultContent

    from epitome_context.adapters._strands_messages import StrandsShape

    blocks = [{key: value} for key, value in value_of(ContentBlock).items()]
    items = [{key: value} for key, value in value_of(ToolResultContent).items()]
    more = [{"video": {"format": "mp4", "source": {"location": {"type": "s3", "uri": "s3://quay/crane.mp4"}}}}]
    for block in [*tried(blocks, 9), *more, {"aKindOfTomorrow": {"some": b"bytes"}}]:
        if set(block) & {"toolUse", "toolResult"}:
            continue
        for item in [*tried(items, 4), *more, {"cachePoint": {"type": "default"}}]:
            work: list[Any] = [{"role": "user", "content": [{"text": TASK}, block]}]
            for step in range(STEPS):
                use = {"toolUse": {"toolUseId": f"c{step}", "name": "read", "input": {"part": step}}}
                result = {"toolUseId": f"c{step}", "status": "success", "content": [{"text": read(step) * 3}, item]}
                work.append({"role": "assistant", "content": [{"text": "I look."}, use]})
                work.append({"role": "user", "content": [{"toolResult": result}, {"cachePoint": {"type": "default"}}]})
            sent = check(of_shape(StrandsShape()), work, lambda message: message["content"], (block, item))
            assert sent[-1]["content"][1] == {"cachePoint": {"type": "default"}}
            cut = sent[-1]["content"][0]["toolResult"]["content"]
            assert item in cut or "elided" in str(cut), item


def test_google_adk() -> None:
    pytest.importorskip("google.adk")
    from google.genai import types

    from epitome_context.adapters._google_adk_messages import ContentShape

    def made(kind: Any) -> Any:
        fields = {}
        for name, field in kind.model_fields.items():
            inner = next((it for it in members(field.annotation) if hasattr(it, "model_fields")), None)
            if name != "parts":
                fields[name] = made(inner) if inner else None
        return kind.model_construct(**fields)

    names = ["text", "thought", "function_call", "function_response"]
    kinds = [name for name in types.Part.model_fields if name not in names]
    for name in tried(kinds, 5):
        inner = next((it for it in members(types.Part.model_fields[name].annotation) if hasattr(it, "model_fields")), None)
        part = types.Part.model_construct(**{name: made(inner) if inner else b"signed"})
        work: list[Any] = [types.Content(role="user", parts=[types.Part(text=TASK), part])]
        for step in range(STEPS):
            call = types.Part.from_function_call(name="read", args={"part": step})
            result = types.Part.from_function_response(name="read", response={"result": read(step) * 3})
            work += [types.Content(role="model", parts=[part, call]), types.Content(role="user", parts=[result])]
        sent = check(of_shape(ContentShape()), work, lambda message: message.parts, name)
        assert part in sent[-2].parts, name


def test_agent_framework() -> None:
    pytest.importorskip("agent_framework")
    from agent_framework import Content, Message
    from agent_framework._types import ContentType

    from epitome_context.adapters._agent_framework_messages import AgentFrameworkShape

    fields = {"uri": "https://quay.example/a.pdf", "media_type": "application/pdf", "text": "a text", "file_id": "file-1"}
    for kind in tried(members(ContentType)[0].__args__, 20):
        if kind.startswith("function_"):
            continue
        content = Content(kind, **fields)
        work: list[Any] = [Message("user", [Content.from_text(TASK), content], author_name="Ann")]
        for step in range(STEPS):
            call = Content.from_function_call(f"c{step}", "read", arguments={"part": step})
            result = Content.from_function_result(f"c{step}", result=[Content.from_text(read(step) * 3), content])
            work += [Message("assistant", [call]), Message("tool", [result])]

        def parts(message: Any) -> list[Any]:
            return [part.to_dict() for part in message.contents]

        fit = of_shape(AgentFrameworkShape())
        assert rows_of(work, AgentFrameworkShape())[0].wire["name"] == "Ann"
        same, sent = fit(work, 1_000_000), fit(work, BUDGET)
        assert all(a is b for a, b in zip(same, work, strict=True)) and len(sent) < len(work), kind
        assert parts(sent[0]) == parts(work[0]), kind


def test_llama_index() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.llms import types as t

    from epitome_context.adapters._llama_index_messages import LlamaIndexShape

    said = {"url": "https://quay.example/a.png", "content": [t.TextBlock(text="a text")], "text": "a text"}
    for kind in tried(members(t.ContentBlock), 8):
        values = {name: value for name, value in said.items() if name in kind.model_fields}
        values |= {"content": "thought"} if kind is t.ThinkingBlock else {}
        block = kind.model_construct(**{"block_type": kind.model_fields["block_type"].default, **values})
        if isinstance(block, t.ToolCallBlock):
            continue
        first = t.ChatMessage(role="user", blocks=[t.TextBlock(text=TASK), block], additional_kwargs={"name": "Ann"})
        assert rows_of([first], LlamaIndexShape())[0].wire["name"] == "Ann"
        work: list[Any] = [first]
        for step in range(STEPS):
            call = t.ToolCallBlock(tool_call_id=f"c{step}", tool_name="read", tool_kwargs={"part": step})
            beside = {"tool_call_id": f"c{step}", "name": "read"}
            result = t.ChatMessage(role="tool", blocks=[t.TextBlock(text=read(step) * 3), block], additional_kwargs=beside)
            work += [t.ChatMessage(role="assistant", blocks=[call]), result]
        sent = check(of_shape(LlamaIndexShape()), work, lambda message: message.blocks, kind)
        assert block in sent[-1].blocks or "elided" in str(sent[-1].blocks), kind


def test_haystack() -> None:
    pytest.importorskip("haystack")
    from haystack.dataclasses import ChatMessage, ToolCall, ToolCallResult, chat_message

    from epitome_context.adapters._haystack_messages import edited, inserted, wires_of

    for kind in tried(members(chat_message.ChatMessageContentT), 6):
        if kind in (ToolCall, ToolCallResult, chat_message.ReasoningContent):
            continue
        part = value_of(kind)
        first = ChatMessage(_role=chat_message.ChatRole.USER, _content=[chat_message.TextContent(TASK), part], _name="Ann")
        assert wires_of([first])[0]["name"] == "Ann"
        work: list[Any] = [first]
        for step in range(STEPS):
            call = ToolCall("read", {"part": step}, id=f"c{step}")
            found: Any = [chat_message.TextContent(read(step) * 3), part]
            work += [ChatMessage.from_assistant(tool_calls=[call]), ChatMessage.from_tool(found, origin=call)]
        check(of_wires(wires_of, edited, inserted), work, lambda message: message._content, part)


def test_openai_agents() -> None:
    pytest.importorskip("agents")
    from agents import TResponseInputItem

    for kind in tried(members(TResponseInputItem), 25):
        item = value_of(kind)
        if item.get("role") or str(item.get("type", "")).endswith("_output"):
            continue
        work: list[Any] = [{"role": "user", "content": TASK}, item]
        for step in range(STEPS):
            call = {"type": "function_call", "call_id": f"c{step}", "name": "read", "arguments": "{}"}
            work += [call, {"type": "function_call_output", "call_id": f"c{step}", "output": read(step) * 3}]
        fit = Fitters("openai-responses", budget=BUDGET).fit
        assert Fitters("openai-responses", budget=1_000_000).fit(work).unchanged, item
        assert fit(work).status == "compacted", item


def test_messages_that_are_dictionaries() -> None:
    from epitome_context.adapters._chat_messages import messages_of, wires_of

    def fit(messages: list[Any], budget: int) -> list[Any]:
        fitted = Fitters("openai-chat", budget=budget).fit(wires_of(messages))
        return messages_of(fitted, messages)

    for part in [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}", "detail": "low"}},
        {"type": "text", "text": "a text", "cache_control": {"type": "ephemeral"}},
        {"type": "a_kind_of_tomorrow", "of": [{"some": "text"}]},
    ]:
        work: list[Any] = [{"role": "user", "name": "Ann", "content": [{"type": "text", "text": TASK}, part], "files": {}}]
        for step in range(STEPS):
            call = {"id": f"c{step}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            work.append({"role": "assistant", "content": None, "tool_calls": [call]})
            work.append({"role": "tool", "tool_call_id": f"c{step}", "content": [{"type": "text", "text": read(step) * 3}, part]})
        sent = check(fit, work, lambda message: message, part)
        assert part in sent[-1]["content"] or "attachment elided" in str(sent[-1]) or is_text(part), part


def test_smolagents() -> None:
    pytest.importorskip("smolagents")
    from smolagents.models import ChatMessage, MessageRole

    from epitome_context.adapters._smolagents_messages import edited, inserted, wires_of

    for item in [{"type": "image", "image": object()}, {"type": "video", "url": "https://x.example/a.mp4"}]:
        work = [ChatMessage(MessageRole.USER, [{"type": "text", "text": TASK}, item])]
        for step in range(STEPS):
            work.append(ChatMessage(MessageRole.TOOL_CALL, [{"type": "text", "text": f"read({step})"}]))
            work.append(ChatMessage(MessageRole.TOOL_RESPONSE, [{"type": "text", "text": read(step) * 3}]))
        fit = of_wires(wires_of, edited, inserted)
        assert fit(work, 1_000_000) == work
        assert fit(work, BUDGET)[0].content == work[0].content, item


def test_a_text_with_half_a_character_passes() -> None:
    came = [{"role": "user", "content": f"{TASK} caf\ud8e9.txt"}]
    assert epitome.fit(came, budget=500).messages[0] is came[0]
