/** What the adapters share: fitters made of an adapter's options. */

import { ConfigError, contextOverflow, Fitter, type Fitted, type FitterOptions, type Overflow } from "epitome-context";

import { wellFormed } from "../json.js";
import type { Recall } from "./recall.js";

/** How the fitter of an adapter is made; or the fitter. */
export interface AdapterOptions extends Omit<FitterOptions, "format"> {
  fitter?: Fitter | undefined;
  /** Is called with what became of the messages, before each call of the model. */
  onFit?: ((fitted: Fitted) => void) | undefined;
  /** Remembers what left, for the tools that `recallTools` makes of it. */
  recall?: Recall | undefined;
}

/** The names of the options that all adapters take. */
const NAMES: Record<keyof AdapterOptions, true> = {
  budget: true,
  model: true,
  window: true,
  reserveOutput: true,
  config: true,
  engine: true,
  fitter: true,
  onFit: true,
  recall: true,
  host: true,
  chain: true,
  conversations: true,
  memoryBytes: true,
  archiveBytes: true,
  secret: true,
};

/**
 * The options of an adapter, whose names are looked at when it is made: what is wrong comes to light there, and not in a call of
 * the model. `more` are the names of those that it alone takes.
 */
export function optionsOf<T extends AdapterOptions>(given: T | undefined, more: readonly string[] = []): T {
  const options = given ?? ({} as T);
  Fitter.checkNames(options, [...Object.keys(NAMES), ...more]);
  return options;
}

/** Any of these settles the budget, so that the host's model is not asked for its window. */
const SETTLES = ["budget", "model", "window", "engine"] as const;
/** Sections of a configuration that say nothing of budgets. */
const SILENT = ["marks", "strategies"];

function isSettled(options: FitterOptions): boolean {
  if (SETTLES.some((name) => options[name] !== undefined)) return true;
  const { config } = options;
  if (config === undefined) return false;
  return typeof config === "string" || Object.keys(config).some((section) => !SILENT.includes(section));
}

/** The fitters of an adapter: one, or one for each window of the host's models where its options settle no budget. */
export class Fitters {
  readonly #words: FitterOptions;
  readonly #settled: Fitter | undefined;
  readonly #byWindow = new Map<number, Fitter>();

  constructor(format: "openai-chat" | "openai-responses", options: AdapterOptions) {
    const { fitter, onFit: _, recall: __, ...words } = options;
    const idle = Object.entries(words).filter(([, value]) => value !== undefined);
    if (fitter !== undefined && idle.length > 0) {
      const names = idle.map(([name]) => `\`${name}\``).join(", ");
      throw new ConfigError(`\`fitter\` is there already: ${names} would have no effect; give them to \`new Fitter\``);
    }
    this.#words = { ...words, format };
    const made = fitter ?? new Fitter(this.#words);
    this.#settled = fitter !== undefined || isSettled(words) ? made : undefined;
    // It has seen that the options are right ones.
    if (this.#settled === undefined) made.close();
  }

  /** The fitter for a model that takes `window` tokens; `undefined` where that is not known. */
  of(window?: number | undefined): Fitter {
    if (this.#settled !== undefined) return this.#settled;
    if (window === undefined) {
      throw new ConfigError("nothing tells how many tokens the model takes: give `budget`, `window` or `model`");
    }
    let fitter = this.#byWindow.get(window);
    if (fitter === undefined) {
      fitter = new Fitter({ ...this.#words, window });
      this.#byWindow.set(window, fitter);
    }
    return fitter;
  }

  /** The same for hosts whose models do not tell: without a budget the error comes when the adapter is made. */
  theOne(): Fitter {
    return this.of();
  }
}

/** Tells an adapter's listeners what became of the messages of a conversation. */
export function tell({ onFit, recall }: Pick<AdapterOptions, "onFit" | "recall">, fitted: Fitted, key = ""): void {
  onFit?.(fitted);
  recall?.note(key, fitted);
}

/** Text as JSON where it is not text. */
export function textOfValue(value: unknown): string {
  return typeof value === "string" ? value : wellFormed(JSON.stringify(value) ?? "");
}

/** Whether two values of JSON say the same, whatever the order of their keys. Keys that are `undefined` are as if not there. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [first, second] = [one, other] as Record<string, unknown>[];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSame(first![key], second![key]));
}

/** The arguments of a call as an object: the text that was sent, read. */
export function argumentsOf(text: string): Record<string, unknown> {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    read = text; // a model may have written what is not JSON
  }
  return typeof read === "object" && read !== null && !Array.isArray(read)
    ? (read as Record<string, unknown>)
    : { arguments: read };
}

/**
 * The tokens that a provider names where an error, or what caused it, refuses a request as too long; `null` of any other error.
 */
export function overflowOf(error: unknown): Overflow | null {
  const seen = new Set<unknown>();
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    const { statusCode, status, responseBody } = at as Error & Partial<Record<"statusCode" | "status" | "responseBody", unknown>>;
    const code = [statusCode, status].find((it) => Number.isInteger(it)) as number | undefined;
    for (const text of [at.message, responseBody]) {
      const found = typeof text === "string" ? contextOverflow(code ?? 400, text) : null;
      if (found !== null) return found;
    }
  }
  return null;
}
