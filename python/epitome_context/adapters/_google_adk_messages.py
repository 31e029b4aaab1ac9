"""The contents of Gemini, as Google's ADK has them, for `_parts`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.genai import types

from ._media import part_of
from ._parts import Call, Other, Result, Saying, Text, Thought, arguments_of, items_after, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

# Keys under which tools have a result that is one text.
_TEXT_KEYS = ("result", "output")
# What Gemini takes in place of the signature of a call that the model did not make in these words (its documentation,
# "Thought signatures").
_UNSIGNED = b"skip_thought_signature_validator"
# What stands beside the content of a part.
_BESIDE = {"thought", "thought_signature", "media_resolution", "video_metadata", "part_metadata"}


class ContentShape:
    """How contents are made."""

    def role_of(self, message: Any) -> str:
        """`assistant` for the model's; results of functions are in contents of the user."""
        return "assistant" if message.role == "model" else "user"

    def name_of(self, message: Any) -> str | None:
        """Contents name nobody: what another agent said is told as text."""
        return None

    def parts_of(self, message: Any) -> Sequence[Any]:
        """The parts."""
        return message.parts or []

    def saying_of(self, part: Any) -> Saying:
        """What a part says."""
        if part.function_call is not None:
            call = part.function_call
            return Call(call.id, call.name or "", json.dumps(call.args or {}, ensure_ascii=False, default=str))
        if part.function_response is not None:
            answer = part.function_response
            return Result(answer.id, answer.name or "", plain([*_answer_wires(answer), *_media_wires(answer)]))
        if part.text is not None:
            return Thought(part.text) if part.thought else Text(part.text)
        wire = _wire_of(part)
        return None if wire is None else Other(wire)

    def part_after(self, part: Any, saying: Text | Call | Result) -> Any:
        """A copy of a part with other arguments, or another result."""
        if isinstance(saying, Call):
            call = part.function_call.model_copy(update={"args": arguments_of(saying.arguments)})
            signature = None if part.thought_signature is None else _UNSIGNED
            return part.model_copy(update={"function_call": call, "thought_signature": signature})
        if isinstance(saying, Result):
            answer = part.function_response
            own = [None, *(answer.parts or [])]
            before = [*_answer_wires(answer), *_media_wires(answer)]
            items = items_after(own, before, saying.content, lambda text: text)
            texts = [item for item in items if isinstance(item, str)]
            update: dict[str, Any] = {"response": {_text_key(answer): "\n".join(texts)}} if texts else {}
            if answer.parts:
                update["parts"] = [item for item in items if item is not None and not isinstance(item, str)]
            return part.model_copy(update={"function_response": answer.model_copy(update=update)})
        return self.text_part(saying.text)

    def message_after(self, message: Any, parts: list[Any]) -> Any:
        """A copy of a content with other parts."""
        return message.model_copy(update={"parts": parts})

    def text_part(self, text: str) -> Any:
        """A part that is a text."""
        return types.Part(text=text)

    def result_part(self, id: str | None, name: str, text: str) -> Any:
        """A part that answers a call."""
        return types.Part(function_response=types.FunctionResponse(id=id, name=name, response={_TEXT_KEYS[0]: text}))

    def message_of(self, role: str, parts: list[Any]) -> Any:
        """A content that was not there."""
        return types.Content(role="model" if role == "assistant" else "user", parts=parts)


def _text_key(answer: types.FunctionResponse) -> str:
    """The key of the text that a result is, or that a result gets which was not one text."""
    keys = list(answer.response or {})
    return keys[0] if len(keys) == 1 and keys[0] in _TEXT_KEYS else _TEXT_KEYS[0]


def _answer_wires(answer: types.FunctionResponse) -> list[dict[str, Any]]:
    """What a function answered, as one text."""
    response = answer.response or {}
    text = response.get(_text_key(answer)) if len(response) == 1 else None
    if not isinstance(text, str):
        text = json.dumps(response, ensure_ascii=False, default=str)
    return [{"type": "text", "text": text}]


def _media_wires(answer: types.FunctionResponse) -> list[dict[str, Any]]:
    return [_wire_of(part) or {"type": "text", "text": ""} for part in answer.parts or []]


def _wire_of(part: Any) -> dict[str, Any] | None:
    """A part of any other kind, as a part of a message of OpenAI's; nothing where there is nothing to count."""
    said = part.model_dump(exclude_none=True, exclude=_BESIDE)
    return part_of(next(iter(said)), said) if said else None
