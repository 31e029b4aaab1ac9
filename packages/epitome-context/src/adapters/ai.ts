/**
 * Vercel's AI SDK: a `prepareStep` for a loop, and a middleware for any call of a model.
 *
 * ```js
 * import { epitomeStep } from "epitome-context/ai";
 *
 * await generateText({ model, tools, messages, prepareStep: epitomeStep({ budget: 60_000 }) });
 * ```
 */

import type { LanguageModelMiddleware, ModelMessage, ToolSet } from "ai";
import type { FitOptions, Overflow } from "epitome-context";

import { Fitters, optionsOf, overflowOf, type AdapterOptions } from "./host.js";
import { fitParts, type PartsMessage } from "./parts.js";
import { RECALL_TOOLS, Recall, standardOf, toolsOf } from "./recall.js";
import { inputTokens, Usages } from "./usage.js";

export { Recall };

export interface StepOptions extends AdapterOptions {
  /** The definitions of the tools, or the tokens that they take: the SDK does not tell a step what its tools are. */
  tools?: FitOptions["tools"];
}

/** What is looked at of a step. */
interface Step {
  messages: ModelMessage[];
  instructions?: unknown;
  system?: unknown;
  steps?: readonly { usage?: unknown }[];
}

/**
 * A `prepareStep` for `generateText`, `streamText` and `ToolLoopAgent`: it fits the messages of each step. Those that you pass
 * and those that the call gives back are never changed.
 *
 * One of `budget`, `model`, `window`, `config`, `engine` and `fitter` is needed; `budget` is for messages, instructions and
 * `tools` together. Throws `Infeasible` where what must stay is larger.
 */
export function epitomeStep(options: StepOptions): (step: Step) => Promise<{ messages?: ModelMessage[] }> {
  const { tools, ...words } = optionsOf(options, ["tools"]);
  const fitter = new Fitters("openai-chat", words).theOne();
  const log = new Log();
  return async (step) => {
    const came = log.restore(step.messages);
    const system = textOfInstructions(step.instructions ?? step.system);
    const beside = { system, tools, reportedTokens: inputTokens(step.steps?.at(-1)?.usage) };
    const sent = await fitParts(fitter, came as PartsMessage[], beside, words);
    if (sent === came && came === step.messages) return {};
    const messages = [...sent] as ModelMessage[];
    log.keep(came, messages);
    return { messages };
  };
}

/**
 * A middleware for `wrapLanguageModel`: it fits the prompt of each call of the model, whatever the call is for.
 *
 * The options are those of {@link epitomeStep}; the definitions of the tools are known and counted. Where a provider refuses a
 * prompt as too long, it is made smaller and sent once more.
 */
export function epitomeMiddleware(options: AdapterOptions): LanguageModelMiddleware {
  const words = optionsOf(options);
  const fitter = new Fitters("openai-chat", words).theOne();
  /** What prompts were before they were fitted, by what was made of them. */
  const prompts = new WeakMap<object, PartsMessage[]>();
  const usages = new Usages();
  const promptOf = (params: { prompt: unknown }): PartsMessage[] => prompts.get(params) ?? (params.prompt as PartsMessage[]);
  async function smallerOf<P extends { prompt: unknown; tools?: readonly { type: string }[] }>(
    params: P,
    limits: Overflow,
  ): Promise<P> {
    const prompt = promptOf(params);
    const sent = await fitParts(fitter, prompt, { tools: definitionsOf(params.tools) }, words, limits);
    return { ...params, prompt: [...sent] };
  }
  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const prompt = params.prompt as PartsMessage[];
      const beside = { tools: definitionsOf(params.tools), reportedTokens: usages.take(prompt) };
      const sent = await fitParts(fitter, prompt, beside, words);
      if (sent === prompt) return withoutRecall(params);
      const smaller = { ...params, prompt: sent as typeof params.prompt };
      prompts.set(smaller, prompt);
      return smaller;
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      const answer = await again(doGenerate, async (limits) => model.doGenerate(await smallerOf(params, limits)));
      usages.note(promptOf(params), inputTokens(answer.usage));
      return answer;
    },
    wrapStream: async ({ doStream, params, model }) => {
      const answer = await again(doStream, async (limits) => model.doStream(await smallerOf(params, limits)));
      const heard = heardIn(answer.stream, (usage) => usages.note(promptOf(params), inputTokens(usage)));
      return { ...answer, stream: heard };
    },
  };
}

