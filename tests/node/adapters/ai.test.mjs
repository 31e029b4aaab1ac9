// Loops of Vercel's AI SDK with a scripted model.
import assert from "node:assert/strict";
import test from "node:test";

import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { Fitter, Infeasible } from "epitome-context";
import { Recall, epitomeMiddleware, epitomeStep, recallTools } from "epitome-context/ai";

import { ANSWER, ASK, BUDGET, PARTS, TASK, checkAsked, checkReported, checkSent, read, reported } from "./work.mjs";

const readPart = tool({
  description: "Reads a part of the ledger.",
  inputSchema: jsonSchema({ type: "object", properties: { part: { type: "number" } } }),
  execute: ({ part }) => read(part),
});

/** What the scripted model says in a turn: a call with a thought, and the answer in the end. */
function contentOf(turn, ask) {
  if (turn > PARTS) return [{ type: "text", text: ANSWER }];
  if (ask?.[turn]) return [{ type: "tool-call", toolCallId: `call_${turn}`, toolName: ask[turn][0], input: JSON.stringify(ask[turn][1]) }];
  const call = { type: "tool-call", toolCallId: `call_${turn}`, toolName: "readPart", input: JSON.stringify({ part: turn }) };
  return [{ type: "reasoning", text: `Part ${turn} is next.` }, call];
}

/** `figures` takes what the model reports for each request, where it is to report anything. */
function scripted(figures, ask) {
  const sent = [];
  const offered = [];
  const usageOf = (prompt) => ({ inputTokens: { total: figures?.[figures.push(reported(wireOf(prompt))) - 1] ?? 1 }, outputTokens: { total: 1 } });
  const next = ({ prompt, tools }) => {
    sent.push(structuredClone(prompt));
    offered.push((tools ?? []).map(({ name }) => name));
    return contentOf(sent.length, ask);
  };
  const finishReason = { unified: "tool-calls" };
  const model = new MockLanguageModelV4({
    doGenerate: async (call) => ({ content: next(call), finishReason, usage: usageOf(call.prompt), warnings: [] }),
    doStream: async (call) => {
      const parts = next(call).flatMap((part, id) => {
        if (part.type === "tool-call") return [part];
        const kind = part.type;
        return [
          { type: `${kind}-start`, id: `${id}` },
          { type: `${kind}-delta`, id: `${id}`, delta: part.text },
          { type: `${kind}-end`, id: `${id}` },
        ];
      });
      const chunks = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage: usageOf(call.prompt) }];
      return { stream: simulateReadableStream({ chunks, chunkDelayInMs: null, initialDelayInMs: null }) };
    },
  });
  return { model, sent, offered };
}

/** A prompt as chat completions have it. */
function wireOf(prompt) {
  return prompt.flatMap(({ role, content }) => {
    if (role === "system") return [{ role, content }];
    if (role === "tool") {
      return content.map((part) => ({ role, tool_call_id: part.toolCallId, content: String(part.output.value) }));
    }
    const calls = content.filter((part) => part.type === "tool-call");
    const text = content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
    const function_ = (part) => ({ name: part.toolName, arguments: JSON.stringify(part.input) });
    const tool_calls = calls.map((part) => ({ id: part.toolCallId, type: "function", function: function_(part) }));
    return [calls.length > 0 ? { role, content: text || null, tool_calls } : { role, content: text }];
  });
}

/** The steps that begin with all that the step before was sent: the provider's cache holds for them. */
function cached(sent) {
  const texts = sent.map((prompt) => prompt.map((message) => JSON.stringify(message)));
  return texts.filter((list, at) => at > 0 && texts[at - 1].every((text, index) => text === list[index])).length;
}

function checkRun(sent, text) {
  assert.equal(sent.length, PARTS + 1);
  sent.forEach((prompt) => checkSent(wireOf(prompt)));
  assert.ok(sent.some((prompt) => JSON.stringify(prompt).includes("[Summary of")), "it was compacted");
  assert.ok(cached(sent) > PARTS - 6, `${cached(sent)} of ${PARTS} steps found the cache`);
  assert.equal(text, ANSWER);
}

test("a step is fitted, whatever makes it", async (t) => {
  const loops = {
    generateText: async (words) => generateText(words),
    streamText: async (words) => {
      const result = streamText(words);
      await result.consumeStream();
      return { text: await result.text };
    },
  };
  for (const [name, loop] of Object.entries(loops)) {
    await t.test(name, async () => {
      const { model, sent } = scripted();
      const fits = [];
      const messages = [{ role: "user", content: TASK }];
      const { text } = await loop({
        model,
        instructions: "You are an accountant.",
        messages,
        tools: { readPart },
        stopWhen: stepCountIs(50),
        prepareStep: epitomeStep({ budget: BUDGET, tools: 100, onFit: (fitted) => fits.push(fitted) }),
      });
      checkRun(sent, text);
      assert.deepEqual(messages, [{ role: "user", content: TASK }]);
      // Each fit sees the whole log: no summary tells of a summary.
      assert.ok(fits.every((fitted) => fitted.report.messages >= 1));
      assert.equal(fits.at(-1).report.messages, 1 + 2 * PARTS);
    });
  }
});

