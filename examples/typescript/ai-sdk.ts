// A loop of Vercel's AI SDK whose model is sent what fits. The model is scripted: put one of a provider's in its place.
//
//   node examples/typescript/ai-sdk.ts
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { epitomeStep } from "epitome-context/ai";

const lengths: number[] = [];

/** Calls the tool for every part of the ledger, and then answers. */
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const part = lengths.push(prompt.length);
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
    const answer = "Entries are counted twice because the fingerprint holds the row's position.";
    const call = { type: "tool-call" as const, toolCallId: `call_${part}`, toolName: "read", input: `{"part": ${part}}` };
    return part > 40
      ? { content: [{ type: "text" as const, text: answer }], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] }
      : { content: [call], finishReason: { unified: "tool-calls", raw: "tool_calls" }, usage, warnings: [] };
  },
});

const read = tool({
  description: "Reads a part of the ledger.",
  inputSchema: jsonSchema<{ part: number }>({ type: "object", properties: { part: { type: "number" } } }),
  execute: ({ part }) =>
    Array.from({ length: 60 }, (_, row) => `part ${part}, row ${row}: amount ${(row * 37) % 101}\n`).join(""),
});

let most = 0;
const { text, steps } = await generateText({
  model,
  instructions: "You mend programs.",
  prompt: "The import of the ledger counts entries twice. Find out why, and keep the database as it is.",
  tools: { read },
  stopWhen: stepCountIs(60),
  prepareStep: epitomeStep({ budget: 6_000, tools: 60, onFit: (fitted) => (most = Math.max(most, fitted.tokensAfter)) }),
});
console.log(text);
console.log(`${steps.length} steps; ${Math.max(...lengths)} messages and ${most} tokens were sent at most`);
