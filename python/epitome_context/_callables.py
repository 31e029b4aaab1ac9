"""What a host writes: strategies, summarizers, embedders. Here they become what the native part calls: plain values in,
plain values out, coroutines run to their end."""

from __future__ import annotations

from ._errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# The characters of ids.
_OF_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")

# What each message has, for a function over messages.
_OF_MESSAGES = ("id", "role", "origin", "blocks")
_LISTED = "`id`, `role`, `origin` and `blocks`"


class HostStrategy:
    """A strategy as the native part takes it."""

    __slots__ = ("id", "summary", "over_messages", "call")

    def __init__(self, id: str, summary: str, over_messages: bool, call: Callable[..., Any]) -> None:
        self.id = id
        self.summary = summary
        self.over_messages = over_messages
        self.call = call


def strategy_of(given: Any) -> HostStrategy:
    """An object with `id` and `plan(view, goal)`, a class of such objects, or a function over messages."""
    if isinstance(given, type):
        given = given()
    plan = getattr(given, "plan", None)
    name = getattr(given, "id", None)
    if name is None and plan is None:
        name = getattr(given, "__name__", "").replace("_", "-")
    if not callable(plan) and not callable(given):
        raise ConfigError(
            f"a strategy is an object with `id` and `plan(view, goal)`, or a function over messages, not {given!r}"
        )
    if not isinstance(name, str) or not name or set(name) - _OF_NAMES:
        raise ConfigError(
            f"the strategy {given!r} needs an `id` of lower-case words with hyphens, such as `my-outline`, not {name!r}"
        )
    summary = getattr(given, "summary", None) or (getattr(given, "__doc__", None) or "").strip().split("\n")[0]
    function = plan if callable(plan) else given
    if not callable(plan):
        return HostStrategy(name, summary, True, guard(f"the strategy `{name}`", function, read=messages_of))
    call = guard(f"the strategy `{name}`", function)
    return HostStrategy(name, summary, False, lambda view, goal: plan_of(call(view, goal)))


def messages_of(answer: Any) -> list[Any]:
    """What a function over messages gives back: all messages that are to stay."""
    if not isinstance(answer, (list, tuple)):
        raise TypeError(
            f"a function over messages gives back the list of messages that are to stay, not {answer!r:.40}: "
            "end it with `return messages`, also where it changed them in place"
        )
    for position, message in enumerate(answer):
        missing = [field for field in _OF_MESSAGES if field not in message] if isinstance(message, dict) else []
        if missing:
            raise TypeError(
                f"messages[{position}] has no `{missing[0]}`: a message that came keeps its {_LISTED}; a new one needs "
                "them too, with an `id` that is new, and may only take the place of messages that leave"
            )
    return list(answer)


def plan_of(answer: Any) -> Any:
    """A plan: the edits as a list; `None`, or a text that says why, where there is nothing to do."""
    if answer is None or isinstance(answer, str):
        return {"declined": answer or "it had nothing to do"}
    if isinstance(answer, dict):
        return answer
    edits = list(answer)
    return {"edits": edits} if edits else {"declined": "it had nothing to do"}


def summarizer_of(given: Callable[[Any], Any]) -> Callable[[Any], tuple[str, int, int]]:
    """A function of a task, that gives the text, or a dictionary with `text` and what it cost."""
    if not callable(given):
        raise ConfigError(f"`summarizer` takes a function of a task, not {given!r}")
    call = guard("the summarizer", given)

    def written(task: Any) -> tuple[str, int, int]:
        answer = call(task)
        if isinstance(answer, dict):
            return (answer["text"], answer.get("input_tokens", 0), answer.get("output_tokens", 0))
        if not isinstance(answer, str):
            raise TypeError(f"a summarizer gives a text, not {type(answer).__name__}")
        return (answer, 0, 0)

    return written


def embedder_of(given: Callable[[list[str]], Any]) -> tuple[str, Callable[[list[str]], Any]]:
    """A function of a list of texts, that gives one vector a text: lists of numbers, or arrays."""
    if not callable(given):
        raise ConfigError(f"`embedder` takes a function of a list of texts, not {given!r}")
    call = guard("the embedder", given)

    def rows(texts: list[str]) -> Any:
        answer = call(texts)
        return [row.tolist() if hasattr(row, "tolist") else row for row in answer]

    name = getattr(given, "name", None) or getattr(given, "__name__", None) or type(given).__name__
    return (str(name), rows)


def guard(
    name: str,
    function: Callable[..., Any],
    work: str = "the compaction",
    read: Callable[[Any], Any] | None = None,
) -> Callable[..., Any]:
    """The function with its coroutine run, and with a record of what it raises, or `read` of its answer: the work goes on
    without it."""

    def call(*arguments: Any) -> Any:
        try:
            answer = function(*arguments)
            if hasattr(answer, "__await__"):
                from ._async import result_of

                answer = result_of(answer)
            return answer if read is None else read(answer)
        except Exception:
            import logging

            logging.getLogger("epitome_context").warning(
                "%s failed; %s goes on without it", name, work, exc_info=True
            )
            raise

    return call
