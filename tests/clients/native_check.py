"""Runs the official Python clients' own ways to ask for a compaction against `epitome serve`, which answers them in the
provider's place.

    tests/clients/run

The provider is the made-up one of check.py, which knows nothing of compactions.
"""

import sys

import anthropic
import anthropic.types as errors
import openai

from check import TOKEN, check, history, main, seen

MARK = "epitome.c1."


def bare(items):
    """Items as a client sends them back."""
    return [item.model_dump(exclude_unset=True, warnings=False) for item in items]


def of_openai(base):
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="sk-of-the-client", max_retries=0,
                           default_headers={"x-epitome-token": TOKEN})
    items = history("responses", 12)
    before = len(seen)
    for deep in range(3):
        compacted = client.responses.compact(model="gpt-5.5", input=items, instructions="You build.")
        check(f"compact {deep}", (compacted.object, compacted.output[-1].type), ("response.compaction", "compaction"))
        check(f"usage {deep}", compacted.usage.output_tokens < compacted.usage.input_tokens, True)
        check(f"asked {deep}", len(seen), before)
        items = bare(compacted.output) + [{"role": "user", "content": f"And now, {deep}?"}]
        answer = client.responses.create(model="gpt-5.5", input=items, store=False)
        check(f"answer {deep}", answer.output_text, "Fine.")
        before = len(seen)
        check(f"sent {deep}", MARK in seen[-1][2], False)
        items += bare(answer.output) + history("responses", 6, 20 * (deep + 1))
    stream = client.responses.create(model="gpt-5.5", store=False, stream=True,
                                     input=items + [{"type": "compaction_trigger"}])
    done = [event.item for event in stream if event.type == "response.output_item.done"]
    check("trigger", ([item.type for item in done], len(seen)), (["compaction"], before))
    managed = [{"type": "compaction", "compact_threshold": 3000}]
    answer = client.responses.create(model="gpt-5.5", input=items, context_management=managed)
    check("threshold", [item.type for item in answer.output], ["compaction", "message"])
    check("text", answer.output_text, "Fine.")
    events = list(client.responses.create(model="gpt-5.5", input=items, context_management=managed, stream=True))
    check("threshold, streamed", [item.type for item in events[-1].response.output], ["compaction", "message"])
    numbers = [event.sequence_number for event in events]
    check("numbers", numbers, sorted(set(numbers)))
    broken = {**bare(done)[0], "encrypted_content": done[0].encrypted_content[:-8]}
    try:
        client.responses.create(model="gpt-5.5", input=[broken, {"role": "user", "content": "x"}])
        sys.exit("a broken item: no error")
    except openai.BadRequestError as error:
        check("broken", (error.code, error.param), ("invalid_encrypted_content", "input[0].encrypted_content"))
    print("openai: compactions as they should be")


def of_anthropic(base):
    client = anthropic.Anthropic(base_url=base, api_key="key-of-the-client", max_retries=0,
                                 default_headers={"x-epitome-token": TOKEN})
    given = {"model": "m", "max_tokens": 100}
    messages = history("messages", 12)
    block = None
    for deep in range(3):
        before = len(seen)
        asked = {**given, "messages": messages, "compaction": {"type": "summarize"}}
        if deep == 1:
            with client.beta.messages.stream(**asked) as stream:
                compacted = stream.get_final_message()
        else:
            compacted = client.beta.messages.create(**asked)
        check(f"summarize {deep}", (compacted.stop_reason, len(seen)), ("compaction", before))
        (block,) = compacted.content
        check(f"block {deep}", (block.type, "parser" in block.content), ("compaction", True))
        messages = [compacted.to_param()] + [{"role": "user", "content": f"And now, {deep}?"}]
        answer = client.beta.messages.create(**given, messages=messages)
        check(f"answer {deep}", (answer.content[0].text, MARK in seen[-1][2]), ("Fine.", False))
        messages += [answer.to_param()] + history("messages", 6, 20 * (deep + 1))
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 3000}}
    answer = client.beta.messages.create(**given, messages=messages, context_management={"edits": [edit]})
    check("edit", [block.type for block in answer.content], ["compaction", "text"])
    with client.beta.messages.stream(**given, messages=messages, context_management={"edits": [edit]}) as stream:
        streamed = stream.get_final_message()
    check("edit, streamed", [block.type for block in streamed.content], ["compaction", "text"])
    check("what is opaque", streamed.content[0].encrypted_content.startswith(MARK), True)
    check("text", streamed.content[1].text, "Fine.")
    paused = {**edit, "pause_after_compaction": True}
    answer = client.beta.messages.create(**given, messages=messages, context_management={"edits": [paused]})
    check("pause", (answer.stop_reason, len(answer.content)), ("compaction", 1))

    def refused(kind, messages, **more):
        try:
            client.beta.messages.create(**given, messages=messages, **more)
            sys.exit(f"{kind.__name__}: no error")
        except kind:
            pass

    user = {"role": "user", "content": "x"}
    ours = block.model_dump(exclude_unset=True)
    with_block = {"role": "assistant", "content": [ours]}
    broken = {"role": "assistant", "content": [{**ours, "encrypted_content": ours["encrypted_content"][:-8]}]}
    other = {"role": "assistant", "content": [{**ours, "content": "Another text."}]}
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "bash", "input": {}}]}
    demand = {"compaction": {"type": "summarize"}}
    refused(errors.CompactionSignatureInvalidError, [broken, user])
    refused(errors.CompactionContentMismatchError, [other, user])
    refused(errors.CompactionBlockMisplacedError, [user, with_block, user])
    refused(errors.CompactionBlockAmbiguousError, [with_block, user, with_block, user])
    refused(errors.CompactionIncompleteTurnError, [user, call], **demand)
    refused(errors.CompactionNothingToSummarizeError, [], **demand)
    print("anthropic: compactions as they should be")


def run(base):
    of_openai(base)
    of_anthropic(base)


main(run, "[budget]\nwindow = 200_000\n")
