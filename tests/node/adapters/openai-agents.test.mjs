// Runs of the OpenAI Agents SDK with a scripted model.
import assert from "node:assert/strict";
import test from "node:test";

import { Agent, MemorySession, Runner, Usage, setTracingDisabled, tool } from "@openai/agents";
import { Fitter, Infeasible } from "epitome-context";
import { Recall, epitomeFilter, recallTools } from "epitome-context/openai-agents";

import { ANSWER, ASK, BUDGET, PARTS, TASK, checkAsked, checkSent, read } from "./work.mjs";

setTracingDisabled(true);

const readPart = tool({
  name: "read_part",
  description: "Reads a part of the ledger.",
  parameters: { type: "object", properties: { part: { type: "number" } }, required: ["part"], additionalProperties: false },
  strict: true,
  execute: ({ part }) => read(part),
});

/** Reads every part and answers, again for every question. */
class Scripted {
  sent = [];
  instructions = [];
  offered = [];

  constructor(ask = {}) {
    this.ask = ask;
  }

  async getResponse(request) {
    this.sent.push(structuredClone(request.input));
    this.instructions.push(request.systemInstructions);
    this.offered.push(request.tools.map(({ name }) => name));
    const turn = this.sent.length;
    const [name, given] = this.ask[turn] ?? ["read_part", { part: turn }];
    const text = { type: "output_text", text: ANSWER };
    const answer = { type: "message", role: "assistant", status: "completed", content: [text] };
    const callId = `call_${turn}`;
    const output =
      turn % (PARTS + 1) === 0
        ? [answer]
        : [
            { type: "reasoning", id: `r${turn}`, content: [], providerData: { encryptedContent: "c2ln" } },
            { type: "function_call", callId, name, status: "completed", arguments: JSON.stringify(given) },
          ];
    return { usage: new Usage(), output };
  }

  async *getStreamedResponse() {
    throw new Error("not streamed here");
  }
}

/** Items as Responses has them. */
function wireOf(items) {
  return items.map((item) => {
    if (item.type === "function_call") {
      return { type: item.type, call_id: item.callId, name: item.name, arguments: item.arguments };
    }
    if (item.type === "function_call_result") {
      return { type: "function_call_output", call_id: item.callId, output: item.output.text ?? item.output };
    }
    if (item.type === "reasoning") {
      return { type: item.type, id: item.id, summary: [], encrypted_content: item.providerData.encryptedContent };
    }
    return { type: "message", role: item.role, content: item.content };
  });
}

async function run(model, filter, questions, session) {
  const agent = new Agent({ name: "mender", instructions: "You are an accountant.", model, tools: [readPart] });
  const runner = new Runner({ callModelInputFilter: filter, tracingDisabled: true });
  const answers = [];
  for (const question of questions) {
    answers.push((await runner.run(agent, question, { maxTurns: 60, session })).finalOutput);
  }
  return answers;
}

test("the input of each call is fitted, and the session keeps all of it", async () => {
  const model = new Scripted();
  const session = new MemorySession();
  const fits = [];
  const filter = epitomeFilter({ budget: BUDGET, onFit: (fitted) => fits.push(fitted.status) });
  const answers = await run(model, filter, [TASK, "Once more, please."], session);
  assert.deepEqual(answers, [ANSWER, ANSWER]);
  assert.equal(model.sent.length, 2 * (PARTS + 1));
  for (const input of model.sent) checkSent(wireOf(input), "openai-responses");
  assert.deepEqual([...new Set(model.instructions)], ["You are an accountant."]);
  assert.ok(model.sent.some((input) => JSON.stringify(input).includes("[Summary of")));
  assert.ok(fits.includes("compacted") && fits.includes("replayed") && fits.includes("unchanged"));
  const kept = await session.getItems();
  assert.equal(kept.filter((item) => item.type === "function_call_result").length, 2 * PARTS);
  assert.ok(!JSON.stringify(kept).includes("[Summary of"));
});

test("conversations that begin alike are told apart by their key", async () => {
  const fitter = new Fitter({ budget: BUDGET, format: "openai-responses" });
  let name = "a";
  const filter = epitomeFilter({ fitter, key: () => name });
  await run(new Scripted(), filter, [TASK]);
  const { conversations } = fitter.size;
  name = "b";
  await run(new Scripted(), filter, [TASK]);
  assert.ok(fitter.size.conversations > conversations);
});

test("what cannot fit is refused before the model is called", async () => {
  const model = new Scripted();
  await assert.rejects(run(model, epitomeFilter({ budget: 5 }), [TASK]), (error) => {
    const cause = error instanceof Infeasible ? error : error.cause ?? error;
    return /cannot fit/.test(String(cause.message));
  });
  assert.equal(model.sent.length, 0);
});

