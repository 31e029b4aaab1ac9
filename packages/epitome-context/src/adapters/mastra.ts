/**
 * Mastra: an input processor that fits what the model is sent.
 *
 * ```js
 * import { EpitomeProcessor } from "epitome-context/mastra";
 *
 * new Agent({ …, inputProcessors: [new EpitomeProcessor({ budget: 60_000 })] });
 * ```
 */

import { createTool } from "@mastra/core/tools";
import type { ProcessLLMRequestArgs, ProcessLLMRequestResult, Processor } from "@mastra/core/processors";
import type { Fitter, FitOptions } from "epitome-context";

import { Fitters, optionsOf, type AdapterOptions } from "./host.js";
import { fitParts, type PartsMessage } from "./parts.js";
import { Recall, standardOf, toolsOf } from "./recall.js";
import { inputTokens } from "./usage.js";

export { Recall };

export interface ProcessorOptions extends AdapterOptions {
  /** The definitions of the tools, or the tokens that they take: Mastra does not tell a processor what the tools are. */
  tools?: FitOptions["tools"];
}

/**
 * Fits the prompt of each call of the model. What Mastra keeps of the conversation is never changed.
 *
 * One of `budget`, `model`, `window`, `config`, `engine` and `fitter` is needed; `budget` is for the prompt and `tools`. Throws
 * `Infeasible` where what must stay is larger. One processor may serve many agents and threads.
 */
export class EpitomeProcessor implements Processor<"epitome"> {
  readonly id = "epitome";
  readonly name = "epitome";
  readonly #fitter: Fitter;
  readonly #options: ProcessorOptions;

  constructor(options: ProcessorOptions) {
    this.#options = optionsOf(options, ["tools"]);
    const { tools: _, ...words } = this.#options;
    this.#fitter = new Fitters("openai-chat", words).theOne();
  }

  /** Mastra calls it before each call of the model. */
  async processLLMRequest({ prompt, steps }: ProcessLLMRequestArgs): Promise<ProcessLLMRequestResult> {
    const { tools } = this.#options;
    const beside = { tools, reportedTokens: inputTokens(steps.at(-1)?.usage) };
    const sent = await fitParts(this.#fitter, prompt as PartsMessage[], beside, this.#options);
    return sent === (prompt as readonly object[]) ? undefined : { prompt: [...sent] as typeof prompt };
  }
}

/**
 * `recall`, `search_history` and `compact_context` for an agent's `tools`. They are about the conversation that was fitted last:
 * give agents that run side by side a `Recall` each. `config: { marks: { handles: true } }` lets the conversation name the handles.
 */
export function recallTools(recall: Recall): Record<string, ReturnType<typeof createTool>> {
  const made = toolsOf(recall).map(({ name, description, parameters, run }) => {
    const execute = async (given: any): Promise<string> => run(given?.context ?? given);
    return [name, createTool({ id: name, description, inputSchema: standardOf(parameters), execute })];
  });
  return Object.fromEntries(made) as Record<string, ReturnType<typeof createTool>>;
}
