// An agent of Mastra whose model is sent what fits. The model is scripted: put one of a provider's in its place.
//
//   node examples/typescript/mastra.ts
import { Agent } from "@mastra/core/agent";
import type { MastraModelConfig } from "@mastra/core/llm";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { EpitomeProcessor } from "epitome-context/mastra";
import { z } from "zod";

type Stream = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>["stream"];
type Chunk = Stream extends ReadableStream<infer Part> ? Part : never;
const lengths: number[] = [];

/** Calls the tool for every part of the ledger, and then answers. */
const model = new MockLanguageModelV3({
  doStream: async ({ prompt }) => {
    const part = lengths.push(prompt.length);
    const answer = "Entries are counted twice because the fingerprint holds the row's position.";
    const said: Chunk[] =
      part > 40
        ? [
            { type: "text-start", id: "0" },
            { type: "text-delta", id: "0", delta: answer },
            { type: "text-end", id: "0" },
          ]
        : [{ type: "tool-call", toolCallId: `call_${part}`, toolName: "read", input: `{"part": ${part}}` }];
    const finishReason = part > 40 ? { unified: "stop", raw: "stop" } : { unified: "tool-calls", raw: "tool_calls" };
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
    const chunks = [{ type: "stream-start", warnings: [] }, ...said, { type: "finish", finishReason, usage }] as Chunk[];
    return { stream: simulateReadableStream({ chunks }) as Stream };
  },
});

const read = createTool({
  id: "read",
  description: "Reads a part of the ledger.",
  inputSchema: z.object({ part: z.number() }),
  execute: async ({ part }) =>
    Array.from({ length: 60 }, (_, row) => `part ${part}, row ${row}: amount ${(row * 37) % 101}\n`).join(""),
});

let most = 0;
const processor = new EpitomeProcessor({
  budget: 6_000,
  tools: 60,
  onFit: (fitted) => (most = Math.max(most, fitted.tokensAfter)),
});
const agent = new Agent({
  id: "mender",
  name: "mender",
  instructions: "You mend programs.",
  model: model as unknown as MastraModelConfig, // the mock is of another version of the SDK than Mastra's
  tools: { read },
  inputProcessors: [processor],
});
const task = "The import of the ledger counts entries twice. Find out why, and keep the database as it is.";
const result = await agent.stream(task, { maxSteps: 60 });
console.log(await result.text);
console.log(`${lengths.length} steps; ${Math.max(...lengths)} messages and ${most} tokens were sent at most`);
