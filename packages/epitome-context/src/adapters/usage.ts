/** What providers report for requests, handed to the fitter with the next list of the same conversation. */

import { isSame } from "./host.js";

/** How many requests, and conversations, are remembered. A forgotten one goes on without its figure. */
const REMEMBERED = 200;

/**
 * The input tokens of one request, cached ones included, in the words of LangChain's, the AI SDK's and Mastra's usages; `undefined`
 * where it names none.
 */
export function inputTokens(usage: unknown): number | undefined {
  const { inputTokens: tokens, input_tokens } = (usage ?? {}) as { inputTokens?: unknown; input_tokens?: unknown };
  const whole = typeof tokens === "object" && tokens !== null ? (tokens as { total?: unknown }).total : tokens;
  return [whole, input_tokens].find((it): it is number => Number.isSafeInteger(it) && (it as number) > 0);
}

/** What was reported for requests, until the next list of the same conversation comes; each figure is of one request alone. */
export class Usages {
  readonly #answered: { length: number; first: unknown; last: unknown; tokens: number }[] = [];
  readonly #handed = new Map<string, number>();

  /** Remembers what was reported for a list that was fitted. */
  note(messages: readonly unknown[], tokens: number | undefined): void {
    if (tokens === undefined || messages.length === 0) return;
    this.#answered.push({ length: messages.length, first: messages[0], last: messages.at(-1), tokens });
    if (this.#answered.length > REMEMBERED) this.#answered.shift();
  }

  /** What was reported for a list that this one goes on from, the newest. */
  take(messages: readonly unknown[]): number | undefined {
    const at = this.#answered.findLastIndex(
      ({ length, first, last }) =>
        length <= messages.length && isSame(first, messages[0]) && isSame(last, messages[length - 1]),
    );
    return at < 0 ? undefined : this.#answered.splice(at, 1)[0]!.tokens;
  }

  /**
   * A figure that stands in a conversation; `undefined` where it was handed on already: a list may be fitted more than once before
   * the model answers.
   */
  once(key: string, tokens: number | undefined): number | undefined {
    if (tokens === undefined || this.#handed.get(key) === tokens) return undefined;
    this.#handed.delete(key);
    this.#handed.set(key, tokens);
    if (this.#handed.size > REMEMBERED) this.#handed.delete(this.#handed.keys().next().value!);
    return tokens;
  }
}
