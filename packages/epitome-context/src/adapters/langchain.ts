/**
 * LangChain.js and LangGraph: a middleware that fits what the model is sent.
 *
 * ```js
 * import { epitomeMiddleware } from "epitome-context/langchain";
 *
 * const agent = createAgent({ model, tools, middleware: [epitomeMiddleware({ budget: 60_000 })] });
 * ```
 */

import { ContextOverflowError } from "@langchain/core/errors";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { Fitted, FitOptions } from "epitome-context";
import { AIMessage, createMiddleware, tool, type AgentMiddleware, type BaseMessage } from "langchain";

import { Fitters, optionsOf, overflowOf, tell, type AdapterOptions } from "./host.js";
import { edited, inserted, wireOf } from "./langchain-messages.js";
import { ownMessages, withPlaces } from "./own.js";
import { RECALL_TOOLS, Recall, toolsOf } from "./recall.js";
import { inputTokens, Usages } from "./usage.js";

export { Recall };

/**
 * Fits the messages of each call of the model. The messages that the thread keeps are never changed.
 *
 * `budget` is for messages, system prompt and tools together. Without any option that settles a budget, the model's profile
 * tells its window (`maxInputTokens`). One middleware may serve many agents and threads: each thread of LangGraph (`thread_id`)
 * is a conversation of its own. Where a provider refuses a request as too long, it is made smaller and sent once more. Throws `Infeasible` where what must stay is larger than the budget.
 */
export function epitomeMiddleware(options: AdapterOptions = {}): AgentMiddleware {
  const fitters = new Fitters("openai-chat", optionsOf(options));
  const usages = new Usages();
  return createMiddleware({
    name: "EpitomeMiddleware",
    async wrapModelCall(request, handler) {
      const fitter = fitters.of((request.model as { profile?: { maxInputTokens?: number } }).profile?.maxInputTokens);
      const messages = request.messages.map(wireOf);
      const beside = besideOf(request);
      const smaller = (fitted: Fitted): typeof request => {
        tell(options, fitted, beside.key);
        if (fitted.unchanged) return withoutRecall(request);
        return { ...request, messages: ownMessages<BaseMessage>(fitted, messages, request.messages, { edited, inserted }) };
      };
      const asked = options.recall?.takeAsked(beside.key ?? "");
      const reportedTokens = usages.once(beside.key ?? "", reportedIn(request.messages));
      const fits = smaller(await fitter.fitAsync(withPlaces(messages), { ...beside, reportedTokens, asked }));
      try {
        return await handler(fits);
      } catch (error) {
        const limits = overflowOf(error);
        if (limits === null && !ContextOverflowError.isInstance(error)) throw error;
        return await handler(smaller(await fitter.fitAfterAsync(withPlaces(messages), limits, beside)));
      }
    },
  }) as AgentMiddleware;
}

/**
 * `recall`, `search_history` and `compact_context` for an agent's `tools`: they are about the thread in which they are called, and a
 * model is offered them from the first compaction of its thread on. `config: { marks: { handles: true } }` lets the conversation
 * name the handles.
 */
export function recallTools(recall: Recall): ReturnType<typeof tool>[] {
  return toolsOf(recall).map(({ name, description, parameters, run }) =>
    tool((given: unknown, config?: { configurable?: { thread_id?: string } }) => run(given, config?.configurable?.thread_id ?? ""), {
      name,
      description,
      schema: parameters as any,
    }),
  ) as ReturnType<typeof tool>[];
}

/** A request of a thread that nothing has left: without the tools that look there. */
function withoutRecall<R extends { tools: readonly unknown[] }>(request: R): R {
  const tools = request.tools.filter((tool) => !RECALL_TOOLS.has((tool as { name?: unknown }).name));
  return tools.length === request.tools.length ? request : { ...request, tools };
}

/** The input tokens of the request that the model's newest message answers. */
function reportedIn(messages: readonly BaseMessage[]): number | undefined {
  const newest = messages.findLast((message) => AIMessage.isInstance(message));
  return inputTokens((newest as { usage_metadata?: unknown } | undefined)?.usage_metadata);
}

/** What stands beside the messages of a request. */
function besideOf(request: { systemMessage: BaseMessage; tools: readonly unknown[]; runtime: unknown }): FitOptions {
  const system = wireOf(request.systemMessage).content;
  const tools = request.tools.map((tool) => definitionOf(tool));
  const { configurable } = request.runtime as { configurable?: { thread_id?: string } };
  return {
    system: system === "" ? null : system,
    tools: tools.length === 0 ? null : tools,
    key: configurable?.thread_id ?? "",
    format: "openai-chat",
  };
}

/** Whether a tool is a definition already, such as `{ type: "web_search" }` or `{ googleSearch: {} }`: the provider runs it. */
function isHosted(tool: unknown): boolean {
  const { type, name, schema } = tool as { type?: unknown; name?: unknown; schema?: unknown };
  return !("invoke" in (tool as object)) && (typeof type === "string" || name === undefined || schema === undefined);
}

/** The definition of a tool; one that the provider hosts is its own definition. */
function definitionOf(tool: unknown): unknown {
  return isHosted(tool) ? tool : convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]);
}
