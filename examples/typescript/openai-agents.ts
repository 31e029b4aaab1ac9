// A run of the OpenAI Agents SDK whose model is sent what fits. The model is scripted: leave `model` away for OpenAI's.
//
//   node examples/typescript/openai-agents.ts
import { Agent, MemorySession, Runner, Usage, tool, type Model, type ModelRequest, type ModelResponse } from "@openai/agents";
import { epitomeFilter } from "epitome-context/openai-agents";
import { z } from "zod";

const lengths: number[] = [];

/** Calls the tool for every part of the ledger, and then answers. */
const model: Model = {
  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const part = lengths.push(input.length);
    const text = "Entries are counted twice because the fingerprint holds the row's position.";
    const answer = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] } as const;
    const words = { name: "read", status: "completed", arguments: `{"part": ${part}}` } as const;
    const call = { type: "function_call", callId: `call_${part}`, ...words } as const;
    return { usage: new Usage(), output: [part > 40 ? answer : call] as ModelResponse["output"] };
  },
  getStreamedResponse() {
    throw new Error("this model does not stream");
  },
};

const read = tool({
  name: "read",
  description: "Reads a part of the ledger.",
  parameters: z.object({ part: z.number() }),
  execute: ({ part }) =>
    Array.from({ length: 60 }, (_, row) => `part ${part}, row ${row}: amount ${(row * 37) % 101}\n`).join(""),
});

let most = 0;
const filter = epitomeFilter({ budget: 6_000, onFit: (fitted) => (most = Math.max(most, fitted.tokensAfter)) });
const runner = new Runner({ callModelInputFilter: filter, tracingDisabled: true });
const agent = new Agent({ name: "mender", instructions: "You mend programs.", model, tools: [read] });
const task = "The import of the ledger counts entries twice. Find out why, and keep the database as it is.";
const session = new MemorySession();
const { finalOutput } = await runner.run(agent, task, { maxTurns: 60, session });
console.log(finalOutput);
const kept = await session.getItems();
console.log(`the session keeps ${kept.length} items; ${Math.max(...lengths)} of ${most} tokens were sent at most`);
