import { call, callAsync, Held, textOf, type Answer } from "./call.js";
import { problemOf, shortOf } from "./checks.js";
import { Compacted, type CompactReply } from "./compacted.js";
import { ConfigError, refuse } from "./errors.js";
import { dataOf, isText, type SessionInput, type WithEngine } from "./input.js";
import { theNative, type Native } from "./native.js";
import type { CompactOptions, EngineOptions, Provider, ReadOptions, SearchOptions } from "./options.js";
import { providerOf } from "./recognise.js";
import type { BrokenRule, Contents, Fullness, Passage, Report, StrategyEntry } from "./report.js";

/**
 * A configuration, built once for any number of calls.
 *
 * The functions of the module make one for their options; who calls often makes one and uses its methods, which have the
 * functions' names. An engine holds no session.
 *
 * ```js
 * const engine = new Engine({ config: { preset: "production" }, window: 128_000 });
 * engine.check([{ role: "user", content: "Hello" }]).urgency; // "none"
 * ```
 */
export class Engine {
  /** @internal */
  readonly held: Held;

  constructor(options: EngineOptions = {}) {
    refuse(problemOf(options));
    const native = theNative();
    this.held = new Held(native, call<number>("engine", options, undefined, native).value, "free-engine");
  }

  /** Fits a whole session into a budget: see {@link compact}. */
  compact(session: SessionInput, options: CompactOptions = {}): Compacted {
    const { value, bytes } = this.#call<CompactReply>("compact", ...this.#session(session, options));
    return new Compacted(value, bytes, this.held.native);
  }

  /** The same, off this thread. */
  async compactAsync(session: SessionInput, options: CompactOptions = {}): Promise<Compacted> {
    const { value, bytes } = await this.#callAsync<CompactReply>("compact", ...this.#session(session, options));
    return new Compacted(value, bytes, this.held.native);
  }

  /** The report of what `compact` would do. Where nothing fits, `status` is `infeasible`, and `floor` says why. */
  preview(session: SessionInput, options: CompactOptions = {}): Report {
    return this.#call<Report>("preview", ...this.#session(session, options)).value;
  }

  /** The same, off this thread. */
  async previewAsync(session: SessionInput, options: CompactOptions = {}): Promise<Report> {
    return (await this.#callAsync<Report>("preview", ...this.#session(session, options))).value;
  }

  /** What a session is made of. */
  inspect(session: SessionInput, options: ReadOptions = {}): Contents {
    return this.#call<Contents>("inspect", ...this.#session(session, options)).value;
  }

  /** Whether a session should be compacted. */
  check(session: SessionInput, options: ReadOptions = {}): Fullness {
    return this.#call<Fullness>("check", ...this.#session(session, options)).value;
  }

  /** Tokens of a text (a string), or of messages. */
  countTokens(what: SessionInput, options: ReadOptions = {}): number {
    if (typeof what === "string") return this.#call<number>("count-text", this.#words(), what).value;
    return this.#call<number>("count", ...this.#session(what, options)).value;
  }

  /** The passages of a session that match the words best. */
  search(session: SessionInput, words: string | readonly string[], options: SearchOptions = {}): Passage[] {
    refuse(problemOf(options));
    const given = { ...options, words, objects: !isText(session) };
    return this.#call<{ passages: Passage[] }>("search", given, dataOf(session)).value.passages;
  }

  /** A session in another format: see {@link convert}. */
  convert(session: string | Uint8Array, to: string, options?: ReadOptions): Uint8Array;
  convert(session: readonly object[] | object, to: Provider, options?: ReadOptions): Converted;
  convert(session: SessionInput, to: string, options?: ReadOptions): Uint8Array | Converted;
  convert(session: SessionInput, to: string, options: ReadOptions = {}): Uint8Array | Converted {
    refuse(problemOf(options));
    const { bytes } = this.#call("convert", { ...options, to, objects: !isText(session) }, dataOf(session));
    return isText(session) || providerOf(to) === undefined ? bytes : (JSON.parse(textOf(bytes)) as Converted);
  }

  /** The rules of its provider that a request, or a list of messages, breaks. */
  validate(request: SessionInput, options: { format?: string | undefined } = {}): BrokenRule[] {
    refuse(problemOf(options));
    return this.#call<BrokenRule[]>("validate", options, dataOf(request, "request")).value;
  }

  /** The strategies that a chain may name. */
  strategies(): StrategyEntry[] {
    return this.#call<StrategyEntry[]>("strategies", this.#words()).value;
  }

  /**
   * Lets go of the configuration now, and not when it is collected. Neither the engine nor a fitter that was made with it is to
   * be used afterwards.
   */
  close(): void {
    this.held.close();
  }

  /**
   * The options of a call about a session, and the session. Messages that came as objects have each to be one; text may be a
   * recording, of which is read what is understood.
   */
  #session(session: SessionInput, options: object): [object, string | Uint8Array] {
    return [{ ...this.#words(options), objects: !isText(session) }, dataOf(session)];
  }

  #words(options: object = {}): object {
    refuse(problemOf(options));
    return { ...options, engine: this.held.handle };
  }

  #call<T>(name: string, words: object, data?: string | Uint8Array): Answer<T> {
    return call<T>(name, words, data, this.held.native);
  }

  #callAsync<T>(name: string, words: object, data?: string | Uint8Array): Promise<Answer<T>> {
    return callAsync<T>(name, words, data, this.held.native);
  }
}

/** A session as the messages of a provider: a request, or its list where a list came and the request would hold nothing else. */
export type Converted = Record<string, any> | Record<string, any>[];

/** Engines of the functions' options, for each native part. A few: who has many configurations keeps engines. */
const ENGINES = new WeakMap<Native, Map<string, Engine>>();
const MOST_ENGINES = 16;

/** The engine that the options of a call ask for, and the options that are not the engine's. */
export function engineAndRest<T extends WithEngine>(options: T): [Engine, Omit<T, keyof WithEngine>] {
  refuse(problemOf(options));
  const { engine, config, model, window, reserveOutput, ...rest } = options;
  const made = { config, model, window, reserveOutput };
  if (engine === undefined) return [engineOf(made), rest];
  const idle = Object.entries(made).filter(([, value]) => value !== undefined);
  if (idle.length > 0) {
    const names = idle.map(([name]) => `\`${name}\``).join(", ");
    throw new ConfigError(`\`engine\` is there already: ${names} would have no effect; give them to \`new Engine\``);
  }
  if (!(engine instanceof Engine)) throw new ConfigError(`\`engine\` takes an \`Engine\`, not ${shortOf(engine)}`);
  return [engine, rest];
}

function engineOf(options: EngineOptions): Engine {
  const native = theNative();
  let engines = ENGINES.get(native);
  if (engines === undefined) ENGINES.set(native, (engines = new Map()));
  const key = JSON.stringify(options);
  let engine = engines.get(key);
  if (engine === undefined) {
    engine = new Engine(options);
    if (engines.size >= MOST_ENGINES) engines.clear();
    engines.set(key, engine);
  }
  return engine;
}
