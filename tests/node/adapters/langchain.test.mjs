// Agents of LangChain.js with a scripted model.
import assert from "node:assert/strict";
import test from "node:test";

import { ContextOverflowError } from "@langchain/core/errors";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { ChatMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { MemorySaver } from "@langchain/langgraph";
import { Fitter } from "epitome-context";
import { Recall, epitomeMiddleware, recallTools } from "epitome-context/langchain";
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage, createAgent, tool } from "langchain";

import { edited, wireOf } from "../../../packages/epitome-context/dist/esm/adapters/langchain-messages.js";
import { ANSWER, ASK, BUDGET, PARTS, TASK, checkAsked, checkReported, checkSent, read, reported } from "./work.mjs";

const readPart = tool(({ part }) => read(part), {
  name: "readPart",
  description: "Reads a part of the ledger.",
  schema: { type: "object", properties: { part: { type: "number" } } },
});

/** Reads every part and answers; it refuses what is longer than `limit`. */
class Scripted extends BaseChatModel {
  constructor(fields = {}) {
    super(fields);
    this.sent = fields.sent ?? [];
    this.refused = fields.refused ?? [];
    this.limit = fields.limit ?? Infinity;
    this.known = fields.profile ?? {};
    this.figures = fields.figures;
    this.ask = fields.ask ?? {};
    this.offered = fields.offered ?? [];
  }

  get profile() {
    return this.known;
  }

  _llmType() {
    return "scripted";
  }

  bindTools(tools) {
    this.offered.push(tools.map(({ name }) => name));
    return this.withConfig({ tools: tools.map((it) => convertToOpenAITool(it)) });
  }

  async _generate(messages) {
    const length = JSON.stringify(messages.map(wireOf)).length;
    if (length > this.limit) {
      this.refused.push(length);
      throw new ContextOverflowError("prompt is too long: 2900 tokens > 2400 maximum");
    }
    this.sent.push([...messages]);
    const turn = this.sent.length;
    const isDone = turn > PARTS;
    const [name, args] = this.ask[turn] ?? ["readPart", { part: turn }];
    const message = isDone
      ? new AIMessage(ANSWER)
      : new AIMessage({
          content: [
            { type: "thinking", thinking: `Part ${turn} is next.`, signature: "c2ln" },
            { type: "text", text: `I read part ${turn}.` },
            { type: "tool_use", id: `call_${turn}`, name, input: args },
          ],
          tool_calls: [{ id: `call_${turn}`, name, args, type: "tool_call" }],
        });
    if (this.figures !== undefined) {
      const input_tokens = reported(messages.map(wireOf));
      this.figures.push(input_tokens);
      message.usage_metadata = { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 };
    }
    return { generations: [{ message, text: isDone ? ANSWER : "" }] };
  }
}

async function run(model, options, thread) {
  const agent = createAgent({
    model,
    tools: [readPart],
    systemPrompt: "You are an accountant.",
    middleware: [epitomeMiddleware(options)],
    ...(thread === undefined ? {} : { checkpointer: new MemorySaver() }),
  });
  const configurable = thread === undefined ? {} : { thread_id: thread };
  return agent.invoke({ messages: [new HumanMessage(TASK)] }, { recursionLimit: 200, configurable });
}

function checkRun(model, state) {
  assert.equal(model.sent.length, PARTS + 1);
  for (const messages of model.sent) checkSent(messages.map(wireOf));
  assert.ok(model.sent.some((messages) => messages.some((it) => String(it.content).includes("[Summary of"))));
  // The thread keeps everything.
  assert.equal(state.messages.length, 2 + 2 * PARTS);
  assert.equal(state.messages.at(-1).content, ANSWER);
  const whole = new Set(state.messages.map((message) => message.id));
  const last = model.sent.at(-1).filter((message) => whole.has(message.id));
  assert.ok(last.length >= 3, "what is kept are the thread's own messages");
}

test("what the model is sent is fitted, and the thread keeps all of it", async () => {
  for (const thread of [undefined, "a"]) {
    const model = new Scripted();
    const fits = [];
    checkRun(model, await run(model, { budget: BUDGET, onFit: (fitted) => fits.push(fitted.status) }, thread));
    assert.ok(fits.includes("compacted") && fits.includes("replayed") && fits.includes("unchanged"), String(fits));
  }
});

