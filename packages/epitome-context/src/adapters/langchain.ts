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
import { contextOverflow, type Fitted, type FitOptions } from "epitome-context";
import { createMiddleware, type AgentMiddleware, type BaseMessage } from "langchain";

import { Fitters, optionsOf, type AdapterOptions } from "./host.js";
import { edited, inserted, wireOf } from "./langchain-messages.js";

/**
 * Fits the messages of each call of the model. The messages that the thread keeps are never changed.
 *
 * `budget` is for messages, system prompt and tools together. Without any option that settles a budget, the model's profile
 * tells its window (`maxInputTokens`). One middleware may serve many agents and threads: each thread of LangGraph (`thread_id`)
 * is a conversation of its own. Where a provider refuses a request as too long (`ContextOverflowError`), it is made smaller and
 * sent once more. Throws `Infeasible` where what must stay is larger than the budget.
 */
export function epitomeMiddleware(options: AdapterOptions = {}): AgentMiddleware {
  const fitters = new Fitters("openai-chat", optionsOf(options));
  return createMiddleware({
    name: "EpitomeMiddleware",
    async wrapModelCall(request, handler) {
      const fitter = fitters.of((request.model as { profile?: { maxInputTokens?: number } }).profile?.maxInputTokens);
      const messages = request.messages.map(wireOf);
      const beside = besideOf(request);
      const smaller = (fitted: Fitted): typeof request => {
        options.onFit?.(fitted);
        if (fitted.unchanged) return request;
        return { ...request, messages: fitted.applyTo<BaseMessage>(request.messages, { edited, inserted }) };
      };
      const fits = smaller(await fitter.fitAsync(messages, beside));
      try {
        return await handler(fits);
      } catch (error) {
        if (!ContextOverflowError.isInstance(error)) throw error;
        const limits = contextOverflow(400, String((error as Error).message));
        return await handler(smaller(await fitter.fitAfterAsync(messages, limits, beside)));
      }
    },
  }) as AgentMiddleware;
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
  };
}

/** The definition of a tool; one that the provider hosts is its own definition. */
function definitionOf(tool: unknown): unknown {
  const isHosted = typeof (tool as { type?: unknown }).type === "string" && !("invoke" in (tool as object));
  return isHosted ? tool : convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]);
}