test("a middleware fits the prompt of each call", async () => {
  const { model, sent } = scripted();
  const wrapped = wrapLanguageModel({ model, middleware: epitomeMiddleware({ budget: BUDGET }) });
  const { text, response } = await generateText({
    model: wrapped,
    instructions: "You are an accountant.",
    prompt: TASK,
    tools: { readPart },
    stopWhen: stepCountIs(50),
  });
  checkRun(sent, text);
  assert.equal(response.messages.length > 0, true);
  assert.equal(sent[0][0].content, "You are an accountant.");
});

test("the budget is of the provider's tokens", async (t) => {
  const step = { prepareStep: epitomeStep({ budget: BUDGET }) };
  const loops = {
    "a step": async (model) => generateText({ model, prompt: TASK, tools: { readPart }, stopWhen: stepCountIs(50), ...step }),
    "a middleware": async (model) => {
      const wrapped = wrapLanguageModel({ model, middleware: epitomeMiddleware({ budget: BUDGET }) });
      await generateText({ model: wrapped, prompt: TASK, tools: { readPart }, stopWhen: stepCountIs(50) });
    },
    "a middleware, streamed": async (model) => {
      const wrapped = wrapLanguageModel({ model, middleware: epitomeMiddleware({ budget: BUDGET }) });
      await streamText({ model: wrapped, prompt: TASK, tools: { readPart }, stopWhen: stepCountIs(50) }).consumeStream();
    },
  };
  for (const [name, loop] of Object.entries(loops)) {
    await t.test(name, async () => {
      const figures = [];
      await loop(scripted(figures).model);
      checkReported(figures);
    });
  }
});

test("what cannot fit is refused before the model is called", async () => {
  const { model, sent } = scripted();
  const middleware = epitomeMiddleware({ fitter: new Fitter({ budget: 5 }) });
  const call = generateText({ model: wrapLanguageModel({ model, middleware }), prompt: TASK, maxRetries: 0 });
  await assert.rejects(call, (error) => error instanceof Infeasible && error.floor.tokens > 5);
  assert.equal(sent.length, 0);
});

test("an adapter without a budget is refused when it is made", () => {
  for (const make of [epitomeStep, epitomeMiddleware]) {
    assert.throws(() => make(), { name: "ConfigError", message: /give `budget`, `window` or `model`/ });
    assert.throws(() => make({ budgett: 3 }), { name: "ConfigError", message: /no option `budgett`; did you mean `budget`\?/ });
  }
  assert.throws(() => epitomeStep({}), { name: "ConfigError", message: /give `budget`, `window` or `model`/ });
  assert.throws(() => epitomeMiddleware({ fitter: new Fitter({ budget: 9 }), budget: 8 }), {
    name: "ConfigError",
    message: /`fitter` is there already: `budget` would have no effect/,
  });
});

test("a message with several results keeps the parts that stay", async () => {
  const middleware = epitomeMiddleware({ budget: 2_000 });
  const image = new Uint8Array([1, 2, 3]);
  const prompt = [
    { role: "system", content: "Be terse." },
    { role: "user", content: [{ type: "text", text: TASK }, { type: "file", data: image, mediaType: "image/png" }] },
  ];
  for (let turn = 0; turn < 12; turn++) {
    const calls = ["a", "b"].map((name) => `${name}${turn}`);
    prompt.push({
      role: "assistant",
      content: calls.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "readPart", input: { part: turn } })),
    });
    const output = { type: "json", value: { text: read(turn) } };
    prompt.push({
      role: "tool",
      content: calls.map((toolCallId) => ({ type: "tool-result", toolCallId, toolName: "readPart", output })),
    });
  }
  prompt.push({ role: "user", content: [{ type: "text", text: "Which one is it?" }] });
  const before = structuredClone(prompt);
  const { prompt: sent } = await middleware.transformParams({ type: "generate", params: { prompt }, model: {} });
  assert.deepEqual(prompt, before);
  assert.ok(sent.length < prompt.length);
  assert.equal(sent[1], prompt[1]);
  assert.equal(sent.at(-1), prompt.at(-1));
  const called = sent.flatMap((it) => (it.role === "assistant" ? it.content : [])).filter((it) => it.type === "tool-call");
  const answered = sent.flatMap((it) => (it.role === "tool" ? it.content : []));
  assert.deepEqual(answered.map((it) => it.toolCallId), called.map((it) => it.toolCallId));
});