test("what the SDK's own tools printed is cut in its own form, and stays with its call", async () => {
  const filter = epitomeFilter({ budget: 1_500 });
  const check = async (item, expect) => {
    const callId = item.callId;
    const call = { type: item.type.replace("_output", "").replace("_result", ""), callId, status: "completed", action: { commands: ["ls"] } };
    const input = [{ type: "message", role: "user", content: TASK }, call, item];
    const { input: sent } = await filter({ modelData: { input }, agent: { tools: [] }, context: undefined });
    assert.deepEqual(sent.slice(0, 2), input.slice(0, 2));
    expect(sent[2], item);
  };
  const stdout = Array.from({ length: 900 }, (_, row) => `row ${row} ${row * 37}\n`).join("");
  const outcome = { type: "exit", exitCode: 0 };
  await check({ type: "shell_call_output", callId: "a", output: [{ stdout, stderr: "", outcome }] }, (sent, own) => {
    const [printed] = sent.output;
    assert.ok(printed.stdout.length < own.output[0].stdout.length && /elided/.test(printed.stdout));
    assert.deepEqual([printed.outcome, sent.callId], [outcome, "a"]);
  });
  await check({ type: "apply_patch_call_output", callId: "b", status: "completed", output: stdout }, (sent) => {
    assert.match(sent.output, /elided/);
  });
  const picture = { type: "computer_screenshot", data: "data:image/png;base64,".padEnd(90_000, "A") };
  await check({ type: "computer_call_result", callId: "c", output: picture }, (sent, own) => assert.equal(sent, own));
});

test("a call of one of the SDK's own tools is cut in its own form", async () => {
  const long = Array.from({ length: 900 }, (_, row) => `+row ${row} ${row * 37}\n`).join("");
  const check = async (call, expect, budget = 1_500) => {
    const own = { callId: "a", status: "completed", ...call };
    const input = [
      { type: "message", role: "user", content: TASK },
      own,
      { type: `${call.type}_output`, callId: "a", status: "completed", output: "done" },
    ];
    const before = structuredClone(input);
    const { input: sent } = await epitomeFilter({ budget })({ modelData: { input }, agent: { tools: [] }, context: undefined });
    assert.deepEqual(input, before);
    const after = sent.find((item) => item.type === call.type);
    assert.ok(JSON.stringify(after).length < JSON.stringify(own).length, "it was cut");
    assert.deepEqual([after.callId, after.status], ["a", "completed"]);
    expect(after);
  };
  const operation = { type: "update_file", path: "src/ledger.rs", diff: long };
  await check({ type: "apply_patch_call", operation }, ({ operation: { type, path, diff, ...rest } }) => {
    assert.deepEqual([type, path, rest], ["update_file", "src/ledger.rs", {}]);
    assert.match(diff, /elided/);
  });
  const action = { commands: [`cat > a.txt <<E\n${long}E`, "wc a.txt"], timeoutMs: 900 };
  await check({ type: "shell_call", action }, (sent) => {
    assert.ok(sent.action.commands.every((command) => typeof command === "string"));
    assert.match(sent.action.commands.join(), /elided/);
    assert.equal(sent.action.timeoutMs, 900);
  });
});

test("each picture of a message stays itself where another part is cut or leaves", async () => {
  const pictures = ["A", "B", "C"].map((letter) => ({
    type: "input_image",
    image: `data:image/png;base64,${letter.repeat(40)}`,
    providerData: { letter },
  }));
  const long = Array.from({ length: 900 }, (_, row) => `row ${row} ${row * 37}\n`).join("");
  // An empty text leaves, so that the parts are fewer than before.
  const content = [pictures[0], { type: "input_text", text: "" }, { type: "input_text", text: long }, pictures[1], pictures[2]];
  const input = [
    { type: "message", role: "user", content: TASK },
    { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "I look." }] },
    { type: "message", role: "user", content },
  ];
  const { input: sent } = await epitomeFilter({ budget: 6_000 })({ modelData: { input }, agent: { tools: [] }, context: undefined });
  const after = sent.find((item) => Array.isArray(item.content) && item.content.some((part) => part.type === "input_image"));
  assert.equal(after.content.length, 4);
  assert.deepEqual(after.content.filter((part) => part.type === "input_image"), pictures);
  assert.match(JSON.stringify(after.content), /elided/);
});

test("what left is brought back, and a model asks for a compaction", async () => {
  const model = new Scripted(ASK);
  const [recall, fits] = [new Recall(), []];
  const filter = epitomeFilter({ budget: 4_000, config: { marks: { handles: true } }, recall, onFit: (fitted) => fits.push(fitted) });
  const agent = new Agent({ name: "mender", model, tools: [readPart, ...recallTools(recall)] });
  const { history } = await new Runner({ callModelInputFilter: filter, tracingDisabled: true }).run(agent, TASK, { maxTurns: 60 });
  const results = history.filter((item) => item.type === "function_call_result");
  checkAsked(Object.fromEntries(results.map(({ name, output }) => [name, output.text ?? output])), fits);
  const ours = ["read_part", "recall", "search_history", "compact_context"];
  assert.deepEqual([model.offered[0], model.offered.at(-1)], [["read_part"], ours]);
  const handle = fits.find((fitted) => !fitted.unchanged).removals[0].handle;
  assert.match(recall.recall(handle), /part/);
});
