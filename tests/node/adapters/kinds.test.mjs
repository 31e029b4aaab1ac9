// Parts of every kind pass: below the budget as the same objects, above it in their places; refusals in a server's own words are met.
import assert from "node:assert/strict";
import test from "node:test";

import { generateText, streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { Fitter } from "epitome-context";
import { epitomeMiddleware as middlewareOfAi } from "epitome-context/ai";
import { epitomeMiddleware } from "epitome-context/langchain";
import { epitomeFilter } from "epitome-context/openai-agents";
import { AIMessage, HumanMessage, ToolMessage } from "langchain";

import { edited, inserted, wireOf } from "../../../packages/epitome-context/dist/esm/adapters/langchain-messages.js";
import { ownMessages, withPlaces } from "../../../packages/epitome-context/dist/esm/adapters/own.js";
import { fitParts } from "../../../packages/epitome-context/dist/esm/adapters/parts.js";
import { TASK, read } from "./work.mjs";

const BUDGET = 5_000;
const STEPS = 12;
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
const url = "https://quay.example/contract.pdf";
const VLLM = "This model's maximum context length is 8192 tokens. However, your prompt contains at least 8193 input tokens.";

/** Whether a result that was cut has a part still, or says that it left. */
function holds(content, part) {
  const text = JSON.stringify(content);
  return text.includes(JSON.stringify(part)) || text.includes("attachment elided");
}

test("LangChain's blocks", () => {
  const blocks = [
    { type: "file", url, mime_type: "application/pdf" },
    { type: "file", fileId: "file-1" },
    { type: "video", url },
    { type: "audio", base64: PICTURE, mime_type: "audio/wav" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
    { type: "image_url", image_url: { url, detail: "low" } },
    { type: "document", source: { type: "file", file_id: "file-1" } },
    { type: "server_tool_call", id: "s1", name: "web_search", args: { query: "crates" } },
    { type: "server_tool_call_result", toolCallId: "s1", output: { some: "text" } },
    { type: "non_standard", value: { some: ["text", null] } },
    { type: "text-plain", text: "a text" },
    { executableCode: { code: "1 + 1" } },
    { cachePoint: { type: "default" } },
  ];
  const fit = (messages, budget) => {
    const wires = messages.map(wireOf);
    return ownMessages(new Fitter({ budget, format: "openai-chat" }).fit(withPlaces(wires)), wires, messages, { edited, inserted });
  };
  for (const block of blocks) {
    const work = [new HumanMessage({ content: [{ type: "text", text: TASK }, block], name: "Ann" })];
    for (let step = 0; step < STEPS; step++) {
      const tool_calls = [{ id: `c${step}`, name: "read", args: { part: step } }];
      work.push(new AIMessage({ content: [{ type: "text", text: "I look." }, block], tool_calls }));
      const content = [{ type: "text", text: read(step).repeat(3) }, block];
      work.push(new ToolMessage({ content, tool_call_id: `c${step}` }));
    }
    assert.equal(wireOf(work[0]).name, "Ann");
    assert.ok(fit(work, 1_000_000).every((message, at) => message === work[at]), JSON.stringify(block));
    const sent = fit(work, BUDGET);
    assert.ok(sent.length < work.length && sent[0] === work[0], JSON.stringify(block));
    assert.ok(holds(sent.at(-1).content, block), JSON.stringify([block, sent.at(-1).content]));
  }
});

test("parts of the AI SDK", async () => {
  const parts = [
    { type: "file", data: new URL(url), mediaType: "application/pdf" },
    { type: "file", data: new Uint8Array([1, 2, 3]), mediaType: "video/mp4", filename: "crane.mp4" },
    { type: "file", data: { type: "reference", reference: { openai: "file-1" } }, mediaType: "application/pdf" },
    { type: "image", image: PICTURE },
    { type: "custom", kind: "openai.tomorrow", providerOptions: { some: { of: "text" } } },
  ];
  const items = [
    { type: "file-url", url, mediaType: "application/pdf" },
    { type: "file-id", fileId: "file-1" },
    { type: "media", data: PICTURE, mediaType: "image/png" },
    { type: "custom", providerOptions: { some: { of: "text" } } },
  ];
  for (const part of parts) {
    for (const item of items) {
      const work = [{ role: "user", content: [{ type: "text", text: TASK }, part] }];
      for (let step = 0; step < STEPS; step++) {
        const name = { toolCallId: `c${step}`, toolName: "read" };
        const output = { type: "content", value: [{ type: "text", text: read(step).repeat(3) }, item] };
        work.push({ role: "assistant", content: [{ type: "tool-call", ...name, input: { step } }] });
        work.push({ role: "tool", content: [{ type: "tool-result", ...name, output }] });
      }
      assert.equal(await fitParts(new Fitter({ budget: 1_000_000 }), work, {}), work);
      const sent = await fitParts(new Fitter({ budget: BUDGET }), work, {});
      assert.ok(sent.length < work.length && sent[0] === work[0], JSON.stringify(part));
      assert.ok(holds(sent.at(-1).content, item), JSON.stringify([item, sent.at(-1).content]));
    }
  }
});

test("items of the OpenAI Agents SDK", async () => {
  const parts = [
    { type: "input_image", image: { id: "file-1" } },
    { type: "input_file", file: { url } },
    { type: "input_file", file: `data:application/pdf;base64,${PICTURE}`, filename: "a.pdf" },
    { type: "audio", audio: PICTURE, format: "wav" },
    { type: "of_tomorrow", some: "text" },
  ];
  const items = [
    { type: "hosted_tool_call", name: "web_search", status: "completed" },
    { type: "compaction", encrypted_content: "a" },
    { type: "unknown", providerData: { some: "text" } },
  ];
  for (const part of parts) {
    const input = [{ role: "user", content: [{ type: "input_text", text: TASK }, part] }, ...items];
    for (let step = 0; step < STEPS; step++) {
      const output = [{ type: "input_text", text: read(step).repeat(3) }, part];
      input.push({ type: "function_call", callId: `c${step}`, name: "read", arguments: "{}" });
      input.push({ type: "function_call_result", callId: `c${step}`, name: "read", status: "completed", output });
    }
    const modelData = { input, instructions: "" };
    const of = (budget) => epitomeFilter({ budget })({ modelData, agent: { tools: [] } });
    assert.equal(await of(1_000_000), modelData, JSON.stringify(part));
    const { input: sent } = await of(BUDGET);
    assert.ok(sent.length < input.length && sent[0] === input[0], JSON.stringify(part));
  }
});

/** A model that refuses what it is sent first. */
function refusing(sent) {
  const next = ({ prompt }) => {
    sent.push(JSON.stringify(prompt).length);
    if (sent.length === 1) throw Object.assign(new Error(VLLM), { statusCode: 400 });
  };
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const finishReason = { unified: "stop" };
  return new MockLanguageModelV4({
    doGenerate: async (call) => {
      next(call);
      return { content: [{ type: "text", text: "done" }], finishReason, usage, warnings: [] };
    },
    doStream: async (call) => {
      next(call);
      const text = [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "done" }, { type: "text-end", id: "1" }];
      const chunks = [{ type: "stream-start", warnings: [] }, ...text, { type: "finish", finishReason, usage }];
      return { stream: simulateReadableStream({ chunks, chunkDelayInMs: null, initialDelayInMs: null }) };
    },
  });
}

const talk = Array.from({ length: 21 }, (_, turn) => ({
  role: turn % 2 === 0 ? "user" : "assistant",
  content: `Line ${turn}. `.repeat(80),
}));

test("the AI SDK's model refuses a prompt", async () => {
  const answers = [
    async (model) => (await generateText({ model, messages: talk })).text,
    async (model) => await streamText({ model, messages: talk }).text,
  ];
  for (const answer of answers) {
    const sent = [];
    const model = wrapLanguageModel({ model: refusing(sent), middleware: middlewareOfAi({ budget: 12_000 }) });
    assert.equal(await answer(model), "done");
    assert.ok(sent.length === 2 && sent[1] < 0.9 * sent[0], `${sent}`);
  }
});

test("LangChain's model refuses a request", async () => {
  const sent = [];
  const { wrapModelCall } = epitomeMiddleware({ budget: 12_000 });
  const messages = talk.map(({ role, content }) => (role === "user" ? new HumanMessage(content) : new AIMessage(content)));
  const tools = [{ googleSearch: {} }, { type: "web_search" }];
  const request = { messages, tools, systemMessage: new HumanMessage(""), runtime: {}, model: {} };
  const answer = await wrapModelCall(request, async ({ messages: given }) => {
    sent.push(JSON.stringify(given.map((message) => message.content)).length);
    if (sent.length === 1) throw new Error("the agent stopped", { cause: Object.assign(new Error(VLLM), { status: 400 }) });
    return "done";
  });
  assert.ok(answer === "done" && sent.length === 2 && sent[1] < 0.9 * sent[0], `${sent}`);
});
