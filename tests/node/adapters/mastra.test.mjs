// Agents of Mastra with a scripted model.
import assert from "node:assert/strict";
import test from "node:test";

import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { EpitomeProcessor, Recall, recallTools } from "epitome-context/mastra";
import { z } from "zod";

import { ANSWER, ASK, BUDGET, PARTS, TASK, checkAsked, checkReported, checkSent, read, reported } from "./work.mjs";

const readPart = createTool({
  id: "readPart",
  description: "Reads a part of the ledger.",
  inputSchema: z.object({ part: z.number() }),
  execute: async (input) => read((input.context ?? input).part),
});

/** `figures` takes what the model reports for each request, where it is to report anything. */
function scripted(figures, ask = {}) {
  const sent = [];
  const usageOf = (prompt) => {
    const total = figures?.[figures.push(reported(wireOf(prompt))) - 1] ?? 1;
    return {
      inputTokens: { total, noCache: total, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
  };
  const next = (prompt) => {
    sent.push(structuredClone(prompt));
    const turn = sent.length;
    if (turn > PARTS) return { content: [{ type: "text", text: ANSWER }], finishReason: { unified: "stop", raw: "stop" } };
    const [toolName, given] = ask[turn] ?? ["readPart", { part: turn }];
    const call = { type: "tool-call", toolCallId: `call_${turn}`, toolName, input: JSON.stringify(given) };
    return { content: [call], finishReason: { unified: "tool-calls", raw: "tool_calls" } };
  };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => ({ ...next(prompt), usage: usageOf(prompt), warnings: [] }),
    doStream: async ({ prompt }) => {
      const { content, finishReason } = next(prompt);
      const parts = content.flatMap((part) =>
        part.type === "tool-call"
          ? [part]
          : [
              { type: "text-start", id: "0" },
              { type: "text-delta", id: "0", delta: part.text },
              { type: "text-end", id: "0" },
            ],
      );
      const chunks = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage: usageOf(prompt) }];
      return { stream: simulateReadableStream({ chunks, chunkDelayInMs: null, initialDelayInMs: null }) };
    },
  });
  return { model, sent };
}

/** A prompt as chat completions have it. */
function wireOf(prompt) {
  return prompt.flatMap(({ role, content }) => {
    if (role === "system") return [{ role, content }];
    if (role === "tool") {
      return content.map((part) => ({ role, tool_call_id: part.toolCallId, content: JSON.stringify(part.output.value) }));
    }
    const text = content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
    const calls = content.filter((part) => part.type === "tool-call");
    const function_ = (part) => ({ name: part.toolName, arguments: JSON.stringify(part.input) });
    const tool_calls = calls.map((part) => ({ id: part.toolCallId, type: "function", function: function_(part) }));
    return [calls.length > 0 ? { role, content: text || null, tool_calls } : { role, content: text }];
  });
}

test("the prompt of each call is fitted", async () => {
  const { model, sent } = scripted();
  const fits = [];
  const agent = new Agent({
    id: "mender",
    name: "mender",
    instructions: "You are an accountant.",
    model,
    tools: { readPart },
    inputProcessors: [new EpitomeProcessor({ budget: BUDGET, tools: 100, onFit: (fitted) => fits.push(fitted.status) })],
  });
  const { text } = await agent.generate(TASK, { maxSteps: 60 });
  assert.equal(text, ANSWER);
  assert.equal(sent.length, PARTS + 1);
  for (const prompt of sent) checkSent(wireOf(prompt));
  assert.ok(sent.some((prompt) => JSON.stringify(prompt).includes("[Summary of")));
  assert.ok(fits.includes("compacted") && fits.includes("replayed") && fits.includes("unchanged"), String(fits));
});

test("the budget is of the provider's tokens", async () => {
  const figures = [];
  const { model } = scripted(figures);
  const inputProcessors = [new EpitomeProcessor({ budget: BUDGET })];
  const agent = new Agent({ id: "mender", name: "mender", instructions: "Count.", model, tools: { readPart }, inputProcessors });
  await agent.generate(TASK, { maxSteps: 60 });
  checkReported(figures);
});

test("a processor without a budget is refused when it is made", () => {
  assert.throws(() => new EpitomeProcessor({}), { name: "ConfigError", message: /give `budget`, `window` or `model`/ });
});

test("what left is brought back, and a model asks for a compaction", async () => {
  const { model, sent } = scripted(undefined, ASK);
  const [recall, fits] = [new Recall(), []];
  const words = { budget: 4_000, config: { marks: { handles: true } }, recall, onFit: (fitted) => fits.push(fitted) };
  const tools = { readPart, ...recallTools(recall) };
  const inputProcessors = [new EpitomeProcessor(words)];
  const agent = new Agent({ id: "mender", name: "mender", instructions: "Count.", model, tools, inputProcessors });
  await agent.generate(TASK, { maxSteps: 60 });
  const results = sent.flat().flatMap(({ role, content }) => (role === "tool" ? content : []));
  checkAsked(Object.fromEntries(results.map(({ toolName, output }) => [toolName, String(output.value)])), fits);
});
