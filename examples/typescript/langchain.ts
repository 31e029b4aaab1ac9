// An agent of LangChain.js whose model is sent what fits. The model is scripted: put one of a provider's in its place.
//
//   node examples/typescript/langchain.ts
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ChatResult } from "@langchain/core/outputs";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { epitomeMiddleware } from "epitome-context/langchain";
import { AIMessage, type BaseMessage, createAgent, tool } from "langchain";
import { z } from "zod";

const lengths: number[] = [];

/** Calls the tool for every part of the ledger, and then answers. */
class ScriptedModel extends BaseChatModel {
  override _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: Parameters<typeof convertToOpenAITool>[0][]) {
    return this.withConfig({ tools: tools.map((it) => convertToOpenAITool(it)) } as object);
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const part = lengths.push(messages.length);
    const answer = "Entries are counted twice because the fingerprint holds the row's position.";
    const call = { id: `call_${part}`, name: "read", args: { part }, type: "tool_call" as const };
    const message = part > 40 ? new AIMessage(answer) : new AIMessage({ content: "", tool_calls: [call] });
    return { generations: [{ message, text: part > 40 ? answer : "" }] };
  }
}

const read = tool(
  ({ part }) => Array.from({ length: 60 }, (_, row) => `part ${part}, row ${row}: amount ${(row * 37) % 101}\n`).join(""),
  { name: "read", description: "Reads a part of the ledger.", schema: z.object({ part: z.number() }) },
);

let most = 0;
const agent = createAgent({
  model: new ScriptedModel({}),
  tools: [read],
  systemPrompt: "You mend programs.",
  middleware: [epitomeMiddleware({ budget: 6_000, onFit: (fitted) => (most = Math.max(most, fitted.tokensAfter)) })],
});
const task = "The import of the ledger counts entries twice. Find out why, and keep the database as it is.";
const state = await agent.invoke({ messages: [{ role: "user", content: task }] }, { recursionLimit: 200 });
console.log(state.messages.at(-1)?.content);
console.log(`the thread keeps ${state.messages.length} messages; ${Math.max(...lengths)} of ${most} tokens were sent at most`);
