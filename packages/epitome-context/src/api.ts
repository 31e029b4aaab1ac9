/**
 * Fits the messages of an LLM agent into a token budget. The result is valid for the provider, at or under the budget by an
 * exact count, with a reason for every change, and what leaves can be brought back. No model, no key and no network.
 *
 * | you have | you take |
 * |---|---|
 * | a list of messages before each call of a model | `fit`; `Fitter` for a loop |
 * | a whole session: the text of a file, a list | `compact`, `preview`, `inspect`, `check`, `search`, `convert` |
 * | a configuration that many calls share | `Engine` |
 */

import { call } from "./call.js";
import { problemOf } from "./checks.js";
import type { Compacted } from "./compacted.js";
import { engineAndRest, type Converted } from "./engine.js";
import { refuse } from "./errors.js";
import type { Fitted } from "./fitted.js";
import { Fitter, type Messages } from "./fitter.js";
import type { FitOnceOptions, SessionInput, WithEngine } from "./input.js";
import type { CompactOptions, EngineOptions, Provider, ReadOptions, SearchOptions } from "./options.js";
import type { BrokenRule, Contents, ContextOverflow, FormatEntry, Fullness, Passage, Report, StrategyEntry } from "./report.js";

export { Compacted } from "./compacted.js";
export { Engine, type Converted } from "./engine.js";
export { ConfigError, EpitomeError, FormatError, Infeasible } from "./errors.js";
export {
  Fitted,
  type Edit,
  type Insert,
  type Keep,
  type Piece,
  type Replacing,
  type Retrieved,
  type SystemPrompt,
  type TextChange,
} from "./fitted.js";
export { Fitter, type Messages } from "./fitter.js";
export type { BesideOptions, FitOnceOptions, FitterOptions, SessionInput, WithEngine } from "./input.js";
export type * from "./options.js";
export type * from "./report.js";

/**
 * What to send in place of a list of messages, once.
 *
 * `messages` is the list of a request: of OpenAI's chat completions or Responses, of Anthropic's messages, or of Gemini's contents.
 * It is fitted into `budget` tokens, or into the window of `model` or `window`: below its threshold nothing is changed. A loop
 * takes a {@link Fitter}, which makes the same decisions again in the next call.
 *
 * @throws {Infeasible} where what must stay is larger than the budget.
 */
export function fit<M>(messages: readonly M[], options?: FitOnceOptions): Fitted<M>;
export function fit(messages: string | Uint8Array, options?: FitOnceOptions): Fitted;
export function fit(messages: Messages<any>, options: FitOnceOptions = {}): Fitted {
  const [fitter, beside] = onceOf(options);
  try {
    return fitter.fit(messages as any[], beside);
  } finally {
    fitter.close();
  }
}

/** `fit`, off this thread. */
export function fitAsync<M>(messages: readonly M[], options?: FitOnceOptions): Promise<Fitted<M>>;
export function fitAsync(messages: string | Uint8Array, options?: FitOnceOptions): Promise<Fitted>;
export async function fitAsync(messages: Messages<any>, options: FitOnceOptions = {}): Promise<Fitted> {
  const [fitter, beside] = onceOf(options);
  try {
    return await fitter.fitAsync(messages as any[], beside);
  } finally {
    fitter.close();
  }
}

function onceOf(options: FitOnceOptions): [Fitter, object] {
  refuse(problemOf(options));
  const { system, tools, ...words } = options;
  return [new Fitter(words, true), { system, tools }];
}

/**
 * Fits a whole session into a budget, and gives the session after it with the report.
 *
 * Without `budget` the window of `model`, `window` or `config` decides whether anything is to be done.
 *
 * @throws {Infeasible} where what must stay is larger than the budget.
 */
export function compact(session: SessionInput, options: CompactOptions & WithEngine = {}): Compacted {
  const [engine, rest] = engineAndRest(options);
  return engine.compact(session, rest);
}

/** `compact`, off this thread. */
export async function compactAsync(session: SessionInput, options: CompactOptions & WithEngine = {}): Promise<Compacted> {
  const [engine, rest] = engineAndRest(options);
  return engine.compactAsync(session, rest);
}

/** The report of what `compact` would do; its options are the same. Where nothing fits, `status` is `infeasible`. */
export function preview(session: SessionInput, options: CompactOptions & WithEngine = {}): Report {
  const [engine, rest] = engineAndRest(options);
  return engine.preview(session, rest);
}

/** `preview`, off this thread. */
export async function previewAsync(session: SessionInput, options: CompactOptions & WithEngine = {}): Promise<Report> {
  const [engine, rest] = engineAndRest(options);
  return engine.previewAsync(session, rest);
}

/** What a session is made of: tokens in all, by role and by tool, each message with what protects it, the kind of task. */
export function inspect(session: SessionInput, options: ReadOptions & WithEngine = {}): Contents {
  const [engine, rest] = engineAndRest(options);
  return engine.inspect(session, rest);
}

/** Whether a session should be compacted. */
export function check(session: SessionInput, options: ReadOptions & WithEngine = {}): Fullness {
  const [engine, rest] = engineAndRest(options);
  return engine.check(session, rest);
}

/**
 * Tokens of a text (a string), or of messages with the few that each takes by itself; exact where `counter` is a vocabulary
 * (`o200k_base`, `cl100k_base`). `Engine.countTokens` counts by a configuration.
 */
export function countTokens(
  what: SessionInput,
  options: { counter?: string | undefined; format?: string | undefined } = {},
): number {
  refuse(problemOf(options));
  const { counter = "o200k_base", ...rest } = options;
  if (typeof what === "string") return call<number>("count-text", { counter }, what).value;
  return engineAndRest({ config: { counter: { name: counter } } })[0].countTokens(what, rest);
}

/** The passages of a session that match the words best, in the context or out of it. */
export function search(
  session: SessionInput,
  words: string | readonly string[],
  options: SearchOptions & WithEngine = {},
): Passage[] {
  const [engine, rest] = engineAndRest(options);
  return engine.search(session, words, rest);
}

/** A session in another format: as objects where it came as objects and `to` is a provider's format, else as bytes. */
export function convert(session: string | Uint8Array, to: string, options?: ReadOptions): Uint8Array;
export function convert(session: readonly object[] | object, to: Provider, options?: ReadOptions): Converted;
export function convert(session: SessionInput, to: string, options?: ReadOptions): Uint8Array | Converted;
export function convert(session: SessionInput, to: string, options: ReadOptions = {}): Uint8Array | Converted {
  return engineAndRest({})[0].convert(session, to, options);
}

/** The rules of its provider that a request, or a list of messages, breaks. Empty where it keeps them all. */
export function validate(request: SessionInput, options: { format?: string | undefined } = {}): BrokenRule[] {
  return engineAndRest({})[0].validate(request, options);
}

/** The strategies that a chain may name. */
export function strategies(options: EngineOptions = {}): StrategyEntry[] {
  return engineAndRest(options)[0].strategies();
}

/** The formats of sessions. */
export function formats(): FormatEntry[] {
  return call<FormatEntry[]>("formats").value;
}

/** The tokens that a provider's error names where it says that the request was too long; `null` where it says something else. */
export function contextOverflow(status: number, body: string): ContextOverflow | null {
  refuse(problemOf({ status }));
  return call<ContextOverflow | null>("context-overflow", { status }, body).value;
}

/** The version of this package. */
export function version(): string {
  return call<string>("version").value;
}