/** What a middleware sends of a prompt, within `budget` tokens. */
async function promptOf(prompt, budget) {
  const before = structuredClone(prompt);
  const { prompt: sent } = await epitomeMiddleware({ budget }).transformParams({ type: "generate", params: { prompt }, model: {} });
  assert.deepEqual(prompt, before);
  return sent;
}

test("reasoning that only the provider can read stays with a call that was cut", async () => {
  const text = Array.from({ length: 900 }, (_, row) => `row ${row} ${row * 37}\n`).join("");
  const call = { type: "tool-call", toolCallId: "a", toolName: "writeFile", input: { path: "a.txt", text } };
  const sealed = { type: "reasoning", text: "", providerOptions: { openai: { itemId: "r1", reasoningEncryptedContent: "c2ln" } } };
  const result = { type: "tool-result", toolCallId: "a", toolName: "writeFile", output: { type: "text", value: "written" } };
  const prompt = [
    { role: "user", content: [{ type: "text", text: TASK }] },
    { role: "assistant", content: [sealed, call] },
    { role: "tool", content: [result] },
  ];
  const sent = await promptOf(prompt, 1_500);
  assert.equal(sent[1].content[0], sealed);
  assert.ok(JSON.stringify(sent[1].content[1].input).length < text.length / 2, "the call was cut");
});

test("a picture in a tool's result is counted as a picture, and stays whole where the result is cut", async () => {
  const data = "iVBORw0KGgo".padEnd(40_000, "A");
  const said = Array.from({ length: 900 }, (_, row) => `row ${row} ${row * 37}\n`).join("");
  const call = (toolCallId) => ({ type: "tool-call", toolCallId, toolName: "look", input: {} });
  const result = (toolCallId, value) => ({ type: "tool-result", toolCallId, toolName: "look", output: { type: "content", value } });
  const check = async (picture) => {
    const prompt = [
      { role: "user", content: [{ type: "text", text: TASK }] },
      { role: "assistant", content: [call("a"), call("b")] },
      { role: "tool", content: [result("a", [{ type: "text", text: "a plan" }]), result("b", [{ type: "text", text: said }, picture])] },
    ];
    assert.equal(await promptOf(prompt, 12_000), prompt, "as text, the picture would take more");
    const sent = await promptOf(prompt, 6_000);
    assert.equal(sent.length, 3);
    const [first, second] = sent[2].content;
    assert.equal(first, prompt[2].content[0]);
    const [text, ...pictures] = second.output.value;
    assert.equal(second.output.type, "content");
    assert.ok(text.text.length < said.length && /elided/.test(text.text));
    assert.ok(pictures.length === 1 && pictures[0] === picture);
    // Where there is no room for so many, they leave, and what stays says so.
    const many = [{ type: "text", text: said }, ...Array.from({ length: 60 }, () => picture)];
    const full = [...prompt.slice(0, 2), { role: "tool", content: [result("a", [{ type: "text", text: "a plan" }]), result("b", many)] }];
    const { output } = (await promptOf(full, 2_500))[2].content[1];
    assert.match(JSON.stringify(output.value), /60 attachments elided/);
  };
  await check({ type: "media", data, mediaType: "image/png" });
  await check({ type: "image-data", data, mediaType: "image/png" });
  await check({ type: "file", data: { type: "data", data }, mediaType: "image/png" });
  await check({ type: "image-url", url: "https://example.com/a.png" });
});

test("what left is brought back, and a model asks for a compaction", async (t) => {
  const config = { marks: { handles: true } };
  const loops = {
    "a step": (model, words) => generateText({ model, ...words, prepareStep: epitomeStep(words.epitome) }),
    "a middleware": (model, words) =>
      generateText({ model: wrapLanguageModel({ model, middleware: epitomeMiddleware(words.epitome) }), ...words }),
  };
  for (const [name, loop] of Object.entries(loops)) {
    await t.test(name, async () => {
      const { model, offered } = scripted(undefined, ASK);
      const [recall, fits] = [new Recall(), []];
      const epitome = { budget: 4_000, config, recall, onFit: (fitted) => fits.push(fitted) };
      const tools = { readPart, ...recallTools(recall) };
      const { steps } = await loop(model, { prompt: TASK, tools, stopWhen: stepCountIs(50), epitome });
      const results = steps.flatMap(({ toolResults }) => toolResults);
      checkAsked(Object.fromEntries(results.map(({ toolName, output }) => [toolName, output])), fits);
      const ours = ["readPart", "recall", "search_history", "compact_context"];
      assert.deepEqual(offered.at(-1), ours);
      assert.deepEqual(offered[0], name === "a step" ? ours : ["readPart"]);
      const handle = fits.find((fitted) => !fitted.unchanged).removals[0].handle;
      assert.match(recall.recall(`recall ${handle}`), /part \d/);
    });
  }
});