/** A call of a conversation that nothing has left: without the tools that look there. */
function withoutRecall<P extends { tools?: readonly { type: string }[] }>(params: P): P {
  const tools = params.tools?.filter((tool) => !RECALL_TOOLS.has((tool as { name?: unknown }).name));
  return tools?.length === params.tools?.length ? params : { ...params, tools };
}

/**
 * `recall`, `search_history` and `compact_context` for `tools` of the same loop. They are about the conversation that was fitted
 * last: give loops that run side by side a `Recall` each. A middleware offers them from the first compaction on.
 * `config: { marks: { handles: true } }` lets the conversation name the handles.
 */
export function recallTools(recall: Recall): ToolSet {
  const made = toolsOf(recall).map(({ name, description, parameters, run }) => {
    return [name, { description, inputSchema: standardOf(parameters), execute: async (given: unknown) => run(given) }];
  });
  return Object.fromEntries(made) as ToolSet;
}

/** A stream of an answer as it is; `hear` gets its usage, which comes with its end. */
function heardIn<P extends { type: string }>(stream: ReadableStream<P>, hear: (usage: unknown) => void): ReadableStream<P> {
  return stream.pipeThrough(
    new TransformStream<P, P>({
      transform(part, controller) {
        if (part.type === "finish") hear((part as { usage?: unknown }).usage);
        controller.enqueue(part);
      },
    }),
  );
}

/** What a call of the model gives; where its provider refuses the prompt as too long, what `retry` gives, once. */
async function again<T>(ask: () => PromiseLike<T>, retry: (limits: Overflow) => PromiseLike<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const limits = overflowOf(error);
    if (limits === null) throw error;
    return await retry(limits);
  }
}

function definitionsOf(tools: readonly { type: string }[] | undefined): object[] | null {
  const functions = (tools ?? []).filter((tool) => tool.type === "function") as Record<string, unknown>[];
  if (functions.length === 0) return null;
  return functions.map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));
}

/** The instructions as text: a text, or system messages. */
function textOfInstructions(instructions: unknown): string | null {
  if (instructions === undefined || instructions === null) return null;
  if (typeof instructions === "string") return instructions;
  const messages = Array.isArray(instructions) ? (instructions as unknown[]) : [instructions];
  return messages.map((message) => String((message as { content?: unknown }).content ?? "")).join("\n");
}

/**
 * What lists were before they were fitted. The SDK's next step begins with what the last one was given: with it, a fit would see
 * its own summaries in place of what they tell of. It goes on with the very objects, so these are what is looked for.
 */
class Log {
  /** By the last message that was sent. */
  readonly #kept = new WeakMap<ModelMessage, { came: readonly object[]; sent: readonly ModelMessage[] }>();

  keep(came: readonly object[], sent: readonly ModelMessage[]): void {
    const last = sent.at(-1);
    if (last !== undefined) this.#kept.set(last, { came, sent });
  }

  /** The list with everything that was ever in it. */
  restore(messages: ModelMessage[]): readonly object[] {
    for (let at = messages.length - 1; at >= 0; at--) {
      const kept = this.#kept.get(messages[at]!);
      if (kept?.sent.length !== at + 1) continue;
      if (kept.sent.every((message, index) => message === messages[index])) {
        return [...kept.came, ...messages.slice(at + 1)];
      }
    }
    return messages;
  }
}