test("the window is that of the model's profile", async () => {
  const model = new Scripted({ profile: { maxInputTokens: 8_000 } });
  const state = await run(model, {});
  model.sent.forEach((messages) => checkSent(messages.map(wireOf), "openai-chat", 8_000));
  assert.equal(state.messages.at(-1).content, ANSWER);
  await assert.rejects(run(new Scripted(), {}), { message: /nothing tells how many tokens the model takes/ });
});

test("the budget is of the provider's tokens", async () => {
  const figures = [];
  await run(new Scripted({ figures }), { budget: BUDGET });
  checkReported(figures);
});

test("what the provider refuses is made smaller and sent once more", async () => {
  const model = new Scripted({ limit: 7_000 });
  const state = await run(model, { budget: BUDGET });
  assert.ok(model.refused.length > 0);
  checkRun(model, state);
});

test("a message says what was fitted, and is still itself", () => {
  const own = new AIMessage({
    id: "m1",
    name: "mender",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "text", text: "I look.", citations: [1] },
      { type: "tool_use", id: "c1", name: "bash", input: { command: "ls" } },
    ],
    tool_calls: [{ id: "c1", name: "bash", args: { command: "ls" }, type: "tool_call" }],
    response_metadata: { model: "m" },
  });
  const check = (change, expect) => {
    const after = edited(own, { ...wireOf(own), ...change });
    assert.equal(AIMessage.isInstance(after), true);
    assert.deepEqual([after.id, after.name, after.response_metadata], ["m1", "mender", { model: "m" }]);
    assert.deepEqual([after.content, after.tool_calls.map((call) => call.args)], expect);
  };
  const [thought, text, call] = own.content;
  check({}, [own.content, [{ command: "ls" }]]);
  check({ reasoning_content: "" }, [[text, call], [{ command: "ls" }]]);
  check({ content: [{ type: "text", text: "…" }] }, [[thought, { type: "text", text: "…" }, call], [{ command: "ls" }]]);
  const function_ = { name: "bash", arguments: '{"command":"…"}' };
  check({ tool_calls: [{ id: "c1", type: "function", function: function_ }] }, [
    [thought, text, { ...call, input: { command: "…" } }],
    [{ command: "…" }],
  ]);
  const result = new ToolMessage({ id: "m2", content: "long", tool_call_id: "c1", artifact: { rows: 2 }, status: "error" });
  const short = edited(result, { ...wireOf(result), content: "short" });
  assert.deepEqual([short.content, short.artifact, short.status, short.id], ["short", { rows: 2 }, "error", "m2"]);
});

test("a role of somebody else is fitted as a user's", async () => {
  const check = (message, role) => assert.equal(wireOf(message).role, role);
  const critic = new ChatMessage({ content: "It misses a case. ".repeat(200), role: "critic" });
  check(critic, "user");
  check(new ChatMessage({ content: "Be terse.", role: "developer" }), "developer");
  check(new ChatMessage({ content: "Done.", role: "tool" }), "user");
  check(new AIMessageChunk({ content: "I look." }), "assistant");
  const { content } = critic;
  assert.equal(new Fitter({ budget: 5_000 }).fit([critic, new HumanMessage("Why?")].map(wireOf)).messages[0].content, content);
  const short = edited(critic, { ...wireOf(critic), content: "It misses a case." });
  assert.deepEqual([short.role, short.content], ["critic", "It misses a case."]);
});

test("a misspelt option is refused when the middleware is made", () => {
  assert.throws(() => epitomeMiddleware({ budgett: 3 }), { name: "ConfigError", message: /did you mean `budget`\?/ });
});

test("what left is brought back, and a model asks for a compaction", async () => {
  const model = new Scripted({ ask: ASK });
  const [recall, fits] = [new Recall(), []];
  const options = { budget: 4_000, config: { marks: { handles: true } }, recall, onFit: (fitted) => fits.push(fitted) };
  const tools = [readPart, ...recallTools(recall)];
  const agent = createAgent({ model, tools, middleware: [epitomeMiddleware(options)], checkpointer: new MemorySaver() });
  const configurable = { thread_id: "a" };
  const state = await agent.invoke({ messages: [new HumanMessage(TASK)] }, { recursionLimit: 200, configurable });
  const results = state.messages.filter((message) => ToolMessage.isInstance(message));
  checkAsked(Object.fromEntries(results.map(({ name, content }) => [name, content])), fits);
  const ours = ["readPart", "recall", "search_history", "compact_context"];
  assert.deepEqual([model.offered[0], model.offered.at(-1)], [["readPart"], ours]);
  assert.ok(recall.hasLeft("a") && !recall.hasLeft("b"), "of its thread");
});
